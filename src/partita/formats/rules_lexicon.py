"""Files of the lexicon to entries."""

from __future__ import annotations

from pathlib import Path

from partita.extraction.domain import At, Entry, Literally
from partita.extraction.problems import Problem
from partita.formats.rules_values import value_of
from partita.formats.rules_yaml import (
    List,
    Map,
    RuleError,
    Text,
    Tree,
    keys_among,
    list_of,
    map_of,
    read_tree,
    refuse,
    text_of,
    texts_of,
)
from partita.templates.words import symbol

MOST_WORDS = 200_000
LONGEST_WORD = 200  # characters

_FIELDS = ("sort", "tag", "words", "says", "forms")


def read_lexicon(folder: Path) -> tuple[list[Entry], list[Problem]]:
    """All entries of a folder, file by file in alphabetical order, and what was wrong."""
    entries: list[Entry] = []
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            trees = list_of(read_tree(path), "a lexicon", At(str(path), 1, 1))
        except RuleError as error:
            problems.append(Problem(error.at, error.said))
            continue
        for tree in trees:
            try:
                entries.append(entry_of(tree))
            except RuleError as error:
                problems.append(Problem(error.at, error.said))
    if sum(len(entry.words) for entry in entries) > MOST_WORDS:
        problems.append(Problem(At(str(folder)), f"the lexicon has more than {MOST_WORDS:,} words"))
    return entries, problems


def entry_of(tree: Tree) -> Entry:
    """One entry: words with their tag, sort and slots."""
    given = map_of(tree, "an entry", tree.at)
    keys_among(given, "an entry", _FIELDS)
    forms = map_of(given.get("forms"), "forms", given.at)
    says = map_of(given.get("says"), "says", given.at)
    tags = (t.value for t in texts_of(given.get("tag"), "tag", given.at))
    return Entry(
        _words(given.get("words"), given.at),
        tuple(tag.strip() for given_tag in tags for tag in given_tag.split("|")),
        tuple(symbol(text.value) for text in texts_of(given.get("sort"), "sort", given.at)),
        {symbol(key.value): _said(value) for key, value in says.pairs},
        {
            " ".join(key.value.lower().split()): tuple(
                t.value for t in texts_of(value, "forms", key.at)
            )
            for key, value in forms.pairs
        },
        given.at,
    )


def _words(tree: Tree | None, at: At) -> dict[str, str]:
    """Each word with the one that it stands for, if it is another."""
    if tree is None:
        refuse("an entry needs words", at)
    if isinstance(tree, Map):
        pairs = [(_word(key), "" if _empty(value) else _word(value)) for key, value in tree.pairs]
    else:
        pairs = [(_word(text), "") for text in list_of(tree, "words", at)]
    return dict(pairs)


def _word(tree: Tree) -> str:
    text = text_of(tree, "a word", tree.at)
    if len(text.value) > LONGEST_WORD:
        refuse(f"a word has more than {LONGEST_WORD} characters", text.at)
    return " ".join(text.value.split())


def _empty(tree: Tree) -> bool:
    return isinstance(tree, Text) and tree.nothing


def _said(tree: Tree) -> object:
    """A slot's value: a text, a number, a list; $word is the word itself."""
    if isinstance(tree, Text) and tree.value == "$word":
        return "$word"
    if isinstance(tree, List):
        return tuple(_said(one) for one in tree.items)
    value = value_of(tree, "a slot")
    if not isinstance(value, Literally):
        refuse("a slot of the lexicon holds a text, a number, a list or $word", tree.at)
    return value.value
