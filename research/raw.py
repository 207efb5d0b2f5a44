"""Measure what is found in raw text: mentions, their types, and who is who among them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.configurations.joint.model import JointModel, shipped_joint_model
from partita.configurations.joint.posterior import joint_posterior
from partita.core import (
    Configuration,
    Document,
    FloatArray,
    IntArray,
    Posterior,
    Template,
    restricted_growth,
)
from partita.core.configurations import mean_linkage
from partita.corpora.documents import corpus_document, read_corpora, read_placed
from partita.corpora.keys import match_mentions
from partita.domains.general.domain import general_templates
from partita.entities.answer import LINKED, settled
from partita.errors import InputError
from partita.evaluation.calibration import (
    Interval,
    ReliabilityBin,
    bootstrap,
    reliability,
    reliability_error,
    undecided,
)
from partita.evaluation.rows import table
from partita.evaluation.scores import CoreferenceScores, ScoreTally, scores
from partita.evaluation.splits import allowed_bits
from partita.text.analysis import Analyser, shipped_analyser
from partita.text.messages import parse_message
from partita.text.raw_messages import RawMessage
from partita.training.joint import train_joint
from research.analyser import (
    AnalyserSettings,
    FoldModels,
    out_of_fold,
    train_with_folds,
)
from research.analysis_figures import recased
from research.start import part

Resolve = Callable[[Sequence[Template]], Posterior]
Progress = Callable[[str], None]
CASES: dict[str, Callable[[str], str]] = {"as written": str, "upper": str.upper, "lower": str.lower}
Decode = Callable[[Posterior], IntArray]


@dataclass(frozen=True, slots=True, eq=False)
class RawMeasure:
    """One document: mentions found and wanted, their types, scores, and stated probabilities.

    `bits` are those of the key of the found mentions, where those that match nothing are alone;
    `gold_bits` those of the same mentions with gold spans, trees and types.
    """

    name: str
    genre: str
    heads: ScoreTally
    spans: ScoreTally
    types: ScoreTally
    scores: CoreferenceScores
    scores_singletons: CoreferenceScores
    bits: float
    gold_bits: float
    stated: FloatArray
    observed: NDArray[np.bool_]
    mention_stated: FloatArray
    mention_observed: NDArray[np.bool_]


def measure_raw(
    gold: Document,
    found: Sequence[Template],
    resolve: Resolve,
    decode: Decode | None = None,
) -> RawMeasure:
    """Measure the mentions found in a document's text, and the model's answer on them."""
    matched = match_mentions(gold.templates, found)
    posterior = resolve(found) if found else None
    response = (decode or answer_labels)(posterior) if posterior else np.zeros(0, dtype=np.int64)
    stated, observed = _pairs(posterior, gold, matched)
    probabilities = [float(t.context.get("MENTION_PROBABILITY", 1.0)) for t in found]
    return RawMeasure(
        gold.name,
        gold.genre,
        _tally(int((matched >= 0).sum()), gold, found),
        _tally(_same_spans(gold, found), gold, found),
        _types(gold, found, matched),
        *raw_scores(gold, matched, response),
        _bits(posterior, keyed_labels(gold, matched)),
        _gold_bits(gold, matched, resolve),
        stated,
        observed,
        np.array(probabilities),
        matched >= 0,
    )


def answer_labels(posterior: Posterior) -> IntArray:
    """Return the labels of the entities as `run` reports them."""
    pairs, sampled = posterior.pairs().value, posterior.method == "sampled"
    labels = mean_linkage(pairs, LINKED) if sampled else posterior.best(1).labels[0]
    return settled(pairs, labels)


def raw_scores(
    gold: Document, matched: IntArray, response: IntArray
) -> tuple[CoreferenceScores, CoreferenceScores]:
    """Return the scores of labels of found mentions, without singletons and with them."""
    key, answer = _aligned(gold, matched, response)
    without = scores(_without_singletons(key), _without_singletons(answer))
    return without, scores(key, answer)


def _tally(right: int, gold: Document, found: Sequence[Template]) -> ScoreTally:
    return ScoreTally(right, len(gold), right, len(found))


def _same_spans(gold: Document, found: Sequence[Template]) -> int:
    wanted = {(template.start, template.end) for template in gold.templates}
    return len(wanted & {(template.start, template.end) for template in found})


def _types(gold: Document, found: Sequence[Template], matched: IntArray) -> ScoreTally:
    """Count the matched mentions whose most probable type is right."""
    pairs = [(gold.templates[g], found[n]) for n, g in enumerate(matched.tolist()) if g >= 0]
    right = sum(one.type == other.type for one, other in pairs)
    return ScoreTally(right, len(pairs), right, len(pairs))


def _aligned(gold: Document, matched: IntArray, response: IntArray) -> tuple[IntArray, IntArray]:
    """Return key and answer over gold mentions and unmatched found ones; -1 where one has none."""
    spurious = np.flatnonzero(matched < 0)
    key = np.concatenate([gold.labels, np.full(len(spurious), -1)]).astype(np.int64)
    answer = np.full(len(key), -1)
    answer[matched[matched >= 0]] = response[matched >= 0]
    answer[len(gold) :] = response[spurious]
    return key, answer


def _without_singletons(labels: IntArray) -> IntArray:
    """Return labels in which templates that are alone in their cell are left out."""
    present = labels >= 0
    counts = np.bincount(labels[present], minlength=1)
    return np.where(present & (counts[np.maximum(labels, 0)] > 1), labels, -1)


def _pairs(
    posterior: Posterior | None, gold: Document, matched: IntArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the stated probabilities of all pairs of matched mentions, and whether they hold."""
    inside = np.flatnonzero(matched >= 0)
    if posterior is None or len(inside) < 2:
        return np.zeros(0), np.zeros(0, dtype=np.bool_)
    above = np.triu_indices(len(inside), 1)
    stated = posterior.pairs().value[np.ix_(inside, inside)][above]
    labels = gold.labels[matched[inside]]
    return np.clip(stated, 0.0, 1.0), (labels[:, None] == labels[None, :])[above]


