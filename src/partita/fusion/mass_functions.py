"""Combine the mass functions of several sources about slots of objects by Dempster's rule.

The frame of a slot has the values that some source names, and one outcome for all values that no
source names. Only the whole frame contains that outcome, and its mass is the probability "unknown".
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from partita.errors import InputError, TooLarge, TotalConflict
from partita.evidence import (
    TOLERANCE,
    MassFunction,
    belief,
    combine_all,
    conflicting,
    discount,
    pignistic,
    plausibility,
)
from partita.files.strict import Place, fields, list_of, number_of, text_of
from partita.fusion.claim_files import add_reliability
from partita.fusion.claims import Claims
from partita.fusion.fuse import ValueChange
from partita.fusion.sources import BELIEFS, read_source
from partita.templates.slots import symbol

FIELDS = ("object", "slot", "source")
SETS_OF_MASSES = ("masses", "distribution")  # one of these states what the source believes
CONFIGURATION = "configuration"  # the slot of beliefs about the configurations of a set
UNNAMED = ""  # the outcome for all values that no source names; a named value is never empty
MAX_FOCAL_SETS = 1 << 14


@dataclass(frozen=True, slots=True)
class FocalSet:
    """A set of values with its mass; without values it is the whole frame."""

    values: tuple[str, ...] | None
    mass: float


@dataclass(frozen=True, slots=True)
class SourceMasses:
    """The mass function of a source about a slot of an object, on a line of a file."""

    object: str
    slot: str
    source: str
    masses: tuple[FocalSet, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class MassFile:
    """The mass functions of a file, and the reliabilities that it gives."""

    masses: tuple[SourceMasses, ...]
    reliabilities: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ValueMasses:
    """The pignistic probability, belief and plausibility of a value, and who names it."""

    value: str
    probability: float
    belief: float
    plausibility: float
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CombinedMasses:
    """The values of a slot of an object; their probabilities and `unknown` add up to 1."""

    object: str
    slot: str
    values: tuple[ValueMasses, ...]
    unknown: float
    conflict: float


# --- reading ---


def read_masses(given: Any) -> MassFile:
    """Read mass functions, one JSON object per line or row."""
    read = read_source(given, kinds={"": BELIEFS})
    masses: list[SourceMasses] = []
    reliabilities: dict[str, float] = {}
    members: dict[str, frozenset[str]] = {}
    for place, value in read.rows():
        of_set = isinstance(value, dict) and "set" in value
        needed = ("set", "source") if of_set else FIELDS
        allowed = (*SETS_OF_MASSES, "reliability")
        row = fields(value, "the mass function", place, needed=needed, allowed=allowed)
        if len(row.keys() & {*SETS_OF_MASSES}) != 1:
            place.refuse("the mass function has no masses and no distribution (expected one)")
        thing, source = (
            _name(row[needed[0]], needed[0], place),
            _name(row["source"], "source", place),
        )
        slot = CONFIGURATION if of_set else _name(row["slot"], "slot", place)
        if of_set:
            _check_members(thing, row, members, place)
        stated = _distribution(row, place) if "distribution" in row else row["masses"]
        masses.append(SourceMasses(thing, slot, source, _focal_sets(stated, place), place))
        if row.get("reliability") is not None:
            _add_reliability(source, row["reliability"], reliabilities, place)
    if not masses:
        raise InputError("has no mass functions; expected at least one", file=read.name)
    return MassFile(tuple(masses), reliabilities)


def _distribution(row: Mapping[str, Any], place: Place) -> list[dict[str, Any]]:
    """Return a distribution over values as masses; what is left of 1 is for the whole frame."""
    entries: list[dict[str, Any]] = []
    for one in list_of(row["distribution"], "distribution", place):
        entry = fields(one, "an entry of the distribution", place, needed=("value", "probability"))
        p = number_of(entry["probability"], "probability", place)
        entries.append({"values": [entry["value"]], "mass": p})
    rest = 1.0 - sum(entry["mass"] for entry in entries)
    if rest < -TOLERANCE:
        place.refuse(f"the probabilities sum to {1.0 - rest:.12g}; expected at most 1")
    return [*entries, {"values": None, "mass": rest}] if rest > TOLERANCE else entries


def _check_members(
    name: str, row: Mapping[str, Any], members: dict[str, frozenset[str]], place: Place
) -> None:
    """Refuse configurations of a set that do not have the same templates."""
    stated: list[Any] = []
    [kind] = row.keys() & {*SETS_OF_MASSES}
    for entry in list_of(row[kind], kind, place):
        if isinstance(entry, dict):
            values = [entry["value"]] if "value" in entry else entry.get("values")
            stated += list_of(values or [], "values", place)
    for value in stated:
        if not isinstance(value, list):
            place.refuse("a value of a set is not a configuration; expected a list of cells")
        templates = frozenset(name for cell in _cells(value, place) for name in cell)
        before = members.setdefault(name, templates)
        if odd := sorted(templates ^ before):
            place.refuse(f"configurations of {name} differ in template {odd[0]}")


def _cells(value: list[Any], place: Place) -> list[list[str]]:
    """Return the cells of a configuration, sorted."""
    cells = [sorted(_name(one, "a template", place) for one in list_of(cell, "a cell", place))
             for cell in value]  # fmt: skip
    names = [name for cell in cells for name in cell]
    if not names or not all(cells) or len({*names}) < len(names):
        place.refuse("a configuration has an empty cell or a template twice")
    return sorted(cells)


def _name(value: Any, what: str, place: Place) -> str:
    name = text_of(value, what, place).strip()
    if not name:
        place.refuse(f"{what} is empty; expected a name")
    return name


def _add_reliability(
    source: str, value: Any, reliabilities: dict[str, float], place: Place
) -> None:
    number = number_of(value, f"reliability of {source}", place)
    if not 0 <= number <= 1:
        place.refuse(f"reliability {number} of {source} is not a number from 0 to 1")
    add_reliability(number, source, reliabilities, place)


def _focal_sets(value: Any, place: Place) -> tuple[FocalSet, ...]:
    focal_sets = tuple(_focal_set(one, place) for one in list_of(value, "masses", place))
    distinct = {_key(one.values) for one in focal_sets}
    if len(distinct) < len(focal_sets):
        place.refuse("a set of values appears twice in the masses")
    if abs((total := sum(one.mass for one in focal_sets)) - 1) > TOLERANCE:
        place.refuse(f"the masses sum to {total:.12g}; expected 1")
    return focal_sets


def _focal_set(value: Any, place: Place) -> FocalSet:
    row = fields(value, "an entry of masses", place, needed=("values", "mass"))
    mass = number_of(row["mass"], "mass", place)
    if not 0 <= mass <= 1 + TOLERANCE:
        place.refuse(f"mass {mass} is not a number from 0 to 1")
    if row["values"] is None:
        return FocalSet(None, mass)
    values = tuple(_value(one, place) for one in list_of(row["values"], "values", place))
    if not values:
        place.refuse("values is an empty set; expected values, or null for the whole frame")
    return FocalSet(values, mass)


def _value(value: Any, place: Place) -> str:
    if isinstance(value, list):  # a configuration
        return " ".join(f"({' '.join(cell)})" for cell in _cells(value, place))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(number_of(value, "a value", place))
    if not isinstance(value, str) or not value.strip():
        place.refuse(f"value {json.dumps(value)[:40]} is neither a text nor a number")
    return value


def _key(values: tuple[str, ...] | None) -> frozenset[str] | None:
    return None if values is None else frozenset(map(symbol, values))


def claim_masses(claims: Claims, reliabilities: Mapping[str, float]) -> MassFile:
    """Return claims as simple support functions: the mass of a claim is its confidence.

    Every source needs a reliability, of its file or of `reliabilities`; without one, each of its
    claims would be certain.
    """
    masses: dict[tuple[str, ...], SourceMasses] = {}
    files = claims.files or ("",)
    for n, confidence in enumerate(claims.confidence.tolist()):
        slot, source = claims.slots[claims.slot[n]], claims.sources[claims.source[n]]
        if slot in claims.kinds:
            raise claims.located(n, f"{slot} has several values; expected one beside beliefs")
        if source not in claims.reliabilities and source not in reliabilities:
            problem = f"source {source} has no reliability; claims beside beliefs need one"
            raise claims.located(n, f"{problem} (--reliability F or a column reliability)")
        value, thing = claims.values[claims.value[n]], claims.objects[claims.object[n]]
        support = (FocalSet((value,), confidence), FocalSet(None, 1.0 - confidence))
        place = Place(files[claims.file[n]], int(claims.line[n]))
        key = (thing, slot, source, symbol(value))
        masses.setdefault(key, SourceMasses(thing, slot, source, support, place))
    return MassFile(tuple(masses.values()), claims.reliabilities, claims.notes)


# --- combination ---


def combine_masses(
    masses: Sequence[SourceMasses],
    reliabilities: Mapping[str, float],
    attempt: Callable[[str], AbstractContextManager[object]] = nullcontext,
) -> tuple[CombinedMasses, ...]:
    """Combine the mass functions about each slot of each object, in the order of their names.

    A source without a reliability counts fully. The order of `masses` does not matter. Two mass
    functions of one source about the same slot are an error, since they are not independent. Each
    slot is combined within `attempt`.
    """
    by_slot: dict[tuple[str, str], dict[str, SourceMasses]] = {}
    for one in masses:
        sources = by_slot.setdefault((one.object, one.slot), {})
        if (before := sources.setdefault(one.source, one)) is not one:
            at = f"{before.place.file}, line {before.place.line}"
            one.place.refuse(f"{one.source} describes {one.slot} of {one.object} again (see {at})")
    combined: list[CombinedMasses] = []
    for (object_name, slot), sources in sorted(by_slot.items()):
        with attempt(f"slot {slot} of {object_name}"):
            functions = [sources[name] for name in sorted(sources)]
            combined.append(_combined(functions, reliabilities))
    return tuple(combined)


def mass_changes_without(
    source: str,
    combined: Sequence[CombinedMasses],
    masses: Sequence[SourceMasses],
    reliabilities: Mapping[str, float],
) -> tuple[ValueChange, ...]:
    """Return the slots of objects whose most probable value changes without a source."""
    if source not in (names := sorted({one.source for one in masses})):
        raise InputError(f"no source named {source!r}; sources are {', '.join(names[:5])}")
    others = combine_masses([one for one in masses if one.source != source], reliabilities)
    after = {(one.object, one.slot): _most_probable(one) for one in others}
    changes = []
    for one in combined:
        before = _most_probable(one)
        rest = after.get((one.object, one.slot)) or {"": 0.0}
        if before and not before.keys() & rest.keys():
            (value, p), (other, q) = next(iter(before.items())), next(iter(rest.items()))
            changes.append(ValueChange(one.object, one.slot, value, p, other, q))
    return tuple(changes)


def _most_probable(one: CombinedMasses) -> dict[str, float]:
    """Return the value of the largest probability, or several that share it."""
    best = max((value.probability for value in one.values), default=0.0)
    return {value.value: best for value in one.values if value.probability == best > 0.0}


def _combined(masses: Sequence[SourceMasses], reliabilities: Mapping[str, float]) -> CombinedMasses:
    labels = _labels(masses)
    frame = (*labels, UNNAMED)
    functions = [
        discount(_mass_function(one, frame), reliabilities.get(one.source, 1.0)) for one in masses
    ]
    _check_conflict(masses, functions, labels)
    _check_size(masses[0], functions)
    combination = combine_all(functions)
    return CombinedMasses(
        masses[0].object,
        masses[0].slot,
        _values(combination.mass, labels, masses),
        combination.mass.mass(frame),
        combination.conflict,
    )


def _labels(masses: Sequence[SourceMasses]) -> dict[str, str]:
    """Return the most frequent spelling of each named value, which is compared without case."""
    spellings: dict[str, Counter[str]] = {}
    for one in masses:
        for focal_set in one.masses:
            for value in focal_set.values or ():
                spellings.setdefault(symbol(value), Counter())[" ".join(value.split())] += 1
    return {
        value: min(spellings[value], key=lambda text: (-spellings[value][text], text))
        for value in sorted(spellings)
    }


def _mass_function(one: SourceMasses, frame: tuple[str, ...]) -> MassFunction[str]:
    masses = {
        _key(focal_set.values) or frozenset(frame): focal_set.mass for focal_set in one.masses
    }
    return MassFunction.of(frame, masses, one.source)


def _check_conflict(
    masses: Sequence[SourceMasses],
    functions: Sequence[MassFunction[str]],
    labels: Mapping[str, str],
) -> None:
    """Raise an error that names the sources if they leave nothing possible."""
    if contradicting := conflicting(functions):
        raise TotalConflict([
            f"{masses[n].source} (says {_core(functions[n], labels)} of {masses[n].object})"
            for n in contradicting
        ])  # fmt: skip


def _core(function: MassFunction[str], labels: Mapping[str, str]) -> str:
    values = sorted(labels[value] for value in function.outcomes(function.core))
    return " or ".join([*values[:3], *(["another"] if len(values) > 3 else [])])


def _check_size(one: SourceMasses, functions: Sequence[MassFunction[str]]) -> None:
    """Raise an error if the combination has too many focal sets."""
    subsets = {functions[0].whole}
    for function in functions:
        subsets = {subset & other for subset in subsets for other in function.masses} - {0}
        if len(subsets) > MAX_FOCAL_SETS:
            what = f"combining {len(functions)} mass functions about {one.slot} of {one.object}"
            raise TooLarge(what, f"{len(subsets):,} sets of values", f"{MAX_FOCAL_SETS:,}")


def _values(
    mass: MassFunction[str], labels: Mapping[str, str], masses: Sequence[SourceMasses]
) -> tuple[ValueMasses, ...]:
    """Return the named values, the most probable first."""
    probability = pignistic(_with_unnamed(mass))
    values = [
        ValueMasses(
            label,
            probability[value],
            belief(mass, [value]),
            plausibility(mass, [value]),
            tuple(sorted({one.source for one in masses if _names(one, value)})),
        )
        for value, label in labels.items()
    ]
    return tuple(sorted(values, key=lambda one: (-one.probability, -one.plausibility, one.value)))


def _with_unnamed(mass: MassFunction[str]) -> MassFunction[str]:
    """Move the mass of the whole frame to the values that no source names.

    Their number has no bound, so an even share of that mass leaves nothing for a named value.
    """
    masses = dict(mass.masses)
    ignorance = masses.pop(mass.whole, 0.0)
    return MassFunction(mass.frame, {**masses, mass.mask([UNNAMED]): ignorance})


def _names(one: SourceMasses, value: str) -> bool:
    return any(value in (_key(focal_set.values) or ()) for focal_set in one.masses)
