"""The figures of saved results on documents with keys, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from partita.configurations.count import log2_bell
from partita.core import FloatArray, IntArray, restricted_growth, restricted_growth_rows
from partita.core.cells import cell_shares
from partita.evaluation.calibration import (
    NOTHING,
    Interval,
    ReliabilityBin,
    StatedProbabilities,
    bootstrap,
    brier,
    pair_reliability_error,
    reliability,
    reliability_error,
    undecided,
)
from partita.evaluation.scores import CoreferenceScores, scores
from partita.evaluation.splits import Excluded, document_bits, excluded_bits, log2_rest


@dataclass(frozen=True, slots=True)
class SetMeasure:
    """One coreference set: bits of its key, by the distribution and by the report of its best.

    Also the probabilities that the report states, and the key's place in it, -1 for none; and what
    it states of pairs and of cells.
    """

    size: int
    bits: float
    reported_bits: float
    stated: tuple[float, ...]
    found: int
    pairs: StatedProbabilities = NOTHING
    cells: StatedProbabilities = NOTHING

    @property
    def configurations(self) -> StatedProbabilities:
        """What the report states of configurations."""
        return StatedProbabilities.of(
            (p, place == self.found) for place, p in enumerate(self.stated)
        )

    @property
    def right(self) -> bool:
        """Whether the key is more probable than any other configuration; a tie is not right."""
        return self.found == 0 and (len(self.stated) < 2 or self.stated[1] < self.stated[0] - TIE)


TIE = 1e-12  # between probabilities that rounding alone tells apart


@dataclass(frozen=True, slots=True, eq=False)
class DocumentMeasure:
    """One document."""

    name: str
    mentions: int
    bits: float
    sets: tuple[SetMeasure, ...]
    stated: FloatArray
    observed: NDArray[np.bool_]
    scores: CoreferenceScores
    genre: str = ""


MIN_REMAINDER = 1e-9  # of a remainder that rounding may have taken away


@dataclass(frozen=True, slots=True, eq=False)
class ReportedAnswer:
    """The reported answer of one coreference set; members are positions among the templates.

    `rows` are the listed configurations, most probable first, and `rest` the mass and the number
    (log₂) of all others; `possible` and `needed` say which two may, and which must, corefer. Where
    the product form is known, `theta` and its normaliser give the probability of any configuration.
    `cells` are the reported probabilities of cells, by positions among the members; without them
    they follow from the listed configurations.
    """

    members: IntArray
    rows: IntArray
    probabilities: FloatArray
    rest: float
    log2_rest: float
    marginals: FloatArray
    possible: NDArray[np.bool_]
    needed: NDArray[np.bool_]
    theta: FloatArray | None = None
    log_normaliser: float = 0.0
    cells: Mapping[tuple[int, ...], float] | None = None

    @property
    def knows(self) -> bool:
        """Whether anything is excluded."""
        return bool(self.needed.any() or not self.possible.all())

    def among(self, kept: IntArray, places: IntArray) -> ReportedAnswer:
        """Return the answer for some members only, which have other places.

        Listed configurations that do not differ in these are merged.
        """
        if len(kept) == len(self.members):
            return replace(self, members=places)
        rows = restricted_growth_rows(self.rows[:, kept])
        distinct, which = np.unique(rows, axis=0, return_inverse=True)
        mass = np.zeros(len(distinct))
        np.add.at(mass, which.ravel(), self.probabilities)
        order, inside = np.argsort(-mass, kind="stable"), np.ix_(kept, kept)
        return replace(
            self,
            members=places,
            rows=distinct[order],
            probabilities=mass[order],
            log2_rest=log2_rest(log2_bell(len(kept)), math.log2(len(distinct))),
            marginals=self.marginals[inside],
            possible=self.possible[inside],
            needed=self.needed[inside],
            theta=None,
            cells=None,
        )


def measure_report(
    name: str,
    labels: IntArray,
    answers: Sequence[ReportedAnswer],
    excluded: Excluded,
    genre: str = "",
) -> DocumentMeasure:
    """Measure one message: `labels` are the key's cells of its templates in text order."""
    sets = tuple(_set_measure(answer, labels, excluded.sets) for answer in answers)
    sizes = [len(one.members) for one in answers]
    home = np.arange(len(labels)) + len(answers)
    for k, one in enumerate(answers):
        home[one.members] = k
    across = (labels[:, None] == labels[None, :]) & (home[:, None] != home[None, :])
    spent = math.fsum(one.bits for one in sets)
    n = len(labels)
    stated, above = np.zeros((n, n)), np.triu_indices(n, 1)
    for answer in answers:  # pairs that are in no common answer have probability 0
        stated[np.ix_(answer.members, answer.members)] = answer.marginals
    return DocumentMeasure(
        name,
        n,
        document_bits(n, sizes, spent, bool(across.any()), excluded.documents),
        sets,
        np.clip(stated[above], 0.0, 1.0),
        (labels[:, None] == labels[None, :])[above],
        scores(labels, _assembled(n, [(answer.members, answer.rows[0]) for answer in answers])),
        genre,
    )


