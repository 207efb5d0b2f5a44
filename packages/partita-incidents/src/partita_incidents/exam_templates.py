"""Incident templates of the MUC-4 exam: slots, fills, dates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal

Verdict = float

CORRECT: Final = 1.0
PARTIAL: Final = 0.5
INCORRECT: Final = 0.0

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
RECENT = timedelta(days=62)  # incidents of the exam lie within two months of the message

_DAY = re.compile(r"([0-9]{1,2}) ([A-Z]{3})[A-Z]* ([0-9]{2,4})")


@dataclass(frozen=True, slots=True)
class Days:
    """The days from the first to the last; without a first, on or before the last."""

    first: date | None
    last: date

    @property
    def single(self) -> bool:
        return self.first == self.last


def days(text: str) -> Days | None:
    """Return the days of a fill, or None if it is not a date."""
    dates = [_day(match) for match in _DAY.finditer(text.upper())]
    valid = [day for day in dates if day is not None]
    if not valid or len(valid) != len(dates) or len(valid) > 2:
        return None
    if len(valid) == 2:
        return Days(*sorted(valid))
    return Days(None if text.strip().startswith("-") else valid[0], valid[0])


def _day(match: re.Match[str]) -> date | None:
    year = int(match[3])
    try:
        return date(
            year if year >= 100 else year + (1900 if year >= 70 else 2000),
            MONTHS.index(match[2]) + 1,
            int(match[1]),
        )
    except ValueError:
        return None


def compare_dates(response: str, key: str) -> Verdict:
    response_days, key_days = days(response), days(key)
    if response_days is None or key_days is None:
        return CORRECT if " ".join(response.split()) == " ".join(key.split()) else INCORRECT
    if response_days == key_days:
        return CORRECT
    if response_days.first is None:
        return PARTIAL if response_days.last == key_days.last else INCORRECT
    if not response_days.single or key_days.single:
        return INCORRECT
    first = key_days.first or key_days.last - RECENT
    return PARTIAL if first <= response_days.last <= key_days.last else INCORRECT


Kind = Literal["text", "number", "date", "location", "set", "string"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot's number and names, the kind of its fills, and the slots that its tags refer to."""

    number: int
    name: str
    title: str
    kind: Kind
    tagged: bool = False
    choices: frozenset[str] = frozenset()

    @property
    def group(self) -> str:
        """The summary group: inc, perp, phys-tgt, hum-tgt."""
        return next(group for group in GROUPS if self.name.startswith(group))


@dataclass(frozen=True, slots=True)
class Fill:
    """One fill: its alternatives, the alternatives of its tag, and whether it is optional."""

    values: tuple[str, ...]
    tags: tuple[str, ...] = ()
    optional: bool = False
    line: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Incident:
    """One template of a message; slots without fills are left out."""

    message: str
    number: str
    fills: Mapping[int, tuple[Fill, ...]]
    optional: bool = False
    line: int = 0

    def of(self, slot: int) -> tuple[Fill, ...]:
        return self.fills.get(slot, ())


GROUPS = ("inc", "perp", "phys-tgt", "hum-tgt")

# What an instrument type is a kind of.
BROADER = {
    "MACHINE GUN": "GUN",
    "MORTAR": "GUN",
    "HANDGUN": "GUN",
    "RIFLE": "GUN",
    "BOMB": "EXPLOSIVE",
    "VEHICLE BOMB": "BOMB",
    "DYNAMITE": "BOMB",
    "MINE": "BOMB",
    "AERIAL BOMB": "BOMB",
    "GRENADE": "EXPLOSIVE",
    "MOLOTOV COCKTAIL": "EXPLOSIVE",
    "MISSILE": "PROJECTILE",
    "ROCKET": "PROJECTILE",
}


def _set(*names: str) -> frozenset[str]:
    return frozenset(names)


