"""Find noun groups that may play a role in an incident."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from partita.domains.incidents.stories import Item, Sentence, Story, sorts_of

_ADJECTIVES_FOR_PEOPLE = frozenset({"dead", "wounded", "injured", "civilian", "minor", "american"})


@dataclass(frozen=True, slots=True, eq=False)
class Mention:
    """The phrase at `place` of a sentence, or a modifier inside it.

    `item` is what is mentioned; `end` its last token, phrases with "of" behind it included.
    """

    sentence: int
    place: int
    item: Item
    end: int
    inner: bool = False

    @property
    def lemma(self) -> str:
        return str(self.item.known.get("lemma") or self.item.known.get("text", "")).lower()

    @property
    def first(self) -> int:
        return self.item.first


def find_mentions(story: Story) -> Iterator[Mention]:
    """In text order; modifiers before the noun group in which they stand."""
    for sentence in story.sentences:
        for place, item in enumerate(sentence.items):
            if item.kind == "ng" and _may_play_role(item):
                for inner in item.inner:
                    yield Mention(sentence.number, place, inner, inner.last, True)
                yield Mention(sentence.number, place, item, mention_end(sentence, place))
            elif _is_adjective_for_people(sentence, place):
                yield Mention(sentence.number, place, item, item.last)


def _may_play_role(item: Item) -> bool:
    """Neither a pronoun nor nobody."""
    return item.known.get("form") != "pronoun" and item.known.get("det") not in ("no", "neither")


def _is_adjective_for_people(sentence: Sentence, place: int) -> bool:
    """ "10 **dead**", "a **civilian**": adjectives that stand for people."""
    item = sentence.items[place]
    if item.kind != "word" or item.known["word"] not in _ADJECTIVES_FOR_PEOPLE or place == 0:
        return False
    before = sentence.items[place - 1]
    return before.kind == "number" or before.known.get("tag") == "DT"


def mention_end(sentence: Sentence, place: int) -> int:
    """ "Members **of the front**", up to two of them."""
    items, at = sentence.items, place
    for _ in range(2):
        if at + 2 < len(items) and _is_of(items[at + 1]) and _is_full_noun_group(items[at + 2]):
            at += 2
    return items[at].last


def _is_of(item: Item) -> bool:
    return item.kind == "word" and item.known["word"] == "of"


def _is_full_noun_group(item: Item) -> bool:
    return item.kind == "ng" and item.known.get("form") != "pronoun"


# Sorts in groups that play the same parts; the first that a mention has decides.
_GROUPS = {
    "TERRORIST": "TERRORIST",
    "GUERRILLAS": "GUERRILLAS",
    "STATE": "STATE FORCE",
    "PERSON": "PERSON|CIVILIAN|DIPLOMAT|OFFICIAL|LAWYER|SOLDIER|POLITICIAN|POLICEMAN|GUARD|TITLE"
    "|RANK|NATIONALITY",
    "ORGANISATION": "ORGANISATION|AGENCY|FIRM|BODY",
    "TARGET": "TARGET|HOME|COMMERCIAL|COMMUNICATIONS|DIPLOMATIC|ENERGY|FINANCIAL|GOVERNMENT OFFICE"
    "|POLICE STATION|POLITICAL OFFICE|ORGANIZATION OFFICE|VEHICLE|TRANSPORT FACILITY|ROUTE|WATER"
    "|BUILDING",
    "INSTRUMENT": "INSTRUMENT|GUN|MACHINE GUN|MORTAR|HANDGUN|RIFLE|EXPLOSIVE|BOMB|VEHICLE BOMB"
    "|DYNAMITE|MINE|AERIAL BOMB|GRENADE|MOLOTOV COCKTAIL|PROJECTILE|MISSILE|ROCKET"
    "|CUTTING DEVICE|STONE|TORTURE|FIRE",
    "PLACE": "PLACE|CITY|STATE|COUNTRY|REGION|LANDFORM|LOCALITY",
    "EVENT": "ATTACKING|BOMBING|KIDNAPPING|ARSON|ROBBERY|HIJACKING|STOPPAGE|FIGHTING|HARM",
}
_COARSE = {sort: group for group, sorts in _GROUPS.items() for sort in sorts.split("|")}


def coarse_sort(mention: Mention) -> str:
    """The kind of thing, as far as sorts tell."""
    sorts = sorts_of(mention.item)
    for sort in sorts:
        if sort in _COARSE:
            return _COARSE[sort]
    if mention.item.kind == "name" or mention.item.known.get("form") == "name":
        return "NAME"
    return "OTHER"
