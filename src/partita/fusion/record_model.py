"""Compare records of several tables: a model that is learned from the records alone.

After Fellegi and Sunter (1969): values of two records of one thing are alike in several levels, and
so are values of different things by chance. The chances of the levels, the reliability of every
source in every column and the number of pairs that are one thing are estimated together by
expectation maximisation. Agreement in a rare value counts more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from partita.core import FloatArray, IntArray
from partita.fusion.accounts import Account
from partita.fusion.blocking import cannot_match
from partita.fusion.record_values import (
    AGREEING,
    LEVELS,
    ColumnKind,
    RecordValue,
    blocking_keys,
    column_kind,
    frequencies,
    levels,
    record_value,
)
from partita.templates.name import Name
from partita.templates.schema import Schema

Two = tuple[str, str]
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
AGREE = np.isin(np.arange(LEVELS), AGREEING)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnModel:
    """The type of a column and P(level): where both values are right, one is wrong, or by chance.

    `frequency` is the share of records with each value (`least` for a new one), `mean` that of a
    value on which two records agree by chance.
    """

    kind: ColumnKind
    right: FloatArray
    wrong: FloatArray
    chance: FloatArray
    frequency: Mapping[str, float]
    mean: float
    least: float


@dataclass(frozen=True, slots=True, eq=False)
class RecordModel:
    """What was learned: the columns, reliabilities by source and column, and prior log-odds.

    `prior` is that of two records of different sources, `repeated` of two records of one source.
    `distinct` are the sources that describe each thing once. For them, `bias` makes up for the
    prior of a record that is alone, which the pairs do not know. `claims` are those of each source
    in each column that were compared with others, and how many are right; `filled` is how many
    there are. `common` are the blocking keys that too many records have.
    """

    columns: Mapping[str, ColumnModel]
    reliabilities: Mapping[tuple[str, str], float]
    pooled: Mapping[str, float]
    prior: float
    repeated: float
    bias: float = 0.0
    distinct: frozenset[str] = frozenset()
    claims: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
    filled: Mapping[tuple[str, str], int] = field(default_factory=dict)
    common: frozenset[str] = frozenset()

    def reliability(self, source: str, column: str) -> float:
        return self.reliabilities.get((source, column), self.pooled[column])


@dataclass(frozen=True, slots=True, eq=False)
class RecordComparison:
    """The log-odds that two records describe one thing; `slots` is as in `Comparison`."""

    odds: float
    slots: tuple[tuple[str, float, float], ...]
    contradicts: bool = True  # all that is known is in the odds

    def log_odds(self, reliability: float, prior: float) -> float:
        """Return the log-odds; reliabilities and prior are part of them already."""
        return self.odds


@dataclass(frozen=True, slots=True, eq=False)
class RecordComparer:
    """Compare accounts of records by a learned model."""

    schema: Schema
    model: RecordModel

    @property
    def prior(self) -> float:
        return self.model.prior

    def cannot_match(self, left: Account, right: Account) -> bool:
        """Return whether two records cannot be the same thing."""
        apart = left.source == right.source and left.source in self.model.distinct
        named = bool(left.object) and left.object == right.object
        return (apart and not named) or cannot_match(left, right, self.schema, rows=True)

    def compare(
        self, accounts: Mapping[str, Account], pairs: Sequence[Two]
    ) -> dict[Two, RecordComparison]:
        """Return the comparison of every pair of ids."""
        if not pairs:
            return {}
        names = sorted({name for two in pairs for name in two})
        table = RecordTable.of([accounts[name] for name in names], self.schema, self.model)
        place = {name: n for n, name in enumerate(names)}
        left, right = (np.array([place[two[k]] for two in pairs]) for k in (0, 1))
        alike = table.alike(left, right)
        odds = _odds(table, alike, self.model, (left, right))
        return {
            two: RecordComparison(odds[n], tuple(_slots(alike, n))) for n, two in enumerate(pairs)
        }

    def candidates(
        self, accounts: Iterable[Account], touched: frozenset[str] | None = None
    ) -> Iterator[Two]:
        """Yield the pairs that share a key which few records have, as sorted ids."""
        listed = sorted(accounts, key=lambda account: account.id)
        table = RecordTable.of(listed, self.schema, self.model)
        for a, b in table.candidates(self.model.common):
            left, right = listed[a], listed[b]
            if touched is not None and not touched & {left.id, right.id}:
                continue
            if not self.cannot_match(left, right):
                yield left.id, right.id


def _slots(alike: Alike, n: int) -> Iterator[tuple[str, float, float]]:
    for c, column in enumerate(alike.columns):
        if alike.levels[n, c] >= 0:
            agree = bool(AGREE[alike.levels[n, c]])
            yield column, float(alike.frequency[n, c]) if agree else 0.0, 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """How alike pairs are: level by pair and column (-1: missing), frequency of what they share."""

    columns: tuple[str, ...]
    levels: IntArray
    frequency: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class RecordTable:
    """Records as numbers of values by column (-1: missing)."""

    columns: tuple[str, ...]
    kinds: Mapping[str, ColumnKind]
    values: Mapping[str, Sequence[RecordValue]]
    cells: IntArray
    source: IntArray
    sources: tuple[str, ...]
    frequency: Mapping[str, FloatArray]
    mean: Mapping[str, float]

    @classmethod
    def of(
        cls, accounts: Sequence[Account], schema: Schema, model: RecordModel | None = None
    ) -> RecordTable:
        columns = tuple(schema.slots)
        cells = np.full((len(accounts), len(columns)), -1)
        kinds: dict[str, ColumnKind] = {}
        values: dict[str, list[RecordValue]] = {}
        shares: dict[str, FloatArray] = {}
        means: dict[str, float] = {}
        for c, column in enumerate(columns):
            texts = {n: _text(account, column) for n, account in enumerate(accounts)
                     if column in account.values}  # fmt: skip
            known = model.columns.get(column) if model else None
            kinds[column] = known.kind if known else column_kind(list(texts.values()) or [""])
            read = {n: record_value(text, kinds[column]) for n, text in texts.items()}
            unique = {v: k for k, v in enumerate(dict.fromkeys(read.values()))}
            values[column] = list(unique)
            cells[list(read), c] = [unique[v] for v in read.values()]
            table = known.frequency if known else frequencies([v.core for v in read.values()])
            least = known.least if known else 1.0 / max(len(texts), 1)
            shares[column] = np.array([table.get(v.core, least) for v in unique])
            means[column] = known.mean if known else _mean(shares[column])
        sources = tuple(sorted({account.source for account in accounts}))
        source = np.array([sources.index(account.source) for account in accounts])
        return cls(columns, kinds, values, cells, source, sources, shares, means)

    def alike(self, left: IntArray, right: IntArray) -> Alike:
        """Compare the values of pairs of records."""
        found = np.full((len(left), len(self.columns)), -1)
        share = np.ones((len(left), len(self.columns)))
        for c, column in enumerate(self.columns):
            a, b = self.cells[left, c], self.cells[right, c]
            both = np.flatnonzero((a >= 0) & (b >= 0))
            if not len(both):
                continue
            size = len(self.values[column])
            low, high = np.minimum(a[both], b[both]), np.maximum(a[both], b[both])
            unique, place = np.unique(low * size + high, return_inverse=True)
            values = self.values[column]
            distinct = levels(self.kinds[column], values, unique // size, unique % size)
            found[both, c] = distinct[place]
            frequency = self.frequency[column]
            share[both, c] = np.maximum(frequency[low], frequency[high])
        return Alike(self.columns, found, share)

    def common(self) -> frozenset[str]:
        """Return the keys of very many records."""
        return frozenset(key for key, rows in self.keys().items() if len(rows) > MAX_PER_KEY)

    def candidates(self, common: frozenset[str]) -> list[tuple[int, int]]:
        """Return the pairs of records that share a key which is not common."""
        pairs: set[tuple[int, int]] = set()
        for key, rows in self.keys().items():
            if key not in common:
                pairs.update((a, b) for n, a in enumerate(rows) for b in rows[n + 1 :])
        return sorted(pairs)

    def keys(self) -> dict[str, list[int]]:
        """Return the records under every key."""
        index: dict[str, list[int]] = defaultdict(list)
        for c, column in enumerate(self.columns):
            kind = self.kinds[column]
            keys = [[f"{column}:{key}" for key in dict.fromkeys(blocking_keys(value, kind))]
                    for value in self.values[column]]  # fmt: skip
            for n, cell in enumerate(self.cells[:, c].tolist()):
                for key in keys[cell] if cell >= 0 else ():
                    index[key].append(n)
        return index


def _text(account: Account, column: str) -> str:
    value = account.values[column]
    if isinstance(value, Name):
        return max(value.variants, key=lambda text: (len(text), text))
    return str(value)


@dataclass(slots=True)
class _Estimate:
    """The state of the estimation: arrays by column, and reliabilities by source and column."""

    right: FloatArray
    wrong: FloatArray
    chance: FloatArray
    rates: FloatArray
    prior: tuple[float, float]


def learn_records(
    accounts: Sequence[Account], schema: Schema, fixed: Mapping[str, float]
) -> RecordModel:
    """Learn the model from all records; reliabilities of `fixed` sources stay."""
    table = RecordTable.of(accounts, schema)
    common = table.common()
    pairs = np.array(table.candidates(common), dtype=np.int64).reshape(-1, 2)
    allowed = [
        not cannot_match(accounts[a], accounts[b], schema, rows=True) for a, b in pairs.tolist()
    ]
    left, right = pairs[np.array(allowed, dtype=bool)].T if len(pairs) else (pairs[:, 0],) * 2
    alike = table.alike(left, right)
    others = _sampled(table, {(a, b) for a, b in pairs.tolist()})
    estimate = _start(table, fixed)
    same_source = table.source[left] == table.source[right]
    totals = _pair_counts(table.source)
    match = np.zeros(len(left))
    sizes = np.zeros((len(table.sources), len(table.columns)))
    good = sizes
    for _ in range(ROUNDS):
        before = match
        estimate.chance = _chance(alike, match, others, sum(totals))
        odds, both_right = _evidence(table, alike, estimate, (left, right))
        prior = np.where(same_source, estimate.prior[1], estimate.prior[0])
        match = _matches(odds + prior, table.source, (left, right))
        sizes, good = _claims(table, alike, match, both_right, estimate, (left, right))
        _update(estimate, alike, match, both_right, sizes, good, table, fixed)
        across, within = match[~same_source].sum(), match[same_source].sum()
        estimate.prior = _prior(across, totals[0]), _prior(within, totals[1])
        if np.max(np.abs(match - before), initial=0.0) < TOLERANCE:
            break
    repeats: FloatArray = np.bincount(
        table.source[left[same_source]], match[same_source], minlength=len(table.sources)
    ).astype(np.float64)
    model = replace(_model(table, estimate, sizes, good, repeats), common=common)
    share = np.isin(np.array(table.sources)[table.source], list(model.distinct)).mean()
    return replace(model, bias=float(share) * _bias(match, (left, right), len(table.cells)))


def _bias(match: FloatArray, ends: tuple[IntArray, IntArray], records: int) -> float:
    """Return log-odds such that as many records are alone as the matches say.

    A record has d matches, with odds that add up to d; the forest model divides them by √d.
    """
    alone, degree = np.zeros(records), np.zeros(records)
    for end in ends:
        np.add.at(alone, end, np.log1p(-np.minimum(match, 1 - 1e-9)))
        np.add.at(degree, end, match)
    share = float(np.clip(np.exp(alone).mean(), 0.01, 0.99))
    return float(np.log((1 - share) / share) - 0.5 * np.log(max(degree.mean(), 0.1)))


def _matches(log_odds: FloatArray, source: IntArray, ends: tuple[IntArray, IntArray]) -> FloatArray:
    """Return P(match) of pairs, of which a record has about one with each source."""
    odds = np.exp(np.clip(log_odds, -300, 300))
    sources = int(source.max(initial=0)) + 1
    rivals = odds
    for mine, other in (ends, ends[::-1]):
        key = mine * sources + source[other]
        rivals = np.maximum(rivals, np.bincount(key, odds)[key])
    return odds / (1.0 + rivals)


def _start(table: RecordTable, fixed: Mapping[str, float]) -> _Estimate:
    shape = (len(table.columns), LEVELS)
    rates = np.full((len(table.sources), len(table.columns)), START_RELIABILITY)
    for n, source in enumerate(table.sources):
        rates[n] = fixed.get(source, START_RELIABILITY)
    records = len(table.cells)
    prior = _log_odds(min(START_ODDS / max(records, 2), 0.5))
    return _Estimate(np.tile(START_RIGHT, (shape[0], 1)), np.tile(START_WRONG, (shape[0], 1)),
                     np.full(shape, 1.0 / LEVELS), rates, (prior, prior - 3.0))  # fmt: skip


def _prior(matches: float, pairs: float) -> float:
    """Return the log-odds of a match, never above even odds."""
    return _log_odds(min((float(matches) + SMOOTHING) / (pairs + 2 * SMOOTHING), 0.5))


def _log_odds(p: float) -> float:
    return float(np.log(p) - np.log1p(-p))


def _pair_counts(source: IntArray) -> tuple[float, float]:
    """Return the numbers of pairs of records of different sources, and of one source."""
    sizes = np.bincount(source).astype(float)
    within = float((sizes * (sizes - 1) / 2).sum())
    return len(source) * (len(source) - 1) / 2 - within, within


def _sampled(table: RecordTable, blocked: set[tuple[int, int]]) -> Alike:
    """Return how alike pairs are that blocking leaves out, for a fixed sample of them."""
    records = len(table.cells)
    rng = np.random.default_rng(0)
    drawn = np.sort(rng.integers(records, size=(SAMPLED_PAIRS, 2)), axis=1)
    kept = [n for n, two in enumerate(drawn.tolist())
            if two[0] != two[1] and tuple(two) not in blocked]  # fmt: skip
    return table.alike(drawn[kept, 0], drawn[kept, 1])


def _chance(alike: Alike, match: FloatArray, others: Alike, total: float) -> FloatArray:
    """Return P(level) of two records of different things, by column."""
    apart = 1.0 - match
    left_out = max(total - len(match), 0.0)
    weight = left_out / max(len(others.levels), 1)
    chance = np.zeros((len(alike.columns), LEVELS))
    for c in range(len(alike.columns)):
        seen = alike.levels[:, c] >= 0
        among = np.bincount(alike.levels[seen, c], apart[seen], minlength=LEVELS)
        rest = others.levels[others.levels[:, c] >= 0, c]
        counts = among + weight * np.bincount(rest, minlength=LEVELS) + SMOOTHING
        chance[c] = counts / counts.sum()
    return chance


def _evidence(
    table: RecordTable, alike: Alike, estimate: _Estimate, ends: tuple[IntArray, IntArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the log-likelihood ratio of every pair, and P(both values are right) by column."""
    ratio = np.zeros(len(ends[0]))
    both = np.zeros(alike.levels.shape)
    first, second = (table.source[end] for end in ends)
    for c, column in enumerate(alike.columns):
        seen = np.flatnonzero(alike.levels[:, c] >= 0)
        level = alike.levels[seen, c]
        rho = estimate.rates[first[seen], c] * estimate.rates[second[seen], c]
        mean = table.mean[column]
        rare = mean / np.maximum(alike.frequency[seen, c], MIN_FREQUENCY * mean)
        right = rho * estimate.right[c, level] * np.where(AGREE[level], rare, 1.0)
        wrong = (1.0 - rho) * estimate.wrong[c, level]
        either = np.maximum(right + wrong, IMPOSSIBLE)
        both[seen, c] = right / either
        ratio[seen] += np.log(either / estimate.chance[c, level])
    return ratio, both


