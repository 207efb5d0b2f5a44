"""The keys (gold labels) of stored runs: checked, counted, learned from, and what to key next."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partita.app.recording import now
from partita.app.train import key_rows
from partita.core import Configuration, CoreferenceSet, pair
from partita.core.templates import Alternative, Key
from partita.corpora.documents import keyed_document
from partita.corpora.keys import alternative_of, configuration_of
from partita.domains import HASH_DIGITS, PAIRS, find_domain
from partita.errors import InputError, Unknown
from partita.evaluation.splits import cut_document
from partita.files.strict import Place, integer_of, text_of
from partita.results.result_lines import template_of
from partita.store import reading, runs, tables
from partita.store.runs import PLACE as STORED
from partita.store.store import Store
from partita.text.messages import valid_unicode
from partita.training.few_keys import Taught, teach
from partita.training.label_choice import SAMPLE_SIZE, set_gains
from partita.training.lessons import lesson
from partita.training.parameter_files import (
    PairParameters,
    pair_parameters_text,
    parse_pair_parameters,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection

Row = Mapping[str, Any]


def keys_of_run(connection: Connection, run: str) -> dict[str, Key]:
    """Return the keys by name of set, in the order in which the sets were first keyed."""
    rows_by_set = reading.rows_by(runs.counting(runs.select_keys(connection, run)), "set")
    lines = reading.template_sets(connection, run, list(rows_by_set))
    keyed = {}
    for name, rows in rows_by_set.items():
        if name not in lines:
            raise Unknown(f"run {run} has no set {name}")
        line = lines[name]
        templates = tuple(template_of(template, STORED) for template in line["templates"])
        ids = {template.id for template in templates}
        valid = [row for row in rows if set(row["templates"]) == ids]
        if valid:
            best = merge_votes(valid)
            keyed[name] = Key(line["message"], templates, *best)
    return keyed


def merge_votes(rows: Sequence[Row]) -> tuple[Configuration, str, str, tuple[Alternative, ...]]:
    """Return the configuration with most votes, and the alternatives.

    Their weights are relative to the votes of the first. Of equals the one that agrees best with
    all keys is first, then the one that was saved first; the other keeps the same weight.
    """
    (best, most), *others = _votes(rows)
    rest = tuple(Alternative(cells, vote / most) for cells, vote in others)
    authors = ", ".join(dict.fromkeys(row["author"] for row in rows))
    return best, authors, rows[-1]["time"], rest


def key_agreement(rows: Sequence[Row]) -> dict[str, Any]:
    """Return how the authors of a set agree: every configuration with its votes and authors.

    A set is disputed if no configuration has more votes than every other.
    """
    votes = _votes(rows) if rows else []
    authors = {
        cells: [row["author"] for row in rows if Configuration(row["cells"]) == cells]
        for cells, _ in votes
    }
    disputed = len(votes) > 1 and votes[0][1] - votes[1][1] < EQUAL
    return {
        "authors": len(rows),
        "disputed": disputed,
        "votes": [
            {"cells": [list(cell) for cell in cells], "votes": vote, "authors": authors[cells]}
            for cells, vote in votes
        ],
    }


def _votes(rows: Sequence[Row]) -> list[tuple[Configuration, float]]:
    """Return the configurations of all keys with their votes, the one that counts first."""
    votes: dict[Configuration, float] = {}
    for row in rows:
        for cells, share in _vote_shares(row):
            votes[cells] = votes.get(cells, 0.0) + share
    return sorted(votes.items(), key=lambda item: (-round(item[1], 9), _distance(item[0], votes)))


def _distance(one: Configuration, votes: Mapping[Configuration, float]) -> float:
    """Return the mean number of pairs by which a configuration differs from the keys."""
    pairs = _joined(one)
    return sum(vote * len(pairs ^ _joined(other)) for other, vote in votes.items())


def _joined(cells: Configuration) -> frozenset[tuple[str, str]]:
    return frozenset((a, b) for cell in cells for a in cell for b in cell if a < b)


def _vote_shares(row: Row) -> list[tuple[Configuration, float]]:
    weighted = [
        (row["cells"], 1.0),
        *((one["cells"], one["weight"]) for one in row["alternatives"]),
    ]
    total = sum(weight for _, weight in weighted)
    return [(Configuration(cells), weight / total) for cells, weight in weighted]


PLACE, WHOLE = Place("the key"), "the set"
EQUAL = 1e-9  # votes that differ by less are equal
LONGEST = 200  # characters of an author
LARGEST = 2**31 - 1  # number of a key


def checked_key(
    line: Row,
    cells: Sequence[Sequence[str]],
    author: str,
    alternatives: Iterable[Row],
    based_on: int | None,
    override: bool,
) -> dict[str, Any]:
    """Return the row of a key for a set.

    One that contradicts what is known of its templates is refused unless `override`.
    """
    ids = [template["id"] for template in line["templates"]]
    listed = [
        alternative_of({**one, "cells": _lists(one.get("cells"))}, ids, PLACE, WHOLE)
        for one in alternatives
    ]
    key = {
        "set_name": line["set"],
        "message": line["message"],
        "templates": ids,
        "cells": _cells_in_order(configuration_of(_lists(cells), ids, PLACE, WHOLE), ids),
        "alternatives": [
            {"cells": _cells_in_order(one.configuration, ids), "weight": one.weight}
            for one in listed
        ],
        "author": author_name(author),
        "time": now(),
        "based_on": None if based_on is None else _key_number(based_on),
    }
    for one in () if override else (key, *key["alternatives"]):
        _refuse_contradiction(one["cells"], line)
    return key


def _key_number(based_on: int) -> int:
    """Return the number of a key; databases store no larger ones."""
    if integer_of(based_on, "based_on", PLACE) > LARGEST:
        PLACE.refuse(f"based_on is above {LARGEST:,}; expected the number of a key")
    return based_on


def _refuse_contradiction(cells: Sequence[Sequence[str]], line: Row) -> None:
    """Refuse cells that join templates known to differ, or part templates known to be the same."""
    cell_of = {template: n for n, cell in enumerate(cells) for template in cell}
    known = (("incompatible", True, "differ"), ("must", False, "be the same"))
    for name, together, said in known:
        for left, right in line[name]:
            if (cell_of[left] == cell_of[right]) is together:
                problem = f"{left} and {right} are known to {said}"
                PLACE.refuse(f"{problem}; set override to save the key nevertheless")


def _cells_in_order(cells: Configuration, ids: Sequence[str]) -> list[list[str]]:
    """Return cells in text order."""
    ordered = [sorted(cell, key=ids.index) for cell in cells]
    return sorted(ordered, key=lambda cell: ids.index(cell[0]))


def _lists(cells: Any) -> Any:
    """Return cells as JSON has them: users of Python may give tuples."""
    return [_lists(one) for one in cells] if isinstance(cells, list | tuple) else cells


def author_name(author: Any) -> str:
    """Return the name of an author, which must fit into one line."""
    name = text_of(author, "author", PLACE).strip()
    if not name or len(name) > LONGEST or not name.isprintable():
        PLACE.refuse(f"author is {name[:20]!r}; expected a name of up to {LONGEST} letters")
    return valid_unicode(name, "author")


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


def keys_to_learn(store: Store, run: str) -> RunKeys:
    """Return the keys of a run, and the parameters that learning starts from."""
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


def learn_keys(store: Store, data: RunKeys) -> tuple[str, str, dict[str, Any]]:
    """Learn from the keys of a run; return the id of the new model, its text, and a report."""
    if reason := untrainable(data.row, PAIRS if data.pairs else None):
        raise InputError(reason)
    if not data.keys:
        raise InputError(f"run {data.row['run']} has no keys; expected at least one")
    source = f"{data.start.learned_from}, and {_counted(data)} of run {data.root}"
    documents = map(keyed_document, data.keys.values())
    lessons = [lesson(cut_document(one, data.schema), data.start) for one in documents]
    taught = teach(data.start, lessons, model=data.model, learned_from=source, latest=data.latest)
    learned = taught.parameters
    text = pair_parameters_text(learned)
    name = hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]
    report = _report(data, taught)
    with store.writing() as connection:
        runs.add_if_new(connection, tables.models, _row(name, text, learned, data, report))
    return name, text, report


def untrainable(row: Mapping[str, Any], kind: str | None) -> str:
    """Return why a run cannot be trained on its keys, or "". `kind` is of its parameters."""
    name, model = row["run"], row["model"]
    if model not in LEARNING:
        problem = f"run {name} is of the model {model}, which is not trained from keys"
        return f"{problem}; expected a run of {', '.join(LEARNING)}"
    if kind != PAIRS:
        return f"run {name} is of the domain {row['domain']}, which has its own training"
    return ""


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
    data = keys_to_learn(store, run)
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
    templates = tuple(template_of(template, STORED) for template in line["templates"])
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
