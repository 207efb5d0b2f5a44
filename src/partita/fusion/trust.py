"""Estimate the reliability of sources from claims and from pairs of records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray, Pair
from partita.fusion.belief import SlotReliability, Trust
from partita.fusion.open_slots import EXACT, GENERAL, GUESS
from partita.fusion.value_reading import ParsedSlot
from partita.templates.name import Name, NamedPlace
from partita.templates.schema import OWN_TYPE
from partita.templates.slots import Strings

if TYPE_CHECKING:
    from partita.fusion.schema_comparison import Comparison
    from partita.fusion.source_records import SourceRecord

TAIL = 0.025
PRIOR_WEIGHT = 1.0  # of the pooled reliability, in claims


def trust(
    slot: str, parsed: ParsedSlot, counts: FloatArray, reliabilities: Mapping[str, float]
) -> tuple[Trust, ...]:
    """Return the trust in every source of the slot, sorted by source."""
    right, rough, wrong = _closed(counts) if parsed.kind == "closed" else _open(counts)
    low, mean, high = _beta(right + rough, wrong)
    claims = np.bincount(parsed.statements.source, minlength=len(parsed.statements.sources))
    return tuple(
        Trust(
            source,
            slot,
            reliabilities.get(source, float(mean[n])),
            reliabilities.get(source, float(low[n])),
            reliabilities.get(source, float(high[n])),
            int(claims[n]),
            float(right[n]),
            float(rough[n]),
            float(wrong[n]),
            source in reliabilities,
        )
        for n, source in enumerate(parsed.statements.sources)
    )


def _closed(counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    right = np.trace(counts, axis1=1, axis2=2)
    return right, np.zeros(len(right)), np.maximum(counts.sum(axis=(1, 2)) - right, 0.0)


def _open(counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    return counts[:, 0, EXACT], counts[:, 0, GENERAL], counts[:, 0, GUESS]


def _beta(right: FloatArray, wrong: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean and 95 % interval of the reliability of every source."""
    from scipy.special import betaincinv

    total = right.sum() + wrong.sum()
    pooled = min(max(right.sum() / total if total else 0.5, 0.01), 0.99)
    a, b = right + PRIOR_WEIGHT * pooled, wrong + PRIOR_WEIGHT * (1 - pooled)
    return betaincinv(a, b, TAIL), a / (a + b), betaincinv(a, b, 1 - TAIL)


def interval(right: float, wrong: float, mean: float) -> tuple[float, float]:
    """Return the 95 % interval of one source's reliability."""
    from scipy.special import betaincinv

    pooled = min(max(mean, 0.01), 0.99)
    a, b = right + PRIOR_WEIGHT * pooled, wrong + PRIOR_WEIGHT * (1 - pooled)
    return float(betaincinv(a, b, TAIL)), float(betaincinv(a, b, 1 - TAIL))


ROUNDS = 50
TOLERANCE = 1e-4
POOLED_WEIGHT = 5.0  # of the mean reliability of all sources, in claims
START_WEIGHT = 20.0  # of the reliability before any evidence, in claims
SLOT_WEIGHT = 10.0  # of a source's overall reliability for one slot, in claims
DOCUMENT_WEIGHT = 5.0  # of a publisher's reliability for one of its documents, in claims
SAME_PUBLISHER = 0.5  # weight of what two documents of one publisher agree on: they share errors


