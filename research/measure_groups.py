"""Score the noun and verb groups that a domain's rules find against the trees of CoNLL-U files.

    python -m research.measure_groups FILES... [--domain depots]

The words are those of the files, the tags those of the shipped tagger. A group is
right if its first and its last word are.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Protocol

from partita.core import Region
from partita.errors import InputError
from partita.evaluation.scores import ScoreTally
from partita.rules.cascade import Cascade
from partita.rules.domain import RuleSet
from partita.rules.domain_files import read_domain
from partita.rules.phrases import Phrase
from partita.text.conllu import sentences
from partita.text.expressions import Word
from partita.text.tagger_models import shipped_tagger

PHASE = "groups"
NOTHING = ScoreTally()
NOMINAL = frozenset({"NN", "NNS", "NNP", "NNPS", "PRP", "WP", "WDT", "EX", "FW"})

Tags = Callable[[Sequence[str], Sequence[int]], Sequence[str]]  # of words, by ends of sentences


@dataclass(frozen=True, slots=True)
class GroupScores:
    """Equal spans of noun groups and of verb groups."""

    noun: ScoreTally = NOTHING
    verb: ScoreTally = NOTHING

    def __add__(self, other: GroupScores) -> GroupScores:
        return GroupScores(self.noun + other.noun, self.verb + other.verb)


@dataclass(frozen=True, slots=True)
class Given:
    """Words as the cascade takes them, with a space behind each, in one region."""

    texts: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    region: Sequence[int]
    ends_of_sentences: Sequence[int]

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]]) -> Given:
        texts = [word for words in sentences for word in words]
        after = list(accumulate(len(text) + 1 for text in texts))
        starts = [end - len(text) - 1 for text, end in zip(texts, after, strict=True)]
        bounds = list(accumulate(map(len, sentences)))
        return cls(texts, starts, [end - 1 for end in after], [0] * len(texts), bounds)


def grouping(domain: RuleSet) -> Cascade:
    """The phases of a domain up to the one that makes groups."""
    names = [phase.name for phase in domain.phases]
    if PHASE not in names:
        raise InputError(f"domain {domain.name!r} has no phase {PHASE!r}")
    return Cascade(replace(domain, phases=domain.phases[: names.index(PHASE) + 1]))


def group_scores(
    documents: Iterable[Sequence[Sequence[Node]]], cascade: Cascade, tags: Tags
) -> GroupScores:
    """Of documents, each a list of sentences, each a list of the words of a tree."""
    return sum((_document(one, cascade, tags) for one in documents), GroupScores())


def _document(sentences: Sequence[Sequence[Node]], cascade: Cascade, tags: Tags) -> GroupScores:
    given = Given.of([[word.form for word in words] for words in sentences])
    tagged = tags(given.texts, given.ends_of_sentences)
    end = given.ends[-1] if given.ends else 0
    analysis = cascade.run(given, tagged, [Region("text", 0, end)])
    nouns = list(_nouns(analysis.phrases, tagged))
    verbs = [_span(phrase) for phrase in analysis.phrases if phrase.kind == "vg"]
    bounds = pairwise([0, *given.ends_of_sentences])
    trees = list(zip(bounds, sentences, strict=True))
    return GroupScores(
        score(_moved(trees, noun_groups), nouns), score(_moved(trees, verb_groups), verbs)
    )


def _moved(
    trees: Iterable[tuple[Span, Sequence[Node]]], groups: Callable[[Sequence[Node]], list[Span]]
) -> list[Span]:
    """The groups of sentences at their places in the document."""
    return [
        (start + first, end + first) for (first, _), words in trees for start, end in groups(words)
    ]


def _nouns(phrases: Iterable[Phrase], tags: Sequence[str]) -> Iterator[Span]:
    """Noun groups; dates and measures count as such where they hold a noun."""
    for phrase in phrases:
        if phrase.kind in ("bearing", "location"):
            yield from _nouns(phrase.parts, tags)
        elif phrase.kind == "ng" or (
            phrase.kind in ("date", "measure")
            and NOMINAL.intersection(tags[phrase.first : phrase.last + 1])
        ):
            yield _span(phrase)


def _span(phrase: Phrase) -> Span:
    return phrase.first, phrase.last + 1


def tree_files(paths: Iterable[str | Path]) -> list[Path]:
    """CoNLL-U files, and those of folders, in order."""
    files: list[Path] = []
    for path in map(Path, paths):
        files += sorted(path.rglob("*.conllu")) if path.is_dir() else [path]
    if not files:
        raise InputError("no CoNLL-U files (*.conllu) here")
    return files


def trees(path: Path) -> list[list[Word]]:
    """The sentences of a file, without what is not in the text."""
    return [_tree(sentence.words) for sentence in sentences(path)]


def measure_groups(domain: RuleSet, paths: Iterable[str | Path], tags: Tags) -> GroupScores:
    """The scores of the groups that the domain's rules find, on the files' own words.

    `tags` gives the tags of words: the method `names` of a tagger.
    """
    documents: Iterator[list[list[Word]]] = map(trees, tree_files(paths))
    return group_scores(documents, grouping(domain), tags)


def _tree(words: tuple[Word, ...]) -> list[Word]:
    """The words with empty nodes taken out, heads counted anew."""
    kept = [n for n, word in enumerate(words) if not word.empty]
    place = {n: at for at, n in enumerate(kept)}
    return [words[n]._replace(head=place.get(words[n].head, -1)) for n in kept]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("files", nargs="+", type=Path, help="CoNLL-U files, or folders of these")
    parser.add_argument("--domain", default="depots", help="whose rules to use [default: depots]")
    given = parser.parse_args()
    scores = measure_groups(read_domain(given.domain), given.files, shipped_tagger().names)
    for name, tally in (("noun groups", scores.noun), ("verb groups", scores.verb)):
        print(
            f"{name}: recall {tally.recall:.3f}, precision {tally.precision:.3f}, F {tally.f:.3f}"
        )


if __name__ == "__main__":
    main()


Span = tuple[int, int]

NOMINAL_WORDS = ("NOUN", "PROPN", "PRON")
INSIDE = ("det", "amod", "compound", "nummod", "flat")
MONTH = re.compile(
    r"january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?",
    re.IGNORECASE,
)


class Node(Protocol):
    """A word of a tree; `head` is a position among the words, −1 above the root."""

    @property
    def form(self) -> str: ...
    @property
    def upos(self) -> str: ...
    @property
    def head(self) -> int: ...
    @property
    def relation(self) -> str: ...


def score(wanted: Iterable[Span], found: Iterable[Span]) -> ScoreTally:
    """Groups found against those wanted, by equal spans."""
    wanted, found = set(wanted), set(found)
    right = len(wanted & found)
    return ScoreTally(right, len(wanted), right, len(found))


def noun_groups(words: Sequence[Node]) -> list[Span]:
    """The noun groups of a sentence, in order, as (first, after the last)."""
    firsts, lasts = _edges(words)
    spans: list[tuple[int, Span]] = []
    for place in range(len(words)):
        if _heads(words, place):
            spans.append((place, _group(words, place, firsts, lasts)))
    kept = [span for head, span in spans if not _covered(head, span, spans)]
    return _apart(_with_dates(words, kept))


def _apart(spans: Iterable[Span]) -> list[Span]:
    """Where branches of a tree cross, the group that begins first."""
    apart: list[Span] = []
    for span in sorted(set(spans)):
        if not apart or span[0] >= apart[-1][1]:
            apart.append(span)
    return apart


def _heads(words: Sequence[Node], place: int) -> bool:
    word = words[place]
    kind = word.relation.partition(":")[0]
    if word.upos == "DET":
        return kind not in ("det", "reparandum", "advmod", "fixed")
    return word.upos in NOMINAL_WORDS and not _possessive(words, place)


def _possessive(words: Sequence[Node], place: int) -> bool:
    """A pronoun like "his", which has no clitic."""
    word = words[place]
    clitic = any(w.head == place and w.relation == "case" for w in words[place + 1 : place + 2])
    return word.relation == "nmod:poss" and word.upos in ("PRON", "DET") and not clitic


def _edges(words: Sequence[Node]) -> tuple[list[int], list[int]]:
    """The first and the last word of each word's subtree, leaving out what cannot begin one."""
    firsts, lasts = list(range(len(words))), list(range(len(words)))
    for place, word in enumerate(words):
        left = word.upos not in ("PUNCT", "CCONJ", "ADP", "INTJ")
        above = word.head
        for _ in words:  # a tree is no deeper than it has words
            if above < 0:
                break
            if left:
                firsts[above] = min(firsts[above], place)
            lasts[above] = max(lasts[above], place)
            above = words[above].head
    return firsts, lasts


