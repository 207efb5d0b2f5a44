"""Columns of records, typed by their values, and how alike two values are."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

import numpy as np

from partita.core import BoolArray, FloatArray, IntArray
from partita.templates.name import NameType
from partita.templates.schema import Schema
from partita.templates.strings import StringsType

ColumnKind = Literal["text", "category", "code", "number", "date"]
SAME, VARIANT, SHORT, NEAR, SIMILAR, DIFFERENT = range(6)
LEVELS = 6
AGREEING = (SAME, VARIANT, SHORT)  # levels of two values that may both be right
MIN_SHARE = 0.9  # of the values of a column that have its type
MAX_CATEGORIES = 40
CATEGORY_SHARE = 0.1  # distinct values of a category, as a share of all
NEAR_TEXT, SIMILAR_TEXT = 0.82, 0.62  # least similarities
NEAR_NUMBER, SIMILAR_NUMBER = 0.02, 0.2  # greatest relative differences
LEGAL_FORMS = frozenset(  # and words that say as little
    """ab ag as asa bv bvba co company corp corporation gmbh inc incorporated kg kgaa limited llc
    llp ltd lp mbh nv oy oyj plc pte pty public sa sarl sas se spa sprl srl sro doo ev eg
    the and of und et de""".split()  # noqa: SIM905
)
_NUMBER = re.compile(r"[+-]?[0-9][0-9,]*(?:\.[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class RecordValue:
    """A value as it is compared: its plain text, and the words that carry information."""

    plain: str
    words: tuple[str, ...]

    @property
    def core(self) -> str:
        return " ".join(self.words)


def column_kind(values: Sequence[str]) -> ColumnKind:
    """Return the type of a column, by its values."""
    if _share(values, _DATE) >= MIN_SHARE:
        return "date"
    if _share(values, _NUMBER) >= MIN_SHARE and not _leading_zeros(values):
        return "number"
    digits = sum(c.isdigit() for v in values for c in v)
    if digits > 0.4 * sum(map(len, values)):
        return "code"
    distinct = len({plain_text(v) for v in values})
    few = distinct <= min(MAX_CATEGORIES, max(CATEGORY_SHARE * len(values), 2))
    return "category" if few else "text"


def _share(values: Sequence[str], form: re.Pattern[str]) -> float:
    return sum(bool(form.fullmatch(value)) for value in values) / max(len(values), 1)


def _leading_zeros(values: Sequence[str]) -> bool:
    return any(len(v) > 1 and v[0] == "0" and v[1].isdigit() for v in values)


def plain_text(text: str) -> str:
    """Return a text in lower case without accents, marks and needless blanks."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(c for c in letters if not unicodedata.combining(c))
    letters = re.sub(r"(?<=\b\w)\.(?=\w\b)", "", letters)  # S.A. is SA
    return " ".join(_WORD.findall(letters))


def record_value(text: str, kind: ColumnKind) -> RecordValue:
    """Return a value in the form in which values of its column are compared."""
    plain = plain_text(text)
    if kind in ("number", "date"):
        plain = text.strip().replace(",", "")
        return RecordValue(plain, (plain,))
    if kind == "code":
        return RecordValue(plain.replace(" ", ""), (plain.replace(" ", ""),))
    words = tuple(plain.split())
    return RecordValue(plain, tuple(w for w in words if w not in LEGAL_FORMS) or words)


def levels(
    kind: ColumnKind, values: Sequence[RecordValue], left: IntArray, right: IntArray
) -> IntArray:
    """Return how alike the values of pairs are; `left` and `right` are indices of values."""
    if kind == "number":
        return _number_levels(np.array([_float(v.plain) for v in values]), left, right)
    found = np.full(len(left), DIFFERENT)
    similar = _similarities([v.core for v in values], left, right)
    found[similar >= SIMILAR_TEXT] = SIMILAR
    found[similar >= NEAR_TEXT] = NEAR
    if kind in ("text", "category"):
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        short = np.array([_abbreviates(values[a].words, values[b].words) for a, b in pairs], bool)
        found[short] = SHORT
    if kind == "code":
        found[_ends_alike(values, left, right)] = VARIANT
    cores, whole = (_numbered(texts) for texts in ([v.core for v in values],
                                                   [v.plain for v in values]))  # fmt: skip
    found[cores[left] == cores[right]] = VARIANT
    found[whole[left] == whole[right]] = SAME
    return found