TYPES = _set(
    "ARSON",
    "ATTACK",
    "BOMBING",
    "FORCED WORK STOPPAGE",
    "HIJACKING",
    "KIDNAPPING",
    "ROBBERY",
)
STAGES = _set("ACCOMPLISHED", "ATTEMPTED", "THREATENED")
INSTRUMENTS = _set(*BROADER, *BROADER.values(), "CUTTING DEVICE", "FIRE", "STONE", "TORTURE")
CATEGORIES = _set("TERRORIST ACT", "STATE-SPONSORED VIOLENCE")
CONFIDENCES = _set(
    "REPORTED AS FACT",
    "ACQUITTED",
    "CLAIMED OR ADMITTED",
    "SUSPECTED OR ACCUSED",
    "SUSPECTED OR ACCUSED BY AUTHORITIES",
    "POSSIBLE",
)
TARGETS = _set(
    "CIVILIAN RESIDENCE",
    "COMMERCIAL",
    "COMMUNICATIONS",
    "DIPLOMAT OFFICE OR RESIDENCE",
    "ENERGY",
    "FINANCIAL",
    "GOVERNMENT OFFICE OR RESIDENCE",
    "LAW ENFORCEMENT FACILITY",
    "ORGANIZATION OFFICE",
    "OTHER",
    "POLITICAL FIGURE OFFICE OR RESIDENCE",
    "TRANSPORT VEHICLE",
    "TRANSPORTATION FACILITY",
    "TRANSPORTATION ROUTE",
    "WATER",
)
PEOPLE = _set(
    "ACTIVE MILITARY",
    "CIVILIAN",
    "DIPLOMAT",
    "FORMER ACTIVE MILITARY",
    "FORMER GOVERNMENT OFFICIAL",
    "GOVERNMENT OFFICIAL",
    "LAW ENFORCEMENT",
    "LEGAL OR JUDICIAL",
    "POLITICAL FIGURE",
    "SECURITY GUARD",
)
DAMAGES = _set(
    "DESTROYED",
    "MONEY TAKEN FROM TARGET",
    "NO DAMAGE",
    "PROPERTY TAKEN FROM TARGET",
    "SOME DAMAGE",
    "TARGET TAKEN",
)
HARMS = _set(
    "DEATH",
    "ESCAPED",
    "INJURY",
    "NO DEATH",
    "NO INJURY",
    "NO INJURY OR DEATH",
    "PROPERTY TAKEN FROM TARGET",
    "REGAINED FREEDOM",
    "RESIGNATION",
    "NO RESIGNATION",
)

SLOTS = (
    Slot(0, "message-id", "MESSAGE: ID", "text"),
    Slot(1, "template-id", "MESSAGE: TEMPLATE", "text"),
    Slot(2, "inc-date", "INCIDENT: DATE", "date"),
    Slot(3, "inc-loc", "INCIDENT: LOCATION", "location"),
    Slot(4, "inc-type", "INCIDENT: TYPE", "set", choices=TYPES),
    Slot(5, "inc-stage", "INCIDENT: STAGE OF EXECUTION", "set", choices=STAGES),
    Slot(6, "inc-instr-id", "INCIDENT: INSTRUMENT ID", "string"),
    Slot(7, "inc-instr-type", "INCIDENT: INSTRUMENT TYPE", "set", True, INSTRUMENTS),
    Slot(8, "perp-inc-cat", "PERP: INCIDENT CATEGORY", "set", choices=CATEGORIES),
    Slot(9, "perp-ind-id", "PERP: INDIVIDUAL ID", "string"),
    Slot(10, "perp-org-id", "PERP: ORGANIZATION ID", "string"),
    Slot(11, "perp-org-conf", "PERP: ORGANIZATION CONFIDENCE", "set", True, CONFIDENCES),
    Slot(12, "phys-tgt-id", "PHYS TGT: ID", "string"),
    Slot(13, "phys-tgt-type", "PHYS TGT: TYPE", "set", True, TARGETS),
    Slot(14, "phys-tgt-num", "PHYS TGT: NUMBER", "number", True),
    Slot(15, "phys-tgt-nation", "PHYS TGT: FOREIGN NATION", "set", True),
    Slot(16, "phys-tgt-effect", "PHYS TGT: EFFECT OF INCIDENT", "set", True, DAMAGES),
    Slot(17, "phys-tgt-total-num", "PHYS TGT: TOTAL NUMBER", "number"),
    Slot(18, "hum-tgt-name", "HUM TGT: NAME", "string"),
    Slot(19, "hum-tgt-desc", "HUM TGT: DESCRIPTION", "string", True),
    Slot(20, "hum-tgt-type", "HUM TGT: TYPE", "set", True, PEOPLE),
    Slot(21, "hum-tgt-num", "HUM TGT: NUMBER", "number", True),
    Slot(22, "hum-tgt-nation", "HUM TGT: FOREIGN NATION", "set", True),
    Slot(23, "hum-tgt-effect", "HUM TGT: EFFECT OF INCIDENT", "set", True, HARMS),
    Slot(24, "hum-tgt-total-num", "HUM TGT: TOTAL NUMBER", "number"),
)
SCORED = SLOTS[2:]
