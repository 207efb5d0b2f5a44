"""Claims of a slot that holds several values: all that a source says of an object is one set."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from partita.fusion.claims import Claims
from partita.fusion.kinds import Kind
from partita.fusion.people import Lexicon, named_together, nobody
from partita.fusion.spoken import Spoken
from partita.records import FloatArray, IntArray
from partita.templates.words import symbol

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
