"""The whole cascade on sentences that are tagged by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.core import Region
from partita.rules.cascade import Cascade
from rules.toy import GROUPS, cascade, run, tagged


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Cascade:
    return cascade(tmp_path_factory.mktemp("domains"))


def said(made: Cascade, text: str) -> dict[str, dict[str, object]]:
    """What all contributions say about each phrase."""
    found: dict[str, dict[str, object]] = {}
    for one in run(made, text).contributions:
        found.setdefault(one.about.text, {}).update(one.slots)
    return found


def test_groups_and_what_they_have(toy: Cascade) -> None:
    first, verb, *_ = run(toy, "The/DT old/JJ rail/NN depot/NN was/VBD found/VBN ./.").phrases
    assert (first.kind, first.first, first.last, first.rule) == ("ng", 0, 3, "noun group")
    assert {k: v for k, v in first.attributes.items() if k not in ("kind", "region")} == {
        "text": "The old rail depot",
        "head": "depot",
        "lemma": "depot",
        "sort": ("DEPOT",),
        "det": "the",
        "mods": ("old", "rail"),
        "count": 2,
        "says": {"TYPE": "RAIL", "FACILITY": "DEPOT"},
    }
    assert [part.text for part in first.parts] == ["The", "old", "rail", "depot"]
    assert [(p.first, p.last) for p in first.parts] == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert (verb.attributes["lemma"], verb.attributes["voice"]) == ("find", "passive")


def test_multiwords_are_one_word(toy: Cascade) -> None:
    group, _ = run(toy, "Old/JJ Supply/NN Dumps/NNS ./.").phrases
    assert group.attributes["head"] == "Supply Dumps"
    assert group.attributes["lemma"] == "supply dump"
    head = group.parts[-1]
    assert (head.kind, head.first, head.last) == ("word", 1, 2)
    assert head.attributes["tag"] == "NNS"
    assert [part.text for part in head.parts] == ["Supply", "Dumps"]


def test_the_longest_multiword_is_taken(tmp_path: Path) -> None:
    lexicon = "- {tag: NN, words: [ammo dump, ammo, ammo dump site]}"
    made = cascade(tmp_path, lexicon=lexicon, rules=ANY)
    words = run(made, "the/DT ammo/NN dump/NN site/NN").phrases[0].parts
    assert [word.text for word in words] == ["the", "ammo dump site"]


ANY = """
starts: everywhere
rules:
  - {rule: any, pattern: "x:ng", template: {about: $x}}
"""


def test_sentences_and_regions_are_not_crossed(toy: Cascade) -> None:
    told = run(toy, "the/DT rail/NN | depot/NN").phrases
    assert [phrase.text for phrase in told] == ["the rail", "depot"]


def test_contributions_about_one_phrase(toy: Cascade) -> None:
    found = run(toy, "a/DT depot/NN near/IN New/NNP Bern/NNP").contributions
    assert {one.about for one in found} == {found[0].about}
    assert [(one.rule, one.slots, one.type, one.size) for one in found] == [
        ("depot in a place", {"LOCATION": "New Bern"}, (), 3),
        ("facility", {"FACILITY": "DEPOT"}, ("DEPOT",), 1),
    ]
    assert sorted(found, key=lambda one: one.rank) == list(found)
    assert (found[0].first, found[0].last) == (0, 4)


BUILT = {"STATUS": "UNDER CONSTRUCTION", "FACILITY": "DEPOT"}
PLACED = {**BUILT, "LOCATION": "Kinston"}


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("the/DT army/NN built/VBD a/DT depot/NN", BUILT),
        ("the/DT army/NN built/VBD a/DT depot/NN at/IN Kinston/NNP", PLACED),
        ("the/DT army/NN in/IN Raleigh/NNP built/VBD a/DT depot/NN", BUILT),
        ("a/DT depot/NN was/VBD built/VBN", BUILT),
        ("a/DT depot/NN was/VBD built/VBN by/IN the/DT army/NN in/IN Kinston/NNP", PLACED),
        ("a/DT depot/NN was/VBD built/VBN in/IN Kinston/NNP by/IN the/DT army/NN", PLACED),
        ("the/DT army/NN ,/, which/WDT built/VBD a/DT depot/NN", BUILT),
        ("a/DT depot/NN that/WDT was/VBD built/VBN by/IN the/DT army/NN", BUILT),
        ("a/DT depot/NN built/VBN by/IN the/DT army/NN", BUILT),
        ("plans/NNS to/TO build/VB a/DT depot/NN in/IN Kinston/NNP", PLACED),
        ("the/DT army/NN tried/VBD to/TO erect/VB a/DT depot/NN", BUILT),
        ("construction/NN of/IN a/DT depot/NN by/IN the/DT army/NN", BUILT),
        ("the/DT army/NN saw/VBD a/DT depot/NN", {"FACILITY": "DEPOT"}),
        ("a/DT depot/NN built/VBD the/DT army/NN", {"FACILITY": "DEPOT"}),
        ("construction/NN ,/, a/DT depot/NN", {"FACILITY": "DEPOT"}),
    ],
)
def test_a_clause_in_all_its_forms(toy: Cascade, text: str, slots: dict[str, object]) -> None:
    assert said(toy, text)["a depot"] == slots


def test_what_must_stand_before_and_after(tmp_path: Path) -> None:
    groups = """