@dataclass(frozen=True, slots=True, eq=False)
class SharedSlots:
    """The slots that both records of a compared pair fill.

    `share` is c (0: they contradict) and `sure` the values' own probabilities. `informative` is 0
    for what made the two records be compared: their types and the only key they share, since
    records that disagree in these are never compared. `left` and `right` are numbers of documents,
    of which `publisher` is the source; a source that is no collection is a document of its own.
    `match` are the probabilities of the pairs.
    """

    pair: IntArray
    left: IntArray
    right: IntArray
    slot: IntArray
    share: FloatArray
    sure: FloatArray
    informative: FloatArray
    match: FloatArray
    documents: tuple[str, ...]
    publisher: IntArray
    sources: tuple[str, ...]
    slots: tuple[str, ...]
    claims: Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """The reliability of every source, of an unseen one (`unseen`), and by slot.

    `intervals` are 95 % intervals of the reliabilities. `documents` are the reliabilities of the
    documents of sources that have several; `by_slot` has both.
    """

    reliabilities: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    unseen: float
    by_slot: Mapping[tuple[str, str], float]
    counts: tuple[SlotReliability, ...]
    documents: Mapping[str, float] = field(default_factory=dict)


def shared_slots(
    compared: Mapping[Pair, Comparison],
    records: Mapping[str, SourceRecord],
    sources: Sequence[str],
    match: FloatArray,
) -> SharedSlots:
    """Return all slots that both records of a compared pair fill."""
    of_document = {one.document: one.source for one in records.values()}
    documents = {name: n for n, name in enumerate(sorted(of_document))}
    source_numbers = {name: n for n, name in enumerate(sources)}
    publisher = np.array([source_numbers[of_document[name]] for name in documents], dtype=np.int64)
    slots: dict[str, int] = {}
    claims: dict[tuple[str, str], set[str]] = {}
    rows: list[tuple[int, int, int, int, float, float, float]] = []
    for n, ((left, right), comparison) in enumerate(compared.items()):
        a, b = records[left], records[right]
        keys = [name for name, share, _ in comparison.slots if share and _is_key(a, name)]
        for name, share, sure in comparison.slots:
            apart = 1.0 if a.source != b.source else SAME_PUBLISHER * (a.document != b.document)
            informative = apart * (name != OWN_TYPE and keys != [name])
            row = (
                n,
                documents[a.document],
                documents[b.document],
                slots.setdefault(name, len(slots)),
            )
            rows.append((*row, share, sure, informative))
            for record in (a, b) if informative else ():
                claims.setdefault((record.source, name), set()).add(record.id)
    table = np.array(rows, dtype=float).reshape(-1, 7)
    pairs, lefts, rights, slot_numbers = table[:, :4].astype(np.int64).T
    shares, sures, informative_ = table[:, 4:].T
    numbers = (pairs, lefts, rights, slot_numbers, shares, sures, informative_, match)
    claim_counts = {key: len(those) for key, those in claims.items()}
    names = (tuple(documents), publisher, tuple(sources), tuple(slots))
    return SharedSlots(*numbers, *names, claim_counts)


def agreement(shared: SharedSlots, fixed: Mapping[str, float], start: float) -> Agreement:
    """Estimate the reliabilities that best explain agreement; `fixed` ones stay.

    The reliability of a document is drawn to that of its publisher, and this to the mean of all.
    """
    given = np.array([fixed.get(source, np.nan) for source in shared.sources])
    publisher, learned = shared.publisher, np.isnan(given)
    alone = np.bincount(publisher, minlength=len(given))[publisher] == 1
    estimated = learned[publisher]
    means = np.where(learned, start, given)
    rates = means[publisher]
    claims, right = _expected_counts(shared, rates)
    mean = start
    for _ in range(ROUNDS):
        before = rates
        total, good = claims.sum(axis=1), right.sum(axis=1)
        mean = float(
            (good[estimated].sum() + START_WEIGHT * start) / (total[estimated].sum() + START_WEIGHT)
        )
        sums, goods = (np.bincount(publisher, one, len(given)) for one in (total, good))
        means = np.where(learned, (goods + POOLED_WEIGHT * mean) / (sums + POOLED_WEIGHT), given)
        above = means[publisher]
        own = (good + DOCUMENT_WEIGHT * above) / (total + DOCUMENT_WEIGHT)
        rates = np.where(estimated & ~alone, own, above)
        claims, right = _expected_counts(shared, rates)
        if np.max(np.abs(rates - before), initial=0.0) < TOLERANCE:
            break
    own_slots = _slot_rates(claims, right, rates, estimated)
    of_source = (_by_publisher(shared, claims), _by_publisher(shared, right))
    by_slot = _slot_rates(*of_source, means, learned)
    several = np.flatnonzero(~alone).tolist()
    return Agreement(
        dict(zip(shared.sources, means.tolist(), strict=True)),
        dict(zip(shared.sources, _intervals(shared, of_source[0], means, learned), strict=True)),
        mean,
        {(source, slot): float(by_slot[n, m]) for n, source in enumerate(shared.sources)
         for m, slot in enumerate(shared.slots)}
        | {(shared.documents[n], slot): float(own_slots[n, m]) for n in several
           for m, slot in enumerate(shared.slots)},
        tuple(_counts(shared, *of_source, by_slot)),
        {shared.documents[n]: float(rates[n]) for n in several},
    )  # fmt: skip


