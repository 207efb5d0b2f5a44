"""Examples of what each phase of the base domain builds, mostly in mixed and in upper case.

A text is given as word/TAG, so that the rules are tested and not the tagger; at the end whole
texts, with our own tokens and tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any

import pytest

from partita.core import Message, Region
from partita.rules.cascade import Cascade
from partita.rules.domain_files import load_rule_set, read_domain
from partita.rules.lint import failing_examples, lint
from partita.rules.phrases import Phrase
from partita.text.tagger_models import shipped_tagger
from partita.text.tokens import Tokens, tokenize

UPPER_TOO = pytest.mark.parametrize("upper", [False, True], ids=["mixed", "upper"])


@cache
def cascade() -> Cascade:
    return Cascade(read_domain("english"))


@dataclass(frozen=True, slots=True)
class Given:
    """Words as the cascade takes them, with a space behind each, in one region."""

    texts: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    region: Sequence[int]
    ends_of_sentences: Sequence[int]

    @classmethod
    def of(cls, words: Sequence[str]) -> Given:
        after = list(accumulate(len(word) + 1 for word in words))
        starts = [end - len(word) - 1 for word, end in zip(words, after, strict=True)]
        return cls(words, starts, [end - 1 for end in after], [0] * len(words), [len(words)])


def read(tagged: str, upper: bool = False, region: Any = "text") -> tuple[Phrase, ...]:
    """The phrases of a text after the last phase."""
    pairs = [token.rpartition("/") for token in tagged.split()]
    words = [word.upper() if upper else word for word, _, _ in pairs]
    regions = [Region(region, 0, 10_000)]
    return cascade().run(Given.of(words), [tag for _, _, tag in pairs], regions).phrases


def kinds(tagged: str, upper: bool = False) -> list[str]:
    """The kinds of phrases, words by themselves."""
    found = read(tagged, upper)
    return [p.text.lower() if p.kind == "word" else p.kind for p in found]


def only(tagged: str, kind: str, upper: bool = False, region: Any = "text") -> Phrase:
    """The one phrase that a text is."""
    found = read(tagged, upper, region)
    assert [p.kind for p in found] == [kind], [(p.kind, p.text) for p in found]
    return found[0]


@UPPER_TOO
@pytest.mark.parametrize(
    ("tagged", "value"),
    [
        ("twenty/CD three/CD", 23), ("1,200/CD", 1200), ("2.5/CD million/CD", 2_500_000),
        ("a/DT dozen/NN", 12), ("several/JJ", "PLURAL"), ("a/DT few/JJ", "PLURAL"),
        ("approximately/RB 20/CD", 20), ("10/CD to/IN 15/CD", "10..15"), ("10-15/CD", "10..15"),
        ("more/JJR than/IN 20/CD", "21.."), ("between/IN 10/CD and/CC 15/CD", "10..15"),
    ],
)  # fmt: skip
def test_numbers(tagged: str, value: int | str, upper: bool) -> None:
    assert only(tagged, "number", upper).attributes["value"] == value


@UPPER_TOO
@pytest.mark.parametrize(
    ("tagged", "value"),
    [
        ("100/CD km/NN", "100 km"), ("5/CD x/NN 10/CD meters/NNS", "50 m2"),
        ("3/CD -/HYPH ton/NN", "3 ton"),
        ("about/RB 20/CD miles/NNS", "20 mi"), ("10/CD to/IN 15/CD km/NN", "10..15 km"),
        ("105/CD mm/NN", "105 mm"),
        ("2,000/CD -/HYPH foot/NN", "2000 ft"), ("400/CD m/NN", "400 m"),
        ("40/CD square/JJ km/NN", "40 km2"),
    ],
)  # fmt: skip
def test_measures(tagged: str, value: str, upper: bool) -> None:
    assert only(tagged, "measure", upper).attributes["value"] == value


@UPPER_TOO
@pytest.mark.parametrize(
    ("tagged", "value"),
    [
        ("35-14N/CD 077-34W/CD", "35.23333N 77.56667W"),
        ("351400N0773400W/CD", "35.23333N 77.56667W"),
        ("35/CD °/SYM 14/CD '/'' N/NNP", "35.23333N"),
        ("35/CD -/HYPH 14N/CD 077/CD -/HYPH 34W/CD", "35.23333N 77.56667W"),
        ("18SUJ2337106519/CD", "18SUJ2337106519"),
        ("18S/CD UJ/NNP 23371/CD 06519/CD", "18SUJ2337106519"),
        ("(/-LRB- 4402N/CD 02117E/CD )/-RRB-", "44.03333N 21.28333E"),
    ],
)
def test_coordinates(tagged: str, value: str, upper: bool) -> None:
    assert only(tagged, "coordinate", upper).attributes["value"] == value


@UPPER_TOO
@pytest.mark.parametrize(
    ("tagged", "value"),
    [
        ("on/IN 15/CD March/NNP 1996/CD", "1996-03-15"), ("15/CD Mar/NNP 96/CD", "1996-03-15"),
        ("March/NNP 15/CD ,/, 1996/CD", "1996-03-15"), ("150430ZMAR96/CD", "1996-03-15"),
        ("150430Z/CD Mar/NNP 96/CD", "1996-03-15"), ("1996-03-15/CD", "1996-03-15"),
        ("in/IN March/NNP 1996/CD", "1996-03"), ("15MAR96/CD", "1996-03-15"),
        ("15/CD -/HYPH MAR-96/NN", "1996-03-15"),
        ("Friday/NNP ,/, 15/CD March/NNP 1996/CD", "1996-03-15"),
        ("at/IN 0430Z/CD on/IN 15/CD March/NNP 1996/CD", "1996-03-15"),
        ("3/15/96/CD", "1996-03-15"), ("late/JJ 1996/CD", "1996"),
        ("in/IN March/NNP", None), ("since/IN last/JJ Tuesday/NNP", None), ("yesterday/NN", None),
        ("two/CD weeks/NNS ago/RB", None), ("three/CD months/NNS ago/RB", None),
        ("at/IN 0430Z/CD", None), ("at/IN 4:30/CD pm/NN", None), ("this/DT week/NN", None),
        ("at/IN 0430/CD hours/NNS", None),
    ],
)  # fmt: skip
def test_times(tagged: str, value: str | None, upper: bool) -> None:
    assert only(tagged, "when", upper).attributes.get("value") == value


def test_a_year_is_a_date_behind_a_preposition_and_a_number_before_a_noun() -> None:
    assert kinds("in/IN 1996/CD ,/,") == ["when", ","]
    assert kinds("1500/CD men/NNS") == ["ng"]


NAMES = [
    ("Gen./NNP John/NNP Smith/NNP", "PERSON", "John Smith"),
    ("President/NNP Duarte/NNP", "PERSON", "Duarte"),
    ("Maria/NNP de/IN la/FW Cruz/NNP", "PERSON", "Maria de la Cruz"),
    ("Acme/NNP Corp./NNP", "FIRM", "Acme Corp."),
    ("National/NNP Liberation/NNP Front/NNP", "BODY", "National Liberation Front"),
    ("NATO/NNP", "AGENCY", "NATO"),
    ("Raleigh/NNP", "CITY", "Raleigh"),
    ("North/NNP Carolina/NNP", "STATE", "North Carolina"),
    ("Iraq/NNP", "COUNTRY", "Iraq"),
    ("Neuse/NNP River/NNP", "LANDFORM", "Neuse River"),
    ("northern/JJ Iraq/NNP", "COUNTRY", "Iraq"),
]


@UPPER_TOO
@pytest.mark.parametrize(("tagged", "entity_type", "name"), NAMES)
def test_names(tagged: str, entity_type: str, name: str, upper: bool) -> None:
    said = only(tagged, "ng", upper).attributes
    assert said["form"] == "name"
    assert said["sort"] == said["namesort"] == (entity_type,)
    assert said["name"] == (name.upper() if upper else name)


def test_what_is_not_known_is_a_name_without_a_type() -> None:
    said = only("Ostervik/NNP", "ng").attributes
    assert said["form"] == "name"
    assert said["name"] == "Ostervik"
    assert "sort" not in said


@UPPER_TOO
def test_the_context_tells_what_a_name_is(upper: bool) -> None:
    place = read("in/IN Fairview/NNP", upper)[1]
    assert place.attributes["sort"] == ("PLACE",)
    city = read("Fairview/NNP ,/, Ohio/NNP", upper)[0]
    assert city.attributes["sort"] == ("CITY",)
    assert city.attributes["within"].lower() == "ohio"
    worker = read("the/DT reporter/NN ,/, Ostervik/NNP", upper)[2]
    assert worker.attributes["sort"] == ("PERSON",)


def group(form: str, number: Any, lemma: str, **others: Any) -> dict[str, Any]:
    return {"form": form, "number": number, "lemma": lemma, **others}


GROUPS = [
    ("a/DT rail/NN depot/NN", group("indefinite", 1, "depot", det="a", mods=("rail",))),
    ("the/DT ammunition/NN depot/NN", group("definite", 1, "depot", mods=("ammunition",))),
    ("two/CD material/NN areas/NNS", group("indefinite", 2, "area", mods=("material",))),
    ("several/JJ training/NN areas/NNS", group("indefinite", "PLURAL", "area")),
    ("the/DT two/CD old/JJ depots/NNS", group("definite", 2, "depot", mods=("two", "old"))),
    ("extensive/JJ facilities/NNS", group("bare", "PLURAL", "facility", mods=("extensive",))),
    ("its/PRP$ main/JJ depot/NN", group("definite", 1, "depot", det="its")),
    ("the/DT headquarters/NNS", group("definite", 1, "headquarters")),
    ("all/DT the/DT old/JJ depots/NNS", group("definite", "PLURAL", "depot", det="all the")),
    ("a/DT newly/RB built/VBN depot/NN", group("indefinite", 1, "depot")),
    ("the/DT existing/VBG depot/NN", group("definite", 1, "depot")),
    ("such/JJ a/DT depot/NN", group("indefinite", 1, "depot", det="such a")),
    ("old/JJ and/CC dusty/JJ depots/NNS", group("bare", "PLURAL", "depot")),
    ("admin/NN and/CC support/NN areas/NNS", group("bare", "PLURAL", "area")),
    ("dozens/NNS of/IN tanks/NNS", group("indefinite", "24..", "tank")),
    ("3/CD -/HYPH ton/NN trucks/NNS", group("bare", "PLURAL", "truck")),
    ("the/DT northern/JJ one/CD", group("definite", 1, "one")),
    ("it/PRP", group("pronoun", 1, "it", person="third")),
    ("they/PRP", group("pronoun", "PLURAL", "they", person="third")),
    ("these/DT", group("pronoun", "PLURAL", "these", person="demonstrative")),
]


@UPPER_TOO
@pytest.mark.parametrize(("tagged", "expected"), GROUPS, ids=[text for text, _ in GROUPS])
def test_noun_groups(tagged: str, expected: dict[str, Any], upper: bool) -> None:
    said = only(tagged, "ng", upper).attributes
    assert {name: said.get(name) for name in expected} | {"number": str(said["number"])} == {
        **expected,
        "number": str(expected["number"]),
    }


def test_what_does_not_show_its_number_has_none() -> None:
    assert "number" not in only("the/DT aircraft/NN", "ng").attributes
    assert only("the/DT two/CD aircraft/NNS", "ng").attributes["number"] == 2


def test_a_name_in_a_group() -> None:
    said = only("the/DT Fairview/NNP depot/NN", "ng").attributes
    assert said["form"] == "definite"
    assert said["name"] == "Fairview"
    assert said["mods"] == ("fairview",)
    assert only("the/DT Raleigh/NNP depot/NN", "ng").attributes["namesort"] == ("CITY",)


@pytest.mark.parametrize(
    ("tagged", "groups"),
    [
        ("the/DT company/NN Neuralink/NNP", ["the company", "Neuralink"]),
        ("trucks/NNS towed/VBD guns/NNS", ["trucks", "guns"]),
        ("Qarabad/NNP received/VBN seven/CD aircraft/NNS", ["Qarabad", "seven aircraft"]),
        ("building/VBG depots/NNS", ["depots"]),
        ("the/DT garden/NN or/CC old/JJ boxes/NNS", ["the garden", "old boxes"]),
        ("depots/NNS three/CD years/NNS old/JJ", ["depots", "three years"]),
    ],
)
def test_where_groups_end(tagged: str, groups: list[str]) -> None:
    assert [p.text for p in read(tagged) if p.kind == "ng"] == groups


def test_possession_stays_visible() -> None:
    found = read("the/DT division/NN 's/POS old/JJ depot/NN")
    assert [p.text for p in found] == ["the division", "'s", "old depot"]
    assert found[2].attributes["det"] == "'s"
    assert found[2].attributes["form"] == "definite"


VERBS = [
    ("was/VBD found/VBN", {"voice": "passive", "form": "finite", "lemma": "find", "tag": "VBD"}),
    ("has/VBZ not/RB been/VBN seen/VBN", {"voice": "passive", "lemma": "see", "negated": "not"}),
    ("is/VBZ being/VBG built/VBN", {"voice": "passive", "lemma": "build", "tag": "VBZ"}),
    ("is/VBZ building/VBG", {"voice": "active", "lemma": "build", "form": "finite"}),
    ("has/VBZ recently/RB built/VBN", {"voice": "active", "lemma": "build", "tag": "VBZ"}),
    ("will/MD not/RB attack/VB", {"voice": "active", "modal": "will", "negated": "not"}),
    ("did/VBD not/RB attack/VB", {"voice": "active", "lemma": "attack", "tag": "VBD"}),
    ("to/TO build/VB", {"voice": "active", "form": "infinitive", "lemma": "build"}),
    ("to/TO have/VB been/VBN destroyed/VBN", {"voice": "passive", "form": "infinitive"}),
    ("consisting/VBG", {"voice": "active", "form": "gerund", "lemma": "consist"}),
    ("being/VBG built/VBN", {"voice": "passive", "form": "gerund"}),
    ("built/VBN", {"voice": "either", "form": "participle", "lemma": "build"}),
    ("carried/VBD out/RP", {"lemma": "carry", "particle": "out", "form": "finite"}),
    ("began/VBD to/TO build/VB", {"lemma": "build", "support": "begin", "form": "finite"}),
    (
        "is/VBZ reported/VBN to/TO have/VB been/VBN destroyed/VBN",
        {"lemma": "destroy", "voice": "passive", "support": "report"},
    ),
]


@UPPER_TOO
@pytest.mark.parametrize(("tagged", "expected"), VERBS, ids=[text for text, _ in VERBS])
def test_verb_groups(tagged: str, expected: dict[str, str], upper: bool) -> None:
    said = only(tagged, "vg", upper).attributes
    assert {name: str(said.get(name)).lower() for name in expected} == {
        name: value.lower() for name, value in expected.items()
    }


@pytest.mark.parametrize(
    ("tagged", "voice"),
    [
        ("bridge/NN destroyed/VBD by/IN guerrillas/NNS", "either"),
        ("guerrillas/NNS destroyed/VBD the/DT bridge/NN", "active"),
        ("the/DT convoy/NN went/VBD by/IN road/NN", "active"),
    ],
)
def test_a_past_tense_without_an_object_may_be_a_participle(tagged: str, voice: str) -> None:
    assert [p.attributes["voice"] for p in read(tagged) if p.kind == "vg"] == [voice]


@UPPER_TOO
def test_a_location_is_no_place(upper: bool) -> None:
    text = "100/CD km/NN southwest/RB of/IN the/DT capitol/NN of/IN Raleigh/NNP"
    said = only(text, "location", upper).attributes
    assert said["direction"] == "SOUTHWEST"
    assert said["distance"] == "100 km"
    assert said["landmark"].lower() == "raleigh"
    assert "sort" not in said


@UPPER_TOO
def test_a_location_may_have_no_landmark(upper: bool) -> None:
    said = only("3/CD km/NN to/IN the/DT east/NN", "location", upper).attributes
    assert (said["distance"], said["direction"]) == ("3 km", "EAST")
    assert "landmark" not in said


@UPPER_TOO
def test_a_landmark_that_is_no_place_stays_visible(upper: bool) -> None:
    text = "immediately/RB east/RB of/IN the/DT depot/NN"
    assert kinds(text, upper) == ["bearing", "ng"]
    assert read(text, upper)[0].attributes["direction"] == "EAST"


@UPPER_TOO
def test_the_passage_of_the_paper(upper: bool) -> None:
    text = (
        "A/DT rail/NN depot/NN was/VBD found/VBN 100/CD km/NN southwest/RB of/IN the/DT capitol/NN"
        " of/IN Raleigh/NNP ,/, consisting/VBG of/IN extensive/JJ admin/NN and/CC support/NN"
        " areas/NNS (/-LRB- similar/JJ to/IN the/DT ammunition/NN depot/NN in/IN Fairview/NNP"
        " )/-RRB- ,/, two/CD material/NN storage/NN areas/NNS"
    )
    expected = "ng vg location , vg of ng ( similar to ng in ng ) , ng"
    assert kinds(text, upper) == expected.split()


@UPPER_TOO
@pytest.mark.parametrize(
    ("tagged", "name", "others"),
    [
        ("the/DT town/NN of/IN Kinston/NNP", "kinston", {"sort": ("PLACE",)}),
        ("the/DT leader/NN Juan/NNP Perez/NNP", "juan perez", {"job": "the leader"}),
        (
            "Liberation/NNP Front/NNP (/-LRB- FMLN/NNP )/-RRB-",
            "liberation front",
            {"alias": "fmln"},
        ),
        ("Ministry/NNP of/IN Defense/NNP", "ministry of defense", {"sort": ("ORGANISATION",)}),
    ],
)
def test_phrases_around_names(tagged: str, name: str, others: dict[str, Any], upper: bool) -> None:
    said = only(tagged, "ng", upper).attributes
    assert said["name"].lower() == name
    for attribute, value in others.items():
        found = said[attribute]
        assert (found.lower() if isinstance(found, str) else found) == value


def test_a_group_with_a_known_head_is_a_name_only_where_capitals_tell() -> None:
    text = "Kinston/NNP Province/NNP"
    assert only(text, "ng").attributes["form"] == "name"
    depot = "Ostervik/NNP Committee/NNP"
    assert "BODY" in only(depot, "ng").attributes["sort"]


def tagged(text: str) -> tuple[Tokens, list[str], tuple[Region, ...]]:
    """A text of one region with our own tokens and tags."""
    message = Message("m", text, (Region("text", 0, len(text)),))
    tokens = tokenize(message)
    return tokens, shipped_tagger().names(tokens.texts, tokens.ends_of_sentences), message.regions


def test_nothing_is_wrong_with_the_domain_and_every_example_matches() -> None:
    loaded = load_rule_set("english")
    assert loaded.domain is not None
    assert loaded.problems == []
    assert lint(loaded.domain) == []
    assert [problem.said for problem in failing_examples(cascade(), tagged) if problem.error] == []


TEXTS = [
    (
        "Gen. Smith of Acme Corp. saw 105mm guns and 3-ton trucks at 150430Z MAR 96.",
        ["Gen. Smith", "Acme Corp.", "105mm guns", "3-ton trucks", "at 150430Z MAR 96"],
    ),
    (
        "Two bridges 5 km north of Mosul, Iraq, were destroyed by the division's artillery.",
        ["Two bridges", "5 km north of Mosul, Iraq", "the division", "artillery"],
    ),
    (
        "The base covers about 25 hectares at 35-14N 077-34W; it was built in March 1987.",
        ["The base", "about 25 hectares", "35-14N 077-34W", "it", "in March 1987"],
    ),
]


@UPPER_TOO
@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_texts_with_our_own_tokens_and_tags(text: str, expected: list[str], upper: bool) -> None:
    found = cascade().run(*tagged(text.upper() if upper else text)).phrases
    wanted = [one.upper() if upper else one for one in expected]
    assert [p.text for p in found if p.kind not in ("word", "vg")] == wanted
