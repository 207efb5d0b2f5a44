"""Templates and coreference sets; messages, documents and keys (gold labels)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from warnings import warn

from partita.core.configurations import Configuration, IntArray
from partita.errors import InputError

Form = Literal["indefinite", "definite", "pronoun", "name", "bare", ""]
Status = Literal["asserted", "denied", "possible", "reported"]
Pair = tuple[str, str]
Id = str | int  # of a template or record, as a user of the Python API writes it


@dataclass(frozen=True, slots=True)
class Antecedent:
    """A template that the reference module lists as a possible antecedent."""

    id: str
    preferred: bool = False


FORMER = frozenset({"former", "onetime", "erstwhile"})  # a former school is no school
# How far a value counts: what is only reported or possible counts less than what is asserted.
WEIGHTS: Mapping[Status, float] = {"asserted": 1.0, "reported": 0.7, "possible": 0.5, "denied": 0.0}
RANKS: Mapping[Status, int] = {"asserted": 0, "reported": 1, "possible": 2, "denied": 3}
ASSERTIONS = "ASSERTIONS"  # the key of a template's context
KIND, EVENT = "KIND", "event"  # the key, and its value for templates of events
ROLES = "ROLES"  # the key: of an event, the templates that take part in it, by slot


@dataclass(frozen=True, slots=True)
class Assertion:
    """Values that a text does not simply assert, with the cue that says so.

    All values of `slots` together have the status: what is not an ammunition depot may be another
    depot. Without slots the status is that of the whole template, such as an event. `span` and
    `scope` are the characters of the cue and of what it covers.
    """

    status: Status
    slots: Mapping[str, Any] = field(default_factory=dict)
    cue: str = ""
    span: tuple[int, int] = (0, 0)
    scope: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Assertion:
        """Return the assertion of its plain form in the context of a template."""
        first, last = plain.get("span", (0, 0))
        begin, end = plain.get("scope", (0, 0))
        cue = str(plain.get("cue", ""))
        return cls(plain["status"], plain.get("slots", {}), cue, (first, last), (begin, end))

    def plain(self) -> dict[str, Any]:
        """Return the form that the context of a template holds."""
        return {
            "status": self.status,
            "slots": dict(self.slots),
            "cue": self.cue,
            "span": list(self.span),
            "scope": list(self.scope),
        }


@dataclass(frozen=True, slots=True)
class Template:
    """Slots and values built from one expression, and where that expression stands.

    `slots` say what the referent is; `context` holds what else is seen of the expression:
    MODIFIERS, WORDS, DETERMINER, ROLE, PARAGRAPH, PARENT, HEAD_SPAN, QUOTE (the number of the
    quotation around it), QUESTION (its sentence asks), SYNTAX (see text.expressions.syntax_of), of
    pronouns PERSON, GENDER, REFLEXIVE, of discontinuous mentions SPANS, of mentions that a model
    found SORT_PROBABILITIES and MENTION_PROBABILITY, of events KIND and ROLES. ASSERTIONS tell
    which values are denied, possible or reported; denied values are not among the slots.
    """

    id: str
    text: str = ""
    start: int = 0
    end: int = 0
    region: str = "text"
    sentence: int = 0
    type: str = ""
    head: str = ""
    number: int | str | None = None
    form: Form = ""
    slots: Mapping[str, Any] = field(default_factory=dict)
    rule: str = ""
    antecedents: tuple[Antecedent, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)

    @property
    def assertions(self) -> tuple[Assertion, ...]:
        """What is denied, possible or reported of it; everything else is asserted."""
        return tuple(map(Assertion.of, self.context.get(ASSERTIONS, ())))

    @property
    def status(self) -> Status:
        """The status of the template as a whole, such as an event."""
        return next((one.status for one in self.assertions if not one.slots), "asserted")

    @property
    def sort(self) -> str:
        """The type, by its former name."""
        warn("Template.sort is now Template.type", DeprecationWarning, stacklevel=2)
        return self.type


def pair(left: str, right: str) -> Pair:
    """Return two ids as an unordered pair: the smaller first."""
    return (left, right) if left <= right else (right, left)


@dataclass(frozen=True, slots=True)
class CoreferenceSet:
    """Templates that may corefer, in text order, with constraints on pairs."""

    templates: tuple[Template, ...]
    incompatible: frozenset[Pair] = frozenset()
    must: frozenset[Pair] = frozenset()
    name: str = ""
    ids: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        ids = tuple([template.id for template in self.templates])
        object.__setattr__(self, "ids", ids)
        known = set(ids)
        if len(known) < len(ids):
            twice = next(i for n, i in enumerate(ids) if i in ids[:n])
            raise InputError(f"template {twice} appears twice in set {self.name!r}")
        named = {name for both in (*self.incompatible, *self.must) for name in both}
        if unknown := named - known:
            raise InputError(f"set {self.name!r} has no template {min(unknown)}")

    def __len__(self) -> int:
        return len(self.templates)

    @classmethod
    def of(cls, ids: Iterable[str], name: str = "") -> CoreferenceSet:
        """Return a set of templates that have only ids."""
        return cls(tuple(Template(i) for i in ids), name=name)


RegionKind = Literal["subject", "heading", "text", "list", "table"]


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a message that is read on its own: a subject line, a heading, a paragraph, an
    item of a list, a cell of a table.

    `start` and `end` are characters of the message's text. Cells of a table know their table
    (counted from 0 in the message), row and column (from 0; −1 elsewhere) and the text of the
    column's heading; a row that is the table's heading has `heading` as its kind.
    """

    kind: RegionKind
    start: int
    end: int
    paragraph: int = 0
    table: int = -1
    row: int = -1
    column: int = -1
    column_name: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A text with its header fields and its regions in text order; what is in no region is
    layout. Offsets are characters of `text`, which is the original, decoded and unchanged; where
    a file holds several messages, it starts at the character `offset` of the file's text."""

    id: str
    text: str
    regions: tuple[Region, ...]
    fields: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A text with its templates in text order and its key (gold label).

    `alternatives` are other configurations that the author of the key holds possible, with their
    weights; the key itself has the weight 1.
    """

    name: str
    genre: str
    templates: tuple[Template, ...]
    key: Configuration
    text: str = ""
    alternatives: tuple[tuple[Configuration, float], ...] = ()

    def __post_init__(self) -> None:
        keyed = {member for cell in self.key for member in cell}
        if odd := keyed ^ set(self.ids):
            problem = f"template {min(odd)} is not in both the key and the templates"
            raise InputError(f"document {self.name!r}: {problem}")

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(template.id for template in self.templates)

    @property
    def labels(self) -> IntArray:
        """Return the cell number of each template in the key."""
        return self.key.labels(self.ids)

    def __len__(self) -> int:
        return len(self.templates)


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another configuration that the author of a key holds possible, and how strongly."""

    configuration: Configuration
    weight: float


@dataclass(frozen=True, slots=True)
class Key:
    """The correct configuration of some templates of a message, as a person wrote it."""

    message: str
    templates: tuple[Template, ...]
    configuration: Configuration
    author: str
    time: str
    alternatives: tuple[Alternative, ...] = ()