def _group(words: Sequence[Node], head: int, firsts: Sequence[int], lasts: Sequence[int]) -> Span:
    start, end = head, head + 1
    for place, word in enumerate(words):
        if word.head != head:
            continue
        if place < head and _begins(words, place):
            start = min(start, firsts[place])
        elif place >= end and _named(word) and _joined(words, end, place):
            end = max(end, lasts[place] + 1)
    clitics = [n for n in range(start, head) if _clitic(words, n)]
    return (clitics[-1] + 1 if clitics else start), end


def _begins(words: Sequence[Node], place: int) -> bool:
    relation = words[place].relation
    inside = relation.partition(":")[0] in INSIDE or relation == "nmod:desc"
    return inside or _possessive(words, place)


def _named(word: Node) -> bool:
    return word.relation.partition(":")[0] in ("flat", "compound") and word.upos != "ADP"


def _joined(words: Sequence[Node], end: int, place: int) -> bool:
    """Nothing stands between but what belongs to the same name, or a hyphen."""
    return all(words[n].upos == "PUNCT" or words[n].head >= end - 1 for n in range(end, place))


def _clitic(words: Sequence[Node], place: int) -> bool:
    word = words[place]
    return word.upos == "PART" and word.relation == "case" and word.head < place


def _covered(head: int, span: Span, spans: Iterable[tuple[int, Span]]) -> bool:
    """Whether another group holds this head; of two equal ones the first stays."""
    for other, (first, end) in spans:
        same = (first, end) == span
        if other != head and first <= head < end and (not same or other < head):
            return True
    return False


