"""Few keys to parameters: what models over pairs learn, around the parameters that are there.

A share that was s becomes (s·10 + seen)/(10 + of), and scale and bias move from where they were.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita.configurations.greedy import GreedyParameters, greedy_labels
from partita.configurations.scaled import ScaledParameters
from partita.evaluation.cuts import Cut
from partita.learning.maxent import Codes, adapt, bits, contexts
from partita.learning.pair_parameters import PairParameters
from partita.learning.questions import Asked, every_pair, merging_questions
from partita.learning.scaled_conditional import learn_scale
from partita.pairs.characteristics import log_odds
from partita.pairs.columns import columns
from partita.pairs.models import MaximumEntropy, probability
from partita.records import FloatArray, IntArray

PRECISION = 5.0  # of the prior around what is there: with 1 to 40 keys of depots 3 to 10 were best
BEFORE = 10.0  # sets that a share which is there counts for
DIGITS = 6  # what is beyond them differs between machines, and tells nothing


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """A keyed set, observed once: the codes of its open pairs, as the pair model of every pair and
    as that of the merger's questions sees them, where these pairs stand and whether they corefer;
    which of them the merger asks on its way to the key; and a hash of all that."""

    cut: Cut
    pairs: Codes
    by_merger: Codes
    open: Asked
    asked: IntArray
    sha256: str

    @property
    def questions(self) -> tuple[Codes, NDArray[np.bool_]]:
        """The codes of what the merger asks, and the answers."""
        return self.by_merger[self.asked], self.open.yes[self.asked]


def lesson(cut: Cut, start: PairParameters) -> Lesson:
    """What there is to learn from one key, with the characteristics of the parameters."""
    templates = cut.document.templates
    known = columns(templates, schema=cut.schema, compatible=cut.compatible)
    found = every_pair(cut.labels, cut.compatible)
    pairs, by_merger = (
        model.codes(known, found.left, found.right) for model in (start.every_pair, start.questions)
    )
    place = {pair: n for n, pair in enumerate(zip(found.left, found.right, strict=True))}
    path = merging_questions(cut.labels, cut.compatible)
    asked = np.array([place[pair] for pair in zip(path.left, path.right, strict=True)], np.int64)
    told = (cut.document.name, pairs.tolist(), by_merger.tolist(), found.yes.tolist())
    digest = hashlib.sha256(repr(told).encode()).hexdigest()
    return Lesson(cut, pairs, by_merger, found, asked, digest)


def adapted(
    start: PairParameters,
    lessons: Sequence[Lesson],
    learned_from: str = "",
    precision: float = PRECISION,
) -> PairParameters:
    """The parameters that some keys give; those that are there if there are no keys."""
    if not lessons:
        return start
    digest = _digest(start, lessons)
    every = _weights(start.every_pair, [(one.pairs, one.open.yes) for one in lessons], precision)
    questions = _weights(start.questions, [one.questions for one in lessons], precision)
    cuts = [one.cut for one in lessons]
    return replace(
        start,
        every_pair=replace(every, learned_from=learned_from, sha256=digest),
        questions=replace(questions, learned_from=learned_from, sha256=digest),
        greedy=_greedy(start.greedy, cuts),
        scaled=_scaled(start.scaled, lessons, every),
        excluded=_excluded(start.excluded, cuts),
        learned_from=learned_from,
        sha256=digest,
        figures={
            "documents": len({cut.document.name for cut in cuts}),
            "templates": sum(len(cut.labels) for cut in cuts),
            "sets": sum(len(cut.sets) for cut in cuts),
        },
    )


def pair_probabilities(one: Lesson, model: MaximumEntropy, codes: Codes) -> FloatArray:
    """Of a lesson's templates, from the codes of its open pairs; 0 where two are incompatible."""
    p = probability(log_odds(codes, model.characteristics, model.weights))
    matrix = np.eye(len(one.cut.labels))
    matrix[one.open.left, one.open.right] = matrix[one.open.right, one.open.left] = p
    return matrix


def _weights(
    model: MaximumEntropy,
    seen: Sequence[tuple[Codes, NDArray[np.bool_]]],
    precision: float,
) -> MaximumEntropy:
    sizes = [len(one.values) for one in model.characteristics]
    codes, yes = (np.concatenate(side) for side in zip(*seen, strict=True))
    given = contexts(codes, yes, sizes)
    weights = adapt(given, model.weights, precision).round(DIGITS)
    spent = round(bits(given, weights), DIGITS)
    figures = {"pairs": len(yes), "bits_per_pair": spent, "precision": precision}
    return replace(model, weights=weights, figures=figures)


def _greedy(start: GreedyParameters, cuts: Sequence[Cut]) -> GreedyParameters:
    right = {2: [0.0, 0.0], 3: [0.0, 0.0], 4: [0.0, 0.0]}
    for cut in cuts:
        for members in cut.sets:
            inside = np.ix_(members, members)
            made = greedy_labels(cut.compatible[inside])
            tally = right[min(len(members), 4)]
            tally[0] += np.array_equal(made[:, None] == made[None, :], cut.joined[inside])
            tally[1] += 1
    shares = zip((start.p2, start.p3, start.p_more), right.values(), strict=True)
    return GreedyParameters(*(_share(before, *tally) for before, tally in shares))


def _scaled(
    start: ScaledParameters, lessons: Sequence[Lesson], model: MaximumEntropy
) -> ScaledParameters:
    """Learned on log-odds that are scaled as before, so that no news is (1, 0)."""
    sets = []
    for one in lessons:
        p = pair_probabilities(one, model, one.pairs)
        theta = np.where(
            (p > 0) & (p < 1), np.log(np.clip(p, 1e-12, 1)) - np.log1p(-p * (p < 1)), 0
        )
        again = np.where(p > 0, probability(start.scale * theta + start.bias), 0.0)
        np.fill_diagonal(again, 1.0)
        for members in one.cut.sets:
            sets.append((again[np.ix_(members, members)], one.cut.labels[members]))
    if not sets:
        return start
    found = learn_scale(sets)
    scale, bias = found.scale * start.scale, found.scale * start.bias + found.bias
    return ScaledParameters(round(scale, DIGITS), round(bias, DIGITS))


def _excluded(before: float, cuts: Sequence[Cut]) -> float:
    open_sets = [(cut, members) for cut in cuts for members in cut.sets if cut.open(members)]
    return _share(before, sum(cut.broken(members) for cut, members in open_sets), len(open_sets))


def _share(before: float, seen: float, of: float) -> float:
    return round((before * BEFORE + seen) / (BEFORE + of), DIGITS)


def _digest(start: PairParameters, lessons: Sequence[Lesson]) -> str:
    """Of what was there and of all keys, in their order."""
    parts = (start.sha256, *(one.sha256 for one in lessons))
    return hashlib.sha256("".join(parts).encode()).hexdigest()
