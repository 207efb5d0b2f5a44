"""Resolve expressions of place."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from partita.domains.incidents.stories import Item, Story, sorts_of

# How far down a place stands: those of a chain are written from the highest to the lowest.
_LEVELS = {
    1: "DEPARTMENT|PROVINCE|STATE|REGION|OFFICIAL REGION|INTENDANCY|COMMISSARIAT|COUNTY|ISLAND",
    2: "MUNICIPALITY|JURISDICTION|CITY|TOWN|PORT|DISTRICT|METROPOLITAN DISTRICT",
    3: "VILLAGE|CANTON|HAMLET|TOWNSHIP|CORREGIMIENTO|COMMUNITY|ZONE|SECTOR|VALLEY",
    4: "NEIGHBORHOOD|SUBURB|AREA|UNIVERSITY|AIRPORT|FARM|SCHOOL|HILL|RIVER|ESTATE|BASE",
}
LEVEL = {kind: level for level, kinds in _LEVELS.items() for kind in kinds.split("|")}
_KINDS = frozenset(LEVEL) - {"AREA", "BASE", "SCHOOL", "STATE", "SECTOR", "ZONE"}


@dataclass(frozen=True, slots=True)
class Place:
    """A place at the tokens from `first` to `last` of a sentence; a country has no kind."""

    sentence: int
    first: int
    last: int
    name: str
    country: str
    kind: str = ""
    listed: bool = True

    @property
    def level(self) -> int:
        return LEVEL.get(self.kind, 3) if self.kind else 0


@dataclass(frozen=True, slots=True, eq=False)
class Gazetteer:
    """Names of places with the countries in which they lie and their kinds; words for nations."""

    places: Mapping[tuple[str, ...], tuple[tuple[str, str], ...]]
    nations: Mapping[tuple[str, ...], str]
    longest: int

    def nation(self, words: Sequence[str]) -> str | None:
        """The first nation that is named."""
        for n in range(len(words)):
            for size in (3, 2, 1):
                if found := self.nations.get(tuple(words[n : n + size])):
                    return found
        return None


@cache
def gazetteer() -> Gazetteer:
    """The shipped one."""
    data = json.loads((files("partita.domains") / "incidents" / "facts.json").read_text("utf-8"))
    places = {_cut(name): tuple(map(tuple, known)) for name, known in data["places"].items()}
    nations = {_cut(name): nation for name, nation in data["nations"].items()}
    return Gazetteer(places, nations, max(map(len, places)))


def _cut(name: str) -> tuple[str, ...]:
    return tuple(name.replace("'S", " 'S").split())


def places(story: Story, known: Gazetteer, home: Counter[str]) -> list[Place]:
    """In text order; a name that lies in several countries is taken for one of the story's."""
    return [place for n in range(len(story.sentences)) for place in _within(story, n, known, home)]


def countries(story: Story, known: Gazetteer) -> Counter[str]:
    """How often each country is spoken of; the dateline counts as several times."""
    found: Counter[str] = Counter()
    for n in range(len(story.words)):
        for size in (3, 2, 1):
            if nation := known.nations.get(story.words[n : n + size]):
                found[nation] += 1
                break
    line = tuple(story.message.fields.get("place", "").upper().replace("(", " ").split())
    for size in range(min(len(line), known.longest), 0, -1):
        for country, _ in known.places.get(line[:size], ())[:1]:
            found[country] += 3
            return found
        if nation := known.nations.get(line[:size]):
            found[nation] += 3
            return found
    return found


def _within(story: Story, sentence: int, known: Gazetteer, home: Counter[str]) -> Iterator[Place]:
    items = story.sentences[sentence].items
    if not items:
        return
    n, end = items[0].first, items[-1].last
    taken: set[int] = set()
    while n <= end:
        found = _listed(story.words, n, end, known, home)
        if found is None:
            n += 1
            continue
        size, name, country, kind = found
        yield Place(sentence, n, n + size - 1, name, country, kind)
        taken.update(range(n, n + size))
        n += size
    yield from _unlisted(story, sentence, taken, home)


def _listed(
    words: Sequence[str], n: int, end: int, known: Gazetteer, home: Counter[str]
) -> tuple[int, str, str, str] | None:
    """The longest name that begins here."""
    for size in range(min(known.longest, end - n + 1), 0, -1):
        part = tuple(words[n : n + size])
        if nation := known.nations.get(part):
            return (size, nation, nation, "") if nation == " ".join(part) else None
        if listed := known.places.get(part):
            after = words[n + size] if n + size <= end else ""
            country, kind = _chosen(listed, after, home)
            return size, " ".join(part), country, kind
    return None


def _chosen(listed: Sequence[tuple[str, str]], after: str, home: Counter[str]) -> tuple[str, str]:
    """By the word behind the name ("Ayacucho Department"), then by the story's countries."""
    return max(listed, key=lambda one: (one[1] == after, home[one[0]], -listed.index(one)))


def _unlisted(story: Story, sentence: int, taken: set[int], home: Counter[str]) -> Iterator[Place]:
    """Names that are not listed and say themselves what they are: "Yondo municipality"."""
    if not home:
        return
    country = home.most_common(1)[0][0]
    for item in story.sentences[sentence].items:
        if item.kind == "ng" and not taken.intersection(range(item.first, item.last + 1)):
            yield from _named(item, sentence, country)


def _named(item: Item, sentence: int, country: str) -> Iterator[Place]:
    known = item.known
    kind = str(known.get("lemma", "")).upper()
    name = str(known.get("name") or "")
    if name and kind in _KINDS:
        yield Place(sentence, item.first, item.last, name.upper(), country, kind, False)
    elif name and "PLACE" in sorts_of(item):
        yield Place(sentence, item.first, item.last, name.upper(), country, "CITY", False)


def written(chain: Sequence[Place]) -> str:
    """As the exam writes it: the country, then ever smaller places with their kinds."""
    below = [f"{place.name} ({place.kind})" for place in chain if place.kind]
    return ": ".join([chain[0].country, *below])
