"""Train the English analyser: tagger, parser, mentions and their types."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logsumexp, softmax

from partita.core import IntArray, Message
from partita.errors import InputError
from partita.text.analysis import MENTION_MODELS, Analyser, Trees, lemma_of, model_places
from partita.text.conllu import PlacedDocument
from partita.text.expressions import Mention, PlacedSentence, Word, head_of
from partita.text.mention_network import Inputs, MentionNetwork, Parsed, Tagset
from partita.text.mentions import COORDINATION, MentionModel, roles_of
from partita.text.messages import parse_message
from partita.text.parser import USED, Parser, coarse_tags
from partita.text.parser_kernels import HashedModel
from partita.text.raw_messages import RawMessage
from partita.text.tagger_models import PADDING, TAGS, Tagger, WordRows
from partita.text.tokens import Tokens, tokenize
from partita.text.words import CLASSES, shipped_words
from research.mention_training import NetworkSettings, blank_network, lessons, train_network
from research.tagger import TaggedSentence, TaggerSettings, train_tagger

if TYPE_CHECKING:
    from research.analyser_kernels import Learned

Progress = Callable[[str], None]
# A feature is hashed with its place in its table; the file of a model holds its tables.
FEATURES = json.loads(Path(__file__).with_name("features.json").read_text(encoding="utf-8"))
PLACES = model_places(FEATURES)


class TreeSentence(NamedTuple):
    """The words of a sentence with their tags (such as NN|NOUN), heads and labels."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]


def tree_sentences(document: PlacedDocument) -> list[TreeSentence]:
    """Return the trees of a document without empty nodes."""
    return [_tree_sentence(sentence.tree.words) for sentence in document.sentences]


def _tree_sentence(words: Sequence[Word]) -> TreeSentence:
    kept = [place for place, word in enumerate(words) if not word.empty]
    moved = {place: number for number, place in enumerate(kept)} | {-1: -1}
    return TreeSentence(
        tuple(words[place].form for place in kept),
        tuple(f"{words[place].xpos}|{words[place].upos}" for place in kept),
        tuple(moved.get(words[place].head, -1) for place in kept),
        tuple(words[place].relation for place in kept),
    )


def frequent_tags(sentences: Iterable[TreeSentence]) -> dict[str, str]:
    """Return the tag that stands for each: rare ones as the most frequent of the same kind."""
    counts = Counter(tag for sentence in sentences for tag in sentence.tags)
    ranked = sorted(counts, key=lambda tag: (-counts[tag], tag))
    kept = ranked[: TAGS - 1]
    return {tag: tag if tag in kept else _nearest(tag, kept) for tag in ranked}


def _nearest(tag: str, kept: Sequence[str]) -> str:
    xpos, _, upos = tag.partition("|")
    same = [k for k in kept if k.startswith(f"{xpos}|")] or [
        k for k in kept if k.endswith(f"|{upos}")
    ]
    return same[0] if same else kept[0]


@dataclass(frozen=True, slots=True)
class ParserSettings:
    """Settings of the parser's training, chosen on folds."""

    bits: int = 22  # the table of transitions has 2 ** bits places
    label_bits: int = 21
    passes: int = 4
    runs: int = 3  # with different orders; their weights are averaged
    least: int = 8  # times that a feature in use occurs
    rate: float = 0.1
    dropout: float = 0.2
    explored: float = 0.9  # share of steps that follow the parser and not the best right step
    upper: float = 0.3  # share of sentences also used in upper case
    lower: float = 0.15
    softened: tuple[float, float] = (0.5, 0.7)  # factors of the weights of transitions and labels


class ParserData(NamedTuple):
    """Sentences as arrays: rows and tags of words, ends of sentences, heads and labels."""

    words: IntArray
    rows: NDArray[np.uint32]
    tags: NDArray[np.uint8]
    ends: IntArray
    heads: IntArray
    labels: IntArray


def parser_data(
    sentences: Sequence[TreeSentence],
    tags: NDArray[np.uint8],
    labels: Sequence[str],
    forms: WordRows,
) -> ParserData:
    """Return sentences with predicted tags as arrays."""
    number = {label: n for n, label in enumerate(labels)}
    words, rows = forms.of(word for sentence in sentences for word in sentence.words)
    return ParserData(
        words, rows, tags, np.cumsum([len(s.words) for s in sentences], dtype=np.int64),
        np.array([head for s in sentences for head in s.heads], dtype=np.int64),
        np.array([number[label] for s in sentences for label in s.labels], dtype=np.int64),
    )  # fmt: skip


