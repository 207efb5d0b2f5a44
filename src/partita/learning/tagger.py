"""Learning a tagger from tagged sentences, some of them also without their capitals."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.errors import InputError
from partita.extraction.tagging import PADDING, TAGS, Tagger
from partita.extraction.tagging_features import COLUMN, templates
from partita.extraction.tagging_words import NO_TAG, UNKNOWN, Lexicon, Rows, normal, row
from partita.learning.tagger_lessons import Tagged, lexicon_of, occurrences, recased
from partita.records import IntArray

Progress = Callable[[str], None]
Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Schooling:
    """How a tagger is learned; the values were chosen on sentences held out from the training."""

    bits: int = 23  # the table has 2 ** bits places
    runs: int = 8  # in other orders and with other copies; their weights are averaged
    passes: int = 2  # of a run; the weights after each of the later half are averaged
    rate: float = 0.1
    dropped: float = 0.2  # the share of features that a step does not see
    upper: float = 0.5  # the share of sentences that are also learned in upper case
    lower: float = 0.15
    strange: float = 3.0  # a word met n times is taken for unknown with strange / (strange + n)


class Lessons(NamedTuple):
    """Sentences as numbers; the second half of the rows has the words as if they were unknown."""

    words: IntArray
    rows: Rows
    strange: NDArray[np.float64]
    ends: IntArray
    right: IntArray
    fixed: IntArray


def train_tagger(
    sentences: Sequence[Tagged],
    seed: int,
    schooling: Schooling | None = None,
    *,
    learned_from: str = "",
    progress: Progress | None = None,
) -> Tagger:
    """A tagger learned from sentences; the same bytes for the same sentences and seed."""
    plan = schooling or Schooling()
    tags = _tags(sentences)
    counted = occurrences(sentences)
    lexicon = lexicon_of(counted, tags)
    often = {word: found.total() for word, found in counted.items()}
    rng = np.random.default_rng(seed)
    table: Table = np.zeros((1 << plan.bits) + PADDING)
    for run in range(plan.runs):
        taught = recased(sentences, plan.upper, plan.lower, rng)
        lessons = _lessons(taught, tags, lexicon, often, plan)
        table += _run(lessons, len(tags), plan, rng, f"run {run + 1} of {plan.runs}", progress)
    return Tagger(tags, _bytes(table), lexicon, learned_from, digest(sentences), seed)


def _tags(sentences: Sequence[Tagged]) -> tuple[str, ...]:
    tags = tuple(sorted({tag for sentence in sentences for tag in sentence.tags}))
    if not tags:
        raise InputError("there are no tagged words to learn from")
    if len(tags) > TAGS:
        raise InputError(
            f"the sentences have {len(tags)} different tags; at most {TAGS} can be learned"
        )
    return tags


def digest(sentences: Sequence[Tagged]) -> str:
    """A hash of the words and tags."""
    found = hashlib.sha256()
    for words, tags in sentences:
        found.update("\n".join(f"{w}\t{t}" for w, t in zip(words, tags, strict=True)).encode())
        found.update(b"\n\n")
    return found.hexdigest()


def _lessons(
    taught: Sequence[Tagged],
    tags: Sequence[str],
    lexicon: Lexicon,
    often: Mapping[str, int],
    plan: Schooling,
) -> Lessons:
    number = {word: n for n, word in enumerate(dict.fromkeys(w for s in taught for w in s.words))}
    code = {tag: n for n, tag in enumerate(tags)}
    rows = np.array([row(word, lexicon) for word in number], dtype=np.uint32)
    times = np.array([often.get(normal(word), 1) for word in number], dtype=np.float64)
    words = np.array([number[word] for s in taught for word in s.words], dtype=np.int64)
    return Lessons(
        words,
        np.concatenate([rows, _unknown(rows)]),
        (plan.strange / (plan.strange + times))[words],
        np.cumsum([len(s.words) for s in taught]),
        np.array([code[tag] for s in taught for tag in s.tags], dtype=np.int64),
        rows[words, COLUMN["fixed"]].astype(np.int64),
    )


def _unknown(rows: Rows) -> Rows:
    """The rows as they would be if the lexicon did not have the words."""
    found = rows.copy()
    found[:, [COLUMN["word"], COLUMN["form"]]] = UNKNOWN
    found[:, COLUMN["class"]] = 0
    found[:, COLUMN["fixed"]] = NO_TAG
    return found


def _run(
    lessons: Lessons,
    tags: int,
    plan: Schooling,
    rng: np.random.Generator,
    name: str,
    progress: Progress | None,
) -> Table:
    """The mean of the weights after each of the later passes."""
    from partita.extraction.tagging_kernels import codes_all
    from partita.learning.tagger_kernels import learn_pass

    places, steps = templates()
    table = np.zeros((1 << plan.bits) + PADDING, dtype=np.float32)
    squares, mean = np.zeros_like(table), np.zeros(len(table))
    for done in range(plan.passes):
        strange = rng.random(len(lessons.words)) < lessons.strange
        words = lessons.words + np.where(strange, len(lessons.rows) // 2, 0)
        codes = codes_all(words, lessons.rows, lessons.ends, places)
        order = rng.permutation(len(lessons.ends))
        wrong = learn_pass(
            codes, steps, lessons.right, lessons.fixed, lessons.ends, order, table, squares,
            tags, PADDING, plan.rate, plan.dropped, int(rng.integers(1 << 62)),
        )  # fmt: skip
        if done >= plan.passes // 2:
            mean += table
        if progress:
            share = wrong / max(len(lessons.right), 1)
            progress(f"{name}, pass {done + 1} of {plan.passes}: {share:.2%} wrong")
    return mean


def _bytes(table: Table) -> NDArray[np.int8]:
    """Weights as whole numbers from -127 to 127: only their proportions matter."""
    most = np.abs(table).max()
    return np.rint(table * (127 / most if most else 0.0)).astype(np.int8)
