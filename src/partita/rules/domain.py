"""A domain: its schema, lexicon, phases and templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from partita.rules.syntax import Node
from partita.templates.schema import Schema
from partita.templates.sorts import Hierarchy

Starts = Literal["cursor", "everywhere"]
Which = Literal["text", "last", "first", "all", "count"]


@dataclass(frozen=True, slots=True)
class At:
    """Where something stands in a rule file, from line and column 1 on."""

    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Literally:
    """A value that is itself; a list is a tuple here."""

    value: object


@dataclass(frozen=True, slots=True)
class Reference:
    """$label, or an attribute of its last phrase, its first one, or all; or how many there are."""

    label: str
    attribute: str = ""
    which: Which = "text"


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Filled:
    """Slots with their values: what `says` is set to."""

    slots: Mapping[str, Value]


Value = Literally | Reference | Call | Filled


@dataclass(frozen=True, slots=True)
class Contributing:
    """What a rule of the domain phase says about the phrase of one of its labels."""

    about: str
    slots: Mapping[str, Value] = field(default_factory=dict)
    sort: Value | None = None
    says: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A pattern and what it builds: attributes of a new phrase, or a contribution."""

    name: str
    pattern: Node
    before: Node | None = None
    after: Node | None = None
    priority: int = 0
    build: Mapping[str, Value] = field(default_factory=dict)
    template: Contributing | None = None
    examples: tuple[str, ...] = ()
    at: At = At()
    clause: str = ""  # that the rule is a form of


@dataclass(frozen=True, slots=True, eq=False)
class Phase:
    name: str
    starts: Starts
    rules: tuple[Rule, ...]
    at: At = At()


@dataclass(frozen=True, slots=True)
class Entry:
    """Words of the lexicon that mean the same: each with the one that it stands for."""

    words: Mapping[str, str]
    tags: tuple[str, ...] = ()
    sorts: tuple[str, ...] = ()
    says: Mapping[str, object] = field(default_factory=dict)
    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    at: At = At()


@dataclass(frozen=True, slots=True)
class Wanted:
    """A template that comes out: its main sort, and the slots without which it is dropped."""

    sort: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """All that a folder of YAML files says, with what it takes from the domain it extends."""

    name: str
    schema: Schema
    sorts: Hierarchy
    entries: tuple[Entry, ...] = ()
    phases: tuple[Phase, ...] = ()
    templates: Mapping[str, Wanted] = field(default_factory=dict)
    verbs: frozenset[str] = frozenset()  # of clauses: their forms are known for sure
    about: str = ""
    at: At = At()


@dataclass(frozen=True, slots=True)
class Problem:
    """An error, or with `error=False` a warning."""

    at: At
    said: str
    error: bool = True
