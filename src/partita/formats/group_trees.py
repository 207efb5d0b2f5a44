"""Noun and verb groups of a domain's rules against the trees of CoNLL-U files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from partita.errors import InputError
from partita.evaluation.groups_found import GroupScores, Tags, group_scores, grouping
from partita.extraction.domain import Domain
from partita.formats.corefud_sentences import Word, sentences


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


def measure_groups(domain: Domain, paths: Iterable[str | Path], tags: Tags) -> GroupScores:
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
