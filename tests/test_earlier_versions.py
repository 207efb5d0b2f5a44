"""Stores, parameter files and documented Python names of version 0.1 still work.

`tests/earlier` has what version 0.1 wrote and documented: a store as SQL with the results that it
exported, the parameter files, the names that its pages import, the members and arguments of its
reference, and the options of its commands. A name that changed on purpose either works with a
DeprecationWarning, or stands in REPLACED with what replaces it, as in the change log.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sqlite3
import warnings
from base64 import b64encode
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer import Context
from typer.main import get_command
from typer.testing import CliRunner

import partita
from partita.app.workspace import open_workspace
from partita.cli import app
from partita.configurations.forest.model import ForestParameters
from partita.configurations.joint.model import parse_joint_model
from partita.configurations.odds import ScaledParameters
from partita.configurations.pair_models import GreedyParameters
from partita.results.saved_results import Alone, read_results
from partita.store import store as store_module
from partita.training.parameter_files import model_parameters, read_pair_parameters
from research.__main__ import app as research

EARLIER = Path(__file__).parent / "earlier"
CHANGE_LOG = (EARLIER.parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")
REPLACED = {  # name of version 0.1: what to use instead
    # The page named it, but it never existed.
    "partita.app.authoring.trace": "partita.app.authoring.trace_file",
    "partita.app.label_choice.taught": "partita.app.train.train",
    "partita.Domain.answers": "partita.Domain.formatted",
    "partita.Domain.incidents": "partita.Domain.additions",
    "partita.Distribution.clusters": "partita.entities.answer.answer",
    "partita.Distribution.resolved": "partita.entities.answer.answer",
    # Of a run, read_run_results makes what run_records takes.
    "partita.fusion.account_results.result_accounts": "partita.fusion.run_results.run_records",
    "partita.fusion.accounts.merge_accounts": "partita.fusion.source_records.merge_records",
    "partita.fusion.across.Task": "partita.fusion.entities.Task",
    "partita.fusion.fuse.fuse": "partita.fusion.fuse.fuse_slots",
    "partita.fusion.set_beliefs.PairBelief": "partita.fusion.source_records.PairBelief",
    "partita.fusion.across.fuse_accounts": "partita.fusion.entities.fuse_records",
    "partita.views.palette.colour": "partita.views.markup.colour",
}
# What is not for users of the package: `partita NAME` of version 0.1 is `python -m research NAME`.
TO_RESEARCH = {
    name: name for name in ("tagger train", "tagger test", "analyser train", "analyser test")
}
TO_RESEARCH |= {"experiment --raw": "raw", "experiment --case": "raw"}
# Commands, options, imports and members; the change log says why.
REMOVED = {
    "study-keys",
    "fuse --from",
    "fuse --out",
    "fuse --parameters",
    *(
        f"partita.evidence.{name}"
        for name in ("Combination", "MassFunction", "belief", "combine", "combine_all", "discount")
    ),
    *(f"partita.evidence.{name}" for name in ("conflicting", "pair_mass", "pignistic")),
    "partita.evidence.plausibility",
    "partita.fuse().parameters",
    "partita.fusion.across.add_accounts",
    "partita.fusion.set_beliefs.combine",
    "cluster --chart",
    "explain --chart",
    "link --chart",
    "experiment",
    "partita.coreference.from_clusters",
    "partita.coreference.from_fastcoref",
    "partita.coreference.PairScores",
    "partita.coreference.from_stanza",
    "partita.app.label_choice.curve",
    "partita.app.label_choice.learning_curve",
    "report",
    "partita.TrainedModel.selections",
    *(f"partita.train().{name}" for name in ("characteristics", "select", "fit")),
    "train --characteristics",
    "train --fit",
    "train --select",
    "solve --clusters",
    "solve --cautious",
    "solve --excel-safe",
    "cluster --previous-scores",
    *(f"partita.cluster().{name}" for name in ("missing", "model", "previous_scores", "soft")),
    "partita.app.report.report_html",
    "partita.app.report.report_of_results",
    "partita.ResolvedMessage.to_brat",
    "partita.ResolvedMessage.to_html",
    "rules trace --html",
    "partita.Explanation.save_chart",
    "partita.Evaluation.save_chart",
    "evaluate --plot",
    "run --durable",
    "solve --format",
    "partita.client.Client",
    "partita.client.ServiceError",
    *(
        f"partita.views.charts.{name}"
        for name in ("configurations_chart", "entropy_chart", "learning_chart", "pairs_chart")
    ),
    "partita.views.charts.reliability_chart",
    "partita.views.charts.save",
}


def listed(file: str) -> list[tuple[str, list[str]]]:
    lines = (EARLIER / file).read_text(encoding="utf-8").splitlines()
    return [(name, rest.split()) for name, _, rest in (line.partition(":") for line in lines)]


def resolve(name: str) -> Any:
    """Return what a dotted name stands for, importing as far as there are modules."""
    module, rest = name, []
    while True:
        try:
            found = import_module(module)
            break
        except ModuleNotFoundError as error:
            if not module.startswith(str(error.name)) or "." not in module:
                raise  # the module is there, and imports one that is not
            module, _, last = module.rpartition(".")
            rest.insert(0, last)
    for attribute in rest:
        found = getattr(found, attribute)
    return found


def deprecations(name: str) -> list[str]:
    """Return the deprecation warnings of a name; an error, if it does not exist."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        resolve(name)
    return [str(one.message) for one in caught if one.category is DeprecationWarning]


