"""The bodies of requests as pydantic models, and the answers as JSON Schemas.

Unknown fields of requests are rejected. An answer has the fields of the row, the result or the
explanation that it shows; its schema is made of the columns or fields of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter
from sqlalchemy import Double, Integer, String, Table

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
from partita.results.result_lines import schema as results_schema
from partita.store import tables
from partita.views.explanation import ExplainedPair

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


M = TypeVar("M", bound=RequestModel)


def parse(model: type[M], body: bytes) -> M:
    """Return a body as a model; an empty body is an empty object."""
    return model.model_validate_json(body or b"{}")


def check(model: type[M], body: bytes) -> M | None:
    """Return a small body as a model; None for a large one, which a worker process parses."""
    return parse(model, body) if len(body) <= SMALL_BODY else None


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


# --- answers ---

Schema = dict[str, Any]

ANY: Schema = {}
TEXT, WHOLE, NUMBER, TRUTH = (
    {"type": kind} for kind in ("string", "integer", "number", "boolean")
)  # fmt: skip
OBJECT: Schema = {"type": "object"}


def _listed(items: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


def _nullable(schema: Schema) -> Schema:
    """Return the schema of what may be null."""
    return {"anyOf": [schema, {"type": "null"}]}


def _record(about: str, *known: str | Mapping[str, Schema], **fields: Schema) -> Schema:
    """Return the schema of an object: names of texts, fields that are known, and other fields.

    A field whose name ends with _ may be missing.
    """
    found: dict[str, Schema] = {}
    for one in (*known, fields):
        found |= {one: TEXT} if isinstance(one, str) else one
    return {
        "type": "object",
        "description": about,
        "properties": {name.rstrip("_"): schema for name, schema in found.items()},
        "required": [name for name in found if not name.endswith("_")],
    }


def _columns(table: Table, *names: str, **renamed: str) -> dict[str, Schema]:
    """Return the schemas of some columns of a table; some have another name in answers."""
    kinds = ((String, TEXT), (Integer, WHOLE), (Double, NUMBER))
    found = {}
    for name, column in {**{name: name for name in names}, **renamed}.items():
        kind = table.c[column].type
        schema = next((known for one, known in kinds if isinstance(kind, one)), ANY)
        found[name] = _nullable(schema) if table.c[column].nullable else schema
    return found


TEXTS, COUNTS = _listed(TEXT), {"type": "object", "additionalProperties": WHOLE}
CELLS, SHARES = _listed(TEXTS), _record("Before and after.", before=NUMBER, after=NUMBER)

# what is published, or declared elsewhere
_published = results_schema()
RESULT: Schema = _inline(_published["$defs"]["set"], _published["$defs"])
ENTITY: Schema = {**RESULT["properties"]["entities"]["items"], "additionalProperties": True}
_explained = TypeAdapter(ExplainedPair).json_schema(mode="serialization")
EXPLANATION: Schema = _inline(_explained, _explained.pop("$defs", {}))
SIZES = dict.fromkeys(("templates", "sets", "entities"), WHOLE) | {"entropy_bits": NUMBER}

HEALTH = _record(
    "The state of the service: how many processes are busy, and how many requests wait for them.",
    "status", "version", busy=COUNTS, waiting=COUNTS,
)  # fmt: skip
INSTALLED = _record(
    "The domains, what each covers, the models, the store, and the largest request in bytes.",
    {"domains": TEXTS, "models": TEXTS, "about": OBJECT, "largest": WHOLE},
    "store", "knowledge_base",
)  # fmt: skip
RUN = _record(
    "A run of the store; `sorts` and `untrainable` only of one run.",
    _columns(
        tables.runs, "domain", "model", "settings", "inputs", "versions", "started", "finished",
        "outcome", "parent", "model_id", name="run",
    )
    | SIZES,
    messages=WHOLE, failed=WHOLE, keyed=WHOLE, sorts_=TEXTS, untrainable_=TEXT,
)  # fmt: skip
RUNS = _listed(RUN)
DELETED_RUN = _record("The name of a run that was deleted.", "deleted")
MESSAGES = _record(
    "A page of the messages of a run.",
    total=WHOLE,
    messages=_listed(
        _record("A message in a list.", SIZES, "message", "title", "error", keyed=WHOLE)
    ),
)
ENTITIES = _record("A page of the entities of a run.", total=WHOLE, entities=_listed(ENTITY))
KEY = _record(
    "A saved key (gold label); `counts` if it is the newest of its author and not withdrawn.",
    _columns(
        tables.keys, "run", "message", "author", "time", "based_on", "withdrawn", key="id",
        set="set_name",
    ),
    templates=TEXTS, cells=CELLS, counts=TRUTH,
    alternatives=_listed(_record("Also possible.", cells=CELLS, weight=NUMBER)),
)  # fmt: skip
KEYS = _listed(KEY)
SAVED_KEY = _record(
    "The number of a key, and newer keys of others that its author had not seen.",
    key=WHOLE,
    conflicts=_listed(KEY),
)
WITHDRAWN = _record("How many keys were withdrawn.", withdrawn=WHOLE)
AGREEMENT = _record(
    "How the authors of a set agree; the first configuration is used unless disputed.",
    authors=WHOLE,
    disputed=TRUTH,
    votes=_listed(_record("A configuration.", cells=CELLS, votes=NUMBER, authors=TEXTS)),
)
MESSAGE = _record(
    "A message with everything about it.",
    {"fields": OBJECT, "sets": _listed(RESULT), "singletons": _listed(OBJECT)},
    "message", "text", "error", entities=_listed(ENTITY),
    keys={"type": "object", "additionalProperties": _listed(KEY)},
    place_=TEXT, text_hash_=TEXT, run_=TEXT, title_=TEXT, notes_=TEXTS,
)  # fmt: skip
NEXT_SETS = _listed(
    _record(
        "A set to key; `gain` in bits, null where the run is not trained on keys.",
        "set", "message", gain=_nullable(NUMBER), entropy_bits=_nullable(NUMBER), templates=WHOLE,
    )
)  # fmt: skip
TRAINED = _record(
    "What training learned, and the run that resolved the messages again.",
    "model",
    "run",
    report=_record(
        "What was learned from the keys.",
        {"every_pair": OBJECT, "merging_questions": OBJECT, "note": _nullable(TEXT)},
        "learned_from", "model", keys=WHOLE, step=NUMBER, bits=SHARES,
        sets=_listed(_record("A key.", "set", "message", bits=SHARES, probability=SHARES)),
    ),
)  # fmt: skip
REVIEW = _record(
    "The sets of records to review, the most uncertain first, their number, and all clusters.",
    summary=OBJECT,
    total=WHOLE,
    sets=_listed(
        _record(
            "Records that may be the same: their clusters, pairs, alternatives and questions.",
            dict.fromkeys(("records", "pairs", "alternatives", "questions"), _listed(OBJECT)),
            bits=NUMBER, differs=TRUTH,
        )
    ),
    clusters_=_listed(_listed(ANY)),
)  # fmt: skip
KNOWLEDGE = _record(
    "The sizes of a knowledge base, and the types of its entities.",
    "name", documents=WHOLE, entities=WHOLE, types=TEXTS,
)  # fmt: skip
KNOWN_ENTITIES = _record(
    "A page of the entities of a knowledge base.",
    total=WHOLE,
    entities=_listed(
        _record(
            "An entity across documents.",
            dict.fromkeys(("records", "documents", "mentions"), WHOLE),
            "entity", "name", "type", "description", certainty=NUMBER, aliases=TEXTS,
        )
    ),
)  # fmt: skip
PROBLEM = _record(
    "An error, as RFC 9457 has it, with all problems and the id of the request in the log.",
    "type", "title", "detail", "trace", status=WHOLE,
    errors=_listed(_record("A problem, and its field, if it has one.", "field", "problem")),
)  # fmt: skip
