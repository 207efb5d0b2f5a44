"""How many pairs of this input match: the level of the scores, from the input itself.

A pair model that was learned elsewhere ranks pairs well, but where its scores turn from different
to same differs between inputs. Estimates of several kinds are put together, and where they
disagree, the probabilities say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from partita.core import BoolArray, FloatArray, IntArray, linked_components
from partita.linkage.pair_features import PairEnds

ROUNDS = 200
LEAST_SPREAD = 0.05  # of the variance of all scores, that of a component of the mixture
# Two tables have no duplicates of their own if clearly more records have a match in the other table
# than seem to have one in their own. On the panel the first share is at least 2.5 times the second
# for tables without duplicates and at most 1.4 times for tables that were split at random.
MORE, BY = 1.5, 0.05
# Records without a match are in mutual best pairs so many times as often as in mutual second-best
# ones: 1.12 to 1.27 times in restaurants, imdb-tmdb and RLdata, about once in febrl.
BY_CHANCE = 1.15
# Of the pairs within groups that scores above the level connect, the least share that are above it
# themselves. It is .44 and more at good levels of all families but one (chicago, where names and
# phones are those of chains and it is .06 at first); a level that is too low joins everything.
CONSISTENT = 0.4
HIGHEST, STEP = 12.0, 0.125  # of the log-odds by which the level is raised


@dataclass(frozen=True, slots=True)
class MatchLevel:
    """The score at which a pair is as probably the same as not, with its standard error.

    `estimates` are the scores that each way of estimating gives, `matches` how many pairs are above
    each.
    """

    score: float
    error: float
    estimates: Mapping[str, float]
    matches: Mapping[str, int]

    @property
    def disagreement(self) -> float:
        """The standard deviation of the logarithms of the estimated numbers of matches."""
        return float(np.std(np.log1p(list(self.matches.values()))))


def reciprocity(
    source: IntArray, ends: PairEnds, score: FloatArray, records: BoolArray, more: float = 1.0
) -> float:
    """Return the share of records with a match, each with one at most, by mutual best pairs.

    Two records that match are each other's best, mostly. Two that do not are so by chance, and as
    often each other's second best after that, or `more` times as often.
    """
    first, left = _mutual(ends, score, np.ones(len(score), dtype=np.bool_), len(source))
    second, _ = _mutual(ends, score, left, len(source))
    one, two = float(first[records].mean()), float(second[records].mean())
    by_chance = min(more * two, 1.0)
    return float(np.clip((one - by_chance) / max(1.0 - by_chance, 1e-9), 0.0, 1.0))


def _mutual(
    ends: PairEnds, score: FloatArray, kept: BoolArray, count: int
) -> tuple[BoolArray, BoolArray]:
    """Return which records are in a mutual best pair, and the pairs that are nobody's best."""
    best = best_scores(PairEnds(ends.left[kept], ends.right[kept]), score[kept], count)
    of_left, of_right = (kept & (score >= best[end]) for end in ends)
    found = np.zeros(count, dtype=np.bool_)
    for end in ends:
        found[end[of_left & of_right]] = True
    return found, kept & ~of_left & ~of_right


def best_scores(ends: PairEnds, score: FloatArray, count: int) -> FloatArray:
    """Return the best score of every record, −∞ for one without pairs."""
    best = np.full(count, -np.inf)
    for end in ends:
        np.maximum.at(best, end, score)
    return best


def without_duplicates(source: IntArray, ends: PairEnds, score: FloatArray) -> bool:
    """Return whether several tables seem to have no duplicates within them."""
    if source.max(initial=0) == 0:
        return False
    within = source[ends.left] == source[ends.right]
    sizes = np.bincount(source)
    own, other = (PairEnds(ends.left[k], ends.right[k]) for k in (within, ~within))
    smallest = source == int(sizes.argmin())
    across = reciprocity(source, other, score[~within], smallest)
    inside = max(reciprocity(source, own, score[within], source == k) for k in range(len(sizes)))
    return across > MORE * inside + BY


def level_of_clean_tables(source: IntArray, ends: PairEnds, score: FloatArray) -> MatchLevel:
    """Return the level for tables without duplicates: by three estimates of the share of records of
    the smallest table that have a match, of which the middle one is taken."""
    smallest = source == int(np.bincount(source).argmin())
    count = int(smallest.sum())
    best, second = two_best(ends, score, len(source))
    known = smallest & np.isfinite(second)
    shares = {
        "mutual best pairs": reciprocity(source, ends, score, smallest, BY_CHANCE),
        "rivals": rival_share(best[known], second[known]),
        "mixture": mixture_of(best[smallest & np.isfinite(best)])[2],
    }
    top = best_scores(ends, score, len(source))
    mutual = np.sort(score[(score >= top[ends.left]) & (score >= top[ends.right])])[::-1]
    estimates = {name: score_at(mutual, share * count) for name, share in shares.items()}
    return _middle(estimates, mutual)


