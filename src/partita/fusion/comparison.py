"""Compare two accounts: the log-odds that they describe the same thing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from partita.fusion.accounts import Account
from partita.fusion.typed import close
from partita.pairs.characteristics import log_odds, offsets
from partita.pairs.columns import columns
from partita.pairs.models import MaximumEntropy
from partita.records import FloatArray, IntArray, Template, linked_components
from partita.templates.date import Date
from partita.templates.measure import Measure
from partita.templates.name import Name
from partita.templates.number import Number
from partita.templates.place import Place, PlaceType
from partita.templates.schema import SORT, Schema, Values
from partita.templates.slots import SlotType, Value
from partita.templates.sort import Sort, SortType
from partita.templates.strings import Strings, StringsType

Link = tuple[str, str]


def tied(names: Iterable[str], links: Iterable[Link]) -> dict[str, str]:
    """Return for each name the first name, in order, of its component."""
    every = dict.fromkeys(names)
    ordered = sorted(every)
    place = {name: n for n, name in enumerate(ordered)}
    ends = np.array([(place[a], place[b]) for a, b in links], dtype=np.int64).reshape(-1, 2)
    home = linked_components(len(ordered), ends[:, 0], ends[:, 1]).tolist()
    return {name: ordered[home[place[name]]] for name in every}


MORE = 100.0  # A: things of which nobody may have spoken
OWN = 2.0  # descriptions: those of the two that are compared
RARE = 0.01  # the share of things that a name or a label fits
ROUND = 0.05  # that a measure or a date fits: people round them
OFTEN = 0.5  # that a number fits: most things are one
SAMPLE = 400  # different values of a slot that are looked at


@dataclass(frozen=True, slots=True, eq=False)
class Chances:
    """Counts of values over different descriptions, by slot; D descriptions in all."""

    schema: Schema
    things: int
    counts: Mapping[str, Mapping[Value, float]]
    totals: Mapping[str, float]
    _found: dict[tuple[str, Value], float] = field(default_factory=dict, repr=False)

    @classmethod
    def of_accounts(cls, accounts: Iterable[Account], schema: Schema) -> Chances:
        described = sorted({_described(one.values): one.values for one in accounts}.items())
        counts: dict[str, Counter[Value]] = {}
        for _, values in described:
            for name, value in values.items():
                counts.setdefault(name, Counter())[value] += 1
        totals = {name: float(sum(count.values())) for name, count in counts.items()}
        return cls(schema, len(described), {n: _sampled(c) for n, c in counts.items()}, totals)

    @property
    def prior(self) -> float:
        """−log(D + A): of so many things two accounts mean the same one."""
        return -math.log(self.things + MORE)

    def of(self, name: str, value: Value) -> float:
        """c(v), above 0 and at most 1."""
        key = (name, value)
        if key not in self._found:
            self._found[key] = self._chance(name, value)
        return self._found[key]

    def _chance(self, name: str, value: Value) -> float:
        slot = self.schema.slot(name)
        counts = self.counts.get(name, {})
        seen = sum(n for other, n in counts.items() if slot.unify(value, other) is not None)
        total = self.totals.get(name, 0.0)
        others = max(seen - OWN, 0.0)
        return min(1.0, (others + MORE * _known(slot, value)) / (total + MORE))


def _described(values: Values) -> tuple[str, ...]:
    """What tells things apart: sort, names, places and labels."""
    telling = (
        f"{name}={value}"
        for name, value in sorted(values.items())
        if name == SORT or isinstance(value, Name | Place | Strings)
    )
    return tuple(telling)


def _sampled(counts: Counter[Value]) -> dict[Value, float]:
    """All values, or of very many an even sample that weighs as much."""
    ordered: Sequence[Value] = sorted(counts, key=str)
    step = -(-len(ordered) // SAMPLE)
    return {value: float(counts[value] * step) for value in ordered[::step]}


def _known(slot: SlotType[Any], value: Value) -> float:
    """The share of all that the domain knows which would fit."""
    if isinstance(value, Place) and isinstance(slot, PlaceType):
        return _share(value.names, slot.gazetteer)
    if isinstance(value, Sort) and isinstance(slot, SortType):
        return _share(value.names, slot.hierarchy)
    if isinstance(value, Number):
        return OFTEN
    if isinstance(value, Strings) and isinstance(slot, StringsType) and slot.several:
        return OFTEN  # several may hold at once
    return ROUND if isinstance(value, Measure | Date) else RARE


def _share(names: frozenset[str], hierarchy: Any) -> float:
    """Of a hierarchy below the tops of these names, the part above or below one of them."""
    known = [name for name in names if name in hierarchy]
    if not known:
        return RARE
    fitting = set().union(*(hierarchy.below[n] | hierarchy.above[n] for n in known))
    return max(RARE, len(fitting) / max(len(hierarchy.parents), 1))


Two = tuple[str, str]
BATCH = 64  # accounts whose columns are made at once
SLOTS = frozenset(
    {"slot_relation", "values_in_common", "same_long_name", "sort_agreement", "names"}
)
WORDS = frozenset(
    {"number_agreement", "gender_agreement", "heads", "modifiers", "overlap", "same_text"}
)  # a record has no words to compare


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """One pair: what the pair model adds, of every slot both fill the share c (0: they
    contradict) and the product of the values' own probabilities."""

    context: float
    slots: tuple[tuple[str, float, float], ...]

    @property
    def contradicts(self) -> bool:
        return any(share == 0.0 for _, share, _ in self.slots)

    def log_odds(self, reliability: float, prior: float) -> float:
        """With the product of both sources' reliabilities."""
        found = prior + self.context
        for _, share, sure in self.slots:
            rho = reliability * sure
            odds = rho / share + 1.0 - rho if share else 1.0 - rho
            found += math.log(odds) if odds > 0.0 else -math.inf
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Comparer:
    """What comparing needs: the schema, the chances of its values, a pair model, a tolerance."""

    schema: Schema
    chances: Chances
    model: MaximumEntropy | None = None
    tolerance: float = 0.0
    _cache: dict[tuple[str, Value, Value], float] = field(default_factory=dict, repr=False)

    def compare(
        self, accounts: Mapping[str, Account], pairs: Sequence[Two]
    ) -> dict[Two, Comparison]:
        """Every pair, by ids."""
        contexts = dict(zip(pairs, self._contexts(accounts, pairs).tolist(), strict=True))
        return {
            two: Comparison(contexts[two], tuple(self._slots(accounts[two[0]], accounts[two[1]])))
            for two in pairs
        }

    def _slots(self, left: Account, right: Account) -> Iterator[tuple[str, float, float]]:
        for name in (SORT, *self.schema.slots):
            a, b = left.values.get(name), right.values.get(name)
            if a is None or b is None or (name != SORT and _repeats_sort(a, b, left, right)):
                continue
            yield name, self._share(name, a, b), left.sure(name) * right.sure(name)

    def _share(self, name: str, a: Value, b: Value) -> float:
        key = (name, a, b)
        if key not in self._cache:
            both = self.schema.slot(name).unify(a, b)
            if both is None and not close(a, b, self.tolerance):
                self._cache[key] = 0.0
            else:
                self._cache[key] = max(self.chances.of(name, a), self.chances.of(name, b))
        return self._cache[key]

    def _contexts(self, accounts: Mapping[str, Account], pairs: Sequence[Two]) -> FloatArray:
        """Σ λ f of all pairs, a few accounts at a time; both orders, and their mean."""
        found = np.zeros(len(pairs))
        if self.model is None:
            return found
        for some in _batches(pairs):
            names = sorted({name for n in some for name in pairs[n]})
            place = {name: n for n, name in enumerate(names)}
            left = np.array([place[pairs[n][0]] for n in some])
            right = np.array([place[pairs[n][1]] for n in some])
            templates = [accounts[name].template for name in names]
            last = len(names) - 1
            there = _scores(self.model, self.schema, templates, left, right)
            back = _scores(self.model, self.schema, templates[::-1], last - left, last - right)
            found[some] = (there + back) / 2
        return found


