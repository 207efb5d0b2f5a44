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

# A feature is hashed with its place in these tables, and model files list the tables: to reorder,
# add or remove a feature makes every trained parser unreadable.
MOVE_FEATURES = (
    "s0.word s0.tag", "s0.word", "s0.tag", "s0.suffix3 s0.tag", "s0.cluster", "s0.group s0.tag",
    "n0.word n0.tag", "n0.word", "n0.tag", "n0.suffix3 n0.tag", "n0.cluster", "n0.group n0.tag",
    "s1.word s1.tag", "s1.word", "s1.tag", "s1.cluster", "n1.word n1.tag", "n1.word", "n1.tag",
    "n1.cluster", "n2.word n2.tag", "n2.tag", "n3.tag", "s2.word", "s2.tag",
    "s0.word s0.tag n0.word n0.tag", "s0.word s0.tag n0.word", "s0.word s0.tag n0.tag",
    "s0.word n0.word n0.tag", "s0.tag n0.word n0.tag", "s0.word n0.word", "s0.tag n0.tag",
    "s0.cluster n0.cluster", "s0.cluster n0.tag", "s0.tag n0.cluster", "s0.group n0.group",
    "s0.word n0.cluster", "s0.cluster n0.word",
    "s1.word s0.word", "s1.tag s0.tag", "s1.word s1.tag s0.tag", "s1.tag s0.word s0.tag",
    "s1.cluster s0.cluster", "s1.cluster s0.tag", "s1.tag s0.cluster", "s1.group s0.group",
    "n0.tag n1.tag", "n0.word n1.tag", "n0.tag n1.word", "n0.word n1.word",
    "n0.tag n1.tag n2.tag", "n0.word n1.tag n2.tag", "s0.tag n0.tag n1.tag",
    "s0.tag n0.tag n1.tag n2.tag", "s0.word n0.tag n1.tag", "s0.tag n0.word n1.tag",
    "s0.tag n0.tag n1.word", "s1.tag s0.tag n0.tag", "s1.word s0.tag n0.tag",
    "s1.tag s0.word n0.tag", "s1.tag s0.tag n0.word", "s1.tag s0.tag n0.tag n1.tag",
    "s2.tag s1.tag s0.tag", "s2.tag s1.tag s0.tag n0.tag", "s1.word n0.word", "s1.word n0.tag",
    "s1.tag n0.tag", "s1.word s0.word n0.word", "s1.cluster s0.cluster n0.word",
    "s1.word s0.cluster n0.word", "s1.cluster s0.word n0.word", "s1.word n0.word n1.cluster",
    "s1.group s0.group n0.word n1.group", "s0.word n0.word n1.cluster", "s0.word n0.word n1.tag",
    "s1.tag s0.tag n0.word n1.tag", "s1.tag s0.word n0.word n1.tag",
    "s0.cluster n0.word n2.cluster n1.tag", "s1.cluster n0.word n2.cluster n1.tag",
    "s0.tag s0l.tag n0.tag", "s0.tag s0r.tag n0.tag", "s0.tag n0.tag n0l.tag",
    "s0.word n0l.word n0.cluster", "s1.word n0l.word n0.cluster", "s0.tag n0.word n0l.word",
    "s1.tag s0.tag n0.tag n0l.word", "s1.tag s1r.tag s0.tag", "s1.tag s1l.tag s0.tag",
    "s1.tag s0.tag s0l.tag", "s1.tag s0.tag s0r.tag", "s1.word s0l.word s0.cluster",
    "s1.tag s0l.word s0.tag", "s1.cluster s0l.word s0.cluster", "s1.tag s0l.word s0.cluster n0.tag",
    "s0.tag s0l.relation n0.tag", "s0.tag s0r.relation n0.tag", "s0.word s0r.relation",
    "s0.word s0l.relation", "s0.tag s0m.relation s0l.relation", "s0.tag s0r.relation s0q.relation",
    "n0.tag n0l.relation", "n0.word n0l.relation", "n0.tag n0l.relation n0m.relation",
    "s1.tag s1r.relation s0.tag", "s1.word s1r.relation s0.tag", "s1.tag s1l.relation s0.tag",
    "s1.tag s1r.relation s1q.relation s0.tag", "s1.tag s1r.word s0.tag n0.tag",
    "s0.word s0.lefts", "s0.tag s0.lefts", "s0.word s0.rights", "s0.tag s0.rights",
    "n0.word n0.lefts", "n0.tag n0.lefts", "s1.tag s1.rights s0.tag", "s1.word s1.rights",
    "s0.tag n0.tag state.gap", "s0.word state.gap", "n0.word state.gap", "s0.tag state.gap",
    "n0.tag state.gap", "s1.tag s0.tag state.deep", "s0.word n0.word state.gap",
    "s0.tag n0.tag state.signs", "s0.tag n0.tag state.verbs", "s0.tag n0.tag n0p.tag",
    "s0.tag s0f.tag n0.tag", "s0p.tag s0.tag s0f.tag", "s1.tag s0.tag n0.tag state.signs",
    "s0.tag s0.context n0.tag", "s0.sense n0.word", "s1.sense s0.sense n0.word", "s0.word n0.sense",
    "s1.word s0.sense", "s0.family n0.family s1.family",
)  # fmt: skip
LABEL_FEATURES = (
    "d.word d.tag state.direction", "h.word h.tag state.direction", "d.tag h.tag state.direction",
    "d.word h.tag state.direction", "d.tag h.word state.direction",
    "d.word h.word state.direction", "d.cluster h.cluster state.direction",
    "d.cluster h.tag state.direction", "d.tag h.cluster state.direction", "d.cluster d.tag",
    "h.cluster h.tag", "d.suffix3 d.tag h.tag", "d.tag h.tag state.gap state.direction",
    "d.tag h.tag state.signs state.direction", "d.tag h.tag state.verbs state.direction",
    "d.tag dl.word h.tag state.direction", "d.tag dl.tag h.tag state.direction",
    "d.tag dl.relation h.tag state.direction", "d.tag dm.relation dl.relation h.tag",
    "d.tag dl.word h.word", "d.tag dm.word h.tag state.direction", "dl.word d.word h.tag",
    "dl.word h.cluster d.cluster", "dl.word d.sense h.tag", "d.sense h.tag state.direction",
    "d.tag dr.word h.tag state.direction", "d.tag dr.relation h.tag state.direction",
    "d.tag dr.relation dq.relation h.tag", "d.lefts d.tag h.tag state.direction",
    "d.rights d.tag h.tag state.direction", "h.lefts d.tag h.tag state.direction",
    "hl.relation d.tag h.tag state.direction", "hr.relation d.tag h.tag state.direction",
    "hl.relation hm.relation d.tag h.tag", "hr.relation hq.relation d.tag h.tag",
    "hl.word d.tag h.tag state.direction", "hr.word d.tag h.tag state.direction",
    "hr.relation d.word h.word", "dp.tag d.tag df.tag h.tag", "dp.word d.tag h.tag state.direction",
    "df.word d.tag h.tag state.direction", "hp.tag h.tag d.tag", "hf.tag h.tag d.tag",
    "d.shape h.shape d.tag h.tag", "d.word df.word", "dp.word d.word", "d.tag dp.tag hf.word",
    "d.tag d.context h.tag", "d.family h.family state.direction", "d.tag drr.tag dr.tag h.tag",
)  # fmt: skip


def feature_places(
    features: Sequence[str], positions: Sequence[str], states: Sequence[str] = STATES
) -> IntArray:
    """Return the positions and columns that each feature joins, -1 where it joins fewer."""
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


def move_places() -> IntArray:
    """Return the features of transitions as an array for the compiled loops."""
    return feature_places(MOVE_FEATURES, POSITIONS)


def label_places() -> IntArray:
    """Return the features of labels as an array for the compiled loops."""
    return feature_places(LABEL_FEATURES, ARC_POSITIONS)


def coarse_tags(tags: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the number of each tag's universal part of speech, and its kind; tags are such as
    NN|NOUN."""
    parts = [tag.partition("|")[2] or tag for tag in tags]
    names = sorted(set(parts))
    coarse = np.array([names.index(part) for part in parts], dtype=np.uint8)
    return coarse, np.array([KINDS.get(part, 0) for part in parts], dtype=np.uint8)
