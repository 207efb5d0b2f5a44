"""Documents of a collection and the records of their entities, as they are compared and kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from sys import intern
from typing import Any

WORD = re.compile(r"[^\W_]+")
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

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON holds it."""
        return asdict(self)

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
class SourceDocument:
    """A document with the records of its entities; `words` are those of its text."""

    id: str
    title: str = ""
    date: str = ""
    publisher: str = ""
    digest: str = ""
    words: tuple[str, ...] = ()
    records: tuple[EntityRecord, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the document as JSON holds it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> SourceDocument:
        """Return a document that JSON held."""
        records = tuple(EntityRecord.from_dict(one) for one in value["records"])
        return cls(**{**value, "words": tuple(map(intern, value["words"])), "records": records})


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
    records = [_record(id, one, [known[n] for n in one["templates"]], sentences)
               for one in entities]  # fmt: skip
    alone = {*known} - {n for one in entities for n in one["templates"]}
    records += [_record(id, {"id": n, "sort": known[n]["sort"]}, [known[n]], sentences)
                for n in known if n in alone]  # fmt: skip
    title = fields.get("title") or fields.get("subject") or _first_line(text)
    publisher = fields.get("publisher") or fields.get("source") or fields.get("from") or ""
    date = fields.get("date", "")
    return SourceDocument(id, title, date, publisher, digest, tuple(words), tuple(records))


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
    names = [one["slots"].get("NAME") or one["text"] for one in templates if one["form"] == "name"]
    flat = [part for name in names for part in (name if isinstance(name, list) else [name])]
    words = dict.fromkeys(word for one in full for word in words_in(one.text))
    near = dict.fromkeys(word for one in mentions for word in sentences.get(one.sentence, ()))
    return EntityRecord(
        f"{document}:{entity['id']}",
        document,
        entity["sort"] or "",
        _mean_types(templates),
        tuple(
            sorted(dict.fromkeys(flat), key=lambda name: (-len(words_of_name(name)), -len(name)))
        ),
        tuple(dict.fromkeys(one.head for one in full if one.head)),
        tuple(words),
        tuple(dict.fromkeys(one.governor for one in mentions if one.governor)),
        tuple(word for word in near if word not in words),
        _gender(templates),
        _number(templates),
        float(entity.get("probability", 1.0)),
        "; ".join(entity.get("descriptions", ())),
        mentions,
        tuple(_values(entity)),
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
    """Return singular, plural or a count, by the mentions that are no pronouns if there are any."""
    full = [one["number"] for one in templates if one["form"] != "pronoun" and one["number"]]
    said = full or [one["number"] for one in templates if one["number"]]
    return str(max(said, key=said.count)) if said else ""


def _values(entity: Mapping[str, Any]) -> Iterable[tuple[str, str, float, str]]:
    for slot, values in (entity.get("slots") or {}).items():
        if slot in ("NAME", "GENDER"):
            continue
        for one in values:
            for value in one["value"] if isinstance(one["value"], list) else [one["value"]]:
                if value is not None:
                    yield slot.lower(), str(value), float(one["probability"]), one["status"]