def train_parser(
    data: ParserData,
    tags: tuple[str, ...],
    labels: tuple[str, ...],
    seed: int,
    settings: ParserSettings | None = None,
    progress: Progress | None = None,
) -> Parser:
    """Train a parser; the same data and seed give the same bytes."""
    chosen = settings or ParserSettings()
    rng = np.random.default_rng(seed)
    moves = Learner(chosen.bits, PLACES["moves"])
    names = Learner(chosen.label_bits, PLACES["labels"])
    for run in range(chosen.runs):
        moves.forget()
        names.forget()
        for pass_ in range(-1 if run == 0 else 0, chosen.passes):  # the first one counts features
            said = _parser_pass(data, tags, len(labels), moves, names, pass_, chosen, rng)
            if pass_ >= chosen.passes // 2:
                moves.mean += moves.table
                names.mean += names.table
            if progress and pass_ >= 0:
                passes = f"pass {pass_ + 1} of {chosen.passes}"
                progress(f"parser, run {run + 1} of {chosen.runs}, {passes}: {said}")
    summed = chosen.runs * (chosen.passes - chosen.passes // 2)
    (by_move, move_step), (by_name, name_step) = (one.model(chosen.least) for one in (moves, names))
    steps = np.array([move_step, name_step]) / summed
    return Parser(tags, labels, by_move, by_name, steps * np.array(chosen.softened))


def _parser_pass(
    data: ParserData,
    tags: tuple[str, ...],
    labels: int,
    moves: Learner,
    names: Learner,
    number: int,
    settings: ParserSettings,
    rng: np.random.Generator,
) -> str:
    """Train on all sentences once (count their features if the number is negative)."""
    from research.analyser_kernels import Pace, parser_pass

    coarse, kinds = coarse_tags(tags)
    pace = Pace(
        settings.least if number >= 0 else -1,
        settings.rate,
        settings.dropout,
        settings.explored if number > 0 else 0.0,
    )
    words, heads, wrong = parser_pass(
        data.words, data.rows, data.tags, coarse, kinds, data.ends,
        rng.permutation(len(data.ends)), data.heads, data.labels, labels,
        moves.learned(), names.learned(), pace, int(rng.integers(1 << 62)),
    )  # fmt: skip
    return f"{heads / words:.2%} wrong heads, {wrong / words:.2%} wrong labels"


class Learner:
    """The weights of a model in training: their squared gradients, the sum over later passes, and
    how often features occur."""

    def __init__(self, bits: int, places: IntArray) -> None:
        self.places = places
        self.table = np.zeros((1 << bits) + PADDING, dtype=np.float32)
        self.squares = np.zeros_like(self.table)
        self.mean = np.zeros(len(self.table))
        self.times = np.zeros(1 << 27, dtype=np.uint8)

    def forget(self) -> None:
        """Set the weights to nothing; what was added to the sum stays."""
        self.table[:] = 0
        self.squares[:] = 0

    def learned(self) -> Learned:
        """Return the arrays for the compiled loops."""
        from research.analyser_kernels import Learned

        return Learned(self.places, self.table, self.squares, self.times)

    def model(self, least: int) -> tuple[HashedModel, float]:
        """Return the model of the features that occur at least so often, and the weight of 1."""
        frequent = (self.times >= least).reshape(USED * 8, -1).any(axis=1)
        table, step = quantise(self.mean)
        return HashedModel(self.places, np.packbits(frequent, bitorder="little"), table), step


def quantise(table: NDArray[np.float64]) -> tuple[NDArray[np.int8], float]:
    """Return weights as integers from -127 to 127, and the weight of 1."""
    most = float(np.abs(table).max())
    step = most / 127 if most else 1.0
    return np.rint(table / step).astype(np.int8), step


GROUPS = (255, 40)  # numbers of groups of words with similar vectors


def word_groups(documents: Sequence[PlacedDocument], seed: int) -> NDArray[np.uint8]:
    """Return the groups of the words of the table of words: two by k-means of their vectors, and
    two by the types of mentions with similar heads, the likeliest and the second."""
    vectors = shipped_words().vectors
    rng = np.random.default_rng(seed)
    return np.stack([*(_k_means(vectors, n, rng) for n in GROUPS), *_likely_types(documents)])


def _likely_types(documents: Sequence[PlacedDocument]) -> tuple[NDArray[np.uint8], ...]:
    """Return codes of the likeliest type with its certainty, and of the two likeliest types."""
    counts = _head_counts(documents)
    inputs, many = _word_inputs(), counts.shape[1]
    seen = counts.sum(axis=1) > 0
    # a word that is often a head counts more, but not in proportion
    weights = counts[seen] / np.sqrt(counts[seen].sum(axis=1, keepdims=True))
    matrix = _fit_softmax(inputs[seen], weights)
    chances = softmax(inputs @ matrix, axis=1)
    order = np.argsort(-chances, axis=1, kind="stable")
    first, second = order[:, 0], order[:, 1 if many > 1 else 0]
    most = chances[np.arange(len(first)), first]
    certain = (most > 0.5).astype(int) + (most > 0.75) + (most > 0.9)
    return (first * 4 + certain).astype(np.uint8), (first * many + second).astype(np.uint8)


def _head_counts(documents: Sequence[PlacedDocument]) -> NDArray[np.float64]:
    """Return how often each word of the table of words is the head of a mention of each type."""
    table, names = shipped_words(), inventory_types(documents)
    counts = np.zeros((len(table.words), max(len(names), 1)))
    for document in documents:
        for sentence in document.sentences:
            for mention in sentence.mentions:
                word = sentence.tree.words[head_of(mention, sentence.tree.words)]
                row = table.find(word.form)
                if word.upos != "PRON" and row >= 0:
                    counts[row, names.index(mention.type)] += 1
    return counts


def _word_inputs() -> NDArray[np.float64]:
    """Return the vector, the noun classes and a constant of each word of the table of words."""
    table = shipped_words()
    classes = np.where(table.senses >= 0, table.classes[table.senses], 0)
    flags = np.zeros((len(table.words), len(CLASSES)))
    for place in range(classes.shape[1]):
        flags[np.arange(len(flags)), classes[:, place]] += 1 / (1 + place)
    flags[:, 0] = 1
    return np.hstack([table.vectors * 3, flags])


def _fit_softmax(
    inputs: NDArray[np.float64], weights: NDArray[np.float64], penalty: float = 1.0
) -> NDArray[np.float64]:
    """Return the weights of a multinomial logistic regression."""
    shape = inputs.shape[1], weights.shape[1]

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        matrix = flat.reshape(shape)
        scores = inputs @ matrix
        total = logsumexp(scores, axis=1, keepdims=True)
        value = (weights * (total - scores)).sum() + penalty / 2 * (flat**2).sum()
        excess = np.exp(scores - total) * weights.sum(axis=1, keepdims=True) - weights
        return float(value), (inputs.T @ excess + penalty * matrix).ravel()

    found = minimize(loss, np.zeros(shape[0] * shape[1]), jac=True, options={"maxiter": 100})
    result: NDArray[np.float64] = found.x.reshape(shape)
    return result


def inventory_types(documents: Sequence[PlacedDocument]) -> list[str]:
    """Return the types of mentions, in order."""
    return sorted({m.type for d in documents for s in d.sentences for m in s.mentions})


def _k_means(
    vectors: NDArray[np.float32], count: int, rng: np.random.Generator, steps: int = 12
) -> NDArray[np.uint8]:
    """Return the number of the nearest of `count` means of unit vectors."""
    means = vectors[np.sort(rng.choice(len(vectors), count, replace=False))]
    nearest = np.zeros(len(vectors), dtype=np.int64)
    for _ in range(steps):
        nearest = np.argmax(vectors @ means.T, axis=1)
        sums = np.zeros((count, vectors.shape[1]))
        np.add.at(sums, nearest, vectors)
        means = (sums / np.sqrt((sums**2).sum(axis=1, keepdims=True) + 1e-9)).astype(np.float32)
    return nearest.astype(np.uint8)


class GoldMentions(NamedTuple):
    """The annotated mentions of a text by the word that is their head.

    `types` are numbers of types (0: no mention), `firsts` and `lasts` the ends of the shortest
    mention with this head, `both` marks heads that also have a coordination.
    """

    types: IntArray
    firsts: IntArray
    lasts: IntArray
    both: NDArray[np.bool_]


def gold_mentions(document: PlacedDocument, tokens: Tokens, types: Sequence[str]) -> GoldMentions:
    """Return the mentions of a document at the tokens of its text."""
    count = len(tokens)
    gold = GoldMentions(
        np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.bool_),
    )  # fmt: skip
    starts, ends = np.array(tokens.starts), np.array(tokens.ends)
    for sentence in document.sentences:
        for mention in sorted(sentence.mentions, key=lambda m: len(m.words), reverse=True):
            _add_gold(mention, sentence, starts, ends, gold, types)
    return gold