def _mean(frequency: FloatArray) -> float:
    """Return the mean frequency of the values of two records that agree by chance."""
    return float((frequency**2).sum() / max(frequency.sum(), 1e-12)) if len(frequency) else 1.0


def _claims(
    table: RecordTable,
    alike: Alike,
    match: FloatArray,
    both: FloatArray,
    estimate: _Estimate,
    ends: tuple[IntArray, IntArray],
) -> tuple[FloatArray, FloatArray]:
    """Return expected claims of sources that were compared, and right ones, by column."""
    sizes = np.zeros((len(table.sources), len(table.columns)))
    good = np.zeros_like(sizes)
    first, second = (table.source[end] for end in ends)
    for c in range(len(table.columns)):
        seen = np.flatnonzero((alike.levels[:, c] >= 0) & (first != second))
        a, b = estimate.rates[first[seen], c], estimate.rates[second[seen], c]
        apart = np.maximum(1.0 - a * b, 1e-9)
        for source, mine, other in ((first, a, b), (second, b, a)):
            right = both[seen, c] + (1.0 - both[seen, c]) * mine * (1.0 - other) / apart
            sizes[:, c] += np.bincount(source[seen], match[seen], minlength=len(sizes))
            good[:, c] += np.bincount(source[seen], match[seen] * right, minlength=len(sizes))
    return sizes, good


