"""Documents of a collection and the records of their entities, as they are compared and kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from sys import intern
from typing import Any

from partita.text.expressions import BUSINESSES, LEGAL_FORMS
from partita.text.given_names import shipped_names
from partita.text.mentions import TITLES
from partita.text.words import shipped_words

WORD = re.compile(r"[^\W_]+")
UNKNOWN_WORD = 16.0  # rarity of a word without a frequency: e to the -16
TITLE_LETTERS = 120  # of a document's first line, where it has no title
NOT_NAMES = frozenset((
    "mr", "mrs", "ms", "dr", "sir", "lord", "lady", "st", "saint", "the", "a", "an", "of", "and",
    "in", "on", "at", "for", "to", "de", "von", "van", "der", "la", "le", "inc", "corp", "co",
    "ltd", "llc", "plc", "jr", "sr",
))  # fmt: skip
FUNCTION_WORDS = NOT_NAMES | frozenset((
    "s", "his", "her", "their", "its", "my", "our", "your", "this", "that", "these", "those",
    "some", "any", "all", "no", "every", "each", "he", "she", "it", "they", "we", "you", "i",
    "him", "them", "us", "who", "whom", "whose", "which", "with", "by", "from", "as", "or", "but",
    "is", "was", "be", "been",
))  # fmt: skip
MONTHS = frozenset((
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday",
    "saturday", "sunday",
))  # fmt: skip

# Last words of names of organizations, beside those whose first noun sense is a group.
COMMON_GROUP = 13.0  # rarity up to which such a noun counts
APPOSED, APPOSITION = ("organization", "person"), re.compile(r", (?:the )?$")
ORGANIZED = frozenset(("agency", "airport", "bank", "construction", "fc", "foundation", "hospital",
                       "nations", "radio", "reuters", "television", "times", "united"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecordMention:
    """A mention of an entity in the text of its document."""

    start: int
    end: int
    text: str
    head: str = ""
    form: str = ""
    sentence: int = 0
    governor: str = ""
    head_start: int = -1  # place of the head in the text, -1 if unknown


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """An entity of one document: what is compared with the entities of other documents.

    `names` are its names as they are written, the fullest first; `heads` and `words` come from
    mentions that are no pronouns; `nearby` are words of the sentences that have a mention.
    `probability` is that of exactly its mentions. `source_ids` are ids in another system.
    """

    id: str
    document: str
    type: str = ""
    types: Mapping[str, float] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    governors: tuple[str, ...] = ()
    nearby: tuple[str, ...] = ()
    gender: str = ""
    number: str = ""
    probability: float = 1.0
    description: str = ""
    mentions: tuple[RecordMention, ...] = ()
    values: tuple[tuple[str, str, float, str], ...] = ()  # slot, value, probability, status
    source_ids: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What the record is called: its fullest name, or else its longest mention."""
        if self.names:
            return self.names[0]
        return max((one.text for one in self.mentions), key=len, default=self.description)

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> EntityRecord:
        """Return a record that JSON held."""
        given = {**value, "document": intern(value["document"])}
        for name in ("names", "heads", "words", "governors", "nearby", "source_ids"):
            given[name] = tuple(map(intern, value[name]))  # words that many documents have
        given["types"] = {intern(name): p for name, p in value["types"].items()}
        given["mentions"] = tuple(
            RecordMention(**{**one, "form": intern(one["form"])}) for one in value["mentions"]
        )
        given["values"] = tuple(tuple(one) for one in value["values"])
        return cls(**given)


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation between two records: one that another system gave, or a clause of a text.

    `status` says whether the text asserts, denies, holds possible or reports it; `start` and `end`
    are its place in the text, -1 where that is unknown.
    """

    id: str
    source: str
    target: str
    relation: str = ""
    document: str = ""
    weight: float = 1.0
    status: str = "asserted"
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document with the records of its entities; `words` are those of its text."""

    id: str
    title: str = ""
    date: str = ""
    publisher: str = ""
    digest: str = ""
    words: tuple[str, ...] = ()
    records: tuple[EntityRecord, ...] = ()
    relations: tuple[Relation, ...] = ()

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> SourceDocument:
        """Return a document that JSON held."""
        records = tuple(EntityRecord.from_dict(one) for one in value["records"])
        relations = tuple(Relation(**one) for one in value.get("relations", ()))
        words = tuple(map(intern, value["words"]))
        return cls(**{**value, "words": words, "records": records, "relations": relations})


