"""Guess what the columns of a table of records hold, and read the dates in them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

Texts = Sequence[str | None]

SAMPLE = 20_000  # values by which the type of a column is guessed
FEW = 60  # distinct values of a category, at most
FILLED = 0.05  # a column with fewer values is left out

MISSING = {"", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "?", "."}
LABELS = {"cluster", "cluster_id", "clusterid", "ent_id", "entity_id", "entity", "true_cluster"}
LABELS |= {"label", "gold", "truth", "true_id", "ground_truth", "match_id", "duplicate_of"}
IDS = ("unique_id", "id", "record_id", "rec_id", "recid", "recordid", "uid", "uuid", "key", "pk")

HEADERS: Mapping[str, str] = {  # words of a header and the type that they announce
    **dict.fromkeys(("given", "first", "fname", "forename", "firstname", "middle"), "given name"),
    **dict.fromkeys(("surname", "last", "lname", "lastname", "family", "maiden"), "surname"),
    **dict.fromkeys(("dob", "date", "birthdate", "birthday", "born"), "date"),
    **dict.fromkeys(("email", "mail", "e-mail"), "email"),
    **dict.fromkeys(("phone", "tel", "telephone", "mobile", "cell", "fax"), "phone"),
    **dict.fromkeys(("postcode", "zip", "zipcode", "postal", "plz"), "postcode"),
    **dict.fromkeys(("company", "organisation", "organization", "employer", "firm"), "phrase"),
    **dict.fromkeys(("business", "venue", "publisher", "manufacturer", "brand"), "phrase"),
    **dict.fromkeys(("address", "addr", "street", "road"), "phrase"),
    **dict.fromkeys(("city", "town", "suburb", "place", "locality", "county"), "word"),
    **dict.fromkeys(("ssn", "passport", "isbn", "issn", "doi", "ean", "upc", "sku"), "identifier"),
    **dict.fromkeys(("id", "nr", "no", "number", "code", "licence", "license"), "identifier"),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table of records, with its type."""

    name: str
    kind: str


def cell_text(value: Any) -> str | None:
    """Return a value of a table as text without outer blanks, None where it is missing."""
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    text = value if isinstance(value, str) else str(value)
    text = text.strip()
    return None if text.lower() in MISSING else text


def guess_columns(table: Mapping[str, Texts], leave_out: Iterable[str]) -> list[Column]:
    """Return the columns to compare with their types; nearly empty and constant ones are not."""
    skipped = {*leave_out}
    columns: list[Column] = []
    for name, values in table.items():
        kind = "" if name in skipped else guess_kind(name, values)
        if kind:
            columns.append(Column(name, kind))
    return columns


def is_label(name: str, values: Texts) -> bool:
    """Return whether a column seems to hold the answer: its name says so, or a repeated id."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return plain in LABELS or (plain in IDS and len({*values}) < len(values))


def guess_kind(name: str, values: Texts) -> str:
    """Return the type of a column by its values and the words of its header, "" for none."""
    sample = [value for value in values[:SAMPLE] if value is not None]
    distinct = {*sample}
    if len(distinct) < 2 or len(sample) < FILLED * len(values[:SAMPLE]):
        return ""
    header = _header_kind(name)
    for kind, test, needed in _TESTS:
        announced = header == kind
        if _share(test, sample) >= (0.5 if announced else needed):
            return kind
    if _share(_is_number, sample) > 0.95:
        return _number_kind(header, sample, distinct)
    return _text_kind(header, sample, distinct)


def _share(test: Callable[[str], Any], sample: Sequence[str]) -> float:
    return sum(bool(test(value)) for value in sample) / len(sample)


_EMAIL = re.compile(r"^[^@\s]+@[^@\s]+$").match
_PHONE = re.compile(r"^\+?[\d\s().\-/x]{7,22}$").match
_NUMBER = re.compile(r"^[-+]?\d*[.,]?\d+(?:[eE][-+]?\d+)?$").match


def _is_number(value: str) -> bool:
    return bool(_NUMBER(value))


def _is_phone(value: str) -> bool:
    """Return whether a value is a phone number with the marks that separate its groups."""
    digits = sum(c.isdigit() for c in value)
    if iso(value) or (_is_number(value) and not value.startswith("+")):  # 0.250731 is none
        return False
    return bool(_PHONE(value)) and 7 <= digits <= 15 and digits < len(value)


_TESTS: Sequence[tuple[str, Callable[[str], Any], float]] = (
    ("email", _EMAIL, 0.6),
    ("date", lambda value: iso(value), 0.8),
    ("phone", _is_phone, 0.8),
)


def _header_kind(name: str) -> str:
    """Return the type that a header announces: by its last word that announces one."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    words = [word for word in re.split(r"[^a-z]+", spaced.lower()) if word]
    kinds = [HEADERS[word] for word in words if word in HEADERS]
    return kinds[-1] if kinds else ""


