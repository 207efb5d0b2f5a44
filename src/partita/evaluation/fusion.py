"""Evaluate fused beliefs against known truths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray
from partita.evaluation.calibration import ReliabilityBin, brier, reliability, reliability_error
from partita.fusion.answers import answers
from partita.fusion.belief import SlotBelief
from partita.fusion.claim_files import SAME
from partita.fusion.hierarchy import Nesting, deepest
from partita.fusion.levels import level_probabilities
from partita.fusion.numeric_slots import ErrorScales
from partita.fusion.parsed_claims import (
    normalise_date,
    normalise_number,
    positions,
    split_members,
)
from partita.fusion.people import NameLexicon, same_people
from partita.fusion.value_reading import ParsedSlot


@dataclass(frozen=True, slots=True)
class SlotMeasure:
    """One slot against the truths about objects with claims.

    `accuracy`, `vote` (of a tie what was said first) and `best` (of one source, its silence is an
    error) count objects;
    `possible` is how often anybody is right. `f_same` is there for judgements.
    `intervals` are the stated probability of intervals of numbers, and how many have the truth;
    `levels_error` is that of "this or something within it" in a hierarchy.
    """

    slot: str
    truths: int
    silent: int
    accuracy: float
    f_same: float | None
    vote: float
    vote_f_same: float | None
    best: float
    best_source: str
    possible: float
    calibration: Calibration
    statements: FusionStatements
    intervals: tuple[float, float] | None = None
    levels_error: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FusionStatements:
    """Stated probabilities and whether each came true; `of_values` leaves out those of unknown."""

    stated: FloatArray
    observed: NDArray[np.bool_]
    of_values: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Calibration:
    """How well stated probabilities agree with what is true.

    `error` is the reliability error of all, unknown included, `values_error` without it.
    """

    error: float
    values_error: float
    brier: float
    bins: tuple[ReliabilityBin, ...]


def calibration(slots: Sequence[FusionStatements]) -> Calibration:
    """Return the calibration of the statements of slots together."""
    stated = np.concatenate([one.stated for one in slots])
    observed = np.concatenate([one.observed for one in slots])
    values = np.concatenate([one.of_values for one in slots])
    bins = reliability(stated, observed)
    values_error = reliability_error(reliability(stated[values], observed[values]))
    return Calibration(reliability_error(bins), values_error, brier(stated, observed), bins)


def measure_fusion(
    belief: SlotBelief,
    truths: Mapping[str, str],
    nesting: Nesting | None,
    tolerance: float = 0.0,
) -> SlotMeasure:
    """Return the figures of one slot; truths are by object, as written.

    Numbers and dates within the tolerance of the truth are right.
    """
    places = {name: n for n, name in enumerate(belief.parsed.statements.objects)}
    claimed = {places[name]: truth for name, truth in truths.items() if name in places}
    right = true_pairs(belief, claimed, nesting, tolerance)
    tested = np.zeros(len(places), dtype=np.bool_)
    tested[list(claimed)] = True
    first = belief.starts[:-1][tested]
    statement_right = _true_statements(belief, right)
    statements = _statements(belief, right, tested)
    best, source = _best(belief, statement_right, tested)
    votes, stated_first = _votes(belief)
    return SlotMeasure(
        belief.name,
        len(claimed),
        len(truths) - len(claimed),
        float(right[first].mean()) if len(first) else 0.0,
        _f(belief, right, tested, belief.probability),
        _vote(belief, right, tested, votes, stated_first),
        _f(belief, right, tested, votes),
        best,
        source,
        float(np.mean(np.bincount(belief.object[right], minlength=len(tested))[tested] > 0)),
        calibration([statements]),
        statements,
        _intervals(belief, claimed),
        _levels_error(belief, claimed, nesting),
    )


def _intervals(belief: SlotBelief, claimed: Mapping[int, str]) -> tuple[float, float] | None:
    """Return the mean probability stated for intervals, and the share of truths inside them."""
    if belief.cells is None or not claimed:
        return None
    estimates = {n: one.estimate for n, one in enumerate(answers(belief)) if n in claimed}
    inside, stated = [], []
    for n, estimate in estimates.items():
        if estimate is None:
            continue
        texts = (estimate.low, claimed[n], estimate.high)
        spell = normalise_number if belief.parsed.kind == "number" else normalise_date
        low, truth, high = positions([spell(text) for text in texts], belief.parsed.kind).tolist()
        inside.append(low <= truth <= high)
        stated.append(estimate.probability)
    return float(np.mean(stated)), float(np.mean(inside))


def _levels_error(
    belief: SlotBelief, claimed: Mapping[int, str], nesting: Nesting | None
) -> float | None:
    """Return the reliability error of "this or something within it", over all levels."""
    levels = level_probabilities(belief)
    if levels is None or nesting is None or not claimed:
        return None
    values = belief.parsed.statements.values
    known = frozenset(values)
    paths = {n: deepest(truth, known, nesting) for n, truth in claimed.items()}
    stated, true = [], []
    for n, path in paths.items():
        within = {path, *nesting.above.get(path, ())}
        chosen = slice(levels.starts[n], levels.starts[n + 1])
        stated += levels.probability[chosen].tolist()
        true += [values[value] in within for value in levels.value[chosen].tolist()]
    return reliability_error(reliability(np.array(stated), np.array(true, dtype=np.bool_)))


def true_pairs(
    belief: SlotBelief,
    claimed: Mapping[int, str],
    nesting: Nesting | None,
    tolerance: float = 0.0,
) -> NDArray[np.bool_]:
    """Return which pairs of object and value are true."""
    fits = _truth_test(belief, nesting, tolerance)
    right = np.zeros(len(belief.object), dtype=np.bool_)
    for thing, truth in claimed.items():
        matches = fits(truth)
        for n in range(belief.starts[thing], belief.starts[thing + 1]):
            right[n] = matches(int(belief.value[n]))
    return right


def _truth_test(
    belief: SlotBelief, nesting: Nesting | None, tolerance: float
) -> Callable[[str], Callable[[int], bool]]:
    """Return a test whether a value is the truth as written."""
    parsed = belief.parsed
    if parsed.kind == "people":
        lexicon = belief.parameters.lexicon or NameLexicon.of(())
        return lambda truth: _name_test(parsed.members, truth, lexicon)
    if parsed.kind == "several":
        return lambda truth: _equality_test(parsed.members, split_members(truth))
    texts: dict[str, Callable[[str], str]] = {"number": normalise_number, "date": normalise_date}
    spelled = texts.get(parsed.kind)
    if spelled is None:
        values = frozenset(parsed.statements.values)
        return lambda truth: _equality_test(
            parsed.statements.values, deepest(truth, values, nesting)
        )
    scales = belief.parameters.scales
    if scales is not None and scales.margin and not tolerance:
        return lambda truth: _margin_test(parsed, spelled(truth), scales)
    return lambda truth: _closeness_test(parsed, spelled(truth), tolerance)


def _equality_test(values: Sequence[object], truth: object) -> Callable[[int], bool]:
    return lambda value: values[value] == truth


def _closeness_test(parsed: ParsedSlot, truth: str, tolerance: float) -> Callable[[int], bool]:
    values = parsed.statements.values
    [place] = positions([truth], parsed.kind).tolist()
    reach = tolerance * (abs(place) if parsed.kind == "number" else 1.0)

    def matches(value: int) -> bool:
        if values[value] == truth:
            return True
        [position] = positions([values[value]], parsed.kind).tolist()
        return tolerance > 0 and abs(position - place) <= reach * (1 + 1e-9)

    return matches


def _margin_test(parsed: ParsedSlot, truth: str, scales: ErrorScales) -> Callable[[int], bool]:
    """Return a test whether a value is within the learned margin of the truth."""
    [place] = scales.positions(positions([truth], parsed.kind)).tolist()

    def matches(value: int) -> bool:
        stated = positions([parsed.statements.values[value]], parsed.kind)
        [position] = scales.positions(stated).tolist()
        return bool(abs(position - place) <= scales.margin * (1 + 1e-9))

    return matches


def _name_test(
    sets: Sequence[frozenset[str]], text: str, lexicon: NameLexicon
) -> Callable[[int], bool]:
    return lambda value: same_people(sets[value], text, lexicon)


def _statements(
    belief: SlotBelief, right: NDArray[np.bool_], tested: NDArray[np.bool_]
) -> FusionStatements:
    """Return the probabilities stated of objects with truths, and the outcomes; also unknown."""
    pairs = tested[belief.object]
    stated, observed = belief.probability[pairs], right[pairs]
    if belief.parsed.kind != "closed":  # where every value is named, unknown is no statement
        nobody = np.bincount(belief.object[right], minlength=len(tested)) == 0
        stated = np.concatenate([stated, belief.unknown[tested]])
        observed = np.concatenate([observed, nobody[tested]])
    return FusionStatements(stated, observed, np.arange(len(stated)) < pairs.sum())


def _true_statements(belief: SlotBelief, right: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return, for every statement, whether it is true."""
    statements = belief.parsed.statements
    count = len(statements.values)
    true = belief.object[right] * count + belief.value[right]
    return np.isin(statements.object * count + statements.value, true)


