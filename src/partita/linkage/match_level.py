"""How many pairs of this input match: the level of the scores, from the input itself.

A pair model that was learned elsewhere ranks pairs well, but where its scores turn from different
to same differs between inputs. Estimates of several kinds are put together, and where they
disagree, the probabilities say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from partita.configurations.forest.model import logistic
from partita.core import BoolArray, FloatArray, IntArray, linked_components
from partita.linkage.pair_features import PairEnds

ROUNDS = 200
# Of the records with a match in another table, those with one in their own table, from which on it
# has duplicates if these are as sure: at most .45 in the panel's tables without, 1.02 and more in
# its tables with them that are split in two.
REPEATED = 0.5
AS_SURE = 0.3  # of the surest matches across tables, as sure ones within, at least
# Of the surest matches, those whose twin in the table matches the same record: at most .07 in the
# panel's tables without duplicates, .11 and more where an entity has several records in a table.
TWINS = 0.1
LEAST_SPREAD = 0.05  # of the variance of all scores, that of a component of the mixture
RIVALS = "rivals"
AGREED = 1.5  # rivals hold if both tables give the same number of matches, up to this factor
MOST = 0.5  # of the records have a match where rivals hold: their second best then tell of chance
# Of records without a match, pairs that are nobody's best are mutual in fewer cases: by 1.16 to 1.3
# in six pairs of tables of which no record matches.
FALL = 1.22
PAIRED = 0.3  # of the records: from .1 to .18 seem to have a match in tables in which none has
MUTUAL = "mutual best pairs"
HALF = 0.5  # of the records without a match: more mutual best pairs by chance tell little
SPACED = 5  # best scores of a record whose distances tell how scores differ by chance
SUREST_SHARE = 0.99  # of records with a match, at most
FEWEST = 30  # records from which on shares are estimated: of fewer, with an error above .1
FEW_ERROR = 1.0  # of the level of fewer records, in scores
# Of the pairs within groups that scores above the level connect, the least share that are above it
# themselves. It is .44 and more at good levels of all families but one (chicago, where names and
# phones are those of chains and it is .06 at first); a level that is too low joins everything.
CONSISTENT = 0.4
HIGHEST, STEP = 12.0, 0.125  # of the log-odds by which the level is raised


@dataclass(frozen=True, slots=True)
class MatchLevel:
    """The score at which a pair is as probably the same as not, with its standard error.

    `estimates` are the scores that each way of estimating gives, `matches` how many pairs are above
    each. `expected` is the number of matches of tables without duplicates, if it was estimated.
    """

    score: float
    error: float
    estimates: Mapping[str, float]
    matches: Mapping[str, int]
    expected: float | None = None

    @property
    def disagreement(self) -> float:
        """The standard deviation of the logarithms of the estimated numbers of matches."""
        return float(np.std(np.log1p(list(self.matches.values()))))


class Places(NamedTuple):
    """Pairs by the places of their records, of which each holds one match at most.

    A record has a place for every source. `smaller` are those of the smaller of two sources,
    `larger` those of the larger one.
    """

    ends: PairEnds
    smaller: BoolArray
    larger: BoolArray

    @classmethod
    def of(cls, source: IntArray, ends: PairEnds) -> Places:
        sources = int(source.max(initial=0)) + 1
        left, right = (end * sources + source[other] for end, other in (ends, ends[::-1]))
        rank = np.empty(sources, dtype=np.int64)
        rank[np.argsort(np.bincount(source, minlength=sources), kind="stable")] = np.arange(sources)
        own, other = rank[source][:, None], rank[None, :]
        return cls(PairEnds(left, right), (own < other).ravel(), (own > other).ravel())


def reciprocity(ends: PairEnds, score: FloatArray, records: BoolArray) -> float:
    """Return the share of records with a match, each with one at most, by mutual best pairs.

    Two records that match are each other's best, mostly. Two that do not are so by chance, and as
    often each other's second best after that.
    """
    first, second = _mutual_twice(ends, score, len(records))
    return _beyond_chance(first[records], second[records])


def _mutual_twice(ends: PairEnds, score: FloatArray, count: int) -> tuple[BoolArray, BoolArray]:
    """Return which records are in a mutual best pair, and which in one of what is nobody's best."""
    first, left = _mutual(ends, score, np.ones(len(score), dtype=np.bool_), count)
    return first, _mutual(ends, score, left, count)[0]


