"""Claims with parsed values: single values and sets of values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from partita.core import FloatArray, IntArray
from partita.errors import InputError
from partita.files.strict import shortened
from partita.fusion.claims import TRUTHS, Claims, distinct
from partita.fusion.kinds import MAX_DAMAGED, Kind
from partita.fusion.people import NameLexicon, names_nobody, people_by_text
from partita.templates.quantities import DateType
from partita.templates.slots import symbol


@dataclass(frozen=True, slots=True, eq=False)
class ParsedClaims:
    """Claims as indices; `values` are sorted and distinct.

    `labels` are the values as written, `members` the sets of a slot that holds several;
    `without_value` counts claims such as "not available".
    """

    object: IntArray
    source: IntArray
    value: IntArray
    confidence: FloatArray
    values: Sequence[str]
    labels: Sequence[str]
    members: Sequence[frozenset[str]] = ()
    without_value: int = 0
    damaged: tuple[DamagedValue, ...] = ()


@dataclass(frozen=True, slots=True)
class DamagedValue:
    """A claim whose value is no number or date as the others are, and which was set aside."""

    object: str
    source: str
    value: str
    file: str
    line: int


MEMBER_SEPARATOR = "; "
_SEPARATORS = re.compile(r"[;|\n]")


def parse_sets(claims: Claims, kind: Kind, lexicon: NameLexicon | None) -> ParsedClaims:
    """Parse claims of sets; the union of all sets of an object is a value as well."""
    objects, source, texts, confidence = _lists(claims)
    if kind == "people":
        sets = _people(objects, texts, lexicon or name_lexicon(claims))
    else:
        sets = [split_members(text) for text in texts]
    kept = [n for n, members in enumerate(sets) if members]
    claimed = [sets[n] for n in kept]
    unions = unions_by_object(objects[kept], claimed)
    members = sorted({*claimed, *unions.values()}, key=join_members)
    position = {members_: n for n, members_ in enumerate(members)}
    values = [join_members(members_) for members_ in members]
    value = np.array([position[members_] for members_ in claimed], dtype=np.int64)
    without_value = len(sets) - len(kept)
    return ParsedClaims(
        objects[kept], source[kept], value, confidence[kept], values, values, members, without_value
    )


def split_members(text: str) -> frozenset[str]:
    """Return the members of a set written as one text."""
    return frozenset(filter(None, map(symbol, _SEPARATORS.split(text))))


def join_members(members: Iterable[str]) -> str:
    return MEMBER_SEPARATOR.join(sorted(members))


def name_lexicon(claims: Claims) -> NameLexicon:
    """Return the lexicon of the names in all claims."""
    return NameLexicon.of(claims.values[n] for n in np.sort(claims.value).tolist())


def unions_by_object(
    objects: IntArray, sets: Sequence[frozenset[str]]
) -> dict[int, frozenset[str]]:
    """Return the union of the sets of each object."""
    unions: dict[int, set[str]] = {}
    for n, members in zip(objects.tolist(), sets, strict=True):
        unions.setdefault(n, set()).update(members)
    return {n: frozenset(members) for n, members in unions.items()}


def _lists(claims: Claims) -> tuple[IntArray, IntArray, list[str], FloatArray]:
    """Join each source's texts about each object, in a fixed order."""
    words = [claims.values[n] for n in claims.value.tolist()]
    sources = len(claims.sources)
    key = claims.object * sources + claims.source
    keys, inverse = np.unique(key, return_inverse=True)
    texts: list[list[str]] = [[] for _ in keys]
    for n, text in zip(inverse.tolist(), words, strict=True):
        texts[n].append(text)
    confidence = np.zeros(len(keys))
    np.maximum.at(confidence, inverse, claims.confidence)
    joined = [MEMBER_SEPARATOR.join(sorted(set(several))) for several in texts]
    return keys // sources, keys % sources, joined, confidence


def _people(objects: IntArray, texts: Sequence[str], lexicon: NameLexicon) -> list[frozenset[str]]:
    """Return the people of every text, object by object."""
    sets: list[frozenset[str]] = [frozenset()] * len(texts)
    with_names = [n for n, text in enumerate(texts) if not names_nobody(text)]
    for group in np.split(with_names, np.flatnonzero(np.diff(objects[with_names])) + 1):
        rows = group.tolist()
        for n, members in zip(rows, people_by_text([texts[n] for n in rows], lexicon), strict=True):
            sets[n] = members
    return sets


_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_GROUPS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?:[^0-9]|$))")


