"""Train the joint model."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.configurations.joint import codes as code
from partita.configurations.joint.codes import CELL, NEW, SCALE, SLOPE, TYPES, offsets
from partita.configurations.joint.features import joint_columns, lexeme
from partita.configurations.joint.model import FAR, GATED, STARTED, JointModel, layout
from partita.core import Document, FloatArray, IntArray, Template, restricted_growth
from partita.errors import InputError
from partita.text.encoder import Encoder
from partita.training.joint_kernels import Decisions, decisions_of, gradient, step

Single = NDArray[np.float32]
Weights = tuple[Single, Single, Single, Single, Single]


def key_decisions(
    document: Document, lexemes: Mapping[str, int], encoder: Encoder | None = None
) -> Decisions:
    """Return the decisions that lead to a document's key."""
    columns = joint_columns(document.templates, lexemes, encoder=encoder)
    key = restricted_growth(document.labels[columns.order])
    decisions: Decisions = decisions_of(columns.mentions, key)
    return decisions


def decision_losses(
    model: JointModel, decisions: Decisions, kept: NDArray[np.bool_] | None = None
) -> FloatArray:
    """Return −log P of each decision, in nats.

    `kept` (decisions, CHOOSABLE) says which characteristics it may use; temperatures are left out.
    """
    arrays = (model.table, model.bias, model.out, model.other, model.gate)
    table, bias, out, other, gate = (array.astype(np.float32) for array in arrays)
    weights, count = (table, bias, out, other, gate), len(decisions.answers)
    losses, chosen = np.zeros(count), np.arange(count)
    masks = np.ones((count, model.units), np.float32)
    used = np.ones((count, CHOOSABLE), np.bool_) if kept is None else kept
    gradient(weights, layout(), decisions, chosen, masks, used, _zeros(weights), losses)
    return losses


def concatenate_decisions(parts: Sequence[Decisions]) -> Decisions:
    """Concatenate decisions; row numbers continue."""
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    offsets = np.cumsum([0] + [len(part.codes) for part in parts]).tolist()
    begins = [part.begin[1:] + first for part, first in zip(parts, offsets, strict=False)]
    columns[1] = np.concatenate([np.zeros(1, dtype=np.int64), *begins])
    return Decisions(*columns)


FAR_SCORE = -8.0  # initial score of a far cell
BASE = 64.0  # what the linear unit adds to all scores, so that its sum stays above 0
LINEAR = 1.0  # output of the linear unit: its weights move so much faster
# "he" beside a cell of "she", "they" beside one man, "him" beside the subject of its verb, a person
# with a given name, an initial or a title beside one with another name: examples are too few to
# teach how much stands against it. Characteristics, their values and the weight.
AGAINST = (
    (code.C_GENDER, (8 + 2, 8 + 6, 16 + 1, 16 + 5), 8.0),
    (
        code.C_PRONOUNS,
        (16 + 2, 16 + 6, 16 + 8, 16 + 12, 32 + 1, 32 + 5, 32 + 8, 32 + 12,
         64 + 1, 64 + 2, 64 + 3, 64 + 5, 64 + 6, 64 + 7), 4.0,
    ),
    (code.C_BINDING, (code.CLASHES + 1 + 1,), 8.0),
    (code.C_BINDING, (code.CLASHES + 1 + 2,), 4.0),
    (code.C_OTHER_NAME, (5 + 2,), 4.0),
)  # fmt: skip
CLASHING = np.concatenate([offsets(CELL)[k] + np.array(values) for k, values, _ in AGAINST])
CLASH_WEIGHTS = -np.repeat([w for *_, w in AGAINST], [len(values) for _, values, _ in AGAINST])
WARMUP_STEPS = 50  # steps until the full rate
FINAL_RATE = 0.05  # share of the rate at the end
GATE_STEPS = 3000  # from which gates have their full rate
TABLE, GATE = 0, 4  # of the weights: those that decay


CHOOSABLE = len(CELL) + len(NEW) + 1  # characteristics and the word


