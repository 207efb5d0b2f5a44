"""Readings with the dates and places of their sentences, and drafts of incidents."""

from __future__ import annotations

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from partita_incidents.features import words_by_sentence
from partita_incidents.places import Place, count_countries, find_places
from partita_incidents.readings import Reading
from partita_incidents.stories import Sentence, Story

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
# With which a text without a header begins: "Lima, 9 May 2021 --".
_DATELINE = re.compile(r"\s*(\S.{0,80}?) (?:--|—|–) ")
_YEAR = r"[12][0-9]{3}|[0-9]{2}"
_MONTH = r"(JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)[A-Z]*\.?"
_DAY = re.compile(rf"\b([0-3]?[0-9])(?:ST|ND|RD|TH|D)?\s+(?:OF\s+)?{_MONTH}(?:,?\s+({_YEAR})\b)?")
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s+([0-3]?[0-9])\b(?:,?\s+({_YEAR})\b)?")
_MONTH_ONLY = re.compile(rf"\b{_MONTH}(?:,?\s+({_YEAR})\b)?")
_AGO = re.compile(r"\b([0-9]{1,2}|A|TWO|THREE|FOUR|FIVE|SIX)\s+(DAY|WEEK)S?\s+AGO")
_NUMBERS = {"A": 1, "TWO": 2, "THREE": 3, "FOUR": 4, "FIVE": 5, "SIX": 6}
_TWO_DIGITS_FROM = 1970  # first year of the century of two-digit years in datelines
_MAX_AHEAD = timedelta(days=7)  # a date without a year that lies further ahead is last year's

_TODAY = re.compile(
    r"\b(TODAY|TONIGHT|THIS (?:MORNING|AFTERNOON|EVENING|DAWN|NOON)|(?:MINUTES|HOURS) AGO)\b"
)
_YESTERDAY = re.compile(r"\b(YESTERDAY|LAST NIGHT|LAST EVENING)\b")
_WEEK = re.compile(r"\b(?:THIS|LAST|PAST) (?:WEEK|WEEKEND)\b")
_WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_WEEKDAY = re.compile(rf"(?<!NEXT )\b({'|'.join(_WEEKDAYS)})[A-Z]*DAY\b")


def format_date(day: date) -> str:
    """Return a day as the exam writes it: 07 JAN 90."""
    return f"{day.day:02d} {MONTHS[day.month - 1]} {day.year % 100:02d}"


def parse_dateline(text: str) -> date | None:
    """Return the date of the message, or None if it has no year."""
    day_first = _DAY.search(text.upper()) or None
    if day_first is not None and day_first[3]:
        return _date(int(day_first[1]), day_first[2], int(day_first[3]))
    month_first = _MONTH_FIRST.search(text.upper())
    if month_first is not None and month_first[3]:
        return _date(int(month_first[2]), month_first[1], int(month_first[3]))
    return None


def resolve_date(text: str, anchor: date | None) -> tuple[str, str] | None:
    """Return the fill and the kind of expression, or None if the text names no day."""
    for kind, reader in _READERS:
        if (fill := reader(text.upper(), anchor)) is not None:
            return fill, kind
    return None


def _date(day: int, month: str, year: int, anchor: date | None = None) -> date | None:
    """Return a date; a year of two digits is the one nearest to the anchor's."""
    if year < 100:
        first = _TWO_DIGITS_FROM if anchor is None else anchor.year - 50
        year = first + (year - first) % 100
    try:
        return date(year, MONTHS.index(month[:3]) + 1, day)
    except ValueError:
        return None


def _year(day: int, month: str, year: str | None, anchor: date | None) -> date | None:
    """Return the date with the given year, or the latest one that is not in the future."""
    if year:
        return _date(day, month, int(year), anchor)
    if anchor is None:
        return None
    day_this_year = _date(day, month, anchor.year)
    if day_this_year is not None and day_this_year > anchor + _MAX_AHEAD:
        return _date(day, month, anchor.year - 1)
    return day_this_year


def _explicit(text: str, anchor: date | None) -> str | None:
    if match := _DAY.search(text):
        day = _year(int(match[1]), match[2], match[3], anchor)
    elif match := _MONTH_FIRST.search(text):
        day = _year(int(match[2]), match[1], match[3], anchor)
    else:
        return None
    return None if day is None else format_date(day)


