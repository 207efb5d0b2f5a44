"""Measure an analyser on annotated documents, from their text alone."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from partita.evaluation.calibration import StatedProbabilities, reliability, reliability_error
from partita.text.analysis import Analyser
from partita.text.conllu import PlacedDocument
from partita.text.expressions import Mention, PlacedSentence, Span, head_of
from partita.text.messages import parse_message
from partita.text.raw_messages import RawMessage


@dataclass(frozen=True, slots=True)
class AnalysisFigures:
    """Shares from 0 to 1; heads and labels are over the words that were found, on raw text."""

    words: int
    token_f1: float
    sentence_f1: float
    tag_accuracy: float
    head_accuracy: float
    label_accuracy: float
    mention_head_precision: float
    mention_head_recall: float
    mention_head_f1: float
    mention_span_f1: float
    type_accuracy: float
    mention_reliability_error: float
    type_reliability_error: float
    words_per_second: float


@dataclass(slots=True)
class Tally:
    """Counts over documents."""

    counts: Counter[str]
    mentions: list[tuple[float, bool]]
    types: list[tuple[float, bool]]

    def f1(self, name: str) -> float:
        total = self.counts[f"gold {name}"] + self.counts[f"found {name}"]
        return 2 * self.counts[f"both {name}"] / max(total, 1)

    def share(self, part: str, whole: str) -> float:
        return self.counts[part] / max(self.counts[whole], 1)


def measure_analysis(
    analyser: Analyser, documents: Iterable[PlacedDocument], case: Callable[[str], str] = str
) -> AnalysisFigures:
    """Compare the analysis of the documents' text with their annotation."""
    tally, seconds = Tally(Counter(), [], []), 0.0
    for document in documents:
        text = recased(document.text, case)
        message = parse_message(RawMessage(document.name, text, document.name))
        start = time.process_time()
        sentences = analyser.analyse(message)
        seconds += time.process_time() - start
        _compare_words(document.sentences, sentences, tally)
        _compare_mentions(document.sentences, sentences, tally)
    return _figures(tally, seconds)


def _figures(tally: Tally, seconds: float) -> AnalysisFigures:
    return AnalysisFigures(
        tally.counts["gold words"],
        tally.f1("words"),
        tally.f1("sentences"),
        tally.share("right tags", "both words"),
        tally.share("right heads", "both words"),
        tally.share("right labels", "both words"),
        tally.share("both heads", "found heads"),
        tally.share("both heads", "gold heads"),
        tally.f1("heads"),
        tally.f1("spans"),
        tally.share("right types", "matched types"),
        _error(tally.mentions),
        _error(tally.types),
        tally.counts["found words"] / max(seconds, 1e-9),
    )


Parsed = dict[Span, tuple[str, Span, str]]


def _compare_words(
    gold: Sequence[PlacedSentence], found: Sequence[PlacedSentence], tally: Tally
) -> None:
    right, assigned = _parsed(gold), _parsed(found)
    _count(tally, "words", list(right), list(assigned))
    _count(tally, "sentences", _last_words(gold), _last_words(found))
    for span in right.keys() & assigned.keys():
        one, other = right[span], assigned[span]
        tally.counts["right tags"] += one[0] == other[0]
        tally.counts["right heads"] += one[1] == other[1]
        tally.counts["right labels"] += one[1:] == other[1:]


def _parsed(sentences: Sequence[PlacedSentence]) -> Parsed:
    """Return the tag, the head's span and the label of each word by its span."""
    return {
        span: (word.upos, sentence.spans[word.head] if word.head >= 0 else (-1, -1), word.relation)
        for sentence in sentences
        for span, word in zip(sentence.spans, sentence.tree.words, strict=True)
        if not word.empty
    }


def _last_words(sentences: Sequence[PlacedSentence]) -> list[int]:
    return [sentence.spans[-1][1] for sentence in sentences if sentence.spans]


def _count(tally: Tally, name: str, gold: Iterable[object], found: Iterable[object]) -> None:
    right, assigned = Counter(gold), Counter(found)
    tally.counts[f"gold {name}"] += right.total()
    tally.counts[f"found {name}"] += assigned.total()
    tally.counts[f"both {name}"] += (right & assigned).total()


def _compare_mentions(
    gold: Sequence[PlacedSentence], found: Sequence[PlacedSentence], tally: Tally
) -> None:
    right, assigned = list(_mentions(gold)), list(_mentions(found))
    _count(tally, "heads", (head for head, _, _ in right), (head for head, _, _ in assigned))
    _count(tally, "spans", (span for _, span, _ in right), (span for _, span, _ in assigned))
    by_head: dict[Span, list[tuple[Span, str]]] = {}
    for head, span, mention in right:
        by_head.setdefault(head, []).append((span, mention.type))
    for head, span, mention in assigned:
        tally.mentions.append((mention.probability or 0.0, head in by_head))
        if head in by_head:
            types = dict(by_head[head])
            _compare_types(mention, types.get(span, by_head[head][0][1]), tally)


def _compare_types(mention: Mention, entity_type: str, tally: Tally) -> None:
    tally.counts["matched types"] += 1
    tally.counts["right types"] += mention.type == entity_type
    for name, chance in (mention.types or {}).items():
        tally.types.append((chance, name == entity_type))


def _mentions(sentences: Sequence[PlacedSentence]) -> Iterator[tuple[Span, Span, Mention]]:
    """Yield the spans of the head and of the whole of each mention."""
    for sentence in sentences:
        for mention in sentence.mentions:
            inside, head = mention.words, head_of(mention, sentence.tree.words)
            whole = sentence.spans[inside[0]][0], sentence.spans[inside[-1]][1]
            yield sentence.spans[head], whole, mention


def _error(said: Sequence[tuple[float, bool]]) -> float:
    """Return the reliability error in ten classes of equal width: most mentions are certain."""
    all_of_them = StatedProbabilities.of(said)
    bins = reliability(all_of_them.stated, all_of_them.observed, equal_width=True)
    return reliability_error(bins)


def recased(text: str, case: Callable[[str], str]) -> str:
    """Return a text in another case; letters that would become several stay as they are."""
    changed = case(text)
    if len(changed) == len(text):
        return changed
    return "".join(case(letter) if len(case(letter)) == 1 else letter for letter in text)
