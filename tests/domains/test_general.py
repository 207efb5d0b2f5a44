"""The domain general: any English text, from raw characters to entities."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import partita
from partita.antecedents.sets import Chains, Windows
from partita.app.runner import Runner, Settings, model_for
from partita.core import Configuration, CoreferenceSet, Template
from partita.domains import find_domain
from partita.domains.general.details import split_title, word_lists
from partita.domains.general.domain import blank_markup, other_language, text_notes
from partita.errors import InputError
from partita.text.analysis import shipped_analyser
from partita.text.documents import is_html
from partita.text.layout import parse_layout
from partita.views.message import message_line, message_report

TEXT = (
    "Jane Doe, the chief executive of Acme Corp., said on Monday that she would buy Borealis for "
    "$40 million. The Greek minister praised her. Acme makes balloons in Oslo."
)
TEXTS = Path(__file__).parents[2] / "docs" / "texts"


@pytest.fixture(scope="module")
def document() -> partita.ResolvedMessage:
    return partita.run(TEXT)


def test_mentions_have_types_slots_and_probabilities(document):
    by_text = {mention.text: mention for mention in document.mentions}
    assert by_text["Acme Corp."].slots["TYPE"] == "company"
    assert by_text["The Greek minister"].slots["NATIONALITY"] == "Greece"
    assert by_text["she"].slots["GENDER"] == "female"
    for mention in document.mentions:
        shares = mention.context["SORT_PROBABILITIES"]
        assert sum(shares.values()) == pytest.approx(1.0)
        assert 0.0 < mention.context["MENTION_PROBABILITY"] <= 1.0
        assert mention.type == max(shares, key=shares.__getitem__)


def test_one_message_is_one_set_without_incompatible_pairs(document):
    (distribution,) = document.distributions
    assert distribution.model == "joint"
    assert len(distribution.set) == len(document.mentions)
    assert not distribution.set.incompatible
    members = sorted(name for entity in document.entities for name in entity.templates)
    assert members == sorted(mention.id for mention in document.mentions)


def test_entities_come_first_in_the_report(document):
    text = message_report(document.resolved)
    assert text.index("Entities") < text.index("Mentioned once")
    assert all(len(row) <= 80 for row in text.splitlines())
    assert len(message_line(document.resolved)) <= 80


def test_only_the_joint_model_is_supported():
    assert model_for("general") == "joint"
    with pytest.raises(InputError, match=r"does not support the model evidential .*joint"):
        partita.run(TEXT, model="evidential")


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.text(
        st.characters(codec="utf-8", exclude_categories=("Cs",))
        | st.sampled_from("<>&; \n.aA\x07"),
        max_size=120,
    ).map(lambda text: f"The man {text} said that Acme bought it.")
)
def test_offsets_are_those_of_the_text(text):
    for template in find_domain("general").extract(parse_layout("m", text)):
        assert text[template.start : template.end] == template.text
        assert template.text.strip() == template.text != ""


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("😀" * 100, "no words"),
        ("Der Hund und die Katze sind nicht im Haus, weil es regnet.", "probably German"),
        ("Привет, как дела? Это русский текст.", "probably Russian"),
        ("A man\x00 saw it\x07.", "2 control characters"),
        ("<p>A <b>man</b> saw it.</p>", "is HTML"),
    ],
)
def test_a_text_that_is_not_english_prose_is_noted(text, note):
    result = partita.run(text)
    assert any(note in one for one in result.notes)
    assert json.loads(result.to_jsonl().splitlines()[-1])["notes"] == list(result.notes)


@pytest.mark.parametrize("path", sorted(TEXTS.glob("*.txt")), ids=lambda path: path.stem)
def test_ordinary_texts_have_no_notes(path):
    assert not list(text_notes(path.read_text(encoding="utf-8")))


def test_html_keeps_every_offset():
    text = "<html><body><p>Tom &amp; Ann</p><script>if (a<b) x()</script></body></html>"
    message = blank_markup(parse_layout("m", text))
    assert is_html(text)
    assert not is_html("a < b and c > d")
    assert len(message.text) == len(text)
    assert message.text.split() == ["Tom", "&", "Ann"]


@pytest.mark.parametrize("text", ["Acme", "", "ACME CORP\n12 MAIN ST", "He is here."])
def test_short_texts_have_no_language(text):
    assert other_language(text) == ""


@pytest.mark.parametrize(
    ("text", "company", "later"),
    [
        ("Apple Inc. is big. Apple sold its mill.", "Apple Inc.", "Apple"),
        ("Goldman Sachs Group Inc. rose. Goldman fell.", "Goldman Sachs Group Inc.", "Goldman"),
    ],
)
def test_a_name_with_a_legal_form_is_one_company(text, company, later):
    found = {one.text: one for one in find_domain("general").extract(parse_layout("m", text))}
    names = [one for one in found if one[0].isupper()]
    assert names == [company, later]
    assert {found[one].type for one in names} == {"organization"}
    assert found[company].head == later.lower()


def test_a_phrase_with_a_company_in_it_is_not_a_company():
    text = "The head of Acme Inc. said that he left."
    found = {one.text: one for one in find_domain("general").extract(parse_layout("m", text))}
    assert found["The head of Acme Inc."].type == "person"
    assert found["Acme Inc."].type == "organization"


def test_titles_and_word_lists():
    assert split_title("Dr. Jane Doe") == ("Dr.", "Jane Doe")
    assert split_title("Prince") == ("", "Prince")
    assert split_title("Finance Minister Nicolai Wammen") == ("Finance Minister", "Nicolai Wammen")
    assert split_title("Prime Minister") == ("", "Prime Minister")
    lists = word_lists()
    assert lists.countries["greek"] == lists.countries["greece"] == "Greece"
    assert {lists.types[name] for name in lists.endings.values()} <= {"organization", "place"}


def test_other_domains_count_no_cells_of_tables():
    table = "FACILITY | LOCATION | STATUS\nDEPOT | KINSTON | INTACT\nPORT | WILSON | CLOSED\n"
    message = parse_layout("m", table)
    domain = find_domain("depots")
    templates = domain.extract(message)
    assert len(templates) == 2
    assert list(domain.notes(message, templates)) == []


@pytest.mark.parametrize("domain", ["depots", "incidents", "english"])
def test_other_domains_say_how_little_they_understood(domain):
    text = (TEXTS / "review.txt").read_text(encoding="utf-8")
    (note,) = partita.run(text, domain=domain).notes
    assert f"domain {domain} understood" in note
    assert "--domain general" in note


def mention(number: int, sentence: int, paragraph: int, form: str = "name") -> Template:
    return Template(
        f"m{number}", f"N{number}", 10 * number, 10 * number + 3, sentence=sentence, form=form,
        context={"PARAGRAPH": paragraph},
    )  # fmt: skip


@given(st.lists(st.booleans(), min_size=1, max_size=200), st.integers(4, 40))
def test_windows_cover_a_text_once(breaks, most):
    paragraphs = list(itertools.accumulate(map(int, breaks)))
    templates = [mention(n, n // 2, p) for n, p in enumerate(paragraphs)]
    cuts = Windows(most, 3, 3).cuts(templates)
    assert cuts[0] == 0
    assert cuts[-1] == len(templates)
    assert all(0 < b - a <= most for a, b in itertools.pairwise(cuts))
    for cut in cuts[1:-1]:
        near = range(max(cuts[cuts.index(cut) - 1] + most // 2 + 1, 1), cut + 1)
        if any(paragraphs[n] != paragraphs[n - 1] for n in near):
            assert paragraphs[cut] != paragraphs[cut - 1]


def test_a_template_read_again_carries_an_entity_into_the_next_window():
    chains, sizes = Chains(), Windows(2, 1, 5)
    first = [mention(1, 0, 0), mention(2, 0, 0), mention(3, 1, 0)]
    chains.add(Configuration([("m1", "m2"), ("m3",)]), CoreferenceSet(tuple(first)))
    again = chains.read_again(first, sizes)
    assert [one.id for one in again] == ["m1", "m3"]
    new = mention(4, 2, 1)
    window = CoreferenceSet((*again, new))
    chains.add(Configuration([("m1", "m4"), ("m3",)]), window)
    assert [[one.id for one in members] for members in chains.members] == [
        ["m1", "m2", "m4"],
        ["m3"],
    ]


def test_windows_of_a_long_text_are_said_and_joined(monkeypatch):
    domain = find_domain("general")
    monkeypatch.setattr(type(domain), "windows", Windows(12, 4, 8))
    text = (TEXTS / "biography.txt").read_text(encoding="utf-8")
    resolved = Runner(Settings()).load().resolve(parse_layout("m", text))
    assert len(resolved.distributions) > 2
    assert any(f"in {len(resolved.distributions)} windows" in note for note in resolved.notes)
    members = sorted(name for entity in resolved.entities for name in entity.templates)
    assert members == sorted(template.id for template in resolved.templates)
    named = [entity for entity in resolved.entities if "Whitcombe" in entity.name]
    assert max(len(entity.templates) for entity in named) > 2
    assert "Entities" in message_report(resolved)


def test_the_set_of_a_text_lists_likely_pairs_only(document):
    (distribution,) = document.distributions
    large = replace(
        distribution,
        set=CoreferenceSet(tuple(Template(f"t{n}") for n in range(61)), name="x"),
        probabilities=np.full((61, 61), 0.001),
        marginals=replace(
            distribution.marginals, value=np.full((61, 61), 0.001), low=np.zeros((61, 61)),
            high=np.full((61, 61), 0.01),
        ),
        configurations=replace(
            distribution.configurations, ids=tuple(f"t{n}" for n in range(61)),
            rows=np.zeros((1, 61), dtype=np.int64), probabilities=[1.0],
        ),
    )  # fmt: skip
    written = large.to_dict()
    assert written["pairs"] == []
    assert written["unlisted"] == {"count": 61 * 30, "probability": 0.005}


NAMES = (
    "Harlow Robotics agreed to buy the automation arm of Bayline Shipping for 410 million euros. "
    "Analysts at Kestrel Capital praised the deal. It expects trouble at Bayline Shipping's port."
)


def test_a_line_of_business_belongs_to_the_name_of_a_company() -> None:
    by_text = {mention.text: mention for mention in partita.run(NAMES).mentions}
    for name in ("Harlow Robotics", "Bayline Shipping", "Kestrel Capital"):
        assert by_text[name].type == "organization"
        assert by_text[name].slots["NAME"] == name
    assert by_text["Bayline Shipping's"].type == "organization"
    assert not {"Robotics", "Shipping", "Capital", "Bayline", "Kestrel"} & by_text.keys()


def test_capital_letters_tell_nothing_in_titles() -> None:
    analyser = shipped_analyser()
    words = ["Ancient", "Rome", "Road", "Building", "Began", "With", "Soldiers"]
    blanks = [1] * len(words)
    named, plain = (analyser.trees(words, [len(words)], space=space) for space in (blanks, None))
    assert named.tags.tolist() == plain.tags.tolist()


@pytest.mark.parametrize(
    ("text", "types"),
    [
        (
            "Ranmore Council approved plans for a bridge. The council will borrow the money.",
            {"Ranmore Council": "organization", "The council": "organization"},
        ),
        (
            "The board of Norvane Energy met on Monday. Helen Marsh joined Norvane in 2011.",
            {"Norvane Energy": "organization", "Norvane": "organization", "Helen Marsh": "person"},
        ),
        (
            "Wilk said he would work with the auditors, Pell & Croft, to restate the accounts.",
            {"Pell & Croft": "organization", "Wilk": "person"},
        ),
        (
            "It beat a rival offer from SAP, and the RSPB objected, but the CEO left.",
            {"SAP": "organization", "the RSPB": "organization", "the CEO": "person"},
        ),
        (
            "They said that Ms Fox praised the retailer Corvix and one of the analysts.",
            {
                "Ms Fox": "person",
                "the retailer Corvix": "organization",
                "one of the analysts": "person",
            },
        ),
    ],
)
def test_names_say_what_they_name(text, types) -> None:
    mentions = {mention.text: mention for mention in partita.run(text).mentions}
    assert {name: mentions[name].type for name in types} == types
    parts = {"Council", "Energy", "Pell", "Croft", "Marsh", "Fox"}
    assert not parts & mentions.keys()


def test_capital_letters_decide_nothing_in_upper_case() -> None:
    mentions = partita.run("THE COUNCIL MET AN OLD MAN. HE SPOKE TO THE COUNCIL.").mentions
    assert {m.text: m.type for m in mentions}["AN OLD MAN"] == "person"


def test_denied_roles_are_shown_in_words():
    document = partita.run("Tom Farrell led the union. He is no longer a member of the board.")
    assert "not role member of the board" in str(document)


@pytest.mark.parametrize(
    ("text", "status", "role"),
    [
        ("Peter Novak, formerly the mayor of Brno, is a minister.", "denied", "mayor of Brno"),
        ("Ida Holt, no longer the head of the bank, left.", "denied", "head of the bank"),
        ("Ann Lee, reportedly the owner of the shop, fled.", "reported", "owner of the shop"),
    ],
)
def test_appositions_have_statuses(text, status, role):
    document = partita.run(text)
    name, apposed = document.mentions[:2]
    said = name if status == "denied" else apposed
    (one,) = said.assertions
    assert (one.status, dict(one.slots)) == (status, {"ROLE": [role]})
    assert ("ROLE" in apposed.slots) == (status == "reported")
    assert apposed.context["APPOSITION_OF"] == name.id  # still the same person


def test_a_denied_predicate_is_another_thing():
    document = partita.run("Maria Lopez is not a doctor. She is a nurse in Leeds.")
    name, doctor, she, nurse = document.mentions[:4]
    (distribution,) = document.distributions
    assert distribution.marginal(name.id, doctor.id) < 0.001
    assert distribution.marginal(name.id, she.id) > 0.5
    assert doctor.id not in next(e for e in document.entities if name.id in e.templates).templates
    assert nurse.slots["ROLE"] == "nurse in Leeds"


GERMAN = "Der Bürgermeister hat gesagt, dass er nicht zu der Sitzung des Rates kommen wird."


def test_a_text_in_another_language_is_set_aside_unless_forced() -> None:
    aside = partita.run(GERMAN)
    assert not aside.mentions
    assert any("set aside (--force reads it)" in note for note in aside.notes)
    forced = partita.run(GERMAN, force=True)
    assert forced.mentions
    assert any("not reliable" in note for note in forced.notes)
    english, german = partita.run(["Ann sold her boat.", GERMAN])
    assert english.mentions
    assert not german.mentions


@pytest.mark.parametrize(
    "text",
    [
        "CNN's chief medical correspondent, to serve",
        "Jim O'Brien, coach. Named Maurice Cheeks",
        "De la Cruz beat Los Lobos in San Jose, La Vega and El Paso.",
        "die also narrowly escaped being buried",
    ],
)
def test_short_english_is_never_set_aside(text: str) -> None:
    assert other_language(text) == ""
