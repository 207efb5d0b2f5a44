"""Evaluate results against keys."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from partita.app.cluster import Clusters
from partita.app.run import ResolvedMessage, saved
from partita.app.solve import parameters_path
from partita.corpora.documents import read_documents
from partita.domains import find_domain
from partita.errors import InputError
from partita.evaluation.bits import Excluded
from partita.evaluation.reports import Answer, judge, possible_links
from partita.evaluation.rows import Row, row
from partita.linkage.clusters import Clustered, read_clusters
from partita.records import Distribution, Document, FloatArray, IntArray, restricted_growth
from partita.records.keys import Key
from partita.records.tables import Columns, Tabular
from partita.results.saved_results import Alone, Result, read_results
from partita.training.pair_parameters import PairParameters
from partita.training.parameter_files import read_pair_parameters, shipped_pair_parameters
from partita.views.evaluation import evaluation_text
from partita.views.layout import count_text

if TYPE_CHECKING:
    from partita.app.train import TrainedModel

Answered = ResolvedMessage | Distribution | Clusters
Results = str | os.PathLike[str] | Answered | Iterable[Answered]
Progress = Callable[[str], None]
NO_BITS = ("bits_per_set", "bits_per_template", "reported_bits_per_set", "bits_per_mention")


@dataclass(slots=True)
class Told:
    """What results say of one message."""

    message: str
    sets: list[Result] = field(default_factory=list)
    alone: set[str] = field(default_factory=set)
    clusters: dict[str, str] = field(default_factory=dict)
    domain: str = ""

    @property
    def ids(self) -> set[str]:
        inside = {name for one in self.sets for name in one.set.ids}
        return inside | self.alone | set(self.clusters)


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation(Tabular):
    """How results agree with keys, and what only one of both mentions.

    `figures` holds every measure by its name, such as b_cubed, and `intervals` the 95 % intervals
    over messages. The tables are `figures`, `sizes` (by size of set), `pair_reliability` and
    `configuration_reliability`.
    """

    row: Row
    hard: bool
    only_results: tuple[str, ...]
    only_keys: tuple[str, ...]
    by_ids: int
    by_report: int

    @property
    def matching(self) -> str:
        """What is to be said of how messages were matched."""
        return f"{count_text(self.by_ids, 'message')} matched by templates, not by name"

    @property
    def figures(self) -> dict[str, float | None]:
        """Every measure by its name; None where the results do not determine it."""
        values = self.to_dict()
        names = (one.name for one in fields(Row))
        return {name: values[name] for name in names if _is_figure(values[name])}

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """The 95 % intervals of some of the figures, over messages."""
        return {name: (one.low, one.high) for name, one in self.row.intervals.items()}

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        return {
            "figures": self._figure_columns,
            "sizes": lambda: _columns(self.to_dict()["sizes"]),
            "pair_reliability": lambda: _columns(self.to_dict()["pair_reliability"]),
            "configuration_reliability": lambda: _columns(
                self.to_dict()["configuration_reliability"]
            ),
        }

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
        told: dict[str, Any] = asdict(self.row)
        if self.hard:
            told |= dict.fromkeys(NO_BITS)
            told["sizes"] = [one | dict.fromkeys(NO_BITS[:2]) for one in told["sizes"]]
        told |= {
            "templates_only_in_results": len(self.only_results),
            "templates_only_in_keys": len(self.only_keys),
            "only_in_results": list(self.only_results),
            "only_in_keys": list(self.only_keys),
            "messages_matched_by_ids": self.by_ids,
            "sets_by_report": self.by_report,
        }
        return told

    def __str__(self) -> str:
        notes = [
            _note(self.only_results, "in the results only: not measured"),
            _note(self.only_keys, "in the keys only: counted as alone"),
        ]
        return evaluation_text(self.row, self.hard, [note for note in notes if note])


def _is_figure(value: Any) -> bool:
    return value is None or isinstance(value, int | float)


def _columns(rows: Sequence[Mapping[str, Any]]) -> Columns:
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def _note(names: tuple[str, ...], what: str) -> str:
    if not names:
        return ""
    shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    return f"{count_text(len(names), 'template')} {what} ({shown})"


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
    that name, by their templates. `parameters` say how probable it is that the correct
    configuration was excluded. What only the results or only the keys mention is counted.
    """
    told = _told(results)
    documents = _by_message(read_documents(keys))
    path, domains = parameters_path(parameters), (one.domain for one in told if one.domain)
    learned = _parameters(path, next(domains, ""))
    excluded = Excluded(learned.excluded, learned.crossing)
    matched, by_ids = _matched(told, documents)
    measures, links, only_keys, by_report = [], np.zeros(2, dtype=np.int64), list[str](), 0
    for document in documents:
        if progress:
            progress(f"measuring {document.name}")
        one = matched.get(document.name, Told(document.name))
        answers = _answers(one, document)
        by_report += sum(answer.theta is None for answer in answers)
        measures.append(judge(document.name, document.labels, answers, excluded, seed))
        links += possible_links(document.labels, answers)
        only_keys += [f"{document.name}:{name}" for name in document.ids if name not in one.ids]
    kept = float(links[1] / links[0]) if links[0] else 1.0
    hard = not any(one.sets for one in told)
    found = row(_model(told), measures, kept, seed=seed)
    return Evaluation(found, hard, _only(told, matched, documents), tuple(only_keys), by_ids,
                     by_report)  # fmt: skip