def _numbered(texts: Sequence[str]) -> IntArray:
    """Return a number for every text, the same for equal ones."""
    numbers = {text: n for n, text in enumerate(texts)}
    return np.array([numbers[text] for text in texts], dtype=np.int64)


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _number_levels(numbers: FloatArray, left: IntArray, right: IntArray) -> IntArray:
    a, b = numbers[left], numbers[right]
    size = np.maximum(np.maximum(np.abs(a), np.abs(b)), 1e-12)
    apart = np.where(np.isfinite(a) & np.isfinite(b), np.abs(a - b) / size, np.inf)
    found = np.full(len(left), DIFFERENT)
    found[apart <= SIMILAR_NUMBER] = SIMILAR
    found[apart <= NEAR_NUMBER] = NEAR
    found[apart == 0] = SAME
    return found


def _similarities(texts: Sequence[str], left: IntArray, right: IntArray) -> FloatArray:
    from partita.fusion.record_kernels import edit_similarities

    letters = np.array([ord(c) for text in texts for c in text], dtype=np.int64)
    starts = np.array([0, *accumulate(len(text) for text in texts)], dtype=np.int64)
    found: FloatArray = edit_similarities(letters, starts, left, right)
    return found


def _ends_alike(values: Sequence[RecordValue], left: IntArray, right: IntArray) -> BoolArray:
    """Return which codes end alike: one has a prefix such as that of a country."""
    alike = [
        len(short) >= 6 and long.endswith(short)
        for short, long in (
            sorted((values[a].plain, values[b].plain), key=len)
            for a, b in zip(left.tolist(), right.tolist(), strict=True)
        )
    ]
    return np.array(alike, dtype=bool)


def _abbreviates(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether all words of one text are, or shorten, words of the other, in order."""
    short, long = (left, right) if len(left) <= len(right) else (right, left)
    if len(short) == 1 and len(long) > 1:
        return short[0] == "".join(word[0] for word in long) or short[0] == "".join(long)
    if not short or len(long) - len(short) > 2:
        return False
    at = 0
    for word in short:
        while at < len(long) and not _shortens(word, long[at]):
            at += 1
        if at == len(long):
            return False
        at += 1
    return True


def _shortens(left: str, right: str) -> bool:
    short, long = (left, right) if len(left) <= len(right) else (right, left)
    return short[:1] == long[:1] and (
        long.startswith(short) or (2 < len(short) < len(long) - 1 and _within(short, long))
    )


def _within(short: str, long: str) -> bool:
    """Return whether the letters of a word stand in another in this order."""
    letters = iter(long)
    return all(letter in letters for letter in short)


def table_schema(columns: Mapping[str, Sequence[str]]) -> Schema:
    """Return a schema for columns of texts: the column of names, and others that hold one text."""
    name = name_column(columns)
    return Schema({c: NameType() if c == name else StringsType(several=False) for c in columns})


def name_column(columns: Mapping[str, Sequence[str]]) -> str | None:
    """Return the column of texts with the most distinct values per record, names preferred."""
    texts = {c: v for c, v in columns.items() if v and column_kind(v) == "text"}
    if not texts:
        return None
    named = [c for c in texts if "name" in c.lower() or "title" in c.lower()]
    return max(named or texts, key=lambda c: (len(set(texts[c])), c))


def blocking_keys(value: RecordValue, kind: ColumnKind) -> Iterator[str]:
    """Yield the keys under which a record is found by one of its values."""
    if kind == "category":
        return
    yield value.core
    if kind != "text":
        return
    joined = "".join(value.words)
    yield f"{joined[:4]}…"
    yield f"…{joined[-5:]}"
    for word in value.words:
        if len(word) > 2:
            yield word
            yield f"{word[:5]}…"
    if len(value.words) > 1:
        yield "".join(word[0] for word in value.words)


def frequencies(cores: Sequence[str]) -> dict[str, float]:
    """Return the share of records with each value."""
    return {core: n / len(cores) for core, n in Counter(cores).items()}
