"""Evaluate results against keys."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from partita.app.cluster import Clusters
from partita.app.explain import saved
from partita.app.run import ResolvedMessage
from partita.app.solve import parameters_source
from partita.core import (
    Distribution,
    Document,
    FloatArray,
    IntArray,
    Template,
    restricted_growth,
)
from partita.core.tabular import Columns, Tabular, row_columns
from partita.core.templates import Key
from partita.corpora.documents import read_corpora
from partita.corpora.keys import match_by_id_or_place
from partita.domains import find_domain
from partita.errors import InputError
from partita.evaluation.rows import ModelRow, ReportedAnswer, measure_report, possible_links, row
from partita.evaluation.splits import Excluded
from partita.files.text import TextSource
from partita.linkage.clusters import read_clusters
from partita.options import EvaluateOptions, described
from partita.results.saved_results import Alone, Result, read_results
from partita.training.parameter_files import (
    PairParameters,
    read_pair_parameters,
    shipped_pair_parameters,
)
from partita.views.evaluation import evaluation_text
from partita.views.layout import count_text

if TYPE_CHECKING:
    from partita.app.train import TrainedModel

AnyResult = ResolvedMessage | Distribution | Clusters | Result | Alone
Results = str | os.PathLike[str] | AnyResult | Iterable[AnyResult]
Progress = Callable[[str], None]
KINDS = ("pair", "cell", "configuration")
MOST_DOCUMENTS = 1000  # that are searched for one message by the places of its templates
BIT_FIELDS = ("bits_per_set", "bits_per_template", "reported_bits_per_set", "bits_per_mention")


@dataclass(slots=True)
class MessageResults:
    """The results of one message; `keyed` are the ids of the key by the ids of the results."""

    message: str
    sets: list[Result] = field(default_factory=list)
    alone: set[str] = field(default_factory=set)
    clusters: dict[str, str] = field(default_factory=dict)
    domain: str = ""
    templates: dict[str, Template] = field(default_factory=dict)
    keyed: dict[str, str] = field(default_factory=dict)

    @property
    def ids(self) -> set[str]:
        inside = {name for one in self.sets for name in one.set.ids}
        return inside | self.alone | set(self.clusters)

    def match(self, document: Document) -> tuple[dict[str, str], int]:
        """Return the key's id of each template, and how many were matched by place."""
        found = {name: self.templates.get(name) for name in sorted(self.ids)}
        return match_by_id_or_place(document.templates, found)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation(Tabular):
    """How results agree with keys, and what only one of both mentions.

    `figures` holds every measure by its name, such as b_cubed, and `intervals` the 95 % intervals
    over messages. The tables are `figures`, `sizes` (by size of set), `calibration` (of pairs,
    cells and configurations: over all, by size of set and by genre), `pair_reliability`,
    `cell_reliability` and `configuration_reliability`.
    """

    row: ModelRow
    hard: bool
    only_results: tuple[str, ...]
    only_keys: tuple[str, ...]
    by_ids: int
    by_report: int
    by_place: int = 0

    @property
    def matching(self) -> str:
        """A note on what was not matched by name and id, or nothing."""
        parts = [
            f"{count_text(count, what)} matched by {how}"
            for count, what, how in (
                (self.by_ids, "message", "templates, not by name"),
                (self.by_place, "template", "place in the text, not by id"),
            )
            if count
        ]
        return "; ".join(parts)

    @property
    def figures(self) -> dict[str, float | None]:
        """Every measure by its name; None where the results do not determine it."""
        values = self.to_dict()
        names = (one.name for one in fields(ModelRow))
        return {n: values[n] for n in names if isinstance(values[n], int | float | None)}

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """The 95 % intervals of some of the figures, over messages."""
        return {name: (one.low, one.high) for name, one in self.row.intervals.items()}

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        return {
            "figures": self._figure_columns,
            "sizes": lambda: row_columns(self.to_dict()["sizes"]),
            "calibration": self._calibration_columns,
            **{f"{of}_reliability": partial(self._bin_columns, of) for of in KINDS},
        }

    def _bin_columns(self, of: str) -> Columns:
        return row_columns(self.to_dict()[f"{of}_reliability"])

    def _calibration_columns(self) -> Columns:
        rows = [asdict(one) for one in self.row.calibration]
        bounds = [row.pop("interval") or {"low": None, "high": None} for row in rows]
        return row_columns([row | ends for row, ends in zip(rows, bounds, strict=True)])

    def _figure_columns(self) -> Columns:
        figures = self.figures
        bounds = [self.intervals.get(name, (None, None)) for name in figures]
        return {
            "figure": list(figures),
            "value": list(figures.values()),
            "low": [low for low, _ in bounds],
            "high": [high for _, high in bounds],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything as `partita evaluate --json` writes it."""
        report: dict[str, Any] = asdict(self.row)
        if self.hard:
            report |= dict.fromkeys(BIT_FIELDS)
            report["sizes"] = [one | dict.fromkeys(BIT_FIELDS[:2]) for one in report["sizes"]]
        report |= {
            "templates_only_in_results": len(self.only_results),
            "templates_only_in_keys": len(self.only_keys),
            "only_in_results": list(self.only_results),
            "only_in_keys": list(self.only_keys),
            "messages_matched_by_ids": self.by_ids,
            "templates_matched_by_place": self.by_place,
            "sets_by_report": self.by_report,
        }
        return report

    def __str__(self) -> str:
        notes = [
            _note(self.only_results, "in the results only: not measured"),
            _note(self.only_keys, "in the keys only: counted as alone"),
        ]
        return evaluation_text(self.row, self.hard, [note for note in notes if note])


def _note(names: tuple[str, ...], what: str) -> str:
    if not names:
        return ""
    shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    return f"{count_text(len(names), 'template')} {what} ({shown})"


@described(EvaluateOptions)
def evaluate(
    results: Results,
    keys: str | os.PathLike[str] | Key | Iterable[str | os.PathLike[str] | Key],
    *,
    parameters: str | os.PathLike[str] | TrainedModel | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure results against keys (gold labels).

    `results` is what `run` returns, a distribution of `solve` or clusters of `cluster`, a list of
    these, or a file of results (JSONL) or clusters (CSV). `keys` are `Key` records, files of keys,
    CoNLL-U files, folders of these, or one of them. Messages are matched by name or, if no key has
    that name, by their templates; templates by id or, if no template of that id is there, by their
    place in the text. Results and keys that have nothing in common are refused. `parameters` say
    how probable it is that the correct configuration was excluded. What only the results or only
    the keys mention is counted.
    """
    message_results = _results_by_message(results)
    documents = _merge_documents(read_corpora(keys))
    domains = (one.domain for one in message_results if one.domain)
    pair_parameters = _parameters(parameters_source(parameters), next(domains, ""))
    excluded = Excluded(pair_parameters.excluded, pair_parameters.crossing)
    matched, by_ids = _match_messages(message_results, documents)
    by_place = _match_templates(matched, documents)
    _require_common(message_results, documents, results, keys)
    measures, links, only_keys, by_report = [], np.zeros(2, dtype=np.int64), list[str](), 0
    for document in documents:
        if progress:
            progress(f"measuring {document.name}")
        one = matched.get(document.name, MessageResults(document.name))
        answers = _answers(one, document)
        by_report += sum(answer.theta is None for answer in answers)
        measures.append(
            measure_report(document.name, document.labels, answers, excluded, document.genre)
        )
        links += possible_links(document.labels, answers)
        known = set(one.keyed.values())
        only_keys += [f"{document.name}:{name}" for name in document.ids if name not in known]
    kept = float(links[1] / links[0]) if links[0] else 1.0
    hard = not any(one.sets for one in message_results)
    models = dict.fromkeys(one.model for results in message_results for one in results.sets)
    names = ", ".join(models) or "clusters"
    figures = row(names, measures, kept, seed=seed, grouped=not hard)
    only_results = tuple(
        f"{one.message}:{name}"
        for one in message_results
        for name in sorted(one.ids - set(one.keyed))
    )
    return Evaluation(figures, hard, only_results, tuple(only_keys), by_ids, by_report, by_place)


def _parameters(path: TextSource | None, domain: str) -> PairParameters:
    """Read parameters as the domain of the results does."""
    if path is None:
        return shipped_pair_parameters()
    if not domain:
        return read_pair_parameters(path)
    return find_domain(domain).with_parameters(path).pair_parameters


def _results_by_message(results: Results) -> list[MessageResults]:
    """Return results by message."""
    if isinstance(results, str | os.PathLike):
        return _read_file(Path(results))
    single = isinstance(results, ResolvedMessage | Distribution | Clusters)
    if not single and not isinstance(results, Iterable):
        expected = "what run, solve or cluster returns, or a file"
        raise TypeError(f"results must be {expected}, not {type(results).__name__}")
    clusterings: list[MessageResults] = []
    lines: list[Result | Alone] = []
    listed: list[Any] = [results] if single else list(cast(Iterable[Any], results))
    for one in listed:
        if isinstance(one, Clusters):
            clusterings.append(
                MessageResults("", clusters={str(r.record): str(r.cluster) for r in one.records})
            )
        else:
            lines += [one] if isinstance(one, Result | Alone) else saved(one)
    return [*clusterings, *_group_lines(lines)]


def _read_file(path: Path) -> list[MessageResults]:
    """Read results (JSONL) or clusters (CSV)."""
    if path.suffix == ".csv":
        return [MessageResults(o.message, clusters=dict(o.clusters)) for o in read_clusters(path)]
    grouped = _group_lines(read_results(path))
    if not grouped:
        raise InputError("has no results (expected one JSON line per set)", file=str(path))
    return grouped


def _group_lines(lines: Iterable[Result | Alone]) -> list[MessageResults]:
    by_message: dict[str, MessageResults] = {}
    for line in lines:
        results = by_message.setdefault(line.message, MessageResults(line.message))
        templates = line.templates if isinstance(line, Alone) else line.set.templates
        results.templates |= {one.id: one for one in templates}
        if isinstance(line, Alone):
            results.alone |= {template.id for template in line.templates}
            results.domain = line.domain
        else:
            results.sets.append(line)
    return list(by_message.values())


def _merge_documents(documents: Iterable[Document]) -> list[Document]:
    """Merge all keys of a message into one document."""
    by_name: dict[str, list[Document]] = {}
    for document in documents:
        by_name.setdefault(document.name, []).append(document)
    return [_merge(parts) for parts in by_name.values()]


def _merge(parts: Sequence[Document]) -> Document:
    if len(parts) == 1:
        return parts[0]
    templates = sorted((t for part in parts for t in part.templates), key=lambda t: t.start)
    cells = [cell for part in parts for cell in part.key]
    key = type(parts[0].key)(cells)
    return replace(parts[0], templates=tuple(templates), key=key, alternatives=())


def _match_messages(
    message_results: Sequence[MessageResults], documents: Sequence[Document]
) -> tuple[dict[str, MessageResults], int]:
    """Return results by the name of the keyed message, and how many were matched by templates.

    Results whose message has no key of that name go to the only document that shares ids, or else
    to the only one that has half of the templates at their places.
    """
    names = {document.name for document in documents}
    matched = {one.message: one for one in message_results if one.message in names}
    by_ids = 0
    for one in message_results:
        if one.message in names:
            continue
        free = [document for document in documents if document.name not in matched]
        candidates = [d.name for d in free if one.ids & set(d.ids) and one.match(d)[0]]
        if not candidates and len(free) <= MOST_DOCUMENTS:
            candidates = [d.name for d in free if _has_half(one, d)]
        if len(candidates) == 1:
            matched[candidates[0]] = one
            by_ids += 1
    return matched, by_ids


def _has_half(results: MessageResults, document: Document) -> bool:
    """Return whether half of the templates of results or key are at the same places."""
    least = min(len(results.ids), len(document.ids)) / 2
    return 0 < least <= len(results.match(document)[0])


def _match_templates(matched: Mapping[str, MessageResults], documents: Sequence[Document]) -> int:
    """Match the templates of each message with its key; return how many were matched by place."""
    by_place = 0
    for document in documents:
        if document.name in matched:
            one = matched[document.name]
            one.keyed, places = one.match(document)
            by_place += places
    return by_place


def _require_common(
    message_results: Sequence[MessageResults],
    documents: Sequence[Document],
    results: Results,
    keys: object,
) -> None:
    """Refuse results and keys that have no template in common."""
    found = next((one for one in message_results if one.ids), None)
    keyed = next((document for document in documents if document.ids), None)
    if found is None or keyed is None or any(one.keyed for one in message_results):
        return
    names = [
        f"{name or 'a message'} with {', '.join(sorted(ids)[:3])}"
        for name, ids in ((found.message, found.ids), (keyed.name, keyed.ids))
    ]
    source = f"{results}" if isinstance(results, str | os.PathLike) else "the results"
    first = keys[0] if isinstance(keys, Sequence) and not isinstance(keys, str) and keys else keys
    expected = "messages of the same name, and templates of the same ids or places"
    raise InputError(
        f"no template of {source} is in these keys (expected {expected}; "
        f"the results have {names[0]}, the keys {names[1]})",
        file=str(first) if isinstance(first, str | os.PathLike) else None,
    )


def _answers(results: MessageResults, document: Document) -> list[ReportedAnswer]:
    place = {name: n for n, name in enumerate(document.ids)}
    if results.clusters:
        return _certain_answers(results.clusters, place)
    answers, earlier = [], set[str]()
    for one in results.sets:  # of windows, a template counts in the first that holds it
        names = [None if name in earlier else results.keyed.get(name) for name in one.set.ids]
        earlier |= set(one.set.ids)
        kept = np.array([n for n, name in enumerate(names) if name is not None], dtype=np.int64)
        if len(kept) > 1:
            places = np.array([place[name] for name in names if name is not None], dtype=np.int64)
            answers.append(_answer(one).among(kept, places))
    return answers


def _answer(result: Result) -> ReportedAnswer:
    ids = result.set.ids
    place = {name: n for n, name in enumerate(ids)}
    possible, needed = np.ones((len(ids), len(ids)), dtype=np.bool_), np.eye(len(ids), dtype=bool)
    for pairs, table, value in (
        (result.set.incompatible, possible, False),
        (result.set.must, needed, True),
    ):
        for left, right in pairs:
            table[place[left], place[right]] = table[place[right], place[left]] = value
    np.fill_diagonal(needed, False)
    theta = _theta(result)
    return ReportedAnswer(
        np.arange(len(ids)),
        np.array([listed.configuration.labels(ids) for listed in result.configurations]),
        np.array([listed.probability for listed in result.configurations]),
        result.remainder.probability,
        max(result.remainder.log2_count, 0.0),
        result.marginals.value,
        possible,
        needed,
        theta,
        result.log_normaliser or 0.0,
        _cells(result, place),
    )


def _cells(result: Result, place: Mapping[str, int]) -> dict[tuple[int, ...], float] | None:
    """Return the reported probabilities of cells, by positions in the set."""
    if result.cells is None:
        return None
    return {
        tuple(sorted(place[name] for name in cell)): share for cell, share in result.cells.items()
    }


def _theta(result: Result) -> FloatArray | None:
    """Return the log-odds of every pair, 0 for certain pairs, or None if they are not stored."""
    if result.log_normaliser is None or result.model not in ("uniform", "evidential"):
        return None
    p = result.probabilities
    open_pairs = (p > 0.0) & (p < 1.0) & (result.model == "evidential")
    inside = np.where(open_pairs, p, 0.5)
    theta: FloatArray = np.log(inside) - np.log1p(-inside)
    return theta


def _certain_answers(clusters: dict[str, str], place: dict[str, int]) -> list[ReportedAnswer]:
    """Return a clustering as one certain answer for the message."""
    names = [name for name in clusters if name in place]
    if len(names) < 2:
        return []
    numbers = {cluster: n for n, cluster in enumerate(dict.fromkeys(clusters.values()))}
    members: IntArray = np.array([place[name] for name in names], dtype=np.int64)
    labels: IntArray = restricted_growth(numbers[clusters[name]] for name in names)
    same = labels[:, None] == labels[None, :]
    everything, nothing = np.ones_like(same), np.zeros_like(same)
    certain = (labels[None, :], np.ones(1), 0.0, 0.0, same.astype(np.float64))
    return [ReportedAnswer(members, *certain, everything, nothing)]