def _parameters(path: Path | None, domain: str) -> PairParameters:
    """Read parameters as the domain of the results does."""
    if path is None:
        return shipped_pair_parameters()
    if not domain:
        return read_pair_parameters(path)
    return find_domain(domain).with_parameters(path).pair_parameters


def _told(results: Results) -> list[Told]:
    """Return results by message."""
    if isinstance(results, str | os.PathLike):
        return _of_file(Path(results))
    single = isinstance(results, ResolvedMessage | Distribution | Clusters)
    if not single and not isinstance(results, Iterable):
        expected = "what run, solve or cluster returns, or a file"
        raise TypeError(f"results must be {expected}, not {type(results).__name__}")
    found: list[Told] = []
    lines: list[Result | Alone] = []
    listed: list[Any] = [results] if single else list(cast(Iterable[Any], results))
    for one in listed:
        if isinstance(one, Clusters):
            found.append(Told("", clusters={str(r.record): str(r.cluster) for r in one.records}))
        else:
            lines += saved(one)
    return [*found, *_by_set(lines)]


def _of_file(path: Path) -> list[Told]:
    """JSONL of results, or CSV of clusters."""
    if path.suffix == ".csv":
        return [_of_clusters(one) for one in read_clusters(path)]
    found = _by_set(read_results(path))
    if not found:
        raise InputError("holds no results; expected a line of JSON for each set", file=str(path))
    return found


def _by_set(lines: Iterable[Result | Alone]) -> list[Told]:
    found: dict[str, Told] = {}
    for one in lines:
        said = found.setdefault(one.message, Told(one.message))
        if isinstance(one, Alone):
            said.alone |= {template.id for template in one.templates}
            said.domain = one.domain
        else:
            said.sets.append(one)
    return list(found.values())


def _of_clusters(given: Clustered) -> Told:
    return Told(given.message, clusters=dict(given.clusters))


def _by_message(documents: Iterable[Document]) -> list[Document]:
    """All keys of a message as one document."""
    found: dict[str, list[Document]] = {}
    for document in documents:
        found.setdefault(document.name, []).append(document)
    return [_joined(parts) for parts in found.values()]


def _joined(parts: Sequence[Document]) -> Document:
    if len(parts) == 1:
        return parts[0]
    templates = sorted((t for part in parts for t in part.templates), key=lambda t: t.start)
    cells = [cell for part in parts for cell in part.key]
    return replace(parts[0], templates=tuple(templates), key=type(parts[0].key)(cells))


