"""What one message or record of a source states about one entity, and where it states it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from partita.core import Pair, Template
from partita.errors import InputError
from partita.fusion.claims import checked_reliabilities
from partita.templates.schema import Schema, Values
from partita.templates.slots import Strings


@dataclass(frozen=True, slots=True)
class PairBelief:
    """The probabilities with which a source judges pairs to be the same."""

    source: str
    pairs: Mapping[Pair, float]

    def __post_init__(self) -> None:
        for (left, right), p in self.pairs.items():
            if not 0 <= p <= 1:
                problem = f"probability {p} of {left} = {right} by {self.source}"
                raise InputError(f"{problem} is not a number from 0 to 1")


RECORD = "record"  # the rule of templates that are rows of a table


def row_object(file: str, name: str) -> str:
    """Return the object of a row that has an id of its table."""
    return f"{file}#{name}"


@dataclass(frozen=True, slots=True)
class Origin:
    """The place a template comes from; `start` and `end` are character offsets in the message."""

    source: str
    file: str
    line: int
    message: str
    template: str
    text: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class SourceRecord:
    """An entity as one message or record describes it.

    `template` is the most specific template, with all stated values in its slots. `confidence` is
    the probability that the source's own distribution gives to the value of each slot. `object` is
    the source's own name for the entity, if it has one (records and claims). `stated` is the number
    of the day of the statement, 0 if it is unknown.
    """

    source: str
    message: str
    template: Template
    values: Values
    origins: tuple[Origin, ...]
    confidence: Mapping[str, float] = field(default_factory=dict)
    object: str = ""
    stated: int = 0

    @property
    def id(self) -> str:
        return self.template.id

    @property
    def row_id(self) -> str:
        """The id of a row where `object` is one, which holds in its own table only."""
        own = row_object(self.origins[0].file, "")
        return self.object.removeprefix(own) if self.object.startswith(own) else ""

    @classmethod
    def of(
        cls,
        source: str,
        message: str,
        template: Template,
        schema: Schema,
        origins: Sequence[Origin],
        confidence: Mapping[str, float] | None = None,
        object_: str = "",
    ) -> SourceRecord:
        """Make a record with a unique id; raise an error for values the schema cannot read."""
        named = replace(template, id=f"{source}/{message}/{template.id}", antecedents=())
        first = origins[0]
        try:
            values = schema.values(named)
        except InputError as error:
            raise InputError(error.problem, file=first.file, line=first.line) from None
        return cls(source, message, named, values, tuple(origins), confidence or {}, object_)

    @property
    def is_document(self) -> bool:
        """Whether this is a record of a message, and not of a row of a table."""
        return self.template.rule != RECORD

    @property
    def document(self) -> str:
        """The name of the document: a message of its source, or the source where it is a table."""
        return f"{self.source}, {self.message}" if self.is_document else self.source

    @property
    def when(self) -> tuple[int, str, int]:
        """The order of statements: by day, and by file and line where days are equal or unknown."""
        return self.stated, self.origins[0].file, self.origins[0].line

    def slot_confidence(self, slot: str) -> float:
        """Return the probability of the slot's value (1 if the source gives none)."""
        return self.confidence.get(slot, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class SourceRecords:
    """All records, ordered by source and message.

    `same_message` is the probability that two records of one message are the same entity; pairs not
    listed are different entities. `judgements` are what sources state about pairs, `files` those of
    the records in the order in which they were given.
    """

    records: tuple[SourceRecord, ...]
    same_message: Mapping[Pair, float] = field(default_factory=dict)
    judgements: tuple[PairBelief, ...] = ()
    reliabilities: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.records)

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the names of all sources, sorted."""
        judges = (judgement.source for judgement in self.judgements)
        return tuple(sorted({*(record.source for record in self.records), *judges}))

    def only(self, sources: Iterable[str]) -> SourceRecords:
        """Return the records of these sources, with the judgements that are about them."""
        kept = set(sources)
        records = tuple(record for record in self.records if record.source in kept)
        names = {record.id for record in records} | {record.object for record in records}
        judgements = [
            replace(judgement, pairs={k: p for k, p in judgement.pairs.items() if set(k) <= names})
            for judgement in self.judgements
            if judgement.source in kept
        ]
        return replace(self, records=records, judgements=tuple(j for j in judgements if j.pairs))

    def without(self, source: str) -> SourceRecords:
        """Return the records of all sources but one."""
        if source not in self.sources:
            near = ", ".join(self.sources[:5])
            raise InputError(f"no source named {source!r}; sources are {near}")
        return self.only(set(self.sources) - {source})


def merge_records(several: Iterable[SourceRecords]) -> SourceRecords:
    """Merge the records of several files; a duplicate message is an error."""
    parts = list(several)
    records = [record for part in parts for record in part.records]
    seen: dict[str, SourceRecord] = {}
    for record in records:
        if (before := seen.setdefault(record.id, record)) is not record:
            here, there = record.origins[0], before.origins[0]
            problem = f"{record.id} stands in {there.file}, line {there.line}, already"
            raise InputError(problem, file=here.file, line=here.line)
    _check_judged_names(records, parts)
    return SourceRecords(
        tuple(_same_case(sorted(records, key=_order))),
        {two: p for part in parts for two, p in part.same_message.items()},
        tuple(sorted((j for part in parts for j in part.judgements), key=lambda j: j.source)),
        _merge_reliabilities(parts),
        tuple(note for part in parts for note in part.notes),
        tuple(dict.fromkeys(origin.file for one in records for origin in one.origins)),
    )


def _same_case(records: Sequence[SourceRecord]) -> Iterator[SourceRecord]:
    """Yield the records with strings that differ only in case spelled in the most frequent way."""
    spellings: dict[tuple[str, str], Counter[str]] = {}
    for record in records:
        for slot, value in record.values.items():
            for text in value.members if isinstance(value, Strings) else ():
                spellings.setdefault((slot, text.casefold()), Counter())[text] += 1
    best = {key: min(texts, key=lambda text: (-texts[text], text))
            for key, texts in spellings.items()}  # fmt: skip
    for record in records:
        changed = {
            slot: Strings(frozenset(best[slot, text.casefold()] for text in value.members))
            for slot, value in record.values.items()
            if isinstance(value, Strings)
        }
        yield replace(record, values={**record.values, **changed}) if changed else record


def _check_judged_names(records: Sequence[SourceRecord], parts: Sequence[SourceRecords]) -> None:
    """Raise an error if a judgement refers to an unknown template."""
    names = {one.id for one in records} | {one.object for one in records if one.object}
    for judgement in (j for part in parts for j in part.judgements):
        if unknown := [name for two in judgement.pairs for name in two if name not in names]:
            raise InputError(f"{judgement.source} refers to an unknown template {unknown[0]!r}")


def _order(record: SourceRecord) -> tuple[str, str, int, str]:
    return record.source, record.message, record.template.start, record.id


def _merge_reliabilities(parts: Sequence[SourceRecords]) -> dict[str, float]:
    """Merge the reliabilities of all files; two values for one source are an error."""
    reliabilities: dict[str, float] = {}
    for part in parts:
        for source, reliability in checked_reliabilities(part.reliabilities).items():
            before = reliabilities.setdefault(source, reliability)
            if before != reliability:
                problem = f"reliability of {source} is {reliability:g} in one file"
                raise InputError(f"{problem}, {before:g} in another")
    return reliabilities