def _add_gold(
    mention: Mention,
    sentence: PlacedSentence,
    starts: IntArray,
    ends: IntArray,
    gold: GoldMentions,
    types: Sequence[str],
) -> None:
    """Note a mention at its head; a shorter one replaces a longer one."""
    inside, tree = mention.words, sentence.tree
    place = head_of(mention, tree.words)
    head = int(np.searchsorted(ends, sentence.spans[place][0], side="right"))
    if head >= len(starts) or starts[head] >= sentence.spans[place][1]:
        return
    if gold.types[head]:
        gold.both[head] = gold.both[head] or bool(gold.lasts[head] > head)
    gold.types[head] = types.index(mention.type) if mention.type in types else 0
    gold.firsts[head] = np.searchsorted(ends, sentence.spans[inside[0]][0], side="right")
    gold.lasts[head] = np.searchsorted(starts, sentence.spans[inside[-1]][1], side="left") - 1


@dataclass(frozen=True, slots=True)
class ReadText:
    """A document's tokens with tags and trees of a model that did not see it, and its mentions."""

    texts: list[str]
    ends: list[int]
    tags: NDArray[np.uint8]
    heads: IntArray
    relations: NDArray[np.uint8]
    gold: GoldMentions


@dataclass(frozen=True, slots=True)
class MentionSettings:
    """Settings of the training of the models of mentions, chosen on folds."""

    bits: int = 21
    passes: int = 4
    rate: float = 0.04
    dropout: float = 0.6
    least: float = 0.004  # share of words with a tag that are heads, for the tag to be tried
    least_times: int = 4  # of a feature in use


