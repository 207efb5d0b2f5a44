"""Train from the keys of a stored run, resolve its messages again, and choose what to key next."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from partita.app.recording import LONGEST_NAME, now
from partita.app.runner import settings_of
from partita.app.stored_runs import Progress, StoredRuns, keys_of_run
from partita.app.train import key_rows
from partita.core import CoreferenceSet, pair
from partita.core.templates import Key
from partita.corpora.documents import keyed_document
from partita.domains import HASH_DIGITS, PAIRS, find_domain
from partita.errors import InputError
from partita.evaluation.splits import cut_document
from partita.results.result_lines import template_of
from partita.store import reading, runs, tables
from partita.store.runs import PLACE
from partita.store.store import Store
from partita.templates.schema import Schema
from partita.text.raw_messages import RawMessage
from partita.training.few_keys import (
    SAMPLE_SIZE,
    Lesson,
    Taught,
    lesson,
    set_gains,
    teach,
)
from partita.training.parameter_files import (
    PairParameters,
    pair_parameters_text,
    parse_pair_parameters,
)

SHORT = 8  # digits of a model's hash in the name of a run
MOST_PAIRS = 40_000  # of the sets that are compared for the next key: about half a second
LEARNING = ("greedy", "merging", "evidential", "scaled", "forest")


@dataclass(frozen=True, slots=True, eq=False)
class RunKeys:
    """The keys of a run, and the parameters before any of them.

    `pairs` says whether the run has parameters for models over pairs.
    """

    row: dict[str, Any]
    root: str
    start: PairParameters
    latest: PairParameters
    keys: dict[str, Key]
    used: list[int]
    pairs: bool

    @property
    def model(self) -> str:
        """The model whose pairs are learned; evidential for a model without pairs."""
        model = str(self.row["model"])
        return model if model in LEARNING else "evidential"

    @property
    def schema(self) -> Any:
        return find_domain(self.row["asked"]["domain"]).schema


def run_keys(store: Store, run: str) -> RunKeys:
    with store.reading() as connection:
        rows = [runs.read_run(connection, name) for name in runs.family(connection, run)]
        models = [runs.model_of(connection, row) for row in rows]
        keyed = keys_of_run(connection, run)
        used = [one["key"] for one in runs.counting(runs.select_keys(connection, run))]
    untaught = [n for n, model in enumerate(models) if not (model and model["keys_used"])]
    first = untaught[0] if untaught else len(rows) - 1
    start, latest = (_parameters(rows[n], models[n]) for n in (first, 0))
    own = models[0] is not None and models[0]["kind"] == PAIRS
    return RunKeys(rows[0], rows[-1]["run"], start, latest, keyed, used, own)


def _parameters(row: dict[str, Any], model: dict[str, Any] | None) -> PairParameters:
    """Return the parameters of a run or, if its model has no pairs, those of its domain."""
    if model is not None and model["kind"] == PAIRS:
        return parse_pair_parameters(model["text"], f"model {model['id']}")
    return find_domain(row["asked"]["domain"]).pair_parameters


def train_on_run(
    stored: StoredRuns, run: str, workers: int | None, progress: Progress | None
) -> dict[str, Any]:
    """Train on the keys of a run, resolve its messages again, and return the new model and run."""
    store = stored.store
    data = run_keys(store, run)
    _refuse_untrainable(data)
    if not data.keys:
        raise InputError(f"run {run} has no keys; expected at least one")
    if progress:
        progress(f"learning from {_counted(data)}")
    source = f"{data.start.learned_from}, and {_counted(data)} of run {data.root}"
    lessons = _lessons([*data.keys.values()], data.start, data.schema)
    taught = teach(data.start, lessons, model=data.model, learned_from=source, latest=data.latest)
    learned = taught.parameters
    text = pair_parameters_text(learned)
    name = hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]
    report = _report(data, taught)
    with store.writing() as connection:
        runs.add_if_new(connection, tables.models, _row(name, text, learned, data, report))
    new = _again(stored, data, text, name, workers, progress)
    return {"model": name, "run": new, "report": report}


def untrainable(row: Mapping[str, Any], kind: str | None) -> str:
    """Return why a run cannot be trained on its keys, or "". `kind` is of its parameters."""
    name, model = row["run"], row["model"]
    if model not in LEARNING:
        problem = f"run {name} is of the model {model}, which is not trained from keys"
        return f"{problem}; expected a run of {', '.join(LEARNING)}"
    if kind != PAIRS:
        return f"run {name} is of the domain {row['domain']}, which has its own training"
    return ""


def _refuse_untrainable(data: RunKeys) -> None:
    if reason := untrainable(data.row, PAIRS if data.pairs else None):
        raise InputError(reason)


def _report(data: RunKeys, taught: Taught) -> dict[str, Any]:
    """Return what was learned, with the bits and probability of every key before and after."""
    learned, (before, after) = taught.parameters, taught.bits
    return {
        "keys": len(data.keys),
        "learned_from": learned.learned_from,
        "every_pair": dict(learned.every_pair.figures),
        "merging_questions": dict(learned.questions.figures),
        "model": taught.model,
        "step": taught.share,
        "note": taught.note,
        "bits": {"before": before, "after": after},
        "sets": [
            {"set": name} | row for name, row in zip(data.keys, key_rows(taught), strict=True)
        ],
    }


def _counted(data: RunKeys) -> str:
    return f"{len(data.keys):,} keys" if len(data.keys) != 1 else "1 key"


def _row(
    name: str, text: str, learned: PairParameters, data: RunKeys, report: dict[str, Any]
) -> dict[str, Any]:
    return {
        "id": name,
        "kind": PAIRS,
        "learned_from": learned.learned_from,
        "text": text,
        "keys_used": data.used,
        "report": report,
        "made": now(),
    }


def _again(
    stored: StoredRuns,
    data: RunKeys,
    text: str,
    model: str,
    workers: int | None,
    progress: Progress | None,
) -> str:
    """Resolve the stored texts again: files may have changed, or be gone."""
    settings = settings_of(data.row, text)
    with stored.store.reading() as connection:
        rows = runs.message_rows(connection, data.row["run"], runs.READ)
    messages = [
        RawMessage(row["message"], row["text"], row["place"], fields=row["fields"]) for row in rows
    ]
    name = f"{data.root[: LONGEST_NAME - SHORT - 1]}-{model[:SHORT]}"
    parent = data.row["run"]
    if name == parent:
        return name
    return stored.ingest(messages, settings, name, workers, progress, parent)


def sets_to_key(store: Store, run: str, limit: int) -> list[dict[str, Any]]:
    """Return the sets without a key, the most useful first.

    Of a run that is not trained on keys these are the least certain ones, without a gain.
    """
    with store.reading() as connection:
        row = runs.read_run(connection, run)
        if untrainable(row, runs.model_kind(connection, row["model_id"])):
            keyed = {one["set"] for one in runs.counting(runs.select_keys(connection, run))}
            return [
                {"set": one.pop("set_name"), "gain": None, **one}
                for one in reading.uncertain_sets(connection, run, sorted(keyed), limit)
            ]
    return _by_gain(store, run, limit)


def _by_gain(store: Store, run: str, limit: int) -> list[dict[str, Any]]:
    data = run_keys(store, run)
    with store.reading() as connection:
        sizes = reading.set_sizes(connection, run)
        rest = _spread([(name, size) for name, size in sizes if name not in data.keys])
        lines = reading.template_sets(connection, run, [*data.keys, *rest])
    gains = set_gains(
        [_set(line) for line in lines.values()],
        data.latest,
        data.keys,
        schema=data.schema,
        limit=limit,
    )
    return [_next(lines[name], gain) for name, gain in gains]


def _spread(sizes: list[tuple[str, int]]) -> list[str]:
    """Return as many names as are compared, evenly spread over a long run; fewer large sets."""
    count = min(len(sizes), SAMPLE_SIZE)
    while True:
        step = len(sizes) / max(1, count)
        sample = [sizes[int(n * step)] for n in range(count)]
        if count <= 1 or sum(size * size // 2 for _, size in sample) <= MOST_PAIRS:
            return [name for name, _ in sample]
        count //= 2


def _set(line: dict[str, Any]) -> CoreferenceSet:
    templates = tuple(template_of(template, PLACE) for template in line["templates"])
    apart, must = (
        frozenset(pair(*ends) for ends in line[name]) for name in ("incompatible", "must")
    )
    return CoreferenceSet(templates, apart, must, line["set"])


def _next(line: dict[str, Any], gain: float) -> dict[str, Any]:
    return {
        "set": line["set"],
        "message": line["message"],
        "gain": gain,
        "entropy_bits": line["entropy_bits"],
        "templates": len(line["templates"]),
    }


def _lessons(keys: Sequence[Key], start: PairParameters, schema: Schema | None) -> list[Lesson]:
    """Return each key as a document of its own, as a file of keys is read."""
    return [lesson(cut_document(keyed_document(key), schema), start) for key in keys]
