"""Resolve expressions of place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from partita.text.gazetteer import Gazetteer
from partita_incidents.stories import Item, Story, types_of

# Levels of places: a chain is written from the highest to the lowest level.
_LEVELS = {
    1: "DEPARTMENT|PROVINCE|STATE|REGION|OFFICIAL REGION|INTENDANCY|COMMISSARIAT|COUNTY|ISLAND",
    2: "MUNICIPALITY|JURISDICTION|CITY|TOWN|PORT|DISTRICT|METROPOLITAN DISTRICT",
    3: "VILLAGE|CANTON|HAMLET|TOWNSHIP|CORREGIMIENTO|COMMUNITY|ZONE|SECTOR|VALLEY",
    4: "NEIGHBORHOOD|SUBURB|AREA|UNIVERSITY|AIRPORT|FARM|SCHOOL|HILL|RIVER|ESTATE|BASE",
}
LEVEL = {kind: level for level, kinds in _LEVELS.items() for kind in kinds.split("|")}
_KINDS = frozenset(LEVEL) - {"AREA", "BASE", "SCHOOL", "STATE", "SECTOR", "ZONE"}
_KEPT_IN_NAME = frozenset({"UNIVERSITY", "AIRPORT"})  # the word is a part of the name
_PLACES = frozenset(
    {"PLACE", "CITY", "STATE", "COUNTRY", "REGION", "LANDFORM", "LOCALITY", "FEATURE"}
)
_PEOPLE = frozenset({"PERSON", "TITLE", "RANK", "FORENAME"})
_PREPOSITIONS = "IN AT NEAR OF FROM TO OUTSIDE INSIDE AROUND THROUGH TOWARD BETWEEN INTO ACROSS"
_LOCAL = frozenset(_PREPOSITIONS.split())
_LISTING = frozenset({",", "AND", "OR", "-", "--", "(", "."})


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


def find_places(story: Story, gazetteer: Gazetteer, home: Counter[str]) -> list[Place]:
    """Return places in text order; ambiguous names are resolved to the story's countries."""
    return [
        place
        for n in range(len(story.sentences))
        for place in _places_in_sentence(story, n, gazetteer, home)
    ]


def count_countries(story: Story, gazetteer: Gazetteer) -> Counter[str]:
    """Count the mentions of each country; the dateline counts three times."""
    counts: Counter[str] = Counter()
    begins = (n for n, word in enumerate(story.words) if word in gazetteer.begins)
    for n in begins:
        for size in (3, 2, 1):
            if nation := gazetteer.nations.get(story.words[n : n + size]):
                counts[nation] += 1
                break
    line = tuple(story.message.fields.get("place", "").upper().replace("(", " ").split())
    for size in range(min(len(line), gazetteer.longest), 0, -1):
        for country, _ in gazetteer.places.get(line[:size], ())[:1]:
            counts[country] += 3
            return counts
        if nation := gazetteer.nations.get(line[:size]):
            counts[nation] += 3
            return counts
    return counts


def _places_in_sentence(
    story: Story, sentence: int, gazetteer: Gazetteer, home: Counter[str]
) -> Iterator[Place]:
    items = story.sentences[sentence].items
    if not items:
        return
    n, end = items[0].first, items[-1].last
    taken: set[int] = set()
    while n <= end:
        listed = _longest_name(story.words, n, end, gazetteer, home)
        if listed is None:
            n += 1
            continue
        size, name, country, kind = listed
        place = Place(sentence, n, n + size - 1, name, country, kind)
        if not kind or _is_place(story, items, place, home):
            yield place
            taken.update(range(n, n + size))
        n += size
    yield from _unlisted_in_sentence(story, sentence, taken, home)


def _is_place(story: Story, items: Sequence[Item], place: Place, home: Counter[str]) -> bool:
    """Whether a listed name is used as a place: people, forces and words share such names."""
    first, last = place.first, place.last
    item = next(
        (candidate for candidate in items if candidate.first <= last and candidate.last >= first),
        None,
    )
    if item is None or item.kind not in ("ng", "name", "location", "word"):
        return False
    if item.kind == "word":
        return str(item.attributes.get("tag", "")).startswith("NN")
    if item.kind != "ng" or _PLACES.intersection(types_of(item)):
        return True
    words, name = story.words[first : last + 1], _name_words(item)
    alone = (item.first, item.last) == (first, last)
    if _PEOPLE.intersection(types_of(item)) and _contains(words, name):
        return False
    if name == words or (alone and not types_of(item)):
        before = story.words[first - 1] if first else "."
        likely = home[place.country] > 0 and before in _LISTING
        return len(words) > 1 or not alone or before in _LOCAL or likely
    return name[: len(words)] == words and home[place.country] > 0


def _contains(words: Sequence[str], name: Sequence[str]) -> bool:
    return any(name[n : n + len(words)] == words for n in range(len(name)))


def _name_words(item: Item) -> tuple[str, ...]:
    return tuple(str(item.attributes.get("name") or "").upper().split())


def _longest_name(
    words: Sequence[str], n: int, end: int, gazetteer: Gazetteer, home: Counter[str]
) -> tuple[int, str, str, str] | None:
    """Return the longest name that begins here."""
    if words[n] not in gazetteer.begins:
        return None
    for size in range(min(gazetteer.longest, end - n + 1), 0, -1):
        part = tuple(words[n : n + size])
        if nation := gazetteer.nations.get(part):
            return (size, nation, nation, "") if nation == " ".join(part) else None
        if listed := gazetteer.places.get(part):
            after = words[n + size] if n + size <= end else ""
            country, kind = _best_entry(listed, after, home)
            return size, " ".join(part), country, kind
    return None


def _best_entry(
    listed: Sequence[tuple[str, str]], after: str, home: Counter[str]
) -> tuple[str, str]:
    """Choose by the word after the name ("Ayacucho Department"), then by the story's countries."""
    return max(listed, key=lambda entry: (entry[1] == after, home[entry[0]], -listed.index(entry)))


def _unlisted_in_sentence(
    story: Story, sentence: int, taken: set[int], home: Counter[str]
) -> Iterator[Place]:
    """Yield unlisted names that contain their kind: "Arkham municipality"."""
    if not home:
        return
    country = home.most_common(1)[0][0]
    for item in story.sentences[sentence].items:
        if item.kind == "ng" and not taken.intersection(range(item.first, item.last + 1)):
            yield from _unlisted_places(item, sentence, country)


def _unlisted_places(item: Item, sentence: int, country: str) -> Iterator[Place]:
    attributes = item.attributes
    kind = str(attributes.get("lemma", "")).upper()
    name = str(attributes.get("name") or "").upper()
    *others, last = name.split() or [""]
    if others and last in _KINDS:
        kept = name if last in _KEPT_IN_NAME else " ".join(others)
        yield Place(sentence, item.first, item.last, kept, country, last, False)
    elif name and kind in _KINDS:
        yield Place(sentence, item.first, item.last, name, country, kind, False)
    elif name and "PLACE" in types_of(item):
        yield Place(sentence, item.first, item.last, name, country, "CITY", False)


def format_place(chain: Sequence[Place]) -> str:
    """Return a place as the exam writes it: the country, then ever smaller places."""
    below = [f"{place.name} ({place.kind})" for place in chain if place.kind]
    return ": ".join([chain[0].country, *below])
