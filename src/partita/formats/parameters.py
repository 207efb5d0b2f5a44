"""Learned parameters as JSON files, read strictly and written whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from partita.configurations.greedy import GreedyParameters
from partita.configurations.scaled import ScaledParameters
from partita.errors import InputError
from partita.formats.atomic import write_atomically
from partita.formats.strict import Place, fields, integer_of, number_of, parsed, text_of
from partita.formats.text import whole_text
from partita.parameters import VERSION, Learned, shipped_text

FIELDS = ("version", "model", "values", "learned_from", "seed", "figures")
GREEDY = ("p2", "p3", "p_more")
SCALED = ("scale", "bias")
VALUES = {"greedy": GREEDY, "scaled": SCALED}


def read_parameters(path: str | Path) -> Learned:
    """The parameters that a file of one model holds."""
    return parse_parameters(whole_text(path), str(path))


def model_parameters(
    model: str, path: str | Path | None = None
) -> GreedyParameters | ScaledParameters:
    """Of greedy or scaled: the shipped ones, or those of a file of that model, or of a file that
    `partita train` has written for all models over pairs."""
    if path is None:
        learned, file = shipped_parameters(model), "shipped parameters"
    else:
        text, file = whole_text(path), str(path)
        if _kind(text, file) == "pairs":
            from partita.formats.pair_models import parse_pair_parameters

            both = parse_pair_parameters(text, file)
            return both.greedy if model == "greedy" else both.scaled
        learned = parse_parameters(text, file)
    if model == "greedy":
        return greedy_parameters(learned, file)
    return scaled_parameters(learned, file)


def _kind(text: str, file: str) -> str | None:
    given = parsed(text, Place(file))
    return given.get("model") if isinstance(given, dict) else None


def shipped_parameters(model: str) -> Learned:
    """The parameters that come with the package."""
    text = shipped_text(model)
    if text is None:
        raise InputError(f"no parameters of a model {model!r} are shipped; expected {_models()}")
    return parse_parameters(text, f"shipped parameters of {model}")


def write_parameters(path: str | Path, learned: Learned) -> None:
    """Replace a parameters file, or leave it as it was."""
    write_atomically(path, learned.text())


def greedy_parameters(learned: Learned, file: str = "parameters") -> GreedyParameters:
    """The values as the greedy model takes them."""
    values = _of_model(learned, "greedy", file)
    return GreedyParameters(*(values[name] for name in GREEDY))


def scaled_parameters(learned: Learned, file: str = "parameters") -> ScaledParameters:
    """The values as the scaled model takes them."""
    values = _of_model(learned, "scaled", file)
    return ScaledParameters(*(values[name] for name in SCALED))


def parse_parameters(text: str, file: str) -> Learned:
    """Parameters from JSON text; the file is named in errors."""
    place = Place(file)
    given = _versioned(parsed(text, place), place)
    model = text_of(given["model"], "model", place)
    if model not in VALUES:
        place.refuse(f"model is {model!r}; expected {_models()}")
    learned_from = _learned_from(given["learned_from"], place)
    learned = Learned(
        model,
        _numbers(given["values"], f"values of {model}", place, VALUES[model]),
        *learned_from,
        integer_of(given["seed"], "seed", place),
        _numbers(given["figures"], "figures", place),
    )
    _refuse_range(learned, place)
    return learned


def _versioned(given: Any, place: Place) -> Mapping[str, Any]:
    """The version first: of another version nothing else is known."""
    found = given.get("version") if isinstance(given, dict) else None
    if found is not None and (type(found) is not int or found != VERSION):
        place.refuse(f"version is {found!r}; this Partita reads version {VERSION}")
    return fields(given, "the file", place, needed=FIELDS)


def _learned_from(given: Any, place: Place) -> tuple[str, str]:
    source = fields(given, "learned_from", place, needed=("description", "sha256"))
    digest = text_of(source["sha256"], "sha256", place)
    if not re.fullmatch("[0-9a-f]{64}", digest):
        place.refuse("sha256 is not a hash; expected 64 digits from 0 to f")
    return text_of(source["description"], "description", place), digest


def _numbers(
    given: Any, what: str, place: Place, names: tuple[str, ...] | None = None
) -> dict[str, float]:
    expected = names if names is not None else tuple(given) if isinstance(given, dict) else ()
    found = fields(given, what, place, needed=expected)
    return {name: number_of(found[name], name, place) for name in expected}


def _refuse_range(learned: Learned, place: Place) -> None:
    """Each model knows what its values may be."""
    try:
        if learned.model == "greedy":
            greedy_parameters(learned)
        else:
            scaled_parameters(learned)
    except InputError as error:
        raise InputError(error.problem, file=place.file) from error


def _of_model(learned: Learned, model: str, file: str) -> Mapping[str, float]:
    if learned.model != model:
        raise InputError(f"holds parameters of {learned.model}; expected {model}", file=file)
    return learned.values


def _models() -> str:
    return " or ".join(VALUES)
