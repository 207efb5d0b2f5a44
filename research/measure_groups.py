"""Score the noun and verb groups that a domain's rules find against the trees of CoNLL-U files.

    python -m research.measure_groups FILES... [--domain depots]

The words are those of the files, the tags those of the shipped tagger. A group is
right if its first and its last word are.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path

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
from research.tree_groups import Node, Span, noun_groups, score, verb_groups

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