def _beyond_chance(found: BoolArray, chance: BoolArray) -> float:
    return _excess(float(found.mean()), float(chance.mean()))


def _excess(found: float, by_chance: float) -> float:
    """Return the share that is found for a reason, if others are found by chance."""
    return min(max((found - by_chance) / max(1.0 - by_chance, 1e-9), 0.0), 1.0)


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


def mutual_best(ends: PairEnds, score: FloatArray, count: int) -> BoolArray:
    """Return the pairs that are the best of both their records or places."""
    best = best_scores(ends, score, count)
    return np.asarray((score >= best[ends.left]) & (score >= best[ends.right]))


def with_duplicates(source: IntArray, ends: PairEnds, score: FloatArray) -> BoolArray:
    """Return for every table whether it seems to have duplicates.

    Either matches have twins: the mutual best record of the same table matches the same record.
    Or nearly as many records have a match within their table as in another, and as sure a one.
    """
    tables, count = int(source.max(initial=0)) + 1, len(source)
    within = source[ends.left] == source[ends.right]
    own, other = (PairEnds(ends.left[k], ends.right[k]) for k in (within, ~within))
    places, across = Places.of(source, other), score[~within]
    matched = mutual_best(places.ends, across, len(places.smaller))
    if not matched.any():
        return np.ones(tables, dtype=np.bool_)
    least, sure = np.quantile(across[matched], [0.25, 0.5])
    matched &= across >= sure
    paired = mutual_best(own, score[within], count)
    twins = np.full(count, -1)
    for one, two in (own, own[::-1]):
        twins[one[paired]] = two[paired]
    one = np.concatenate([end[matched] for end in other])
    two = np.concatenate([end[matched] for end in other[::-1]])
    pairs = PairEnds(np.minimum(twins[one], two), np.maximum(twins[one], two))
    best = best_scores(places.ends, across, count * tables)[twins[one] * tables + source[two]]
    shared = _scores_of(pairs, other, across, count) >= np.maximum(least, best)
    matches = np.maximum(np.bincount(source[one], minlength=tables), 1)
    surest = np.concatenate([end[paired & (score[within] >= sure)] for end in own])
    inside = [reciprocity(own, score[within], source == k) for k in range(tables)]
    often = np.array(inside) >= REPEATED * reciprocity(places.ends, across, places.smaller)
    surely = np.bincount(source[surest], minlength=tables) >= AS_SURE * matches
    return (np.bincount(source[one], (twins[one] >= 0) & shared, tables) >= TWINS * matches) | (
        often & surely
    )


def _scores_of(wanted: PairEnds, ends: PairEnds, score: FloatArray, count: int) -> FloatArray:
    """Return the scores of some pairs among others, −∞ where they are not."""
    keys, searched = ends.left * count + ends.right, wanted.left * count + wanted.right
    order = np.argsort(keys)
    at = order[np.minimum(np.searchsorted(keys[order], searched), len(keys) - 1)]
    return np.where(keys[at] == searched, score[at], -np.inf)


def level_of_clean_tables(source: IntArray, ends: PairEnds, score: FloatArray) -> MatchLevel:
    """Return the level for tables without duplicates.

    The matches of one table are those of the other. So every way of estimating their number is
    applied to both, and the lower number holds: the other has an excess that matches do not
    explain. Rivals tell most, but only where most records match and both tables agree, and then by
    the mean of both; else mutual best pairs do, where less than half of the records would have one
    by chance; else the middle way is taken.
    """
    places = Places.of(source, ends)
    mutual = np.sort(score[mutual_best(places.ends, score, len(places.smaller))])[::-1]
    count = int(places.smaller.sum())
    if count < FEWEST:
        estimates = {"trees": 0.0}
        return MatchLevel(0.0, FEW_ERROR, estimates, {"trees": int((mutual > 0.0).sum())})
    found = [_matches_of(places.ends, score, side) for side in (places.smaller, places.larger)]
    rivals = [one.pop(RIVALS) for one in found]
    number, by_chance = matched_records(places, score)
    numbers = {MUTUAL: number} | {name: min(one[name] for one in found) for name in found[0]}
    expected = number if by_chance < HALF else float(np.median(list(numbers.values())))
    if max(rivals) <= AGREED * min(rivals) and sum(rivals) >= 2.0 * MOST * count:
        expected = numbers[RIVALS] = sum(rivals) / 2.0
    estimates = {name: score_at(mutual, matches) for name, matches in numbers.items()}
    middle = _middle(estimates, mutual)
    return replace(middle, score=score_at(mutual, expected), expected=expected)


