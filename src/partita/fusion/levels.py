"""Values of a hierarchy at every level: a value, or something within it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from partita.core import FloatArray, IntArray
from partita.fusion.belief import SlotBelief
from partita.fusion.open_slots import ranges


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """P(the truth is a value or something within it), sorted by object and by probability.

    Values are those that sources state of the object, and all above them. Of equal probabilities
    the most detailed value comes first.
    """

    object: IntArray
    value: IntArray
    probability: FloatArray
    starts: IntArray


def level_probabilities(belief: SlotBelief) -> Levels | None:
    """Return the probabilities at every level, None without a hierarchy.

    Within a value is what is stated below it, and its part of unknown.
    """
    if belief.inside is None:
        return None
    order, objects = belief.parsed.order, len(belief.parsed.statements.objects)
    count = len(belief.parsed.statements.values)
    mass = belief.probability + belief.unknown[belief.object] * belief.inside
    pair, at = ranges(order.starts[belief.value], np.diff(order.starts)[belief.value])
    thing = np.concatenate([belief.object, belief.object[pair]])
    value = np.concatenate([belief.value, order.above[at]])
    key, place = np.unique(thing * count + value, return_inverse=True)
    within = np.minimum(np.bincount(place, np.concatenate([mass, mass[pair]])), 1.0)
    thing, value = key // count, key % count
    by = np.lexsort((value, -order.heights[value], -np.round(within, 12), thing))
    starts = np.searchsorted(thing[by], np.arange(objects + 1))
    return Levels(thing[by], value[by], within[by].astype(np.float64), starts)


LIKELY = 0.5  # probability of a level that may be the answer


def most_detailed(belief: SlotBelief) -> SlotBelief:
    """Put the most detailed value first within which the truth likely lies.

    It may be one that no source states, which is then added. An object without any stays as it is.
    """
    levels = level_probabilities(belief)
    if levels is None:
        return belief
    likely = np.flatnonzero(levels.probability >= LIKELY)
    depth = belief.parsed.order.heights[levels.value[likely]]
    by = likely[np.lexsort((-levels.probability[likely], -depth, levels.object[likely]))]
    first = by[np.diff(levels.object[by], prepend=-1) != 0]
    count = len(belief.parsed.statements.values)
    top = levels.object[first] * count + levels.value[first]
    key = belief.object * count + belief.value
    new = first[~np.isin(top, key)]
    thing = np.concatenate([belief.object, levels.object[new]])
    value = np.concatenate([belief.value, levels.value[new]])
    nothing = np.zeros(len(new))
    probability = np.concatenate([belief.probability, nothing])
    leads = np.isin(thing * count + value, top)
    order = np.lexsort((value, -probability, ~leads, thing))
    inside = None if belief.inside is None else np.concatenate([belief.inside, nothing])[order]
    return replace(
        belief,
        object=thing[order],
        value=value[order],
        probability=probability[order],
        inside=inside,
    )
