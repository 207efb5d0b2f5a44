"""Tag words with parts of speech; read and write taggers as npz files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from partita.core import IntArray
from partita.errors import InputError
from partita.files.text import whole_bytes
from partita.files.writing import write_atomically
from partita.parameters import shipped_bytes

# The columns of a word. `context` holds its capitalisation until its sentence is processed, then
# the case of the sentence; `fixed` is the tag of a word that has only one.
COLUMNS = (
    "word", "form", "suffix1", "suffix2", "suffix3", "suffix4", "suffix5", "prefix1", "prefix2",
    "prefix3", "shape", "flat", "class", "context", "fixed", "nothing",
)  # fmt: skip
COLUMN = {name: place for place, name in enumerate(COLUMNS)}
JOINED = 3  # most columns in one feature

FEATURES = (
    "word", "form context", "suffix1", "suffix2", "suffix3", "suffix4", "suffix5",
    "prefix1", "prefix2", "prefix3", "class", "shape context", "suffix3 shape",
    "word-1", "word+1", "word-2", "word+2", "word-1 word", "word word+1",
    "class class+1",
    "suffix3-1", "suffix3+1", "suffix3-1 suffix3", "suffix3 suffix3+1", "suffix3 class+1",
    "shape-1 shape", "shape shape+1",
    "tag-1", "tag-2 tag-1", "tag-1 word", "tag-2 word", "tag-1 suffix3", "tag-1 shape",
    "tag-1 class class+1", "tag-2 tag-1 class", "tag-2 tag-1 word+1", "tag-2 word-1",
)  # fmt: skip


class Templates(NamedTuple):
    """Features as numbers: the columns they read, and the shift per number of each earlier tag."""

    places: NDArray[np.int64]  # [feature, JOINED, (offset, column)]
    steps: NDArray[np.uint32]  # [feature, (tag-1, tag-2)], 0 where a feature has no such tag


def feature_templates(features: tuple[str, ...] = FEATURES) -> Templates:
    """Return the features as arrays for the compiled loop."""
    places = np.zeros((len(features), JOINED, 2), dtype=np.int64)
    places[:, :, 1] = COLUMN["nothing"]
    steps = np.zeros((len(features), 2), dtype=np.uint32)
    for row, feature in enumerate(features):
        parts = [_part(text) for text in feature.split()]
        for back in (offset for name, offset in parts if name == "tag"):
            # Odd and large: rows of different tags must neither meet nor overlap.
            steps[row, -back - 1] = (0x9E3779B1, 0x85EBCA77)[-back - 1]
        columns = [(offset, COLUMN[name]) for name, offset in parts if name != "tag"]
        places[row, : len(columns)] = np.array(columns, dtype=np.int64).reshape(-1, 2)
    return Templates(places, steps)


def _part(text: str) -> tuple[str, int]:
    match = re.fullmatch(r"([a-z]+[1-5]?)([-+][12])?", text)
    if match is None:
        raise ValueError(f"{text!r} is not a column with an offset")
    return match[1], int(match[2] or 0)


Rows = NDArray[np.uint32]

NO_TAG = 255
LONGEST = 64  # characters of a word in use, half of them from its end
FEW, MOST = 1 << 12, 1 << 18  # initial rows; rows after which the cache is emptied
DIGITS = re.compile(r"\d")
RUNS = re.compile(r"(.)\1{2,}", re.DOTALL)
# Capitalisation; numbers and single capitals have none.
NEITHER, LOWER, CAPITALISED, UPPER, MIXED = range(5)
UNKNOWN = 1  # the code of every word that is not in the lexicon


class Entry(NamedTuple):
    """The lexicon entry of a word: the class of its tags, and its tag if it has only one."""

    number: int
    fixed: int


Lexicon = Mapping[str, Entry]
NOT_LISTED = Entry(0, NO_TAG)


def normalise_word(word: str) -> str:
    """Return a word in lower case with digits as 0, as the lexicon lists it."""
    return DIGITS.sub("0", word.lower())


def word_columns(word: str, lexicon: Lexicon) -> list[int]:
    """Return the columns of one word."""
    if len(word) > LONGEST:
        word = word[: LONGEST // 2] + word[-LONGEST // 2 :]
    text = normalise_word(word)
    entry = lexicon.get(text)
    codes = (UNKNOWN, UNKNOWN) if entry is None else (_code("w", text), _code("f", word))
    number, fixed = entry or NOT_LISTED
    return [
        *codes,
        *(_code(f"s{n}", text[-n:] if len(text) > n else f"^{text}") for n in range(1, 6)),
        *(_code(f"p{n}", text[:n]) for n in range(1, 4)),
        _code("x", letter_shape(word)), _code("y", letter_shape(text)),
        number, capitals(word), fixed, 0,
    ]  # fmt: skip


def _code(kind: str, text: str) -> int:
    return crc32(f"{kind}:{text}".encode("utf-8", "surrogatepass"))


def letter_shape(word: str) -> str:
    """Return letters as x or X and digits as d, runs cut to two: "Tu-154s" is "Xx-ddx"."""
    return RUNS.sub(r"\1\1", "".join(map(_sign, word)))[:12]


def _sign(letter: str) -> str:
    if letter.isalpha():
        return "X" if letter.isupper() else "x"
    return "d" if letter.isdigit() else letter


def capitals(word: str) -> int:
    """Return the capitalisation of a word."""
    if word.isupper():
        return UPPER if sum(map(str.isalpha, word)) > 1 else NEITHER
    if word.islower():
        return LOWER
    if not any(map(str.isalpha, word)):
        return NEITHER
    return CAPITALISED if word[0].isupper() and word[1:] == word[1:].lower() else MIXED


class WordRows:
    """Cache of the rows of words; row 0 stands for positions outside a sentence."""

    __slots__ = ("_columns", "_lock", "_numbers", "_rows", "_width")

    def __init__(self, columns: Callable[[str], list[int]], width: int = len(COLUMNS)) -> None:
        self._columns, self._width, self._lock = columns, width, Lock()
        self._forget()

    def _forget(self) -> None:
        self._numbers: dict[str, int] = {}
        self._rows: Rows = np.zeros((FEW, self._width), dtype=np.uint32)
        self._rows[0, COLUMN["fixed"]] = NO_TAG

    def __len__(self) -> int:
        return len(self._numbers)

    def of(self, words: Iterable[str]) -> tuple[IntArray, Rows]:
        """Return the row number of every word, and the rows; memory stays bounded."""
        words = list(words)
        with self._lock:
            if len(self._numbers) > MOST:
                self._forget()
            try:
                numbers = list(map(self._numbers.__getitem__, words))
            except KeyError:
                self._learn(words)
                numbers = list(map(self._numbers.__getitem__, words))
            return np.array(numbers, dtype=np.int64), self._rows

    def _learn(self, words: list[str]) -> None:
        new = [word for word in dict.fromkeys(words) if word not in self._numbers]
        first = len(self._numbers) + 1
        if first + len(new) > len(self._rows):
            # A new array: another thread may still be reading the old one.
            grown = np.zeros((2 * (first + len(new)), self._width), dtype=np.uint32)
            grown[:first] = self._rows[:first]
            self._rows = grown
        for number, word in enumerate(new, first):
            self._rows[number] = self._columns(word)
            self._numbers[word] = number


TAGS = 64  # most tags of a tagger
# Weights after the last index of the table: a feature's weights for all classes follow its index,
# and the loops add them without asking for the end, so there are always fewer classes than this.
PADDING = 64


@dataclass(frozen=True, slots=True, eq=False)
class Tagger:
    """Learned weights, the lexicon, and the data they were learned from."""

    tags: tuple[str, ...]
    table: NDArray[np.int8]
    lexicon: Lexicon
    learned_from: str = ""
    sha256: str = ""
    seed: int = 0
    figures: dict[str, float] = field(default_factory=dict)
    forms: WordRows = field(init=False, repr=False)
    templates: Templates = field(init=False, repr=False)

    def __post_init__(self) -> None:
        places = len(self.table) - PADDING
        if not 0 < len(self.tags) <= TAGS:
            raise ValueError(f"a tagger has 1 to {TAGS} tags, not {len(self.tags)}")
        if places < 1 or places & (places - 1):
            raise ValueError(f"the table has {places} places; expected a power of two")
        object.__setattr__(self, "forms", WordRows(partial(word_columns, lexicon=self.lexicon)))
        object.__setattr__(self, "templates", feature_templates())

    def tag(self, words: Sequence[str], ends: Sequence[int] | IntArray) -> NDArray[np.uint8]:
        """Return the number of each word's tag; `ends` holds the index after each sentence."""
        numbers, rows = self.forms.of(words)
        return self.tag_rows(numbers, rows, checked_ends(ends, len(words)))

    def tag_rows(self, numbers: IntArray, rows: Rows, ends: IntArray) -> NDArray[np.uint8]:
        """Return the number of each word's tag from the rows of words, which may be wider."""
        from partita.text.tagger_kernels import tag_all

        places, steps = self.templates
        return tag_all(numbers, rows, ends, places, steps, self.table, len(self.tags))

    def names(self, words: Sequence[str], ends: Sequence[int] | IntArray) -> list[str]:
        """Return the tags of words by name."""
        return [self.tags[number] for number in self.tag(words, ends).tolist()]


