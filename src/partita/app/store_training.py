"""Train from the keys of a stored run, and resolve its messages again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from partita.app import label_choice
from partita.app.recording import LONGEST_NAME, now
from partita.app.runner import Runner, settings_of
from partita.app.stored_keys import keyed_sets
from partita.app.stored_runs import ingest
from partita.domains import HASH_DIGITS, PAIRS, find_domain
from partita.errors import InputError
from partita.records import CoreferenceSet
from partita.records.keys import Key
from partita.results.saved_results import Result, result_of
from partita.store import keys, reading, runs
from partita.store.shapes import PLACE
from partita.store.store import Store
from partita.text.raw_messages import RawMessage as RawMessage
from partita.training.pair_parameters import PairParameters
from partita.training.parameter_files import (
    pair_parameters_text,
    parse_pair_parameters,
)

Progress = Callable[[str], None]
SHORT = 8  # digits of a model's hash in the name of a run
LEARNING = ("greedy", "merging", "evidential", "scaled")


@dataclass(frozen=True, slots=True, eq=False)
class School:
    """What a run learns from: its keys, and the parameters before any of them; `pairs` says whether
    these are the run's own."""

    row: dict[str, Any]
    root: str
    start: PairParameters
    latest: PairParameters
    keys: dict[str, Key]
    used: list[int]
    pairs: bool

    @property
    def model(self) -> str:
        """For the questions about pairs; of a model without pairs those of evidential."""
        found = str(self.row["model"])
        return found if found in LEARNING else "evidential"

    @property
    def schema(self) -> Any:
        return find_domain(self.row["asked"]["domain"]).schema


def school(store: Store, run: str) -> School:
    with store.reading() as connection:
        rows = [runs.read_run(connection, name) for name in keys.family(connection, run)]
        models = [runs.model_of(connection, row) for row in rows]
        found = keyed_sets(connection, run)
        used = [one["key"] for one in keys.counting(keys.read_keys(connection, run))]
    untaught = [n for n, model in enumerate(models) if not (model and model["keys_used"])]
    first = untaught[0] if untaught else len(rows) - 1
    start, latest = (_parameters(rows[n], models[n]) for n in (first, 0))
    own = models[0] is not None and models[0]["kind"] == PAIRS
    return School(rows[0], rows[-1]["run"], start, latest, found, used, own)


def _parameters(row: dict[str, Any], model: dict[str, Any] | None) -> PairParameters:
    """Those of the run; of a model that has no pairs, those of its domain."""
    if model is not None and model["kind"] == PAIRS:
        return parse_pair_parameters(model["text"], f"model {model['id']}")
    return find_domain(row["asked"]["domain"]).pair_parameters


def train(
    store: Store, run: str, workers: int | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """The model, the run that was resolved with it, and what there is to say about it."""
    given = school(store, run)
    _refuse_unteachable(given)
    if not given.keys:
        raise InputError(f"run {run} has no keys; expected at least one")
    if progress:
        progress(f"learning from {_counted(given)}")
    learned = _learned(given)
    text = pair_parameters_text(learned)
    name = hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]
    report = {
        "keys": len(given.keys),
        "learned_from": learned.learned_from,
        "every_pair": dict(learned.every_pair.figures),
        "merging_questions": dict(learned.questions.figures),
    }
    with store.writing() as connection:
        runs.add_model(connection, _row(name, text, learned, given, report))
    new = _again(store, given, text, name, workers, progress)
    return {"model": name, "run": new, "report": report}


def _refuse_unteachable(given: School) -> None:
    name, model = given.row["run"], given.row["model"]
    if model not in LEARNING:
        problem = f"run {name} is of the model {model}, which keys do not teach"
        raise InputError(f"{problem}; expected a run of {', '.join(LEARNING)}")
    if not given.pairs:
        domain = given.row["domain"]
        raise InputError(f"run {name} is of the domain {domain}, which has its own way of learning")


def _learned(given: School) -> PairParameters:
    source = f"{given.start.learned_from}, and {_counted(given)} of run {given.root}"
    found = [*given.keys.values()]
    return label_choice.taught(found, given.start, schema=given.schema, learned_from=source)


def _counted(given: School) -> str:
    return f"{len(given.keys):,} keys" if len(given.keys) != 1 else "1 key"


def _row(
    name: str, text: str, learned: PairParameters, given: School, report: dict[str, Any]
) -> dict[str, Any]:
    return {
        "id": name,
        "kind": PAIRS,
        "learned_from": learned.learned_from,
        "text": text,
        "keys_used": given.used,
        "report": report,
        "made": now(),
    }


def _again(
    store: Store,
    given: School,
    text: str,
    model: str,
    workers: int | None,
    progress: Progress | None,
) -> str:
    """The texts are those that the store holds: files may have changed, or gone."""
    settings = settings_of(given.row, text)
    with store.reading() as connection:
        rows = runs.texts(connection, given.row["run"])
    messages = [
        RawMessage(row["message"], row["text"], row["place"], fields=row["fields"]) for row in rows
    ]
    name = f"{given.root[: LONGEST_NAME - SHORT - 1]}-{model[:SHORT]}"
    parent = given.row["run"]
    if name == parent:
        return name
    return ingest(store, messages, Runner(settings), name, workers, progress, parent)


def curve(store: Store, run: str) -> dict[str, Any]:
    """What the keys so far have taught, measured on those held out."""
    given = school(store, run)
    _refuse_unteachable(given)
    found = [*given.keys.values()]
    return label_choice.curve(found, given.start, model=given.model, schema=given.schema)


def next_sets(store: Store, run: str, limit: int) -> list[dict[str, Any]]:
    """Sets that nobody has keyed, the most useful first."""
    given = school(store, run)
    with store.reading() as connection:
        names = reading.set_names(connection, run)
        rest = _spread([name for name in names if name not in given.keys])
        lines = {name: reading.read_set(connection, run, name) for name in [*given.keys, *rest]}
    gains = label_choice.next_sets(
        [_set(line) for line in lines.values()],
        given.latest,
        given.keys,
        schema=given.schema,
        limit=limit,
    )
    return [_next(lines[name], gain) for name, gain in gains]


def _spread(names: list[str]) -> list[str]:
    """As many as are compared, from everywhere in a long run."""
    step = max(1.0, len(names) / label_choice.MOST)
    return [names[int(n * step)] for n in range(min(len(names), label_choice.MOST))]


def _set(line: dict[str, Any]) -> CoreferenceSet:
    found = result_of(line, PLACE)
    assert isinstance(found, Result)
    return found.set


def _next(line: dict[str, Any], gain: float) -> dict[str, Any]:
    return {
        "set": line["set"],
        "message": line["message"],
        "gain": gain,
        "entropy_bits": line["entropy_bits"],
        "templates": len(line["templates"]),
    }
