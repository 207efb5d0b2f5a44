"""The options of a verb are the same on the command line, in Python, on Spark and over HTTP."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import partita
from partita import spark
from partita.cli import app
from partita.cli.records import BuildCommand, ClusterCommand, FuseCommand, LinkCommand
from partita.cli.research import EvaluateCommand, ExplainCommand, TrainCommand
from partita.cli.run import RunCommand
from partita.cli.solve import SolveCommand
from partita.errors import InputError
from partita.options import (
    BuildOptions,
    ClusterOptions,
    EvaluateOptions,
    ExplainOptions,
    FuseOptions,
    LinkOptions,
    Options,
    RunOptions,
    SolveOptions,
    TrainOptions,
    declaration,
    declared_fields,
)
from partita.web import schemas as requests

VERBS: dict[str, tuple[type[Options], type[Options]]] = {
    "run": (RunOptions, RunCommand),
    "solve": (SolveOptions, SolveCommand),
    "cluster": (ClusterOptions, ClusterCommand),
    "link": (LinkOptions, LinkCommand),
    "fuse": (FuseOptions, FuseCommand),
    "build": (BuildOptions, BuildCommand),
    "train": (TrainOptions, TrainCommand),
    "evaluate": (EvaluateOptions, EvaluateCommand),
    "explain": (ExplainOptions, ExplainCommand),
}
INPUTS = {"source", "pairs", "scores", "records", "claims", "keys", "results", "left", "right"}

SPARK: dict[str, tuple[Callable[..., Any], dict[str, str]]] = {
    "cluster": (
        spark.cluster,
        {
            "sources": "a column of the records, which `source` names",
            "source": "the column of the records that has what `sources` lists in Python",
            "worlds": "drawn on one machine, from the scores as a local frame",
            "progress": "Spark has its own",
            "note": "frames have no encoding to note",
            "errors": "a job ends with the first error",
            "previous": "ids persist on one machine",
        },
    ),
    "link": (
        spark.link,
        {
            "note": "notes are in the result",
            "errors": "a job ends with the first error",
            "previous": "ids persist on one machine",
            "worlds": "drawn on one machine, from the scores as a local frame",
            "reference": "each new record is answered by itself, on one machine",
        },
    ),
}
HTTP: dict[type[requests.RequestModel], tuple[type[Options], dict[str, str]]] = {
    requests.ResolveRequest: (RunOptions, {"text": "the input"}),
    requests.SolveRequest: (
        SolveOptions,
        {"pairs": "the input", "top": "the page shows up to 100 configurations"},
    ),
    requests.FuseRequest: (
        FuseOptions,
        {
            "sources": "the input",
            "runs": "the input, from the store",
            "domain": "None is the domain of the runs",
            "kinds": "kinds of sources by name, as an object; those of slots are slot_kinds",
            "slot_kinds": "kinds of slots by name, as an object",
            "reliabilities": "the file of reliability, as an object",
            "hierarchy": "the content of the file",
            "top": "configurations in the answer",
        },
    ),
}


def keywords(function: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}


def declared(kind: type[Options]) -> dict[str, Any]:
    return {one.name: one.default for one in declared_fields(kind)}


def same(one: Any, other: Any) -> bool:
    return one == other or {str(one), str(other)} <= {"None", "()"}


@pytest.mark.parametrize("verb", VERBS)
def test_python_has_the_declared_keywords_and_defaults(verb: str) -> None:
    function = getattr(partita, verb)
    given, wanted = keywords(function), declared(VERBS[verb][0])
    assert given.keys() == wanted.keys()
    for name, default in wanted.items():
        assert same(given[name], default), name
        assert f"    {name}: " in function.__doc__


@pytest.mark.parametrize("verb", VERBS)
def test_the_command_has_the_declared_options(verb: str) -> None:
    kind, command = VERBS[verb]
    assert issubclass(command, kind)
    (made,) = (one for name, one in get_command(app).commands.items() if name == verb)  # type: ignore[attr-defined]
    parameters = {one.name: one for one in made.params}
    for one in declared_fields(command):
        option = declaration(one)
        assert (one.name in parameters) == option.command
        if option.command:
            assert parameters[one.name].help.startswith(option.help)
            assert option.help[0].isupper() or option.help[0] in "-'" or option.help.islower()
            assert not option.help.endswith(".")
    shown = CliRunner().invoke(app, [verb, "--help"]).stdout
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("verb", SPARK)
def test_spark_has_the_declared_keywords_and_defaults(verb: str) -> None:
    function, meant = SPARK[verb]
    given, wanted = keywords(function), declared(VERBS[verb][0])
    assert given.keys() ^ wanted.keys() == meant.keys()
    for name in given.keys() & wanted.keys():
        silent = name == "progress" and callable(given[name])
        assert silent or same(given[name], wanted[name]), name


@pytest.mark.parametrize("request_model", HTTP, ids=lambda model: model.__name__)
def test_requests_have_the_declared_defaults_and_descriptions(request_model: Any) -> None:
    kind, meant = HTTP[request_model]
    known = {one.name: one for one in declared_fields(kind)}
    for name, field in request_model.model_fields.items():
        if name in meant:
            continue
        assert name in known, name
        assert field.description == f"{declaration(known[name]).help}."
        assert same(field.default, known[name].default)


def test_values_are_checked_in_python_as_on_the_command_line() -> None:
    pairs = [("A", "B", 0.5)]
    for name, value in (("threshold", 0.0), ("missing", 2.0), ("method", "none")):
        with pytest.raises(InputError, match=f"^{name}: "):
            partita.solve(pairs, **{name: value})
        shown = CliRunner().invoke(app, ["solve", "-", f"--{name}", str(value)])
        assert shown.exit_code == 2
        assert f"--{name}" in shown.stderr
