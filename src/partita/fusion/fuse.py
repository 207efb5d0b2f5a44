"""Fuse the claims of many sources, slot by slot, with at most one match per side on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from partita.core import (
    CoreferenceSet,
    FloatArray,
    IntArray,
    PairProbabilities,
    linked_components,
)
from partita.errors import InputError, Unavailable
from partita.fusion.answers import SlotAnswer, answers
from partita.fusion.belief import Parameters, SlotBelief
from partita.fusion.claim_files import SAME
from partita.fusion.claims import Claims, checked_reliabilities, distinct, join_claims
from partita.fusion.copying import COPIED, Copying, find_copying, find_twins, without_copies
from partita.fusion.kinds import STATE, TYPED, Kind, Reading, checked_kind, likely_kind
from partita.fusion.slot import SlotTask, add_truths, fuse_slot
from partita.fusion.states import fuse_states


@dataclass(frozen=True, slots=True, eq=False)
class FusionSettings:
    """The options of fusion; `kinds` are by slot ("" for all others).

    `separator` says that objects are pairs LEFT_RIGHT with at most one match per side. `truths` are
    values known by object and slot. `discount` leaves copied claims out. `fixed` are
    parameters estimated before.
    """

    kinds: Mapping[str, str] = field(default_factory=dict)
    reading: Reading = field(default_factory=Reading)
    reliabilities: Mapping[str, float] = field(default_factory=dict)
    truths: Mapping[tuple[str, str], str] = field(default_factory=dict)
    separator: str | None = None
    discount: bool = False
    fixed: Mapping[str, Parameters] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Fused:
    """The belief about every slot, and apparent copying between sources."""

    claims: Claims
    settings: FusionSettings
    slots: tuple[SlotBelief, ...]
    copying: tuple[Copying, ...]

    @property
    def parameters(self) -> dict[str, Parameters]:
        return {slot.name: slot.parameters for slot in self.slots}

    def slot(self, name: str) -> SlotBelief:
        for slot in self.slots:
            if slot.name == name:
                return slot
        named = ", ".join(slot.name for slot in self.slots)
        raise InputError(f"unknown slot {name!r}; there are {named}")


def fuse_slots(
    claims: Claims,
    settings: FusionSettings | None = None,
    attempt: Callable[[str], AbstractContextManager[object]] = nullcontext,
) -> Fused:
    """Fuse claims into probabilities of values; no truths are needed.

    Each slot is fused within `attempt`; the claims of one that fails there are left out.
    """
    settings_ = settings or FusionSettings()
    if not len(claims):
        raise InputError("there are no claims to fuse")
    _refuse_unknown_slots(claims, settings_)
    used = _drop_unreliable(claims, settings_)
    if not len(used):
        raise InputError("all sources have reliability 0 (expected at least one above 0)")
    names = sorted({claims.slots[n] for n in distinct(used.slot).tolist()})
    beliefs: list[SlotBelief] = []
    fused: list[str] = []
    for name in names:
        with attempt(f"slot {name}"):
            beliefs += _slot(used, name, settings_)
            fused.append(name)
    if len(fused) < len(names):
        names = fused
        kept = [n for n, name in enumerate(claims.slots) if name in names]
        claims, used = (one.only(np.isin(one.slot, kept)) for one in (claims, used))
    copies = tuple(one for belief in beliefs for one in find_copying(belief))
    if settings_.discount:
        twins = [pair for belief in beliefs for pair in find_twins(belief)]
        if twins:  # first, so that what is found of the other sources is as without them
            used = without_copies(used, twins)
            beliefs = [belief for name in names for belief in _slot(used, name, settings_)]
        found = (one for belief in beliefs for one in find_copying(belief))
        used = without_copies(used, [one.pair for one in found if one.share >= COPIED])
        beliefs = [belief for name in names for belief in _slot(used, name, settings_)]
    return Fused(claims, settings_, tuple(beliefs), copies)


def without(fused: Fused, source: str) -> Fused:
    """Fuse again without one source, including all estimates."""
    return fuse_slots(fused.claims.without(source), fused.settings)


def extend(fused: Fused, more: Claims) -> dict[tuple[str, str], SlotAnswer]:
    """Return all answers after more claims, with the rates estimated before."""
    if fused.settings.separator is not None:
        raise Unavailable(
            "with one match per side, new claims affect the others (fuse all sources again)"
        )
    merged = join_claims(fused.claims, more)
    settings = replace(fused.settings, fixed=fused.parameters)
    touched = np.unique(merged.object[len(fused.claims) :])
    updated = fuse_slots(merged.only(np.isin(merged.object, touched)), settings)
    return {**answers_by_object(fused), **answers_by_object(updated)}


def answers_by_object(fused: Fused) -> dict[tuple[str, str], SlotAnswer]:
    """Return the answers by object and slot."""
    return {(a.object, a.slot): a for belief in fused.slots for a in answers(belief)}


def _slot(claims: Claims, name: str, settings: FusionSettings) -> list[SlotBelief]:
    """Return the belief about a slot; one of states has a belief for every group of values."""
    number = list(claims.slots).index(name)
    slot_claims = claims.only(claims.slot == number)
    fixed = settings.fixed.get(name)
    kind = fixed.kind if fixed else _kind(slot_claims, name, settings)
    nesting = settings.reading.nesting
    slot_claims = add_truths(slot_claims, name, settings.truths, kind, nesting)
    reliabilities = {**claims.reliabilities, **checked_reliabilities(settings.reliabilities)}
    separator = settings.separator
    slot = SlotTask(name, kind, settings.reading, reliabilities, fixed)
    if separator is not None:
        slot = replace(slot, condition=partial(one_to_one, separator=separator))
    if kind == STATE:
        groups = settings.reading.states.get(name, ())
        return [*fuse_states(slot_claims, name, groups, reliabilities, settings.fixed)]
    return [fuse_slot(slot_claims, slot)]


def _drop_unreliable(claims: Claims, settings: FusionSettings) -> Claims:
    """Leave out the claims of sources whose reliability is 0."""
    reliabilities = {**claims.reliabilities, **checked_reliabilities(settings.reliabilities)}
    unreliable = [n for n, name in enumerate(claims.sources) if reliabilities.get(name) == 0.0]
    return claims.only(~np.isin(claims.source, unreliable)) if unreliable else claims


def _kind(claims: Claims, name: str, settings: FusionSettings) -> Kind:
    if name in settings.reading.states:
        return STATE
    kind = settings.kinds.get(name) or claims.kinds.get(name) or settings.kinds.get("")
    if kind:
        return checked_kind(kind)
    if name in settings.reading.types:
        return TYPED
    values = (claims.values[n] for n in distinct(claims.value).tolist())
    return likely_kind(claims, settings.reading.orders(values))


def _refuse_unknown_slots(claims: Claims, settings: FusionSettings) -> None:
    fixed = {name for name, one in settings.fixed.items() if one.kind != STATE}
    named = {*settings.kinds, *fixed, *settings.reading.states}
    named = (named | {slot for _, slot in settings.truths}) - {""}
    if unknown := sorted(named - set(claims.slots)):
        existing = ", ".join(sorted(claims.slots))
        raise InputError(f"unknown slot {unknown[0]!r}; there are {existing}")


@dataclass(frozen=True, slots=True)
class ValueChange:
    """An object whose most probable value changes; `after` is empty if no claim is left."""

    object: str
    slot: str
    before: str
    before_probability: float
    after: str
    after_probability: float


def changes_without(fused: Fused, source: str) -> tuple[ValueChange, ...]:
    """Return the objects whose most probable value changes without a source."""
    rest = without(fused, source)
    changes = []
    for belief in fused.slots:
        after = next((one.best() for one in rest.slots if one.name == belief.name), {})
        for thing, (value, p) in belief.best().items():
            other, q = after.get(thing, ("", 0.0))
            if other != value:
                changes.append(ValueChange(thing, belief.name, value, p, other, q))
    return tuple(changes)


MAX_EXACT = 12  # things: components with circles up to this size are solved exactly
ROUNDS = 200
TOLERANCE = 1e-9
MAX_ODDS = 1e12  # treated as certain


@dataclass(frozen=True, slots=True, eq=False)
class PairMatching:
    """The probability of every pair, and how many pairs were solved exactly or approximately."""

    probability: FloatArray
    exact: int
    approximate: int


def match_pairs(left: IntArray, right: IntArray, probability: FloatArray) -> PairMatching:
    """Return pair probabilities given at most one match per side.

    `left` and `right` number the things of both sides.
    """
    sides = int(left.max(initial=-1)) + 1
    other = right + sides
    things = sides + int(right.max(initial=-1)) + 1
    odds = np.clip(
        probability / np.maximum(1 - probability, 1 / MAX_ODDS), 1 / MAX_ODDS**2, MAX_ODDS
    )
    result = propagate(left, other, things, odds)
    component = linked_components(things, left, other)[left]
    size, cyclic = _shape(component, left, other)
    for number in np.unique(component[cyclic & (size <= MAX_EXACT)]).tolist():
        chosen = np.flatnonzero(component == number)
        result[chosen] = solve_component(left[chosen], other[chosen], probability[chosen])
    approximate = cyclic & (size > MAX_EXACT)
    return PairMatching(result, int((~approximate).sum()), int(approximate.sum()))


def _shape(
    component: IntArray, left: IntArray, right: IntArray
) -> tuple[IntArray, NDArray[np.bool_]]:
    """Return for each pair the size of its component, and whether that has a cycle."""
    pairs = np.bincount(component)
    ends = np.unique(np.stack([np.tile(component, 2), np.concatenate([left, right])]), axis=1)
    size = np.bincount(ends[0], minlength=len(pairs))
    return size[component], (pairs >= size)[component]


def propagate(left: IntArray, right: IntArray, things: int, odds: FloatArray) -> FloatArray:
    """Return the pair probabilities by belief propagation, which is exact on trees."""
    from_right = odds.copy()
    from_left = odds.copy()
    for _ in range(ROUNDS):
        from_left = odds / (1 + _others(left, from_right, things))
        again = odds / (1 + _others(right, from_left, things))
        moved = np.max(np.abs(np.log(again) - np.log(from_right)), initial=0.0)
        from_right = again
        if moved < TOLERANCE:
            break
    rivals = (1 + _others(left, from_right, things)) * (1 + _others(right, from_left, things))
    both: FloatArray = odds / (odds + rivals)
    return both


def _others(end: IntArray, message: FloatArray, things: int) -> FloatArray:
    """Return the sum of the messages of a pair's rivals at one end."""
    rest: FloatArray = np.bincount(end, message, minlength=things)[end] - message
    return np.maximum(rest, 0.0)