IMPORTS = [
    f"{module}.{name}" if name else module
    for module, names in listed("imports.txt")
    for name in names or [""]
]


@pytest.mark.parametrize("name", IMPORTS)
def test_a_documented_import_works_or_has_a_replacement(name: str) -> None:
    if name in REMOVED:
        assert f"`{name}`" in CHANGE_LOG or f"`{name.rpartition('.')[0]}`" in CHANGE_LOG
    if name in REPLACED or name in REMOVED:
        return
    for warning in deprecations(name):
        replacements = re.findall(r"\bpartita\w*(?:\.\w+)+", warning)
        assert len(replacements) >= 2, f"{warning}: names no replacement"
        resolve(replacements[1])


def test_the_table_of_replacements() -> None:
    members = {f"{name}.{one}" for name, members in listed("reference.txt") for one in members}
    assert set(REPLACED) <= {*IMPORTS, *members}
    for name, replacement in REPLACED.items():
        with pytest.raises((ImportError, AttributeError)):
            resolve(name)
        resolve(replacement)


def attributes(value: Any) -> set[str]:
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    return {one.name for one in fields} | set(dir(value))


@pytest.mark.parametrize(("name", "members"), listed("reference.txt"))
def test_members_and_arguments_of_the_reference_are_there(name: str, members: list[str]) -> None:
    if members and {f"{name}.{one}" for one in members} <= REMOVED:  # a module that went
        assert f"`{name}`" in CHANGE_LOG
        return
    value = resolve(name.removesuffix("()"))
    existing = set(inspect.signature(value).parameters) if "()" in name else attributes(value)
    missing = [one for one in members if one not in existing]
    gone = [one for one in missing if f"{name}.{one}" in REMOVED]
    assert all(f"`{name}.{one}`" in CHANGE_LOG for one in gone)
    assert [one for one in missing if f"{name}.{one}" not in {*REPLACED, *REMOVED}] == []


def options_of(group: Any, name: str) -> set[str]:
    """Return the options of a command; an error, if there is no such command."""
    found, context = group, Context(group)
    for part in name.split():
        found = found.get_command(context, part)
        assert found is not None, f"no command {part}"
    return {option for one in found.params for option in (*one.opts, *one.secondary_opts)}


