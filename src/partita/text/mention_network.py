"""A network that judges the candidates of the linear models of mentions once more.

It sees what they do not: vectors and hypernyms of words, the types of the same word elsewhere in
the text, and those of the nouns before a pronoun. Its hidden layer is a sum of rows of a table, one
for each characteristic, and of numbers times weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core import IntArray
from partita.text.given_names import place_size, share_of_women
from partita.text.mentions import COORDINATION, Found
from partita.text.words import shipped_words

Single = NDArray[np.float32]
BoolArray = NDArray[np.bool_]

CANDIDATE = 0.02  # least probability by the linear models
POSITIONS = 23  # mentions.POSITIONS without the state
STATES, STATE = 5, 32  # columns of the state, and their values
# The positions whose vectors are seen: h, g, c, l, r, p, f, s, j.
WITH_VECTORS = (0, 1, 3, 5, 7, 9, 10, 14, 16)
VECTOR_SCALE = 3.0
SENSES = 2  # senses of a word whose hypernyms are seen
BEFORE = 3  # nouns of each kind before a pronoun whose types are seen
CERTAIN = 0.3  # least probability of such a noun
MARKS = 5  # what a head's form and the tables of names say
TINY, SMALL = 1e-4, 0.05  # added to probabilities before their logarithms
TINIEST = 1e-12


class Tagset(NamedTuple):
    """What tags and labels mean to the network, and how many there are."""

    singular: BoolArray
    plural: BoolArray
    pronoun: BoolArray
    subject: BoolArray

    @classmethod
    def of(cls, tags: Sequence[str], labels: Sequence[str]) -> Tagset:
        """Return what these tags, such as NN|NOUN, and labels mean."""
        parts = [tag.partition("|") for tag in tags]
        return cls(
            np.array([part[0] in ("NN", "NNP") for part in parts]),
            np.array([part[0] in ("NNS", "NNPS") for part in parts]),
            np.array([part[2] in ("PRON", "DET") for part in parts]),
            np.array([label.startswith("nsubj") for label in labels]),
        )


class Parsed(NamedTuple):
    """The words of a text with their tags and labels."""

    texts: Sequence[str]
    tags: NDArray[np.uint8]
    relations: NDArray[np.uint8]


class Inputs(NamedTuple):
    """What the network sees of some candidates: rows of its table, and numbers.

    `rows` has the characteristics that every candidate has, `more` those that a word may have
    several of, with the candidate of each.
    """

    rows: IntArray
    more: IntArray
    owners: IntArray
    numbers: Single


@dataclass(frozen=True, slots=True, eq=False)
class MentionNetwork:
    """Learned weights.

    `words` are the frequent words, `hypernyms` the senses of the table of words that have a row.
    With hidden units h = rows of `table` · steps + numbers · dense + bias, scores are f(h) · out +
    logs · skip, where f(x) = x above 0, x/10 below, and logs are those of the linear models'
    probabilities. The last row of `out` is added to the scores.
    """

    words: tuple[str, ...]
    hypernyms: IntArray
    tagset: Tagset
    table: NDArray[np.int8]
    steps: Single
    dense: Single
    bias: Single
    out: Single
    skip: Single
    _places: Mapping[str, int] = field(init=False, repr=False)
    _known: dict[str, tuple[int, IntArray]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", {word: n for n, word in enumerate(self.words)})
        object.__setattr__(self, "_known", {})

    def check(self, types: int) -> None:
        """Raise if the arrays do not fit each other and the number of types."""
        units = len(self.bias)
        rows = int(block_starts(len(self.words), self.tagset)[-1]) + len(self.hypernyms)
        shapes = {
            "table": (rows, units), "steps": (units,), "dense": (inputs_for(types), units),
            "out": (units + 1, types), "skip": (2 * types, types),
        }  # fmt: skip
        for name, shape in shapes.items():
            if (found := getattr(self, name).shape) != shape:
                raise ValueError(f"network_{name} has the shape {found}; expected {shape}")
        if (np.diff(self.hypernyms) <= 0).any():
            raise ValueError("network_hypernyms are not in ascending order")

    def judged(self, found: Found, text: Parsed) -> Found:
        """Return the candidates with the types that the network gives them.

        The log-odds that they are mentions are the mean of its own and those of the linear models.
        A coordination has the types of its first conjunct, which precedes it.
        """
        own = np.flatnonzero(found.places[:, 3] != COORDINATION)
        if not len(own):
            return found
        judged = softmax(self.scores(self.inputs(found.at(own), text)))
        none, shares = found.chances[:, :1].copy(), np.zeros_like(found.chances[:, 1:])
        no, yes = np.sqrt(none[own] * judged[:, :1]), np.sqrt((1 - none[own]) * (1 - judged[:, :1]))
        none[own] = no / (no + yes)
        shares[own] = judged[:, 1:] / np.maximum(1 - judged[:, :1], TINIEST)
        both = np.flatnonzero(found.places[:, 3] == COORDINATION)
        shares[both] = shares[both - 1]
        return Found(found.places, np.hstack([none, (1 - none) * shares]))

    def scaled(self, factor: float) -> MentionNetwork:
        """Return a network whose scores are multiplied."""
        by = np.float32(factor)
        return replace(self, out=halved(self.out * by), skip=halved(self.skip * by))

    def scores(self, inputs: Inputs) -> Single:
        """Return the scores of no mention and of each type."""
        sums = np.zeros((len(inputs.rows), len(self.bias)), dtype=np.int32)
        for column in inputs.rows.T:
            sums += self.table[column]
        np.add.at(sums, inputs.owners, self.table[inputs.more])
        hidden = sums * self.steps + inputs.numbers @ self.dense + self.bias
        hidden = np.maximum(hidden, hidden / 10)
        result: Single = hidden @ self.out[:-1] + self.out[-1]
        result += logs_of(inputs.numbers, len(self.skip)) @ self.skip
        return result

    def inputs(self, found: Found, text: Parsed) -> Inputs:
        """Return what the network sees of candidates, none of them a coordination."""
        assert found.around is not None
        around, heads = found.around, found.places[:, 0]
        known = [self._knowledge(word) for word in text.texts]
        many = len(self.words)
        words = np.array([*(one[0] for one in known), many + 2, many + 1])
        tags = np.array([*text.tags, len(self.tagset.plural), len(self.tagset.plural) + 1])
        labels = np.array([*text.relations, len(self.tagset.subject), len(self.tagset.subject) + 1])
        at = around[:, :POSITIONS]
        state = np.minimum(around[:, POSITIONS:], STATE - 1)
        starts = block_starts(many, self.tagset)
        rows = np.hstack([words[at], tags[at], labels[at], state]) + starts[:-1]
        more = [known[head][1] for head in heads.tolist()]
        owners = np.repeat(np.arange(len(heads)), [len(one) for one in more])
        joined = np.concatenate([*more, np.zeros(0, dtype=np.int64)]) + starts[-1]
        return Inputs(rows, joined, owners, self._numbers(found, text, at))

    def _knowledge(self, word: str) -> tuple[int, IntArray]:
        """Return the number of a word among the frequent ones, and its hypernyms."""
        low = word.lower()
        known = self._known.get(low)
        if known is None:
            if len(self._known) > 1 << 16:
                self._known.clear()
            above = np.array(hypernyms_of(low), dtype=np.int64)
            listed = above[np.isin(above, self.hypernyms)]
            places = np.searchsorted(self.hypernyms, listed)
            known = self._places.get(low, len(self.words)), places
            self._known[low] = known
        return known

    def _numbers(self, found: Found, text: Parsed, at: IntArray) -> Single:
        """Return the numbers that the network sees of candidates."""
        table, heads = shipped_words(), found.places[:, 0].tolist()
        rows = np.array([*(table.find(word) for word in text.texts), -1, -1])[at[:, WITH_VECTORS]]
        vectors = np.where(rows[..., None] >= 0, table.vectors[rows], 0) * VECTOR_SCALE
        pronoun = self.tagset.pronoun[text.tags[heads]]
        marks = [
            (
                share_of_women(text.texts[head]) is not None, place_size(text.texts[head]) > 0,
                text.texts[head][:1].isupper(), text.texts[head].isupper(), row < 0,
            )
            for head, row in zip(heads, rows[:, 0].tolist(), strict=True)
        ]  # fmt: skip
        return np.hstack(
            [
                np.log(found.chances + TINY), _same_words(found, text.texts, pronoun),
                _mean_types(found, pronoun), self._before(found, text, pronoun),
                np.array(marks), vectors.reshape(len(heads), -1),
            ]
        ).astype(np.float32)  # fmt: skip

    def _before(self, found: Found, text: Parsed, pronoun: BoolArray) -> NDArray[np.float64]:
        """Return the types of the last singular and plural nouns and subjects before pronouns."""
        types = found.chances[:, 1:]
        result = np.zeros((len(types), 3 * BEFORE, types.shape[1]))
        last: tuple[list[int], ...] = ([], [], [])
        heads = found.places[:, 0]
        certain = 1 - found.chances[:, 0] > CERTAIN
        tags, labels = text.tags[heads], text.relations[heads]
        of = np.stack([self.tagset.singular[tags], self.tagset.plural[tags]], axis=1)
        of = np.hstack([of, self.tagset.subject[labels][:, None]])
        for n in np.argsort(heads, kind="stable").tolist():
            if pronoun[n]:
                for kind, earlier in enumerate(last):
                    for place, one in enumerate(earlier[: -BEFORE - 1 : -1]):
                        result[n, kind * BEFORE + place] = types[one]
            elif certain[n]:
                for kind in np.flatnonzero(of[n]).tolist():
                    last[kind].append(n)
        return result.reshape(len(types), -1)


def _same_words(found: Found, texts: Sequence[str], pronoun: BoolArray) -> NDArray[np.float64]:
    """Return the mean probabilities of the other candidates with the same head, and how many there
    are; none for pronouns."""
    groups: dict[str, list[int]] = {}
    for n, head in enumerate(found.places[:, 0].tolist()):
        if not pronoun[n]:
            groups.setdefault(texts[head].lower(), []).append(n)
    result = np.zeros((len(found.places), found.chances.shape[1] + 1))
    for group in groups.values():
        others = len(group) - 1
        if others:
            chances = found.chances[group]
            result[group, :-1] = (chances.sum(axis=0) - chances) / others
            result[group, -1] = min(others, 5) / 5
    return result


def _mean_types(found: Found, pronoun: BoolArray) -> NDArray[np.float64]:
    """Return for each candidate how frequent the types are in the text."""
    total = found.chances[~pronoun, 1:].sum(axis=0)
    return np.tile(total / max(total.sum(), 1e-9), (len(found.places), 1))


def logs_of(numbers: Single, inputs: int) -> Single:
    """Return the logarithms of the linear models' probabilities, and of those of the same words."""
    half = inputs // 2
    same = numbers[:, half : 2 * half + 1]
    logs = np.where(same[:, -1:] > 0, np.log(same[:, :-1] + np.float32(SMALL)), 0)
    return np.hstack([numbers[:, :half], logs])