class Examples(NamedTuple):
    """Codes of features with the right classes."""

    codes: NDArray[np.uint32]
    right: IntArray


def mention_examples(
    texts: Sequence[ReadText], analyser: Analyser, possible: NDArray[np.bool_]
) -> dict[str, Examples]:
    """Return the examples of the models of mentions, from texts with predicted trees."""
    words, rows = analyser.forms.of(word for text in texts for word in text.texts)
    offsets = np.cumsum([0, *(len(text.texts) for text in texts)])
    shifted = list(zip(texts, offsets.tolist(), strict=False))
    trees = Trees(
        words,
        rows,
        np.concatenate([np.array(text.ends) + offset for text, offset in shifted]),
        np.concatenate([text.tags for text in texts]),
        np.concatenate([text.heads for text in texts]),
        np.concatenate([text.relations for text in texts]),
        [word for text in texts for word in text.texts],
    )
    gold = GoldMentions(
        np.concatenate([text.gold.types for text in texts]),
        np.concatenate([text.gold.firsts + offset for text, offset in shifted]),
        np.concatenate([text.gold.lasts + offset for text, offset in shifted]),
        np.concatenate([text.gold.both for text in texts]),
    )
    return _examples(trees, gold, possible, analyser.parser)


def _examples(
    trees: Trees, gold: GoldMentions, possible: NDArray[np.bool_], parser: Parser
) -> dict[str, Examples]:
    """Return the examples of heads, of dependents of heads, and of heads with conjuncts."""
    from partita.text.mention_kernels import CONJUNCT
    from research.analyser_kernels import codes_of_words

    roles, here = roles_of(parser.labels), np.arange(len(trees.words))

    def codes(name: str) -> NDArray[np.uint32]:
        return codes_of_words(
            trees.words, trees.rows, trees.tags, parser.coarse, trees.ends, trees.heads,
            trees.relations, roles, PLACES[name], name == "spans",
        )  # fmt: skip

    starts = np.concatenate([[0], trees.ends])[np.searchsorted(trees.ends, here, side="right")]
    above = np.where(trees.heads >= 0, trees.heads + starts, -1)
    tried = possible[trees.tags]
    held = (above >= 0) & (gold.types[above] > 0)
    inside = (gold.firsts[above] <= here) & (here <= gold.lasts[above])
    joined = held & (roles[trees.relations] == CONJUNCT)
    coordinated = np.zeros(len(here), dtype=np.bool_)
    coordinated[above[joined]] = True
    coordinated[above[joined & inside]] = False
    return {
        "sorts": Examples(codes("sorts")[tried], gold.types[tried]),
        "spans": Examples(codes("spans")[held], inside[held].astype(np.int64)),
        "both": Examples(codes("both")[coordinated], gold.both[coordinated].astype(np.int64)),
    }


