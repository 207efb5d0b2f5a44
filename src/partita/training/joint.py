"""Train the joint model, and apply it to coreference sets."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita.configurations.joint.features import joint_columns, lexeme
from partita.configurations.joint.model import STARTED, JointModel, layout
from partita.configurations.joint.posterior import DRAWS, JointPosterior
from partita.configurations.joint.within import within
from partita.configurations.odds import knowledge
from partita.configurations.report import best_or_above, listing, remainder
from partita.errors import InputError, PartitaError
from partita.pairs.columns import Columns
from partita.records import (
    Distribution,
    Document,
    Figures,
    FloatArray,
    IntArray,
    PairProbabilities,
    Template,
    restricted_growth,
)

Codes = NDArray[np.uint8]
Single = NDArray[np.float32]
Lessons = tuple[Codes, Codes, IntArray, IntArray, IntArray, IntArray]
Weights = tuple[Single, Single, Single, Single]


def lessons_of(document: Document, lexemes: Mapping[str, int]) -> Lessons:
    """The decisions on the way to a document's key."""
    from partita.training.joint_kernels import lessons

    columns = joint_columns(document.templates, lexemes)
    key = restricted_growth(document.labels[columns.order])
    found: Lessons = lessons((columns.attributes, columns.relations), key)
    return found


def gathered(parts: Sequence[Lessons]) -> Lessons:
    """All of them as one; rows are counted on."""
    codes, new, lexemes, others, begins, answers = zip(*parts, strict=True)
    before = np.cumsum([0] + [len(each) for each in codes])
    begin = [b[1:] + first for b, first in zip(begins, before[:-1].tolist(), strict=True)]
    return (
        np.concatenate(codes),
        np.concatenate(new),
        np.concatenate(lexemes),
        np.concatenate(others),
        np.concatenate([np.zeros(1, dtype=np.int64), *begin]),
        np.concatenate(answers),
    )


OTHER_SORT = -8.0  # where the scores of cells of another sort start
WARM = 50  # steps until the rate is whole
LAST = 0.05  # of the rate is left at the end


@dataclass(frozen=True, slots=True)
class Settings:
    """How to learn; chosen on held-out documents of GUM's training part."""

    units: int = 40  # of a member
    members: int = 3  # networks whose scores are averaged
    sharpness: float = 1.1  # by which the average is multiplied
    epochs: int = 10
    batch: int = 64
    rate: float = 0.003
    decay: float = 0.4
    dropped: float = 0.3
    known: int = 4  # documents that must hold a word for it to have a lexeme
    unsorted: float = 0.1  # the share of documents that are also learned without sorts


@dataclass(slots=True, eq=False)
class Descent:
    """The weights on their way down."""

    settings: Settings
    weights: Weights
    slopes: Weights
    means: Weights
    squares: Weights
    done: int = 0

    @classmethod
    def start(cls, rows: int, settings: Settings, rng: np.random.Generator) -> Descent:
        weights = _start(rows, settings.units, rng)
        return cls(settings, weights, _zeros(weights), _zeros(weights), _zeros(weights))

    def epoch(self, lesson: Lessons, epoch: int, rng: np.random.Generator) -> float:
        """Every decision once; the mean loss in bits."""
        from partita.training.joint_kernels import gradient

        settings, count, losses = self.settings, len(lesson[5]), np.zeros(len(lesson[5]))
        order = rng.permutation(count)
        for first in range(0, count, settings.batch):
            chosen = order[first : first + settings.batch]
            masks = _masks(len(chosen), settings, rng)
            gradient(self.weights, layout(), lesson, chosen, masks, self.slopes, losses)
            self._step((epoch + first / count) / settings.epochs)
        return float(losses.mean() / np.log(2.0))

    def _step(self, progress: float) -> None:
        from partita.training.joint_kernels import step

        self.done += 1
        rate = self.settings.rate * min(1.0, self.done / WARM) * (1.0 - (1.0 - LAST) * progress)
        each = zip(self.weights, self.slopes, self.means, self.squares, strict=True)
        for k, (w, s, m, v) in enumerate(each):
            decay = self.settings.decay if k == 0 else 0.0
            step(w.reshape(-1), s.reshape(-1), m.reshape(-1), v.reshape(-1), rate, self.done, decay)


def _start(rows: int, units: int, rng: np.random.Generator) -> Weights:
    table = 0.08 * rng.standard_normal((rows, units))
    table[STARTED:] *= 0.1  # a word must first earn what it says
    out = 0.3 * rng.standard_normal((2, units))
    bias, other = np.zeros((2, units)), np.full(3, OTHER_SORT)
    single = [array.astype(np.float32) for array in (table, bias, out, other)]
    return single[0], single[1], single[2], single[3]


def _zeros(weights: Weights) -> Weights:
    table, bias, out, other = (np.zeros_like(w) for w in weights)
    return table, bias, out, other


def _masks(count: int, settings: Settings, rng: np.random.Generator) -> Single:
    kept = rng.random((count, settings.units), dtype=np.float32) >= settings.dropped
    return np.where(kept, 1.0 / (1.0 - settings.dropped), 0.0).astype(np.float32)


Progress = Callable[[int, int, float], None]  # epochs done, in all, bits per mention
DIGITS = 4