def _bits(posterior: Posterior | None, labels: IntArray) -> float:
    if posterior is None:
        return 0.0
    key = restricted_growth(labels.tolist())
    return allowed_bits(posterior.log_weight(key) - posterior.log_normaliser.value, 0.0)


def _gold_bits(gold: Document, matched: IntArray, resolve: Resolve) -> float:
    """Return the bits of the key of the matched mentions, as the gold annotation has them."""
    members = np.sort(matched[matched >= 0])
    if not len(members):
        return 0.0
    inside = part(gold, members)
    return _bits(resolve(inside.templates), inside.labels)


@dataclass(frozen=True, slots=True)
class RawFigures:
    """The figures of one way from raw text to entities, with intervals over documents."""

    model: str
    documents: int
    mentions: int
    mention_head_precision: float
    mention_head_recall: float
    mention_head_f1: float
    mention_span_f1: float
    type_accuracy: float
    conll: float
    conll_singletons: float
    muc: float
    b_cubed: float
    ceaf: float
    lea: float
    bits_per_mention_found: float
    gold_bits_per_mention_found: float
    pair_reliability_error: float
    pair_reliability: tuple[ReliabilityBin, ...]
    mention_reliability_error: float
    intervals: dict[str, Interval]
    by_genre: dict[str, dict[str, float]]


Figure = Callable[[Sequence[RawMeasure]], float]


def _sum_of(name: str) -> Callable[[Sequence[RawMeasure]], ScoreTally]:
    return lambda measures: sum((getattr(m, name) for m in measures), ScoreTally())


def _conll(measures: Sequence[RawMeasure]) -> float:
    return sum((m.scores for m in measures), CoreferenceScores()).conll


def _conll_singletons(measures: Sequence[RawMeasure]) -> float:
    return sum((m.scores_singletons for m in measures), CoreferenceScores()).conll


def _pair_error(measures: Sequence[RawMeasure]) -> float:
    return _error_of_pairs([undecided(m.stated, m.observed) for m in measures])


def _found(measures: Sequence[RawMeasure]) -> float:
    return max(1.0, sum(m.heads.found for m in measures))


FIGURES: dict[str, Figure] = {
    "mention_head_f1": lambda ms: _sum_of("heads")(ms).f,
    "mention_span_f1": lambda ms: _sum_of("spans")(ms).f,
    "type_accuracy": lambda ms: _sum_of("types")(ms).precision,
    "conll": _conll,
    "conll_singletons": _conll_singletons,
    "bits_per_mention_found": lambda ms: sum(m.bits for m in ms) / _found(ms),
    "gold_bits_per_mention_found": lambda ms: sum(m.gold_bits for m in ms) / _found(ms),
    "pair_reliability_error": _pair_error,
}


