"""Find noun groups that may play a role in an incident."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from partita_incidents.stories import Item, Sentence, Story, types_of

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
        return str(
            self.item.attributes.get("lemma") or self.item.attributes.get("text", "")
        ).lower()

    @property
    def first(self) -> int:
        return self.item.first


def find_mentions(story: Story) -> Iterator[Mention]:
    """Yield mentions in text order; modifiers before the noun group that contains them."""
    for sentence in story.sentences:
        for place, item in enumerate(sentence.items):
            if item.kind == "ng" and _may_play_role(item):
                for inner in item.inner:
                    yield Mention(sentence.number, place, inner, inner.last, True)
                yield Mention(sentence.number, place, item, mention_end(sentence, place))
            elif _is_adjective_for_people(sentence, place):
                yield Mention(sentence.number, place, item, item.last)


_ATTACKS = frozenset(
    ("abduct", "ambush", "assassinate", "attack", "burn", "hijack", "kidnap", "murder", "raid")
)


def is_denied(sentence: Sentence, place: int) -> bool:
    """Whether a phrase is the subject, with its appositions, or the object of a denied attack:
    "Rivas, the mayor, **was not kidnapped**"."""
    items = sentence.items
    if place and _denies_attack(items[place - 1]):
        return True
    behind = place + 1
    while behind < len(items) and (_continues(items[behind]) or items[behind].kind == "ng"):
        behind += 1
    return behind < len(items) and _denies_attack(items[behind])


def _denies_attack(item: Item) -> bool:
    attributes = item.attributes
    return (
        item.kind == "vg"
        and bool(attributes.get("negated"))
        and attributes.get("lemma") in _ATTACKS
    )


def _continues(item: Item) -> bool:
    return item.kind == "word" and item.attributes["word"] in (",", "of")


def _may_play_role(item: Item) -> bool:
    """Whether a noun group is neither a pronoun nor negated."""
    return item.attributes.get("form") != "pronoun" and item.attributes.get("det") not in (
        "no",
        "neither",
    )


def _is_adjective_for_people(sentence: Sentence, place: int) -> bool:
    """Whether an adjective denotes people: "10 **dead**", "a **civilian**"."""
    item = sentence.items[place]
    if item.kind != "word" or item.attributes["word"] not in _ADJECTIVES_FOR_PEOPLE or place == 0:
        return False
    before = sentence.items[place - 1]
    return before.kind == "number" or before.attributes.get("tag") == "DT"


def mention_end(sentence: Sentence, place: int) -> int:
    """Return the last token including up to two phrases with "of": "members **of the front**"."""
    items, at = sentence.items, place
    for _ in range(2):
        if at + 2 < len(items) and _is_of(items[at + 1]) and _is_full_noun_group(items[at + 2]):
            at += 2
    return items[at].last


def _is_of(item: Item) -> bool:
    return item.kind == "word" and item.attributes["word"] == "of"


def _is_full_noun_group(item: Item) -> bool:
    return item.kind == "ng" and item.attributes.get("form") != "pronoun"


# Types in groups that play the same parts; the first that a mention has decides.
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
_COARSE = {
    entity_type: group for group, types in _GROUPS.items() for entity_type in types.split("|")
}


def coarse_type(mention: Mention) -> str:
    """Return the first group of types to which a mention belongs."""
    types = types_of(mention.item)
    for entity_type in types:
        if entity_type in _COARSE:
            return _COARSE[entity_type]
    if mention.item.kind == "name" or mention.item.attributes.get("form") == "name":
        return "NAME"
    return "OTHER"
