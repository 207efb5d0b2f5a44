"""Read and write parameters as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from partita.configurations.greedy import GreedyParameters
from partita.configurations.odds import ScaledParameters
from partita.errors import InputError
from partita.files.strict import Place, fields, integer_of, list_of, number_of, parsed, text_of
from partita.files.text import whole_text
from partita.files.writing import write_atomically
from partita.pairs.characteristics import Characteristic, Cutoffs, feature_names
from partita.pairs.extended import EXTENDED
from partita.pairs.models import MaximumEntropy
from partita.parameters import VERSION, Learned, shipped_text
from partita.training.pair_parameters import EVERY_PAIR, QUESTIONS, PairParameters

PAIR_VERSION = 1
KIND = "pairs"
FIELDS = (
    "version", "model", "characteristics", EVERY_PAIR, QUESTIONS, "greedy", "scaled", "excluded",
    "crossing", "learned_from", "seed", "figures",
)  # fmt: skip
GREEDY = ("p2", "p3", "p_more")
SCALED = ("scale", "bias")


def write_pair_parameters(path: str | Path, learned: PairParameters) -> None:
    """Replace a parameters file, or leave it as it was."""
    write_atomically(path, pair_parameters_text(learned))


def read_pair_parameters(path: str | Path) -> PairParameters:
    """Read the parameters of a file."""
    return parse_pair_parameters(whole_text(path), str(path))


def shipped_pair_parameters() -> PairParameters:
    """The parameters that come with the package."""
    text = shipped_text(KIND)
    if text is None:
        raise InputError(f"no parameters of {KIND} are shipped")
    return parse_pair_parameters(text, f"shipped parameters of {KIND}")


def pair_parameters_text(learned: PairParameters) -> str:
    """As JSON, the same bytes for the same values."""
    written = {
        "version": PAIR_VERSION,
        "model": KIND,
        "characteristics": [one.name for one in learned.every_pair.characteristics],
        EVERY_PAIR: _written(learned.every_pair),
        QUESTIONS: _written(learned.questions),
        "greedy": {name: getattr(learned.greedy, name) for name in GREEDY},
        "scaled": {name: getattr(learned.scaled, name) for name in SCALED},
        "excluded": learned.excluded,
        "crossing": learned.crossing,
        "learned_from": {"description": learned.learned_from, "sha256": learned.sha256},
        "seed": learned.seed,
        "figures": dict(learned.figures),
    }
    return json.dumps(written, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _written(model: MaximumEntropy) -> dict[str, Any]:
    return {
        "cutoffs": list(model.cutoffs),
        "weights": dict(zip(model.features, model.weights.tolist(), strict=True)),
        "figures": dict(model.figures),
    }


def parse_pair_parameters(
    text: str, file: str, characteristics: Sequence[Characteristic] = EXTENDED
) -> PairParameters:
    """Parse parameters from JSON; the file is named in errors.

    `characteristics` are those that the parameters may name.
    """
    place = Place(file)
    given = _versioned(parsed(text, place), place)
    chosen = _characteristics(given["characteristics"], characteristics, place)
    source = _learned_from(given["learned_from"], place)
    seed = integer_of(given["seed"], "seed", place)
    every, questions = (
        _model(given[name], name, chosen, (*source, seed), place)
        for name in (EVERY_PAIR, QUESTIONS)
    )
    try:
        return PairParameters(
            every,
            questions,
            GreedyParameters(*_values(given["greedy"], "greedy", GREEDY, place)),
            ScaledParameters(*_values(given["scaled"], "scaled", SCALED, place)),
            number_of(given["excluded"], "excluded", place),
            number_of(given["crossing"], "crossing", place),
            *source,
            seed,
            _figures(given["figures"], place),
        )
    except InputError as error:
        raise InputError(error.problem, file=file) from error


def _versioned(given: Any, place: Place) -> Mapping[str, Any]:
    """Version and kind first: of another one nothing else is known."""
    if isinstance(given, dict):
        found, kind = given.get("version", PAIR_VERSION), given.get("model", KIND)
        if kind != KIND:
            place.refuse(f"holds parameters of {kind!r}; expected {KIND!r}")
        if type(found) is not int or found != PAIR_VERSION:
            place.refuse(f"version is {found!r}; this release reads version {PAIR_VERSION}")
    return fields(given, "the file", place, needed=FIELDS)


def _model(
    given: Any,
    name: str,
    chosen: tuple[Characteristic, ...],
    source: tuple[str, str, int],
    place: Place,
) -> MaximumEntropy:
    told = fields(given, name, place, needed=("cutoffs", "weights", "figures"))
    weights = _weights(told["weights"], feature_names(chosen), place)
    return MaximumEntropy(
        chosen,
        np.array(weights, dtype=np.float64),
        _cutoffs(told["cutoffs"], place),
        name,
        *source,
        _figures(told["figures"], place),
    )


def _values(given: Any, what: str, names: tuple[str, ...], place: Place) -> list[float]:
    found = fields(given, what, place, needed=names)
    return [number_of(found[name], name, place) for name in names]


def _characteristics(
    given: Any, characteristics: Sequence[Characteristic], place: Place
) -> tuple[Characteristic, ...]:
    known = {one.name: one for one in characteristics}
    names = [
        text_of(name, "a characteristic", place)
        for name in list_of(given, "characteristics", place)
    ]
    for name in names:
        if name not in known:
            place.refuse(
                f"was trained with a characteristic {name!r}, which is unknown to this version"
            )
    if len(set(names)) < len(names):
        place.refuse("names a characteristic twice")
    return tuple(known[name] for name in names)


def _weights(given: Any, expected: tuple[str, ...], place: Place) -> list[float]:
    """The features must be ours, all of them and in order: others would mean something else."""
    if not isinstance(given, dict):
        place.refuse("weights are not an object; expected a number for each feature")
    for name in given:
        if name not in expected:
            place.refuse(f"was trained with a feature {name!r}, which is unknown to this version")
    for name in expected:
        if name not in given:
            place.refuse(f"has no weight for the feature {name!r}; train the model again")
    return [number_of(given[name], f"weight of {name!r}", place) for name in expected]


def _cutoffs(given: Any, place: Place) -> Cutoffs:
    found = tuple(float(number_of(c, "a cut-off", place)) for c in list_of(given, "cutoffs", place))
    if len(found) != 4 or list(found) != sorted(found):
        place.refuse(f"cutoffs are {list(found)}; expected four numbers that do not fall")
    return found


def _learned_from(given: Any, place: Place) -> tuple[str, str]:
    source = fields(given, "learned_from", place, needed=("description", "sha256"))
    digest = text_of(source["sha256"], "sha256", place)
    if not re.fullmatch("[0-9a-f]{64}", digest):
        place.refuse("sha256 is not a hash; expected 64 digits from 0 to f")
    return text_of(source["description"], "description", place), digest


def _figures(given: Any, place: Place) -> dict[str, float]:
    if not isinstance(given, dict):
        place.refuse("figures are not an object; expected a number for each name")
    return {name: number_of(value, name, place) for name, value in given.items()}


SET_FIELDS = ("version", "model", "values", "learned_from", "seed", "figures")
GREEDY_FIELDS = ("p2", "p3", "p_more")
SCALED_FIELDS = ("scale", "bias")
VALUES = {"greedy": GREEDY_FIELDS, "scaled": SCALED_FIELDS}


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


def greedy_parameters(learned: Learned, file: str = "parameters") -> GreedyParameters:
    """The values as the greedy model takes them."""
    values = _of_model(learned, "greedy", file)
    return GreedyParameters(*(values[name] for name in GREEDY_FIELDS))


def scaled_parameters(learned: Learned, file: str = "parameters") -> ScaledParameters:
    """The values as the scaled model takes them."""
    values = _of_model(learned, "scaled", file)
    return ScaledParameters(*(values[name] for name in SCALED_FIELDS))


def parse_parameters(text: str, file: str) -> Learned:
    """Parameters from JSON text; the file is named in errors."""
    place = Place(file)
    given = _set_versioned(parsed(text, place), place)
    model = text_of(given["model"], "model", place)
    if model not in VALUES:
        place.refuse(f"model is {model!r}; expected {_models()}")
    learned_from = _set_learned_from(given["learned_from"], place)
    learned = Learned(
        model,
        _numbers(given["values"], f"values of {model}", place, VALUES[model]),
        *learned_from,
        integer_of(given["seed"], "seed", place),
        _numbers(given["figures"], "figures", place),
    )
    _refuse_range(learned, place)
    return learned


def _set_versioned(given: Any, place: Place) -> Mapping[str, Any]:
    """The version first: of another version nothing else is known."""
    found = given.get("version") if isinstance(given, dict) else None
    if found is not None and (type(found) is not int or found != VERSION):
        place.refuse(f"version is {found!r}; this release reads version {VERSION}")
    return fields(given, "the file", place, needed=SET_FIELDS)


def _set_learned_from(given: Any, place: Place) -> tuple[str, str]:
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
