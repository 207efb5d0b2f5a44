"""Slots whose values exclude each other and change in time: a Markov chain over report times.

The values of a group exclude each other (operational, damaged, destroyed), and every group is a
slot of its own. Between two reports the state changes with a learned rate; from an absorbing state
it rarely does. A source states the true value of its day with its reliability, else any other one.
An undated claim is about any of the days on which there are reports of its object.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from partita.core import FloatArray, IntArray
from partita.errors import InputError, TotalConflict
from partita.fusion.belief import Parameters, SlotBelief, StateChanges
from partita.fusion.claims import TRUTHS, Claims
from partita.fusion.hierarchy import flat_order
from partita.fusion.kinds import STATE
from partita.fusion.parsed_claims import frequent_spellings
from partita.fusion.trust import trust
from partita.fusion.value_reading import ClaimStatements, ParsedSlot, claim_statements
from partita.templates.slots import StateGroup, symbol

START_RELIABILITY = 0.8
POOLED_CLAIMS = 2.0  # weight of the reliability of all sources
ESCAPE = 0.02  # rate of leaving an absorbing state, of that of other states
RATES = np.geomspace(1e-3, 10.0, 61)  # of change, per typical time between reports
PRIOR_STEPS, PRIOR_CHANGE = 1.0, 0.1  # steps seen before any, and the share with a change
REPORTED_CHANGE = 0.3  # that share where states are declared: messages are made of what changes
ROUNDS = 200
TOLERANCE = 1e-6
MAX_CHOICES = 64  # of days of undated claims; with more, those of an object have a common day


@dataclass(frozen=True, slots=True, eq=False)
class Reports:
    """The reports about one group, one row for each choice of the days of undated claims.

    `day` (rows × steps) are the report times of a row's object, the last repeated to fill up;
    `object` is that of each row. Report n is statement `statement[n]` at step[n] of row[n].
    `log_choice` is log P(choice).
    """

    day: IntArray
    object: IntArray
    log_choice: FloatArray
    row: IntArray
    step: IntArray
    statement: IntArray
    exact: bool


@dataclass(frozen=True, slots=True, eq=False)
class ChainPosterior:
    """P(row | its object), P(state | row, step), P(two states | row, step), log P by object."""

    choice: FloatArray
    states: FloatArray
    steps: FloatArray
    log_likelihood: FloatArray


def fuse_states(
    claims: Claims,
    name: str,
    groups: Sequence[StateGroup],
    reliabilities: Mapping[str, float],
    fixed: Mapping[str, Parameters],
) -> Iterator[SlotBelief]:
    """Yield the belief about every group of a slot that has claims.

    Without groups, all values of the slot exclude each other.
    """
    texts = {n: symbol(claims.values[n]) for n in np.unique(claims.value).tolist()}
    declared = groups or (StateGroup("", tuple(sorted({*texts.values()}))),)
    place = {value: n for n, group in enumerate(declared) for value in group.values}
    for number, text in texts.items():
        if text not in place:
            claim = int(np.flatnonzero(claims.value == number)[0])
            expected = ", ".join(place)
            problem = f"{claims.named(claim)}: {text} is no state (expected one of {expected})"
            raise claims.located(claim, problem)
    of_value = np.array([place.get(texts.get(n, ""), -1) for n in range(len(claims.values))])
    for n, group in enumerate(declared):
        mine = claims.only(of_value[claims.value] == n)
        if len(mine):
            title = f"{name} {group.name}" if len(declared) > 1 else name
            known = fixed.get(title)
            if known is not None:
                group = replace(group, values=tuple(known.values))
            yield _fuse_group(mine, title, group, reliabilities, known)


def _fuse_group(
    claims: Claims,
    name: str,
    group: StateGroup,
    reliabilities: Mapping[str, float],
    fixed: Parameters | None,
) -> SlotBelief:
    codes = {value: n for n, value in enumerate(group.values)}
    value = np.array([codes.get(symbol(text), -1) for text in claims.values])[claims.value]
    if (unknown := np.flatnonzero(value < 0)).size:
        text = claims.values[claims.value[unknown[0]]]
        raise InputError(f"{text} is no value of {name}, which has {', '.join(codes)}: learn again")
    columns = (claims.object, claims.source, value)
    statements = claim_statements(claims, list(group.values), columns, claims.confidence)
    which = _statement_of(statements, claims, value)
    reports = arrange_reports(statements, which, claims.days)
    chain = _Chain(group, reports, statements, reliabilities, fixed)
    posterior, parameters, rounds = chain.learned()
    if fixed is None:
        texts = [claims.values[n] for n in claims.value.tolist()]
        written = frequent_spellings(group.values, texts, value, np.ones_like(value))
        parameters = replace(parameters, labels=dict(zip(group.values, written, strict=True)))
    return _belief(name, group, chain, posterior, parameters, rounds)


def _statement_of(statements: ClaimStatements, claims: Claims, value: IntArray) -> IntArray:
    """Return the statement that each claim is part of."""
    objects = {text: n for n, text in enumerate(statements.objects)}
    sources = {text: n for n, text in enumerate(statements.sources)}
    thing = np.array([objects.get(text, 0) for text in claims.objects])[claims.object]
    source = np.array([sources.get(text, 0) for text in claims.sources])[claims.source]
    values, count = len(statements.values), len(statements.sources)
    key = (statements.object * values + statements.value) * count + statements.source
    place: IntArray = np.searchsorted(key, (thing * values + value) * count + source)
    return place


def arrange_reports(statements: ClaimStatements, which: IntArray, days: IntArray) -> Reports:
    """Return the reports of every object, with all choices of the days of undated ones."""
    pairs = sorted(set(zip(which.tolist(), days.tolist(), strict=True)))
    by_object: dict[int, list[tuple[int, int]]] = {}
    for statement, day in pairs:
        by_object.setdefault(int(statements.object[statement]), []).append((statement, day))
    known = [n for n, source in enumerate(statements.sources) if source == TRUTHS]
    times: list[list[int]] = []
    owner, logs, exact = [], [], True
    rows: list[tuple[int, int, int]] = []
    for thing in range(len(statements.objects)):
        reports = by_object[thing]
        steps = sorted({day for _, day in reports if day}) or [0]
        last = len(steps) - 1
        dated = [(n, steps.index(day)) for n, day in reports if day]
        undated = [n for n, day in reports if not day]
        dated += [(n, last) for n in undated if statements.source[n] in known]
        undated = [n for n in undated if statements.source[n] not in known]
        own = len(steps) ** len(undated) <= MAX_CHOICES
        exact &= own
        choices = (list(product(range(len(steps)), repeat=len(undated))) if own
                   else [(step,) * len(undated) for step in range(len(steps))])  # fmt: skip
        for choice in choices:
            chosen = [*dated, *zip(undated, choice, strict=True)]
            rows += [(len(times), step, statement) for statement, step in chosen]
            times.append(steps)
            owner.append(thing)
            logs.append(-np.log(len(choices)))
    longest = max(map(len, times))
    day = np.array([steps + [steps[-1]] * (longest - len(steps)) for steps in times])
    row, step, statement = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Reports(day, np.array(owner), np.array(logs), row, step, statement, exact)


@dataclass(frozen=True, slots=True, eq=False)
class _Chain:
    """The problem of one group, and what is fixed of its parameters."""

    group: StateGroup
    reports: Reports
    statements: ClaimStatements
    reliabilities: Mapping[str, float]
    fixed: Parameters | None

    def learned(self) -> tuple[ChainPosterior, Parameters, int]:
        """Learn reliabilities, the rate of change and the first state, or use the fixed ones."""
        sources, count = self.statements.sources, len(self.group.values)
        given = np.array([1.0 if source == TRUTHS else self.reliabilities.get(source, np.nan)
                          for source in sources])  # fmt: skip
        fixed = self.fixed
        if fixed is not None:
            rates = [fixed.rates.get(source, fixed.pooled)[0, 0] for source in sources]
            right = np.where(np.isnan(given), rates, given)
            posterior = self.posterior(right, fixed.prior, fixed.change_rate)
            return posterior, fixed, 0
        right = np.where(np.isnan(given), START_RELIABILITY, given)
        prior, pooled = np.full(count, 1.0 / count), START_RELIABILITY
        rate = self.prior_change / self.typical_step
        before, done = np.zeros(0), 0
        for _ in range(ROUNDS):
            done += 1
            posterior = self.posterior(right, prior, rate)
            if len(before) and np.abs(posterior.states - before).max() < TOLERANCE:
                break
            before = posterior.states
            right_claims, claims = self.counts(posterior)
            pooled = float((right_claims.sum() + POOLED_CLAIMS * START_RELIABILITY)
                           / (claims.sum() + POOLED_CLAIMS))  # fmt: skip
            shrunk = (right_claims + POOLED_CLAIMS * pooled) / (claims + POOLED_CLAIMS)
            right = np.where(np.isnan(given), shrunk, given)
            first = posterior.choice @ posterior.states[:, 0] + 1.0
            prior, rate = first / first.sum(), self.best_rate(posterior)
        else:  # what is stated is the posterior of the parameters that are stated with it
            posterior = self.posterior(right, prior, rate)
        by_source = {source: _rates(p) for source, p in zip(sources, right.tolist(), strict=True)}
        size, values = count, self.group.values
        parameters = Parameters(
            STATE, by_source, _rates(pooled), prior, size, values, change_rate=rate
        )
        return posterior, parameters, done

    @property
    def typical_step(self) -> float:
        """The median number of days between two reports of an object."""
        steps = np.diff(self.reports.day, axis=1)
        return float(np.median(steps[steps > 0])) if (steps > 0).any() else 1.0

    @property
    def prior_change(self) -> float:
        """P(change) in a typical step: a new report may be made because of one, and time passes."""
        if not self.group.lasts:
            return PRIOR_CHANGE
        return 1.0 - (1.0 - REPORTED_CHANGE) * math.exp(-self.typical_step / self.group.lasts)

    def transition(self, rate: float, days: FloatArray) -> FloatArray:
        """Return P(next state | state) after so many days (… × state × next)."""
        count = len(self.group.values)
        if count == 1:
            return np.ones((*days.shape, 1, 1))
        leaving = np.array([rate * (ESCAPE if value in self.group.absorbing else 1.0)
                            for value in self.group.values])  # fmt: skip
        change = -np.expm1(-days[..., None] * leaving)
        eye = np.eye(count)
        matrix: FloatArray = eye * (1.0 - change)[..., None] + (1.0 - eye) * change[..., None] / (
            count - 1
        )
        return matrix

    def emissions(self, right: FloatArray, only_right: bool = False) -> FloatArray:
        """Return log P(reports | state) by row, step and state; with `only_right`, all are true."""
        reports, statements = self.reports, self.statements
        count = len(self.group.values)
        p, sure = right[statements.source], statements.confidence
        table = np.repeat(((1.0 - p) / max(count - 1, 1))[:, None], count, axis=1)
        table[np.arange(len(p)), statements.value] = 1.0 if count == 1 else p
        if only_right:
            table *= np.arange(count) == statements.value[:, None]
        table = sure[:, None] * table + ((1.0 - sure) / count)[:, None]
        logs = np.zeros((*reports.day.shape, count))
        with np.errstate(divide="ignore"):
            np.add.at(logs, (reports.row, reports.step), np.log(table)[reports.statement])
        return logs

    def posterior(self, right: FloatArray, prior: FloatArray, rate: float) -> ChainPosterior:
        """Return the exact posterior by forward and backward sums."""
        steps = self.transition(rate, np.diff(self.reports.day, axis=1).astype(np.float64))
        return self._summed(self.emissions(right), prior, steps)

    def _summed(self, logs: FloatArray, prior: FloatArray, move: FloatArray) -> ChainPosterior:
        rows, length, _ = logs.shape
        top = logs.max(axis=2, keepdims=True)
        top = np.where(np.isfinite(top), top, 0.0)
        seen = np.exp(logs - top)
        forward, scale = np.zeros_like(seen), np.zeros((rows, length))
        for t in range(length):
            before = prior[None] if t == 0 else np.einsum("ri,rij->rj", forward[:, t - 1],
                                                          move[:, t - 1])  # fmt: skip
            forward[:, t] = before * seen[:, t]
            scale[:, t] = forward[:, t].sum(axis=1)
            forward[:, t] /= np.where(scale[:, t] > 0, scale[:, t], 1.0)[:, None]
        with np.errstate(divide="ignore"):
            log_row = np.log(scale).sum(axis=1) + top.sum(axis=(1, 2)) + self.reports.log_choice
        backward = np.ones_like(seen)
        pairs = np.zeros((rows, max(length - 1, 0), seen.shape[2], seen.shape[2]))
        for t in range(length - 2, -1, -1):
            ahead = (seen[:, t + 1] * backward[:, t + 1]
                     / np.where(scale[:, t + 1] > 0, scale[:, t + 1], 1.0)[:, None])  # fmt: skip
            pairs[:, t] = forward[:, t, :, None] * move[:, t] * ahead[:, None, :]
            backward[:, t] = np.einsum("rij,rj->ri", move[:, t], ahead)
        owner, objects = self.reports.object, len(self.statements.objects)
        best = np.full(objects, -np.inf)
        np.maximum.at(best, owner, log_row)
        shift = np.where(np.isfinite(best), best, 0.0)
        weight = np.exp(log_row - shift[owner])
        total = np.bincount(owner, weight, minlength=objects)
        choice = weight / np.where(total > 0, total, 1.0)[owner]
        with np.errstate(divide="ignore"):
            return ChainPosterior(choice, forward * backward, pairs, np.log(total) + shift)

    def right_reports(self, posterior: ChainPosterior) -> FloatArray:
        """Return for every statement the expected number of its reports that are true."""
        reports, value = self.reports, self.statements.value[self.reports.statement]
        share = posterior.choice[reports.row] * posterior.states[reports.row, reports.step, value]
        return _sums(reports.statement, share, len(self.statements))

    def all_reports(self, posterior: ChainPosterior) -> FloatArray:
        """Return for every statement the number of its reports: of days on which it was made."""
        weight = posterior.choice[self.reports.row]
        return _sums(self.reports.statement, weight, len(self.statements))

    def counts(self, posterior: ChainPosterior) -> tuple[FloatArray, FloatArray]:
        """Return by source the expected reports that are true, and all, by their confidence."""
        statements = self.statements
        right, every = self.right_reports(posterior), self.all_reports(posterior)
        size, sure = len(statements.sources), statements.confidence
        return (_sums(statements.source, right * sure, size),
                _sums(statements.source, every * sure, size))  # fmt: skip

    def best_rate(self, posterior: ChainPosterior) -> float:
        """Return the most probable rate of change, given the posterior of all steps."""
        days = np.diff(self.reports.day, axis=1).astype(np.float64)
        weight = posterior.choice[:, None, None, None] * posterior.steps
        some = days > 0
        rates, change = RATES / self.typical_step, self.prior_change
        if not some.any() or len(self.group.values) == 1:
            return change / self.typical_step
        scores = []
        for rate, relative in zip(rates.tolist(), RATES.tolist(), strict=True):
            logs = np.log(np.maximum(self.transition(rate, days[some]), 1e-300))
            prior = change * np.log(-np.expm1(-relative)) - (1 - change) * relative
            scores.append(float((weight[some] * logs).sum()) + PRIOR_STEPS * prior)
        return float(rates[int(np.argmax(scores))])

    def changes(
        self, posterior: ChainPosterior, parameters: Parameters, right: FloatArray
    ) -> StateChanges:
        """Return P(the state changed) and P(a report is wrong) of every object."""
        move = self.transition(
            parameters.change_rate, np.diff(self.reports.day, axis=1).astype(np.float64)
        )
        still = self._summed(self.emissions(right), parameters.prior, move * np.eye(move.shape[-1]))
        true = self._summed(self.emissions(right, only_right=True), parameters.prior, move)
        changed, wrong = (
            np.clip(-np.expm1(one.log_likelihood - posterior.log_likelihood), 0.0, 1.0) + 0.0
            for one in (still, true)
        )
        return StateChanges(changed, wrong, parameters.change_rate)


def _sums(owner: IntArray, values: FloatArray, count: int) -> FloatArray:
    return np.bincount(owner, values, minlength=count).astype(np.float64)


def _rates(right: float) -> FloatArray:
    return np.array([[right, 0.0, 1.0 - right]])


def _belief(
    name: str,
    group: StateGroup,
    chain: _Chain,
    posterior: ChainPosterior,
    parameters: Parameters,
    rounds: int,
) -> SlotBelief:
    statements, reports = chain.statements, chain.reports
    objects, count = len(statements.objects), len(group.values)
    if not np.isfinite(posterior.log_likelihood).all():
        thing = int(np.argmin(np.isfinite(posterior.log_likelihood)))
        certain = [
            f"{statements.sources[statements.source[n]]} "
            f"(says {group.values[statements.value[n]]} of {statements.objects[thing]})"
            for n in np.flatnonzero(statements.object == thing).tolist()
        ]
        raise TotalConflict(certain)
    current = np.zeros((objects, count))
    np.add.at(current, reports.object, posterior.choice[:, None] * posterior.states[:, -1])
    rates = (parameters.rates.get(source, parameters.pooled) for source in statements.sources)
    right = np.array([rate[0, 0] for rate in rates])
    given = np.array([1.0 if source == TRUTHS else chain.reliabilities.get(source, np.nan)
                      for source in statements.sources])  # fmt: skip
    right = np.where(np.isnan(given), right, given)
    every = np.maximum(chain.all_reports(posterior), 1e-12)
    good, claims = chain.counts(posterior)
    counts = np.stack([good, 0.0 * good, claims - good], axis=1)[:, None]
    nothing = (statements.object[:0], statements.value[:0])
    labels = [parameters.labels.get(one, one) for one in group.values]
    parsed = ParsedSlot(STATE, statements, flat_order(count, count), nothing, labels)
    owner, value = np.divmod(np.arange(objects * count), count)
    order = np.lexsort((value, -current.reshape(-1), owner))
    trusted = trust(name, parsed, counts, chain.reliabilities)
    trusted = tuple(replace(one, claims=round(float(claims[n]))) for n, one in enumerate(trusted))
    return SlotBelief(
        name,
        parsed,
        owner,
        value[order],
        current.reshape(-1)[order],
        np.zeros(objects),
        chain.right_reports(posterior) / every,
        parameters,
        tuple(one for one in trusted if one.source != TRUTHS),
        rounds,
        rounds < ROUNDS,
        method="exact" if reports.exact else "days of undated claims approximately",
        effective=float(len(statements.sources)),
        state=chain.changes(posterior, parameters, right),
    )
