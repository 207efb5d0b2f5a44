"""Choose which sets to label next."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from partita.records import FloatArray, IntArray
from partita.training.maxent import Codes, logistic

LOG2 = math.log(2.0)
BATCH = 4096  # pairs whose features are written out at a time


@dataclass(frozen=True, slots=True, eq=False)
class OpenPairs:
    """The pairs of a set that may corefer or not: what is observed of each, and where its two
    templates stand, of how many."""

    codes: Codes
    left: IntArray
    right: IntArray
    templates: int


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What the key of one set would tell, as rows R with B = RᵀR, and how many templates it has
    to place."""

    rows: FloatArray
    templates: int = 1

    @property
    def information(self) -> FloatArray:
        found: FloatArray = self.rows.T @ self.rows
        return found


def asked(given: OpenPairs, p: FloatArray) -> FloatArray:
    """The chance that the merger comes to ask about each pair S, T: that no template between them
    joins S, and T none between them, as if their answers were independent."""
    no = np.ones((given.templates, given.templates))
    no[given.left, given.right] = 1 - p
    of_s, of_t = np.ones_like(no), np.ones_like(no)
    of_s[:, 1:] = np.cumprod(no, axis=1)[:, :-1]
    of_t[:-1] = np.cumprod(no[::-1], axis=0)[::-1][1:]
    found: FloatArray = (of_s * of_t)[given.left, given.right]
    return found


def entropy(given: OpenPairs, weights: FloatArray, sizes: Sequence[int]) -> float:
    """Bits that the merger's answers hold together."""
    p = probabilities(given, weights, sizes)
    inside = np.clip(p, 1e-15, 1 - 1e-15)
    each = -(inside * np.log2(inside) + (1 - inside) * np.log2(1 - inside))
    return float(asked(given, p) @ each)


def probabilities(given: OpenPairs, weights: FloatArray, sizes: Sequence[int]) -> FloatArray:
    """Of every open pair, by the weights of all features."""
    scores: FloatArray = weights[places(given.codes, sizes)].sum(axis=1)
    return logistic(scores)


def places(codes: Codes, sizes: Sequence[int]) -> IntArray:
    """Which features each pair has, as their numbers."""
    starts = np.cumsum([0, *sizes])[:-1].astype(np.int64)
    found: IntArray = codes + starts[None, :]
    return found


def tell(sets: Sequence[OpenPairs], weights: FloatArray, sizes: Sequence[int]) -> list[Told]:
    """What each set would tell, about the features that any of them has."""
    seen = np.zeros(sum(sizes), dtype=np.bool_)
    for one in sets:
        seen[places(one.codes, sizes)] = True
    column, features = np.cumsum(seen) - 1, int(seen.sum())
    return [
        Told(
            _rows(column[places(one.codes, sizes)], _variance(one, weights, sizes), features),
            one.templates,
        )
        for one in sets
    ]


def _variance(one: OpenPairs, weights: FloatArray, sizes: Sequence[int]) -> FloatArray:
    p = probabilities(one, weights, sizes)
    return asked(one, p) * p * (1 - p)


def _rows(has: IntArray, variance: FloatArray, features: int) -> FloatArray:
    """A row for each pair, but never more rows than features."""
    if len(has) <= features:
        return _written(has, variance, features)
    found = np.zeros((features, features))
    for first in range(0, len(has), BATCH):
        part = slice(first, first + BATCH)
        rows = _written(has[part], variance[part], features)
        found += rows.T @ rows
    values, vectors = np.linalg.eigh(found)
    root: FloatArray = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return root


def _written(has: IntArray, variance: FloatArray, features: int) -> FloatArray:
    rows = np.zeros((len(has), features))
    rows[np.arange(len(has))[:, None], has] = np.sqrt(variance)[:, None]
    return rows


