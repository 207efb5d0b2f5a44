"""Events: a verb makes a template whose participants are templates; the example package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from partita.app.authoring import lint_domain, measure_corpus
from partita.cli import app
from partita.core import Template
from partita.corpora.documents import corpus_path, read_keyed_messages
from partita.domains import RuleDomain, find_domain
from partita.evaluation.extraction import pair_templates
from partita.pairs.models import set_probabilities
from partita.pipeline import compatible_sets
from partita.rules.domain_files import read_domain
from partita.rules.extractor import Extractor
from partita.text.layout import parse_layout
from partita.text.tagger_models import shipped_tagger

EVENTS = Path(__file__).parent / "events"
EXAMPLE = Path(__file__).parents[2] / "examples" / "business-news"
PACKAGE = EXAMPLE / "business_news"


@cache
def extractor() -> Extractor:
    return Extractor(read_domain("depots"), shipped_tagger())


def templates(text: str) -> tuple[Template, ...]:
    return extractor().templates(parse_layout("m", text))


def events(text: str) -> list[Template]:
    return [one for one in templates(text) if one.context.get("KIND") == "event"]


def test_events_and_their_slots_are_found():
    measured = measure_corpus(EVENTS, "depots")
    assert measured.messages == 30
    for part in ("event", "later"):
        slots = measured.of("part", part).slots
        assert min(slots.recall, slots.precision) >= 0.9
    assert measured.statuses.stated == 0
    assert measured.of("slot", "EVENT").slots.recall >= 0.95
    assert measured.statuses.right / measured.statuses.values >= 0.95


def test_participants_are_the_templates_of_the_key():
    right = wanted = 0
    for document in read_keyed_messages(EVENTS):
        extracted = extractor().templates(parse_layout(document.name, document.text))
        met = {key.id: other for key, other in pair_templates(document.templates, extracted) if key}
        for key in document.templates:
            for role, ids in key.context.get("ROLES", {}).items():
                event = met[key.id]
                said = event.context.get("ROLES", {}).get(role, []) if event else []
                wanted += 1
                right += said == [met[one].id for one in ids if met[one]]
    assert right >= 0.9 * wanted > 40


def test_ids_of_events_differ_from_those_of_things_and_entities():
    found = templates("Rebels attacked the bridge. The attack failed.")
    assert [one.id for one in found] == ["T1", "V1", "T2", "V2"]
    assert found[1].context["ROLES"] == {"AGENT": ["T1"], "OBJECT": ["T2"]}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("Rebels did not attack the bridge.", "denied"),
        ("Rebels may attack the bridge.", "possible"),
        ("Villagers said that rebels attacked the bridge.", "reported"),
        ("Rebels attacked the bridge.", "asserted"),
        ("Did rebels attack the bridge?", "possible"),
    ],
)
def test_an_event_has_a_status(text: str, status: str):
    (event,) = events(text)
    assert event.status == status
    assert event.type == "ATTACK"
    values = {"EVENT": "ATTACK", "AGENT": ["REBELS"], "OBJECT": ["BRIDGE"]}
    assert event.slots == ({} if status == "denied" else values)
    said = [one.slots for one in event.assertions if one.slots]
    assert said == ([] if status == "asserted" else [values])


@pytest.mark.parametrize(
    ("text", "status", "slots"),
    [
        ("Construction of the road has not begun.", "denied", {"OBJECT": ["ROAD"]}),
        ("The attack on the camp was cancelled.", "denied", {"OBJECT": ["CAMP"]}),
        ("The attack on the camp may begin soon.", "possible", {"OBJECT": ["CAMP"]}),
        ("Was the bridge bombed by aircraft?", "possible", {"OBJECT": ["BRIDGE"]}),
        ("Rebels have yet to attack the camp.", "denied", {"AGENT": ["REBELS"]}),
        ("Tanks, guns and trucks were seen.", "asserted", {"OBJECT": ["GUNS", "TANKS", "TRUCKS"]}),
        ("TWO TRUCKS OBSERVED ON 11 APR 97.", "asserted", {"OBJECT": ["TWO TRUCKS"]}),
        ("The brigade attacked the town of Arden.", "asserted", {"OBJECT": ["TOWN OF ARDEN"]}),
        (
            "The convoy did not arrive at Arden.",
            "denied",
            {"DESTINATION": ["ARDEN"], "LOCATION": None},
        ),
        ("A periscope was not seen.", "denied", {"OBJECT": ["PERISCOPE"]}),
        ("Sailors reported sighting a tanker.", "reported", {"AGENT": ["SAILORS"]}),
    ],
)
def test_events_of_many_forms(text: str, status: str, slots: dict):
    (event,) = events(text)
    assert event.status == status
    said = event.slots or next(one.slots for one in event.assertions if one.slots)
    assert {slot: said.get(slot) for slot in slots} == slots


def test_what_did_not_happen_is_no_event_that_did():
    text = "Rebels did not attack the bridge. Rebels attacked the bridge. The attack failed."
    message = parse_layout("m", text)
    _, sets = compatible_sets(message, templates(text), extractor().domain.schema)
    assert [one.ids for one in sets if one.ids[0][0] == "V"] == [("V2", "V3")]


def test_events_of_participants_that_exclude_each_other_are_apart():
    text = "Rebels attacked the bridge. The army attacked the depot. The raid on the depot failed."
    message = parse_layout("m", text)
    _, sets = compatible_sets(message, templates(text), extractor().domain.schema)
    (attacks,) = [one for one in sets if one.ids[0][0] == "V"]
    assert attacks.ids == ("V2", "V3")
    domain = find_domain("depots")
    probabilities = set_probabilities(domain.pair_model("evidential"), attacks, domain.schema)
    assert probabilities.matrix[0, 1] > 0.8


def test_events_leave_things_alone():
    """Things never share a set with events, and are numbered as if there were none."""
    for document in list(read_keyed_messages(corpus_path()))[::8]:
        message = parse_layout(document.name, document.text)
        found = extractor().templates(message)
        things = [one for one in found if one.context.get("KIND") != "event"]
        assert [one.id for one in things] == [f"T{n}" for n in range(1, len(things) + 1)]
        schema = extractor().domain.schema
        alone = compatible_sets(message, things, schema)[1]
        together = compatible_sets(message, found, schema)[1]
        assert together[: len(alone)] == alone
        assert all(name[0] == "V" for one in together[len(alone) :] for name in one.ids)


def test_results_show_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("m.txt").write_text("Rebels attacked the bridge. The attack on the bridge failed.\n")
    run = ["run", "m.txt", "--domain", "depots", "--store", "s.db", "--name", "r", "--json"]
    done = CliRunner().invoke(app, run)
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    entities = [one for row in rows for one in row.get("entities", ())]
    (attack,) = [one for one in entities if one["sort"] == "ATTACK"]
    assert attack["templates"] == ["V1", "V2"]
    assert attack["slots"]["AGENT"][0]["value"] == ["REBELS"]
    assert len({one["id"] for one in entities}) == len(entities) == 2
    table = ["--table", "entities", "--to", "csv", "--out", "e.csv"]
    CliRunner().invoke(app, ["export", "r", "--store", "s.db", *table])
    assert "ATTACK" in Path("e.csv").read_text()


def test_the_example_package_passes_lint_and_its_keys():
    assert lint_domain(str(PACKAGE)) == []
    measured = measure_corpus(PACKAGE / "corpus")
    slots = measured.of("all").slots
    assert measured.messages == 6
    assert measured.statuses.stated == 0
    assert min(slots.recall, slots.precision) >= 0.9


def test_the_example_package_is_found_by_its_name(tmp_path: Path):
    """Installed as pip does it: the package on the path, and the entry points of its metadata."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    info = tmp_path / "business_news-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: business-news\nVersion: 1.0\n")
    points = project["entry-points"]["partita.domains"]
    lines = ["[partita.domains]", *(f"{name} = {value}" for name, value in points.items()), ""]
    (info / "entry_points.txt").write_text("\n".join(lines))
    article = PACKAGE / "corpus" / "news-005.txt"
    path = os.pathsep.join([str(tmp_path), str(EXAMPLE), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "partita", "run", article, "--domain", "business-news", "--json"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    found = [one for row in rows for one in (*row.get("templates", ()), *row.get("singletons", ()))]
    slots = [one["slots"] for one in found]
    assert any(one.get("PRICE") == "2000000000 USD" for one in slots)


def test_the_head_of_a_person_s_name_is_its_first_word():
    """As in GUM, from which the shipped pair parameters were learned."""
    domain = find_domain(PACKAGE)
    found = domain.extract(parse_layout("m", "Alder Bank appointed Dr. Anna Lund as chairwoman."))
    heads = {one.text: one.head for one in found}
    assert heads["Dr. Anna Lund"] == "anna"
    assert heads["Alder Bank"] == "bank"


def test_a_role_that_is_no_label_is_refused(tmp_path: Path):
    (tmp_path / "rules").mkdir()
    (tmp_path / "domain.yaml").write_text(
        "domain: d\nextends: english\nsorts: {EVENT: }\n"
        "slots: {EVENT: {type: sort, under: EVENT}, AGENT: {type: strings}}\n"
        "templates: {EVENT: {needs: [EVENT], event: true}}\nphases: [numbers, groups, d]\n"
    )
    (tmp_path / "rules" / "d.yaml").write_text(
        "phase: d\nstarts: everywhere\nrules:\n  - rule: r\n    pattern: 'who:ng verb:vg'\n"
        "    template: {about: $verb, slots: {EVENT: EVENT}, roles: {AGENT: someone}}\n"
    )
    problems = [one.said for one in lint_domain(str(tmp_path)) if "role" in one.said]
    assert problems == ["role AGENT is not a label (expected for example $subject)"]
    assert isinstance(find_domain(tmp_path), RuleDomain)
