"""Group the mentions of an incident into entities."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from partita.rules.values import BELOW_TWENTY, TENS
from partita_incidents.mentions import Mention, coarse_type, mention_end
from partita_incidents.readings import Reading, RolePart
from partita_incidents.stories import Item, Story

_OPENERS = frozenset({"[", "(", ",", "--"})


@cache
def shipped_aliases() -> Mapping[str, str]:
    """Return the shipped names of organisations, each with its canonical name."""
    facts = json.loads((files(__package__) / "facts.json").read_text("utf-8"))
    return {name: names[0] for names in facts["aliases"] for name in names}


def aliases(story: Story) -> dict[str, str]:
    """Return the short names that the story explains, with the long ones."""
    long_names: dict[str, str] = {}
    for sentence in story.sentences:
        for place, item in enumerate(sentence.items):
            long = str(item.attributes.get("name") or "").upper()
            if long and (short := _short_name(sentence.items, place, item, long)):
                long_names[short] = long
    return long_names


def _short_name(items: Sequence[Item], place: int, item: Item, long: str) -> str:
    """Return the short name that follows a long one: "Farabundo Marti National Liberation Front
    [FMLN]"."""
    if alias := item.attributes.get("alias"):
        return str(alias).upper()
    if place + 2 >= len(items) or items[place + 1].attributes.get("word") not in _OPENERS:
        return ""
    name = str(
        items[place + 2].attributes.get("name") or items[place + 2].attributes.get("text", "")
    ).upper()
    fits = len(long.split()) > 2 and " " not in name and name[:1] in {w[0] for w in long.split()}
    return name if fits and 2 <= len(name) <= 9 and name.isalpha() else ""


def canonical_name(name: str, long_names: Mapping[str, str]) -> str:
    """Return the name by which an organisation is best known."""
    long = long_names.get(name, name)
    return shipped_aliases().get(long, shipped_aliases().get(name, long))


_DETERMINERS = frozenset(
    {"THE", "A", "AN", "THIS", "THAT", "THESE", "THOSE", "HIS", "HER", "ITS", "THEIR", "SOME"}
)
_GROUPS = frozenset({"group", "member", "column", "band", "number", "squad", "gang", "unit"})
_WORD = re.compile(r"[^\s\[\]()]+")
_UNITS = "|".join(BELOW_TWENTY[1:10])
# What the keys leave out before a noun: how many there are, and that it is only alleged.
_QUANTITY = re.compile(
    r"(?:(?:AT LEAST|MORE THAN|NO LESS THAN|ABOUT|APPROXIMATELY|AROUND|OVER|NEARLY|ALMOST|SOME"
    r"|SEVERAL|MANY|ANOTHER|ALLEGED|PRESUMED|[0-9][0-9,.]*"
    rf"|{'|'.join(BELOW_TWENTY[1:13])}|(?:{'|'.join(TENS)})(?:-(?:{_UNITS}))?) )+(?=\w)"
)
_TITLE_LIST = """
AMBASSADOR ARCHBISHOP ATTORNEY BISHOP BUSINESSMAN CANDIDATE CAPTAIN CARDINAL CHIEF CITIZEN
COLONEL COMMANDER CONGRESSMAN CONSUL CORPORAL COUNCILMAN DEPUTY DIRECTOR DOCTOR DR ENGINEER
FATHER GENERAL GOVERNOR INDUSTRIALIST JOURNALIST JUDGE JUSTICE LAWYER LEADER LIEUTENANT
MAGISTRATE MAJOR MANAGER MAYOR MINISTER MONSIGNOR MSGR OFFICER POLICEMAN PRESIDENT PRIEST
PROFESSOR RECTOR REPORTER REPRESENTATIVE REVEREND SECRETARY SENATOR SERGEANT SISTER SPOKESMAN
STUDENT TREASURER
"""
_TITLES = frozenset(_TITLE_LIST.split())


@dataclass(slots=True, eq=False)
class Entity:
    """One participant: its role, the mentions, its names and descriptions."""

    role: str
    parts: list[RolePart] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    descriptions: dict[str, None] = field(default_factory=dict)
    heads: set[str] = field(default_factory=set)
    single: bool = False

    @property
    def probability(self) -> float:
        return max(part.probability for part in self.parts)

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
    """Group the parts of one role into entities, the most probable first."""
    grouped: list[Entity] = []
    long_names = aliases(reading.story) if role == "ORGANISATION" else {}
    for part in parts:
        if part.role == role:
            _add_entity(grouped, _entity(reading, part, long_names))
    if role in ("VICTIM", "PERPETRATOR"):
        _add_full_names(reading, grouped)
    return sorted(grouped, key=lambda entity: -entity.probability)


def _add_entity(grouped: list[Entity], new: Entity) -> None:
    for entity in grouped:
        if _same_entity(entity, new):
            entity.parts += new.parts
            entity.names |= new.names
            entity.descriptions |= new.descriptions
            entity.heads |= new.heads
            return
    grouped.append(new)


def _add_full_names(reading: Reading, grouped: Iterable[Entity]) -> None:
    """Add the longest name of a person elsewhere in the message, if only one name fits."""
    named = [entity for entity in grouped if entity.names]
    names = {name for mention in reading.mentions if (name := person_name(mention))}
    for entity in named if names else ():
        own = set(entity.name.split())
        longer = [name for name in names if own < set(name.split())]
        fullest = max(longer, key=lambda name: (len(name.split()), name), default="")
        if all(set(name.split()) <= set(fullest.split()) for name in longer) and fullest:
            entity.names[fullest] = None