def _set_measure(answer: ReportedAnswer, labels: IntArray, excluded: float) -> SetMeasure:
    key = restricted_growth(labels[answer.members].tolist())
    listed = np.flatnonzero((answer.rows == key).all(axis=1))
    place = int(listed[0]) if len(listed) else -1
    joined = key[:, None] == key[None, :]
    mass = excluded if answer.knows else 0.0
    if (joined & ~answer.possible).any() or (answer.needed & ~joined).any():
        log2_allowed = float(np.logaddexp2(answer.log2_rest, math.log2(len(answer.rows))))
        spent = reported = excluded_bits(len(key), log2_allowed, mass)
    else:
        reported = _reported_bits(answer, place) - math.log2(1 - mass)
        bits = _product_bits(answer, joined)
        spent = reported if bits is None else bits - math.log2(1 - mass)
    return SetMeasure(
        len(key),
        spent,
        reported,
        tuple(answer.probabilities.tolist()),
        place,
        _pair_statements(answer, joined),
        _cell_statements(answer, key),
    )


def _pair_statements(answer: ReportedAnswer, joined: NDArray[np.bool_]) -> StatedProbabilities:
    above = np.triu_indices(len(joined), 1)
    return StatedProbabilities(
        np.clip(answer.marginals[above], 0.0, 1.0), joined[above]
    ).undecided()


def _cell_statements(answer: ReportedAnswer, key: IntArray) -> StatedProbabilities:
    """Return what is stated of cells between .05 and .95."""
    cells = answer.cells
    if cells is None:
        cells = cell_shares(answer.rows, answer.probabilities / answer.probabilities.sum())
    right = cell_shares(key[None, :], np.ones(1))
    return StatedProbabilities.of(
        (share, cell in right) for cell, share in cells.items()
    ).undecided()


def _reported_bits(answer: ReportedAnswer, place: int) -> float:
    if place >= 0:
        return max(0.0, -math.log2(max(float(answer.probabilities[place]), 1e-300)))
    rest = max(answer.rest, MIN_REMAINDER)
    return max(0.0, answer.log2_rest) - math.log2(rest)


def _product_bits(answer: ReportedAnswer, joined: NDArray[np.bool_]) -> float | None:
    """Return bits by the product form: (log Z − Σ θ of the pairs together) / log 2."""
    if answer.theta is None:
        return None
    weight = float(answer.theta[np.triu(joined, 1)].sum())
    return max(0.0, (answer.log_normaliser - weight) / math.log(2))


def possible_links(labels: IntArray, answers: Sequence[ReportedAnswer]) -> tuple[int, int]:
    """Count true links, and those among them that the answers leave possible."""
    possible = np.zeros((len(labels), len(labels)), dtype=np.bool_)
    for answer in answers:
        possible[np.ix_(answer.members, answer.members)] = answer.possible
    true = np.triu(labels[:, None] == labels[None, :], 1)
    return int(true.sum()), int((true & possible).sum())


def _assembled(n: int, rows: Sequence[tuple[IntArray, IntArray]]) -> IntArray:
    """Return a configuration of all n templates from those of its sets; the others are alone."""
    configuration = np.arange(n)
    for members, labels in rows:
        configuration[members] = members[np.argmax(labels[:, None] == labels[None, :], axis=1)]
    return configuration


