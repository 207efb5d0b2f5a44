"""Analyse English text: tokens, tags, trees, mentions with probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from partita.errors import InputError
from partita.records import IntArray, Message
from partita.text.expressions import Mention, PlacedSentence
from partita.text.mentions import Found, MentionModel
from partita.text.parser import Parser
from partita.text.tagger import COLUMNS, Forms, Tagger, word_columns
from partita.text.tokens import POSSESSIVE, Tokens, tokenize
from partita.text.trees import Tree, Word, is_legal_form
from partita.text.words import CLASSES, shipped_words

SHIPPED = "analyser.npz"
KNOWLEDGE = 6  # columns of a word that come from the table of words
WIDTH = len(COLUMNS) + KNOWLEDGE
THRESHOLD = 0.45  # least probability of a mention
AGREEMENT = 0.7  # weight of the sorts of mentions with the same head in a text
REMEMBERED = 1 << 16
COMPANY = "organization"
FORMED = 4.0  # how many mentions one with a legal form counts for
LEGAL_FORM = 0.9  # weight of the sort that a legal form at the end of a name decides

NUMBERS = {"NN": "Number=Sing", "NNP": "Number=Sing", "NNS": "Number=Plur", "NNPS": "Number=Plur"}
HISSING = ("s", "x", "z", "ch", "sh")


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """Tags, heads and labels of all words of some texts."""

    words: IntArray
    rows: NDArray[np.uint32]
    ends: IntArray
    tags: NDArray[np.uint8]
    heads: IntArray
    relations: NDArray[np.uint8]


PROPER_TAGS = ("NNP|PROPN", "NNPS|PROPN")
AS_NAME = {"NN": "NNP|PROPN", "VBG": "NNP|PROPN", "NNS": "NNPS|PROPN"}
SMALL = 0.4  # share of words in small letters, from which capital letters mark names


@dataclass(frozen=True, slots=True, eq=False)
class Analyser:
    """Learned models of tags, trees and mentions, with lemmas and features of words.

    `lemmas` and `feats` are by a word in lower case and its tag, such as "went VBD"; `groups` are
    of each word of the table of words: by its vector, and by the sorts of mentions it may head.
    """

    tagger: Tagger
    parser: Parser
    mentions: MentionModel | None
    groups: NDArray[np.uint8]
    lemmas: Mapping[str, str]
    feats: Mapping[str, str]
    threshold: float = THRESHOLD
    about: Mapping[str, object] = field(default_factory=dict)
    forms: Forms = field(init=False, repr=False)
    _described: dict[tuple[str, int], tuple[str, str]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.groups.shape != (KNOWLEDGE - 2, len(shipped_words().words)):
            raise ValueError("groups do not fit the table of words")
        object.__setattr__(self, "forms", Forms(self.columns, WIDTH))
        object.__setattr__(self, "_described", {})

    def columns(self, word: str) -> list[int]:
        """Return the columns of a word for tagger and parser."""
        return [*word_columns(word, self.tagger.lexicon), *self._knowledge(word)]

    def _knowledge(self, word: str) -> list[int]:
        """Return the cluster, the groups and the noun classes of a word."""
        table = shipped_words()
        row = table.find(word)
        if row < 0:
            return [0] * KNOWLEDGE
        classes = [CLASSES.index(name) for name in table.noun_classes(word)[:2]]
        if not classes and word[-1:] in "sS":
            classes = [CLASSES.index(name) for name in table.noun_classes(word[:-1])[:2]]
        sense = sum(code * scale for code, scale in zip(classes, (1, 32), strict=False))
        groups = (self.groups[:, row].astype(int) + 1).tolist()
        return [int(table.clusters[row]) + 1, sense + 1, *groups]

    def trees(
        self, words: Sequence[str], ends: Sequence[int], *, whole_names: bool = True
    ) -> Trees:
        """Return the tags and trees of sentences; `ends` holds the index after each.

        With `whole_names`, capitalised nouns after a name are tagged as part of it.
        """
        bounds = np.asarray(ends, dtype=np.int64)
        numbers, rows = self.forms.of(words)
        tags = self.tagger.tag_rows(numbers, rows, bounds)
        if whole_names:
            tags = self._with_whole_names(words, tags, bounds)
        heads, relations = self.parser.parse(numbers, rows, tags, bounds)
        return Trees(numbers, rows, bounds, tags, heads, relations)

    def _with_whole_names(
        self, words: Sequence[str], tags: NDArray[np.uint8], ends: IntArray
    ) -> NDArray[np.uint8]:
        """Return tags in which a capitalised noun after a name belongs to it: Bayline Shipping.

        Capital letters tell nothing in sentences that have few small ones, such as titles.
        """
        numbers = {tag: n for n, tag in enumerate(self.tagger.tags)}
        proper = {numbers[tag] for tag in PROPER_TAGS if tag in numbers}
        as_name = {
            n: numbers[name]
            for tag, n in numbers.items()
            if (name := AS_NAME.get(tag.partition("|")[0], "")) in numbers
        }
        found = tags.copy()
        for first, last in pairwise([0, *ends.tolist()]):
            small = sum(word[0].islower() for word in words[first:last])
            if small < SMALL * sum(word[0].isalpha() for word in words[first:last]):
                continue
            for n in range(first + 1, last):
                if found[n] in as_name and found[n - 1] in proper and words[n].istitle():
                    found[n] = as_name[int(found[n])]
        return found

    def find(self, trees: Trees) -> Found:
        """Return the mentions in trees."""
        if self.mentions is None:
            return Found(np.empty((0, 4), dtype=np.int64), np.empty((0, 1)))
        return self.mentions.find(
            trees.words, trees.rows, trees.tags, self.parser.coarse, trees.ends, trees.heads,
            trees.relations, self.threshold,
        )  # fmt: skip

    def companies(self, found: Found, texts: Sequence[str]) -> Found:
        """Return names that end in a legal form as those of companies, without the names in them.

        In "Acme Corp." the head is "Corp.", and neither word is a mention of its own.
        """
        places = _without_possessive(found.places, texts)
        formed = [n for n, place in enumerate(places) if _is_formed(texts, *place)]
        if not formed or self.mentions is None or COMPANY not in self.mentions.sorts:
            return found
        parts = [_name_words(texts, *places[n][1:]) for n in formed]
        names = {word for words in parts for word in words}
        kept = [n for n, (_, first, last) in enumerate(places)
                if last not in names and first - 1 not in names]  # fmt: skip
        chances = found.chances.copy()
        own = 1 - chances[formed, 0]
        chances[formed, 1:] *= 1 - LEGAL_FORM
        chances[formed, self.mentions.sorts.index(COMPANY)] += LEGAL_FORM * own
        return Found(found.places[kept], chances[kept])

    def agreed(self, found: Found, texts: Sequence[str]) -> Found:
        """Move the sorts of mentions towards the mean of those with the same head in the text.

        Where the head of a name is its legal form, its first word counts, and the sort of
        such a name counts as much as those of several others.
        """
        places = _without_possessive(found.places, texts)
        formed = [_is_formed(texts, *place) for place in places]
        heads = [
            texts[_name_words(texts, first, last)[0] if of_form and head == last else head].lower()
            for (head, first, last), of_form in zip(places, formed, strict=True)
        ]
        numbers = {head: n for n, head in enumerate(dict.fromkeys(heads))}
        of = np.array([numbers[head] for head in heads], dtype=np.int64)
        sums = np.zeros((len(numbers), found.chances.shape[1] - 1))
        np.add.at(sums, of, np.where(formed, FORMED, 1.0)[:, None] * found.chances[:, 1:])
        means = sums / np.maximum(sums.sum(axis=1, keepdims=True), 1e-12)
        own = 1 - found.chances[:, :1]
        shares = (1 - AGREEMENT) * found.chances[:, 1:] + AGREEMENT * own * means[of]
        return Found(found.places, np.hstack([found.chances[:, :1], shares]))

    def analyse(self, message: Message) -> tuple[PlacedSentence, ...]:
        """Return the sentences of a message with their trees and mentions."""
        tokens = tokenize(message)
        if not tokens.texts:
            return ()
        trees = self.trees(tokens.texts, tokens.ends_of_sentences)
        found = self.companies(self.find(trees), tokens.texts)
        found = self.agreed(found, tokens.texts)
        mentions = self._mentions(found, trees.ends)
        return tuple(self._sentences(message, tokens, trees, mentions))

    def find_in(self, sentences: Sequence[PlacedSentence]) -> tuple[PlacedSentence, ...]:
        """Return sentences that were parsed by others with the mentions found in their trees."""
        kept = [[n for n, word in enumerate(one.tree.words) if not word.empty] for one in sentences]
        rows = [[one.tree.words[n] for n in row] for one, row in zip(sentences, kept, strict=True)]
        words = [word for row in rows for word in row]
        if not words:
            return tuple(sentences)
        filled = [n for n, row in enumerate(rows) if row]
        ends = np.cumsum([len(rows[n]) for n in filled]).tolist()
        found = self._mentions(self.find(self._given_trees(words, kept, ends)), np.array(ends))
        placed = list(sentences)
        for n, mentions in zip(filled, found, strict=True):
            moved = tuple(_moved(one, kept[n]) for one in mentions)
            placed[n] = replace(sentences[n], mentions=moved)
        return tuple(placed)

    def _given_trees(
        self, words: Sequence[Word], kept: Sequence[Sequence[int]], ends: Sequence[int]
    ) -> Trees:
        """Return given trees as the models number tags and labels; own tags where none fits."""
        own = self.trees([word.form for word in words], ends)
        tags, labels = self.tagger.tags, self.parser.labels
        by_name = {name: n for n, name in enumerate(tags)}
        first = {name.partition("|")[2]: n for n, name in reversed(list(enumerate(tags)))}
        given = []
        for word, tag in zip(words, own.tags.tolist(), strict=True):
            same = tags[tag].partition("|")[2] == word.upos
            fallback = tag if same else first.get(word.upos, tag)
            given.append(by_name.get(f"{word.xpos}|{word.upos}", fallback))
        by_label = {name: n for n, name in enumerate(labels)}
        relations = [
            by_label.get(word.relation, by_label.get(word.relation.partition(":")[0], 0))
            for word in words
        ]
        places = [{n: k for k, n in enumerate(row)} for row in kept if row]
        heads = [
            place.get(head, -1)
            for place, head in zip(
                (one for one in places for _ in one), (word.head for word in words), strict=True
            )
        ]
        return replace(
            own,
            tags=np.array(given, dtype=np.uint8),
            heads=np.array(heads, dtype=np.int64),
            relations=np.array(relations, dtype=np.uint8),
        )

    def _sentences(
        self, message: Message, tokens: Tokens, trees: Trees, mentions: Sequence[list[Mention]]
    ) -> Iterator[PlacedSentence]:
        words = self._words(tokens.texts, trees)
        spans = list(zip(tokens.starts, tokens.ends, strict=True))
        bounds = [0, *tokens.ends_of_sentences]
        for index, (start, end) in enumerate(pairwise(bounds)):
            region = message.regions[tokens.region[start]]
            yield PlacedSentence(
                Tree(words[start:end]), tuple(mentions[index]), spans[start:end], index,
                region.paragraph, region.kind,
            )  # fmt: skip

    def _words(self, texts: Sequence[str], trees: Trees) -> list[Word]:
        tags, labels = trees.tags.tolist(), self.parser.labels
        parts = [tag.partition("|") for tag in self.tagger.tags]
        described = map(self._describe, texts, tags)
        return [
            Word(form, lemma, parts[tag][2], feats, head, labels[label], xpos=parts[tag][0])
            for form, tag, (lemma, feats), head, label in zip(
                texts, tags, described, trees.heads.tolist(), trees.relations.tolist(), strict=True
            )
        ]

    def _describe(self, form: str, tag: int) -> tuple[str, str]:
        """Return the lemma and the features of a word by its tag."""
        known = self._described.get((form, tag))
        if known is None:
            if len(self._described) > REMEMBERED:
                self._described.clear()
            xpos, _, upos = self.tagger.tags[tag].partition("|")
            known = (
                lemma_of(form, xpos, upos, self.lemmas),
                self.feats.get(f"{form.lower()} {xpos}") or NUMBERS.get(xpos, "_"),
            )
            self._described[form, tag] = known
        return known

    def _mentions(self, found: Found, ends: IntArray) -> list[list[Mention]]:
        """Return the mentions of each sentence."""
        by_sentence: list[list[Mention]] = [[] for _ in ends]
        if not len(found.places):
            return by_sentence
        assert self.mentions is not None
        sorts = self.mentions.sorts[1:]
        where = np.searchsorted(ends, found.places[:, 0], side="right")
        starts = np.concatenate([[0], ends])[where]
        chances = 1 - found.chances[:, 0]
        shares = (found.chances[:, 1:] / chances[:, None]).tolist()
        places = (found.places[:, :3] - starts[:, None]).tolist()
        for sentence, (head, first, last), chance, share in zip(
            where.tolist(), places, chances.tolist(), shares, strict=True
        ):
            best = sorts[max(range(len(sorts)), key=share.__getitem__)]
            by_sort = dict(zip(sorts, share, strict=True))
            mention = Mention("", best, "", 0, [(first, last)], head, by_sort, chance)
            by_sentence[sentence].append(mention)
        return by_sentence


def _without_possessive(places: IntArray, texts: Sequence[str]) -> list[list[int]]:
    """Return head, first and last word of each mention, the ending of a possessive left out."""
    return [
        [head, first, last - (last > max(first, head) and texts[last].lower() in POSSESSIVE)]
        for head, first, last in places[:, :3].tolist()
    ]


def _is_formed(texts: Sequence[str], head: int, first: int, last: int) -> bool:
    """Return whether a mention is a name with a legal form: capitalised words from its head on."""
    if last == first or not is_legal_form(texts[last]):
        return False
    return all(map(_in_name, texts[min(head, last - 1) : last]))


def _in_name(word: str) -> bool:
    return word[0].isupper() or not word[0].isalpha()


def _name_words(texts: Sequence[str], first: int, last: int) -> range:
    """Return the capitalised words, numbers and signs before a legal form."""
    start = last
    while start > first and _in_name(texts[start - 1]):
        start -= 1
    return range(start, last)


def _moved(mention: Mention, places: Sequence[int]) -> Mention:
    """Return a mention with its words counted with empty nodes."""
    spans = [(places[first], places[last]) for first, last in mention.spans]
    return replace(mention, spans=spans, head=places[mention.head])


def lemma_of(form: str, xpos: str, upos: str, lemmas: Mapping[str, str]) -> str:
    """Return the lemma of a word: the one it was seen with, else by its ending."""
    low = form.lower()
    listed = lemmas.get(f"{low} {xpos}")
    if listed is not None:
        return listed
    if upos == "PROPN":
        return form
    if xpos in ("NNS", "VBZ") and low.endswith("s") and len(low) > 3:
        return _without_s(low)
    if xpos == "VBG" and low.endswith("ing") and len(low) > 5:
        return _without_ending(low, 3)
    if xpos in ("VBD", "VBN") and low.endswith("ed") and len(low) > 4:
        return f"{low[:-3]}y" if low.endswith("ied") else _without_ending(low, 2)
    return low


def _without_s(low: str) -> str:
    if low.endswith("ies") and len(low) > 4:
        return f"{low[:-3]}y"
    if low.endswith("es") and low[:-2].endswith(HISSING) and not low.endswith(("uses", "ases")):
        return low[:-2]
    return low if low.endswith("ss") else low[:-1]


def _without_ending(low: str, size: int) -> str:
    """Return a verb without its ending: a doubled consonant is single, a bare one gets its e."""
    stem = low[:-size]
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]
    if stem[-1] in "vzcu" or (
        stem.endswith(("at", "iz", "ur", "as", "os", "is", "iv")) and len(stem) > 3
    ):
        return f"{stem}e"
    return stem


@cache
def shipped_analyser() -> Analyser:
    """Return the analyser that comes with the package."""
    from importlib.resources import files

    from partita.text.analysis_models import parse_analyser

    file = files("partita.parameters").joinpath(SHIPPED)
    if not file.is_file():
        raise InputError("the package contains no analyser")
    return parse_analyser(file.read_bytes(), f"shipped {SHIPPED}")
