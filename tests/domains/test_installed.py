"""Domains of other packages: installed beside Partita, found by name, run end to end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from partita.domains import Domain, RuleDomain, describe_domains, find_domain, schema_of
from partita.errors import InputError
from partita.rules.domain_files import read_domain

CODE = '''
"""Ships by a regular expression, and a pair model that knows only their names."""

import re

import numpy as np

import partita.domains
from partita.core import Template
from partita.domains import OutputFormat
from partita.templates.schema import Schema
from partita.templates.slots import StringsType


class ByName:
    def pair_probabilities(self, columns, left, right):
        names = [template.slots["NAME"] for template in columns.templates]
        return np.array([0.9 if names[i] == names[j] else 0.2 for i, j in zip(left, right)])


class Ships(partita.domains.Domain):
    name = "ships"
    description = "Ships with their names."
    unsupported_models = ("joint",)
    output_formats = (OutputFormat("counts", "counts", rb"0", "ships"),)
    schema = Schema({"NAME": StringsType(several=False)})

    def extract(self, message):
        if "wreck" in message.text:
            raise ValueError("a wreck")
        return [
            Template(f"T{n}", found[0], found.start(), found.end(), slots={"NAME": found[1]})
            for n, found in enumerate(re.finditer(r"the ship ([A-Z][a-z]+)", message.text), 1)
        ]

    def pair_model(self, model):
        return ByName()

    def formatted(self, name, message, stages):
        count = len(stages.extract(message))
        return f"0. {message.id}\\n1. {count}\\n", count

    def additions(self, message):
        return {"ships": [len(self.extract(message))]}


class Plain(partita.domains.Domain):
    name = "plain"
    description = "Nothing at all."
    schema = Schema({})

    def extract(self, message):
        return []


ships = Ships()
number = 7


def broken():
    raise RuntimeError
'''
YAML = """\
domain: vessels
about: Ships in harbour reports.
extends: english
sorts: {VESSEL: , FERRY: VESSEL, TANKER: VESSEL}
slots:
  VESSEL: {type: sort, under: VESSEL}
  NUMBER: {type: number}
templates: {VESSEL: {needs: [VESSEL]}}
phases: [numbers, dates, names, groups, phrases, vessels]
"""
WORDS = """\
- {sort: VESSEL, tag: NN, words: [vessel, ship]}
- {sort: FERRY, tag: NN, words: [ferry]}
- {sort: TANKER, tag: NN, words: [tanker]}
"""
RULES = """\
phase: vessels
starts: everywhere
rules:
  - rule: a ship
    pattern: "what:[kind=ng, sort=VESSEL, form!=pronoun]"
    template: {about: $what, sort: $what.sort, slots: {VESSEL: $what.sort, NUMBER: $what.number}}
"""
MESSAGE = "Here is the ship Aurora, there the ship Aurora, and the ship Borealis.\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of packages as pip installs them: code, metadata, entry points."""
    place = tmp_path / "site"
    (place / "vessels" / "lexicon").mkdir(parents=True)
    (place / "vessels" / "rules").mkdir()
    (place / "vessels" / "__init__.py").write_text("")
    (place / "vessels" / "domain.yaml").write_text(YAML)
    (place / "vessels" / "lexicon" / "ships.yaml").write_text(WORDS)
    (place / "vessels" / "rules" / "vessels.yaml").write_text(RULES)
    (place / "fleet.py").write_text(CODE)
    install(place, "fleet", ships="fleet:ships", plain="fleet:Plain", vessels="vessels")
    return place