SIZES = ((2, 2), (3, 3), (4, 9), (10, 29), (30, 99), (100, None))


@dataclass(frozen=True, slots=True)
class SizeRow:
    """The sets of one class of sizes."""

    size: str
    sets: int
    bits_per_set: float
    bits_per_template: float
    right: int


@dataclass(frozen=True, slots=True)
class CalibrationRow:
    """How well one kind of statement holds: over all, or in one class of sizes or one genre.

    `of` is pair, cell or configuration; `stated` and `observed` are means, and `error` is the
    reliability error with an interval over documents.
    """

    of: str
    by: str
    group: str
    statements: int
    stated: float
    observed: float
    error: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model: figures over all documents, and `intervals` over documents for some of them."""

    model: str
    documents: int
    mentions: int
    sets: int
    bits_per_set: float
    bits_per_template: float
    right: int
    reported_bits_per_set: float
    bits_per_mention: float
    coverage: float
    brier: float
    pair_reliability_error: float
    pair_reliability: tuple[ReliabilityBin, ...]
    cell_reliability_error: float
    cell_reliability: tuple[ReliabilityBin, ...]
    configuration_reliability_error: float
    configuration_reliability: tuple[ReliabilityBin, ...]
    first_reliability_error: float
    muc: float
    b_cubed: float
    ceaf: float
    conll: float
    lea: float
    sizes: tuple[SizeRow, ...]
    calibration: tuple[CalibrationRow, ...]
    intervals: dict[str, Interval]


def row(
    model: str,
    measures: Sequence[DocumentMeasure],
    coverage: float,
    *,
    seed: int = 0,
    grouped: bool = False,
) -> ModelRow:
    """Return the row of one model; `grouped` adds the calibration by size and genre."""
    sets = [set_measure for measure in measures for set_measure in measure.sets]
    stated = np.concatenate([np.zeros(0), *(m.stated for m in measures)])
    observed = np.concatenate([np.zeros(0, dtype=np.bool_), *(m.observed for m in measures)])
    scores = sum((m.scores for m in measures), CoreferenceScores())
    cells = StatedProbabilities.joined(s.cells for s in sets)
    return ModelRow(
        model=model,
        documents=len(measures),
        mentions=sum(m.mentions for m in measures),
        sets=len(sets),
        bits_per_set=mean([s.bits for s in sets]),
        bits_per_template=_ratio([s.bits for s in sets], [s.size for s in sets]),
        right=sum(s.right for s in sets),
        reported_bits_per_set=mean([s.reported_bits for s in sets]),
        bits_per_mention=bits_per_mention(measures),
        coverage=coverage,
        brier=brier(stated, observed),
        pair_reliability_error=pair_reliability_error(stated, observed),
        pair_reliability=reliability(*undecided(stated, observed)),
        cell_reliability_error=reliability_error(cells.bins()),
        cell_reliability=cells.bins(),
        configuration_reliability_error=reliability_error(_configurations(sets)),
        configuration_reliability=_configurations(sets),
        first_reliability_error=reliability_error(_configurations(sets, 1)),
        muc=scores.muc.f,
        b_cubed=scores.b_cubed.f,
        ceaf=scores.ceaf.f,
        conll=scores.conll,
        lea=scores.lea.f,
        sizes=by_size(sets),
        calibration=tuple(_calibration(measures, seed)) if grouped else (),
        intervals=_intervals(measures, seed),
    )


def bits_per_mention(measures: Sequence[DocumentMeasure]) -> float:
    return _ratio([m.bits for m in measures], [m.mentions for m in measures])


def _bits_per_set(measures: Sequence[DocumentMeasure]) -> float:
    return mean([set_measure.bits for measure in measures for set_measure in measure.sets])


def share_right(measures: Sequence[DocumentMeasure]) -> float:
    return mean([float(set_measure.right) for measure in measures for set_measure in measure.sets])


def conll(measures: Sequence[DocumentMeasure]) -> float:
    return sum((m.scores for m in measures), CoreferenceScores()).conll


FIGURES: tuple[tuple[str, Callable[[Sequence[DocumentMeasure]], float]], ...] = (
    ("bits_per_mention", bits_per_mention),
    ("bits_per_set", _bits_per_set),
    ("share_right", share_right),
    ("conll", conll),
)


def _intervals(measures: Sequence[DocumentMeasure], seed: int) -> dict[str, Interval]:
    """Return bootstrap intervals; the same documents are drawn for every model."""
    intervals = {
        name: bootstrap(measures, figure, np.random.default_rng(seed)) for name, figure in FIGURES
    }
    open_pairs = [StatedProbabilities(m.stated, m.observed).undecided() for m in measures]
    rng = np.random.default_rng(seed)
    intervals["pair_reliability_error"] = bootstrap(open_pairs, _error, rng)
    return intervals


KINDS: dict[str, Callable[[SetMeasure], StatedProbabilities]] = {
    "pair": lambda one: one.pairs,
    "cell": lambda one: one.cells,
    "configuration": lambda one: one.configurations,
}
SAMPLES = 300  # of documents, for the interval of a group


def _calibration(measures: Sequence[DocumentMeasure], seed: int) -> Iterator[CalibrationRow]:
    """Yield the calibration of every kind of statement: of all, by size, by genre."""
    genres = sorted({m.genre for m in measures if m.genre})
    groups: list[tuple[str, str, Callable[[DocumentMeasure, SetMeasure], bool]]]
    groups = [("all", "", lambda m, s: True)]
    groups += [("size", _size_name(*ends), partial(_of_size, ends)) for ends in SIZES]
    groups += [("genre", genre, partial(_of_genre, genre)) for genre in genres]
    for of, statements in KINDS.items():
        for by, group, chosen in groups:
            documents = [
                StatedProbabilities.joined(statements(s) for s in m.sets if chosen(m, s))
                for m in measures
            ]
            if sum(map(len, documents)):
                yield _calibration_row((of, by, group), documents, seed)


def _of_size(ends: tuple[int, int | None], _: DocumentMeasure, one: SetMeasure) -> bool:
    return ends[0] <= one.size and (ends[1] is None or one.size <= ends[1])


def _of_genre(genre: str, document: DocumentMeasure, _: SetMeasure) -> bool:
    return document.genre == genre


def _calibration_row(
    names: tuple[str, str, str], documents: Sequence[StatedProbabilities], seed: int
) -> CalibrationRow:
    kept = [one for one in documents if len(one)]
    everything, interval = StatedProbabilities.joined(kept), None
    if len(kept) > 1:
        interval = bootstrap(kept, _error, np.random.default_rng(seed), times=SAMPLES)
    means = float(everything.stated.mean()), float(everything.observed.mean())
    return CalibrationRow(*names, len(everything), *means, _error(kept), interval)


def _error(documents: Sequence[StatedProbabilities]) -> float:
    return reliability_error(StatedProbabilities.joined(documents).bins())


def _size_name(low: int, high: int | None) -> str:
    return f"{low}+" if high is None else str(low) if low == high else f"{low}-{high}"


def by_size(sets: Sequence[SetMeasure]) -> tuple[SizeRow, ...]:
    """Group sets of two, of three, and of ever wider classes; empty classes are left out."""
    rows = []
    for low, high in SIZES:
        chosen = [s for s in sets if low <= s.size and (high is None or s.size <= high)]
        if chosen:
            name = _size_name(low, high)
            spent, sizes = [s.bits for s in chosen], [s.size for s in chosen]
            right = sum(s.right for s in chosen)
            rows.append(SizeRow(name, len(chosen), mean(spent), _ratio(spent, sizes), right))
    return tuple(rows)


def _configurations(
    sets: Sequence[SetMeasure], most: int | None = None
) -> tuple[ReliabilityBin, ...]:
    """Return the reliability of reported configurations: of all, or of the first of each set."""
    listed = (enumerate(s.stated[:most]) for s in sets)
    rows = ((p, n == s.found) for s, some in zip(sets, listed, strict=True) for n, p in some)
    return StatedProbabilities.of(rows).bins()


def mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else 0.0


def _ratio(above: Sequence[float], below: Sequence[float]) -> float:
    total = float(np.sum(below))
    return float(np.sum(above)) / total if total else 0.0


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    rule = ["---"] * len(header)
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rule, *lines))
