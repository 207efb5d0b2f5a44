"""Claims with parsed values: single values and sets of values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from partita.errors import InputError
from partita.fusion.claims import Claims
from partita.fusion.kinds import Kind
from partita.fusion.people import Lexicon, named_together, nobody
from partita.records import FloatArray, IntArray
from partita.templates.date import DateType
from partita.templates.words import symbol


@dataclass(frozen=True, slots=True, eq=False)
class Spoken:
    """Numbers that point into lists of names; `values` are sorted and each stands once.

    `labels` are the values as people write them, `members` the sets of a slot that holds several,
    `silent` counts claims that only say that nothing is known.
    """

    object: IntArray
    source: IntArray
    value: IntArray
    confidence: FloatArray
    values: Sequence[str]
    labels: Sequence[str]
    members: Sequence[frozenset[str]] = ()
    silent: int = 0


BETWEEN = "; "
_SEPARATED = re.compile(r"[;|\n]")


def claimed_sets(claims: Claims, kind: Kind, lexicon: Lexicon | None) -> Spoken:
    """Who says which set of which object; a union of all that was said is a value as well."""
    thing, source, texts, confidence = _lists(claims)
    if kind == "people":
        sets = _people(thing, texts, lexicon or lexicon_of(claims))
    else:
        sets = [separated(text) for text in texts]
    kept = [n for n, members in enumerate(sets) if members]
    said = [sets[n] for n in kept]
    unions = united(thing[kept], said)
    members = sorted({*said, *unions.values()}, key=written)
    place = {one: n for n, one in enumerate(members)}
    values = [written(one) for one in members]
    value = np.array([place[one] for one in said], dtype=np.int64)
    silent = len(sets) - len(kept)
    return Spoken(
        thing[kept], source[kept], value, confidence[kept], values, values, members, silent
    )


def separated(text: str) -> frozenset[str]:
    """The members of a set that is written in one text."""
    return frozenset(filter(None, map(symbol, _SEPARATED.split(text))))


def written(members: Iterable[str]) -> str:
    return BETWEEN.join(sorted(members))


def lexicon_of(claims: Claims) -> Lexicon:
    """Where words stand in the names that all sources write."""
    return Lexicon.of(claims.values[n] for n in np.sort(claims.value).tolist())


def united(thing: IntArray, said: Sequence[frozenset[str]]) -> dict[int, frozenset[str]]:
    """All that anybody said of each object."""
    unions: dict[int, set[str]] = {}
    for n, members in zip(thing.tolist(), said, strict=True):
        unions.setdefault(n, set()).update(members)
    return {n: frozenset(members) for n, members in unions.items()}


def _lists(claims: Claims) -> tuple[IntArray, IntArray, list[str], FloatArray]:
    """Each source's texts about each object in one, in an order that does not depend on theirs."""
    words = [claims.values[n] for n in claims.value.tolist()]
    sources = len(claims.sources)
    key = claims.object * sources + claims.source
    keys, inverse = np.unique(key, return_inverse=True)
    texts: list[list[str]] = [[] for _ in keys]
    for n, text in zip(inverse.tolist(), words, strict=True):
        texts[n].append(text)
    confidence = np.zeros(len(keys))
    np.maximum.at(confidence, inverse, claims.confidence)
    joined = [BETWEEN.join(sorted(set(several))) for several in texts]
    return keys // sources, keys % sources, joined, confidence


def _people(thing: IntArray, texts: Sequence[str], lexicon: Lexicon) -> list[frozenset[str]]:
    """The persons of every text, object by object."""
    sets: list[frozenset[str]] = [frozenset()] * len(texts)
    told = [n for n, text in enumerate(texts) if not nobody(text)]
    for group in np.split(told, np.flatnonzero(np.diff(thing[told])) + 1):
        rows = group.tolist()
        for n, members in zip(rows, named_together([texts[n] for n in rows], lexicon), strict=True):
            sets[n] = members
    return sets


_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_GROUPS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?:[^0-9]|$))")


def claimed_texts(
    claims: Claims, kind: Kind, tolerance: float, known: Sequence[str] = ()
) -> Spoken:
    """Values in one spelling, `known` ones among them whether they are said or not.

    Numbers, and days, of one object that are close count as one.
    """
    spelled: Callable[[str], str] = {"number": number, "date": day}.get(kind, symbol)
    used, value = np.unique(claims.value, return_inverse=True)
    keys = [_spelled(spelled, claims, n) for n in used.tolist()]
    values = sorted({*keys, *known})
    place = {key: n for n, key in enumerate(values)}
    own = np.array([place[key] for key in keys], dtype=np.int64)
    said = own[value]
    if tolerance and kind in ("number", "date"):
        relative = kind == "number"
        said = within(claims.object, said, _positions(values, kind), tolerance, relative)
    plain = [claims.values[n] for n in used.tolist()] if spelled is symbol else []
    labels = _labels(values, plain, own, np.bincount(value, minlength=len(used)))
    return Spoken(claims.object, claims.source, said, claims.confidence, values, labels)


def number(text: str) -> str:
    """A number in its shortest spelling: 1,000.0 is 1000."""
    plain = _GROUPS.sub("", text.strip())
    if not _NUMBER.fullmatch(plain) or not np.isfinite(float(plain)):
        raise InputError(f"{text!r} is not a number")
    return repr(float(plain) + 0.0).removesuffix(".0")  # -0.0 + 0.0 is 0.0


def day(text: str) -> str:
    """A date in its shortest spelling."""
    return str(DateType().read(text))


def _spelled(spelled: Callable[[str], str], claims: Claims, value: int) -> str:
    """The spelling, or where the value stands that has none."""
    try:
        return spelled(claims.values[value])
    except InputError as error:
        at = int(np.flatnonzero(claims.value == value)[0])
        raise claims.located(at, f"{claims.named(at)}: {error}") from error


def within(
    objects: IntArray, values: IntArray, position: FloatArray, tolerance: float, relative: bool
) -> IntArray:
    """Values of one object that lie close together, each as the one of them that is said most."""
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
    """Runs of one object from a first position on, as far as the tolerance goes."""
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


def _positions(values: Sequence[str], kind: Kind) -> FloatArray:
    """Where numbers and days lie on a line; dates that are no days lie nowhere."""
    if kind == "number":
        return np.array([float(value) for value in values])
    whole = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
    return np.array(
        [date.fromisoformat(v).toordinal() if whole.fullmatch(v) else np.nan for v in values]
    )


def _labels(
    values: Sequence[str], plain: Sequence[str], own: IntArray, times: IntArray
) -> list[str]:
    """Of every value the spelling that is used most."""
    forms: dict[int, Counter[str]] = {}
    for text, n, count in zip(plain, own.tolist(), times.tolist(), strict=False):
        forms.setdefault(n, Counter())[" ".join(text.split())] += count
    best = {n: min(form, key=lambda text: (-form[text], text)) for n, form in forms.items()}
    return [best.get(n, value) for n, value in enumerate(values)]