rules:
  - rule: guarded
    pattern: "x:[tag=NN]"
    before: '[tag=VB]'
    after: '[tag=DT] [tag=JJ]*'
    build: {kind: ng}
"""
    made = cascade(tmp_path, groups=groups, rules=ANY)
    text = "the/DT big/JJ depot/NN go/VB depot/NN go/VB | depot/NN go/VB | a/DT depot/NN to/TO"
    assert [p.text for p in run(made, text).phrases if p.kind == "ng"] == ["depot"]


def test_spaces_as_they_stand(toy: Cascade) -> None:
    group = run(toy, "the/DT U.S./NNP _-/NN _built/NN depot/NN").phrases[0]
    assert group.text == "the U.S.-built depot"


def test_region_column_and_case(tmp_path: Path) -> None:
    groups = """
rules:
  - {rule: cell, pattern: "x:[column=type of unit, region=table, !cased]", build: {kind: ng}}
"""
    made = cascade(tmp_path, groups=groups, rules=ANY)
    cut, tags = tagged("DEPOT/NN | depot/NN")
    regions = [Region("table", 0, 9, column=0, column_name="Type of Unit"), Region("text", 9, 20)]
    cut.region[:] = [0, 1]
    analysis = made.run(cut, tags, regions)
    assert [(p.kind, p.attributes.get("column")) for p in analysis.phrases] == [
        ("ng", "type of unit"),
        ("word", None),
    ]


def test_nothing_in_nothing_out(toy: Cascade) -> None:
    analysis = toy.run(*tagged(""), ())
    assert analysis.phrases == ()
    assert analysis.contributions == ()
    assert analysis.unfinished == ()


def test_forgetting_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = cascade(tmp_path)
    texts = ["a/DT depot/NN in/IN Kinston/NNP", "two/CD supply/NN dumps/NNS", "rail/JJ depot/NN"]
    before = [shape(made, text) for text in texts]
    monkeypatch.setattr("partita.rules.cascade.CACHE_SIZE", 0)
    assert [shape(made, text) for text in texts for _ in "ab"] == [x for x in before for _ in "ab"]


def shape(made: Cascade, text: str) -> tuple[object, ...]:
    analysis = run(made, text)
    phrases = [(p.kind, p.first, p.last, p.rule, dict(p.attributes)) for p in analysis.phrases]
    return phrases, [(one.rule, one.slots, one.rank) for one in analysis.contributions]


WORDS = """
the/DT old/JJ rail/NN depot/NN depots/NNS was/VBD built/VBN in/IN Kinston/NNP New/NNP Bern/NNP
supply/NN dump/NN ,/, ./. | to/TO build/VB 12/CD \x00/SYM \U0001f600/NN ẞ/NN {/-LRB-
"""
TOKENS = st.sampled_from(WORDS.split())


@settings(deadline=None, max_examples=150)
@given(words=st.lists(TOKENS, max_size=25))
def test_phrases_cover_the_tokens_whatever_they_are(toy: Cascade, words: list[str]) -> None:
    text = " ".join(words)
    analysis = run(toy, text)
    count = len(tagged(text)[0].texts)
    assert [n for p in analysis.phrases for n in range(p.first, p.last + 1)] == list(range(count))
    for one in analysis.contributions:
        assert 0 <= one.first <= one.about.first <= one.about.last <= one.last < count


def test_a_phase_that_gives_up_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = cascade(tmp_path)
    monkeypatch.setattr("partita.rules.cascade.WORK_AT_LEAST", 0)
    monkeypatch.setattr("partita.rules.cascade.WORK_PER_PHRASE", 0)
    assert run(made, "a/DT depot/NN a/DT depot/NN").unfinished == ("groups", "toy")


def test_all_rounds_of_a_label(tmp_path: Path) -> None:
    groups = """
rules:
  - rule: list
    pattern: '(one:[tag=NN] ","?){2,9}'
    build: {kind: ng, last: $one, words: $one.all.word, many: $one.count, begins: $one.first.word}
"""
    made = cascade(tmp_path, groups=groups, rules=ANY)
    found = run(made, "rail/NN ,/, road/NN ,/, air/NN").phrases[0].attributes
    assert (found["last"], found["words"], found["many"]) == ("air", ("rail", "road", "air"), 3)
    assert found["begins"] == "air"


def test_a_change_of_a_rule_file_is_seen(tmp_path: Path) -> None:
    first = run(cascade(tmp_path), "a/DT depot/NN").phrases[0].kind
    second = run(
        cascade(tmp_path, groups=GROUPS.replace("kind: ng", "kind: other")), "a/DT depot/NN"
    )
    assert (first, second.phrases[0].kind) == ("ng", "other")
