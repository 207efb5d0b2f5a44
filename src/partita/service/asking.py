"""What the body of a request may hold; anything else is refused with the field that is wrong."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from partita.formats.rules import shipped
from partita.workspace.running import MODELS
from partita.workspace.solving import MODELS as SOLVED

NAME = 500  # characters
TOP = 1000  # configurations
SMALL = 1 << 16  # bytes
FILE = 200  # bytes of a file's name
SOURCES = 1000


def _name(text: str) -> str:
    """Stores and files have no place for a zero."""
    if "\0" in text:
        raise ValueError("holds a zero character")
    return text


def _printable(text: str) -> str:
    """A message is named in lines, lists and addresses."""
    if not text.isprintable() or not text.strip():
        raise ValueError("cannot be shown in a line; expected a name")
    return text


def _file(name: str) -> str:
    """A source is called as its file is; it leads nowhere."""
    if "/" in name or name.strip(". ") == "" or len(name.encode()) > FILE:
        raise ValueError("is no name of a file")
    return _printable(name)


def _domain(name: str) -> str:
    """Only domains that came with Partita: a path would let anybody look around."""
    if name not in shipped():
        raise ValueError(f"unknown domain {name!r}; expected one of {', '.join(shipped())}")
    return name


def _model(name: str) -> str:
    if name not in MODELS:
        raise ValueError(f"unknown model {name!r}; expected one of {', '.join(MODELS)}")
    return name


def _solved(name: str) -> str:
    if name not in SOLVED:
        raise ValueError(f"unknown model {name!r}; expected one of {', '.join(SOLVED)}")
    return name


def _two(pair: tuple[str, str, float]) -> tuple[str, str, float]:
    if pair[0] == pair[1]:
        raise ValueError(f"{pair[0]} is one template; expected two")
    return pair


Name = Annotated[str, Field(min_length=1, max_length=NAME), AfterValidator(_name)]
Text = Annotated[str, AfterValidator(_name), Field(description="The message, header and all.")]
Probability = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Cell = Annotated[list[Name], Field(min_length=1)]
Cells = Annotated[list[Cell], Field(description="Every template of the set, in one cell.")]
Pair = Annotated[tuple[Name, Name, Probability], AfterValidator(_two)]
Kind = Literal["reports", "records", "claims", "judgements"]
SlotKind = Literal["closed", "open", "number", "date", "several", "people"]
Top = Annotated[int | None, Field(ge=1, le=TOP, description="So many configurations at most.")]


class Ask(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Resolve(Ask):
    """A message that is resolved and not kept."""

    text: Text
    domain: Annotated[str, AfterValidator(_domain)] = "depots"
    model: Annotated[str, AfterValidator(_model)] = "evidential"


class Solve(Ask):
    """Pairs of names, each with the probability that the two are the same."""

    pairs: list[Pair] = Field(min_length=1)
    model: Annotated[str, AfterValidator(_solved)] = "evidential"
    top: Top = 100


class Source(Ask):
    """A file of claims, records, judgements or results, and what stands in it."""

    name: Annotated[Name, AfterValidator(_file)]
    content: str


class Fuse(Ask):
    """Sources, as contents of files and as runs of the store, that become one belief."""

    sources: list[Source] = Field(default=[], max_length=SOURCES)
    runs: list[Name] = Field(default=[], max_length=SOURCES)
    domain: Annotated[str, AfterValidator(_domain)] | None = Field(
        default=None, description="If not said, that of the runs; claims alone need none."
    )
    kinds: dict[str, Kind] = Field(
        default={}, description="What a source is, by its name, if not left to its content."
    )
    slot_kinds: dict[str, SlotKind] = Field(
        default={}, description='Of slots of claims, by name ("" for all), if not guessed.'
    )
    reliabilities: dict[str, Probability] = Field(
        default={}, description="Of sources of which it is known; the others are learned."
    )
    hierarchy: Source | None = Field(
        default=None, description="Which values contain which: name,parent or id,name,parentID."
    )
    tolerance: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)
    without: Name | None = Field(
        default=None, description="A source; what would change without it is told."
    )
    top: Top = 100


class NewMessage(Ask):
    """A message that becomes part of a run."""

    id: Annotated[Name, AfterValidator(_printable)]
    text: Text


class Alternative(Ask):
    """A configuration that the author also thinks possible."""

    cells: Cells
    weight: float = Field(gt=0.0, allow_inf_nan=False)


class Key(Ask):
    """The correct configuration of a set, as a person sees it."""

    cells: Cells
    author: Name
    alternatives: list[Alternative] = []
    based_on: int | None = Field(
        default=None, description="The key that the author saw before writing this one."
    )


class Train(Ask):
    """How to learn from the keys of a run."""


A = TypeVar("A", bound=Ask)


def read(kind: type[A], body: bytes) -> A:
    """A body as what it should be."""
    return kind.model_validate_json(body or b"{}")


def check(kind: type[Ask], body: bytes) -> None:
    """Refuses a small body at once, before it waits for a process; reading a large one is work."""
    if len(body) <= SMALL:
        read(kind, body)


def described(kind: type[Ask]) -> dict[str, Any]:
    """For the OpenAPI document, which has no place for definitions inside a schema."""
    schema = kind.model_json_schema()
    schema = _inlined(schema, schema.pop("$defs", {}))
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


def _inlined(schema: Any, known: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inlined(one, known) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(known[schema["$ref"].rpartition("/")[2]], known)
    return {key: _inlined(value, known) for key, value in schema.items()}
