"""Learning the joint model: minus the mean log P of the keys, by Adam over their decisions.

Every decision on the way to a key is a choice among all cells and "new" (teacher forcing), so the
loss is exact: no configuration is sampled and nothing is normalised over configurations.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from partita.configurations.joint import DRAWS, JointPosterior
from partita.configurations.joint_model import STARTED, JointModel, layout
from partita.errors import InputError
from partita.learning.joint_lessons import Lessons, Single, Weights, gathered, lessons_of
from partita.pairs.joint_features import joint_columns, lexeme
from partita.records import Configuration, Document, FloatArray, Template

Progress = Callable[[int, int, float], None]  # epochs done, epochs in all, bits per mention
DIGITS = 4
OTHER_SORT = -8.0  # where the scores of cells of another sort start


@dataclass(frozen=True, slots=True)
class Settings:
    """How to learn; chosen on held-out documents of GUM's training part."""

    units: int = 48
    epochs: int = 10
    batch: int = 64
    rate: float = 0.003
    decay: float = 0.4
    dropped: float = 0.3
    known: int = 4  # documents that must hold a word for it to have a lexeme
    unsorted: float = 0.1  # the share of documents that are also learned without sorts


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
    weights = _start(STARTED + 1 + len(lexicon), settings.units, rng)
    bits = _descend(weights, lesson, settings, rng, progress)
    table, bias, out, other = _rounded(weights)
    figures, sha256 = _figures(documents, bits), digest(documents)
    return JointModel(table, bias, out, other, lexicon, learned_from, sha256, seed, figures)


def _rounded(weights: Weights) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """What is beyond some digits tells nothing, and differs between machines."""
    table, bias, out, other = (w.astype(np.float64).round(DIGITS) for w in weights)
    return table, bias, out, other


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


def key_bits(documents: Iterable[Document], model: JointModel) -> FloatArray:
    """−log₂ P(key) of every document: divided by the mentions, bits per mention."""
    found = [_key_nats(document.templates, document.key, model) for document in documents]
    bits: FloatArray = np.array(found, dtype=np.float64) / np.log(2.0)
    return bits


def _key_nats(templates: Sequence[Template], key: Configuration, model: JointModel) -> float:
    posterior = joint_posterior(templates, model)
    return -posterior.log_weight(key.labels([template.id for template in templates]))


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
    from dataclasses import replace

    again = np.flatnonzero(rng.random(len(documents)) < settings.unsorted)
    bare = [
        replace(d, templates=tuple(replace(t, sort="") for t in d.templates))
        for d in (documents[n] for n in again.tolist())
    ]
    return [*documents, *bare]


def _start(rows: int, units: int, rng: np.random.Generator) -> Weights:
    table = 0.08 * rng.standard_normal((rows, units))
    table[STARTED:] *= 0.1  # a word must first earn what it says
    out = 0.3 * rng.standard_normal((2, units))
    bias, other = np.zeros((2, units)), np.full(3, OTHER_SORT)
    single = [array.astype(np.float32) for array in (table, bias, out, other)]
    return single[0], single[1], single[2], single[3]


def _descend(
    weights: Weights,
    lesson: Lessons,
    settings: Settings,
    rng: np.random.Generator,
    progress: Progress | None,
) -> float:
    """All epochs; the mean loss of the last one in bits per mention."""
    from partita.learning.joint_kernels import gradient, step

    slopes, means, squares = _zeros(weights), _zeros(weights), _zeros(weights)
    count, offsets, done, bits = len(lesson[5]), layout(), 0, 0.0
    steps = settings.epochs * -(-count // settings.batch)
    for epoch in range(settings.epochs):
        order, total = rng.permutation(count), 0.0
        for first in range(0, count, settings.batch):
            chosen = order[first : first + settings.batch]
            masks = _masks(len(chosen), settings, rng)
            total += gradient(weights, offsets, lesson, chosen, masks, slopes)
            done += 1
            rate = settings.rate * min(1.0, done / 50) * (1.0 - 0.95 * done / steps)
            for k, (w, s, m, v) in enumerate(zip(weights, slopes, means, squares, strict=True)):
                decay = settings.decay if k == 0 else 0.0
                step(w.reshape(-1), s.reshape(-1), m.reshape(-1), v.reshape(-1), rate, done, decay)
        bits = total / count / np.log(2.0)
        if progress is not None:
            progress(epoch + 1, settings.epochs, bits)
    return float(bits)


def _zeros(weights: Weights) -> Weights:
    table, bias, out, other = (np.zeros_like(w) for w in weights)
    return table, bias, out, other


def _masks(count: int, settings: Settings, rng: np.random.Generator) -> Single:
    kept = rng.random((count, settings.units), dtype=np.float32) >= settings.dropped
    return np.where(kept, 1.0 / (1.0 - settings.dropped), 0.0).astype(np.float32)
