"""Group the mentions of an incident into entities."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from partita.domains.incidents.gazetteer import domain_data
from partita.domains.incidents.mentions import Mention, coarse_sort, mention_end
from partita.domains.incidents.readings import Reading, RolePart
from partita.domains.incidents.stories import Item, Story

_OPENERS = frozenset({"[", "(", ",", "--"})


@cache
def shipped_aliases() -> Mapping[str, str]:
    """Each name with the one that it stands for."""
    return {name: names[0] for names in domain_data("facts.json")["aliases"] for name in names}


def aliases(story: Story) -> dict[str, str]:
    """Short names that the story explains, with the long ones."""
    found: dict[str, str] = {}
    for sentence in story.sentences:
        for place, item in enumerate(sentence.items):
            long = str(item.known.get("name") or "").upper()
            if long and (short := _short_name(sentence.items, place, item, long)):
                found[short] = long
    return found


def _short_name(items: Sequence[Item], place: int, item: Item, long: str) -> str:
    """ "Farabundo Marti National Liberation Front [FMLN]"."""
    if alias := item.known.get("alias"):
        return str(alias).upper()
    if place + 2 >= len(items) or items[place + 1].known.get("word") not in _OPENERS:
        return ""
    name = str(items[place + 2].known.get("name") or items[place + 2].known.get("text", "")).upper()
    fits = len(long.split()) > 2 and " " not in name and name[:1] in {w[0] for w in long.split()}
    return name if fits and 2 <= len(name) <= 9 and name.isalpha() else ""


def canonical_name(name: str, told: Mapping[str, str]) -> str:
    """The name under which an organisation is known."""
    long = told.get(name, name)
    return shipped_aliases().get(long, shipped_aliases().get(name, long))


_DETERMINERS = frozenset(
    {"THE", "A", "AN", "THIS", "THAT", "THESE", "THOSE", "HIS", "HER", "ITS", "THEIR", "SOME"}
)
_GROUPS = frozenset({"group", "member", "column", "band", "number", "squad", "gang", "unit"})
_WORD = re.compile(r"[^\s\[\]()]+")


@dataclass(slots=True, eq=False)
class Entity:
    """One participant: its role, the parts that mention it, its names and descriptions."""

    role: str
    parts: list[RolePart] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    descriptions: dict[str, None] = field(default_factory=dict)
    heads: set[str] = field(default_factory=set)
    single: bool = False

    @property
    def chance(self) -> float:
        return max(part.chance for part in self.parts)

    @property
    def name(self) -> str:
        return max(self.names, key=len, default="")

    @property
    def description(self) -> str:
        return max(self.descriptions, key=len, default="")

    @property
    def string(self) -> str:
        return self.name or self.description


def entities(reading: Reading, parts: Iterable[RolePart], role: str) -> list[Entity]:
    """Those of one role, the likeliest first."""
    found: list[Entity] = []
    told = aliases(reading.story) if role == "ORGANISATION" else {}
    for part in parts:
        if part.role == role:
            _add_entity(found, _entity(reading, part, told))
    return sorted(found, key=lambda one: -one.chance)


def _add_entity(found: list[Entity], new: Entity) -> None:
    for one in found:
        if _same_entity(one, new):
            one.parts += new.parts
            one.names |= new.names
            one.descriptions |= new.descriptions
            one.heads |= new.heads
            return
    found.append(new)


def _same_entity(one: Entity, other: Entity) -> bool:
    """By a name that is part of the other's, or by the same description."""
    if one.heads & other.heads and not (one.names and other.names and one.role == "VICTIM"):
        return True
    if one.names and other.names:
        return any(_names_match(a, b) for a in one.names for b in other.names)
    return one.role == "VICTIM" and (_title_matches(one, other) or _title_matches(other, one))


def _title_matches(named: Entity, other: Entity) -> bool:
    """ "The mayor" is the mayor whose name is known."""
    if not named.names or other.names or not other.single:
        return False
    words = {text.split(" OF ")[0].split()[-1] for text in named.descriptions if text}
    return any(text.split(" OF ")[0].split()[-1] in words for text in other.descriptions if text)


