"""What the tagger looks at: columns of a word, and features that join them with earlier tags.

A feature is written as it is read: "word-1 word" joins the word before with the word itself,
"tag-1 suffix3" the tag before with the last three letters.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# The columns of a word. `context` holds the word's way of capitals until the sentence is seen,
# then whether capitals tell anything there; `fixed` is the tag of a word that has only one.
COLUMNS = (
    "word", "form", "suffix1", "suffix2", "suffix3", "suffix4", "suffix5", "prefix1", "prefix2",
    "prefix3", "shape", "flat", "class", "context", "fixed", "nothing",
)  # fmt: skip
COLUMN = {name: place for place, name in enumerate(COLUMNS)}
JOINED = 3  # columns that one feature may join

FEATURES = (
    "word", "form context", "suffix1", "suffix2", "suffix3", "suffix4", "suffix5",
    "prefix1", "prefix2", "prefix3", "class", "shape context", "suffix3 shape",
    "word-1", "word+1", "word-2", "word+2", "word-1 word", "word word+1",
    "class class+1",
    "suffix3-1", "suffix3+1", "suffix3-1 suffix3", "suffix3 suffix3+1", "suffix3 class+1",
    "shape-1 shape", "shape shape+1",
    "tag-1", "tag-2 tag-1", "tag-1 word", "tag-2 word", "tag-1 suffix3", "tag-1 shape",
    "tag-1 class class+1", "tag-2 tag-1 class", "tag-2 tag-1 word+1", "tag-2 word-1",
)  # fmt: skip


class Templates(NamedTuple):
    """Features as numbers: where the columns stand, and what a step of each earlier tag moves."""

    places: NDArray[np.int64]  # [feature, JOINED, (offset, column)]
    steps: NDArray[np.uint32]  # [feature, (tag-1, tag-2)], 0 where a feature has no such tag


def templates(features: tuple[str, ...] = FEATURES) -> Templates:
    """The features as the compiled loop takes them."""
    places = np.zeros((len(features), JOINED, 2), dtype=np.int64)
    places[:, :, 1] = COLUMN["nothing"]
    steps = np.zeros((len(features), 2), dtype=np.uint32)
    for row, feature in enumerate(features):
        parts = [_part(text) for text in feature.split()]
        for back in (offset for name, offset in parts if name == "tag"):
            # Odd and large: rows of different tags must neither meet nor overlap.
            steps[row, -back - 1] = (0x9E3779B1, 0x85EBCA77)[-back - 1]
        seen = [(offset, COLUMN[name]) for name, offset in parts if name != "tag"]
        places[row, : len(seen)] = np.array(seen, dtype=np.int64).reshape(-1, 2)
    return Templates(places, steps)


def _part(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"([a-z]+[1-5]?)([-+][12])?", text)
    if found is None:
        raise ValueError(f"{text!r} is not a column with an offset")
    return found[1], int(found[2] or 0)