def checked_ends(ends: Sequence[int] | IntArray, words: int) -> IntArray:
    """Return the ends of sentences as an array; they rise to the number of words."""
    bounds = np.asarray(ends, dtype=np.int64)
    if (bounds[-1] if len(bounds) else 0) != words or (np.diff(bounds, prepend=0) < 0).any():
        raise ValueError(f"ends of sentences must rise to the number of words, {words}")
    return bounds


VERSION = 1
SHIPPED = "tagger.npz"
Kinds = Mapping[str, tuple[type[np.generic], int]]  # type and number of axes of arrays by name
ARRAYS: Kinds = {"table": (np.int8, 1), "classes": (np.uint16, 1), "fixed": (np.uint8, 1)}


@cache
def shipped_tagger() -> Tagger:
    """Return the tagger that comes with the package."""
    return parse_tagger(shipped_bytes(SHIPPED, "tagger"), f"shipped {SHIPPED}")


def read_tagger(path: str | Path) -> Tagger:
    """Return the tagger of a file."""
    return parse_tagger(whole_bytes(path), str(path))


def write_tagger(path: str | Path, tagger: Tagger) -> None:
    """Write a tagger, replacing the file atomically."""
    write_atomically(path, tagger_bytes(tagger))


def tagger_bytes(tagger: Tagger) -> bytes:
    """Return the npz bytes of a tagger; the same tagger gives the same bytes."""
    about = {
        "version": VERSION,
        "model": "tagger",
        "features": list(FEATURES),
        "tags": list(tagger.tags),
        "words": list(tagger.lexicon),
        "learned_from": {"description": tagger.learned_from, "sha256": tagger.sha256},
        "seed": tagger.seed,
        "figures": dict(tagger.figures),
    }
    return archive_bytes(
        about,
        table=tagger.table,
        classes=np.array([entry.number for entry in tagger.lexicon.values()], dtype=np.uint16),
        fixed=np.array([entry.fixed for entry in tagger.lexicon.values()], dtype=np.uint8),
    )


