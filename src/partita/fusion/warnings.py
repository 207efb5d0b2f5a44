"""Doubts about fused claims: Dempster's conflict, and what the claims alone cannot decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, TypeVar

import numpy as np

from partita.core import FloatArray, linked_components
from partita.fusion.belief import SecondMode, SlotBelief, Trust
from partita.fusion.hierarchy import Order
from partita.fusion.kinds import SETS
from partita.templates.slots import SlotType, Value, fit

V = TypeVar("V")
MAX_VALUES = 16  # distinct values of a slot; only the largest masses are used


def conflict(claims: Mapping[str, tuple[Value, float]], slot: SlotType[Any]) -> float:
    """Return κ of the claims about one slot, each a value with a mass from 0 to 1."""
    doubt: dict[Value, float] = {}
    for value, mass in claims.values():
        doubt[value] = doubt.get(value, 1.0) * (1.0 - mass)
    return kappa(doubt, lambda left, right: fit(slot, left, right) is not None)


def kappa(doubt: Mapping[V, float], agree: Callable[[V, V], bool]) -> float:
    """Return κ from 1 − g of every value, and a test whether two values agree."""
    largest = sorted(doubt, key=lambda value: (doubt[value], str(value)))[:MAX_VALUES]
    if all(agree(left, right) for left, right in combinations(largest, 2)):
        return 0.0
    masses = [(value, 1.0 - doubt[value]) for value in largest]
    return min(1.0, max(0.0, 1.0 - _agreeing_mass(masses, (), agree)))


def kappa_apart(doubt: Iterable[float]) -> float:
    """Return κ from 1 − g of values that all exclude each other."""
    none, one = 1.0, 0.0
    for part in doubt:
        none, one = none * part, one * part + none * (1.0 - part)
    return min(1.0, max(0.0, 1.0 - none - one))


def _agreeing_mass(
    rest: Sequence[tuple[V, float]], chosen: tuple[V, ...], agree: Callable[[V, V], bool]
) -> float:
    """Return the mass of choices without a contradiction, by recursion over the values."""
    if not rest:
        return 1.0
    (value, mass), *others = rest
    silent = (1.0 - mass) * _agreeing_mass(others, chosen, agree)
    if not all(agree(value, other) for other in chosen):
        return silent
    return silent + mass * _agreeing_mass(others, (*chosen, value), agree)


def conflicts(belief: SlotBelief) -> list[float]:
    """Return κ of every object; for sets it is 0, since a subset is not a contradiction."""
    statements = belief.parsed.statements
    if belief.parsed.kind in SETS:
        return [0.0] * len(statements.objects)
    key = statements.object * max(len(statements.values), 1) + statements.value
    first = np.flatnonzero(np.diff(key, prepend=-1))
    doubt = np.multiply.reduceat(1.0 - _masses(belief), first).tolist()
    objects, value = statements.object[first], statements.value[first].tolist()
    starts = np.searchsorted(objects, np.arange(len(statements.objects) + 1)).tolist()
    return [
        _conflict(belief, n, value[a:b], doubt[a:b]) if b - a > 1 else 0.0
        for n, (a, b) in enumerate(pairwise(starts))
    ]


def _conflict(belief: SlotBelief, thing: int, values: list[int], doubt: list[float]) -> float:
    """Return κ of one object, by a faster formula where no value is above another."""
    if not len(belief.parsed.order.above):
        return kappa_apart(doubt)
    return kappa(dict(zip(values, doubt, strict=True)), _agreement_test(belief, thing))


def _masses(belief: SlotBelief) -> FloatArray:
    """Return the mass of every statement; truths set by the user have mass 1."""
    statements, labels = belief.parsed.statements, len(belief.parsed.labels)
    guesses = 1 / labels if belief.parsed.kind == "closed" and labels > 1 else 0.0
    knowledge = {one.source: _knowledge(one, guesses) for one in belief.trust}
    mass = np.array([knowledge.get(source, 1.0) for source in statements.sources])
    masses: FloatArray = mass[statements.source] * statements.confidence
    return masses


def _knowledge(trust: Trust, guesses: float) -> float:
    """Return the reliability without lucky guesses; one set by the user has none."""
    return (
        trust.reliability
        if trust.given
        else max(0.0, (trust.reliability - guesses) / (1 - guesses))
    )


def _agreement_test(belief: SlotBelief, thing: int) -> Callable[[int, int], bool]:
    """Return a test whether two values hold together of a possible value of the object."""
    order = belief.parsed.order
    held = [_above(order, value) | {value} for value, _ in belief.of(thing)]
    return lambda left, right: any(left in both and right in both for both in held)


def _above(order: Order, value: int) -> set[int]:
    return set(order.above[order.starts[value] : order.starts[value + 1]].tolist())


BARE_MAJORITY = 0.6  # of the claims about contested objects that support the best value
MIN_CONTESTED = 5
ALWAYS_AGREE = 0.9  # dependence of two sources that count as one
MIN_CLIQUE = 3
FEW_CLAIMS = 2
FEW_SHARE = 0.5  # of the objects
ADVICE = "give some true values (--known) or reliabilities (--reliability)"


@dataclass(frozen=True, slots=True)
class BeliefWarning:
    """A reason to doubt the belief about a slot, and what to do."""

    slot: str
    kind: str
    text: str
    advice: str = ADVICE


def belief_warnings(belief: SlotBelief) -> Iterator[BeliefWarning]:
    """Yield the warnings about one slot."""
    support = _support(belief)
    if len(support) >= MIN_CONTESTED and support.mean() < BARE_MAJORITY:
        share = f"{support.mean():.0%} of the claims about {len(support):,} contested objects"
        yield BeliefWarning(belief.name, "majority", f"the best values have only {share}")
    for names in _cliques(belief):
        text = f"{_listed(names)} nearly always agree and count as about one source"
        yield BeliefWarning(belief.name, "clique", text)
    if belief.second is not None:
        yield BeliefWarning(belief.name, "second solution", _second_text(belief.second))
    few = _few(belief)
    if few > FEW_SHARE:
        text = f"{few:.0%} of the objects have at most {FEW_CLAIMS} claims"
        yield BeliefWarning(belief.name, "few claims", text)


def _second_text(second: SecondMode) -> str:
    names = _listed(second.sources)
    changed = f"{second.changed:.0%} of the {second.contested:,} contested objects"
    return f"another solution, which trusts {names} and changes {changed}, is nearly as likely"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _support(belief: SlotBelief) -> np.typing.NDArray[np.float64]:
    """Return the share of claims for the best value, of every object with several values."""
    statements = belief.parsed.statements
    objects, values = len(statements.objects), max(len(statements.values), 1)
    best = np.full(objects, -1)
    filled = np.diff(belief.starts) > 0
    best[filled] = belief.value[belief.starts[:-1][filled]]
    claims = np.bincount(statements.object, minlength=objects)
    pairs = np.unique(statements.object * values + statements.value)
    several = np.bincount(pairs // values, minlength=objects) > 1
    agree = statements.value == best[statements.object]
    right = np.bincount(statements.object[agree], minlength=objects)
    stated = several & (right > 0)
    return right[stated] / claims[stated]


def _cliques(belief: SlotBelief) -> Iterator[tuple[str, ...]]:
    """Yield groups of sources that are linked by a strong dependence."""
    links = [pair for pair, rho in belief.parameters.dependence.items() if rho >= ALWAYS_AGREE]
    if not links:
        return
    names = sorted({name for pair in links for name in pair})
    ends = np.array([[names.index(name) for name in pair] for pair in links], dtype=np.int64)
    groups: dict[int, list[str]] = {}
    component = linked_components(len(names), ends[:, 0], ends[:, 1]).tolist()
    for name, first in zip(names, component, strict=True):
        groups.setdefault(first, []).append(name)
    for first in sorted(groups):
        if len(groups[first]) >= MIN_CLIQUE:
            yield tuple(sorted(groups[first]))


def _few(belief: SlotBelief) -> float:
    """Return the share of objects with at most two claims."""
    statements = belief.parsed.statements
    claims = np.bincount(statements.object, minlength=len(statements.objects))
    return float(np.mean(claims <= FEW_CLAIMS)) if len(claims) else 0.0
