"""Parse tagged sentences into dependency trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray
from partita.text.parser_kernels import HashedModel, parse_all
from partita.text.tagger_models import COLUMNS as TAGGER_COLUMNS
from partita.text.tagger_models import PADDING, Rows

# The columns of a word: the tagger's up to its context, then the parser's own.
COLUMNS = (
    *TAGGER_COLUMNS[:14], "tag", "upos", "relation", "lefts", "rights",
    "cluster", "sense", "group", "family", "kind", "kinds",
)  # fmt: skip
COLUMN = {name: place for place, name in enumerate(COLUMNS)}
STATES = ("gap", "deep", "signs", "verbs", "direction")  # columns of the row of the state
# s: stack from its top, n: next words; l, r: outermost dependents on the left and right, m, q: the
# second ones; p: the word before, f: the word after.
POSITIONS = (
    "s0", "s1", "s2", "n0", "n1", "n2", "s0l", "s0m", "s0r", "s0q", "s1l", "s1m", "s1r", "s1q",
    "n0l", "n0m", "s0p", "s0f", "n0p", "n3", "s0ll", "state",
)  # fmt: skip
ARC_POSITIONS = (
    "d", "h", "dl", "dm", "dr", "dq", "hl", "hm", "hr", "hq", "dp", "df", "hp", "hf", "drr",
    "state",
)  # fmt: skip
JOINED = 4  # most columns in one feature


def feature_places(
    features: Sequence[str], positions: Sequence[str], states: Sequence[str] = STATES
) -> IntArray:
    """Return the positions and columns that each feature joins, -1 where it joins fewer.

    A feature is hashed with its place among the features, which the file of a model lists.
    """
    places = np.full((len(features), JOINED, 2), -1, dtype=np.int64)
    for row, feature in enumerate(features):
        for place, part in enumerate(feature.split()):
            position, _, column = part.partition(".")
            number = states.index(column) if position == "state" else COLUMN[column]
            places[row, place] = positions.index(position), number
    return places


USED = 1 << 21  # bytes of the bits of a model


def check_model(model: HashedModel) -> HashedModel:
    """Return a model whose arrays fit each other; raise otherwise."""
    size = len(model.table) - PADDING
    if size < 1 or size & (size - 1):
        raise ValueError(f"a table has {size} places; expected a power of two")
    if len(model.used) != USED:
        raise ValueError(f"the features in use take {len(model.used)} bytes; expected {USED}")
    return model


# Kinds of words whose number between two words matters.
KINDS: Mapping[str, int] = {"PUNCT": 1, "VERB": 2, "AUX": 2}


@dataclass(frozen=True, slots=True, eq=False)
class Parser:
    """Learned models of transitions and of labels; tags are numbered as the tagger's.

    `scales` are the weights of 1 in the two models; the last class of labels is that of no arc.
    """

    tags: tuple[str, ...]
    labels: tuple[str, ...]
    moves: HashedModel
    names: HashedModel
    scales: FloatArray
    coarse: NDArray[np.uint8] = field(init=False, repr=False)
    kinds: NDArray[np.uint8] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 < len(self.labels) < PADDING:
            raise ValueError(f"a parser has 1 to {PADDING - 1} labels, not {len(self.labels)}")
        check_model(self.moves)
        check_model(self.names)
        coarse, kinds = coarse_tags(self.tags)
        object.__setattr__(self, "coarse", coarse)
        object.__setattr__(self, "kinds", kinds)

    def parse(
        self, words: IntArray, rows: Rows, tags: NDArray[np.uint8], ends: IntArray
    ) -> tuple[IntArray, NDArray[np.uint8]]:
        """Return the head of each word in its sentence (-1 for the root) and its label."""
        return parse_all(
            words, rows, tags, self.coarse, self.kinds, ends, self.moves, self.names,
            len(self.labels), self.scales,
        )  # fmt: skip


def coarse_tags(tags: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the number of each tag's universal part of speech, and its kind; tags are such as
    NN|NOUN."""
    parts = [tag.partition("|")[2] or tag for tag in tags]
    names = sorted(set(parts))
    coarse = np.array([names.index(part) for part in parts], dtype=np.uint8)
    return coarse, np.array([KINDS.get(part, 0) for part in parts], dtype=np.uint8)
