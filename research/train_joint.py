"""Train the shipped joint model: GUM's free genres, LitBank, and GAP as partial keys.

    python -m research.train_joint ../shared/data joint.json

Documents are also learned from in pieces of a few sentences, since many texts are short. Of a text
of GAP only the pronoun's decision is learned. The other decisions are drawn from a first
model, given the answer, so that the expected gradient is that of −log P(answer).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from partita.configurations.joint.model import JointModel, write_joint_model
from partita.configurations.joint.posterior import joint_posterior
from partita.core import Configuration, Document, IntArray, Template
from partita.training.joint import JointLesson, JointSettings, train_joint
from research.joint_corpora import Question, read_gap, read_gum, read_litbank

FREE = ("academic", "bio", "court", "interview", "news", "speech", "textbook", "vlog", "voyage")
HE, SHE = frozenset({"he", "him", "his", "himself"}), frozenset({"she", "her", "hers", "herself"})
DRAWS, COPIES = 96, 3
PIECE, PIECE_SHARE = 3, 0.3  # sentences of a piece, and the share of pieces that an epoch has


def joins_he_and_she(document: Document) -> bool:
    """Return whether a key joins he and she, which four of LitBank's do by mistake."""
    texts = {template.id: template.text.lower() for template in document.templates}
    said = ({texts[name] for name in cell} for cell in document.key.cells)
    return any(words & HE and words & SHE for words in said)


def gap_lessons(
    model: JointModel, questions: Iterable[Question], seed: int = 0, share: float = 1.0
) -> Iterator[JointLesson]:
    """Yield texts of GAP with keys drawn from a model given the answer, COPIES of each."""
    for question in questions:
        if min(question.asked) < 0 or len(set(question.asked)) < 3:
            continue
        rng = np.random.default_rng(seed)
        posterior = joint_posterior(question.templates, model, seed=seed)
        drawn = answered(posterior.draws(DRAWS, rng), question)
        documents = (
            Document(question.name, "gap", question.templates, key_of(question.templates, labels))
            for labels in drawn.tolist()
        )
        taught = tuple(question.templates[n].id for n in _taught(question))
        sound = (document for document in documents if not joins_he_and_she(document))
        for document in islice(sound, COPIES):
            yield JointLesson(document, share, taught)


def key_of(templates: Iterable[Template], labels: Iterable[int]) -> Configuration:
    """Return the templates with equal labels as cells."""
    cells: dict[int, list[str]] = {}
    for template, label in zip(templates, labels, strict=True):
        cells.setdefault(label, []).append(template.id)
    return Configuration(cells.values())


def pieces(document: Document) -> Iterator[JointLesson]:
    """Yield runs of PIECE sentences as documents: in many a pronoun's antecedent is missing.

    In whole documents a pronoun nearly always has one, so that they do not teach which mentions it
    cannot mean.
    """
    runs: dict[int, list[int]] = {}
    for n, template in enumerate(document.templates):
        runs.setdefault(template.sentence // PIECE, []).append(n)
    for run in runs.values():
        kept = [document.templates[n] for n in run]
        first = min(template.start for template in kept)
        moved = tuple(replace(t, start=t.start - first, end=t.end - first) for t in kept)
        key = key_of(moved, document.labels[run].tolist())
        yield JointLesson(replace(document, templates=moved, key=key), PIECE_SHARE)


def _taught(question: Question) -> Sequence[int]:
    """Return the pronoun and the names after it, which decide whether they join it."""
    pronoun, *names = question.asked
    starts = [question.templates[n].start for n in question.asked]
    return [pronoun, *(n for n, start in zip(names, starts[1:], strict=True) if start > starts[0])]


def answered(rows: IntArray, question: Question) -> IntArray:
    """Return the draws that agree with the answer; if none does, a draw that is changed to."""
    pronoun, a, b = question.asked
    with_a, with_b = rows[:, pronoun] == rows[:, a], rows[:, pronoun] == rows[:, b]
    wanted = (with_a & ~with_b, with_b & ~with_a, ~with_a & ~with_b)[question.answer]
    if wanted.any():
        found: IntArray = rows[wanted]
        return found
    apart = rows[rows[:, a] != rows[:, b]]
    changed: IntArray = apart[:COPIES].copy()
    cell = rows.shape[1] if question.answer == 2 else changed[:, (a, b)[question.answer]]
    changed[:, pronoun] = cell
    return changed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    documents = [d for d in read_gum(options.data / "gum/train") if d.genre in FREE]
    documents += [d for d in read_litbank(options.data / "litbank") if not joins_he_and_she(d)]
    questions = list(read_gap(options.data / "gap/development.tsv"))
    first = train_joint(documents, settings=JointSettings(members=1, epochs=4))
    cut = [piece for document in documents for piece in pieces(document)]
    model = train_joint(
        documents,
        further=[*gap_lessons(first, questions), *cut],
        learned_from=f"GUM train ({', '.join(FREE)}), LitBank, GAP development",
        progress=lambda done, of, bits: print(f"epoch {done} of {of}: {bits:.3f} bits", flush=True),
    )
    write_joint_model(options.out, model)


if __name__ == "__main__":
    main()
