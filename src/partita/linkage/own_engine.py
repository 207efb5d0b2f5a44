"""Compare records without any extra: a model that is learned from the records alone.

After Fellegi and Sunter (1969): values of two records of one entity are alike in several levels,
and so are values of different entities by chance. The chances of the levels, the reliability of
every source in every column and the number of pairs that are one entity are estimated together by
expectation maximisation. Agreement in a rare value counts more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np

from partita.core import FloatArray, IntArray
from partita.errors import InputError
from partita.linkage.record_tables import OWN, Progress, RecordTable, Scored, Settings
from partita.linkage.value_levels import (
    AGREEING,
    LEVELS,
    RecordValue,
    blocking_keys,
    levels,
    record_value,
)
from partita.tables.table import Note

Key = TypeVar("Key", str, tuple[str, str])
Index = Mapping[Key, Sequence[int]]


def crowded_keys(index: Index[Key], most: int) -> frozenset[Key]:
    """Return the keys of more than `most` records."""
    return frozenset(key for key, records in index.items() if len(records) > most)


def candidate_pairs(
    stored: Index[Key], searched: Index[Key], ignored: Set[Key]
) -> list[tuple[int, int]]:
    """Return the pairs of which one record is stored under a key that the other searches."""
    pairs: set[tuple[int, int]] = set()
    for key, records in stored.items():
        if key not in ignored:
            for other in searched.get(key, ()):
                pairs.update((min(n, other), max(n, other)) for n in records if n != other)
    return sorted(pairs)


MAX_PER_KEY = 60  # records under one key; a key with more is ignored
ROUNDS = 60
TOLERANCE = 1e-4
SAMPLED_PAIRS = 20_000  # pairs that blocking leaves out, for the chances of levels
RELIABILITY_WEIGHT = 5.0  # of the reliability of all sources in a column, in claims
START_RELIABILITY = 0.85
MIN_RELIABILITY = 0.3  # of a learned one
START_RIGHT = np.array([0.6, 0.25, 0.15, 0.0, 0.0, 0.0])
START_WRONG = np.array([0.01, 0.01, 0.01, 0.3, 0.07, 0.6])
START_ODDS = 1.0  # matches of each record, to start with
SMOOTHING = 0.5
TEMPER = 0.65  # columns are not independent; chosen on seeds of benchmarks/noisy_tables.py
DISTINCT = 0.03  # repeated records, as a share of a source's, below which it repeats none
MIN_FREQUENCY = 0.2  # of the mean one: rarer values do not count more
IMPOSSIBLE = 1e-300  # probability of what sources of reliability 1 never state
# Weak links make no set larger. Five noisy tables, whose sources have no duplicates, have F .982
# with 12 records, for which a set with such constraints is exact, and .970 without a limit.
MAX_CONSTRAINED, MAX_FREE = 12, 50
STRONG = 0.5  # probability of a link that joins any two sets, where no constraints are learned
AGREE = np.isin(np.arange(LEVELS), AGREEING)

Ends = tuple[IntArray, IntArray]


@dataclass(frozen=True, slots=True, eq=False)
class RecordModel:
    """What was learned about the columns and the sources of a table.

    `right`, `wrong` and `chance` are P(level) by column: where both values are right, where one is
    wrong, and by chance. `rates` are reliabilities, `claims` the expected numbers of claims that
    were compared with those of other sources and `good` the right ones, all by source and column.
    `prior` is the log-odds of two records of different sources, `repeated` of two records of one
    source. The sources `distinct` describe each entity once; for them, `bias` makes up for the
    prior of a record that is alone, which the pairs do not know.
    """

    columns: tuple[str, ...]
    sources: tuple[str, ...]
    right: FloatArray
    wrong: FloatArray
    chance: FloatArray
    rates: FloatArray
    claims: FloatArray
    good: FloatArray
    prior: float
    repeated: float
    bias: float = 0.0
    distinct: tuple[str, ...] = ()

    def to_dict(self) -> Settings:
        """Return the model as JSON holds it."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        plain = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()}
        return {"engine": OWN, **plain}

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> RecordModel:
        """Return the model of `to_dict`."""
        values: dict[str, Any] = {}
        for field in fields(cls):
            if field.name not in settings:
                raise InputError(f"the settings of the engine {OWN} have no {field.name}")
            value = settings[field.name]
            if field.name in ARRAYS:
                value = np.array(value, dtype=np.float64)
            values[field.name] = tuple(value) if isinstance(value, list) else value
        return cls(**values)

    def reliability(self, source: str, column: str) -> float:
        """Return the reliability of a source in a column, or that of all sources there."""
        c = self.columns.index(column)
        if source in self.sources:
            return float(self.rates[self.sources.index(source), c])
        return float(self.rates[:, c].mean())

    def rates_of(self, records: CodedRecords) -> FloatArray:
        """Return the reliabilities of the sources of some records, by column."""
        names = [column.name for column in records.table.to_compare]
        rows = [[self.reliability(source, name) for name in names] for source in records.sources]
        return np.array(rows).reshape(len(records.sources), len(names))


