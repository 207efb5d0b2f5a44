"""Read CoNLL-U files: sentences, words, trees and tags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

from partita.errors import InputError
from partita.files.text import numbered_lines
from partita.text.trees import Word

COLUMNS = 10


class Surface(NamedTuple):
    """A token of the text that stands for the words from `first` to `last`, both included."""

    form: str
    first: int
    last: int
    space: bool


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words in their order (empty nodes among them), the text's tokens and the comments."""

    words: tuple[Word, ...]
    surface: tuple[Surface, ...]
    comments: dict[str, str]
    lines: dict[str, int]
    line: int


class Rows(NamedTuple):
    """The lines of one sentence, split at tabs, each with its number."""

    file: str
    comments: list[tuple[int, str]]
    words: list[tuple[int, list[str]]]


def sentences(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of one file."""
    for rows in _blocks(path):
        yield _sentence(rows)


def _blocks(path: Path) -> Iterator[Rows]:
    file = str(path)
    rows = Rows(file, [], [])
    for number, line in numbered_lines(path):
        if not line:
            if rows.words:
                yield rows
                rows = Rows(file, [], [])
        elif line[0] == "#":
            rows.comments.append((number, line[1:].strip()))
        else:
            rows.words.append((number, _columns(line, file, number)))
    if rows.words:
        yield rows


def _columns(line: str, file: str, number: int) -> list[str]:
    columns = line.split("\t")
    if len(columns) != COLUMNS:
        amount = f"{len(columns)} column{'s' * (len(columns) > 1)}"
        problem = f"has {amount} separated by tabs; CoNLL-U has {COLUMNS}"
        raise InputError(problem, file=file, line=number)
    return columns


def _sentence(rows: Rows) -> Sentence:
    places, ranges = _places(rows)
    words = tuple(
        _word(columns, places, rows.file, number)
        for number, columns in rows.words
        if "-" not in columns[0]
    )
    comments, lines = _comments(rows)
    surface = tuple(_surface(rows, places, ranges, words))
    return Sentence(words, surface, comments, lines, rows.words[0][0])


def _comments(rows: Rows) -> tuple[dict[str, str], dict[str, int]]:
    comments: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, text in rows.comments:
        name, _, value = text.partition("=")
        comments[name.strip()] = value.strip()
        lines[name.strip()] = number
    return comments, lines


def _places(rows: Rows) -> tuple[dict[str, int], dict[str, str]]:
    """Return each word's id with its position, and each range's first id with its last."""
    places: dict[str, int] = {}
    ranges: dict[str, str] = {}
    whole, part, covered = 0, 0, 0
    for number, (name, *_) in rows.words:
        if name == str(whole + 1):
            whole, part = whole + 1, 0
        elif name == f"{whole}.{part + 1}":
            part += 1
        elif "-" in name:
            covered = _range(name, max(whole, covered) + 1, rows.file, number)
            ranges[str(whole + 1)] = str(covered)
            continue
        else:
            _refuse_id(name, f"{whole + 1} or {whole}.{part + 1}", rows.file, number)
        places[name] = len(places)
    if covered > whole:
        _refuse_id(f"…-{covered}", f"words up to {covered}", rows.file, rows.words[-1][0])
    return places, ranges


def _range(name: str, first: int, file: str, number: int) -> int:
    """Return the last id of a multiword token, which begins with the next word."""
    start, _, end = name.partition("-")
    if start != str(first) or not end.isdecimal() or int(end) < first:
        _refuse_id(name, f"{first} or a range from it", file, number)
    return int(end)


def _refuse_id(name: str, expected: str, file: str, number: int) -> NoReturn:
    raise InputError(f"has the id {name!r}; expected {expected}", file=file, line=number)


def _word(columns: list[str], places: dict[str, int], file: str, number: int) -> Word:
    name, form, lemma, upos, _, feats, head, relation, deps, misc = columns
    empty = "." in name
    if empty:
        head, _, relation = deps.split("|")[0].partition(":")
    above = -1 if head in ("0", "_", "") else places.get(head)
    if above is None:
        problem = f"depends on {head!r}; the sentence has no such word"
        raise InputError(problem, file=file, line=number)
    return Word(form, lemma, upos, feats, above, relation, _entity(misc), number, empty)


def _entity(misc: str) -> str:
    """Return the value of Entity= among the attributes of the last column."""
    start = 0 if misc.startswith("Entity=") else misc.find("|Entity=") + 1
    if not start and not misc.startswith("Entity="):
        return ""
    end = misc.find("|", start)
    return misc[start + 7 : end if end > 0 else len(misc)]


def _surface(
    rows: Rows, places: dict[str, int], ranges: dict[str, str], words: tuple[Word, ...]
) -> Iterator[Surface]:
    """Return every token of the text once: multiword tokens for their words, no empty nodes."""
    covered = -1
    for _, columns in rows.words:
        name = columns[0]
        if "." in name:
            continue
        first = last = places[name.partition("-")[0]]
        if "-" in name:
            last = covered = places[ranges[name.partition("-")[0]]]
        elif first <= covered:
            continue
        yield Surface(columns[1], first, last, "SpaceAfter=No" not in columns[9])
