"""Sets of a size that a person can key, from documents of any length.

A longer coreference set is parted into stretches of consecutive templates, about equally long,
and each is a set of its own, as if the message held nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from partita.configurations.greedy import GreedyParameters
from partita.configurations.scaled import ScaledParameters
from partita.evaluation.cuts import Cut, cut
from partita.evaluation.models import part
from partita.learning.pair_parameters import PairParameters
from partita.learning.questions import every_pair
from partita.pairs.characteristics import characters, offsets, pairs_of, quintiles
from partita.pairs.columns import columns
from partita.pairs.extended import EXTENDED
from partita.pairs.interning import Column
from partita.pairs.models import MaximumEntropy


def small_sets(documents: Iterable[Cut], largest: int) -> Iterator[Cut]:
    """Every set with something to decide, none of more than `largest` templates; what a key denies
    of what is known is left out, for no choice of keys can teach it."""
    for document in documents:
        for members in document.sets:
            for some in np.array_split(members, -(-len(members) // largest)):
                one = cut(part(document.document, some), document.schema)
                if one.sets and not one.crosses and not any(map(one.broken, one.sets)):
                    yield one


def nothing_learned(sets: Sequence[Cut]) -> PairParameters:
    """Parameters that know nothing: weights of 0, and classes of distance, which need no keys."""
    cutoffs = quintiles(map(_distances, sets))
    even = MaximumEntropy(EXTENDED, np.zeros(int(offsets(EXTENDED)[-1])), cutoffs)
    greedy = GreedyParameters(0.5, 0.5, 0.5)
    return PairParameters(even, even, greedy, ScaledParameters(1.0, 0.0), 0.05, 0.05)


def _distances(one: Cut) -> Column:
    known = columns(one.document.templates, schema=one.schema, compatible=one.compatible)
    asked = every_pair(one.labels, one.compatible)
    return characters(pairs_of(known, asked.left, asked.right, ()))