def held(inverse: FloatArray, one: Told) -> FloatArray:
    """A⁻¹ with what one more key tells, (A + RᵀR)⁻¹ = A⁻¹ − A⁻¹Rᵀ (I + R A⁻¹ Rᵀ)⁻¹ R A⁻¹."""
    across = one.rows @ inverse
    root = np.linalg.cholesky(_surprise(across, one))
    part = np.linalg.solve(root, across)
    found: FloatArray = inverse - part.T @ part
    return found


def holding(sets: Iterable[Told], features: int, precision: float) -> FloatArray:
    """A⁻¹ where a prior is held and what some keys told."""
    return np.linalg.inv(np.eye(features) * precision + total(sets, features)).astype(np.float64)


def information(inverse: FloatArray, one: Told) -> float:
    """Bits about the weights; what is known already counts no more, so returns diminish."""
    root = np.linalg.cholesky(_surprise(one.rows @ inverse, one))
    return float(np.log(np.diag(root)).sum()) / LOG2


def saved(inverse: FloatArray, one: Told, spread: FloatArray) -> float:
    """Bits that the keys which tell M are expected to cost less; `spread` is A⁻¹ M A⁻¹."""
    inner = one.rows @ spread @ one.rows.T
    surprise = _surprise(one.rows @ inverse, one)
    return max(0.0, float(np.trace(np.linalg.solve(surprise, inner)))) / 2 / LOG2


def spread_of(inverse: FloatArray, target: FloatArray) -> FloatArray:
    """A⁻¹ M A⁻¹: by how much each weight's doubt costs bits."""
    found: FloatArray = inverse @ target @ inverse
    return found


def total(sets: Iterable[Told], features: int) -> FloatArray:
    """M: what the keys of all these sets would tell."""
    found = np.zeros((features, features))
    for one in sets:
        found += one.information
    return found


def _surprise(across: FloatArray, one: Told) -> FloatArray:
    """I + R A⁻¹ Rᵀ."""
    found: FloatArray = np.eye(len(one.rows)) + across @ one.rows.T
    return found


AFRESH = 10  # choices that count what those before them told; those after them are made together
SHORTLIST = 40  # sets, the best at first, among which these choices are made
SITTING = 10  # templates that are placed at one go; a longer set is worth what ten of it are
LEAST = 1e-12  # bits: a set that saves less saves nothing


def choose(
    sets: Sequence[Told], keyed: Collection[int], precision: float, limit: int
) -> list[tuple[int, float]]:
    """Places of at most `limit` sets without a key, each with what it is expected to save: bits of
    the keys of all sets; of a set of more than ten templates for each ten of them."""
    if not sets:
        return []
    target = total(sets, features := sets[0].rows.shape[1])
    inverse = holding((sets[n] for n in keyed), features, precision)
    left = [n for n in range(len(sets)) if n not in keyed]
    found: list[tuple[int, float]] = []
    ranked = _ranked(inverse, sets, left, target)
    while ranked and len(found) < min(limit, AFRESH):
        found.append(ranked[0])
        inverse = held(inverse, sets[ranked[0][0]])
        near = [place for place, _ in ranked[1 : SHORTLIST + 1]]
        ranked = _ranked(inverse, sets, near, target) + ranked[SHORTLIST + 1 :]
    return found + sorted(ranked, key=_by_gain)[: max(0, limit - len(found))]


def _ranked(
    inverse: FloatArray, sets: Sequence[Told], among: Sequence[int], target: FloatArray
) -> list[tuple[int, float]]:
    """The sets that save something, those that save most first; equal ones in text order."""
    spread = spread_of(inverse, target)
    worth = [(n, saved(inverse, sets[n], spread) / _sittings(sets[n])) for n in among]
    return sorted((one for one in worth if one[1] > LEAST), key=_by_gain)


def _sittings(one: Told) -> float:
    return max(1.0, one.templates / SITTING)


def _by_gain(one: tuple[int, float]) -> tuple[float, int]:
    return -one[1], one[0]


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