def _same_entity(left: Entity, right: Entity) -> bool:
    """Compare names, then descriptions and titles."""
    if left.heads & right.heads and not (left.names and right.names and left.role == "VICTIM"):
        return True
    if left.names and right.names:
        return any(_names_match(a, b) for a in left.names for b in right.names)
    return left.role == "VICTIM" and (_title_matches(left, right) or _title_matches(right, left))


def _title_matches(named: Entity, other: Entity) -> bool:
    """Whether a description such as "the mayor" is the title of a named person."""
    if not named.names or other.names or not other.single:
        return False
    words = {text.split(" OF ")[0].split()[-1] for text in named.descriptions if text}
    return any(text.split(" OF ")[0].split()[-1] in words for text in other.descriptions if text)


def _names_match(left: str, right: str) -> bool:
    few, many = sorted((left.split(), right.split()), key=len)
    if len(few) == 1 and len(many) > 2 and few[0] == "".join(word[0] for word in many):
        return True
    return few[-1] in many and (len(few) == 1 or few[0] in many)


def _entity(reading: Reading, part: RolePart, long_names: Mapping[str, str]) -> Entity:
    mention = reading.mentions[part.place]
    entity = Entity(part.role, [part], single=str(mention.item.attributes.get("number")) == "1")
    if part.role in ("VICTIM", "PERPETRATOR") and (name := person_name(mention)):
        entity.names[name] = None
        if title := title_before(reading, mention, name):
            entity.descriptions[title] = None
    elif part.role == "ORGANISATION":
        text = _without_articles(reading.story.text(mention.item.first, mention.item.last))
        entity.names[text] = None
        entity.heads.add(canonical_name(text, long_names))
    else:
        entity.descriptions[phrase(reading, mention)] = None
        entity.heads.update(_heads(reading, mention))
    for apposition in _appositions(reading, mention):
        _add_apposition(entity, reading, apposition)
    return entity


def _heads(reading: Reading, mention: Mention) -> Iterator[str]:
    """Yield the head of a mention and, if it is a group, the head of its members."""
    items = reading.story.sentences[mention.sentence].items
    yield mention.lemma
    if mention.lemma in _GROUPS and mention.end > mention.item.last:
        yield str(items[mention.place + 2].attributes.get("lemma"))


def _add_apposition(entity: Entity, reading: Reading, apposition: Mention) -> None:
    """Add the name or description of an apposition to an entity."""
    if entity.role not in ("VICTIM", "PERPETRATOR"):
        return
    if name := person_name(apposition):
        entity.names[name] = None
    elif coarse_type(apposition) == "PERSON" and entity.names:
        entity.descriptions[phrase(reading, apposition)] = None
        entity.heads.add(apposition.lemma)


def person_name(mention: Mention) -> str:
    """Return the name of a person without titles, or "" if the mention is no person's name."""
    attributes, kind = mention.item.attributes, coarse_type(mention)
    if kind not in ("PERSON", "NAME") or attributes.get("form") != "name":
        return ""
    return without_title(
        _without_articles(str(attributes.get("name") or attributes.get("text", "")).upper())
    )


def without_title(name: str) -> str:
    """Return the words behind the last title: "presidency minister **Ann Lee**"."""
    words = name.split()
    titles = [n for n, word in enumerate(words[:-1]) if word in _TITLES]
    return " ".join(words[titles[-1] + 1 :]) if titles else name


def title_before(reading: Reading, mention: Mention, name: str) -> str:
    """Return the words before the name in its noun group: "former foreign minister"."""
    whole = _without_articles(reading.story.text(mention.item.first, mention.item.last))
    return whole[: whole.index(name)].strip() if name in whole else ""


def phrase(reading: Reading, mention: Mention) -> str:
    """Return the noun group with its complements, without its article and number."""
    text = _without_articles(reading.story.text(mention.item.first, mention.end))
    quantity = _QUANTITY.match(text)
    return text[quantity.end() :] if quantity else text


def _without_articles(text: str) -> str:
    words = _WORD.findall(re.sub(r"\s*[\[(][^\])]*[\])]?", " ", text)) or text.split()
    while len(words) > 1 and words[0] in _DETERMINERS:
        words = words[1:]
    return " ".join(words).strip(" ,;\"'")


def _appositions(reading: Reading, mention: Mention) -> list[Mention]:
    """Return the noun groups in apposition: "Ann Lee, leader of"; "mayor Ann Lee"."""
    sentence = reading.story.sentences[mention.sentence]
    items = sentence.items
    places = [mention.place + 2] if _is_opener(items, mention.place + 1) else [mention.place + 1]
    return [
        Mention(mention.sentence, n, items[n], mention_end(sentence, n))
        for n in places
        if not mention.inner and n < len(items) and _is_apposition(items, n, mention.place)
    ]


def _is_opener(items: Sequence[Item], place: int) -> bool:
    return place < len(items) and items[place].attributes.get("word") in (",", "(", "--")


def _is_apposition(items: Sequence[Item], place: int, first: int) -> bool:
    """Whether both are singular noun groups and the second does not continue a list."""
    a, b = items[first], items[place]
    if b.kind != "ng" or b.attributes.get("form") == "pronoun":
        return False
    if str(a.attributes.get("number")) != "1" or str(b.attributes.get("number")) != "1":
        return False
    behind = items[place + 1].attributes.get("word") if place + 1 < len(items) else "."
    return place == first + 1 or behind != "and"