@dataclass(frozen=True, slots=True)
class JointSettings:
    """Settings of the training, chosen on held-out documents of GUM's training part."""

    units: int = 75  # of a member, the linear one included
    members: int = 3  # networks whose scores are averaged
    temperature: tuple[float, float] = (0.0, 0.0)  # a, b: scores × exp(a + b log(choices))
    epochs: int = 7
    least_steps: int = 150  # of small corpora, which have more epochs
    batch: int = 64
    rate: float = 0.003
    gate_rate: float = 0.2  # share of the rate for gates; less of small corpora
    decay: float = 0.3
    dropout: float = 0.3  # of hidden units
    characteristic_dropout: float = 0.1
    linear_decay: float = 0.02  # of the linear unit's weights; more of small corpora
    word_dropout: float = 0.6  # of the words of mentions that start a cell, further ones
    min_documents: int = 4  # with a word, for it to have a lexeme
    untyped_share: float = 0.5  # share of documents that an epoch also has without types
    uncertain_share: float = 0.5  # share of documents that an epoch also has with uncertain types


class JointLesson(NamedTuple):
    """A document to learn from; `share` is the probability that an epoch has it.

    Only the decisions of the templates `taught` are learned from: all if there are none. The key of
    the others may be a guess.
    """

    document: Document
    share: float = 1.0
    taught: tuple[str, ...] = ()


class Lessons(NamedTuple):
    """Decisions to train on: the lesson that each belongs to, and the share of each lesson."""

    decisions: Decisions
    lessons: IntArray
    shares: FloatArray

    def visited(self, rng: np.random.Generator) -> IntArray:
        """Return the decisions of an epoch, in random order."""
        drawn = rng.random(len(self.shares)) < self.shares
        return rng.permutation(np.flatnonzero(drawn[self.lessons]))


@dataclass(slots=True, eq=False)
class Optimiser:
    """The weights with their gradients and moments."""

    settings: JointSettings
    weights: Weights
    slopes: Weights
    means: Weights
    squares: Weights
    steps: int = 0

    @classmethod
    def start(cls, rows: int, settings: JointSettings, rng: np.random.Generator) -> Optimiser:
        weights = _initial_weights(rows, settings.units, rng)
        return cls(settings, weights, _zeros(weights), _zeros(weights), _zeros(weights))

    def epoch(self, lessons: Lessons, epoch: int, rng: np.random.Generator) -> float:
        """Visit the decisions of an epoch; return the mean loss in bits."""
        settings, decisions, order = self.settings, lessons.decisions, lessons.visited(rng)
        losses, count = np.zeros(len(decisions.answers)), len(order)
        for first in range(0, count, settings.batch):
            chosen = order[first : first + settings.batch]
            masks = _masks(len(chosen), settings, rng)
            kept = rng.random((len(chosen), CHOOSABLE)) >= settings.characteristic_dropout
            kept[:, -1] &= rng.random(len(chosen)) >= settings.word_dropout
            gradient(self.weights, layout(), decisions, chosen, masks, kept, self.slopes, losses)
            self._step((epoch + first / count) / settings.epochs)
        return float(losses[order].mean() / np.log(2.0))

    def _step(self, progress: float) -> None:
        self.steps += 1
        rate = (
            self.settings.rate
            * min(1.0, self.steps / WARMUP_STEPS)
            * (1.0 - (1.0 - FINAL_RATE) * progress)
        )
        each = zip(self.weights, self.slopes, self.means, self.squares, strict=True)
        linear = self.weights[TABLE][:, -1].copy()
        for k, (w, s, m, v) in enumerate(each):
            decay = self.settings.decay if k in (TABLE, GATE) else 0.0
            own = rate * (self.settings.gate_rate if k == GATE else 1.0)
            step(w.reshape(-1), s.reshape(-1), m.reshape(-1), v.reshape(-1), own, self.steps, decay)
        spared = rate * (self.settings.decay - self.settings.linear_decay)
        self.weights[TABLE][:, -1] += np.float32(spared) * linear
        _fix_linear(self.weights)


def _initial_weights(rows: int, units: int, rng: np.random.Generator) -> Weights:
    table = 0.08 * rng.standard_normal((rows, units))
    table[STARTED:] *= 0.1  # words start with small weights
    out = 0.3 * rng.standard_normal((2, units))
    bias, other, gate = np.zeros((2, units)), np.full(FAR, FAR_SCORE), np.zeros((GATED, units))
    table[:, -1] = 0.0
    single = [array.astype(np.float32) for array in (table, bias, out, other + BASE, gate)]
    weights = single[0], single[1], single[2], single[3], single[4]
    _fix_linear(weights)
    return weights


def _fix_linear(weights: Weights) -> None:
    """Keep the last unit linear: it adds its weights to the score.

    A hidden unit's weights for rare values hardly move in so many steps, and decay: "he" beside a
    cell of "she" has few examples. Those of the linear unit move faster and hardly decay.
    """
    table, bias, out, _, gate = weights
    bias[:, -1], out[:, -1], gate[:, -1] = BASE / LINEAR, LINEAR, 0.0
    table[CLASHING, -1] = CLASH_WEIGHTS / LINEAR


