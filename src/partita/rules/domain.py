"""A domain: its schema, lexicon, phases and templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from partita.rules.syntax import Node
from partita.templates.entity_types import Hierarchy
from partita.templates.schema import Schema

Starts = Literal["cursor", "everywhere"]
Which = Literal["text", "last", "first", "all", "count"]


@dataclass(frozen=True, slots=True)
class At:
    """A position in a rule file; line and column count from 1."""

    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant; a list is a tuple here."""

    value: object


@dataclass(frozen=True, slots=True)
class Reference:
    """$label: its text, an attribute of its last, first or all phrases, or their count."""

    label: str
    attribute: str = ""
    which: Which = "text"


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SlotMapping:
    """Slots with their values, for `says`."""

    slots: Mapping[str, Value]


Value = Constant | Reference | Call | SlotMapping


def labels_used(value: Value) -> Iterator[str]:
    """Yield the labels that a value refers to."""
    if isinstance(value, Reference):
        yield value.label
    inside = value.arguments if isinstance(value, Call) else ()
    for part in (*inside, *(value.slots.values() if isinstance(value, SlotMapping) else ())):
        yield from labels_used(part)


@dataclass(frozen=True, slots=True)
class TemplateRule:
    """The slots that a rule fills in the template of a labelled phrase."""

    about: str
    slots: Mapping[str, Value] = field(default_factory=dict)
    type: Value | None = None
    says: tuple[Value, ...] = ()
    status: str = ""  # of its values; if empty, as the words around them say
    roles: Mapping[str, str] = field(default_factory=dict)  # of an event: slot and label


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A pattern and its result: attributes of a new phrase, or slots of a template."""

    name: str
    pattern: Node
    before: Node | None = None
    after: Node | None = None
    priority: int = 0
    build: Mapping[str, Value] = field(default_factory=dict)
    template: TemplateRule | None = None
    examples: tuple[str, ...] = ()
    at: At = At()
    clause: str = ""  # name of the clause, if the rule is a form of one


@dataclass(frozen=True, slots=True, eq=False)
class Phase:
    name: str
    starts: Starts
    rules: tuple[Rule, ...]
    at: At = At()


@dataclass(frozen=True, slots=True)
class LexiconEntry:
    """Words of the lexicon with the same meaning; each maps to the word it stands for."""

    words: Mapping[str, str]
    tags: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    says: Mapping[str, object] = field(default_factory=dict)
    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    at: At = At()


@dataclass(frozen=True, slots=True)
class TemplateType:
    """A type of template: its main type, the slots that it needs, and whether it is an event."""

    type: str
    needs: tuple[str, ...] = ()
    event: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class RuleSet:
    """The content of a folder of YAML files, including what it takes from the domain it extends."""

    name: str
    schema: Schema
    types: Hierarchy
    entries: tuple[LexiconEntry, ...] = ()
    phases: tuple[Phase, ...] = ()
    templates: Mapping[str, TemplateType] = field(default_factory=dict)
    verbs: frozenset[str] = frozenset()  # of clauses; their forms are exact
    about: str = ""
    at: At = At()
    assertions: bool = False  # whether values have the status that the text gives them
    retags: bool = False  # whether the lexicon corrects the tags of its nouns


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """An error, or with `error=False` a warning."""

    at: At
    said: str
    error: bool = True