def raw_figures(
    model: str, measures: Sequence[RawMeasure], *, seed: int = 0, times: int = 1000
) -> RawFigures:
    """Return the figures over all documents."""
    heads, total = (
        _sum_of("heads")(measures),
        sum((m.scores for m in measures), CoreferenceScores()),
    )
    open_pairs = [undecided(m.stated, m.observed) for m in measures]
    genres = sorted({m.genre for m in measures})
    return RawFigures(
        model=model,
        documents=len(measures),
        mentions=int(heads.wanted),
        mention_head_precision=heads.precision,
        mention_head_recall=heads.recall,
        muc=total.muc.f,
        b_cubed=total.b_cubed.f,
        ceaf=total.ceaf.f,
        lea=total.lea.f,
        pair_reliability=_pair_bins(open_pairs),
        mention_reliability_error=_mention_error(measures),
        intervals=dict(_intervals(measures, open_pairs, seed, times)),
        by_genre={g: _genre([m for m in measures if m.genre == g]) for g in genres},
        **{name: figure(measures) for name, figure in FIGURES.items()},
    )


def _mention_error(measures: Sequence[RawMeasure]) -> float:
    """Return the reliability error of the probability that what is found is a mention."""
    stated = np.concatenate([m.mention_stated for m in measures])
    observed = np.concatenate([m.mention_observed for m in measures])
    return reliability_error(reliability(stated, observed))


def _intervals(
    measures: Sequence[RawMeasure],
    open_pairs: Sequence[tuple[FloatArray, NDArray[np.bool_]]],
    seed: int,
    times: int,
) -> Iterator[tuple[str, Interval]]:
    """Yield bootstrap intervals; the same documents are drawn for every figure."""
    for name, figure in FIGURES.items() if times else ():
        rng = np.random.default_rng(seed)
        if name == "pair_reliability_error":
            yield name, bootstrap(open_pairs, _error_of_pairs, rng, times=times)
        else:
            yield name, bootstrap(measures, figure, rng, times=times)


def _error_of_pairs(pairs: Sequence[tuple[FloatArray, NDArray[np.bool_]]]) -> float:
    return reliability_error(_pair_bins(pairs))


def _pair_bins(pairs: Sequence[tuple[FloatArray, NDArray[np.bool_]]]) -> tuple[ReliabilityBin, ...]:
    stated, observed = zip(*pairs, strict=True)
    return reliability(np.concatenate(stated), np.concatenate(observed))


def _genre(measures: Sequence[RawMeasure]) -> dict[str, float]:
    return {name: figure(measures) for name, figure in FIGURES.items()}


def raw_json(rows: Sequence[RawFigures]) -> dict[str, Any]:
    """Return the first row's figures at the top, and all rows."""
    return asdict(rows[0]) | {"rows": [asdict(row) for row in rows]}


NAMES = {
    "mention_head_f1": "mentions, head match F1",
    "mention_span_f1": "mentions, exact span F1",
    "type_accuracy": "type of matched mentions",
    "conll": "CoNLL, without singletons",
    "conll_singletons": "CoNLL, with singletons",
    "bits_per_mention_found": "bits per gold mention found",
    "gold_bits_per_mention_found": "… the same with gold trees and types",
    "pair_reliability_error": "reliability error of pairs",
}


def raw_markdown(rows: Sequence[RawFigures]) -> str:
    """Return a table of the figures with intervals of 95 %, and one by genre."""
    lines = [[label, *(_spread(row, name) for row in rows)] for name, label in NAMES.items()]
    parts = [table([f"{rows[0].documents} documents", *(row.model for row in rows)], lines)]
    return "\n\n".join([*parts, *(_genre_table(row) for row in rows)]) + "\n"


def _spread(row: RawFigures, name: str) -> str:
    value, interval = getattr(row, name), row.intervals.get(name)
    return f"{value:.3f}" + (f" ({interval.low:.3f}–{interval.high:.3f})" if interval else "")


def _genre_table(row: RawFigures) -> str:
    shown = ("mention_head_f1", "type_accuracy", "conll", "conll_singletons")
    lines = [[genre or "-", *(f"{f[n]:.3f}" for n in shown)] for genre, f in row.by_genre.items()]
    return table([row.model, *(NAMES[name] for name in shown)], lines)


@dataclass(frozen=True, slots=True)
class RawDesign:
    """What to learn from, what to test on, and in which case its texts are."""

    corpora: Sequence[Path]
    test: Sequence[Path]
    source: str | None = None
    shipped: bool = False
    seed: int = 0
    case: str = "as written"