def _zeros(weights: Weights) -> Weights:
    table, bias, out, other, gate = (np.zeros_like(w) for w in weights)
    return table, bias, out, other, gate


def _masks(count: int, settings: JointSettings, rng: np.random.Generator) -> Single:
    kept = rng.random((count, settings.units), dtype=np.float32) >= settings.dropout
    masks = np.where(kept, 1.0 / (1.0 - settings.dropout), 0.0).astype(np.float32)
    masks[:, -1] = 1.0
    return masks


Progress = Callable[[int, int, float], None]  # epochs done, in all, bits per mention
DIGITS = 4


def train_joint(
    documents: Sequence[Document],
    *,
    seed: int = 0,
    settings: JointSettings = JointSettings(),  # noqa: B008 - frozen
    learned_from: str = "",
    further: Sequence[JointLesson] = (),
    progress: Progress | None = None,
) -> JointModel:
    """Train the joint model; the same documents, seed and settings give the same model.

    `further` lessons are learned from as they are, such as documents with partial keys.
    """
    if not documents:
        raise InputError("no documents to train on")
    rng = np.random.default_rng(seed)
    lexicon = joint_lexicon(documents, settings.min_documents)
    lexemes = {word: n + 1 for n, word in enumerate(lexicon)}
    lessons = lessons_of(documents, lexemes, settings, rng, further)
    model, bits = train_lessons(lessons, lexicon, settings, rng, progress)
    return replace(
        model,
        learned_from=learned_from,
        sha256=hash_documents(documents),
        seed=seed,
        figures={
            "documents": len(documents),
            "mentions": sum(map(len, documents)),
            "training_bits": round(bits, DIGITS),
        },
    )


def lessons_of(
    documents: Sequence[Document],
    lexemes: Mapping[str, int],
    settings: JointSettings,
    rng: np.random.Generator,
    further: Sequence[JointLesson] = (),
) -> Lessons:
    """Return the decisions of documents, of copies without types and with uncertain ones."""
    each = [JointLesson(document) for document in documents]
    each += [JointLesson(without_types(document), settings.untyped_share) for document in documents]
    each += [
        JointLesson(with_uncertain_types(document, rng), settings.uncertain_share)
        for document in documents
    ]
    each += further
    parts = [_taught(lesson, key_decisions(lesson.document, lexemes)) for lesson in each]
    numbers = np.repeat(np.arange(len(each)), [len(one.answers) for one in parts])
    shares = np.array([lesson.share for lesson in each])
    return Lessons(concatenate_decisions(parts), numbers, shares)


def _taught(lesson: JointLesson, decisions: Decisions) -> Decisions:
    """Return the decisions of the templates that a lesson teaches."""
    if not lesson.taught:
        return decisions
    ids = [t.id for t in sorted(lesson.document.templates, key=lambda t: (t.start, t.end))]
    kept = np.isin(ids, lesson.taught)
    sizes = np.diff(decisions.begin)
    return decisions._replace(
        codes=decisions.codes[np.repeat(kept, sizes)],
        begin=np.append(0, np.cumsum(sizes[kept])),
        new=decisions.new[kept],
        lexemes=decisions.lexemes[kept],
        others=decisions.others[kept],
        answers=decisions.answers[kept],
    )