def _scores(
    model: MaximumEntropy,
    schema: Schema,
    templates: Sequence[Template],
    left: IntArray,
    right: IntArray,
) -> FloatArray:
    """Σ λ f over what can be observed of two messages; of records only what slots tell."""
    codes = model.codes(columns(templates, schema=schema), left, right)
    slots, words = (
        log_odds(codes, model.characteristics, _kept(model, names)) for names in (SLOTS, WORDS)
    )
    worded = np.array([bool(template.head or template.text) for template in templates])
    score: FloatArray = slots + np.where(worded[left] & worded[right], words, 0.0)
    return score


def _kept(model: MaximumEntropy, names: frozenset[str]) -> FloatArray:
    """The weights of these characteristics; the others count nothing."""
    starts = offsets(model.characteristics)
    mask = np.zeros(len(model.weights))
    for n, one in enumerate(model.characteristics):
        mask[starts[n] : starts[n + 1]] = one.name in names
    kept: FloatArray = model.weights * mask
    return kept


def _repeats_sort(a: Value, b: Value, left: Account, right: Account) -> bool:
    """The slot says what the sort says: it would count twice."""
    same = isinstance(a, Sort) and isinstance(b, Sort)
    return same and a == left.values.get(SORT) and b == right.values.get(SORT)


def _batches(pairs: Sequence[Two]) -> Iterator[list[int]]:
    """Pairs of a few accounts at a time: those that hang together stay together."""
    home = tied((name for two in pairs for name in two), pairs)
    some: list[int] = []
    names: set[str] = set()
    for n in sorted(range(len(pairs)), key=lambda n: (home[pairs[n][0]], n)):
        two = pairs[n]
        if len(names | set(two)) > BATCH:
            yield some
            some, names = [], set()
        some.append(n)
        names.update(two)
    if some:
        yield some
