"""Dates of incidents: a day, a range of days, or everything up to a day (`- 26 AUG 89`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from partita.evaluation.muc.verdicts import CORRECT, INCORRECT, PARTIAL, Verdict

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
RECENT = timedelta(days=62)  # incidents of the exam lie within two months of the message

_DAY = re.compile(r"([0-9]{1,2}) ([A-Z]{3})[A-Z]* ([0-9]{2,4})")


@dataclass(frozen=True, slots=True)
class Days:
    """From the first to the last; without a first, on or before the last."""

    first: date | None
    last: date

    @property
    def single(self) -> bool:
        return self.first == self.last


def days(text: str) -> Days | None:
    """What a fill says, or None if it is no date."""
    found = [_day(match) for match in _DAY.finditer(text.upper())]
    known = [day for day in found if day is not None]
    if not known or len(known) != len(found) or len(known) > 2:
        return None
    if len(known) == 2:
        return Days(*sorted(known))
    return Days(None if text.strip().startswith("-") else known[0], known[0])


def _day(found: re.Match[str]) -> date | None:
    year = int(found[3])
    try:
        return date(year + 1900 if year < 100 else year, MONTHS.index(found[2]) + 1, int(found[1]))
    except ValueError:
        return None


def judge(response: str, key: str) -> Verdict:
    given, wanted = days(response), days(key)
    if given is None or wanted is None:
        return CORRECT if " ".join(response.split()) == " ".join(key.split()) else INCORRECT
    if given == wanted:
        return CORRECT
    if given.first is None:
        return PARTIAL if given.last == wanted.last else INCORRECT
    if not given.single or wanted.single:
        return INCORRECT
    first = wanted.first or wanted.last - RECENT
    return PARTIAL if first <= given.last <= wanted.last else INCORRECT
