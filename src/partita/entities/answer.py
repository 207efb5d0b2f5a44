"""The answer: which grouping of the templates of a set is shown as its entities.

The most probable configuration where it is known (exact and certified distributions). Of a larger
text that is one of very many, each with a probability near 0; there the grouping is shown that
agrees best with the distribution, where a pair that is wrongly apart counts 2.3 times as much as
one that is wrongly together: (1 - LINKED) / LINKED. In text, each mention that this puts with an
earlier one then gets its most probable reading. docs/general.md has the measurements.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.core import (
    Configuration,
    Distribution,
    FloatArray,
    IntArray,
    compatible_pairs,
    restricted_growth,
)
from partita.core.configurations import mean_linkage

LINKED = 0.3  # chosen on documents of GUM's training part in genres that the model had not seen
MIN_READING_SHARE = 0.01  # least share of a reading
EXCLUDED = -1e6  # in place of a probability: outweighs any number of pairs


def answer(distribution: Distribution) -> Configuration:
    """Return the grouping that entities are made of, in every output."""
    if distribution.model != "joint" and distribution.method != "sampled":
        return distribution.most_probable
    ids, pairs = distribution.set.ids, distribution.marginals.value
    apart = ~compatible_pairs(distribution.set)
    if distribution.method == "sampled":
        labels = mean_linkage(np.where(apart, EXCLUDED, pairs), LINKED)
    else:
        labels = distribution.most_probable.labels(ids)
    return Configuration.from_labels(ids, settled(pairs, labels, apart))


def settled(
    pairs: FloatArray, labels: IntArray, apart: NDArray[np.bool_] | None = None
) -> IntArray:
    """Return labels in which every mention that is with earlier ones has its most probable reading.

    That is the entity of an earlier mention, or a new one, to which those of the following go
    along that are closer to it. One pass in text order does: a reading depends on earlier labels.
    No mention is in an entity with one that it is `apart` from.
    """
    labels = restricted_growth(labels)
    for place in range(1, len(labels)):
        own, shares = labels[place], entity_shares(pairs[place, :place], labels[:place])
        if own not in labels[:place]:
            continue
        if apart is not None:
            shares[labels[:place][apart[place, :place]]] = 0.0
        best = int(shares.argmax())
        if 1.0 - shares.sum() > shares[best]:
            _start_entity(pairs, labels, place)
        elif shares[best] > shares[own]:
            labels[place] = best
    return restricted_growth(labels)


def _start_entity(pairs: FloatArray, labels: IntArray, place: int) -> None:
    members = np.flatnonzero(labels == labels[place])
    earlier, moved = members[members < place], [place]
    for later in members[members > place].tolist():
        if pairs[later, moved].max() > pairs[later, earlier].max():
            moved.append(later)
    labels[moved] = labels.max() + 1


def entity_shares(row: FloatArray, labels: IntArray) -> FloatArray:
    """Return the share of each entity, by label, in the readings of a mention.

    It is the largest probability of a pair with one of the earlier mentions, which the row has.
    What the shares leave of 1 is that of a new entity. Where they exceed 1, since doubtful mentions
    of one entity may belong to another, the largest stays, and the others share what it leaves.
    """
    shares = np.zeros(int(labels.max()) + 1)
    known = np.flatnonzero(row >= MIN_READING_SHARE)
    best: dict[int, float] = {}
    for label, share in zip(labels[known].tolist(), row[known].tolist(), strict=True):
        if share > best.get(label, 0.0):
            best[label] = share
    shares[list(best)] = list(best.values())
    others = shares.sum() - shares.max()
    if others + shares.max() > 1.0:
        top = int(shares.argmax())
        scaled: FloatArray = shares * (max(0.0, 1.0 - shares[top]) / others)
        scaled[top] = min(1.0, shares[top])
        return scaled
    return shares
