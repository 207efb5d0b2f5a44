"""Fuse the claims of many sources, slot by slot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from partita.errors import InputError, Unavailable
from partita.fusion.answers import SlotAnswer, answers
from partita.fusion.belief import Parameters, SlotBelief
from partita.fusion.claims import Claims, checked_reliabilities, join_claims
from partita.fusion.copying import Copying, discount_copies, find_copying
from partita.fusion.kinds import TYPED, Kind, Reading, checked_kind, likely_kind
from partita.fusion.matching import one_to_one
from partita.fusion.slot import SlotTask, add_truths, fuse_slot


@dataclass(frozen=True, slots=True, eq=False)
class FusionSettings:
    """The options of fusion; `kinds` are by slot ("" for all others).

    `separator` says that objects are pairs LEFT_RIGHT with at most one match per side. `truths` are
    values known by object and slot. `discount` reduces the weight of copied claims. `fixed` are
    parameters estimated before. With `independent`, sources are taken to err independently.
    """

    kinds: Mapping[str, str] = field(default_factory=dict)
    reading: Reading = field(default_factory=Reading)
    reliabilities: Mapping[str, float] = field(default_factory=dict)
    truths: Mapping[tuple[str, str], str] = field(default_factory=dict)
    separator: str | None = None
    discount: bool = False
    fixed: Mapping[str, Parameters] = field(default_factory=dict)
    independent: bool = False


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


def fuse(claims: Claims, settings: FusionSettings | None = None) -> Fused:
    """Fuse claims into probabilities of values; no truths are needed."""
    settings_ = settings or FusionSettings()
    if not len(claims):
        raise InputError("there are no claims to fuse")
    _refuse_unknown_slots(claims, settings_)
    used = _drop_unreliable(claims, settings_)
    if not len(used):
        raise InputError("all sources have reliability 0 (expected at least one above 0)")
    names = sorted({claims.slots[n] for n in np.unique(used.slot).tolist()})
    beliefs = [_slot(used, name, settings_) for name in names]
    copies = tuple(one for belief in beliefs for one in find_copying(belief))
    if settings_.discount and copies:
        discounted = discount_copies(used, copies)
        beliefs = [_slot(discounted, name, settings_) for name in names]
    return Fused(claims, settings_, tuple(beliefs), copies)


def without(fused: Fused, source: str) -> Fused:
    """Fuse again without one source, including all estimates."""
    return fuse(fused.claims.without(source), fused.settings)


def extend(fused: Fused, more: Claims) -> dict[tuple[str, str], SlotAnswer]:
    """Return all answers after more claims, with the rates estimated before."""
    if fused.settings.separator is not None:
        raise Unavailable(
            "with one match per side, new claims affect the others (fuse all sources again)"
        )
    merged = join_claims(fused.claims, more)
    settings = replace(fused.settings, fixed=fused.parameters)
    touched = np.unique(merged.object[len(fused.claims) :])
    updated = fuse(merged.only(np.isin(merged.object, touched)), settings)
    return {**answers_by_object(fused), **answers_by_object(updated)}


def answers_by_object(fused: Fused) -> dict[tuple[str, str], SlotAnswer]:
    """Return the answers by object and slot."""
    return {(a.object, a.slot): a for belief in fused.slots for a in answers(belief)}


def _slot(claims: Claims, name: str, settings: FusionSettings) -> SlotBelief:
    number = list(claims.slots).index(name)
    slot_claims = claims.only(claims.slot == number)
    fixed = settings.fixed.get(name)
    kind = fixed.kind if fixed else _kind(slot_claims, name, settings)
    nesting = settings.reading.nesting
    slot_claims = add_truths(slot_claims, name, settings.truths, kind, nesting)
    reliabilities = {**claims.reliabilities, **checked_reliabilities(settings.reliabilities)}
    separator = settings.separator
    slot = SlotTask(
        name, kind, settings.reading, reliabilities, fixed, independent=settings.independent
    )
    if separator is not None:
        slot = replace(slot, condition=partial(one_to_one, separator=separator))
    return fuse_slot(slot_claims, slot)


def _drop_unreliable(claims: Claims, settings: FusionSettings) -> Claims:
    """Leave out the claims of sources whose reliability is 0."""
    reliabilities = {**claims.reliabilities, **checked_reliabilities(settings.reliabilities)}
    unreliable = [n for n, name in enumerate(claims.sources) if reliabilities.get(name) == 0.0]
    return claims.only(~np.isin(claims.source, unreliable)) if unreliable else claims


def _kind(claims: Claims, name: str, settings: FusionSettings) -> Kind:
    kind = settings.kinds.get(name) or claims.kinds.get(name) or settings.kinds.get("")
    if kind:
        return checked_kind(kind)
    if name in settings.reading.types:
        return TYPED
    values = (claims.values[n] for n in np.unique(claims.value).tolist())
    return likely_kind(claims, settings.reading.orders(values))


def _refuse_unknown_slots(claims: Claims, settings: FusionSettings) -> None:
    named = {*settings.kinds, *settings.fixed, *(slot for _, slot in settings.truths)} - {""}
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