def archive_bytes(about: Mapping[str, Any], **arrays: Any) -> bytes:
    """Return the bytes of an npz file with metadata and arrays."""
    stream = BytesIO()
    described = np.frombuffer(json.dumps(about, allow_nan=False).encode(), dtype=np.uint8)
    np.savez_compressed(stream, about=described, **arrays)
    return stream.getvalue()


def parse_tagger(data: bytes, file: str) -> Tagger:
    """Return the tagger from the bytes of an npz file; `file` is named in errors."""
    about, arrays = read_archive(data, "tagger", VERSION, ARRAYS, file)
    try:
        fixed, source = arrays["fixed"], about["learned_from"]
        if about["features"] != list(FEATURES):
            raise ValueError("it was trained with other features")
        if ((fixed >= len(about["tags"])) & (fixed != NO_TAG)).any():
            raise ValueError("a word has a tag that is none of the tags")
        entries = map(Entry, arrays["classes"].tolist(), fixed.tolist())
        lexicon = dict(zip(about["words"], entries, strict=True))
        return Tagger(
            tuple(about["tags"]), arrays["table"], lexicon, source["description"],
            source["sha256"], about["seed"], about["figures"],
        )  # fmt: skip
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(f"is not a tagger of this version: {error}", file=file) from error


def read_archive(
    data: bytes, model: str, version: int, kinds: Kinds, file: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what an npz file of a model says about itself, and its arrays."""
    try:
        with np.load(BytesIO(data), allow_pickle=False) as archive:
            about = json.loads(archive["about"].tobytes())
            arrays = {name: archive[name] for name in kinds}
        wrong = [n for n, (kind, axes) in kinds.items()
                 if (arrays[n].dtype, arrays[n].ndim) != (kind, axes)]  # fmt: skip
        if wrong or (about["model"], about["version"]) != (model, version):
            raise ValueError
    except Exception as error:  # damaged zip files raise all kinds of errors
        one = f"an {model}" if model[0] in "aeiou" else f"a {model}"
        problem = f"is not {one} of version {version} (expected an npz file that research wrote)"
        raise InputError(problem, file=file) from error
    return about, arrays
