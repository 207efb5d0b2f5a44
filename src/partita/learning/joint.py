"""Learning the joint model: minus the mean log P of the keys, by Adam over their decisions.

Every decision on the way to a key is a choice among all cells and "new" (teacher forcing), so the
loss is exact: no configuration is sampled and nothing is normalised over configurations.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from partita.configurations.joint.model import STARTED, JointModel
from partita.configurations.joint.posterior import DRAWS, JointPosterior
from partita.errors import InputError
from partita.learning.joint_descent import Descent, Settings
from partita.learning.joint_lessons import Lessons, Single, Weights, gathered, lessons_of
from partita.pairs.joint_features import joint_columns, lexeme
from partita.records import Configuration, Document, FloatArray, Template

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
    again = np.flatnonzero(rng.random(len(documents)) < settings.unsorted)
    bare = [
        replace(d, templates=tuple(replace(t, sort="") for t in d.templates))
        for d in (documents[n] for n in again.tolist())
    ]
    return [*documents, *bare]
