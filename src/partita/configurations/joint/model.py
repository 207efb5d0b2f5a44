"""The parameters of the joint model: one row of hidden units for each value it can observe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from partita.configurations.joint import codes as code
from partita.errors import InputError
from partita.records import FloatArray, IntArray

JOINED = int(code.sizes(code.CELL).sum())
STARTED = JOINED + int(code.sizes(code.NEW).sum())


@dataclass(frozen=True, slots=True, eq=False)
class JointModel:
    """Rows of `table`: values of CELL, values of NEW, unknown lexeme, then the lexicon's.

    `bias` and `out` have a row for joining a cell and one for starting one; `other` are the scores
    of cells of another sort.
    """

    table: FloatArray
    bias: FloatArray
    out: FloatArray
    other: FloatArray
    lexicon: tuple[str, ...]
    learned_from: str = ""
    sha256: str = ""
    seed: int = 0
    figures: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        units = self.table.shape[1]
        rows = STARTED + 1 + len(self.lexicon)
        expected = ((rows, units), (2, units), (2, units), (len(code.OTHER),))
        for array, shape in zip(
            (self.table, self.bias, self.out, self.other), expected, strict=True
        ):
            if array.shape != shape or not np.isfinite(array).all():
                raise InputError(f"the joint model needs finite arrays of shapes {expected}")

    @property
    def units(self) -> int:
        return int(self.table.shape[1])

    @property
    def lexemes(self) -> dict[str, int]:
        """The number of each known word."""
        return {word: n + 1 for n, word in enumerate(self.lexicon)}

    @property
    def network(
        self,
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, IntArray, IntArray]:
        """As the kernels take it."""
        return (self.table, self.bias, self.out, self.other, *layout())


def layout() -> tuple[IntArray, IntArray]:
    """Where the values of each characteristic begin in the table; for "new" the lexeme is last."""
    started = np.append(code.offsets(code.NEW, JOINED), STARTED)
    return code.offsets(code.CELL), started