def _update(
    estimate: _Estimate,
    alike: Alike,
    match: FloatArray,
    both: FloatArray,
    sizes: FloatArray,
    good: FloatArray,
    table: RecordTable,
    fixed: Mapping[str, float],
) -> None:
    """Set the chances of levels and the reliabilities to their expected values."""
    for c in range(len(alike.columns)):
        seen = alike.levels[:, c] >= 0
        level, weight = alike.levels[seen, c], match[seen]
        right = np.bincount(level, weight * both[seen, c], minlength=LEVELS) + START_RIGHT
        wrong = np.bincount(level, weight * (1 - both[seen, c]), minlength=LEVELS) + START_WRONG
        estimate.right[c] = right / right.sum()
        estimate.wrong[c] = _wrong(wrong, estimate.chance[c])
    pooled = (good.sum(axis=0) + START_RELIABILITY) / (sizes.sum(axis=0) + 1.0)
    rates = (good + RELIABILITY_WEIGHT * pooled) / (sizes + RELIABILITY_WEIGHT)
    for n, source in enumerate(table.sources):
        rates[n] = fixed.get(source, np.maximum(rates[n], MIN_RELIABILITY))
    estimate.rates = np.clip(rates, 0.01, 0.999)


def _wrong(counts: FloatArray, chance: FloatArray) -> FloatArray:
    """Return P(level) where a value is wrong: agreement is chance, other levels are as counted."""
    rest = np.where(AGREE, 0.0, counts)
    return np.where(AGREE, chance, (1.0 - chance[AGREE].sum()) * rest / rest.sum())


