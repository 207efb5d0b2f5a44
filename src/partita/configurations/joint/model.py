"""The parameters of the joint model and their JSON file."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from partita.configurations.joint import codes as code
from partita.configurations.joint.codes import LIMIT, SCALE
from partita.core import FloatArray
from partita.errors import InputError
from partita.files.strict import (
    Place,
    fields,
    figures_of,
    integer_of,
    origin_of,
    parsed,
    refuse_other_version,
    text_of,
)
from partita.files.text import TextSource, whole_text
from partita.files.writing import write_atomically
from partita.parameters import VERSION, shipped_text

if TYPE_CHECKING:
    from partita.configurations.joint.network_kernels import Layout, Network
    from partita.text.encoder import Encoder

JOINED = int(code.sizes(code.CELL).sum())
STARTED = JOINED + int(code.sizes(code.NEW).sum())
FAR = code.G * len(code.OTHER)
GATED = int(code.offsets(code.CELL)[code.GATING])


@dataclass(frozen=True, slots=True, eq=False)
class JointModel:
    """Rows of `table`: values of CELL, values of NEW, unknown word, then the lexicon's.

    `bias` and `out` have a row for joining a cell and one for starting one; `other` are the scores
    of far cells by group of the mention and class; `gate` has rows for the values of the first
    characteristics, which are added to `out` of joining; `temperature` is a and b of
    exp(a + b log(number of choices)), by which scores are multiplied.
    """

    table: FloatArray
    bias: FloatArray
    out: FloatArray
    other: FloatArray
    gate: FloatArray
    temperature: FloatArray
    lexicon: tuple[str, ...]
    learned_from: str = ""
    sha256: str = ""
    seed: int = 0
    figures: Mapping[str, float] = field(default_factory=dict)
    encoder: Encoder | None = None  # of another folder; not part of the file

    def __post_init__(self) -> None:
        units = self.table.shape[1]
        rows = STARTED + 1 + len(self.lexicon)
        expected = ((rows, units), (2, units), (2, units), (FAR,), (GATED, units), (2,))
        arrays = (self.table, self.bias, self.out, self.other, self.gate, self.temperature)
        for array, shape in zip(arrays, expected, strict=True):
            if array.shape != shape or not np.isfinite(array).all():
                raise InputError(f"the joint model needs finite arrays of shapes {expected}")

    @property
    def units(self) -> int:
        return int(self.table.shape[1])

    @property
    def lexemes(self) -> Mapping[str, int]:
        """The number of each word in the lexicon."""
        return _lexemes(self)

    @property
    def network(self) -> Network:
        """The arrays that the kernels take."""
        return _network(self)


@lru_cache(maxsize=2)
def _lexemes(model: JointModel) -> Mapping[str, int]:
    return MappingProxyType({word: n + 1 for n, word in enumerate(model.lexicon)})


@lru_cache(maxsize=2)
def _network(model: JointModel) -> Network:
    from partita.configurations.joint.network_kernels import Network

    return Network(
        _whole(model.table),
        model.bias.astype(np.float32),
        model.out.astype(np.float32),
        model.other.astype(np.float32),
        _whole(model.gate),
        model.temperature,
        layout(),
    )


def layout() -> Layout:
    """Return where the values of each characteristic begin in the table, "new" and words last."""
    from partita.configurations.joint.network_kernels import Layout

    return Layout(code.offsets(code.CELL), np.append(code.offsets(code.NEW, JOINED), STARTED))


FIELDS = (
    "version", "model", "characteristics", "bias", "out", "other", "temperature", "table", "gate",
    "lexicon", "learned_from", "seed", "figures",
)  # fmt: skip


def read_joint_model(path: TextSource) -> JointModel:
    """Return the joint model in a file."""
    return parse_joint_model(whole_text(path), str(path))


def shipped_joint_model() -> JointModel:
    """Return the joint model that comes with the package."""
    text = shipped_text("joint")
    if text is None:
        raise InputError("no parameters of a model 'joint' are shipped")
    return parse_joint_model(text, "shipped parameters of joint")


def write_joint_model(path: str | Path, model: JointModel) -> None:
    """Write the file atomically: it is replaced, or left as it was."""
    write_atomically(path, joint_model_text(model))


def joint_model_text(model: JointModel) -> str:
    """Return the model as JSON; always the same bytes.

    Table and gate have a line for each row: base64 of 16-bit whole numbers, weights times SCALE.
    """
    head = {"version": VERSION, "model": "joint", "characteristics": _characteristics()}
    arrays = {
        "bias": model.bias, "out": model.out, "other": model.other,
        "temperature": model.temperature,
    }  # fmt: skip
    tail = {
        "lexicon": list(model.lexicon),
        "learned_from": {"description": model.learned_from, "sha256": model.sha256},
        "seed": model.seed,
        "figures": dict(model.figures),
    }
    lines = [f'"{name}": {_json(value)}' for name, value in head.items()]
    lines += [f'"{name}": {_rows(array)}' for name, array in arrays.items()]
    lines += [
        f'"{name}": {_packed(array)}'
        for name, array in (("table", model.table), ("gate", model.gate))
    ]
    lines += [f'"{name}": {_json(value)}' for name, value in tail.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _whole(table: FloatArray) -> NDArray[np.int16]:
    """Return weights times SCALE."""
    return np.rint(np.clip(table, -LIMIT, LIMIT - 1 / SCALE) * SCALE).astype("<i2")


def _packed(table: FloatArray) -> str:
    rows = (f'"{b64encode(row.tobytes()).decode("ascii")}"' for row in _whole(table))
    return "[\n" + ",\n".join(rows) + "\n]"


def _unpacked(value: Any, name: str, place: Place) -> FloatArray:
    """Return a table from its lines."""
    if not isinstance(value, list) or not value:
        place.refuse(f"{name} is not a list of rows")
    try:
        rows = [
            b64decode(text_of(row, f"a row of the {name}", place), validate=True) for row in value
        ]
        whole = np.frombuffer(b"".join(rows), dtype="<i2").reshape(len(rows), -1)
    except ValueError as error:
        raise InputError(f"{name} is not rows of one length in base64", file=place.file) from error
    if len({len(row) for row in rows}) != 1:
        place.refuse(f"{name} is not rows of one length in base64")
    return whole.astype(np.float64) / SCALE


def _characteristics() -> dict[str, list[list[str | int]]]:
    return {
        "cell": [[each.name, each.values] for each in code.CELL],
        "new": [[each.name, each.values] for each in code.NEW],
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _rows(array: FloatArray) -> str:
    if array.ndim == 1:
        return _numbers(array)
    return "[\n" + ",\n".join(_numbers(row) for row in array) + "\n]"


def _numbers(row: FloatArray) -> str:
    return "[" + ",".join(f"{value:.10g}" for value in row.tolist()) + "]"


def parse_joint_model(text: str, file: str) -> JointModel:
    """Return a joint model from JSON text; errors name the file."""
    place = Place(file)
    content = _checked(parsed(text, place), place)
    bias, out, other, temperature = (_array(content[name], name, place) for name in FIELDS[3:7])
    try:
        return JointModel(
            _unpacked(content["table"], "table", place), bias, out, other,
            _unpacked(content["gate"], "gate", place), temperature,
            _lexicon(content["lexicon"], place),
            *origin_of(content["learned_from"], place),
            integer_of(content["seed"], "seed", place),
            figures_of(content["figures"], place),
        )  # fmt: skip
    except InputError as error:
        raise InputError(error.problem, file=file) from error


def _checked(content: Any, place: Place) -> Mapping[str, Any]:
    """Check the version first, then the model and its characteristics."""
    refuse_other_version(content, VERSION, place)
    checked = fields(content, "the file", place, needed=FIELDS)
    if checked["model"] != "joint":
        place.refuse(f"holds parameters of {checked['model']!r}; expected 'joint'")
    if checked["characteristics"] != _characteristics():
        place.refuse(
            "was trained with other characteristics than this version computes; train it again "
            "with partita train --model joint"
        )
    return checked


def _array(value: Any, name: str, place: Place) -> FloatArray:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} is not an array of numbers", file=place.file) from error
    expected = 1 if name in ("other", "temperature") else 2
    if array.ndim != expected:
        place.refuse(f"{name} has {array.ndim} dimensions; expected {expected}")
    return array


def _lexicon(value: Any, place: Place) -> tuple[str, ...]:
    if not isinstance(value, list):
        place.refuse("lexicon is not a list of words")
    return tuple(text_of(word, "a word of the lexicon", place) for word in value)
