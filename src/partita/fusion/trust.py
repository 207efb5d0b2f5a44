"""The reliability of sources, from claims and from pairs of accounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.fusion.accounts import Account
from partita.fusion.belief import Trust
from partita.fusion.comparison import Comparison
from partita.fusion.open_slots import EXACT, GENERAL, GUESS
from partita.fusion.value_reading import Read
from partita.pairs.models import probability
from partita.records import FloatArray, IntArray, Pair
from partita.templates.name import Name
from partita.templates.place import Place
from partita.templates.schema import SORT
from partita.templates.strings import Strings

TAIL = 0.025
PRIOR_WEIGHT = 1.0  # claims: the least that all sources' word on one is worth here


def trust(
    slot: str, read: Read, counts: FloatArray, given: Mapping[str, float]
) -> tuple[Trust, ...]:
    """Every source of the slot, in the order of their names."""
    right, rough, wrong = _closed(counts) if read.kind == "closed" else _open(counts)
    low, mean, high = _beta(right + rough, wrong)
    claims = np.bincount(read.said.source, minlength=len(read.said.sources))
    return tuple(
        Trust(
            source,
            slot,
            given.get(source, float(mean[n])),
            given.get(source, float(low[n])),
            given.get(source, float(high[n])),
            int(claims[n]),
            float(right[n]),
            float(rough[n]),
            float(wrong[n]),
            source in given,
        )
        for n, source in enumerate(read.said.sources)
    )


def _closed(counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    right = np.trace(counts, axis1=1, axis2=2)
    return right, np.zeros(len(right)), np.maximum(counts.sum(axis=(1, 2)) - right, 0.0)


def _open(counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    return counts[:, 0, EXACT], counts[:, 0, GENERAL], counts[:, 0, GUESS]


def _beta(right: FloatArray, wrong: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The mean and the interval that leaves out a tail on either side."""
    from scipy.special import betaincinv

    whole = right.sum() + wrong.sum()
    pooled = min(max(right.sum() / whole if whole else 0.5, 0.01), 0.99)
    a, b = right + PRIOR_WEIGHT * pooled, wrong + PRIOR_WEIGHT * (1 - pooled)
    return betaincinv(a, b, TAIL), a / (a + b), betaincinv(a, b, 1 - TAIL)


def interval(right: float, wrong: float, towards: float) -> tuple[float, float]:
    """The interval of one source that leaves out a tail on either side."""
    from scipy.special import betaincinv

    pooled = min(max(towards, 0.01), 0.99)
    a, b = right + PRIOR_WEIGHT * pooled, wrong + PRIOR_WEIGHT * (1 - pooled)
    return float(betaincinv(a, b, TAIL)), float(betaincinv(a, b, 1 - TAIL))


ROUNDS = 50
CLOSE = 1e-4
WORTH = 5.0  # claims: what the word of all sources on one is worth
START_WEIGHT = 20.0  # claims: what is believed of sources before any is met is worth
BY_SLOT = 10.0  # claims: what a source's reliability in all is worth for one slot


@dataclass(frozen=True, slots=True, eq=False)
class Meetings:
    """Where two accounts fill one slot: pair, both sources, slot, share c (0: they contradict),
    the values' own probabilities, and whether it tells of reliability. What made two accounts be
    compared, their sorts and the only key they share, tells nothing: had they disagreed in it,
    they would not have met."""

    pair: IntArray
    left: IntArray
    right: IntArray
    slot: IntArray
    share: FloatArray
    sure: FloatArray
    tells: FloatArray
    context: FloatArray
    sources: tuple[str, ...]
    slots: tuple[str, ...]
    claims: Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Agreed:
    """A source in one slot: its reliability with the interval that holds it with probability .95,
    how many of its claims met those of others, and how many of these are expected to be right."""

    source: str
    slot: str
    reliability: float
    low: float
    high: float
    claims: int
    right: float


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """The reliability of every source, of one never met, by slot, and what it rests on;
    `intervals` hold the reliabilities with probability .95."""

    reliabilities: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    unmet: float
    by_slot: Mapping[tuple[str, str], float]
    counts: tuple[Agreed, ...]


def meetings(
    compared: Mapping[Pair, Comparison], accounts: Mapping[str, Account], sources: Sequence[str]
) -> Meetings:
    """All slots that both accounts of a compared pair fill."""
    who = {name: n for n, name in enumerate(sources)}
    slots: dict[str, int] = {}
    claims: dict[tuple[str, str], set[str]] = {}
    rows: list[tuple[int, int, int, int, float, float, float]] = []
    for n, ((left, right), one) in enumerate(compared.items()):
        a, b = accounts[left], accounts[right]
        keys = [name for name, share, _ in one.slots if share and _key(a, name)]
        for name, share, sure in one.slots:
            tells = float(name != SORT and keys != [name] and a.source != b.source)
            row = (n, who[a.source], who[b.source], slots.setdefault(name, len(slots)))
            rows.append((*row, share, sure, tells))
            for one_side in (a, b) if tells else ():
                claims.setdefault((one_side.source, name), set()).add(one_side.id)
    table = np.array(rows, dtype=float).reshape(-1, 7)
    pairs, lefts, rights, named = table[:, :4].astype(np.int64).T
    context = np.array([one.context for one in compared.values()], dtype=float)
    shares, sures, telling = table[:, 4:].T
    numbers = (pairs, lefts, rights, named, shares, sures, telling, context)
    counted = {key: len(those) for key, those in claims.items()}
    return Meetings(*numbers, tuple(sources), tuple(slots), counted)