def _with_dates(words: Sequence[Node], spans: Iterable[Span]) -> list[Span]:
    """Groups of a month with the numerals beside it that the tree joins to it."""
    grown = []
    for start, end in spans:
        if MONTH.fullmatch(words[end - 1].form) or MONTH.fullmatch(words[start].form):
            start, end = _dated(words, start, end)
        grown.append((start, end))
    return [
        span
        for span in grown
        if not any(o != span and o[0] <= span[0] and span[1] <= o[1] for o in grown)
    ]


def _dated(words: Sequence[Node], start: int, end: int) -> Span:
    if start and words[start - 1].upos in ("NUM", "ADJ") and _tied(words, start - 1, start, end):
        start -= 1
    while end < len(words):
        comma = words[end].form == ","
        place = end + comma
        if place >= len(words) or words[place].upos not in ("NUM", "ADJ"):
            break
        if not words[place].form[:1].isdigit() or not _tied(words, place, start, end):
            break
        end = place + 1
    return start, end


def _tied(words: Sequence[Node], place: int, start: int, end: int) -> bool:
    """The numeral depends on the group, or the group on the numeral."""
    inside = range(start, end)
    return words[place].head in inside or any(words[n].head == place for n in inside)


def verb_groups(words: Sequence[Node]) -> list[Span]:
    """The verb groups of a sentence, in order, as (first, after the last)."""
    nominal = {n for start, end in noun_groups(words) for n in range(start, end)}
    groups: list[Span] = []
    taken: set[int] = set()
    for place in reversed(range(len(words))):
        if words[place].upos in ("VERB", "AUX") and not {place} & (nominal | taken):
            group = _run(words, place)
            taken.update(range(*group))
            groups.append(group)
    return groups[::-1]


def _run(words: Sequence[Node], place: int) -> Span:
    """The verb, the auxiliaries and adverbs before it, the particle behind it."""
    word = words[place]
    head = place if word.upos == "VERB" else word.head
    start = first = place
    while start and words[start - 1].head == head and _carries(words[start - 1]):
        start -= 1
        if words[start].upos != "ADV":
            first = start
    end = place + 1
    if end < len(words) and words[end].relation == "compound:prt" and words[end].head == place:
        end += 1
    return first, end


def _carries(word: Node) -> bool:
    relation = word.relation.partition(":")[0]
    if word.upos == "PART":
        return relation in ("mark", "advmod")
    return (word.upos == "AUX" and relation in ("aux", "cop")) or (
        word.upos == "ADV" and relation == "advmod"
    )