def matched_records(places: Places, score: FloatArray) -> tuple[float, float]:
    """Return the number of matches of two tables without duplicates, by mutual best pairs, and the
    share of the records without a match that are in such a pair by chance.

    Pairs that are nobody's best tell how often two records that do not match are each other's best.
    They are so more often where few records match, and less often as the records of the larger
    table have matches of their own. This counts too few where hardly any record matches; there the
    plain shares of both tables hold.
    """
    first, second = _mutual_twice(places.ends, score, len(places.smaller))
    sides = (places.smaller, places.larger)
    count, larger = (int(side.sum()) for side in sides)
    one, two = (float(found[places.smaller].mean()) for found in (first, second))
    share = by_chance = 0.5
    for _ in range(ROUNDS):
        by_chance = two * (FALL - (FALL - 1.0) * share) * (1.0 - share * count / larger)
        share = 0.5 * (share + _excess(one, by_chance))
    plain = min(side.sum() * _beyond_chance(first[side], second[side]) for side in sides)
    weight = min(2.0 * share, 1.0)
    number = min(weight * share * count + (1.0 - weight) * plain, SUREST_SHARE * count)
    return float(number), by_chance


def _matches_of(ends: PairEnds, score: FloatArray, side: BoolArray) -> dict[str, float]:
    """Return the number of matches of the records on one side, by their best scores."""
    best = best_few(ends, score, len(side))[side]
    some, several, many = (np.isfinite(best[:, k]) for k in (0, 1, SPACED - 1))
    shares = {
        "mixture": mixture_of(best[some, 0])[2],
        "gaps": gap_share(best[many]),
        RIVALS: rival_share(best[several, 0], best[several, 1]),
    }
    return {name: min(share, SUREST_SHARE) * len(best) for name, share in shares.items()}


def level_of_one_table(ends: PairEnds, score: FloatArray, em: FloatArray, count: int) -> MatchLevel:
    """Return the level where records may have several matches: by the model's own level, by the
    number of matches of expectation maximisation, and by a mixture over best scores.

    Mutual best pairs and gaps count records with one match only, so that no fewer have one.
    """
    if count < FEWEST:
        return MatchLevel(0.0, FEW_ERROR, {"trees": 0.0}, {"trees": int((score > 0.0).sum())})
    best = best_scores(ends, score, count)
    expected = float(logistic(em).sum())
    estimates = {
        "trees": 0.0,
        "expectation maximisation": score_at(np.sort(score)[::-1], expected),
        "mixture": mixture_of(best[np.isfinite(best)])[1],
    }
    middle = _middle(estimates, score)
    few = best_few(ends, score, count)
    gaps = gap_share(few[np.isfinite(few[:, -1])])
    least = min(reciprocity(ends, score, np.ones(count, dtype=np.bool_)), gaps)
    if least < PAIRED:
        return middle
    return replace(middle, score=min(middle.score, score_at(np.sort(best)[::-1], least * count)))


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


def best_few(ends: PairEnds, score: FloatArray, count: int, few: int = SPACED) -> FloatArray:
    """Return the best scores of every record in falling order, −∞ where there are not so many."""
    record, value = np.concatenate(ends), np.tile(score, 2)
    order = np.lexsort((-value, record))
    record, value = record[order], value[order]
    place = np.arange(len(record)) - np.searchsorted(record, record)
    found = np.full((count, few), -np.inf)
    here = place < few
    found[record[here], place[here]] = value[here]
    return found


def gap_share(best: FloatArray) -> float:
    """Return the share of records with a match, by the distance of their two best scores.

    Where the tail of scores by chance falls exponentially, k times the distance of the k-th best
    from the next has the same exponential distribution for every k (Rényi 1953); a match moves the
    others one place on. The distances of the third and fourth give its mean, and as many records
    without a match have a first distance below its median as above.
    """
    if not len(best):
        return 0.0
    third, fourth = (float(np.median(k * (best[:, k - 1] - best[:, k]))) for k in (3, 4))
    first, share = best[:, 0] - best[:, 1], 0.5
    for _ in range(ROUNDS):
        middle = (third / (1.0 + share / 2.0) + fourth / (1.0 + share / 3.0)) / 2.0
        share = 1.0 - min(2.0 * float((first < middle).mean()), 1.0)
    return share


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