def agreement(met: Meetings, known: Mapping[str, float], prior: float, start: float) -> Agreement:
    """Rates that explain best who agrees with whom; those that are known stay."""
    given = np.array([known.get(source, np.nan) for source in met.sources])
    free = np.isnan(given)
    mean, rates = start, np.where(free, start, given)
    claims, right = _counted(met, rates, prior)
    for _ in range(ROUNDS):
        before = rates
        total, good = claims.sum(axis=1), right.sum(axis=1)
        mean = float((good[free].sum() + START_WEIGHT * start) / (total[free].sum() + START_WEIGHT))
        rates = np.where(free, (good + WORTH * mean) / (total + WORTH), given)
        claims, right = _counted(met, rates, prior)
        if np.max(np.abs(rates - before), initial=0.0) < CLOSE:
            break
    by_slot = (right + BY_SLOT * rates[:, None]) / (claims + BY_SLOT)
    by_slot = np.where(free[:, None], by_slot, rates[:, None])
    return Agreement(
        dict(zip(met.sources, rates.tolist(), strict=True)),
        dict(zip(met.sources, _intervals(met, claims, rates, free), strict=True)),
        mean,
        {(source, slot): float(by_slot[n, m]) for n, source in enumerate(met.sources)
         for m, slot in enumerate(met.slots)},
        tuple(_counts(met, claims, right, by_slot)),
    )  # fmt: skip


def _intervals(
    met: Meetings, weight: FloatArray, rates: FloatArray, free: NDArray[np.bool_]
) -> Iterator[tuple[float, float]]:
    """Around the reliability that is told; a claim counts once, and as far as it met another."""
    once = np.zeros_like(weight)
    for (source, slot), claims in met.claims.items():
        once[met.sources.index(source), met.slots.index(slot)] = claims
    sizes = np.minimum(weight, once).sum(axis=1)
    for rate, size, learned in zip(rates.tolist(), sizes.tolist(), free.tolist(), strict=True):
        yield interval(size * rate, size * (1 - rate), rate) if learned else (rate, rate)


def _counted(met: Meetings, rates: FloatArray, prior: float) -> tuple[FloatArray, FloatArray]:
    return _sums(met, *_expected(met, rates, prior))


def _expected(
    met: Meetings, rates: FloatArray, prior: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of every meeting how probable it is that it counts, and that either side is right."""
    left, right = rates[met.left], rates[met.right]
    rho = left * right * met.sure
    agree = met.share > 0
    share = np.where(agree, met.share, 1.0)
    with np.errstate(divide="ignore"):
        told = np.where(agree, np.log(rho / share + 1 - rho), np.log(np.maximum(1 - rho, 0.0)))
    odds = prior + met.context
    odds = odds + np.bincount(met.pair, told, minlength=len(odds))
    weight = probability(odds)[met.pair] * met.tells
    apart = np.maximum(1 - left * right, 1e-12)
    lucky = rho / share / (rho / share + 1 - rho)  # agreeing, and not by chance
    other = 1 - lucky
    sides = [
        np.where(agree, lucky + other * one * (1 - two) / apart, one * (1 - two) / apart)
        for one, two in ((left, right), (right, left))
    ]
    return weight, sides[0], sides[1]


def _sums(
    met: Meetings, weight: FloatArray, left: FloatArray, right: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Expected claims and right ones, source × slot."""
    shape = (len(met.sources), max(len(met.slots), 1))
    claims, good = np.zeros(shape), np.zeros(shape)
    for source, rightly in ((met.left, left), (met.right, right)):
        np.add.at(claims, (source, met.slot), weight)
        np.add.at(good, (source, met.slot), weight * rightly)
    return claims, good


def _counts(
    met: Meetings, weight: FloatArray, right: FloatArray, by_slot: FloatArray
) -> Iterator[Agreed]:
    """A claim that meets several others counts once."""
    for (source, slot), claims in sorted(met.claims.items()):
        n, m = met.sources.index(source), met.slots.index(slot)
        if weight[n, m] > 0:
            good = claims * float(right[n, m] / weight[n, m])
            low, high = interval(good, claims - good, float(by_slot[n, m]))
            yield Agreed(source, slot, float(by_slot[n, m]), low, high, claims, good)


def _key(account: Account, slot: str) -> bool:
    return isinstance(account.values.get(slot), Name | Place | Strings)
