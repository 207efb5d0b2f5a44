"""Match records with a reference table, which has no duplicates: one of its records, or none.

Whom a new record matches is a choice among its candidates and "no match". Given the odds o_j of its
compared pairs, P(match j) = o_j / (1 + Σ o) and P(no match) = 1 / (1 + Σ o): the scores as
independent evidence, under the condition that at most one of them is right. With one candidate this
is its score. New records are free to share a reference record, so each is answered by itself, and
the answer is exact at any size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from partita.configurations.forest.model import STEEPEST
from partita.core import FloatArray, Id, IntArray, pair
from partita.core.tabular import Columns, SummarisedTables
from partita.linkage.answers import DRAWS
from partita.linkage.cluster_tables import (
    ExpectedValue,
    Merges,
    chosen_threshold,
    estimated,
    possible_recall,
)
from partita.linkage.labels import fit_level, read_labels
from partita.linkage.record_tables import SEPARATOR, RecordTable, Scored
from partita.linkage.sets import parse_assumption
from partita.options import LinkOptions, world_count


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceCandidates:
    """Compared pairs by new record, in order: `record` and `reference` are places in both tables.

    `probability` is that of the match; `starts` says where the candidates of each record begin.
    """

    record: IntArray
    reference: IntArray
    score: FloatArray
    probability: FloatArray
    starts: IntArray

    @property
    def no_match(self) -> FloatArray:
        """The probability of each new record that it matches none of its candidates."""
        matched = np.bincount(self.record, self.probability, len(self.starts) - 1)
        return np.clip(1.0 - matched, 0.0, 1.0)


def match_candidates(
    record: IntArray, reference: IntArray, score: FloatArray, theta: FloatArray, records: int
) -> ReferenceCandidates:
    """Return the candidates of each new record, the most probable first, given their log-odds.

    ∞ is a match for certain, −∞ is none.
    """
    order = np.lexsort((reference, -theta, record))
    record, reference = record[order], reference[order]
    score, theta = score[order], theta[order]
    highest = np.zeros(records)  # of the log-odds of each record and of "no match", which is 0
    np.maximum.at(highest, record, theta)
    sure = np.isinf(highest)
    with np.errstate(invalid="ignore"):
        odds = np.where(sure[record], theta == np.inf, np.exp(theta - highest[record]))
    total = np.where(sure, 0.0, np.exp(-highest)) + np.bincount(record, odds, records)
    starts = np.concatenate([[0], np.cumsum(np.bincount(record, minlength=records))])
    return ReferenceCandidates(record, reference, score, odds / total[record], starts)


@dataclass(frozen=True, slots=True)
class MatchSummary:
    """What is expected of the matches.

    `uncompared` counts new records that were compared with no reference record: what they match is
    unknown, and all expected figures are without them. `matches` is the number of new records that
    have a match among their candidates, `recall` the share of these that is reported.
    """

    records: int
    reference: int
    pairs: int
    uncompared: int
    reported: int
    threshold: float | None
    matches: ExpectedValue
    precision: ExpectedValue | None
    recall: ExpectedValue | None

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as a dict."""
        return asdict(self)


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceMatches(SummarisedTables):
    """New records and what they match in a reference table.

    The tables are `matches` (the default): the reference record of each new one, or none, with its
    probability and that of no match (both empty where nothing was compared); `candidates` with the
    probability of each; and with `worlds` independent draws.
    """

    summary: MatchSummary
    notes: tuple[str, ...]
    settings: Mapping[str, Any]
    _ids: Sequence[Id]
    _reference: Sequence[Id]
    _candidates: ReferenceCandidates
    _reported: IntArray
    _worlds: int | None
    _seed: int

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        tables = {"matches": self._matches, "candidates": self._candidate_columns}
        return tables if self._worlds is None else tables | {"worlds": self._world_columns}

    def _matches(self) -> Columns:
        found, at = self._candidates, self._reported
        no_match = found.no_match
        compared = np.diff(found.starts) > 0
        chance = np.where(at >= 0, _taken(found.probability, at), no_match)
        names = [None if n < 0 else self._reference[n] for n in _taken(found.reference, at, -1)]
        known = [
            (float(p), float(q)) if one else (None, None)
            for p, q, one in zip(chance.tolist(), no_match.tolist(), compared.tolist(), strict=True)
        ]
        return {
            "record": list(self._ids),
            "reference": names,
            "probability": [p for p, _ in known],
            "no_match": [q for _, q in known],
        }

    def _candidate_columns(self) -> Columns:
        found = self._candidates
        return {
            "record": [self._ids[n] for n in found.record.tolist()],
            "reference": [self._reference[n] for n in found.reference.tolist()],
            "score": found.score.tolist(),
            "probability": found.probability.tolist(),
        }

    def _world_columns(self) -> Columns:
        count = self._worlds or 0
        rng = np.random.default_rng(self._seed)
        drawn = np.concatenate([drawn_matches(self._candidates, rng) for _ in range(count)])
        places = _taken(self._candidates.reference, drawn, -1)
        return {
            "record": [*self._ids] * count,
            "world": np.repeat(np.arange(1, count + 1), len(self._ids)).tolist(),
            "reference": [None if n < 0 else self._reference[n] for n in places],
        }

    def __repr__(self) -> str:
        found = self.summary
        return f"ReferenceMatches({found.records:,} records, {found.reported:,} matched)"


