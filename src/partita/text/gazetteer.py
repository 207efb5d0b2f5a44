"""Names of places and nations: the shipped tables, and lists that the user adds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from partita.errors import InputError
from partita.parameters import shipped_text

Name = tuple[str, ...]
Entry = tuple[str, str]  # the country and the kind
_LINE = re.compile(r"^(?P<country>[^:()]+?) ?\??: *(?P<places>[^:]+\(.*)$")
_PLACE = re.compile(r"^ *(?P<name>[^():?]+?) *\((?P<kind>[^()?]+)\??\)")


@dataclass(frozen=True, slots=True, eq=False)
class Gazetteer:
    """Names of places with their countries and kinds, the likeliest first; words for nations."""

    places: Mapping[Name, tuple[Entry, ...]]
    nations: Mapping[Name, str]
    longest: int
    begins: frozenset[str] = field(init=False, repr=False)  # first words of all names

    def __post_init__(self) -> None:
        names = (*self.places, *self.nations)
        object.__setattr__(self, "begins", frozenset(name[0] for name in names if name))

    def nation(self, words: Sequence[str]) -> str | None:
        """Return the first nation named among the words."""
        for n in range(len(words)):
            for size in (3, 2, 1):
                if nation := self.nations.get(tuple(words[n : n + size])):
                    return nation
        return None


@cache
def shipped_gazetteer() -> Gazetteer:
    """Return the table made from GeoNames and the nations."""
    table = json.loads(shipped_text("places") or "")
    countries = table["countries"]
    places = {
        _words(name): tuple(
            (countries[code], kind)
            for code, kind in (entry.split(" ", 1) for entry in entries.split(", "))
        )
        for name, entries in table["places"].items()
    }
    named = json.loads(shipped_text("nations") or "")["nations"]
    nations = {_words(name): nation for name, nation in named.items()}
    return Gazetteer(places, nations, max(map(len, places)))


def read_gazetteer(path: str | Path) -> Gazetteer:
    """Return the shipped gazetteer with the places of a file added.

    Lines read `COUNTRY: PLACE (KIND)`, further places within it behind colons, as in the lists of
    the MUC-4 exam (`containing-areas-part1`); lines of another form are comments.
    """
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8 (expected a list of places)", file=str(path)) from error
    places = list(parse_places(text.splitlines()))
    if not places:
        raise InputError("no place in this file (expected COUNTRY: PLACE (KIND))", file=str(path))
    return _add_places(shipped_gazetteer(), places)


def parse_places(lines: Iterable[str]) -> Iterator[tuple[Name, Entry]]:
    """Yield the places of lines, each with its country and kind."""
    for line in lines:
        if (match := _LINE.match(line.upper())) is None:
            continue
        for part in match["places"].split(":"):
            if place := _PLACE.match(part):
                kind = "CITY" if place["kind"] == "TOWN" else place["kind"].strip()
                yield _words(place["name"]), (match["country"].strip(), kind)


def _add_places(gazetteer: Gazetteer, places: Iterable[tuple[Name, Entry]]) -> Gazetteer:
    """Put the places before those of the same name."""
    first: dict[Name, dict[Entry, None]] = {}
    for name, entry in places:
        first.setdefault(name, {})[entry] = None
    merged = dict(gazetteer.places)
    for name, entries in first.items():
        merged[name] = tuple(dict.fromkeys((*entries, *gazetteer.places.get(name, ()))))
    return replace(gazetteer, places=merged, longest=max(map(len, merged)))


def _words(name: str) -> Name:
    return tuple(name.replace("'S", " 'S").split())
