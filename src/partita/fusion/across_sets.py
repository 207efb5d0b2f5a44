"""Group the accounts of different sources into coreference sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from partita.configurations.solve_batch import solve_many
from partita.errors import Contradiction, PartitaError, TotalConflict
from partita.fusion.accounts import Account, Accounts
from partita.fusion.blocking import alike, told_apart
from partita.fusion.comparison import Comparer, Comparison, tied
from partita.fusion.set_beliefs import Masses, PairBelief, certain, together
from partita.pairs.models import probability
from partita.records import Budget, CoreferenceSet, Distribution, Pair, PairProbabilities, pair

FAINT = 0.02  # a pair less probable than this does not link two accounts
SILENT = -1.0  # log-odds of two in a set of which nothing tells: others decide
TWICE = 0.1  # that two things which a message tells apart are one
MODEL, MESSAGE = "the pair model", "the message itself"

Compared = Mapping[Pair, Comparison]


@dataclass(frozen=True, slots=True)
class Reliabilities:
    """How far every source is trusted, and one that was never met."""

    of: Mapping[str, float]
    unmet: float = 0.8

    def __getitem__(self, source: str) -> float:
        return self.of.get(source, self.unmet)

    def both(self, left: Account, right: Account) -> float:
        return self[left.source] * self[right.source]


@dataclass(frozen=True, slots=True, eq=False)
class AcrossSet:
    """Accounts that may speak of one thing, and the distribution over who speaks of what.

    One that is alone has no distribution.
    """

    accounts: tuple[Account, ...]
    distribution: Distribution | None = None
    masses: Masses | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(account.id for account in self.accounts)


@dataclass(frozen=True, slots=True, eq=False)
class Believing:
    """All that sets are made of: who is compared with whom, and how far everyone is trusted."""

    given: Accounts
    comparer: Comparer
    trusted: Reliabilities
    by_id: Mapping[str, Account]
    judged: Mapping[Pair, list[tuple[str, float]]]

    @classmethod
    def of(cls, given: Accounts, comparer: Comparer, trusted: Reliabilities) -> Believing:
        by_id = {one.id: one for one in given.accounts}
        return cls(given, comparer, trusted, by_id, _resolved(given.judgements, by_id))

    def log_odds(self, two: Pair, found: Comparison) -> float:
        reliability = self.trusted.both(self.by_id[two[0]], self.by_id[two[1]])
        return found.log_odds(reliability, self.comparer.chances.prior)


def components(believing: Believing, compared: Compared) -> list[list[str]]:
    """The accounts that links tie together, in order; those that nothing links are alone."""
    names = [account.id for account in believing.given.accounts]
    home = tied(names, _links(believing, compared))
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(home[name], []).append(name)
    return list(found.values())


def _links(believing: Believing, compared: Compared) -> Iterator[Pair]:
    least = float(np.log(FAINT / (1.0 - FAINT)))
    for two, one in compared.items():
        left, right = (believing.by_id[name] for name in two)
        same = left.object and left.object == right.object
        if same or believing.log_odds(two, one) >= least:
            yield two
    for two, said in believing.judged.items():
        if two[0] != two[1] and any(p >= FAINT for _, p in said):
            yield two


def solved(
    believing: Believing,
    groups: Sequence[Sequence[str]],
    compared: Compared,
    top: int | None = None,
    budget: Budget | None = None,
    seed: int = 0,
) -> list[AcrossSet]:
    """Every group with its distribution, in order."""
    made = [_set(believing, group, compared) if len(group) > 1 else None for group in groups]
    pairs = [one[0] for one in made if one is not None]
    answers = iter(solve_many(pairs, top=top, budget=budget, seed=seed))
    found = []
    for group, one in zip(groups, made, strict=True):
        accounts = tuple(believing.by_id[name] for name in group)
        if one is None:
            found.append(AcrossSet(accounts))
            continue
        answer = _answered(next(answers), believing)
        found.append(AcrossSet(accounts, answer, one[1]))
    return found


def _answered(answer: Distribution | PartitaError, believing: Believing) -> Distribution:
    if isinstance(answer, Contradiction):
        named = certain(believing.given.judgements)
        raise TotalConflict([*named, f"what is known ({answer})"]) from answer
    if isinstance(answer, PartitaError):
        raise answer
    return answer


def _set(
    believing: Believing, group: Sequence[str], compared: Compared
) -> tuple[PairProbabilities, Masses]:
    accounts = [believing.by_id[name] for name in group]
    schema = believing.comparer.schema
    apart, must, open_ = set(), set(), []
    for left, right in combinations(accounts, 2):
        two = pair(left.id, right.id)
        if left.object and left.object == right.object:
            must.add(two)
        elif _mates(left, right):
            if not (believing.given.mates.get(two) and alike(left, right, schema)):
                apart.add(two)
        elif told_apart(left, right, schema):
            apart.add(two)
        else:
            open_.append(two)
    across = dict(_across(believing, open_, compared))
    apart |= {two for two, odds in across.items() if odds == -np.inf}
    group_ = CoreferenceSet(
        tuple(one.template for one in accounts), frozenset(apart), frozenset(must), group[0]
    )
    told = {two: odds for two, odds in across.items() if two not in apart}
    return together(group_, list(_beliefs(believing, set(group_.ids), told, apart | must)))


def _mates(left: Account, right: Account) -> bool:
    return (left.source, left.message) == (right.source, right.message)


def _across(
    believing: Believing, pairs: Sequence[Pair], compared: Compared
) -> Iterator[tuple[Pair, float]]:
    """Log-odds; a pair that blocking left out and nothing contradicts is left to the others."""
    missing = [two for two in pairs if two not in compared]
    fresh = believing.comparer.compare(believing.by_id, missing)
    for two in pairs:
        odds = believing.log_odds(two, compared.get(two) or fresh[two])
        silent = two in fresh and not fresh[two].contradicts
        yield two, max(odds, SILENT) if silent else odds


def _beliefs(
    believing: Believing, ids: set[str], told: Mapping[Pair, float], known: Iterable[Pair]
) -> Iterator[PairBelief]:
    shares = probability(np.array(list(told.values()), dtype=float))
    yield PairBelief(MODEL, dict(zip(told, shares.tolist(), strict=True)))
    mates: dict[str, dict[Pair, float]] = {}
    settled = set(known)
    judged: dict[str, dict[Pair, float]] = {}
    for two in combinations(sorted(ids), 2):
        if two in believing.given.mates and two not in settled:
            source = believing.by_id[two[0]].source
            mates.setdefault(source, {})[two] = believing.given.mates[two]
        for source, p in believing.judged.get(two, ()):
            judged.setdefault(source, {})[two] = p
    for source, pairs in sorted(mates.items()):
        yield PairBelief(source, pairs, believing.trusted[source])
        yield PairBelief(MESSAGE, dict.fromkeys(pairs, TWICE))
    for source, pairs in sorted(judged.items()):
        yield PairBelief(source, pairs, believing.trusted[source])


def _resolved(
    judgements: Sequence[PairBelief], by_id: Mapping[str, Account]
) -> dict[Pair, list[tuple[str, float]]]:
    """Who says what of which two accounts; an object that is judged is its first account."""
    first: dict[str, str] = {}
    for account in by_id.values():
        if account.object:
            first.setdefault(account.object, account.id)
    found: dict[Pair, list[tuple[str, float]]] = {}
    for judgement in judgements:
        for ends, p in judgement.pairs.items():
            left, right = (name if name in by_id else first[name] for name in ends)
            found.setdefault(pair(left, right), []).append((judgement.source, p))
    return found
