"""Two accounts of different messages → log-odds that they speak of one thing.

log odds = −log(D + A) + Σ λ_i f_i(S, T) + Σ_slots { log(ρ/c + 1 − ρ) where the values unify,
log(1 − ρ) where they do not },  ρ = r_s·r_t times the values' own probabilities;  c is the share of
things of which a value like this holds by chance, D how many things are described, A how many more
there may be. The weights λ are the pair model's, of those characteristics that do not depend on
both standing in one text, and their mean over both orders: of two messages none comes first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from partita.fusion.accounts import Account
from partita.fusion.chances import Chances
from partita.fusion.ties import tied
from partita.fusion.typed import close
from partita.pairs.characteristics import log_odds, offsets
from partita.pairs.columns import columns
from partita.pairs.models import MaximumEntropy
from partita.records import FloatArray, IntArray, Template
from partita.templates.schema import SORT, Schema
from partita.templates.slots import Value
from partita.templates.sort import Sort

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