@dataclass(frozen=True, slots=True)
class RawStudy:
    """Figures from raw text to entities: models learned for the study, and the shipped ones."""

    rows: tuple[RawFigures, ...]

    def json(self) -> str:
        """The figures of the first row, and all rows."""
        return json.dumps(raw_json(self.rows), ensure_ascii=False, allow_nan=False) + "\n"

    def markdown(self) -> str:
        """The figures with intervals over documents, and by genre."""
        return raw_markdown(self.rows)


def study_raw(design: RawDesign, progress: Progress | None = None) -> RawStudy:
    """Find mentions in the raw text of test documents and resolve them.

    Everything is learned from the corpora; with `shipped`, a second row has the models that come
    with the package. Without corpora there is only that row.
    """
    report = progress or (lambda _: None)
    tested = [document for document in read_corpora(design.test, design.source) if len(document)]
    if not tested:
        raise InputError("no documents with mentions to test on (expected --test)")
    rows = []
    if design.corpora:
        models = train_text_models(design.corpora, seed=design.seed, progress=report)
        rows.append(_raw_row("learned", models, tested, design, report))
    if design.shipped or not rows:
        models = TextModels(shipped_analyser(), shipped_joint_model())
        rows.append(_raw_row("shipped", models, tested, design, report))
    return RawStudy(tuple(rows))


def _raw_row(
    name: str,
    models: TextModels,
    tested: Sequence[Document],
    design: RawDesign,
    report: Progress,
) -> RawFigures:
    def resolve(templates: Sequence[Template]) -> Posterior:
        return joint_posterior(templates, models.joint, seed=design.seed)

    measures = []
    for number, document in enumerate(tested, 1):
        report(f"{name}: document {number} of {len(tested)}")
        text = recased(document.text, CASES[design.case])
        found = text_templates(models.analyser, document.name, text)
        measures.append(measure_raw(document, found, resolve))
    return raw_figures(name, measures, seed=design.seed)


FOLDS = 5


class TextModels(NamedTuple):
    """The models that lead from raw text to entities."""

    analyser: Analyser
    joint: JointModel


def text_templates(analyser: Analyser, name: str, text: str) -> tuple[Template, ...]:
    """Return the templates that `partita run` has of a text, by an analyser."""
    message = parse_message(RawMessage(name, text, name))
    return general_templates(analyser.analyse(message), message.text)


def train_text_models(
    corpora: Iterable[str | Path],
    *,
    seed: int = 0,
    folds: int = FOLDS,
    settings: AnalyserSettings | None = None,
    learned_from: str = "",
    progress: Progress | None = None,
) -> TextModels:
    """Train the analyser, and the joint model on gold mentions and on those that it finds.

    The joint model sees every document twice: with its gold mentions, trees and types, and as an
    analyser finds them that was trained on the other folds. Corpora without entities are used for
    tags and trees.
    """
    report = progress or (lambda _: None)
    documents = [document for path in corpora for document in read_placed(path)]
    if not any(document.has_mentions for document in documents):
        raise InputError("no mentions in the corpora to learn from")
    analyser, models = train_with_folds(documents, seed, settings, folds=folds, progress=report)
    joint = train_joint(
        keyed_by_folds(models),
        seed=seed,
        learned_from=learned_from,
        progress=lambda done, of, bits: report(
            f"epoch {done} of {of}: {bits:.3f} bits per mention"
        ),
    )
    return TextModels(analyser, joint)


def keyed_by_folds(models: FoldModels) -> list[Document]:
    """Return every document with its gold mentions, then as found by a model of other folds."""
    gold, found = [], []
    for document, sentences in out_of_fold(models):
        gold.append(corpus_document(document))
        templates = general_templates(list(sentences), document.text)
        found.append(keyed_document(gold[-1], templates))
    return [*gold, *found]


def keyed_document(gold: Document, found: Sequence[Template]) -> Document:
    """Return found mentions with a key: matched ones as in the gold key, others alone."""
    labels = keyed_labels(gold, match_mentions(gold.templates, found))
    cells: dict[int, list[str]] = {}
    for template, label in zip(found, labels.tolist(), strict=True):
        cells.setdefault(label, []).append(template.id)
    return Document(gold.name, gold.genre, tuple(found), Configuration(cells.values()), gold.text)


def keyed_labels(gold: Document, matched: IntArray) -> IntArray:
    """Return the cell of each found mention: the gold cell, or one of its own."""
    alone = len(gold) + np.arange(len(matched))
    if not len(gold):
        return alone
    return np.where(matched < 0, alone, gold.labels[matched])
