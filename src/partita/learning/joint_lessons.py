"""The decisions of many documents, one after another, as the kernels take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from partita.pairs.joint_features import joint_columns
from partita.records import Document, IntArray, restricted_growth

Codes = NDArray[np.uint8]
Single = NDArray[np.float32]
Lessons = tuple[Codes, Codes, IntArray, IntArray, IntArray, IntArray]
Weights = tuple[Single, Single, Single, Single]


def lessons_of(document: Document, lexemes: Mapping[str, int]) -> Lessons:
    """The decisions on the way to a document's key."""
    from partita.learning.joint_kernels import lessons

    columns = joint_columns(document.templates, lexemes)
    key = restricted_growth(document.labels[columns.order])
    found: Lessons = lessons((columns.attributes, columns.relations), key)
    return found


def gathered(parts: Sequence[Lessons]) -> Lessons:
    """All of them as one; rows are counted on."""
    codes, new, lexemes, others, begins, answers = zip(*parts, strict=True)
    before = np.cumsum([0] + [len(each) for each in codes])
    begin = [b[1:] + first for b, first in zip(begins, before[:-1].tolist(), strict=True)]
    return (
        np.concatenate(codes),
        np.concatenate(new),
        np.concatenate(lexemes),
        np.concatenate(others),
        np.concatenate([np.zeros(1, dtype=np.int64), *begin]),
        np.concatenate(answers),
    )