def parse_texts(
    claims: Claims,
    kind: Kind,
    tolerance: float,
    extra: Sequence[str] = (),
    most_damaged: float = MAX_DAMAGED,
) -> ParsedClaims:
    """Parse single values; `extra` values are added whether or not they are stated.

    Numbers and days of one object that are within the tolerance count as one. Claims with a value
    that cannot be read are set aside; a larger share of them than `most_damaged` is an error.
    """
    normalise: Callable[[str], str] = {"number": normalise_number, "date": normalise_date}.get(
        kind, symbol
    )
    claims, texts, damaged = _readable(claims, normalise, most_damaged)
    used = distinct(claims.value)
    value = np.searchsorted(used, claims.value)
    keys = [texts[n] for n in used.tolist()]
    values = sorted({*keys, *extra})
    position = {key: n for n, key in enumerate(values)}
    value_codes = np.array([position[key] for key in keys], dtype=np.int64)
    codes = value_codes[value]
    if tolerance and kind in ("number", "date"):
        relative = kind == "number"
        codes = merge_close(claims.object, codes, positions(values, kind), tolerance, relative)
    as_written = [claims.values[n] for n in used.tolist()] if normalise is symbol else []
    labels = frequent_spellings(
        values, as_written, value_codes, np.bincount(value, minlength=len(used))
    )
    columns = (claims.object, claims.source, codes, claims.confidence)
    return ParsedClaims(*columns, values, labels, damaged=damaged)


def normalise_number(text: str) -> str:
    """Return the shortest spelling of a number: 1000 for 1,000.0."""
    plain = _GROUPS.sub("", text.strip())
    if not _NUMBER.fullmatch(plain) or not np.isfinite(float(plain)):
        raise InputError(f"{shortened(repr(text))} is not a number")
    return repr(float(plain) + 0.0).removesuffix(".0")  # -0.0 + 0.0 is 0.0


def normalise_date(text: str) -> str:
    """Return the shortest spelling of a date."""
    return str(DateType().read(text))


def _readable(
    claims: Claims, normalise: Callable[[str], str], most_damaged: float
) -> tuple[Claims, dict[int, str], tuple[DamagedValue, ...]]:
    """Return the claims that can be read, the text of every value, and the claims set aside."""
    texts: dict[int, str] = {}
    errors: dict[int, InputError] = {}
    for n in distinct(claims.value).tolist():
        try:
            texts[n] = normalise(claims.values[n])
        except InputError as error:
            errors[n] = error
    if not errors:
        return claims, texts, ()
    unreadable = np.isin(claims.value, list(errors))
    known = np.array([source == TRUTHS for source in claims.sources])[claims.source] & unreadable
    if known.any() or unreadable.all() or unreadable.mean() > most_damaged:
        claim = int(np.argmax(known if known.any() else unreadable))
        problem = errors[int(claims.value[claim])]
        raise claims.located(claim, f"{claims.named(claim)}: {problem}") from problem
    files = claims.files or ("",)
    damaged = tuple(
        DamagedValue(
            claims.objects[claims.object[n]],
            claims.sources[claims.source[n]],
            claims.values[claims.value[n]],
            files[claims.file[n]],
            int(claims.line[n]),
        )
        for n in np.flatnonzero(unreadable).tolist()
    )
    return claims.only(~unreadable), texts, damaged


def merge_close(
    objects: IntArray, values: IntArray, position: FloatArray, tolerance: float, relative: bool
) -> IntArray:
    """Replace values of one object that are close by the most frequent of them."""
    pairs, inverse, times = np.unique(
        np.stack([objects, values]), axis=1, return_inverse=True, return_counts=True
    )
    order = np.lexsort((position[pairs[1]], pairs[0]))
    chosen = pairs[1].copy()
    for group in _close(pairs[0][order], position[pairs[1][order]], tolerance, relative):
        members = order[group]
        best = min(members.tolist(), key=lambda n: (-times[n], pairs[1][n]))
        chosen[members] = pairs[1][best]
    merged: IntArray = chosen[inverse.reshape(-1)]
    return merged


def _close(
    objects: IntArray, position: FloatArray, tolerance: float, relative: bool
) -> Sequence[slice]:
    """Return runs of positions of one object that are within the tolerance of the first."""
    slices, start = [], 0
    for n in range(1, len(objects) + 1):
        reach = tolerance * (abs(position[start]) if relative else 1.0)
        if (
            n == len(objects)
            or objects[n] != objects[start]
            or not position[n] - position[start] <= reach
        ):
            if n - start > 1:
                slices.append(slice(start, n))
            start = n
    return slices


def positions(values: Sequence[str], kind: Kind) -> FloatArray:
    """Return numbers, and days as ordinals; other dates are NaN."""
    if kind == "number":
        return np.array([float(value) for value in values])
    whole = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
    return np.array(
        [date.fromisoformat(v).toordinal() if whole.fullmatch(v) else np.nan for v in values]
    )


def frequent_spellings(
    values: Sequence[str], as_written: Sequence[str], value_codes: IntArray, times: IntArray
) -> list[str]:
    """Return the most frequent spelling of every value."""
    forms: dict[int, Counter[str]] = {}
    for text, n, count in zip(as_written, value_codes.tolist(), times.tolist(), strict=False):
        forms.setdefault(n, Counter())[" ".join(text.split())] += count
    best = {n: min(form, key=lambda text: (-form[text], text)) for n, form in forms.items()}
    return [best.get(n, value) for n, value in enumerate(values)]
