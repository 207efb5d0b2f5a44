"""Measure what each part of the joint model is worth, on held-out documents of a corpus.

    python -m research.ablate_joint ../shared/data/gum/train --epochs 4
    python -m research.ablate_joint ../shared/data/gum/train --folds 3 --members 3

The documents of some genres are held out and scored by models trained on the others; with --folds,
each fold is scored by models trained on the other folds. One network and few epochs show most of
what a part is worth, in a tenth of the time. The table has
bits per mention with certain types, without types and with uncertain ones (as a model of types
might predict them), and for certain types the mean difference to the whole model over documents
with its 95 % interval (paired bootstrap).

    python -m research.ablate_joint ../shared/data/gum/train --types

starts from the raw text of the documents held out, with the shipped models, which have not seen
them: CoNLL scores with the probabilities of types as evidence, with the most probable type taken as
certain, with pairs of different most probable types excluded as well, and without types.

    python -m research.ablate_joint ../shared/data/gum/train --answers

scores the same texts with different rules for the grouping that is shown as the entities.

    python -m research.ablate_joint ../shared/data/gum/train --reliability --folds 3

trains the whole model on the other folds of each fold, and prints the bits per mention and the
reliability error of the pairs, pooled over all folds, and of each genre.

    python -m research.ablate_joint ../shared/data/gum/train --test ../shared/data/gum/dev

trains the whole model on all documents, and measures it and the shipped one on other documents.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from partita.configurations.joint import codes as code
from partita.configurations.joint import features
from partita.configurations.joint.model import JointModel, shipped_joint_model
from partita.configurations.joint.posterior import JointPosterior, joint_posterior
from partita.core import Document, FloatArray, IntArray, Template, restricted_growth
from partita.corpora.documents import read_corefud
from partita.corpora.keys import match_mentions
from partita.entities.answer import LINKED, mean_linkage, settled
from partita.evaluation.calibration import bootstrap, pair_reliability_error, undecided
from partita.evaluation.models import Joint
from partita.evaluation.scores import CoreferenceScores
from partita.text.analysis import shipped_analyser
from partita.training.joint import (
    JointSettings,
    Lessons,
    decision_losses,
    joint_lexicon,
    key_decisions,
    lessons_of,
    train_joint,
    train_lessons,
    with_uncertain_types,
    without_types,
)
from partita.training.joint_kernels import Decisions
from research.raw import raw_scores
from research.text_models import text_templates

LEXICAL = (
    {code.C_RARITY, code.C_COSINE, code.C_RELATION, code.C_SIMILAR_RANK, code.C_SHARED,
     code.C_PHRASE, code.C_CELL_CLASS, code.C_SUITS, code.C_CLUSTER},
    {code.N_RARITY, code.N_CLASS, code.N_COSINE, code.N_PHRASE, code.N_SHARED},
)  # fmt: skip
CONTEXT = ({code.C_GOVERNORS, code.C_FIT, code.C_SUITS}, set[int]())
MEMBERS = (
    {code.C_DETERMINER, code.C_LENGTH, code.C_PARENT, code.C_ALIKE_SENTENCES, code.C_ALIKE_NUMBER,
     code.C_NOUN_SENTENCES, code.C_NOUN_GROUP, code.C_NOUN_NUMBER, code.C_PRONOUN_SENTENCES,
     code.C_AGE},
    set[int](),
)  # fmt: skip
SPEECH = (
    {code.C_QUESTION, code.C_TURN, code.C_QUOTE, code.C_VOICES, code.C_SPEAKER_RANK},
    {code.N_QUESTION, code.N_TURN, code.N_QUOTED, code.N_SPEAKERS},
)
HELD_OUT = ("conversation", "essay", "fiction", "letter", "podcast", "whow")  # not free
NOTHING = (set[int](), set[int]())


@dataclass(frozen=True)
class Variant:
    """A version of the model: silent characteristics, other settings, other documents."""

    name: str
    silent: tuple[set[int], set[int]] = NOTHING
    change: Callable[[JointSettings], JointSettings] = lambda settings: settings
    repair: bool = True
    sharpness: float = 1.0


VARIANTS = (
    Variant("whole model"),
    Variant("without vectors, clusters, classes", LEXICAL),
    Variant("without context (governing verbs)", CONTEXT),
    Variant("without head repair", ({code.C_PARTS}, {code.N_PARTS}), repair=False),
    Variant("without single members (alike, last noun, last pronoun), length, parent", MEMBERS),
    Variant("without quotations, questions, turns, rank of speakers", SPEECH),
    Variant("outputs the same for all mentions", change=lambda s: replace(s, gate_rate=0.0)),
    Variant(
        "words of mentions never dropped", change=lambda s: replace(s, word_dropout=0.0)
    ),
    Variant(
        "a fifth of the copies without and with uncertain types",
        change=lambda s: replace(s, untyped_share=0.2, uncertain_share=0.2),
    ),
    Variant("half the hidden units", change=lambda s: replace(s, units=s.units // 2)),
    Variant(
        "characteristics never dropped", change=lambda s: replace(s, characteristic_dropout=0.0)
    ),
    Variant("sharpness 1.1", sharpness=1.1),
)  # fmt: skip


def silenced(decisions: Decisions, silent: tuple[set[int], set[int]]) -> Decisions:
    """Return decisions in which some characteristics always have their first value."""
    codes, new = decisions.codes.copy(), decisions.new.copy()
    codes[:, sorted(silent[0])] = 0
    new[:, sorted(silent[1])] = 0
    return decisions._replace(codes=codes, new=new)


def bits_of(model: JointModel, decisions: Decisions, sharpness: float) -> float:
    """Return −log₂ P of the decisions."""
    out, other, gate = (sharpness * array for array in (model.out, model.other, model.gate))
    sharp = replace(model, out=out, other=other, gate=gate)
    return float(decision_losses(sharp, decisions).sum() / np.log(2.0))


@dataclass(frozen=True)
class Fold:
    """What all versions with the same characteristics share: lessons, and decisions to test on."""

    lexicon: tuple[str, ...]
    lessons: Lessons
    tests: list[list[Decisions]]

    @classmethod
    def of(cls, training: Sequence[Document], tests: Sequence[Document]) -> Fold:
        settings, rng = JointSettings(), np.random.default_rng(1)
        lexicon = joint_lexicon(training, settings.min_documents)
        lexemes = {word: n + 1 for n, word in enumerate(lexicon)}
        versions = (tests, [without_types(d) for d in tests],
                    [with_uncertain_types(d, rng) for d in tests])  # fmt: skip
        decisions = [[key_decisions(d, lexemes) for d in version] for version in versions]
        return cls(lexicon, lessons_of(training, lexemes, settings, rng), decisions)


def measured(variant: Variant, fold: Fold, settings: JointSettings) -> FloatArray:
    """Return the bits of each document, a row for each version of the test documents."""
    changed, documents = variant.change(settings), len(fold.lessons.shares) // 3
    lessons = fold.lessons._replace(
        decisions=silenced(fold.lessons.decisions, variant.silent),
        shares=np.repeat([1.0, changed.untyped_share, changed.uncertain_share], documents),
    )
    model, _ = train_lessons(lessons, fold.lexicon, changed, np.random.default_rng(0))
    return np.array([
        [bits_of(model, silenced(one, variant.silent), variant.sharpness) for one in version]
        for version in fold.tests
    ])  # fmt: skip


def unrepaired(document: Document) -> Document:
    """Return a document whose coordinations are not known as such."""
    return replace(document, templates=tuple(
        replace(t, context={k: v for k, v in t.context.items() if k != "CONJUNCTS"})
        for t in document.templates
    ))  # fmt: skip


def made_folds(
    documents: Sequence[Document], folds: Sequence[Sequence[int]], repair: bool
) -> list[Fold]:
    """Return the folds; without repair, partitives and coordinations have their own heads."""
    words = features.PARTITIVES
    if not repair:
        documents, features.PARTITIVES = [unrepaired(d) for d in documents], frozenset()
    made = [
        Fold.of([d for n, d in enumerate(documents) if n not in set(held)],
                [documents[n] for n in held])
        for held in folds
    ]  # fmt: skip
    features.PARTITIVES = words
    return made


def ablation_table(
    documents: Sequence[Document], held_out: Sequence[Sequence[int]], settings: JointSettings
) -> None:
    """Print the bits of all versions, and their differences to the whole model."""
    mentions = np.array([len(documents[n]) for held in held_out for n in held])
    print("| version | certain types | no types | uncertain types | difference, certain types |")
    print("| --- | --- | --- | --- | --- |")
    repaired = made_folds(documents, held_out, repair=True)
    whole: FloatArray | None = None
    for variant in VARIANTS:
        folds = repaired if variant.repair else made_folds(documents, held_out, repair=False)
        bits = np.concatenate([measured(variant, fold, settings) for fold in folds], axis=1)
        whole = bits if whole is None else whole
        figures = " | ".join(f"{row.sum() / mentions.sum():.3f}" for row in bits)
        print(f"| {variant.name} | {figures} | {_difference(bits[0] - whole[0], mentions)} |",
              flush=True)  # fmt: skip


def _clusters(model: JointModel, found: Sequence[Template], gate: bool) -> IntArray:
    """Return clusters; with a gate, pairs of different types have probability 0."""
    posterior = joint_posterior(found, model)
    pairs = posterior.pairs().value
    own = np.array([template.type for template in found])
    allowed = np.where(own[:, None] == own[None, :], pairs, 0.0) if gate else pairs
    return settled(allowed, mean_linkage(allowed, LINKED))


def _typed(found: Sequence[Template], types: str) -> list[Template]:
    """Return templates with their probable types as they are, as certain ones, or without."""
    if types == "probabilities":
        return list(found)
    return [
        replace(t, type=t.type if types == "certain" else "",
                context={k: v for k, v in t.context.items() if k != "SORT_PROBABILITIES"})
        for t in found
    ]  # fmt: skip


TYPES = (
    ("probabilities as evidence", "probabilities", False),
    ("most probable type as certain", "certain", False),
    ("… and different types never corefer", "certain", True),
    ("no types", "none", False),
)


def types_table(documents: Sequence[Document]) -> None:
    """Print CoNLL scores from raw text with types used in different ways."""
    analyser, model = shipped_analyser(), shipped_joint_model()
    texts = [text_templates(analyser, d.name, d.text) for d in documents]
    _conll_table("types", {
        name: [
            raw_scores(d, match_mentions(d.templates, f), _clusters(model, _typed(f, types), gate))
            for d, f in zip(documents, texts, strict=True)
        ]
        for name, types, gate in TYPES
    })  # fmt: skip


def _conll_table(
    what: str, rows: Mapping[str, Sequence[tuple[CoreferenceScores, CoreferenceScores]]]
) -> None:
    """Print CoNLL scores, with their differences to the first row."""
    first = [list(scored) for scored in zip(*next(iter(rows.values())), strict=True)]
    print(f"| {what} | CoNLL | difference | with singletons | difference |")
    print("| --- | --- | --- | --- | --- |")
    for name, both in rows.items():
        columns = [list(scored) for scored in zip(*both, strict=True)]
        cells = [f"{100 * sum(scored, CoreferenceScores()).conll:.1f} | {_points(scored, before)}"
                 for scored, before in zip(columns, first, strict=True)]  # fmt: skip
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def _linked(least: float, reading: bool) -> Callable[[JointPosterior], IntArray]:
    def labels(posterior: JointPosterior) -> IntArray:
        pairs = posterior.pairs().value
        linked = mean_linkage(pairs, least)
        return settled(pairs, linked) if reading else linked

    return labels


RULES: dict[str, Callable[[JointPosterior], IntArray]] = {
    "average linkage at .25": _linked(0.25, reading=False),
    "average linkage at .2": _linked(0.2, reading=False),
    "most probable configuration found": lambda posterior: posterior.best(1).labels[0],
    "linkage at .25, then each its most probable reading": _linked(0.25, reading=True),
    "linkage at .2, then each its most probable reading": _linked(0.2, reading=True),
    "linkage at .15, then each its most probable reading": _linked(0.15, reading=True),
}


def answers_table(documents: Sequence[Document]) -> None:
    """Print CoNLL scores from raw text of different rules for the answer, also by genre."""
    analyser, model = shipped_analyser(), shipped_joint_model()
    rows: dict[str, list[tuple[CoreferenceScores, CoreferenceScores]]] = {
        name: [] for name in RULES
    }
    for document in documents:
        found = text_templates(analyser, document.name, document.text)
        matched = match_mentions(document.templates, found)
        posterior = joint_posterior(found, model)
        for name, rule in RULES.items():
            rows[name].append(raw_scores(document, matched, rule(posterior)))
    _conll_table("rule", rows)
    for genre in sorted({document.genre for document in documents}):
        places = [n for n, document in enumerate(documents) if document.genre == genre]
        _conll_table(genre, {name: [row[n] for n in places] for name, row in rows.items()})


def _points(scored: Sequence[CoreferenceScores], first: Sequence[CoreferenceScores]) -> str:
    chosen = np.random.default_rng(0).integers(len(scored), size=(500, len(scored)))

    def conll(rows: Sequence[CoreferenceScores], places: Sequence[int]) -> float:
        return 100 * sum((rows[n] for n in places), CoreferenceScores()).conll

    whole = conll(scored, range(len(scored))) - conll(first, range(len(first)))
    low, high = np.quantile(
        [conll(scored, row) - conll(first, row) for row in chosen.tolist()], [0.025, 0.975]
    )
    return f"{whole:+.1f} ({low:+.1f} to {high:+.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("--folds", type=int, default=0)
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=JointSettings().epochs)
    parser.add_argument("--types", action="store_true")
    parser.add_argument("--answers", action="store_true")
    parser.add_argument("--reliability", action="store_true")
    parser.add_argument("--test")
    options = parser.parse_args()
    documents = list(read_corefud(options.corpus))
    if options.types or options.answers:
        held_out = [d for d in documents if d.genre in HELD_OUT]
        (types_table if options.types else answers_table)(held_out)
        return
    if options.test:
        test_table(documents, list(read_corefud(options.test)))
        return
    settings = replace(JointSettings(), members=options.members, epochs=options.epochs)
    places = range(len(documents))
    other = [n for n in places if documents[n].genre in HELD_OUT]
    folds = [places[k :: options.folds] for k in range(options.folds)] or [other]
    if options.reliability:
        reliability_table(documents, folds)
        return
    ablation_table(documents, folds, settings)


T = TypeVar("T")
Pairs = tuple[float, int, FloatArray, NDArray[np.bool_]]  # bits, mentions, stated, observed


def _key_bits(model: JointModel, document: Document) -> float:
    key = restricted_growth(document.labels)
    return -Joint(model).posterior(document).log_weight(key) / math.log(2.0)


def _undecided_pairs(model: JointModel, document: Document) -> Pairs:
    """Return bits and mentions of a document, and its pairs stated between .05 and .95."""
    posterior, bits = Joint(model).posterior(document), _key_bits(model, document)
    above, labels = np.triu_indices(len(document), 1), document.labels
    joined = (labels[:, None] == labels[None, :])[above]
    return bits, len(document), *undecided(posterior.pairs().value[above], joined)


def _pooled_error(pairs: Sequence[Pairs]) -> float:
    stated, observed = zip(*(one[2:] for one in pairs), strict=True)
    return pair_reliability_error(np.concatenate(stated), np.concatenate(observed))


def reliability_table(documents: Sequence[Document], folds: Sequence[Sequence[int]]) -> None:
    """Print bits and reliability of documents by models that have not seen them."""
    found: list[tuple[str, Pairs]] = []
    for held in folds:
        model = train_joint([d for n, d in enumerate(documents) if n not in set(held)])
        found += [(documents[n].genre, _undecided_pairs(model, documents[n])) for n in held]
    print("| documents | number | bits per mention | pair reliability error |")
    print("| --- | --- | --- | --- |")
    for name in ("all", *sorted({genre for genre, _ in found})):
        pairs = [one for genre, one in found if name in ("all", genre)]
        bits = _mean_bits([one[:2] for one in pairs])
        print(f"| {name} | {len(pairs)} | {bits:.3f} | {_interval(pairs, _pooled_error)} |")


def _interval(rows: Sequence[T], figure: Callable[[Sequence[T]], float]) -> str:
    spread = bootstrap(rows, figure, np.random.default_rng(0), times=500)
    return f"{figure(rows):.3f} ({spread.low:.3f}–{spread.high:.3f})"


def _mean_bits(rows: Sequence[tuple[float, int]]) -> float:
    return sum(bits for bits, _ in rows) / sum(mentions for _, mentions in rows)


def test_table(documents: Sequence[Document], tests: Sequence[Document]) -> None:
    """Print the figures of the shipped model, and of one that is trained on the documents."""
    models = (shipped_joint_model(), train_joint(documents))
    rng = np.random.default_rng(1)
    versions = {
        "bits per mention, certain types": tests,
        "no types": [without_types(d) for d in tests],
        "uncertain types, made from true ones and noise":
            [with_uncertain_types(d, rng) for d in tests],
    }  # fmt: skip
    print(f"| {len(tests)} documents | shipped | trained on all {len(documents)} |")
    print("| --- | --- | --- |")
    for name, version in versions.items():
        cells = [_interval([(_key_bits(m, d), len(d)) for d in version], _mean_bits)
                 for m in models]  # fmt: skip
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    cells = [_interval([_undecided_pairs(m, d) for d in tests], _pooled_error) for m in models]
    print(f"| pair reliability error, certain types | {' | '.join(cells)} |")


def _difference(bits: FloatArray, mentions: FloatArray) -> str:
    chosen = np.random.default_rng(0).integers(len(bits), size=(2000, len(bits)))
    means = bits[chosen].sum(axis=1) / mentions[chosen].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    worse = int((bits > 0).sum())
    mean = bits.sum() / mentions.sum()
    return f"{mean:+.4f} ({low:+.4f} to {high:+.4f}), {worse} of {len(bits)} worse"


if __name__ == "__main__":
    main()