def _number_kind(header: str, sample: Sequence[str], distinct: set[str]) -> str:
    whole = all(value.isdigit() for value in distinct)
    if header in ("phone", "postcode"):
        return header
    if whole and _share(lambda value: 1850 <= int(value) <= 2040, sample) > 0.95:
        return "year"
    if len(distinct) <= FEW:
        return "category"
    lengths = Counter(map(len, sample))
    regular = whole and lengths.most_common(1)[0][1] > 0.9 * len(sample) and max(lengths) >= 5
    return "identifier" if whole and (header == "identifier" or regular) else "number"


def _text_kind(header: str, sample: Sequence[str], distinct: set[str]) -> str:
    if header in ("given name", "surname", "postcode", "phone"):
        return header
    if len(distinct) <= FEW and len(distinct) < 0.05 * len(sample):
        return "category"
    words = sum(len(tokens_of(value)) for value in sample) / len(sample)
    if words > 5:
        return "text"
    if header == "phrase" or words > 1.6:
        return "phrase"
    coded = _share(lambda value: any(c.isdigit() for c in value), sample)
    return "identifier" if coded > 0.7 else "word"


def plain_words(value: str) -> str:
    """Return a value in lower case, without accents, its words separated by single blanks."""
    letters = value.lower()
    if not letters.isascii():
        decomposed = unicodedata.normalize("NFKD", letters)
        letters = "".join(c for c in decomposed if not unicodedata.combining(c))
    letters = letters.replace("'", "").replace("’", "")
    return " ".join("".join(c if c.isalnum() else " " for c in letters).split())


def tokens_of(value: str) -> list[str]:
    """Return the different words of a value in order of the alphabet."""
    return sorted({*plain_words(value).split()})


_DATES = (
    re.compile(r"^(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?:[T ].*)?$").match,
    re.compile(r"^(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})(?:\.0)?$").match,
    re.compile(r"^(?P<d>\d{1,2})[-/.](?P<m>\d{1,2})[-/.](?P<y>\d{4})$").match,
)
_EITHER = re.compile(r"^(\d{1,2})[-/](\d{1,2})[-/]\d{4}$").match  # with dots the day is first


_MONTHS = {  # by how their names begin in English, German, French, Spanish and Italian
    stem: n
    for n, stems in enumerate(
        ("jan ene gen", "feb fev", "mar mrz", "apr avr abr", "may mai mag", "jun juin giu",
         "jul juil lug", "aug aou ago", "sep set", "oct okt ott", "nov", "dec dez dic"), 1)
    for stem in stems.split()
}  # fmt: skip
_NAMED_DATES = (
    re.compile(
        r"^(?:[a-z]+ )?(\d{1,2})(?:st|nd|rd|th)?(?: de| of)? ([a-z]+)(?: de)? (\d{4})$"
    ).match,
    re.compile(r"^(?:[a-z]+ )?([a-z]+) (\d{1,2})(?:st|nd|rd|th)? (\d{4})$").match,
)


def _date_parts(value: str, month_first: bool) -> list[int] | None:
    """Return year, month and day of a text that is a date; a month above 12 is taken as the day."""
    for match in _DATES:
        if found := match(value):
            year, month, day = (int(found[part]) for part in "ymd")
            turned = month > 12 >= day or (month_first and day <= 12 and bool(_EITHER(value)))
            return [year, day, month] if turned else [year, month, day]
    for match, (day, month) in zip(_NAMED_DATES, ((1, 2), (2, 1)), strict=True):
        if found := match(plain_words(value)):
            number = _MONTHS.get(found[month][:4]) or _MONTHS.get(found[month][:3])
            return None if number is None else [int(found[3]), number, int(found[day])]
    return None


def iso(value: str, month_first: bool = False) -> str | None:
    """Return a date as YYYY-MM-DD, None for other texts; `month_first` where either may be."""
    numbers = _date_parts(value, month_first)
    try:
        return date(*numbers).isoformat() if numbers and numbers[0] >= 1700 else None
    except ValueError:
        return None


def date_orders(values: Texts) -> Counter[str]:
    """Count the dates in figures that have the day first, the month first, or may have either."""
    found = (_EITHER(value) for value in values if value is not None)
    parts = ((int(one[1]), int(one[2])) for one in found if one)
    return Counter(
        "either" if first <= 12 and second <= 12 else "day" if first > 12 else "month"
        for first, second in parts
        if first != second and min(first, second) <= 12
    )