def _slot_rates(
    claims: FloatArray, right: FloatArray, rates: FloatArray, estimated: NDArray[np.bool_]
) -> FloatArray:
    """Return the reliability by slot, drawn to the overall one; one that was set stays."""
    by_slot = (right + SLOT_WEIGHT * rates[:, None]) / (claims + SLOT_WEIGHT)
    return np.where(estimated[:, None], by_slot, rates[:, None])


def _by_publisher(shared: SharedSlots, counts: FloatArray) -> FloatArray:
    sums = np.zeros((len(shared.sources), counts.shape[1]))
    np.add.at(sums, shared.publisher, counts)
    return sums


def _intervals(
    shared: SharedSlots, weight: FloatArray, rates: FloatArray, estimated: NDArray[np.bool_]
) -> Iterator[tuple[float, float]]:
    """Yield the intervals; each claim counts once."""
    claims_once = np.zeros_like(weight)
    for (source, slot), claims in shared.claims.items():
        claims_once[shared.sources.index(source), shared.slots.index(slot)] = claims
    sizes = np.minimum(weight, claims_once).sum(axis=1)
    for rate, size, learned in zip(rates.tolist(), sizes.tolist(), estimated.tolist(), strict=True):
        yield interval(size * rate, size * (1 - rate), rate) if learned else (rate, rate)


def _expected_counts(shared: SharedSlots, rates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return expected claims and right ones, document × slot."""
    left, right = rates[shared.left], rates[shared.right]
    rho = left * right * shared.sure
    agree = shared.share > 0
    share = np.where(agree, shared.share, 1.0)
    weight = shared.match[shared.pair] * shared.informative
    apart = np.maximum(1 - left * right, 1e-12)
    lucky = rho / share / (rho / share + 1 - rho)  # agreeing, and not by chance
    other = 1 - lucky
    sides = [
        np.where(agree, lucky + other * one * (1 - two) / apart, one * (1 - two) / apart)
        for one, two in ((left, right), (right, left))
    ]
    shape = (len(shared.documents), max(len(shared.slots), 1))
    claims, good = np.zeros(shape), np.zeros(shape)
    for source, rightly in zip((shared.left, shared.right), sides, strict=True):
        np.add.at(claims, (source, shared.slot), weight)
        np.add.at(good, (source, shared.slot), weight * rightly)
    return claims, good


def _counts(
    shared: SharedSlots, weight: FloatArray, right: FloatArray, by_slot: FloatArray
) -> Iterator[SlotReliability]:
    """Yield the reliability of each source by slot; each claim counts once."""
    for (source, slot), claims in sorted(shared.claims.items()):
        n, m = shared.sources.index(source), shared.slots.index(slot)
        if weight[n, m] > 0:
            good = claims * float(right[n, m] / weight[n, m])
            low, high = interval(good, claims - good, float(by_slot[n, m]))
            yield SlotReliability(source, slot, float(by_slot[n, m]), low, high, claims, good)


def _is_key(record: SourceRecord, slot: str) -> bool:
    return isinstance(record.values.get(slot), Name | NamedPlace | Strings)