def _model(
    table: RecordTable,
    estimate: _Estimate,
    sizes: FloatArray,
    good: FloatArray,
    repeats: FloatArray,
) -> RecordModel:
    columns = {
        column: ColumnModel(
            table.kinds[column],
            estimate.right[c],
            estimate.wrong[c],
            estimate.chance[c],
            dict(zip((v.core for v in table.values[column]), table.frequency[column].tolist(),
                     strict=True)),
            table.mean[column],
            1.0 / max(int((table.cells[:, c] >= 0).sum()), 1),
        )
        for c, column in enumerate(table.columns)
    }  # fmt: skip
    cells = [(n, s, c, column) for n, s in enumerate(table.sources)
             for c, column in enumerate(table.columns)]  # fmt: skip
    pooled = estimate.rates.mean(axis=0)
    records = np.bincount(table.source, minlength=len(table.sources))
    return RecordModel(
        columns,
        {(s, column): float(estimate.rates[n, c]) for n, s, c, column in cells},
        dict(zip(table.columns, pooled.tolist(), strict=True)),
        *estimate.prior,
        0.0,
        frozenset(np.array(table.sources)[repeats < DISTINCT * records].tolist()),
        {(s, column): (float(sizes[n, c]), float(good[n, c])) for n, s, c, column in cells},
        {
            (s, column): int((table.cells[table.source == n, c] >= 0).sum())
            for n, s, c, column in cells
        },
    )


def _odds(
    table: RecordTable, alike: Alike, model: RecordModel, ends: tuple[IntArray, IntArray]
) -> list[float]:
    """Return the log-odds of pairs by a learned model."""
    columns = [model.columns[column] for column in table.columns]
    rates = np.array([[model.reliability(source, column) for column in table.columns]
                      for source in table.sources])  # fmt: skip
    estimate = _Estimate(
        np.array([one.right for one in columns]),
        np.array([one.wrong for one in columns]),
        np.array([one.chance for one in columns]),
        rates,
        (model.prior, model.repeated),
    )
    odds, _ = _evidence(table, alike, estimate, ends)
    same = table.source[ends[0]] == table.source[ends[1]]
    odds = TEMPER * (odds + np.where(same, model.repeated, model.prior) + model.bias)
    return [float(one) for one in odds]
