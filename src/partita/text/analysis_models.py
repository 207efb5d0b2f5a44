"""Read and write analysers as npz files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import InputError
from partita.files.strict import Place, list_of, number_of, text_of
from partita.text.analysis import Analyser
from partita.text.mentions import FEATURES, MentionModel, mention_places, roles_of
from partita.text.parser import (
    LABEL_FEATURES,
    MOVE_FEATURES,
    HashedModel,
    Parser,
    label_places,
    move_places,
)
from partita.text.tagger_models import (
    archive_arrays,
    checked_about,
    parse_tagger,
    tagger_bytes,
)

VERSION = 2
ARRAYS = {
    "about": (np.uint8, 1), "tagger": (np.uint8, 1), "possible": (np.bool_, 1),
    "groups": (np.uint8, 2), "scales": (np.float64, 1),
}  # fmt: skip
MODELS = ("moves", "labels", *FEATURES)
ARRAYS |= {f"{name}_used": (np.uint8, 1) for name in MODELS}
ARRAYS |= {f"{name}_weights": (np.int8, 1) for name in MODELS}
ABOUT = ("version", "model", "features", "labels", "sorts", "lemmas", "feats", "threshold", "about")


def read_analyser(path: str | Path) -> Analyser:
    """Return the analyser of a file."""
    try:
        return parse_analyser(Path(path).read_bytes(), str(path))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error


def analyser_bytes(analyser: Analyser) -> bytes:
    """Return the npz bytes of an analyser; the same analyser gives the same bytes."""
    model = analyser.mentions
    if model is None:
        raise ValueError("the analyser has no model of mentions")
    about = {
        "version": VERSION,
        "model": "analyser",
        "features": _features(),
        "labels": list(analyser.parser.labels),
        "sorts": list(model.types),
        "lemmas": dict(analyser.lemmas),
        "feats": dict(analyser.feats),
        "threshold": analyser.threshold,
        "about": dict(analyser.about),
    }
    models = {"moves": analyser.parser.moves, "labels": analyser.parser.names, **model.models}
    arrays: dict[str, Any] = {
        "about": np.frombuffer(json.dumps(about, allow_nan=False).encode(), dtype=np.uint8),
        "tagger": np.frombuffer(tagger_bytes(analyser.tagger), dtype=np.uint8),
        "possible": model.possible,
        "groups": analyser.groups,
        "scales": np.concatenate([analyser.parser.scales, model.scales]),
        **{f"{name}_used": each.used for name, each in models.items()},
        **{f"{name}_weights": each.table for name, each in models.items()},
    }
    stream = BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def _features() -> dict[str, list[str]]:
    models = {"moves": MOVE_FEATURES, "labels": LABEL_FEATURES, **FEATURES}
    return {name: list(features) for name, features in models.items()}


def parse_analyser(data: bytes, file: str) -> Analyser:
    """Return the analyser from the bytes of an npz file; `file` is named in errors."""
    place = Place(file)
    arrays = _arrays(data, place)
    text = arrays["about"].tobytes()
    about = checked_about(text, ABOUT, "analyser", VERSION, _features(), place)
    tagger = parse_tagger(arrays["tagger"].tobytes(), file)
    labels, types = _texts(about, "labels", place), _texts(about, "sorts", place)
    if arrays["possible"].shape != (len(tagger.tags),) or len(arrays["scales"]) != len(MODELS):
        place.refuse("possible or scales do not fit the tags and the models")
    places = {"moves": move_places(), "labels": label_places(), **mention_places()}
    models = {
        name: HashedModel(places[name], arrays[f"{name}_used"], arrays[f"{name}_weights"])
        for name in MODELS
    }
    try:
        return Analyser(
            tagger,
            Parser(tagger.tags, labels, models["moves"], models["labels"], arrays["scales"][:2]),
            MentionModel(
                types,
                arrays["possible"],
                roles_of(labels),
                {name: models[name] for name in FEATURES},
                arrays["scales"][2:],
            ),
            arrays["groups"],
            _table(about, "lemmas", place),
            _table(about, "feats", place),
            number_of(about["threshold"], "threshold", place),
            about["about"],
        )
    except ValueError as error:
        raise InputError(str(error), file=file) from error


def _arrays(data: bytes, place: Place) -> dict[str, NDArray[Any]]:
    """Return the arrays by name, checked for type and dimension."""
    arrays = archive_arrays(data, tuple(ARRAYS), "an analyser", place)
    for name, (kind, dimensions) in ARRAYS.items():
        if arrays[name].dtype != kind or arrays[name].ndim != dimensions:
            place.refuse(f"{name} is not an array of {np.dtype(kind).name} of {dimensions} axes")
    return arrays


def _texts(about: Mapping[str, Any], name: str, place: Place) -> tuple[str, ...]:
    return tuple(
        text_of(value, f"one of {name}", place) for value in list_of(about[name], name, place)
    )


def _table(about: Mapping[str, Any], name: str, place: Place) -> dict[str, str]:
    if not isinstance(about[name], dict):
        place.refuse(f"{name} is not an object")
    return {key: text_of(value, name, place) for key, value in about[name].items()}
