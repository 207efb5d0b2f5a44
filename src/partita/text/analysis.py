"""Analyse English text: tokens, tags, trees, mentions with probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.core import IntArray, Message
from partita.errors import InputError
from partita.files.text import whole_bytes
from partita.parameters import shipped_bytes
from partita.text import parser as parsing
from partita.text.expressions import Mention, PlacedSentence, Tree, Word
from partita.text.mention_network import (
    CANDIDATE,
    MentionNetwork,
    Parsed,
    Tagset,
)
from partita.text.mentions import (
    CHILD_POSITIONS,
    MIN_NAME_PROBABILITY,
    POSITIONS,
    STATES,
    Found,
    MentionModel,
    agreed,
    alike_in_lists,
    decided_types,
    headed_by_institution,
    partitives,
    roles_of,
    tags_of_whole_names,
    telling_capitals,
    titles_below_names,
    without_headings,
)
from partita.text.names import NameSpan, find_names, join_names
from partita.text.parser import Parser, feature_places
from partita.text.parser_kernels import HashedModel
from partita.text.tagger_models import (
    COLUMNS,
    Tagger,
    WordRows,
    archive_bytes,
    parse_tagger,
    read_archive,
    tagger_bytes,
    word_columns,
)
from partita.text.tokens import Tokens, tokenize
from partita.text.words import CLASSES, shipped_words

SHIPPED = "analyser.npz"
KNOWLEDGE = 6  # columns of a word that come from the table of words
WIDTH = len(COLUMNS) + KNOWLEDGE
THRESHOLD = 0.45  # least probability of a mention
REMEMBERED = 1 << 16

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
    texts: Sequence[str]
    names: Mapping[int, NameSpan] = field(default_factory=dict)  # by their heads


PERSONS = {"executive", "individual", "national", "native", "official", "representative"}
AS_NAME = {
    "NN": "NNP|PROPN", "VBG": "NNP|PROPN", "NNS": "NNPS|PROPN", "JJ": "NNP|PROPN"
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Analyser:
    """Learned models of tags, trees and mentions, with lemmas and features of words.

    `lemmas` and `feats` are by a word in lower case and its tag, such as "went VBD"; `groups` are
    of each word of the table of words: by its vector, and by the types of mentions it may head.
    """

    tagger: Tagger
    parser: Parser
    mentions: MentionModel | None
    groups: NDArray[np.uint8]
    lemmas: Mapping[str, str]
    feats: Mapping[str, str]
    features: Mapping[str, Sequence[str]]  # of every model
    threshold: float = THRESHOLD
    about: Mapping[str, object] = field(default_factory=dict)
    forms: WordRows = field(init=False, repr=False)
    _described: dict[tuple[str, int], tuple[str, str]] = field(init=False, repr=False)
    network: MentionNetwork | None = None

    def __post_init__(self) -> None:
        if self.groups.shape != (KNOWLEDGE - 2, len(shipped_words().words)):
            raise ValueError("groups do not fit the table of words")
        object.__setattr__(self, "forms", WordRows(self.columns, WIDTH))
        object.__setattr__(self, "_described", {})

    def columns(self, word: str) -> list[int]:
        """Return the columns of a word for tagger and parser."""
        return [*word_columns(word, self.tagger.lexicon), *self._knowledge(word)]

    def _knowledge(self, word: str) -> list[int]:
        """Return the cluster, the noun classes and the groups of a word."""
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
        self, words: Sequence[str], ends: Sequence[int], *, space: Sequence[int] | None = None
    ) -> Trees:
        """Return the tags and trees of sentences; `ends` holds the index after each.

        With `space`, what precedes each word, the words of a name are one part of the tree.
        """
        bounds = np.asarray(ends, dtype=np.int64)
        numbers, rows = self.forms.of(words)
        tags = self.tagger.tag_rows(numbers, rows, bounds)
        if space is None:
            heads, relations = self.parser.parse(numbers, rows, tags, bounds)
            return Trees(numbers, rows, bounds, tags, heads, relations, words)
        proper, as_name = self._name_tags()
        telling = telling_capitals(words, bounds)
        only_after = [n for n in as_name if self.tagger.tags[n].startswith("JJ")]
        tags = tags_of_whole_names(words, tags, telling, proper, as_name, only_after)
        self._tag_persons(words, tags)
        names = find_names(words, space, bounds, proper[tags], telling)
        name_tag = next(iter(as_name.values()), 0)
        for name in names:
            for place in range(name.first, name.last + 1):
                if words[place][0].isupper() and not proper[tags[place]]:
                    tags[place] = as_name.get(int(tags[place]), name_tag)
        heads, relations = self.parser.parse(numbers, rows, tags, bounds)
        labels, tops = self.parser.labels, [name.first for name in names]
        if "nmod:desc" in labels:
            both = labels.index("nmod:desc"), labels.index("nsubj")
            titles_below_names(words, proper[tags], bounds, heads, relations, *both)
        if "flat" in labels and "compound" in labels:
            flat, compound = labels.index("flat"), labels.index("compound")
            headed_by_institution(
                words, proper[tags] & telling, bounds, heads, relations, flat, compound
            )
            tops = join_names(names, words, bounds, heads, relations, flat, compound)
        by_head = dict(zip(tops, names, strict=True))
        return Trees(numbers, rows, bounds, tags, heads, relations, words, by_head)

    def _tag_persons(self, words: Sequence[str], tags: NDArray[np.uint8]) -> None:
        """Make "executive" a noun where no noun follows: the chief executive of Acme."""
        numbers = {tag: n for n, tag in enumerate(self.tagger.tags)}
        adjective, noun = numbers.get("JJ|ADJ"), numbers.get("NN|NOUN")
        if adjective is None or noun is None:
            return
        goes_on = {n for tag, n in numbers.items() if tag.startswith(("JJ", "NN", "VBG", "CC"))}
        for n in np.flatnonzero(tags[:-1] == adjective).tolist():
            if words[n].lower() in PERSONS and tags[n + 1] not in goes_on:
                tags[n] = noun

    def _name_tags(self) -> tuple[NDArray[np.bool_], dict[int, int]]:
        """Return which tags are of names, and which of these a noun in a name gets."""
        numbers = {tag: n for n, tag in enumerate(self.tagger.tags)}
        proper = np.array([tag.startswith("NNP") for tag in numbers], dtype=np.bool_)
        as_name = {
            n: numbers[name]
            for tag, n in numbers.items()
            if (name := AS_NAME.get(tag.partition("|")[0], "")) in numbers
        }
        return proper, as_name

    def find(self, trees: Trees, threshold: float | None = None) -> Found:
        """Return the mentions in trees."""
        found = self.candidates(trees)
        if self.network is not None:
            text = Parsed(trees.texts, trees.tags, trees.relations)
            found = self.network.judged(found, text)
        least = self.threshold if threshold is None else threshold
        kept = np.flatnonzero(1 - found.chances[:, 0] >= least)
        return found.at(kept)

    def candidates(self, trees: Trees) -> Found:
        """Return what the linear models find in trees, also what is hardly a mention."""
        if self.mentions is None:
            return Found(np.empty((0, 4), dtype=np.int64), np.empty((0, 1)))
        return self.mentions.find(
            trees.words, trees.rows, trees.tags, self.parser.coarse, trees.ends, trees.heads,
            trees.relations, CANDIDATE,
        )  # fmt: skip

    def analyse(self, message: Message) -> tuple[PlacedSentence, ...]:
        """Return the sentences of a message with their trees and mentions."""
        tokens = tokenize(message)
        if not tokens.texts:
            return ()
        trees = self.trees(tokens.texts, tokens.ends_of_sentences, space=tokens.space)
        mentions = self._mentions(self._named(trees, tokens.texts), trees.ends)
        return tuple(self._sentences(message, tokens, trees, mentions))

    def _named(self, trees: Trees, texts: Sequence[str]) -> Found:
        """Return the mentions with what the names in the text say of them."""
        if self.mentions is None:
            return self.find(trees)
        proper, _ = self._name_tags()
        named = proper[trees.tags] & telling_capitals(texts, trees.ends)
        found = self.find(trees, min(self.threshold, MIN_NAME_PROBABILITY))
        found, decided = decided_types(
            found, texts, named, self.mentions.types, self.threshold, trees.names
        )
        if "conj" in self.parser.labels:
            joined = trees.relations == self.parser.labels.index("conj")
            found = alike_in_lists(found, texts, named, trees.heads, joined, trees.ends)
        found = partitives(agreed(found, texts, decided, trees.names), texts)
        found = without_headings(found, texts, trees.ends, proper[trees.tags])
        return _without_marks(found, texts)

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
        types = self.mentions.types[1:]
        where = np.searchsorted(ends, found.places[:, 0], side="right")
        starts = np.concatenate([[0], ends])[where]
        chances = 1 - found.chances[:, 0]
        shares = (found.chances[:, 1:] / chances[:, None]).tolist()
        places = (found.places[:, :3] - starts[:, None]).tolist()
        for sentence, (head, first, last), chance, share in zip(
            where.tolist(), places, chances.tolist(), shares, strict=True
        ):
            best = types[max(range(len(types)), key=share.__getitem__)]
            by_type = dict(zip(types, share, strict=True))
            mention = Mention("", best, "", 0, [(first, last)], head, by_type, chance)
            by_sentence[sentence].append(mention)
        return by_sentence


DASHES = frozenset(("-", "--", "---", "–", "—", "…", "...", "*", "•", "·", "|", ":", ";", ","))
MONEY = frozenset("$€£¥%")  # signs that may be the head of a mention


def _without_marks(found: Found, texts: Sequence[str]) -> Found:
    """Return the mentions whose head is no mark, without dashes and the like at their ends."""
    places, kept = found.places.copy(), np.ones(len(found.places), np.bool_)
    for n, (head, first, last, _) in enumerate(found.places.tolist()):
        while first < head and texts[first] in DASHES:
            first += 1
        while last > head and texts[last] in DASHES:
            last -= 1
        places[n, 1:3] = first, last
        kept[n] = any(letter.isalnum() or letter in MONEY for letter in texts[head])
    return Found(places, found.chances).at(np.flatnonzero(kept))


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
    return parse_analyser(shipped_bytes(SHIPPED, "analyser"), f"shipped {SHIPPED}")


ANALYSER_VERSION = 3
ARRAYS: dict[str, tuple[type[np.generic], int]] = {
    "tagger": (np.uint8, 1), "possible": (np.bool_, 1), "groups": (np.uint8, 2),
    "scales": (np.float64, 1),
}  # fmt: skip
# The positions and the columns of the state that the features of each model read. "sorts" are the
# types of mentions: the shipped file is older than the word in the code.
MODELS = {
    "moves": (parsing.POSITIONS, parsing.STATES),
    "labels": (parsing.ARC_POSITIONS, parsing.STATES),
    "sorts": (POSITIONS, STATES),
    "spans": (CHILD_POSITIONS, STATES),
    "both": (POSITIONS, STATES),
}
MENTION_MODELS = ("sorts", "spans", "both")
ARRAYS |= {f"{name}_used": (np.uint8, 1) for name in MODELS}
ARRAYS |= {f"{name}_weights": (np.int8, 1) for name in MODELS}
NETWORK: dict[str, tuple[type[np.generic], int]] = {
    "hypernyms": (np.int64, 1), "table": (np.int8, 2), "steps": (np.float32, 1),
    "dense": (np.float16, 2), "bias": (np.float16, 1), "out": (np.float16, 2),
    "skip": (np.float16, 2),
}  # fmt: skip
ARRAYS |= {f"network_{name}": kind for name, kind in NETWORK.items()}


def read_analyser(path: str | Path) -> Analyser:
    """Return the analyser of a file."""
    return parse_analyser(whole_bytes(path), str(path))


def analyser_bytes(analyser: Analyser) -> bytes:
    """Return the npz bytes of an analyser; the same analyser gives the same bytes."""
    model, network = analyser.mentions, analyser.network
    if model is None or network is None:
        raise ValueError("the analyser has no model of mentions")
    about = {
        "version": ANALYSER_VERSION,
        "model": "analyser",
        "features": {name: list(features) for name, features in analyser.features.items()},
        "labels": list(analyser.parser.labels),
        "sorts": list(model.types),
        "lemmas": dict(analyser.lemmas),
        "feats": dict(analyser.feats),
        "threshold": analyser.threshold,
        "words": list(network.words),
        "about": dict(analyser.about),
    }
    models = {"moves": analyser.parser.moves, "labels": analyser.parser.names, **model.models}
    arrays: dict[str, Any] = {
        "tagger": np.frombuffer(tagger_bytes(analyser.tagger), dtype=np.uint8),
        "possible": model.possible,
        "groups": analyser.groups,
        "scales": np.concatenate([analyser.parser.scales, model.scales]),
        **{f"{name}_used": each.used for name, each in models.items()},
        **{f"{name}_weights": each.table for name, each in models.items()},
        **{f"network_{n}": getattr(network, n).astype(kind) for n, (kind, _) in NETWORK.items()},
    }
    return archive_bytes(about, **arrays)


def model_places(features: Mapping[str, Sequence[str]]) -> dict[str, IntArray]:
    """Return the features of every model as arrays for the compiled loops."""
    return {name: feature_places(features[name], *read) for name, read in MODELS.items()}


def parse_analyser(data: bytes, file: str) -> Analyser:
    """Return the analyser from the bytes of an npz file; `file` is named in errors."""
    about, arrays = read_archive(data, "analyser", ANALYSER_VERSION, ARRAYS, file)
    tagger = parse_tagger(arrays["tagger"].tobytes(), file)
    try:
        labels, types, features = tuple(about["labels"]), tuple(about["sorts"]), about["features"]
        places, scales = model_places(features), arrays["scales"]
        if arrays["possible"].shape != (len(tagger.tags),) or len(scales) != len(MODELS):
            raise ValueError("possible or scales do not fit the tags and the models")
        models = {
            name: HashedModel(places[name], arrays[f"{name}_used"], arrays[f"{name}_weights"])
            for name in MODELS
        }
        roles, own = roles_of(labels), {name: models[name] for name in MENTION_MODELS}
        return Analyser(
            tagger,
            Parser(tagger.tags, labels, models["moves"], models["labels"], scales[:2]),
            MentionModel(types, arrays["possible"], roles, own, scales[2:]),
            arrays["groups"],
            about["lemmas"],
            about["feats"],
            features,
            about["threshold"],
            about["about"],
            _network(arrays, tuple(about["words"]), tagger.tags, labels, len(types)),
        )
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(f"is not an analyser of this version: {error}", file=file) from error


def _network(
    arrays: Mapping[str, NDArray[Any]], words: tuple[str, ...], tags: Sequence[str],
    labels: Sequence[str], types: int,
) -> MentionNetwork:  # fmt: skip
    """Return the network of a file; raise if its arrays do not fit each other."""
    own = {name: arrays[f"network_{name}"] for name in NETWORK}
    weights = {name: own[name].astype(np.float32) for name in ("dense", "bias", "out", "skip")}
    network = MentionNetwork(
        words, own["hypernyms"], Tagset.of(tags, labels), own["table"], own["steps"], **weights
    )
    network.check(types)
    return network
