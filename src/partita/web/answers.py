"""The types of the service's answers, for its OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # before Python 3.12 pydantic reads no other

Cells = list[list[str]]
Value = str | int | float | bool | list[Any] | dict[str, Any] | None


class Health(TypedDict):
    """The state of the service."""

    status: Literal["ok"]
    version: str


class Domains(TypedDict):
    """The domains, what each covers, the models, the store, and the largest request in bytes."""

    domains: list[str]
    models: list[str]
    about: dict[str, str]
    store: str
    largest: int
    knowledge_base: str


class RunJson(TypedDict):
    """A run of the store; `types` and `untrainable` only of one run."""

    name: str
    domain: str
    model: str
    settings: dict[str, Any]
    inputs: list[str]
    versions: dict[str, str]
    started: str
    finished: str | None
    outcome: str
    parent: str | None
    model_id: str | None
    messages: int
    failed: int
    templates: int
    sets: int
    entities: int
    entropy_bits: float
    keyed: int
    sorts: NotRequired[list[str]]
    untrainable: NotRequired[str]


class DeletedRun(TypedDict):
    """The name of a run that was deleted."""

    deleted: str


class KnowledgeOverview(TypedDict):
    """The sizes of a knowledge base, and the types of its entities."""

    name: str
    documents: int
    entities: int
    types: list[str]


class KnowledgeEntity(TypedDict):
    """An entity across documents."""

    entity: str
    name: str
    type: str
    records: int
    documents: int
    mentions: int
    certainty: float
    aliases: list[str]
    description: str


class KnowledgePage(TypedDict):
    """A page of the entities of a knowledge base."""

    total: int
    entities: list[KnowledgeEntity]


class MessageRowJson(TypedDict):
    """A message in a list."""

    message: str
    title: str
    entropy_bits: float
    templates: int
    sets: int
    entities: int
    error: str
    keyed: int


class MessagePage(TypedDict):
    """A page of the messages of a run."""

    total: int
    messages: list[MessageRowJson]


class SlotValueJson(TypedDict):
    """A value of a slot with its probability."""

    value: Value
    probability: float
    interval: NotRequired[list[float] | None]
    error: NotRequired[float | None]
    templates: list[str]


class EntityJson(TypedDict):
    """A merged entity; `message` and `set` only in a list."""

    id: str
    sort: str
    templates: list[str]
    anchor: NotRequired[str]
    name: NotRequired[str]
    descriptions: NotRequired[list[str]]
    probability: float
    interval: NotRequired[list[float] | None]
    error: NotRequired[float | None]
    slots: dict[str, list[SlotValueJson]]
    message: NotRequired[str]
    set: NotRequired[str | None]
    confidence: NotRequired[float]


class EntityPage(TypedDict):
    """A page of the entities of a run."""

    total: int
    entities: list[EntityJson]


class ConfigurationJson(TypedDict):
    """A configuration with its probability."""

    cells: Cells
    probability: float
    interval: NotRequired[list[float] | None]


class PairJson(TypedDict):
    """Two templates: the probability of the pair alone, and in the distribution."""

    left: str
    right: str
    probability: float
    marginal: float
    interval: NotRequired[list[float] | None]


class ResultJson(TypedDict):
    """A coreference set with its distribution; GET /api/schema has all fields."""

    version: int
    message: str
    set: str
    templates: list[dict[str, Any]]
    incompatible: list[list[str]]
    must: NotRequired[list[list[str]]]
    pairs: list[PairJson]
    configurations: list[ConfigurationJson]
    remainder: dict[str, Any]
    count: str | None
    entropy_bits: float | None
    conflict: float | None
    model: str
    method: str
    reason: str
    seed: int


class AlternativeJson(TypedDict):
    """A configuration that the author of a key also considers possible."""

    cells: Cells
    weight: float


class KeyJson(TypedDict):
    """A saved key (gold label); `counts` if it is the newest of its author and not withdrawn."""

    key: int
    run: str
    set: str
    message: str
    templates: list[str]
    cells: Cells
    alternatives: list[AlternativeJson]
    author: str
    time: str
    based_on: int | None
    withdrawn: str | None
    counts: bool


class SavedKey(TypedDict):
    """The number of a key, and newer keys of others that its author had not seen."""

    key: int
    conflicts: list[KeyJson]


class WithdrawnKeys(TypedDict):
    """How many keys were withdrawn."""

    withdrawn: int


class Vote(TypedDict):
    """A configuration with the votes for it, and the authors who keyed it."""

    cells: Cells
    votes: float
    authors: list[str]


class AgreementJson(TypedDict):
    """How the authors of a set agree; the first configuration is used unless disputed."""

    authors: int
    disputed: bool
    votes: list[Vote]


class MessageJson(TypedDict):
    """A message with everything about it."""

    message: str
    text: str
    fields: dict[str, Any]
    error: str
    sets: list[ResultJson]
    singletons: list[dict[str, Any]]
    entities: list[EntityJson]
    keys: dict[str, list[KeyJson]]
    place: NotRequired[str]
    text_hash: NotRequired[str]
    run: NotRequired[str]
    title: NotRequired[str]
    notes: NotRequired[list[str]]


class ContributionJson(TypedDict):
    """What a feature adds to the log-odds of a pair."""

    feature: str
    weight: float
    documentation: str


class PairAlone(TypedDict):
    """The features of a pair."""

    contributions: list[ContributionJson]
    log_odds: float
    probability: float
    left: NotRequired[str]
    right: NotRequired[str]


class InfluenceJson(TypedDict):
    """How other templates change the probability of a pair."""

    templates: list[str]
    before: float
    after: float


class RestOfSet(TypedDict):
    """The way from a pair alone to its probability in the distribution."""

    probability: float
    marginal: float
    influences: list[InfluenceJson]
    left: NotRequired[str]
    right: NotRequired[str]


class DecisionJson(TypedDict):
    """A decision of the joint model: the member that carries it, and the next choice."""

    sentence: str
    template: str
    members: list[str]
    carrier: str
    carrier_change: float
    runner_up: list[str]
    runner_up_probability: float


class ExplanationJson(TypedDict):
    """Why two templates were resolved as the same or not."""

    left: str
    right: str
    probability: float
    marginal: float
    pair: PairAlone | None
    rest: RestOfSet | None
    expressions: dict[str, str]
    notes: list[str]
    decision: DecisionJson | None


class NextSet(TypedDict):
    """A set to key; `gain` in bits, null where the run is not trained on keys."""

    set: str
    message: str
    gain: float | None
    entropy_bits: float | None
    templates: int


class ChangeJson(TypedDict):
    """A figure before and after training."""

    before: float
    after: float


class KeyChange(TypedDict):
    """What training did to one key."""

    set: str
    message: str
    bits: ChangeJson
    probability: ChangeJson


class TrainingReport(TypedDict):
    """What was learned from the keys."""

    keys: int
    learned_from: str
    every_pair: dict[str, Any]
    merging_questions: dict[str, Any]
    model: str
    step: float
    note: str | None
    bits: ChangeJson
    sets: list[KeyChange]


class SetChange(TypedDict):
    """The best configuration of a set without a key before and after."""

    set: str
    message: str
    same: bool
    before: float
    after: float
    bits: ChangeJson


class Elsewhere(TypedDict):
    """What training did to the sets without a key."""

    sets: int
    changed: int
    bits: ChangeJson
    most: list[SetChange]


class Trained(TypedDict):
    """The result of a training job."""

    model: str
    run: str
    report: TrainingReport
    elsewhere: Elsewhere


class Started(TypedDict):
    """The id of a job."""

    job: str


class JobJson(TypedDict):
    """A training job."""

    job: str
    run: str
    state: Literal["waiting", "running", "done", "failed"]
    progress: str
    result: Trained | None
    error: str | None


class ReviewSet(TypedDict):
    """Records that may be the same: their clusters, pairs, alternatives and questions."""

    records: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    alternatives: list[dict[str, Any]]
    questions: list[dict[str, Any]]
    bits: float
    differs: bool


class ReviewSets(TypedDict):
    """The sets of records to review, the most uncertain first, their number, and all clusters."""

    summary: dict[str, Any]
    total: int
    sets: list[ReviewSet]
    clusters: NotRequired[list[list[Any]]]


class ProblemJson(TypedDict):
    """One problem of a request and its field, empty for the whole."""

    field: str
    problem: str


class ProblemDetails(TypedDict):
    """An error, as RFC 9457 has it, with all problems and the id of the request in the log."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[ProblemJson]
    trace: str