def train_lessons(
    lessons: Lessons,
    lexicon: tuple[str, ...],
    settings: JointSettings,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> tuple[JointModel, float]:
    """Train on lessons whose lexemes are those of the lexicon; also return the last loss."""
    visited = lessons.shares[lessons.lessons].sum()
    least = math.ceil(settings.least_steps * settings.batch / max(visited, 1.0))
    epochs = max(settings.epochs, least)
    share = min(1.0, epochs * visited / settings.batch / GATE_STEPS)
    settings = replace(
        settings,
        epochs=epochs,
        gate_rate=settings.gate_rate * share,
        linear_decay=share * settings.linear_decay + (1.0 - share) * settings.decay,
    )
    members, bits = [], 0.0
    for member in range(settings.members):
        optimiser = Optimiser.start(STARTED + 1 + len(lexicon), settings, rng)
        for epoch in range(epochs):
            bits = optimiser.epoch(lessons, epoch, rng)
            if progress is not None:
                progress(member * epochs + epoch + 1, settings.members * epochs, bits)
        for k in (TABLE, GATE):
            optimiser.weights[k][:] *= 1.0 - settings.characteristic_dropout  # now all are used
        optimiser.weights[0][STARTED:] *= 1.0 - settings.word_dropout
        members.append(optimiser.weights)
    temperature = np.array(settings.temperature)
    return JointModel(*_average_members(members), temperature, lexicon), bits


def _average_members(
    members: Sequence[Weights],
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return one network whose scores are the members' mean; two last units make the linear one.

    Weights are rounded, as further digits differ between machines.
    """
    tables, biases, outs, others, gates = (
        [np.asarray(array, np.float64) for array in arrays] for arrays in zip(*members, strict=True)
    )
    scale = 1.0 / len(members)
    linear = sum(table[:, -1:] for table in tables) * scale * LINEAR
    both = np.hstack([linear, -linear])  # f(x) − f(−x) = (1 + SLOPE) x
    ends = np.array([[1.0, -1.0]] * 2) / (1.0 + SLOPE)
    none = np.zeros((len(gates[0]), 2))
    return (
        _whole(np.hstack([*(table[:, :-1] for table in tables), both])),
        _rounded(np.hstack([*(bias[:, :-1] for bias in biases), np.zeros((2, 2))])),
        _rounded(np.hstack([*(out[:, :-1] * scale for out in outs), ends])),
        _rounded(np.sum(others, axis=0) * scale - BASE),
        _whole(np.hstack([*(gate[:, :-1] * scale for gate in gates), none])),
    )


def _whole(array: FloatArray) -> FloatArray:
    """Return multiples of 1 / SCALE."""
    whole: FloatArray = np.rint(array * SCALE) / SCALE
    return whole


def _rounded(array: FloatArray) -> FloatArray:
    rounded: FloatArray = array.round(DIGITS)
    return rounded


def joint_lexicon(documents: Iterable[Document], min_documents: int) -> tuple[str, ...]:
    """Return the words of at least so many documents, the most frequent first."""
    counts = Counter(
        word for d in documents for word in sorted({lexeme(template) for template in d.templates})
    )
    return tuple(word for word, count in counts.most_common() if count >= min_documents and word)


def hash_documents(documents: Iterable[Document]) -> str:
    """Return a hash of names, texts and keys."""
    digest = hashlib.sha256()
    for document in documents:
        digest.update(f"{document.name}\n{document.text}\n{document.key}\n".encode())
    return digest.hexdigest()


def without_types(document: Document) -> Document:
    """Return a document as of a corpus without entity types."""
    return _with_types(document, [("", None)] * len(document))


NOUN_EVIDENCE, PRONOUN_EVIDENCE = 2.3, 1.2  # how far the true type stands out from normal noise


def with_uncertain_types(document: Document, rng: np.random.Generator) -> Document:
    """Return a document with the types that a calibrated model of them might predict.

    The evidence for a type is normal, with a mean of d for the true one and 0 for the others; the
    probabilities are those that follow from it: about four of five nouns get their own type.
    """
    types = TYPES[1:]
    counts = Counter(template.type for template in document.templates)
    prior = np.log([1.0 + counts[entity_type] for entity_type in types])
    return _with_types(
        document, [_predicted(template, prior, rng) for template in document.templates]
    )


def _predicted(
    template: Template, prior: FloatArray, rng: np.random.Generator
) -> tuple[str, dict[str, float] | None]:
    types = TYPES[1:]
    if template.type not in types or "SORT_PROBABILITIES" in template.context:
        return template.type, template.context.get("SORT_PROBABILITIES")
    d = PRONOUN_EVIDENCE if template.form == "pronoun" else NOUN_EVIDENCE
    evidence = rng.standard_normal(len(types))
    evidence[types.index(template.type)] += d
    shares = np.exp(prior + d * evidence - (prior + d * evidence).max())
    shares /= shares.sum()
    return types[int(shares.argmax())], dict(zip(types, shares.tolist(), strict=True))


def _with_types(
    document: Document, types: Sequence[tuple[str, Mapping[str, float] | None]]
) -> Document:
    templates = []
    for template, (entity_type, shares) in zip(document.templates, types, strict=True):
        context = {k: v for k, v in template.context.items() if k != "SORT_PROBABILITIES"}
        context |= {} if shares is None else {"SORT_PROBABILITIES": shares}
        templates.append(replace(template, type=entity_type, context=context))
    return replace(document, templates=tuple(templates))