def possible_heads(
    texts: Sequence[ReadText], tags: Sequence[str], least: float
) -> NDArray[np.bool_]:
    """Return of each tag whether its words are heads of mentions often enough."""
    all_tags = np.concatenate([text.tags for text in texts])
    heads = np.concatenate([text.gold.types > 0 for text in texts])
    total = np.bincount(all_tags, minlength=len(tags))
    return np.bincount(all_tags[heads], minlength=len(tags)) > least * np.maximum(total, 1)


def train_model(
    examples: Examples, places: IntArray, classes: int, seed: int, settings: MentionSettings
) -> tuple[HashedModel, float]:
    """Return a model of examples, and the weight of 1."""
    from research.analyser_kernels import Pace, count_all, examples_pass

    rng = np.random.default_rng(seed)
    learner = Learner(settings.bits, places)
    pace = Pace(settings.least_times, settings.rate, settings.dropout, 0.0)
    count_all(examples.codes, learner.times)
    for pass_ in range(settings.passes):
        examples_pass(
            examples.codes, examples.right, rng.permutation(len(examples.right)),
            learner.learned(), classes, pace, int(rng.integers(1 << 62)),
        )  # fmt: skip
        if pass_ >= settings.passes // 2:
            learner.mean += learner.table
    learner.mean /= settings.passes - settings.passes // 2
    return learner.model(settings.least_times)


def train_mentions(
    examples: Mapping[str, Examples],
    types: tuple[str, ...],
    possible: NDArray[np.bool_],
    labels: Sequence[str],
    seed: int,
    settings: MentionSettings,
) -> MentionModel:
    """Train the models of mentions."""
    models, steps = {}, []
    for name in MENTION_MODELS:
        classes = len(types) if name == "sorts" else 2
        models[name], step = train_model(examples[name], PLACES[name], classes, seed, settings)
        steps.append(step)
    return MentionModel(types, possible, roles_of(labels), models, np.array(steps))


