"""Rules that say which set is keyed next, and the order in which each of them takes a pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from partita.learning.choosing import (
    OpenPairs,
    Told,
    entropy,
    held,
    holding,
    information,
    saved,
    spread_of,
    tell,
    total,
)
from partita.records import FloatArray

EACH = " per template"
RULES = (
    "random",
    "longest",
    "entropy",
    f"entropy{EACH}",
    "information",
    f"information{EACH}",
    "saved",
    f"saved{EACH}",
)

Learn = Callable[[Sequence[int]], FloatArray]
Enough = Callable[[Sequence[int]], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Sets that could be keyed, the sizes of their characteristics, the precision of the prior,
    and what makes weights of the keys of some of them."""

    sets: Sequence[OpenPairs]
    sizes: tuple[int, ...]
    precision: float
    learn: Learn


@dataclass(frozen=True, slots=True, eq=False)
class Doubt:
    """What the sets would tell by the latest weights, and A⁻¹ of what is held."""

    told: list[Told]
    target: FloatArray
    inverse: FloatArray

    def after(self, place: int) -> Doubt:
        return Doubt(self.told, self.target, held(self.inverse, self.told[place]))


def taken(
    rule: str, pool: Pool, first: Sequence[int], enough: Enough, rng: np.random.Generator
) -> list[int]:
    """Places in the order in which a rule takes them after the first ones, until it is enough."""
    chosen, luck = list(first), rng.random(len(pool.sets))
    kind, each = rule.removesuffix(EACH), rule.endswith(EACH)
    worth, doubt = luck, None
    if kind == "longest":
        worth = luck / 2 + [one.templates for one in pool.sets]
    while not enough(chosen) and len(chosen) < len(pool.sets):
        if kind == "entropy" and afresh(len(chosen)):
            worth = _entropies(pool, pool.learn(chosen))
        elif kind in ("information", "saved"):
            if doubt is None or afresh(len(chosen)):
                doubt = _doubt(pool, chosen)
            else:
                doubt = doubt.after(chosen[-1])
            worth = _gains(kind, doubt)
        chosen.append(_best(worth, chosen, pool, each))
    return chosen


def afresh(keys: int) -> bool:
    """Whether weights are learned anew after so many keys: seldom once there are many."""
    return keys <= 10 or keys % (2 if keys <= 20 else 4) == 0


def _entropies(pool: Pool, weights: FloatArray) -> FloatArray:
    return np.array([entropy(one, weights, pool.sizes) for one in pool.sets])


def _doubt(pool: Pool, chosen: Sequence[int]) -> Doubt:
    told = tell(pool.sets, pool.learn(chosen), pool.sizes)
    features = told[0].rows.shape[1]
    inverse = holding((told[n] for n in chosen), features, pool.precision)
    return Doubt(told, total(told, features), inverse)


def _gains(kind: str, doubt: Doubt) -> FloatArray:
    if kind == "information":
        return np.array([information(doubt.inverse, one) for one in doubt.told])
    spread = spread_of(doubt.inverse, doubt.target)
    return np.array([saved(doubt.inverse, one, spread) for one in doubt.told])


def _best(worth: FloatArray, chosen: Sequence[int], pool: Pool, each: bool) -> int:
    cost = np.array([one.templates for one in pool.sets]) if each else 1
    value = worth / cost
    value[list(chosen)] = -np.inf
    return int(value.argmax())