def _taken(values: Any, at: IntArray, default: Any = 0) -> Any:
    """Return the values at some places; the default where there is none (below 0)."""
    if not len(values):
        return np.full(len(at), default)
    return np.where(at >= 0, values[np.maximum(at, 0)], default)


def drawn_matches(found: ReferenceCandidates, rng: np.random.Generator) -> IntArray:
    """Draw for each new record one of its candidates, by its row, or none (−1)."""
    records = len(found.starts) - 1
    sums = np.concatenate([[0.0], np.cumsum(found.probability)])
    wanted = sums[found.starts[:-1]] + rng.random(records)
    at = np.searchsorted(sums[1:], wanted, side="right")
    return np.where(at < found.starts[1:], at, -1)


def reported_matches(
    found: ReferenceCandidates, least: float | None, target: float | None
) -> tuple[IntArray, float | None]:
    """Return the row of the match of each new record (−1 for none), and the threshold if any.

    Without a threshold and without a target precision, the most probable answer is taken.
    """
    compared = np.diff(found.starts) > 0
    best = np.where(compared, found.starts[:-1], -1)
    p = _taken(found.probability, best)
    if target is not None:
        made = p[compared]
        least = chosen_threshold(Merges(made, np.ones(len(made)), 0), target, 0.0)
    kept = p >= (found.no_match if least is None else least)
    return np.where(kept & (p > 0.0), best, -1), least


def match_summary(
    found: ReferenceCandidates,
    reported: IntArray,
    reference: int,
    threshold: float | None,
    seed: int,
) -> MatchSummary:
    """Return the expected figures, with intervals over draws."""
    right = float(_taken(found.probability, reported)[reported >= 0].sum())
    made, matches = int((reported >= 0).sum()), float(found.probability.sum())
    rng = np.random.default_rng(seed)
    totals, hits = np.zeros(DRAWS), np.zeros(DRAWS)
    for d in range(DRAWS if len(found.record) else 0):
        drawn = drawn_matches(found, rng)
        totals[d] = (drawn >= 0).sum()
        hits[d] = ((drawn == reported) & (drawn >= 0)).sum()
    return MatchSummary(
        records=len(found.starts) - 1,
        reference=reference,
        pairs=len(found.record),
        uncompared=int((np.diff(found.starts) == 0).sum()),
        reported=made,
        threshold=threshold,
        matches=estimated(matches, totals),
        precision=_share(right, made, hits / max(made, 1)),
        recall=possible_recall(_share(right, matches, hits / np.maximum(totals, 1.0)), matches),
    )


def _share(part: float, whole: float, draws: FloatArray) -> ExpectedValue | None:
    """Return a share, which rounding does not raise above 1; that of nothing is unknown."""
    return estimated(min(part / whole, 1.0), draws) if whole > 0 else None


def matched(
    scored: Scored,
    table: RecordTable,
    options: LinkOptions,
    model: Mapping[str, Any],
    notes: Sequence[str] = (),
) -> ReferenceMatches:
    """Match all records of a table with those of its last source."""
    home = table.source_names[-1]
    inside = np.array([source == home for source in table.sources])
    place = np.where(inside, np.cumsum(inside), np.cumsum(~inside)) - 1
    across = inside[scored.left] != inside[scored.right]
    left, right = scored.left[across], scored.right[across]
    new, old = (np.where(inside[left] == side, left, right) for side in (False, True))
    score = scored.probability[across]
    theta = _evidence(new, old, scored.weight[across] * math.log(2.0), table, options)
    records = int((~inside).sum())
    found = match_candidates(place[new], place[old], score, theta, records)
    least, target = options.cautious, options.target_precision
    reported, threshold = reported_matches(found, least, target)
    summary = match_summary(found, reported, int(inside.sum()), threshold, options.seed)
    names = _own_names(table)
    return ReferenceMatches(
        summary, tuple(notes), model,
        [names[n] for n in np.flatnonzero(~inside).tolist()],
        [names[n] for n in np.flatnonzero(inside).tolist()],
        found, reported, world_count(options.worlds), options.seed,
    )  # fmt: skip


def _own_names(table: RecordTable) -> list[Id]:
    """Return the ids without the names of their sources, where one new table has them."""
    if len(table.source_names) > 2:
        return list(table.ids)
    starts = [f"{source}{SEPARATOR}" for source in table.sources]
    return [
        one.removeprefix(start) if isinstance(one, str) else one
        for one, start in zip(table.ids, starts, strict=True)
    ]


def _evidence(
    new: IntArray, old: IntArray, theta: FloatArray, table: RecordTable, options: LinkOptions
) -> FloatArray:
    """Return the log-odds of pairs, ∞ or −∞ where a label or an assumption decides.

    Labels also fit a scale and a bias of the scores, if there are enough of them.
    """
    known: dict[tuple[str, str], bool] = {}
    if options.labels is not None:
        known |= read_labels(options.labels).pairs
    names = [str(name) for name in _own_names(table)]
    for one in (parse_assumption(text, {*names}) for text in options.assume):
        known[pair(one.left, one.right)] = one.same
    ends = [pair(names[a], names[b]) for a, b in zip(new.tolist(), old.tolist(), strict=True)]
    judged = np.array([known.get(both, np.nan) for both in ends], dtype=np.float64)
    theta = np.clip(theta, -STEEPEST, STEEPEST)
    scale, bias = fit_level(theta, judged)
    moved = scale * theta + bias
    return np.where(np.isnan(judged), moved, np.where(judged > 0.5, np.inf, -np.inf))