def _matched(told: Sequence[Told], documents: Sequence[Document]) -> tuple[dict[str, Told], int]:
    """Results by the message of the keys: of the same name or, where no key has that name, the
    only one that knows their templates."""
    names = {document.name for document in documents}
    found = {one.message: one for one in told if one.message in names}
    by_ids = 0
    for one in told:
        if one.message in names:
            continue
        homes = [d.name for d in documents if d.name not in found and one.ids & set(d.ids)]
        if len(homes) == 1:
            found[homes[0]] = one
            by_ids += 1
    return found, by_ids


def _only(
    told: Sequence[Told], matched: dict[str, Told], documents: Sequence[Document]
) -> tuple[str, ...]:
    known = {id(matched[d.name]): set(d.ids) for d in documents if d.name in matched}
    return tuple(
        f"{one.message}:{name}"
        for one in told
        for name in sorted(one.ids - known.get(id(one), set()))
    )


def _model(told: Sequence[Told]) -> str:
    models = dict.fromkeys(one.model for each in told for one in each.sets)
    return ", ".join(models) or "clusters"


def _answers(told: Told, document: Document) -> list[Answer]:
    place = {name: n for n, name in enumerate(document.ids)}
    if told.clusters:
        return _hard(told.clusters, place)
    found = []
    for one in told.sets:
        kept = np.array([n for n, name in enumerate(one.set.ids) if name in place], dtype=np.int64)
        if len(kept) > 1:
            places = np.array([place[one.set.ids[n]] for n in kept.tolist()], dtype=np.int64)
            found.append(_answer(one).among(kept, places))
    return found


def _answer(one: Result) -> Answer:
    ids = one.set.ids
    at = {name: n for n, name in enumerate(ids)}
    possible, needed = np.ones((len(ids), len(ids)), dtype=np.bool_), np.eye(len(ids), dtype=bool)
    for known, table, value in (
        (one.set.incompatible, possible, False),
        (one.set.must, needed, True),
    ):
        for left, right in known:
            table[at[left], at[right]] = table[at[right], at[left]] = value
    np.fill_diagonal(needed, False)
    theta = _theta(one)
    return Answer(
        np.arange(len(ids)),
        np.array([listed.configuration.labels(ids) for listed in one.configurations]),
        np.array([listed.probability for listed in one.configurations]),
        one.remainder.probability,
        max(one.remainder.log2_count, 0.0),
        one.marginals.value,
        possible,
        needed,
        theta,
        one.log_normaliser or 0.0,
    )


def _theta(one: Result) -> FloatArray | None:
    """Log-odds of every pair, where the results tell them; what is certain weighs nothing."""
    if one.log_normaliser is None or one.model not in ("uniform", "evidential"):
        return None
    p = one.probabilities
    open_pairs = (p > 0.0) & (p < 1.0) & (one.model == "evidential")
    inside = np.where(open_pairs, p, 0.5)
    theta: FloatArray = np.log(inside) - np.log1p(-inside)
    return theta


def _hard(clusters: dict[str, str], place: dict[str, int]) -> list[Answer]:
    """A clustering as one certain answer for the message."""
    names = [name for name in clusters if name in place]
    if len(names) < 2:
        return []
    numbers = {cluster: n for n, cluster in enumerate(dict.fromkeys(clusters.values()))}
    members: IntArray = np.array([place[name] for name in names], dtype=np.int64)
    labels: IntArray = restricted_growth(numbers[clusters[name]] for name in names)
    same = labels[:, None] == labels[None, :]
    everything, nothing = np.ones_like(same), np.zeros_like(same)
    return [
        Answer(
            members,
            labels[None, :],
            np.ones(1),
            0.0,
            0.0,
            same.astype(np.float64),
            everything,
            nothing,
        )
    ]