def solve_component(left: IntArray, right: IntArray, probability: FloatArray) -> FloatArray:
    """Return the pair probabilities from the distribution over configurations."""
    from partita.configurations.solve import solve_set

    things = np.unique(np.concatenate([left, right]))
    a, b = np.searchsorted(things, left), np.searchsorted(things, right)
    matrix = np.eye(len(things))
    matrix[a, b] = matrix[b, a] = probability
    distribution = solve_set(PairProbabilities(CoreferenceSet.of(map(str, things)), matrix), top=1)
    marginals: FloatArray = distribution.marginals.value[a, b]
    return marginals


def one_to_one(belief: SlotBelief, separator: str) -> SlotBelief:
    """Condition "same" on one match per side; objects are LEFT, separator, RIGHT."""
    same = _same(belief)
    left, right = _sides(belief, separator)
    is_same = belief.value == same
    prior = np.zeros(len(left))
    prior[belief.object[is_same]] = belief.probability[is_same]
    matching = match_pairs(left, right, prior)
    updated = matching.probability[belief.object]
    probability = np.where(is_same, updated, 1.0 - updated)
    order = np.lexsort((belief.value, -probability, belief.object))
    method = f"{matching.exact:,} pairs matched exactly"
    if matching.approximate:
        method += f", {matching.approximate:,} by belief propagation, which is approximate"
    return replace(belief, value=belief.value[order], probability=probability[order], method=method)


def _same(belief: SlotBelief) -> int:
    values = list(belief.parsed.statements.values)
    matches = [n for n, value in enumerate(values) if value in SAME]
    if belief.parsed.kind != "closed" or len(values) != 2 or len(matches) != 1:
        shown = ", ".join(values[:5])
        raise InputError(f"one to one needs judgements same (1, yes) or different, not {shown}")
    return matches[0]


def _sides(belief: SlotBelief, separator: str) -> tuple[IntArray, IntArray]:
    """Return both sides of every object as numbers."""
    parts = [name.split(separator) for name in belief.parsed.statements.objects]
    for name, part in zip(belief.parsed.statements.objects, parts, strict=True):
        if len(part) != 2 or not all(part):
            raise InputError(f"object {name!r} is not a pair LEFT{separator}RIGHT")
    left, right = (np.unique([p[n] for p in parts], return_inverse=True)[1] for n in (0, 1))
    return left.reshape(-1), right.reshape(-1)