def level_of_one_table(ends: PairEnds, score: FloatArray, em: FloatArray, count: int) -> MatchLevel:
    """Return the level where records may have several matches: by the model's own level, by the
    number of matches of expectation maximisation, and by a mixture over best scores."""
    best = best_scores(ends, score, count)
    expected = float((1.0 / (1.0 + np.exp(-em))).sum())
    estimates = {
        "trees": 0.0,
        "expectation maximisation": score_at(np.sort(score)[::-1], expected),
        "mixture": mixture_of(best[np.isfinite(best)])[1],
    }
    return _middle(estimates, score)


def consistent_rise(ends: PairEnds, odds: FloatArray, count: int) -> float:
    """Return by how much log-odds must fall until the pairs above 0 connect groups that hang
    together: enough of all pairs within them are above 0 too."""
    for rise in np.arange(0.0, HIGHEST, STEP).tolist():
        above = odds > rise
        home = linked_components(count, ends.left[above], ends.right[above])
        sizes = np.bincount(home)
        if above.sum() >= CONSISTENT * float((sizes * (sizes - 1.0) / 2.0).sum()):
            return float(rise)
    return HIGHEST


def _middle(estimates: Mapping[str, float], score: FloatArray) -> MatchLevel:
    values = np.sort(list(estimates.values()))
    matches = {name: int((score > value).sum()) for name, value in estimates.items()}
    return MatchLevel(float(np.median(values)), float(np.std(values)), dict(estimates), matches)


def score_at(descending: FloatArray, expected: float) -> float:
    """Return the score above which there are as many as expected."""
    if not len(descending):
        return 0.0
    place = int(np.clip(round(expected), 1, len(descending)))
    after = descending[min(place, len(descending) - 1)]
    return float(descending[place - 1] + after) / 2.0


def two_best(ends: PairEnds, score: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the best and the second-best score of every record, −∞ where there is none."""
    record, value = np.concatenate(ends), np.tile(score, 2)
    order = np.lexsort((-value, record))
    record, value = record[order], value[order]
    place = np.arange(len(record)) - np.searchsorted(record, record)
    found = np.full((2, count), -np.inf)
    for n in (0, 1):
        found[n, record[place == n]] = value[place == n]
    return found[0], found[1]


def rival_share(best: FloatArray, second: FloatArray) -> float:
    """Return the share of records with a match, by their best and second-best scores.

    The second best of a record with a match is the best of those that do not match (G); without a
    match it is the second of them, which has the distribution G(1 − ln G) among many. Best scores
    of records without a match are distributed as G, and matches are above the median.
    """
    if not len(best):
        return 0.0
    middle = float(np.median(second))
    below, share = float((best <= middle).mean()), 0.5
    for _ in range(ROUNDS):
        low, high = 0.0, 1.0
        for _ in range(40):
            g = (low + high) / 2.0
            value = share * g + (1.0 - share) * g * (1.0 - np.log(max(g, 1e-300)))
            low, high = (g, high) if value < 0.5 else (low, g)
        share = 0.5 * share + 0.5 * float(np.clip(1.0 - below / max(low, 1e-9), 0.01, 0.99))
    return share


def mixture_of(best: FloatArray) -> tuple[float, float, float]:
    """Return a mixture of two normal distributions: distance of means, where both are as probable,
    and the share of the upper one."""
    if len(best) < 2 or best.var() == 0.0:
        return 0.0, float(best.max(initial=0.0)), 0.0
    mean, share = np.quantile(best, [0.25, 0.9]), np.array([0.7, 0.3])
    spread = np.full(2, best.var() / 2.0)
    for _ in range(ROUNDS):
        log = _mixture_terms(best, mean, spread, share)
        part = np.exp(log - np.logaddexp(log[:, :1], log[:, 1:]))
        total = part.sum(axis=0) + 1e-9
        mean = (part * best[:, None]).sum(axis=0) / total
        spread = (part * (best[:, None] - mean) ** 2).sum(axis=0) / total
        spread += LEAST_SPREAD * best.var()
        share = total / total.sum()
    grid = np.linspace(mean[0], mean[1], 200)
    log = _mixture_terms(grid, mean, spread, share)
    even = float(grid[np.abs(log[:, 1] - log[:, 0]).argmin()])
    return float(mean[1] - mean[0]), even, float(share[1])


def _mixture_terms(
    x: FloatArray, mean: FloatArray, spread: FloatArray, share: FloatArray
) -> FloatArray:
    found: FloatArray = (
        np.log(share) - 0.5 * np.log(spread) - (x[:, None] - mean) ** 2 / (2.0 * spread)
    )
    return found
