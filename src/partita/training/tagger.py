"""Train the part-of-speech tagger."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.corpora.corefud import corefud_files
from partita.errors import InputError
from partita.files.text import numbered_lines
from partita.records import IntArray
from partita.text.tagger import (
    COLUMN,
    NO_TAG,
    PADDING,
    TAGS,
    UNKNOWN,
    Entry,
    Lexicon,
    Rows,
    Tagger,
    feature_templates,
    normalise_word,
    word_columns,
)

# The genres of GUM whose texts are free: what shipped parameters may be learned from.
FREE = (
    "academic", "bio", "court", "interview", "news", "speech", "textbook", "vlog", "voyage",
)  # fmt: skip
LISTED = 2  # how often a word must occur to be in the lexicon
CLASSED = 3  # … for its tags to be trusted
CERTAIN = 20  # … for it to be given its tag at once, if it has had …
PURE = 0.998  # … that one in this share of its occurrences
SHARE = 0.02  # of a word's occurrences, for a tag to belong to its class


class Tagged(NamedTuple):
    """The words of a sentence and the tag of each."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


def recased(
    sentences: Sequence[Tagged], upper: float, lower: float, rng: np.random.Generator
) -> list[Tagged]:
    """The sentences, and shares of them again in upper and in lower case."""
    chosen = rng.random((2, len(sentences))) < np.array([[upper], [lower]])
    return [
        *sentences,
        *(upper_case(each) for each, taken in zip(sentences, chosen[0], strict=True) if taken),
        *(lower_case(each) for each, taken in zip(sentences, chosen[1], strict=True) if taken),
    ]


def upper_case(sentence: Tagged) -> Tagged:
    return Tagged(tuple(word.upper() for word in sentence.words), sentence.tags)


def lower_case(sentence: Tagged) -> Tagged:
    return Tagged(tuple(word.lower() for word in sentence.words), sentence.tags)


def occurrences(sentences: Iterable[Tagged]) -> dict[str, Counter[str]]:
    """How often each word has each tag, capitals and digits aside."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for words, tags in sentences:
        for word, tag in zip(words, tags, strict=True):
            found[normalise_word(word)][tag] += 1
    return found


def lexicon_of(counted: dict[str, Counter[str]], tags: Sequence[str]) -> dict[str, Entry]:
    """The words that are frequent enough, with the class of their tags."""
    listed = {word: found for word, found in counted.items() if found.total() >= LISTED}
    classes = {word: _class(found) for word, found in listed.items()}
    numbers = {name: n for n, name in enumerate(sorted(set(classes.values()) - {""}), 1)}
    return {
        word: Entry(numbers.get(classes[word], 0), _fixed(listed[word], tags))
        for word in sorted(listed)
    }


def _class(found: Counter[str]) -> str:
    """The tags of a word, the most frequent one first; nothing for rare words."""
    if found.total() < CLASSED:
        return ""
    often = sorted(tag for tag, n in found.items() if n >= SHARE * found.total())
    return " ".join([max(often, key=lambda tag: found[tag]), *often])


def _fixed(found: Counter[str], tags: Sequence[str]) -> int:
    tag, times = min(found.items(), key=lambda item: (-item[1], item[0]))
    certain = found.total() >= CERTAIN and times >= PURE * found.total()
    return tags.index(tag) if certain else NO_TAG


TAG_COLUMNS = 10
FORM, XPOS = 1, 4


def read_tagged(path: str | Path, genres: Collection[str] | None = None) -> Iterator[Tagged]:
    """The sentences of a file or folder; with genres, of GUM's documents only those."""
    for file in corefud_files(path):
        genre = ""
        for sentence in _sentences(file):
            genre = _genre(sentence, genre)
            if genres is None or not genre or genre in genres:
                yield _tagged(sentence, str(file))


Numbered = list[tuple[int, str]]


def _sentences(file: Path) -> Iterator[Numbered]:
    """The lines of one sentence after another, its comments first."""
    found: Numbered = []
    for number, line in numbered_lines(file):
        if line:
            found.append((number, line))
        elif found and not found[-1][1].startswith("#"):
            yield found
            found = []
    if found and not found[-1][1].startswith("#"):
        yield found


def _genre(sentence: Numbered, before: str) -> str:
    """The genre that GUM's names hold (GUM_news_iodine); other corpora have none."""
    for _, line in sentence:
        name, _, value = line.partition("=")
        if name.split() == ["#", "newdoc", "id"]:
            parts = value.strip().split("_")
            before = parts[1] if len(parts) > 2 and parts[0] == "GUM" else ""
    return before


def _tagged(sentence: Numbered, file: str) -> Tagged:
    found = [
        _tagged_word(line, file, number) for number, line in sentence if not line.startswith("#")
    ]
    words = [(word, tag) for place, word, tag in found if place.isdecimal()]
    # Ranges stand beside their words, and empty nodes are not in the text: neither is taken.
    return Tagged(tuple(word for word, _ in words), tuple(tag for _, tag in words))


def _tagged_word(line: str, file: str, number: int) -> tuple[str, str, str]:
    columns = line.split("\t")
    if len(columns) != TAG_COLUMNS:
        problem = f"has {len(columns)} columns separated by tabs; CoNLL-U has {TAG_COLUMNS}"
        raise InputError(problem, file=file, line=number)
    if columns[0].isdecimal() and columns[XPOS] in ("", "_"):
        problem = f"the word {columns[FORM]!r} has no tag in column {XPOS + 1} (XPOS)"
        raise InputError(problem, file=file, line=number)
    return columns[0], columns[FORM], columns[XPOS]


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
    rows = np.array([word_columns(word, lexicon) for word in number], dtype=np.uint32)
    times = np.array([often.get(normalise_word(word), 1) for word in number], dtype=np.float64)
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
    from partita.text.tagger_kernels import codes_all
    from partita.training.tagger_kernels import learn_pass

    places, steps = feature_templates()
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