def _names_match(one: str, other: str) -> bool:
    few, many = sorted((one.split(), other.split()), key=len)
    if len(few) == 1 and len(many) > 2 and few[0] == "".join(word[0] for word in many):
        return True
    return few[-1] in many and (len(few) == 1 or few[0] in many)


def _entity(reading: Reading, part: RolePart, told: Mapping[str, str]) -> Entity:
    mention = reading.mentions[part.place]
    entity = Entity(part.role, [part], single=str(mention.item.known.get("number")) == "1")
    if part.role in ("VICTIM", "PERPETRATOR") and (name := person_name(mention)):
        entity.names[name] = None
        if title := title_before(reading, mention, name):
            entity.descriptions[title] = None
    elif part.role == "ORGANISATION":
        text = _without_articles(reading.story.text(mention.item.first, mention.item.last))
        entity.names[text] = None
        entity.heads.add(canonical_name(text, told))
    else:
        entity.descriptions[phrase(reading, mention)] = None
        entity.heads.update(_heads(reading, mention))
    for linked in _appositions(reading, mention):
        _add_apposition(entity, reading, linked)
    return entity


def _heads(reading: Reading, mention: Mention) -> Iterator[str]:
    """The head, and of a group or of members those of whom it consists."""
    items = reading.story.sentences[mention.sentence].items
    yield mention.lemma
    if mention.lemma in _GROUPS and mention.end > mention.item.last:
        yield str(items[mention.place + 2].known.get("lemma"))


def _add_apposition(entity: Entity, reading: Reading, linked: Mention) -> None:
    """What stands in apposition names or describes the same."""
    if entity.role not in ("VICTIM", "PERPETRATOR"):
        return
    if name := person_name(linked):
        entity.names[name] = None
    elif coarse_sort(linked) == "PERSON" and entity.names:
        entity.descriptions[phrase(reading, linked)] = None
        entity.heads.add(linked.lemma)


def person_name(mention: Mention) -> str:
    """The name of a person, without titles; "" of what is none."""
    known, kind = mention.item.known, coarse_sort(mention)
    if kind not in ("PERSON", "NAME") or known.get("form") != "name":
        return ""
    return _without_articles(str(known.get("name") or known.get("text", "")).upper())


def title_before(reading: Reading, mention: Mention, name: str) -> str:
    """What stands before the name in its group: "former foreign minister"."""
    whole = _without_articles(reading.story.text(mention.item.first, mention.item.last))
    return whole[: whole.index(name)].strip() if name in whole else ""


def phrase(reading: Reading, mention: Mention) -> str:
    """The noun group with what belongs to it, without its article."""
    return _without_articles(reading.story.text(mention.item.first, mention.end))


def _without_articles(text: str) -> str:
    words = _WORD.findall(re.sub(r"\s*[\[(][^\])]*[\])]?", " ", text)) or text.split()
    while len(words) > 1 and words[0] in _DETERMINERS:
        words = words[1:]
    return " ".join(words).strip(" ,;\"'")


def _appositions(reading: Reading, mention: Mention) -> list[Mention]:
    """The noun groups in apposition: "Ann Lee, leader of"; "mayor Ann Lee"."""
    sentence = reading.story.sentences[mention.sentence]
    items = sentence.items
    places = [mention.place + 2] if _is_opener(items, mention.place + 1) else [mention.place + 1]
    return [
        Mention(mention.sentence, n, items[n], mention_end(sentence, n))
        for n in places
        if not mention.inner and n < len(items) and _is_apposition(items, n, mention.place)
    ]


def _is_opener(items: Sequence[Item], place: int) -> bool:
    return place < len(items) and items[place].known.get("word") in (",", "(", "--")


def _is_apposition(items: Sequence[Item], place: int, first: int) -> bool:
    """Both singular noun groups, and no list goes on behind the second."""
    a, b = items[first], items[place]
    if b.kind != "ng" or b.known.get("form") == "pronoun":
        return False
    if str(a.known.get("number")) != "1" or str(b.known.get("number")) != "1":
        return False
    behind = items[place + 1].known.get("word") if place + 1 < len(items) else "."
    return place == first + 1 or behind != "and"