def _before(pattern: re.Pattern[str], days: int) -> Callable[[str, date | None], str | None]:
    def reader(text: str, anchor: date | None) -> str | None:
        if anchor is None or not pattern.search(text):
            return None
        return format_date(anchor - timedelta(days=days))

    return reader


def _ago(text: str, anchor: date | None) -> str | None:
    match = _AGO.search(text)
    if match is None or anchor is None:
        return None
    count = _NUMBERS.get(match[1]) or int(match[1])
    return format_date(anchor - timedelta(days=count * (7 if match[2] == "WEEK" else 1)))


def _weekday(text: str, anchor: date | None) -> str | None:
    """Return the last such day that is not after the dateline."""
    match = _WEEKDAY.search(text)
    if match is None or anchor is None:
        return None
    passed = (anchor.weekday() - _WEEKDAYS.index(match[1])) % 7
    return format_date(anchor - timedelta(days=passed))


def _week(text: str, anchor: date | None) -> str | None:
    """Return an open range up to the dateline, the exam's third form."""
    return f"- {format_date(anchor)}" if anchor is not None and _WEEK.search(text) else None


def _month(text: str, anchor: date | None) -> str | None:
    """Return the range from the first to the last day of the month."""
    match = _MONTH_ONLY.search(text)
    first = _year(1, match[1], match[2], anchor) if match else None
    if first is None:
        return None
    last = first.replace(day=monthrange(first.year, first.month)[1])
    return f"{format_date(first)} - {format_date(last)}"


_READERS: tuple[tuple[str, Callable[[str, date | None], str | None]], ...] = (
    ("day", _explicit),
    ("today", _before(_TODAY, 0)),
    ("yesterday", _before(_YESTERDAY, 1)),
    ("ago", _ago),
    ("weekday", _weekday),
    ("week", _week),
    ("month", _month),
)


@dataclass(frozen=True, slots=True)
class DatePhrase:
    """A day mentioned in a sentence: its fill, its kind, and the index of the phrase."""

    fill: str
    kind: str
    place: int


@dataclass(frozen=True, slots=True, eq=False)
class MessageContext:
    """A reading with the words, days and places of each sentence."""

    reading: Reading
    words: tuple[tuple[str, ...], ...]
    anchor: date | None
    days: tuple[tuple[DatePhrase, ...], ...]
    places: tuple[tuple[Place, ...], ...]
    countries: Counter[str]

    @property
    def story(self) -> Story:
        return self.reading.story

    @property
    def default_day(self) -> str:
        return "" if self.anchor is None else f"- {format_date(self.anchor)}"

    @property
    def country(self) -> str:
        """Return the country that is mentioned most often, or "" if none is."""
        return self.countries.most_common(1)[0][0] if self.countries else ""


@lru_cache(maxsize=1)  # events and answers of a message need it
def message_context(reading: Reading) -> MessageContext:
    """Look up the words, days and places of a reading."""
    story = reading.story
    header = story.message.fields.get("date", "")
    dateline = None if header else _DATELINE.match(story.message.text)
    anchor = parse_dateline(dateline[1] if dateline else header)
    dated_until = dateline.end() if dateline and anchor else 0
    mentioned = count_countries(story, story.gazetteer)
    found_places = find_places(story, story.gazetteer, mentioned)
    return MessageContext(
        reading,
        tuple(map(tuple, words_by_sentence(story))),
        anchor,
        tuple(_days(story, sentence, anchor, dated_until) for sentence in story.sentences),
        tuple(
            tuple(place for place in found_places if place.sentence == n)
            for n in range(len(story.sentences))
        ),
        mentioned,
    )


def _days(
    story: Story, sentence: Sentence, anchor: date | None, start: int
) -> tuple[DatePhrase, ...]:
    """Return the days that a sentence mentions from character `start` on, behind the dateline."""
    phrases = []
    for n, item in enumerate(sentence.items):
        if item.kind in ("when", "date") and story.spans[item.first][0] >= start:
            day = resolve_date(str(item.attributes["text"]), anchor)
            if day is not None:
                phrases.append(DatePhrase(*day, n))
    return tuple(phrases)