@cache
def rarity(word: str) -> float:
    """Return how rare a word is in English: minus the logarithm of its frequency."""
    table = shipped_words()
    place = table.find(word)
    return -float(table.frequencies[place]) if place >= 0 else UNKNOWN_WORD


def words_in(text: str) -> list[str]:
    """Return the words of a text in lower case, without function words."""
    return [intern(word) for word in WORD.findall(text.lower()) if word not in FUNCTION_WORDS]


def words_of_name(name: str) -> tuple[str, ...]:
    """Return the words of a name by which it is compared."""
    return tuple(word for word in WORD.findall(name.lower()) if word not in NOT_NAMES and
                 not (word == "s" and "s" in name))  # fmt: skip


def document_of(
    id: str,  # noqa: A002
    text: str,
    entities: Sequence[Mapping[str, Any]],
    templates: Sequence[Mapping[str, Any]],
    fields: Mapping[str, str] | None = None,
    digest: str = "",
) -> SourceDocument:
    """Return a document of the entities and templates that `run` gives as JSON.

    Without a text (a file of results has none) its words are those of the mentions.
    """
    fields = {name.lower(): value for name, value in (fields or {}).items()}
    known = {one["id"]: one for one in templates}
    words = words_in(text or " ".join(one["text"] for one in templates))
    sentences = _sentences(text, templates)
    groups = [(one, [known[n] for n in one["templates"]]) for one in entities]
    alone = {*known} - {n for one in entities for n in one["templates"]}
    groups += [({"id": n, "sort": known[n]["sort"]}, [known[n]]) for n in known if n in alone]
    records = [_record(id, *group, sentences)
               for joined in _joined_titles(groups) for group in _apart(*joined)]  # fmt: skip
    for header in ("from", "to", "cc"):
        _add_people(records, id, fields.get(header, ""))
    title = fields.get("title") or fields.get("subject") or _first_line(text)
    publisher = fields.get("publisher") or fields.get("source") or fields.get("from") or ""
    date = fields.get("date", "")
    return SourceDocument(id, title, date, publisher, digest, tuple(words), tuple(records))


Group = tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]  # an entity and its templates


def _joined_titles(groups: Sequence[Group]) -> Iterator[Group]:
    """Join "director Chiara Fontana" and "the union, the UAW" with the names at their ends."""
    home = {one["end"]: (n, one["start"]) for n, (_, own) in enumerate(groups) for one in own
            if one["form"] == "name"}  # fmt: skip
    part = [*range(len(groups))]
    for n, (_, own) in enumerate(groups):
        for one in own:
            other, start = home.get(one["end"], (n, -1))
            before = one["text"][: max(start - one["start"], 0)]
            appositive = one["sort"] in APPOSED and APPOSITION.search(before)
            if start in _ends_of_titles(one) or appositive:
                part = [part[n] if k == part[other] else k for k in part]
    for number in dict.fromkeys(part):
        members = [group for group, k in zip(groups, part, strict=True) if k == number]
        templates = [one for _, own in members for one in own]
        yield members[0][0], sorted(templates, key=lambda one: int(one["start"]))


def _apart(entity: Mapping[str, Any], templates: Sequence[Mapping[str, Any]]) -> Iterator[Group]:
    """Divide what two people with full names that share no word were taken for.

    What is no name goes with the name before it.
    """
    parts: list[tuple[set[str], list[Mapping[str, Any]]]] = []
    names = [{w for name in _names_of(one) for w in words_of_name(name)} for one in templates]
    if entity["sort"] == "person":
        for one, words in zip(templates, names, strict=True):
            is_full = len(words) > 1 or (words and one["form"] != "name")
            if is_full and not any(words & known for known, _ in parts):
                parts.append((words, []))
    if len(parts) < 2:
        yield entity, templates
        return
    latest = parts[0]
    for one, words in zip(templates, names, strict=True):
        latest = next((part for part in parts if part[0] & words), latest)
        latest[1].append(one)
    for n, (_, own) in enumerate(parts):
        if own:
            yield ({**entity, "id": f"{entity['id']}-{n + 1}"} if n else entity), own