@pytest.mark.parametrize(("name", "options"), listed("commands.txt"))
def test_commands_have_the_options_that_they_had(name: str, options: list[str]) -> None:
    if name in REMOVED:
        assert f"`{name}`" in CHANGE_LOG
        return
    moved = name in TO_RESEARCH
    existing = options_of(get_command(research if moved else app), name)
    missing = [option for option in options if option not in existing]
    gone = [option for option in missing if f"{name} {option}" in REMOVED]
    assert all(f"`{name} {option}`" in CHANGE_LOG for option in gone)
    missing = [option for option in missing if option not in gone]
    replaced = [option for option in missing if f"{name} {option}" in TO_RESEARCH]
    assert missing == replaced
    for option in replaced:
        options_of(get_command(research), TO_RESEARCH[f"{name} {option}"])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that version 0.1 made: a keyed run of depots, and one of ordinary text."""
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript((EARLIER / "store.sql").read_text(encoding="utf-8"))
        texts = {"pairs": (EARLIER / "pairs.json").read_text(encoding="utf-8"), "joint": JOINT}
        for kind, text in texts.items():
            database.execute("UPDATE models SET text = ? WHERE kind = ?", (text, kind))
        database.commit()
    return path


def command(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == 0, done.stderr
    return done.stdout


def test_a_store_is_migrated_and_keeps_its_runs(store: Path) -> None:
    shown = command("runs", "--store", store).splitlines()
    assert [line.split() for line in shown[1:]] == [
        ["monday", "1", "1", "1", "0.12", "complete"],
        ["joint", "1", "1", "0", "1.94", "complete"],
    ]
    with closing(sqlite3.connect(store)) as database:
        (version,) = database.execute(f"SELECT version_num FROM {store_module.TABLE}").fetchone()
    assert version == store_module.VERSION


@pytest.mark.parametrize("run", ["monday", "joint"])
def test_a_stored_run_is_exported_as_it_was(store: Path, tmp_path: Path, run: str) -> None:
    path = tmp_path / "results.jsonl"
    command("export", run, "--store", store, "--table", "results", "--to", "jsonl", "--out", path)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    before = (EARLIER / f"{run}.jsonl").read_text(encoding="utf-8").splitlines()
    for line, text in zip(lines, before, strict=True):
        assert {name: line[name] for name in json.loads(text)} == json.loads(text)


def test_results_are_read_and_explained() -> None:
    """Files that `run --out` of version 0.1 wrote; their field `sort` is the type."""
    resolved, alone = read_results(EARLIER / "monday.jsonl")
    assert not isinstance(resolved, Alone)
    assert [one.type for one in resolved.set.templates] == ["DEPOT"] * 3
    assert resolved.entities[0].slots["LOCATION"][0].value == "TARBORO"
    assert isinstance(alone, Alone)
    why = json.loads(
        command("explain", EARLIER / "monday.jsonl", "tarboro.1", "T1", "T3", "--json")
    )
    assert why["marginal"] == pytest.approx(0.9909, abs=1e-4)


def test_the_keys_of_a_store_are_learned_from(store: Path) -> None:
    workspace = open_workspace(store, create=False)
    before = workspace.set("monday", "tarboro.1")
    trained = workspace.train("monday", workers=1)
    after = workspace.set(trained["run"], "tarboro.1")
    workspace.close()
    probabilities = [
        {str(one["cells"]): one["probability"] for one in line["configurations"]}
        for line in (before, after)
    ]
    key = str([["T1", "T2"], ["T3"]])
    assert probabilities[1][key] > probabilities[0][key]


def _joint_text() -> str:
    """Return a file of the joint model as version 0.1 wrote it, with small weights."""
    head = json.loads((EARLIER / "joint_head.json").read_text(encoding="utf-8"))
    row = b64encode(np.arange(240, dtype="<i2").tobytes()).decode("ascii")
    return json.dumps({
        **head,
        "bias": [[0.25] * 240] * 2, "out": [[0.125] * 240] * 2, "other": [0.5] * 45,
        "temperature": [1.0, 1.0], "table": [row] * 1908, "gate": [row] * 130,
        "lexicon": [f"word{n}" for n in range(965)],
        "learned_from": {"description": "drawn", "sha256": "0" * 64},
        "seed": 0, "figures": {"documents": 117},
    })  # fmt: skip


JOINT = _joint_text()


def test_parameter_files_are_read() -> None:
    forest = model_parameters("forest", EARLIER / "forest.json")
    assert forest == ForestParameters(scale=1.0, bias=0.0, unlisted=-6.5)
    greedy = model_parameters("greedy", EARLIER / "greedy.json")
    assert greedy == GreedyParameters(*_values("greedy", "p2", "p3", "p_more"))
    scaled = model_parameters("scaled", EARLIER / "scaled.json")
    assert scaled == ScaledParameters(*_values("scaled", "scale", "bias"))
    pairs = read_pair_parameters(EARLIER / "pairs.json")
    assert len(pairs.pair_model("every pair").weights) > 0


def test_a_joint_model_is_refused_with_what_replaces_it() -> None:
    """Its weights are of characteristics that are computed no more, as the change log says."""
    with pytest.raises(
        partita.InputError, match=r"^joint\.json: .* train it again with partita train"
    ):
        parse_joint_model(JOINT, "joint.json")


def _values(model: str, *names: str) -> list[float]:
    content = json.loads((EARLIER / f"{model}.json").read_text(encoding="utf-8"))
    return [content["values"][name] for name in names]


def test_run_and_solve_accept_the_files(tmp_path: Path) -> None:
    pairs = {("a", "b"): 0.9, ("b", "c"): 0.2, ("a", "c"): 0.4}
    for model in ("forest", "greedy", "scaled"):
        found = partita.solve(pairs, model=model, parameters=EARLIER / f"{model}.json")
        assert found.model == model
    doc = partita.run("A depot. The depot.", domain="depots", parameters=EARLIER / "pairs.json")
    assert len(doc.mentions) == 2