def inputs_for(types: int) -> int:
    """Return how many numbers the network sees, with so many types and no mention."""
    vectors = int(shipped_words().vectors.shape[1]) * len(WITH_VECTORS)
    return 2 * types + 1 + (3 * BEFORE + 1) * (types - 1) + MARKS + vectors


def block_starts(words: int, tagset: Tagset) -> IntArray:
    """Return the first row of the table of each characteristic; hypernyms are last."""
    sizes = [words + 3] * POSITIONS + [len(tagset.plural) + 2] * POSITIONS
    sizes += [len(tagset.subject) + 2] * POSITIONS + [STATE] * STATES
    return np.cumsum([0, *sizes])


def hypernyms_of(word: str) -> list[int]:
    """Return the first senses of a noun, or of its singular, with all that stands above them."""
    table = shipped_words()
    forms = (word, word[:-1], word[:-2]) if word.endswith("s") else (word,)
    for form in forms:
        row = table.find(form)
        senses = table.senses[row, :SENSES].tolist() if row >= 0 else []
        found = {above for sense in senses if sense >= 0 for above in table.ancestors(sense)}
        if found:
            return sorted(found)
    return []


def halved(weights: Single) -> Single:
    """Return weights in the precision of the file."""
    return weights.astype(np.float16).astype(np.float32)


def softmax(scores: Single) -> NDArray[np.float64]:
    """Return the probabilities of scores."""
    powers = np.exp((scores - scores.max(axis=1, keepdims=True)).astype(np.float64))
    result: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return result