def _add_people(records: list[EntityRecord], document: str, line: str) -> None:
    """Add records of people of a header; who is named in the text has one."""
    for part in re.split(r"[,;]", re.sub(r"<[^>]*>", "", line)):
        name = " ".join(part.replace('"', " ").split())
        words = {*words_of_name(name)}
        if len(words) < 2 or not all(one[0].isupper() for one in name.split()):
            continue
        place = next((n for n, one in enumerate(records) if one.names and one.type != "place" and
                      {w for other in one.names for w in words_of_name(other)} <= words),
                     None)  # fmt: skip
        own = records[place] if place is not None else EntityRecord(
            f"{document}:{name}", document, heads=(words_of_name(name)[-1],))  # fmt: skip
        named = replace(
            own, type="person", types={"person": 1.0},
            names=tuple(dict.fromkeys((name, *own.names))),
            words=tuple(dict.fromkeys((*own.words, *words_of_name(name)))),
        )  # fmt: skip
        if place is None:
            records.append(named)
        else:
            records[place] = named


def _plurals(word: str) -> tuple[str, ...]:
    return f"{word}s", f"{word}es", f"{word[:-1]}ies"


@cache
def _is_title(word: str) -> bool:
    """Return whether a word before a name says who it is, as minister or Dr. do.

    A noun for a person without a plural is a name itself: Sherlock.
    """
    parts = [part for part in re.split(r"\W+", word.lower()) if part]
    table = shipped_words()
    return {*parts} <= NOT_NAMES | TITLES or any(
        table.noun_classes(part)[:1] == ("person",)
        and (part.endswith("man") or any(table.find(one) >= 0 for one in _plurals(part)))
        for part in parts
    )


def plain_name(name: str, kind: str) -> str:
    """Return a name of a person or an organization without its titles and what follows it."""
    words = name.split()
    if kind == "person" and "of" in words[2:]:
        words = words[: words.index("of", 2)]
    if kind in ("person", "organization", "place") and len(words) > 1 and words[-1].isdigit():
        words = words[:-1]
    given = [n for n, one in enumerate(words) if one.lower() in shipped_names().given]
    first = next((n for n in given if not _is_title(words[n]) or n + 2 >= len(words)), None)
    titles = [n for n, one in enumerate(words[:-1][:first]) if _is_title(one)]
    if titles and kind == "person":
        words = words[titles[-1] + 1 :]
    return " ".join(words)


def _ends_of_titles(template: Mapping[str, Any]) -> list[int]:
    """Return where the name in "Coach Rita Vandermeer" starts; nothing for other mentions."""
    if template["form"] in ("name", "pronoun") or template["sort"] != "person":
        return []
    text, head = template["text"], template["head"] or ""
    words = [*re.finditer(r"\S+", text)]
    name = next((n for n in range(len(words), 0, -1) if not words[n - 1][0][0].isupper() or
                 _is_title(words[n - 1][0])), 0)  # fmt: skip
    tail = [one[0].lower() for one in words[name:]]
    if not name or not tail or not _is_title(words[name - 1][0]):
        return []
    is_head = head in tail or words[name - 1][0].lower() == head
    return [template["start"] + words[name].start()] if is_head else []


def _names_of(template: Mapping[str, Any]) -> list[str]:
    """Return the names that a template gives, without titles."""
    if template["form"] != "name":
        return [template["text"][n - template["start"] :] for n in _ends_of_titles(template)]
    given = template["slots"].get("NAME") or template["text"]
    kind = template["sort"] or ""
    return [plain_name(one, kind) for one in (given if isinstance(given, list) else [given])]


def _is_organization(name: str) -> bool:
    """Return whether the last word of a name says that it is one of an organization."""
    words = words_of_name(name)
    if not words or (len(words) < 2 and name.split()[-1].lower().strip(".") not in LEGAL_FORMS):
        return False
    last, table = name.lower().strip(".").split()[-1], shipped_words()
    is_group = table.noun_classes(last)[:1] == ("group",) and rarity(last) < COMMON_GROUP
    return last in LEGAL_FORMS | BUSINESSES | ORGANIZED or is_group


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:TITLE_LETTERS]


