"""Fuse the claims of many sources, slot by slot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from partita.errors import InputError, Unavailable
from partita.fusion.answers import Answer, answers
from partita.fusion.belief import Parameters, SlotBelief
from partita.fusion.claims import Claims, checked_reliabilities, joined
from partita.fusion.copying import Copying, copying, discounted
from partita.fusion.kinds import TYPED, Kind, Reading, checked_kind, likely_kind
from partita.fusion.matching import one_to_one
from partita.fusion.slot import Slot, fuse_slot, with_known


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """How to fuse: kinds by slot ("" for all others), a hierarchy by slot, and so on.

    `separator` says that objects are pairs LEFT_RIGHT with at most one match each. `known` are
    truths, by object and slot. `discount` believes copied claims less.
    """

    kinds: Mapping[str, str] = field(default_factory=dict)
    reading: Reading = field(default_factory=Reading)
    reliabilities: Mapping[str, float] = field(default_factory=dict)
    known: Mapping[tuple[str, str], str] = field(default_factory=dict)
    separator: str | None = None
    discount: bool = False
    fixed: Mapping[str, Parameters] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Fused:
    """The belief: every slot, and which sources seem to copy from each other."""

    claims: Claims
    settings: Settings
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


def fuse(claims: Claims, settings: Settings | None = None) -> Fused:
    """Everything that sources say into probabilities of values; no truth is needed."""
    chosen = settings or Settings()
    if not len(claims):
        raise InputError("there are no claims to fuse")
    _refuse_unknown_slots(claims, chosen)
    heard = _heard(claims, chosen)
    if not len(heard):
        raise InputError("all sources have reliability 0 (expected at least one above 0)")
    names = sorted({claims.slots[n] for n in np.unique(heard.slot).tolist()})
    beliefs = [_slot(heard, name, chosen) for name in names]
    copies = tuple(one for belief in beliefs for one in copying(belief))
    if chosen.discount and copies:
        weaker = discounted(heard, copies)
        beliefs = [_slot(weaker, name, chosen) for name in names]
    return Fused(claims, chosen, tuple(beliefs), copies)


def without(fused: Fused, source: str) -> Fused:
    """What would be believed if a source were left out, everything learned anew."""
    return fuse(fused.claims.without(source), fused.settings)


def extended(fused: Fused, more: Claims) -> dict[tuple[str, str], Answer]:
    """All answers after more claims, by the rates learned before: the others are as they were."""
    if fused.settings.separator is not None:
        raise Unavailable(
            "with one match per side, new claims affect the others (fuse all sources again)"
        )
    whole = joined(fused.claims, more)
    settings = replace(fused.settings, fixed=fused.parameters)
    touched = np.unique(whole.object[len(fused.claims) :])
    fresh = fuse(whole.only(np.isin(whole.object, touched)), settings)
    return {**by_object(fused), **by_object(fresh)}


def by_object(fused: Fused) -> dict[tuple[str, str], Answer]:
    """The answers by object and slot."""
    return {(a.object, a.slot): a for belief in fused.slots for a in answers(belief)}


def _slot(claims: Claims, name: str, settings: Settings) -> SlotBelief:
    number = list(claims.slots).index(name)
    mine = with_known(claims.only(claims.slot == number), name, settings.known)
    fixed = settings.fixed.get(name)
    kind = fixed.kind if fixed else _kind(mine, name, settings)
    reliabilities = {**claims.reliabilities, **checked_reliabilities(settings.reliabilities)}
    belief = fuse_slot(mine, Slot(name, kind, settings.reading, reliabilities, fixed))
    return belief if settings.separator is None else one_to_one(belief, settings.separator)


def _heard(claims: Claims, settings: Settings) -> Claims:
    """The claims of all sources but those that are known never to know anything."""
    given = {**claims.reliabilities, **checked_reliabilities(settings.reliabilities)}
    deaf = [n for n, name in enumerate(claims.sources) if given.get(name) == 0.0]
    return claims.only(~np.isin(claims.source, deaf)) if deaf else claims


def _kind(claims: Claims, name: str, settings: Settings) -> Kind:
    given = settings.kinds.get(name) or claims.kinds.get(name) or settings.kinds.get("")
    if given:
        return checked_kind(given)
    if name in settings.reading.types:
        return TYPED
    values = (claims.values[n] for n in np.unique(claims.value).tolist())
    return likely_kind(claims, settings.reading.orders(values))


def _refuse_unknown_slots(claims: Claims, settings: Settings) -> None:
    asked = {*settings.kinds, *settings.fixed, *(slot for _, slot in settings.known)} - {""}
    if unknown := sorted(asked - set(claims.slots)):
        named = ", ".join(sorted(claims.slots))
        raise InputError(f"unknown slot {unknown[0]!r}; there are {named}")


@dataclass(frozen=True, slots=True)
class Change:
    """An object whose most probable value is another one; an empty one where nobody is left."""

    object: str
    slot: str
    before: str
    before_probability: float
    after: str
    after_probability: float


def changed(fused: Fused, source: str) -> tuple[Change, ...]:
    """Where the most probable value is another one if a source is left out."""
    rest = without(fused, source)
    found = []
    for belief in fused.slots:
        after = next((one.best() for one in rest.slots if one.name == belief.name), {})
        for thing, (value, p) in belief.best().items():
            other, q = after.get(thing, ("", 0.0))
            if other != value:
                found.append(Change(thing, belief.name, value, p, other, q))
    return tuple(found)
