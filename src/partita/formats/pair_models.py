"""Pair models as JSON files: features, weights and cut-offs, read strictly and written whole."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from partita.errors import InputError
from partita.formats.atomic import write_atomically
from partita.formats.strict import Place, fields, integer_of, list_of, number_of, parsed, text_of
from partita.pairs.characteristics import Characteristic, Cutoffs, feature_names
from partita.pairs.extended import EXTENDED
from partita.pairs.models import MaximumEntropy

VERSION = 1
KIND = "pairs"
FIELDS = (
    "version", "model", "training", "characteristics", "weights", "cutoffs", "learned_from", "seed",
    "figures",
)  # fmt: skip


def write_pair_model(path: str | Path, model: MaximumEntropy) -> None:
    """Replace a model file, or leave it as it was."""
    write_atomically(path, pair_model_text(model))


def pair_model_text(model: MaximumEntropy) -> str:
    """A model as JSON, the same bytes for the same values."""
    written = {
        "version": VERSION,
        "model": KIND,
        "training": model.training,
        "characteristics": [one.name for one in model.characteristics],
        "weights": dict(zip(model.features, model.weights.tolist(), strict=True)),
        "cutoffs": list(model.cutoffs),
        "learned_from": {"description": model.learned_from, "sha256": model.sha256},
        "seed": model.seed,
        "figures": dict(model.figures),
    }
    return json.dumps(written, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_pair_model(path: str | Path) -> MaximumEntropy:
    """The model that a file holds."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8", file=str(path)) from error
    return parse_pair_model(text, str(path))


def parse_pair_model(text: str, file: str) -> MaximumEntropy:
    """A model from JSON text; the file is named in errors."""
    place = Place(file)
    given = _versioned(parsed(text, place), place)
    chosen = _characteristics(given["characteristics"], place)
    description, digest = _learned_from(given["learned_from"], place)
    return MaximumEntropy(
        chosen,
        np.array(_weights(given["weights"], feature_names(chosen), place), dtype=np.float64),
        _cutoffs(given["cutoffs"], place),
        text_of(given["training"], "training", place),
        description,
        digest,
        integer_of(given["seed"], "seed", place),
        _figures(given["figures"], place),
    )


def _versioned(given: Any, place: Place) -> Mapping[str, Any]:
    """Version and kind first: of another one nothing else is known."""
    if isinstance(given, dict):
        found, kind = given.get("version", VERSION), given.get("model", KIND)
        if kind != KIND:
            place.refuse(f"holds a model {kind!r}; expected {KIND!r}")
        if type(found) is not int or found != VERSION:
            place.refuse(f"version is {found!r}; this Partita reads version {VERSION}")
    return fields(given, "the file", place, needed=FIELDS)


def _characteristics(given: Any, place: Place) -> tuple[Characteristic, ...]:
    known = {one.name: one for one in EXTENDED}
    names = [
        text_of(name, "a characteristic", place)
        for name in list_of(given, "characteristics", place)
    ]
    for name in names:
        if name not in known:
            place.refuse(f"was learned with a characteristic {name!r}, which this Partita has not")
    if len(set(names)) < len(names):
        place.refuse("names a characteristic twice")
    return tuple(known[name] for name in names)


def _weights(given: Any, expected: tuple[str, ...], place: Place) -> list[float]:
    """The features must be ours, all of them and in order: others would mean something else."""
    if not isinstance(given, dict):
        place.refuse("weights are not an object; expected a number for each feature")
    for name in given:
        if name not in expected:
            place.refuse(f"was learned with a feature {name!r}, which this Partita has not")
    for name in expected:
        if name not in given:
            place.refuse(f"has no weight for the feature {name!r}; learn the model again")
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
