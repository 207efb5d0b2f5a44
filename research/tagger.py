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

from partita.core import IntArray
from partita.corpora.documents import corefud_files
from partita.errors import InputError
from partita.files.text import numbered_lines
from partita.text.tagger_models import (
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

# The genres of GUM with free texts, on which shipped parameters are trained.
FREE_GENRES = (
    "academic", "bio", "court", "interview", "news", "speech", "textbook", "vlog", "voyage",
)  # fmt: skip
MIN_LEXICON_COUNT = 2  # of a word in the lexicon
MIN_CLASS_COUNT = 3  # of a word with a tag class
MIN_FIXED_COUNT = 20  # of a word with a fixed tag …
MIN_FIXED_SHARE = 0.998  # … and that tag's share of its occurrences
MIN_TAG_SHARE = 0.02  # of a word's occurrences, for a tag in its class


class TaggedSentence(NamedTuple):
    """The words of a sentence and the tag of each."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


def with_recased_copies(
    sentences: Sequence[TaggedSentence], upper: float, lower: float, rng: np.random.Generator
) -> list[TaggedSentence]:
    """Return the sentences, and copies of shares of them in upper and in lower case."""
    chosen = rng.random((2, len(sentences))) < np.array([[upper], [lower]])
    return [
        *sentences,
        *(upper_case(each) for each, taken in zip(sentences, chosen[0], strict=True) if taken),
        *(lower_case(each) for each, taken in zip(sentences, chosen[1], strict=True) if taken),
    ]


def upper_case(sentence: TaggedSentence) -> TaggedSentence:
    """Return a sentence in upper case."""
    return TaggedSentence(tuple(word.upper() for word in sentence.words), sentence.tags)


def lower_case(sentence: TaggedSentence) -> TaggedSentence:
    """Return a sentence in lower case."""
    return TaggedSentence(tuple(word.lower() for word in sentence.words), sentence.tags)


def count_tags(sentences: Iterable[TaggedSentence]) -> dict[str, Counter[str]]:
    """Count the tags of each word, ignoring capitals and digits."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for words, tags in sentences:
        for word, tag in zip(words, tags, strict=True):
            counts[normalise_word(word)][tag] += 1
    return counts


def lexicon_of(counts_by_word: dict[str, Counter[str]], tags: Sequence[str]) -> dict[str, Entry]:
    """Return the frequent words with the class of their tags."""
    listed = {
        word: counts
        for word, counts in counts_by_word.items()
        if counts.total() >= MIN_LEXICON_COUNT
    }
    classes = {word: _tag_class(counts) for word, counts in listed.items()}
    numbers = {name: n for n, name in enumerate(sorted(set(classes.values()) - {""}), 1)}
    return {
        word: Entry(numbers.get(classes[word], 0), _fixed_tag(listed[word], tags))
        for word in sorted(listed)
    }


def _tag_class(counts: Counter[str]) -> str:
    """Return the tags of a word, the most frequent first, or nothing for rare words."""
    if counts.total() < MIN_CLASS_COUNT:
        return ""
    frequent = sorted(tag for tag, n in counts.items() if n >= MIN_TAG_SHARE * counts.total())
    return " ".join([max(frequent, key=lambda tag: counts[tag]), *frequent])


def _fixed_tag(counts: Counter[str], tags: Sequence[str]) -> int:
    tag, times = min(counts.items(), key=lambda item: (-item[1], item[0]))
    certain = counts.total() >= MIN_FIXED_COUNT and times >= MIN_FIXED_SHARE * counts.total()
    return tags.index(tag) if certain else NO_TAG


TAG_COLUMNS = 10
FORM, XPOS = 1, 4


def read_tagged(
    path: str | Path, genres: Collection[str] | None = None
) -> Iterator[TaggedSentence]:
    """Yield the sentences of a file or folder; with genres, only those of GUM's documents."""
    for file in corefud_files(path):
        genre = ""
        for sentence in _sentences(file):
            genre = _genre(sentence, genre)
            if genres is None or not genre or genre in genres:
                yield _parse_sentence(sentence, str(file))


Numbered = list[tuple[int, str]]


def _sentences(file: Path) -> Iterator[Numbered]:
    """Yield the lines of one sentence after another, its comments first."""
    lines: Numbered = []
    for number, line in numbered_lines(file):
        if line:
            lines.append((number, line))
        elif lines and not lines[-1][1].startswith("#"):
            yield lines
            lines = []
    if lines and not lines[-1][1].startswith("#"):
        yield lines


def _genre(sentence: Numbered, before: str) -> str:
    """Return the genre in GUM's names (GUM_news_iodine); other corpora have none."""
    for _, line in sentence:
        name, _, value = line.partition("=")
        if name.split() == ["#", "newdoc", "id"]:
            parts = value.strip().split("_")
            before = parts[1] if len(parts) > 2 and parts[0] == "GUM" else ""
    return before


def _parse_sentence(sentence: Numbered, file: str) -> TaggedSentence:
    parsed = [
        _parse_word(line, file, number) for number, line in sentence if not line.startswith("#")
    ]
    words = [(word, tag) for number_, word, tag in parsed if number_.isdecimal()]
    # Ranges stand beside their words, and empty nodes are not in the text: neither is taken.
    return TaggedSentence(tuple(word for word, _ in words), tuple(tag for _, tag in words))


def _parse_word(line: str, file: str, number: int) -> tuple[str, str, str]:
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
class TaggerSettings:
    """Settings of the training, chosen on held-out sentences."""

    bits: int = 23  # the table has 2 ** bits places
    runs: int = 8  # with different orders and copies; their weights are averaged
    passes: int = 2  # of a run; the weights after each of the later half are averaged
    rate: float = 0.1
    dropout: float = 0.2  # share of features left out of a step
    upper: float = 0.5  # share of sentences also used in upper case
    lower: float = 0.15
    unknown_weight: float = 3.0  # k: a word seen n times is unknown with k / (k + n)


class EncodedSentences(NamedTuple):
    """Sentences as numbers; the second half of the rows encodes the words as unknown."""

    words: IntArray
    rows: Rows
    strange: NDArray[np.float64]
    ends: IntArray
    right: IntArray
    fixed: IntArray


def train_tagger(
    sentences: Sequence[TaggedSentence],
    seed: int,
    settings: TaggerSettings | None = None,
    *,
    learned_from: str = "",
    progress: Progress | None = None,
) -> Tagger:
    """Train a tagger; the same sentences and seed give the same bytes."""
    chosen = settings or TaggerSettings()
    tags = _tags(sentences)
    counts_by_word = count_tags(sentences)
    lexicon = lexicon_of(counts_by_word, tags)
    frequencies = {word: counts.total() for word, counts in counts_by_word.items()}
    rng = np.random.default_rng(seed)
    table: Table = np.zeros((1 << chosen.bits) + PADDING)
    for run in range(chosen.runs):
        copies = with_recased_copies(sentences, chosen.upper, chosen.lower, rng)
        encoded = _encode(copies, tags, lexicon, frequencies, chosen)
        table += _run(encoded, len(tags), chosen, rng, f"run {run + 1} of {chosen.runs}", progress)
    return Tagger(tags, _quantise(table), lexicon, learned_from, hash_sentences(sentences), seed)


def _tags(sentences: Sequence[TaggedSentence]) -> tuple[str, ...]:
    tags = tuple(sorted({tag for sentence in sentences for tag in sentence.tags}))
    if not tags:
        raise InputError("no tagged words to train on")
    if len(tags) > TAGS:
        raise InputError(f"the sentences have {len(tags)} different tags (expected at most {TAGS})")
    return tags


def hash_sentences(sentences: Sequence[TaggedSentence]) -> str:
    """Return a hash of the words and tags."""
    digest = hashlib.sha256()
    for words, tags in sentences:
        digest.update("\n".join(f"{w}\t{t}" for w, t in zip(words, tags, strict=True)).encode())
        digest.update(b"\n\n")
    return digest.hexdigest()


def _encode(
    sentences: Sequence[TaggedSentence],
    tags: Sequence[str],
    lexicon: Lexicon,
    frequencies: Mapping[str, int],
    settings: TaggerSettings,
) -> EncodedSentences:
    number = {
        word: n
        for n, word in enumerate(
            dict.fromkeys(word for sentence in sentences for word in sentence.words)
        )
    }
    code = {tag: n for n, tag in enumerate(tags)}
    rows = np.array([word_columns(word, lexicon) for word in number], dtype=np.uint32)
    times = np.array(
        [frequencies.get(normalise_word(word), 1) for word in number], dtype=np.float64
    )
    words = np.array(
        [number[word] for sentence in sentences for word in sentence.words], dtype=np.int64
    )
    return EncodedSentences(
        words,
        np.concatenate([rows, _unknown(rows)]),
        (settings.unknown_weight / (settings.unknown_weight + times))[words],
        np.cumsum([len(sentence.words) for sentence in sentences]),
        np.array([code[tag] for sentence in sentences for tag in sentence.tags], dtype=np.int64),
        rows[words, COLUMN["fixed"]].astype(np.int64),
    )


def _unknown(rows: Rows) -> Rows:
    """Return the rows as if the words were not in the lexicon."""
    unknown = rows.copy()
    unknown[:, [COLUMN["word"], COLUMN["form"]]] = UNKNOWN
    unknown[:, COLUMN["class"]] = 0
    unknown[:, COLUMN["fixed"]] = NO_TAG
    return unknown


def _run(
    encoded: EncodedSentences,
    tags: int,
    settings: TaggerSettings,
    rng: np.random.Generator,
    name: str,
    progress: Progress | None,
) -> Table:
    """Return the mean of the weights after each of the later passes."""
    from research.tagger_kernels import codes_all, learn_pass

    places, steps = feature_templates()
    table = np.zeros((1 << settings.bits) + PADDING, dtype=np.float32)
    squares, mean = np.zeros_like(table), np.zeros(len(table))
    for pass_ in range(settings.passes):
        unknown = rng.random(len(encoded.words)) < encoded.strange
        words = encoded.words + np.where(unknown, len(encoded.rows) // 2, 0)
        codes = codes_all(words, encoded.rows, encoded.ends, places)
        order = rng.permutation(len(encoded.ends))
        wrong = learn_pass(
            codes, steps, encoded.right, encoded.fixed, encoded.ends, order, table, squares,
            tags, PADDING, settings.rate, settings.dropout, int(rng.integers(1 << 62)),
        )  # fmt: skip
        if pass_ >= settings.passes // 2:
            mean += table
        if progress:
            share = wrong / max(len(encoded.right), 1)
            progress(f"{name}, pass {pass_ + 1} of {settings.passes}: {share:.2%} wrong")
    return mean


def _quantise(table: Table) -> NDArray[np.int8]:
    """Return weights as integers from -127 to 127: only their proportions matter."""
    most = np.abs(table).max()
    return np.rint(table * (127 / most if most else 0.0)).astype(np.int8)