def install(place: Path, package: str, group: str = "domains", **entries: str) -> None:
    info = place / f"{package}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2\n")
    lines = [f"{name} = {value}" for name, value in entries.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[partita.{group}]", *lines, ""]))


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same for this process."""
    monkeypatch.syspath_prepend(site)
    yield site
    for name in ("fleet", "vessels"):
        sys.modules.pop(name, None)


def partita(site: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "partita", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
        cwd=site.parent,
    )


def test_a_domain_of_another_package_runs_end_to_end(site):
    message = site.parent / "m.txt"
    message.write_text(MESSAGE)
    result = partita(site, "run", message, "--domain", "ships", "--json", "--store", "s.db")
    assert result.returncode == 0, result.stderr
    [line, alone] = map(json.loads, result.stdout.splitlines())
    assert [template["text"] for template in line["templates"]] == ["the ship Aurora"] * 2
    assert line["pairs"][0]["probability"] == 0.9
    assert [template["text"] for template in alone["singletons"]] == ["the ship Borealis"]
    assert alone["run"]["domain"] == "ships"
    again = partita(site, "run", message, "--domain", "ships", "--store", "s.db")
    assert "0 messages: 0 templates, 0 sets, 0 entities; 1 done before" in again.stderr
    why = partita(site, "explain", *explained(site, result.stdout))
    assert why.returncode == 0, why.stderr
    assert "The pair model of the domain has no features" in why.stdout
    counts = partita(site, "run", message, "--domain", "ships", "--to", "counts")
    assert counts.stdout == "0. m\n1. 3\n"
    assert "1 message, 3 ships" in counts.stderr
    assert alone["ships"] == [3]


def explained(site: Path, lines: str) -> list[object]:
    results = site.parent / "results.jsonl"
    results.write_text(lines)
    return [results, "m.1", "T1", "T2"]


def test_a_message_that_a_domain_fails_on_does_not_stop_the_others(site):
    for name, text in (("a", "the wreck"), ("b", MESSAGE)):
        (site.parent / f"{name}.txt").write_text(text)
    result = partita(site, "run", "a.txt", "b.txt", "--domain", "ships", "--json")
    assert result.returncode == 1
    assert len(result.stdout.splitlines()) == 2
    assert "a.txt: message a: a fault of Partita (ValueError: a wreck)" in result.stderr


def test_a_package_that_holds_only_yaml_runs_end_to_end(site):
    (site.parent / "m.txt").write_text("A tanker left. A ferry came. The ship is empty.\n")
    result = partita(site, "run", "m.txt", "--domain", "vessels", "--json")
    assert result.returncode == 0, result.stderr
    first = json.loads(result.stdout.splitlines()[0])
    assert [one["slots"]["VESSEL"] for one in first["templates"]] == ["TANKER", "FERRY", "VESSEL"]
    assert first["incompatible"] == [["T1", "T2"]]


def test_the_installed_domains_are_listed(site):
    result = partita(site, "domains", "--json")
    assert result.returncode == 0, result.stderr
    rows = {row["name"]: row for row in json.loads(result.stdout)}
    assert {"depots", "english", "ships", "plain", "vessels"} <= rows.keys()
    assert rows["ships"] == {
        "name": "ships",
        "description": "Ships with their names.",
        "package": "fleet",
        "version": "1.2",
        "error": "",
    }
    assert rows["vessels"]["description"] == "Ships in harbour reports."
    text = partita(site, "domains").stdout
    assert "ships      Ships with their names. (fleet 1.2)\n" in text
    assert all(len(row) <= 80 for row in text.splitlines())


def test_a_domain_can_be_a_class_and_has_the_shipped_pair_model(installed):
    domain = find_domain("plain")
    assert isinstance(domain, Domain)
    assert domain.parameters.learned_from == find_domain("english").parameters.learned_from
    assert domain.pair_model("merging") is domain.pair_parameters.questions
    assert domain.pair_model("evidential") is domain.pair_parameters.every_pair


def test_parameters_can_be_replaced(installed, tmp_path):
    depots = find_domain("depots")
    path = tmp_path / "pairs.json"
    path.write_text(depots.parameters.text)
    domain = find_domain("plain")
    other = domain.with_parameters(path)
    assert other.parameters.text == depots.parameters.text != domain.parameters.text
    assert other.parameters.hash == depots.parameters.hash != domain.parameters.hash
    assert other.name == "plain"
    with pytest.raises(InputError, match="plain does not take a gazetteer"):
        domain.with_gazetteer(path)


def test_rules_of_an_installed_domain_can_be_extended(installed, tmp_path):
    folder = tmp_path / "harbours"
    folder.mkdir()
    (folder / "domain.yaml").write_text("domain: harbours\nextends: vessels\n")
    domain = find_domain(folder)
    assert isinstance(domain, RuleDomain)
    assert "VESSEL" in domain.schema.slots
    assert schema_of(str(folder)).slots.keys() == read_domain("vessels").schema.slots.keys()
    before = domain.fingerprint
    (installed / "vessels" / "lexicon" / "ships.yaml").write_text(WORDS.replace("ferry", "raft"))
    assert domain.fingerprint != before


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("fleet:number", "domain odd: fleet:number is a int (expected a partita.Domain)"),
        ("fleet:nothing", "domain odd: fleet:nothing fails to load (AttributeError"),
        ("no_such_module", "domain odd: no_such_module fails to load (ModuleNotFoundError"),
    ],
)
def test_a_broken_domain_is_named_and_does_not_hide_the_others(installed, value, problem):
    install(installed, "odd", odd=value)
    with pytest.raises(InputError) as error:
        find_domain("odd")
    assert str(error.value).startswith(problem)
    rows = {row["name"]: row for row in describe_domains()}
    assert rows["odd"]["error"] == str(error.value)
    assert rows["depots"]["description"]
    with pytest.raises(InputError, match=r"unknown domain 'none' \(expected depots, .*odd"):
        find_domain("none")


def test_two_packages_with_the_same_domain_are_refused(installed):
    install(installed, "other", ships="other:ships")
    with pytest.raises(InputError, match="two packages provide a domain 'ships': "):
        find_domain("depots")


def test_a_model_that_a_domain_does_not_support(site):
    (site.parent / "m.txt").write_text(MESSAGE)
    result = partita(site, "run", "m.txt", "--domain", "ships", "--model", "joint")
    assert result.returncode == 1
    assert "domain ships does not support the model joint (expected --model" in result.stderr
    result = partita(site, "run", "m.txt", "--domain", "ships", "--to", "tables")
    assert result.returncode == 2
    assert "has no format 'tables' (expected jsonl, corefud, counts)" in result.stderr


FURTHER = '''
"""A command."""


def count(times: int = 1) -> None:
    """Count ships."""
    print("ship " * times)
'''


@pytest.fixture
def harbour(site: Path) -> Path:
    (site / "harbour.py").write_text(FURTHER)
    install(site, "counting", "commands", ships="harbour:count", wrecks="harbour:nothing")
    return site


def test_a_package_adds_commands(harbour):
    assert partita(harbour, "ships", "--times", "2").stdout == "ship ship \n"
    shown = partita(harbour, "--help").stdout
    assert "Count ships." in shown
    assert "fails to load" in shown
    broken = partita(harbour, "wrecks")
    assert broken.returncode == 1
    assert "command wrecks: harbour:nothing fails to load (AttributeError" in broken.stderr
    assert partita(harbour, "boats").returncode == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "m.txt", "--domain", "incidents"),
        ("run", "m.txt", "--to", "muc"),
        ("train-muc", "m.txt"),
        ("score-muc", "m.txt", "m.txt"),
    ],
)
def test_what_a_package_of_ours_adds_is_named_when_it_is_missing(tmp_path, arguments):
    """The packages are hidden: the product alone must say what to install."""
    (tmp_path / "m.txt").write_text(MESSAGE)
    hidden = (
        "import importlib.util as u, partita.plugins as m, sys\n"
        "entry_points, find_spec = m.entry_points, u.find_spec\n"
        "ours = lambda one: not one.value.startswith('partita_incidents')\n"
        "m.entry_points = lambda group, path: list(filter(ours, entry_points(group, path)))\n"
        "u.find_spec = lambda name: None if name == 'partita_incidents' else find_spec(name)\n"
        "from partita.cli import main; main()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", hidden, *arguments], capture_output=True, text=True, cwd=tmp_path
    )
    assert result.returncode in (1, 2)
    assert "pip install partita-incidents" in " ".join(result.stderr.split())