def train_joint(
    documents: Sequence[Document],
    *,
    seed: int = 0,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    learned_from: str = "",
    progress: Progress | None = None,
) -> JointModel:
    """The joint model of these documents; the same documents, seed and settings, the same model."""
    if not documents:
        raise InputError("no documents to learn from")
    rng = np.random.default_rng(seed)
    lexicon = lexicon_of(documents, settings.known)
    known = {word: n + 1 for n, word in enumerate(lexicon)}
    lesson = gathered([lessons_of(d, known) for d in _also_unsorted(documents, settings, rng)])
    members = []
    for member in range(settings.members):
        descent = Descent.start(STARTED + 1 + len(lexicon), settings, rng)
        bits = _learn(lesson, descent, rng, member, progress)
        members.append(descent.weights)
    table, bias, out, other = _joined(members, settings.sharpness)
    figures, sha256 = _figures(documents, bits), digest(documents)
    return JointModel(table, bias, out, other, lexicon, learned_from, sha256, seed, figures)


def _learn(
    lesson: Lessons,
    descent: Descent,
    rng: np.random.Generator,
    member: int,
    progress: Progress | None,
) -> float:
    """All epochs of one member; the loss of the last one in bits per decision."""
    bits, epochs = 0.0, descent.settings.epochs
    for epoch in range(epochs):
        bits = descent.epoch(lesson, epoch, rng)
        if progress is not None:
            progress(member * epochs + epoch + 1, descent.settings.members * epochs, bits)
    return bits


def _joined(
    members: Sequence[Weights], sharpness: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """One network whose scores are the members' mean, sharpened.

    What is beyond some digits tells nothing, and differs between machines.
    """
    tables, biases, outs, others = zip(*members, strict=True)
    scale = sharpness / len(members)
    return (
        _rounded(np.concatenate(tables, axis=1)),
        _rounded(np.concatenate(biases, axis=1)),
        _rounded(np.concatenate(outs, axis=1) * scale),
        _rounded(np.sum(others, axis=0) * scale),
    )


def _rounded(array: Single | FloatArray) -> FloatArray:
    found: FloatArray = array.astype(np.float64).round(DIGITS)
    return found


def _figures(documents: Sequence[Document], bits: float) -> dict[str, float]:
    mentions = sum(map(len, documents))
    return {"documents": len(documents), "mentions": mentions, "training_bits": round(bits, DIGITS)}


def joint_posterior(
    templates: Sequence[Template], model: JointModel, *, seed: int = 0, draws: int = DRAWS
) -> JointPosterior:
    """The model's distribution over the configurations of these templates."""
    columns = joint_columns(templates, model.lexemes)
    mentions = (columns.attributes, columns.relations)
    return JointPosterior(columns.order, mentions, model.network, seed, draws)


def lexicon_of(documents: Iterable[Document], known: int) -> tuple[str, ...]:
    """Words that at least so many documents hold, the most frequent first."""
    counts = Counter(
        word for d in documents for word in sorted({lexeme(template) for template in d.templates})
    )
    return tuple(word for word, count in counts.most_common() if count >= known and word)


def digest(documents: Iterable[Document]) -> str:
    """A hash of names, texts and keys."""
    found = hashlib.sha256()
    for document in documents:
        found.update(f"{document.name}\n{document.text}\n{document.key}\n".encode())
    return found.hexdigest()


def _also_unsorted(
    documents: Sequence[Document], settings: Settings, rng: np.random.Generator
) -> list[Document]:
    """The documents, and some again without sorts, as corpora without entity types will be."""
    again = np.flatnonzero(rng.random(len(documents)) < settings.unsorted)
    bare = [
        replace(d, templates=tuple(replace(t, sort="") for t in d.templates))
        for d in (documents[n] for n in again.tolist())
    ]
    return [*documents, *bare]


class Even:
    """A pair model that knows nothing: the joint model looks at cells, not at pairs."""

    def pair_probabilities(self, columns: Columns, left: IntArray, right: IntArray) -> FloatArray:
        return np.full(len(left), 0.5)


def solve_joint(
    sets: Sequence[PairProbabilities],
    model: JointModel,
    *,
    top: int | None = None,
    threshold: float | None = None,
    seed: int = 0,
) -> Iterator[Distribution | PartitaError]:
    """The distributions of all sets; what they say of a pair "as given" is the joint model's
    probability before it is known which templates are incompatible."""
    for pairs in sets:
        try:
            yield _distribution(pairs, model, top, threshold, seed)
        except PartitaError as error:
            yield error


def _distribution(
    pairs: PairProbabilities, model: JointModel, top: int | None, threshold: float | None, seed: int
) -> Distribution:
    joint = joint_posterior(pairs.set.templates, model, seed=seed)
    compatible = knowledge(pairs).compatible
    posterior = within(joint, compatible, seed)
    best = best_or_above(posterior, top, threshold)
    found = listing(posterior, pairs.set.ids, best)
    bits, count = posterior.log2_count(), posterior.count()
    return Distribution(
        set=pairs.set,
        model="joint",
        method=posterior.method,
        reason=posterior.reason,
        probabilities=np.where(compatible, joint.pairs().value, 0.0),
        marginals=posterior.pairs(),
        configurations=found,
        remainder=remainder(found, count, bits.value),
        figures=Figures(posterior.entropy(), posterior.log_normaliser, bits),
        conflict=None,
        count=count,
        seed=seed,
        posterior=posterior,
        gap=best.gap,
    )