@dataclass(frozen=True, slots=True)
class AnalyserSettings:
    """Settings of the whole training."""

    tagger: TaggerSettings = field(default_factory=lambda: TaggerSettings(runs=3))
    fold_tagger: TaggerSettings = field(default_factory=lambda: TaggerSettings(runs=1))
    parser: ParserSettings = field(default_factory=ParserSettings)
    fold_parser: ParserSettings = field(default_factory=lambda: ParserSettings(runs=1, passes=3))
    mentions: MentionSettings = field(default_factory=MentionSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
    upper: float = 0.3  # share of documents from which mentions are also learned in upper case
    lower: float = 0.15


class Inventory(NamedTuple):
    """The tags, labels and types of the training data; `standing` is the tag for each."""

    tags: tuple[str, ...]
    labels: tuple[str, ...]
    types: tuple[str, ...]
    standing: Mapping[str, str]


def inventory(documents: Sequence[PlacedDocument]) -> Inventory:
    """Return the tags, labels and types of documents."""
    sentences = [s for document in documents for s in tree_sentences(document)]
    standing = frequent_tags(sentences)
    return Inventory(
        tuple(sorted(set(standing.values()))),
        tuple(sorted({label for sentence in sentences for label in sentence.labels})),
        ("", *inventory_types(documents)),
        standing,
    )


def _tagged(sentences: Iterable[TreeSentence], names: Inventory) -> list[TaggedSentence]:
    return [TaggedSentence(s.words, tuple(names.standing[t] for t in s.tags)) for s in sentences]


def _fit_tagger(
    sentences: Sequence[TreeSentence],
    names: Inventory,
    seed: int,
    settings: TaggerSettings,
    progress: Progress | None,
) -> Tagger:
    """Train a tagger whose tags are those of the inventory, in its order."""
    tagger = train_tagger(_tagged(sentences, names), seed, settings, progress=progress)
    if tagger.tags != names.tags:
        raise InputError("a fold lacks some tags (expected more training data or fewer folds)")
    return tagger


def _recased(
    sentences: Sequence[TreeSentence], upper: float, lower: float, seed: int
) -> list[TreeSentence]:
    """Return the sentences, and copies of shares of them in upper and in lower case."""
    drawn = np.random.default_rng(seed).random(len(sentences))
    copies = list(sentences)
    for sentence, chance in zip(sentences, drawn.tolist(), strict=True):
        if chance < upper:
            copies.append(sentence._replace(words=tuple(map(str.upper, sentence.words))))
        elif chance < upper + lower:
            copies.append(sentence._replace(words=tuple(map(str.lower, sentence.words))))
    return copies


def _tags_of(tagger: Tagger, sentences: Sequence[TreeSentence]) -> NDArray[np.uint8]:
    ends = np.cumsum([len(sentence.words) for sentence in sentences])
    return tagger.tag([word for sentence in sentences for word in sentence.words], ends)


@dataclass(frozen=True, slots=True)
class FoldModels:
    """Documents by fold, their sentences with tags by a model that did not see them, and the
    analyser of each fold, which did not see its documents."""

    folds: tuple[tuple[PlacedDocument, ...], ...]
    sentences: tuple[list[TreeSentence], ...]
    tags: tuple[NDArray[np.uint8], ...]
    analysers: tuple[Analyser, ...]


def fold_models(
    documents: Sequence[PlacedDocument],
    names: Inventory,
    count: int,
    seed: int,
    settings: AnalyserSettings,
    progress: Progress | None = None,
) -> FoldModels:
    """Train taggers and parsers, each without one fold of the documents."""
    folds = tuple(tuple(documents[fold::count]) for fold in range(count))
    parser = settings.parser
    sentences = tuple(
        _recased([s for d in fold for s in tree_sentences(d)], parser.upper, parser.lower, seed)
        for fold in folds
    )
    taggers = [
        _fit_tagger(
            [
                s
                for n, part in enumerate(folds)
                if n != fold
                for d in part
                for s in tree_sentences(d)
            ],
            names, seed, settings.fold_tagger, None,
        )
        for fold in range(count)
    ]  # fmt: skip
    if progress:
        progress("trained the taggers of the folds")
    tags = tuple(map(_tags_of, taggers, sentences))
    lemmas, feats = lemmas_of(documents), feats_of(documents)
    analysers = []
    for fold, tagger in enumerate(taggers):
        others = [n for n in range(count) if n != fold]
        groups = word_groups([d for n in others for d in folds[n]], seed)
        analyser = Analyser(tagger, _no_parser(names), None, groups, lemmas, feats, FEATURES)
        data = parser_data(
            [s for n in others for s in sentences[n]],
            np.concatenate([tags[n] for n in others]), names.labels, analyser.forms,
        )  # fmt: skip
        trained = train_parser(data, names.tags, names.labels, seed, settings.fold_parser, progress)
        analysers.append(replace(analyser, parser=trained))
    return FoldModels(folds, sentences, tags, tuple(analysers))


def _no_parser(names: Inventory) -> Parser:
    table, used = np.zeros(1 + PADDING, dtype=np.int8), np.zeros(USED, dtype=np.uint8)
    moves, labels = (HashedModel(PLACES[name], used, table) for name in ("moves", "labels"))
    return Parser(names.tags, names.labels, moves, labels, np.ones(2))


def read_text(
    document: PlacedDocument, analyser: Analyser, names: Inventory, case: Callable[[str], str] = str
) -> ReadText:
    """Return the tokens of a document's text with predicted tags and trees, and its mentions."""
    tokens = document_tokens(document)
    texts = [case(text) for text in tokens.texts]
    trees = analyser.trees(texts, tokens.ends_of_sentences)
    gold = gold_mentions(document, tokens, names.types)
    return ReadText(texts, tokens.ends_of_sentences, trees.tags, trees.heads, trees.relations, gold)


def document_message(document: PlacedDocument) -> Message:
    """Return the text of a document as a message."""
    return parse_message(RawMessage(document.name, document.text, document.name))


def document_tokens(document: PlacedDocument) -> Tokens:
    """Return the tokens of a document's text."""
    return tokenize(document_message(document))


def fold_texts(
    models: FoldModels, names: Inventory, seed: int, settings: AnalyserSettings
) -> list[list[ReadText]]:
    """Return the texts of each fold that have mentions, read by the analyser that did not see
    them; shares of them also in upper and in lower case."""
    rng = np.random.default_rng(seed)
    result = []
    for fold, analyser in zip(models.folds, models.analysers, strict=True):
        annotated = [document for document in fold if document.has_mentions]
        texts = [read_text(document, analyser, names) for document in annotated]
        for document, chance in zip(annotated, rng.random(len(annotated)).tolist(), strict=True):
            if chance < settings.upper:
                texts.append(read_text(document, analyser, names, str.upper))
            elif chance < settings.upper + settings.lower:
                texts.append(read_text(document, analyser, names, str.lower))
        result.append(texts)
    return result


def with_fold_mentions(
    models: FoldModels,
    names: Inventory,
    seed: int,
    settings: AnalyserSettings,
    progress: Progress | None = None,
) -> tuple[FoldModels, NDArray[np.float64], MentionNetwork]:
    """Return the models with mentions, learned from the other folds, how much the scores of each
    table must be scaled for calibrated probabilities, and the network learned from all folds."""
    texts = fold_texts(models, names, seed, settings)
    analysers, held_out = [], []
    for fold, analyser in enumerate(models.analysers):
        others = [text for n, part in enumerate(texts) if n != fold for text in part]
        possible = possible_heads(others, names.tags, settings.mentions.least)
        examples = mention_examples(others, analyser, possible)
        model = train_mentions(
            examples, names.types, possible, names.labels, seed, settings.mentions
        )
        held_out.append(_held_out(mention_examples(texts[fold], analyser, possible), model))
        analysers.append(replace(analyser, mentions=model))
        if progress:
            progress(f"mentions of fold {fold + 1}")
    factors = np.array([_temperature(parts) for parts in zip(*held_out, strict=True)])
    scaled = [_rescaled(analyser, factors) for analyser in analysers]
    networks = _networks(scaled, texts, names, seed, settings.network)
    analysers = [
        replace(analyser, network=network)
        for analyser, network in zip(scaled, networks, strict=False)
    ]
    return replace(models, analysers=tuple(analysers)), factors, networks[-1]


def _networks(
    analysers: Sequence[Analyser],
    texts: Sequence[Sequence[ReadText]],
    names: Inventory,
    seed: int,
    settings: NetworkSettings,
) -> list[MentionNetwork]:
    """Return the network of each fold, learned from the others, and one learned from all."""
    words = (text.texts for part in texts for text in part)
    tagset = Tagset.of(names.tags, names.labels)
    blank = blank_network(words, tagset, len(names.types), settings)
    folds = [
        [_judged(text, analyser, blank) for text in part]
        for part, analyser in zip(texts, analysers, strict=True)
    ]
    networks, held_out = [], []
    for fold, part in enumerate(folds):
        others = [one for n, other in enumerate(folds) if n != fold for one in other]
        networks.append(train_network(blank, lessons(others), seed, settings))
        held_out += [(networks[-1].scores(one).astype(np.float64), right) for one, right in part]
    networks.append(
        train_network(blank, lessons([one for part in folds for one in part]), seed, settings)
    )
    factor = _temperature(held_out)
    return [one.scaled(factor) for one in networks]


def _judged(text: ReadText, analyser: Analyser, network: MentionNetwork) -> tuple[Inputs, IntArray]:
    """Return what a network sees of the candidates in a text, and the right classes."""
    words, rows = analyser.forms.of(text.texts)
    ends = np.array(text.ends)
    trees = Trees(words, rows, ends, text.tags, text.heads, text.relations, text.texts)
    found = analyser.candidates(trees)
    found = found.at(np.flatnonzero(found.places[:, 3] != COORDINATION))
    parsed = Parsed(text.texts, text.tags, text.relations)
    return network.inputs(found, parsed), text.gold.types[found.places[:, 0]]


def _rescaled(analyser: Analyser, factors: NDArray[np.float64]) -> Analyser:
    assert analyser.mentions is not None
    model = analyser.mentions
    return replace(analyser, mentions=replace(model, scales=model.scales * factors))


def _held_out(
    examples: Mapping[str, Examples], model: MentionModel
) -> list[tuple[NDArray[np.float64], IntArray]]:
    """Return the scores and the right classes of examples that a model did not see."""
    from research.analyser_kernels import scores_of

    return [
        (
            scores_of(
                examples[name].codes, model.models[name], len(model.types) if name == "sorts" else 2
            )
            * scale,
            examples[name].right,
        )
        for name, scale in zip(MENTION_MODELS, model.scales.tolist(), strict=True)
    ]


def _temperature(parts: Sequence[tuple[NDArray[np.float64], IntArray]]) -> float:
    """Return the factor of the scores under which the right classes are most probable."""
    scores = np.concatenate([part[0] for part in parts])
    right = np.concatenate([part[1] for part in parts])
    if not len(right):
        return 1.0

    def loss(log_factor: float) -> float:
        scaled = scores * np.exp(log_factor)
        return float(np.mean(logsumexp(scaled, axis=1) - scaled[np.arange(len(right)), right]))

    return float(np.exp(minimize_scalar(loss, bounds=(-3, 2), method="bounded").x))


def train_analyser(
    documents: Sequence[PlacedDocument],
    seed: int,
    settings: AnalyserSettings | None = None,
    *,
    folds: int = 5,
    progress: Progress | None = None,
) -> Analyser:
    """Train an analyser; the same documents and seed give the same bytes.

    Mentions are learned from the documents that have them, with tags and trees of models that did
    not see these documents.
    """
    return train_with_folds(documents, seed, settings, folds=folds, progress=progress)[0]


def train_with_folds(
    documents: Sequence[PlacedDocument],
    seed: int,
    settings: AnalyserSettings | None = None,
    *,
    folds: int = 5,
    progress: Progress | None = None,
) -> tuple[Analyser, FoldModels]:
    """Train an analyser; return it with the models of the folds, for `out_of_fold`."""
    chosen = settings or AnalyserSettings()
    names = inventory(documents)
    models = fold_models(documents, names, folds, seed, chosen, progress)
    models, factors, network = with_fold_mentions(models, names, seed, chosen, progress)
    analyser = final_analyser(models, factors, names, seed, chosen, progress)
    return replace(analyser, network=network), models


def final_analyser(
    models: FoldModels,
    factors: NDArray[np.float64],
    names: Inventory,
    seed: int,
    settings: AnalyserSettings,
    progress: Progress | None = None,
) -> Analyser:
    """Train the models on all documents, as the models of the folds were trained."""
    every = [s for fold in models.folds for d in fold for s in tree_sentences(d)]
    tagger = _fit_tagger(every, names, seed, settings.tagger, progress)
    groups = word_groups([d for fold in models.folds for d in fold], seed)
    analyser = replace(
        models.analysers[0], tagger=tagger, mentions=None, network=None, groups=groups
    )
    data = parser_data(
        [s for part in models.sentences for s in part],
        np.concatenate(models.tags),
        names.labels,
        analyser.forms,
    )
    analyser = replace(
        analyser,
        parser=train_parser(data, names.tags, names.labels, seed, settings.parser, progress),
    )
    texts = [text for part in fold_texts(models, names, seed, settings) for text in part]
    possible = possible_heads(texts, names.tags, settings.mentions.least)
    examples = mention_examples(texts, analyser, possible)
    model = train_mentions(examples, names.types, possible, names.labels, seed, settings.mentions)
    return _rescaled(replace(analyser, mentions=model), factors)


def out_of_fold(
    models: FoldModels,
) -> Iterator[tuple[PlacedDocument, tuple[PlacedSentence, ...]]]:
    """Yield every document that has mentions, with the analysis of its text by a model that did
    not see it."""
    for fold, analyser in zip(models.folds, models.analysers, strict=True):
        for document in fold:
            if document.has_mentions:
                yield document, analyser.analyse(document_message(document))


READ_FEATURES = ("Gender", "Number", "Person", "Poss", "PronType", "Reflex")


def lemmas_of(documents: Iterable[PlacedDocument]) -> dict[str, str]:
    """Return the commonest lemma of words by their tag, where the rules give another one."""
    counts: dict[str, Counter[str]] = {}
    for word in _all_words(documents):
        if word.upos != "PROPN":
            lemma = word.form.lower() if word.lemma == "_" else word.lemma
            counts.setdefault(f"{word.form.lower()} {word.xpos} {word.upos}", Counter())[lemma] += 1
    found = {}
    for key in sorted(counts):
        form, xpos, upos = key.rsplit(" ", 2)
        best = min(counts[key].items(), key=lambda item: (-item[1], item[0]))[0]
        if best != lemma_of(form, xpos, upos, {}):
            found[f"{form} {xpos}"] = best
    return found


def feats_of(documents: Iterable[PlacedDocument]) -> dict[str, str]:
    """Return the commonest features of pronouns and determiners by their tag."""
    counts: dict[str, Counter[str]] = {}
    for word in _all_words(documents):
        if word.upos in ("PRON", "DET"):
            kept = [f for f in word.feats.split("|") if f.partition("=")[0] in READ_FEATURES]
            counts.setdefault(f"{word.form.lower()} {word.xpos}", Counter())["|".join(kept)] += 1
    best = {
        key: min(counts[key].items(), key=lambda item: (-item[1], item[0]))[0]
        for key in sorted(counts)
    }
    return {key: value for key, value in best.items() if value}


def _all_words(documents: Iterable[PlacedDocument]) -> Iterator[Word]:
    for document in documents:
        for sentence in document.sentences:
            yield from (word for word in sentence.tree.words if not word.empty)