def _best(
    belief: SlotBelief, said_right: NDArray[np.bool_], tested: NDArray[np.bool_]
) -> tuple[float, str]:
    statements = belief.parsed.statements
    hits = np.bincount(
        statements.source[said_right & tested[statements.object]], minlength=len(statements.sources)
    )
    best = int(np.argmax(hits))
    return float(hits[best] / max(tested.sum(), 1)), statements.sources[best]


def _votes(belief: SlotBelief) -> tuple[FloatArray, IntArray]:
    """Return the number of sources that state every pair, and when it was stated first."""
    statements = belief.parsed.statements
    count, never = len(statements.values), np.iinfo(np.int64).max
    said = statements.object * count + statements.value
    keys, inverse, times = np.unique(said, return_inverse=True, return_counts=True)
    when = np.full(len(keys), never)
    np.minimum.at(when, inverse, statements.first)
    pairs = belief.object * count + belief.value
    place = np.minimum(np.searchsorted(keys, pairs), len(keys) - 1)
    here = keys[place] == pairs
    return np.where(here, times[place], 0).astype(np.float64), np.where(here, when[place], never)


def _vote(
    belief: SlotBelief,
    right: NDArray[np.bool_],
    tested: NDArray[np.bool_],
    votes: FloatArray,
    first: IntArray,
) -> float:
    """Return the value that most sources state; of several, the one stated first."""
    order = np.lexsort((first, -votes, belief.object))
    chosen = order[belief.starts[:-1][tested]]
    return float(np.mean(right[chosen])) if tested.any() else 0.0


def _f(
    belief: SlotBelief, right: NDArray[np.bool_], tested: NDArray[np.bool_], weight: FloatArray
) -> float | None:
    """Return F of "same" where that is the question: 2·|both same| / (|same| + |said same|)."""
    values = belief.parsed.statements.values
    same = [n for n, value in enumerate(values) if value in SAME]
    if belief.parsed.kind != "closed" or len(values) != 2 or len(same) != 1:
        return None
    here = tested[belief.object]
    mine = here & (belief.value == same[0])
    rival = np.zeros(len(tested))
    np.maximum.at(rival, belief.object[here & ~mine], weight[here & ~mine])
    stated = mine & (weight > rival[belief.object])
    true = int((mine & right).sum())
    return float(2 * (stated & right).sum() / max(true + int(stated.sum()), 1))
