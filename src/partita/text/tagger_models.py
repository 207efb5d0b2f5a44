"""Read and write taggers as npz files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from partita.errors import InputError
from partita.files.strict import Place, fields, integer_of, list_of, number_of, parsed, text_of
from partita.files.writing import write_atomically
from partita.text.tagger import FEATURES, NO_TAG, Entry, Tagger

VERSION = 1
SHIPPED = "tagger.npz"
ARRAYS = {"about": np.uint8, "table": np.int8, "classes": np.uint16, "fixed": np.uint8}
ABOUT = ("version", "model", "features", "tags", "words", "learned_from", "seed", "figures")


@cache
def shipped_tagger() -> Tagger:
    """Return the tagger that comes with the package."""
    from importlib.resources import files

    file = files("partita.parameters").joinpath(SHIPPED)
    if not file.is_file():
        raise InputError("the package contains no tagger")
    return parse_tagger(file.read_bytes(), f"shipped {SHIPPED}")


def read_tagger(path: str | Path) -> Tagger:
    """Return the tagger of a file."""
    try:
        return parse_tagger(Path(path).read_bytes(), str(path))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error


def write_tagger(path: str | Path, tagger: Tagger) -> None:
    """Write a tagger, replacing the file atomically."""
    write_atomically(path, tagger_bytes(tagger))


def tagger_bytes(tagger: Tagger) -> bytes:
    """Return the npz bytes of a tagger; the same tagger gives the same bytes."""
    about = {
        "version": VERSION,
        "model": "tagger",
        "features": list(FEATURES),
        "tags": list(tagger.tags),
        "words": list(tagger.lexicon),
        "learned_from": {"description": tagger.learned_from, "sha256": tagger.sha256},
        "seed": tagger.seed,
        "figures": dict(tagger.figures),
    }
    stream = BytesIO()
    np.savez_compressed(
        stream,
        about=np.frombuffer(json.dumps(about, allow_nan=False).encode(), dtype=np.uint8),
        table=tagger.table,
        classes=np.array([entry.number for entry in tagger.lexicon.values()], dtype=np.uint16),
        fixed=np.array([entry.fixed for entry in tagger.lexicon.values()], dtype=np.uint8),
    )
    return stream.getvalue()


def parse_tagger(data: bytes, file: str) -> Tagger:
    """Return the tagger from the bytes of an npz file; `file` is named in errors."""
    place = Place(file)
    arrays = _arrays(data, place)
    text = arrays["about"].tobytes()
    about = checked_about(text, ABOUT, "tagger", VERSION, list(FEATURES), place)
    source = fields(about["learned_from"], "learned_from", place, needed=("description", "sha256"))
    digest = text_of(source["sha256"], "sha256", place)
    if not re.fullmatch("[0-9a-f]{64}", digest):
        place.refuse("sha256 is not a hash (expected 64 hexadecimal digits)")
    tags = tuple(text_of(tag, "a tag", place) for tag in list_of(about["tags"], "tags", place))
    try:
        return Tagger(
            tags,
            arrays["table"],
            _lexicon(about["words"], arrays["classes"], arrays["fixed"], len(tags), place),
            text_of(source["description"], "description", place),
            digest,
            integer_of(about["seed"], "seed", place),
            _figures(about["figures"], place),
        )
    except ValueError as error:
        raise InputError(str(error), file=file) from error


def _arrays(data: bytes, place: Place) -> dict[str, NDArray[Any]]:
    """Return the arrays by name, checked for type and dimension."""
    arrays = archive_arrays(data, tuple(ARRAYS), "a tagger", place)
    for name, kind in ARRAYS.items():
        if arrays[name].dtype != kind or arrays[name].ndim != 1:
            place.refuse(f"{name} is not a one-dimensional array of {np.dtype(kind).name}")
    return arrays


def archive_arrays(
    data: bytes, names: tuple[str, ...], model: str, place: Place
) -> dict[str, NDArray[Any]]:
    """Return the arrays of an npz file that must hold exactly these."""
    try:
        with np.load(BytesIO(data), allow_pickle=False) as file:
            if not isinstance(file, NpzFile) or set(file.files) != set(names):
                raise ValueError
            return {name: file[name] for name in names}
    except Exception as error:  # damaged zip files raise all kinds of errors
        problem = f"is not {model} (expected an npz file with {', '.join(names)})"
        raise InputError(problem, file=place.file) from error


def checked_about(
    text: bytes, needed: tuple[str, ...], model: str, version: int, features: Any, place: Place
) -> Mapping[str, Any]:
    """Return the metadata of a model, checked for version, model and features."""
    try:
        value = parsed(text.decode(), place)
    except UnicodeDecodeError as error:
        raise InputError("about is not UTF-8", file=place.file) from error
    told = value.get("version") if isinstance(value, dict) else None
    if told is not None and (type(told) is not int or told != version):
        place.refuse(f"version is {told!r}; this release reads version {version}")
    about = fields(value, "about", place, needed=needed)
    if about["model"] != model:
        place.refuse(f"holds parameters of {about['model']!r} (expected {model!r})")
    if about["features"] != features:
        place.refuse("was trained with features unknown to this version")
    return about


def _lexicon(
    words: Any, classes: NDArray[Any], fixed: NDArray[Any], tags: int, place: Place
) -> dict[str, Entry]:
    listed = [text_of(word, "a word", place) for word in list_of(words, "words", place)]
    if not len(listed) == len(set(listed)) == len(classes) == len(fixed):
        place.refuse("words, classes and fixed must have equal length, without duplicate words")
    if ((fixed >= tags) & (fixed != NO_TAG)).any():
        place.refuse(f"a word has a fixed tag outside the {tags} tags")
    entries = map(Entry, classes.tolist(), fixed.tolist())
    return dict(zip(listed, entries, strict=True))


def _figures(figures: Any, place: Place) -> dict[str, float]:
    if not isinstance(figures, dict):
        place.refuse("figures is not an object")
    return {name: number_of(value, name, place) for name, value in figures.items()}