def _sentences(text: str, templates: Iterable[Mapping[str, Any]]) -> dict[int, list[str]]:
    """Return the words around the mentions of each sentence."""
    spans: dict[int, tuple[int, int]] = {}
    for one in templates:
        start, end = spans.get(one["sentence"], (one["start"], one["end"]))
        spans[one["sentence"]] = min(start, one["start"]), max(end, one["end"])
    return {n: words_in(text[start:end]) for n, (start, end) in spans.items()}


def _record(
    document: str,
    entity: Mapping[str, Any],
    templates: Sequence[Mapping[str, Any]],
    sentences: Mapping[int, list[str]],
) -> EntityRecord:
    mentions = tuple(
        RecordMention(one["start"], one["end"], one["text"], one["head"] or "", one["form"] or "",
                one["sentence"], one["context"].get("GOVERNOR") or "",
                (one["context"].get("HEAD_SPAN") or [-1])[0])
        for one in sorted(templates, key=lambda one: int(one["start"]))
    )  # fmt: skip
    full = [one for one in mentions if one.form != "pronoun"] or mentions
    names = sorted(
        dict.fromkeys(name for one in templates for name in _names_of(one) if name),
        key=lambda name: (-len(words_of_name(name)), -len(name)),
    )
    kind, types = entity["sort"] or "", _mean_types(templates)
    if names and kind != "time" and _is_organization(names[0]):
        kind, types = "organization", {"organization": 1.0}
    words = dict.fromkeys(word for one in full for word in words_in(one.text))
    near = dict.fromkeys(word for one in mentions for word in sentences.get(one.sentence, ()))
    return EntityRecord(
        f"{document}:{entity['id']}",
        document,
        kind,
        types,
        tuple(names),
        tuple(dict.fromkeys(one.head for one in full if one.head)),
        tuple(words),
        tuple(dict.fromkeys(one.governor for one in mentions if one.governor)),
        tuple(word for word in near if word not in words),
        _gender(templates),
        _number(templates),
        float(entity.get("probability", 1.0)),
        "; ".join(entity.get("descriptions", ())),
        mentions,
        tuple(_values(entity, templates)),
    )


def _mean_types(templates: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    given = [one["context"].get("SORT_PROBABILITIES") for one in templates]
    known = [one for one in given if one]
    names = sorted({name for one in known for name in one})
    return {name: sum(one.get(name, 0.0) for one in known) / len(known) for name in names}


def _gender(templates: Sequence[Mapping[str, Any]]) -> str:
    found = [one["slots"].get("GENDER") or "" for one in templates]
    said = [one for one in found if isinstance(one, str) and one]
    return max(sorted(set(said)), key=said.count) if said else ""


def _number(templates: Sequence[Mapping[str, Any]]) -> str:
    """Return singular, plural or a count, by the mentions that are no pronouns if there are any.

    Names say nothing: United Nations is plural, and the UN singular.
    """
    if any(one["form"] == "name" for one in templates):
        return ""
    full = [one["number"] for one in templates if one["form"] != "pronoun" and one["number"]]
    said = full or [one["number"] for one in templates if one["number"]]
    return str(max(said, key=said.count)) if said else ""


def _values(
    entity: Mapping[str, Any], templates: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str, float, str]]:
    """Yield single values that the entity's own mentions have, by all alternatives with them."""
    own = {one["id"] for one in templates}
    for slot, alternatives in (entity.get("slots") or {}).items():
        chances: dict[str, float] = {}
        status: dict[str, str] = {}
        for one in alternatives if slot not in ("NAME", "GENDER") else ():
            if not own.isdisjoint(one["templates"]):
                given = one["value"] if isinstance(one["value"], list) else [one["value"]]
                for value in map(str, given):
                    chances[value] = chances.get(value, 0.0) + float(one["probability"])
                    status.setdefault(value, one["status"])
        said = {str(part) for one in templates
                for value in [one["slots"].get(slot)] if value
                for part in (value if isinstance(value, list) else [value])}  # fmt: skip
        for value, p in chances.items():
            if value in said:
                yield slot.lower(), value, min(p, 1.0), status[value]
