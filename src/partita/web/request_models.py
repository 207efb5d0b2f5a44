"""The bodies of requests as pydantic models; unknown fields are rejected."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter

from partita.options import (
    FuseOptions,
    Option,
    Options,
    RunOptions,
    SolveOptions,
    declaration,
    declared_fields,
)
from partita.plugins import DOMAINS, installed

MAX_NAME = 500  # characters
MAX_TOP = 1000  # configurations
SMALL_BODY = 1 << 16  # bytes
MAX_FILE_NAME = 200  # bytes
MAX_SOURCES = 1000
MAX_TABLES = 10


def without_nul(text: str) -> str:
    """Reject NUL, which neither stores nor file names can hold."""
    if "\0" in text:
        raise ValueError("contains a NUL character")
    return text


def _printable(text: str) -> str:
    """Require text that can be shown in one line."""
    if not text.isprintable() or not text.strip():
        raise ValueError("contains unprintable characters or is blank; expected a name")
    return text


def _file_name(name: str) -> str:
    """Require the name of a file without a folder."""
    if "/" in name or name.strip(". ") == "" or len(name.encode()) > MAX_FILE_NAME:
        raise ValueError("is not a file name")
    return _printable(name)


def _domain(name: str) -> str:
    """Require an installed domain: a path would expose the file system."""
    if name not in (names := installed(DOMAINS)):
        raise ValueError(f"unknown domain {name!r}; expected one of {', '.join(names)}")
    return name


def _checked(kind: type[Options], name: str) -> AfterValidator:
    """Return the check that is declared of an option."""
    check = _declared(kind, name)[0].check
    assert check is not None

    def checked(value: Any) -> Any:
        check(value)
        return value

    return AfterValidator(checked)


def _option(kind: type[Options], name: str, default: Any = ..., **limits: Any) -> Any:
    """Return a field with the description and, by default, the default of an option."""
    declared, usual = _declared(kind, name)
    chosen = usual if default is ... else default
    return Field(default=chosen, description=f"{declared.help}.", **limits)


def _declared(kind: type[Options], name: str) -> tuple[Option, Any]:
    (one,) = (one for one in declared_fields(kind) if one.name == name)
    return declaration(one), one.default


def _two_names(pair: tuple[str, str, float]) -> tuple[str, str, float]:
    if pair[0] == pair[1]:
        raise ValueError(f"both names are {pair[0]}; expected two different names")
    return pair


Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME), AfterValidator(without_nul)]
Text = Annotated[
    str, AfterValidator(without_nul), Field(description="The message, including its header.")
]
Probability = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Cell = Annotated[list[Name], Field(min_length=1)]
Cells = Annotated[list[Cell], Field(description="Cells that contain every template once.")]
Pair = Annotated[tuple[Name, Name, Probability], AfterValidator(_two_names)]
Kind = Literal["reports", "records", "claims", "judgements"]
SlotKind = Literal["closed", "open", "number", "date", "several", "people", "state"]


class RequestModel(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ResolveRequest(RequestModel):
    """A message to resolve without storing it."""

    text: Text
    domain: Annotated[str, AfterValidator(_domain)] = _option(RunOptions, "domain")
    model: Annotated[str, _checked(RunOptions, "model")] | None = _option(RunOptions, "model")


class WhyRequest(ResolveRequest):
    """Two templates of a message to explain, as resolve answers them."""

    set: Name
    left: Name
    right: Name


class SolveRequest(RequestModel):
    """Pairs of names, each with the probability that both are the same."""

    pairs: list[Pair] = Field(min_length=1)
    model: Annotated[str, _checked(SolveOptions, "model")] = _option(SolveOptions, "model")
    top: int | None = _option(SolveOptions, "top", 100, ge=1, le=MAX_TOP)

    @property
    def size(self) -> int:
        """The number of different names."""
        return len({name for pair in self.pairs for name in pair[:2]})


class Source(RequestModel):
    """A file of claims, records, judgements or results, with its content."""

    name: Annotated[Name, AfterValidator(_file_name)]
    content: str


class FuseRequest(RequestModel):
    """Sources to fuse: contents of files, and runs of the store."""

    sources: list[Source] = Field(default=[], max_length=MAX_SOURCES)
    runs: list[Name] = Field(default=[], max_length=MAX_SOURCES)
    domain: Annotated[str, AfterValidator(_domain)] | None = Field(
        default=None,
        description="Default: the domain of the runs. Not needed for claims alone.",
    )
    kinds: dict[str, Kind] = Field(
        default={}, description="Kind of a source by its name. Default: detected from its content."
    )
    slot_kinds: dict[str, SlotKind] = Field(
        default={},
        description='Kind of a slot of claims by its name ("" for all). Default: guessed.',
    )
    reliabilities: dict[str, Probability] = Field(
        default={}, description="Known reliabilities by source name. The others are estimated."
    )
    hierarchy: Source | None = Field(
        default=None,
        description="Which values contain which: columns name,parent or id,name,parentID.",
    )
    tolerance: float = _option(FuseOptions, "tolerance", ge=0.0, allow_inf_nan=False)
    without: Name | None = _option(FuseOptions, "without")
    top: int | None = _option(SolveOptions, "top", 100, ge=1, le=MAX_TOP)


class ClusterRequest(RequestModel):
    """Tables of records or of pair scores, clusters that somebody has, pairs that were judged."""

    records: list[Source] = Field(
        default=[], max_length=MAX_TABLES, description="Tables of records to link; without scores."
    )
    scores: Source | None = Field(default=None, description="Two ids and a score in each row.")
    clusters: Source | None = Field(
        default=None, description="A record and its cluster in each row, to be compared and shown."
    )
    labels: list[tuple[Name, Name, bool]] = Field(
        default=[], description="Pairs of records, and whether they are the same."
    )
    limit: int = Field(default=50, ge=1, le=MAX_TOP, description="Maximum number of sets.")


class NewMessageRequest(RequestModel):
    """A message to add to a run; with a domain, a missing run is created."""

    id: Annotated[Name, AfterValidator(_printable)]
    text: Text
    domain: Annotated[str, AfterValidator(_domain)] | None = Field(
        default=None, description="Domain of a run that does not exist yet."
    )


class NewTableRequest(RequestModel):
    """Tables to store as a run of their own."""

    kind: Literal["records", "scores", "clusters", "claims"]
    tables: list[Source] = Field(min_length=1, max_length=MAX_TABLES)


class AlternativeRequest(RequestModel):
    """A configuration that the author also considers possible."""

    cells: Cells
    weight: float = Field(gt=0.0, allow_inf_nan=False)


class KeyRequest(RequestModel):
    """A key (gold label): the correct configuration of a set according to its author."""

    cells: Cells
    author: Name
    alternatives: list[AlternativeRequest] = []
    based_on: int | None = Field(
        default=None, description="The key that the author saw before writing this one."
    )
    override: bool = Field(
        default=False, description="Save a key that contradicts what is known of its templates."
    )


class TrainRequest(RequestModel):
    """Options for training on the keys of a run. There are none yet."""


M = TypeVar("M", bound=RequestModel)


def parse(model: type[M], body: bytes) -> M:
    """Return a body as a model; an empty body is an empty object."""
    return model.model_validate_json(body or b"{}")


def check(model: type[M], body: bytes) -> M | None:
    """Return a small body as a model; None for a large one, which a worker process parses."""
    return parse(model, body) if len(body) <= SMALL_BODY else None


def schema_of(answer: Any) -> dict[str, Any]:
    """Return the JSON Schema of an answer, with all definitions inlined."""
    schema = TypeAdapter(answer).json_schema()
    inlined: dict[str, Any] = _inline(schema, schema.pop("$defs", {}))
    return inlined


def openapi_body(model: type[RequestModel]) -> dict[str, Any]:
    """Describe a body for the OpenAPI document, with all definitions inlined."""
    schema = model.model_json_schema()
    schema = _inline(schema, schema.pop("$defs", {}))
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


def _inline(schema: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inline(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inline(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    return {key: _inline(value, definitions) for key, value in schema.items()}