ARRAYS = ("right", "wrong", "chance", "rates", "claims", "good")


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """How alike pairs are: level by pair and column (-1: missing), frequency of what they share."""

    levels: IntArray
    frequency: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class CodedRecords:
    """Records as numbers of values by column (-1: missing).

    `frequency` is the share of records with each value of a column, `mean` that of a value on
    which two records agree by chance.
    """

    table: RecordTable
    values: Sequence[Sequence[RecordValue]]
    cells: IntArray
    source: IntArray
    sources: tuple[str, ...]
    frequency: Sequence[FloatArray]
    mean: FloatArray

    @classmethod
    def of(cls, table: RecordTable) -> CodedRecords:
        cells = np.full((len(table), len(table.to_compare)), -1)
        values: list[list[RecordValue]] = []
        shares: list[FloatArray] = []
        for c, column in enumerate(table.to_compare):
            texts = table.columns[column.name]
            read = {n: record_value(text, column.kind) for n, text in enumerate(texts) if text}
            unique = {v: k for k, v in enumerate(dict.fromkeys(read.values()))}
            values.append(list(unique))
            cells[list(read), c] = [unique[v] for v in read.values()]
            counts = Counter(v.core for v in read.values())
            shares.append(np.array([counts[v.core] / len(read) for v in unique]))
        sources = tuple(sorted(table.source_names))
        number = {name: n for n, name in enumerate(sources)}
        source = np.array([number[name] for name in table.sources])
        mean = np.array([_mean(share) for share in shares])
        return cls(table, values, cells, source, sources, shares, mean)

    def alike(self, ends: Ends) -> Alike:
        """Compare the values of pairs of records."""
        left, right = ends
        found = np.full((len(left), len(self.values)), -1)
        share = np.ones((len(left), len(self.values)))
        for c, column in enumerate(self.table.to_compare):
            a, b = self.cells[left, c], self.cells[right, c]
            both = np.flatnonzero((a >= 0) & (b >= 0))
            if not len(both):
                continue
            size = len(self.values[c])
            low, high = np.minimum(a[both], b[both]), np.maximum(a[both], b[both])
            unique, place = np.unique(low * size + high, return_inverse=True)
            distinct = levels(column.kind, self.values[c], unique // size, unique % size)
            found[both, c] = distinct[place]
            share[both, c] = np.maximum(self.frequency[c][low], self.frequency[c][high])
        return Alike(found, share)

    def candidates(self) -> list[tuple[int, int]]:
        """Return the pairs of records that share a key which few records have."""
        index: dict[str, list[int]] = defaultdict(list)
        for c, column in enumerate(self.table.to_compare):
            keys = [
                [f"{column.name}:{key}" for key in dict.fromkeys(blocking_keys(value, column.kind))]
                for value in self.values[c]
            ]
            for n, cell in enumerate(self.cells[:, c].tolist()):
                for key in keys[cell] if cell >= 0 else ():
                    index[key].append(n)
        return candidate_pairs(index, index, crowded_keys(index, MAX_PER_KEY))


def _mean(frequency: FloatArray) -> float:
    """Return the mean frequency of the values of two records that agree by chance."""
    return float((frequency**2).sum() / max(frequency.sum(), 1e-12)) if len(frequency) else 1.0


@dataclass(slots=True)
class _Estimate:
    """The state of the estimation: arrays by column, and reliabilities by source and column."""

    right: FloatArray
    wrong: FloatArray
    chance: FloatArray
    rates: FloatArray
    prior: tuple[float, float]


def fit_records(
    records: CodedRecords,
    ends: Ends,
    fixed: Mapping[str, float],
) -> tuple[RecordModel, FloatArray]:
    """Learn the model from pairs of records, and the probability that each pair matches.

    Reliabilities of `fixed` sources stay.
    """
    alike = records.alike(ends)
    others = _sampled(records, ends)
    estimate = _start(records, fixed)
    same_source = records.source[ends[0]] == records.source[ends[1]]
    totals = _pair_counts(records.source)
    match = np.zeros(len(ends[0]))
    claims = good = np.zeros((len(records.sources), len(records.values)))
    for _ in range(ROUNDS):
        before = match
        estimate.chance = _chance(alike, match, others, sum(totals))
        ratios, both_right = _evidence(records, alike, estimate, ends)
        prior = np.where(same_source, estimate.prior[1], estimate.prior[0])
        match = _matches(ratios.sum(axis=1) + prior, records.source, ends)
        claims, good = _claims(records, alike, match, both_right, estimate, ends)
        _update(estimate, alike, match, both_right, claims, good, records, fixed)
        across, within = match[~same_source].sum(), match[same_source].sum()
        estimate.prior = _prior(across, totals[0]), _prior(within, totals[1])
        if np.max(np.abs(match - before), initial=0.0) < TOLERANCE:
            break
    model = RecordModel(
        tuple(column.name for column in records.table.to_compare),
        records.sources,
        *(estimate.right, estimate.wrong, estimate.chance, estimate.rates, claims, good),
        *estimate.prior,
    )
    return model, match


def _with_distinct(
    model: RecordModel, match: FloatArray, records: CodedRecords, ends: Ends, one_to_one: bool
) -> RecordModel:
    """Find the sources that describe each entity once, where there are several sources."""
    if len(records.sources) < 2:
        return model
    same = records.source[ends[0]] == records.source[ends[1]]
    repeats = np.bincount(records.source[ends[0][same]], match[same], len(records.sources))
    counts = np.bincount(records.source, minlength=len(records.sources))
    once = (repeats < DISTINCT * counts) | one_to_one
    bias = float(once[records.source].mean()) * _bias(match, ends, len(records.source))
    names = tuple(name for name, is_once in zip(records.sources, once, strict=True) if is_once)
    return replace(model, distinct=names, bias=bias)


def _bias(match: FloatArray, ends: Ends, records: int) -> float:
    """Return log-odds such that as many records are alone as the matches say.

    A record has d matches, with odds that add up to d; the forest model divides them by √d.
    """
    alone, degree = np.zeros(records), np.zeros(records)
    for end in ends:
        np.add.at(alone, end, np.log1p(-np.minimum(match, 1 - 1e-9)))
        np.add.at(degree, end, match)
    share = float(np.clip(np.exp(alone).mean(), 0.01, 0.99))
    return float(np.log((1 - share) / share) - 0.5 * np.log(max(degree.mean(), 0.1)))


def _matches(log_odds: FloatArray, source: IntArray, ends: Ends) -> FloatArray:
    """Return P(match) of pairs, of which a record has about one with each source."""
    odds = np.exp(np.clip(log_odds, -300, 300))
    sources = int(source.max(initial=0)) + 1
    rivals = odds
    for mine, other in (ends, ends[::-1]):
        key = mine * sources + source[other]
        rivals = np.maximum(rivals, np.bincount(key, odds)[key])
    return odds / (1.0 + rivals)


def _start(records: CodedRecords, fixed: Mapping[str, float]) -> _Estimate:
    shape = (len(records.values), LEVELS)
    rates = np.full((len(records.sources), shape[0]), START_RELIABILITY)
    for n, source in enumerate(records.sources):
        rates[n] = fixed.get(source, START_RELIABILITY)
    prior = _logit(min(START_ODDS / max(len(records.cells), 2), 0.5))
    return _Estimate(np.tile(START_RIGHT, (shape[0], 1)), np.tile(START_WRONG, (shape[0], 1)),
                     np.full(shape, 1.0 / LEVELS), rates, (prior, prior - 3.0))  # fmt: skip


def _prior(matches: float, pairs: float) -> float:
    """Return the log-odds of a match, never above even odds."""
    return _logit(min((float(matches) + SMOOTHING) / (pairs + 2 * SMOOTHING), 0.5))


def _logit(p: float) -> float:
    return float(np.log(p) - np.log1p(-p))


def _pair_counts(source: IntArray) -> tuple[float, float]:
    """Return the numbers of pairs of records of different sources, and of one source."""
    sizes = np.bincount(source).astype(float)
    within = float((sizes * (sizes - 1) / 2).sum())
    return len(source) * (len(source) - 1) / 2 - within, within


def _sampled(records: CodedRecords, ends: Ends) -> Alike:
    """Return how alike pairs are that blocking leaves out, for a fixed sample of them.

    The sample does not depend on the order of the tables.
    """
    count = len(records.cells)
    rng = np.random.default_rng(0)
    order = np.argsort(records.source, kind="stable")
    drawn = np.sort(order[rng.integers(count, size=(SAMPLED_PAIRS, 2))], axis=1)
    low, high = np.minimum(*ends), np.maximum(*ends)
    known = np.isin(drawn[:, 0] * count + drawn[:, 1], low * count + high)
    kept = drawn[(drawn[:, 0] != drawn[:, 1]) & ~known]
    return records.alike((kept[:, 0], kept[:, 1]))


def _chance(alike: Alike, match: FloatArray, others: Alike, total: float) -> FloatArray:
    """Return P(level) of two records of different entities, by column."""
    apart = 1.0 - match
    left_out = max(total - len(match), 0.0)
    weight = left_out / max(len(others.levels), 1)
    chance = np.zeros((alike.levels.shape[1], LEVELS))
    for c in range(len(chance)):
        seen = alike.levels[:, c] >= 0
        among = np.bincount(alike.levels[seen, c], apart[seen], minlength=LEVELS)
        rest = others.levels[others.levels[:, c] >= 0, c]
        counts = among + weight * np.bincount(rest, minlength=LEVELS) + SMOOTHING
        chance[c] = counts / counts.sum()
    return chance


def _evidence(
    records: CodedRecords, alike: Alike, estimate: _Estimate, ends: Ends
) -> tuple[FloatArray, FloatArray]:
    """Return log-likelihood ratios and P(both values are right), by pair and column."""
    ratio = np.zeros(alike.levels.shape)
    both = np.zeros(alike.levels.shape)
    first, second = (records.source[end] for end in ends)
    for c in range(alike.levels.shape[1]):
        seen = np.flatnonzero(alike.levels[:, c] >= 0)
        level = alike.levels[seen, c]
        rho = estimate.rates[first[seen], c] * estimate.rates[second[seen], c]
        mean = records.mean[c]
        rare = mean / np.maximum(alike.frequency[seen, c], MIN_FREQUENCY * mean)
        right = rho * estimate.right[c, level] * np.where(AGREE[level], rare, 1.0)
        wrong = (1.0 - rho) * estimate.wrong[c, level]
        either = np.maximum(right + wrong, IMPOSSIBLE)
        both[seen, c] = right / either
        ratio[seen, c] = np.log(either / estimate.chance[c, level])
    return ratio, both


def _claims(
    records: CodedRecords,
    alike: Alike,
    match: FloatArray,
    both: FloatArray,
    estimate: _Estimate,
    ends: Ends,
) -> tuple[FloatArray, FloatArray]:
    """Return expected claims of sources that were compared, and right ones, by column."""
    claims = np.zeros((len(records.sources), len(records.values)))
    good = np.zeros_like(claims)
    first, second = (records.source[end] for end in ends)
    for c in range(len(records.values)):
        seen = np.flatnonzero((alike.levels[:, c] >= 0) & (first != second))
        a, b = estimate.rates[first[seen], c], estimate.rates[second[seen], c]
        apart = np.maximum(1.0 - a * b, 1e-9)
        for source, mine, other in ((first, a, b), (second, b, a)):
            right = both[seen, c] + (1.0 - both[seen, c]) * mine * (1.0 - other) / apart
            claims[:, c] += np.bincount(source[seen], match[seen], minlength=len(claims))
            good[:, c] += np.bincount(source[seen], match[seen] * right, minlength=len(claims))
    return claims, good


def _update(
    estimate: _Estimate,
    alike: Alike,
    match: FloatArray,
    both: FloatArray,
    claims: FloatArray,
    good: FloatArray,
    records: CodedRecords,
    fixed: Mapping[str, float],
) -> None:
    """Set the chances of levels and the reliabilities to their expected values."""
    for c in range(alike.levels.shape[1]):
        seen = alike.levels[:, c] >= 0
        level, weight = alike.levels[seen, c], match[seen]
        right = np.bincount(level, weight * both[seen, c], minlength=LEVELS) + START_RIGHT
        wrong = np.bincount(level, weight * (1 - both[seen, c]), minlength=LEVELS) + START_WRONG
        estimate.right[c] = right / right.sum()
        estimate.wrong[c] = _wrong(wrong, estimate.chance[c])
    pooled = (good.sum(axis=0) + START_RELIABILITY) / (claims.sum(axis=0) + 1.0)
    rates = (good + RELIABILITY_WEIGHT * pooled) / (claims + RELIABILITY_WEIGHT)
    for n, source in enumerate(records.sources):
        rates[n] = fixed.get(source, np.maximum(rates[n], MIN_RELIABILITY))
    estimate.rates = np.clip(rates, 0.01, 0.999)


def _wrong(counts: FloatArray, chance: FloatArray) -> FloatArray:
    """Return P(level) where a value is wrong: agreement is chance, other levels are as counted."""
    rest = np.where(AGREE, 0.0, counts)
    return np.where(AGREE, chance, (1.0 - chance[AGREE].sum()) * rest / rest.sum())


class OwnEngine:
    """Compare the records of a table by a learned model."""

    def __init__(
        self, table: RecordTable, one_to_one: bool, reliabilities: Mapping[str, float]
    ) -> None:
        self.table, self.one_to_one, self.reliabilities = table, one_to_one, reliabilities
        self.records = CodedRecords.of(table)
        self.pairs = np.array(self.records.candidates(), dtype=np.int64).reshape(-1, 2)

    def fit(self, settings: Settings | None, progress: Progress, note: Note) -> Settings:
        """Return the model learned from the records, or the one of the settings."""
        if settings is not None:
            return settings
        ends = (self.pairs[:, 0], self.pairs[:, 1])
        progress(f"fitting the model to {len(self.pairs):,} pairs")
        model, match = fit_records(self.records, ends, self.reliabilities)
        return _with_distinct(model, match, self.records, ends, self.one_to_one).to_dict()

    def unmatched(self) -> FloatArray:
        """Return 1 for every record: nothing is known about pairs that were not compared."""
        return np.ones(len(self.table))

    def apart(self, model: Settings) -> Sequence[str] | None:
        """Return the source of each record of a source without duplicates, else a unique label."""
        distinct = {*model["distinct"]}
        if not distinct:
            return None
        return [source if source in distinct else f"{source}#{n}"
                for n, source in enumerate(self.table.sources)]  # fmt: skip

    def score(self, model: Settings, link_above: float) -> Scored:
        """Return the scores of pairs within sets: of all pairs of a set that is not too large."""
        learned = RecordModel.from_dict(model)
        distinct = np.isin(np.array(self.records.sources), list(learned.distinct))
        source = self.records.source
        left, right = self.pairs.T
        allowed = (source[left] != source[right]) | ~distinct[source[left]]
        pairs = self.pairs[allowed]
        odds = self._odds(learned, pairs)
        linked = pairs[odds > _logit(link_above)]
        strength = odds[odds > _logit(link_above)]
        most = (MAX_CONSTRAINED, np.inf) if learned.distinct else (MAX_FREE, _logit(STRONG))
        chosen = _within(_homes(linked, strength, *most), pairs)
        weight = self._odds(learned, chosen) / np.log(2.0)
        return Scored(chosen[:, 0], chosen[:, 1], weight, len(pairs))

    def weights(self, model: Settings, left: int, right: int) -> list[tuple[str, float]]:
        """Return the weights of two records, column by column; the first is the prior."""
        learned, ends = RecordModel.from_dict(model), (np.array([left]), np.array([right]))
        alike = self.records.alike(ends)
        ratios = _evidence(self.records, alike, _estimate_of(learned, self.records), ends)[0][0]
        same = self.table.sources[left] == self.table.sources[right]
        prior = (learned.repeated if same else learned.prior) + learned.bias
        named = [(column.name, float(TEMPER * ratio))
                 for column, ratio in zip(self.table.to_compare, ratios, strict=True)]  # fmt: skip
        return [("two random records", TEMPER * prior), *named]

    def _odds(self, model: RecordModel, pairs: IntArray) -> FloatArray:
        ends = (pairs[:, 0], pairs[:, 1])
        return _log_odds(self.records, self.records.alike(ends), model, ends)


def _estimate_of(model: RecordModel, records: CodedRecords) -> _Estimate:
    rates = model.rates_of(records)
    priors = (model.prior, model.repeated)
    return _Estimate(model.right, model.wrong, model.chance, rates, priors)


def _log_odds(records: CodedRecords, alike: Alike, model: RecordModel, ends: Ends) -> FloatArray:
    """Return the log-odds of pairs by a learned model."""
    odds = _evidence(records, alike, _estimate_of(model, records), ends)[0].sum(axis=1)
    same = records.source[ends[0]] == records.source[ends[1]]
    found: FloatArray = TEMPER * (odds + np.where(same, model.repeated, model.prior) + model.bias)
    return found


def _homes(pairs: IntArray, strength: FloatArray, most: int, strong: float) -> list[set[int]]:
    """Return sets joined by the strongest pairs first: `most` records, or more by `strong` ones."""
    home: dict[int, set[int]] = {}
    for n in np.lexsort((pairs[:, 1], pairs[:, 0], -strength)).tolist():
        left, right = (home.setdefault(end, {end}) for end in pairs[n].tolist())
        fits = len(left) + len(right) <= most or strength[n] > strong
        if left is not right and fits:
            left |= right
            home.update(dict.fromkeys(right, left))
    return list({id(one): one for one in home.values()}.values())


def _within(homes: Sequence[set[int]], pairs: IntArray) -> IntArray:
    """Return all pairs of small sets, and the candidate pairs within large ones."""
    whole = [two for home in homes if len(home) <= MAX_FREE
             for two in combinations(sorted(home), 2)]  # fmt: skip
    number = {n: k for k, home in enumerate(homes) if len(home) > MAX_FREE for n in home}
    large = [(a, b) for a, b in pairs.tolist() if a in number and number[a] == number.get(b)]
    return np.array(sorted([*whole, *large]), dtype=np.int64).reshape(-1, 2)
