"""CoNLL-U to tagged sentences: the syntactic words and their Penn tags (the column XPOS)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from partita.errors import InputError
from partita.formats.corefud import corefud_files
from partita.formats.text import numbered_lines
from partita.learning.tagger_lessons import Tagged

COLUMNS = 10
FORM, XPOS = 1, 4


def read_tagged(path: str | Path, genres: Collection[str] | None = None) -> Iterator[Tagged]:
    """The sentences of a file or folder; with genres, of GUM's documents only those."""
    for file in corefud_files(path):
        genre = ""
        for sentence in _sentences(file):
            genre = _genre(sentence, genre)
            if genres is None or not genre or genre in genres:
                yield _tagged(sentence, str(file))


Numbered = list[tuple[int, str]]


def _sentences(file: Path) -> Iterator[Numbered]:
    """The lines of one sentence after another, its comments first."""
    found: Numbered = []
    for number, line in numbered_lines(file):
        if line:
            found.append((number, line))
        elif found and not found[-1][1].startswith("#"):
            yield found
            found = []
    if found and not found[-1][1].startswith("#"):
        yield found


def _genre(sentence: Numbered, before: str) -> str:
    """The genre that GUM's names hold (GUM_news_iodine); other corpora have none."""
    for _, line in sentence:
        name, _, value = line.partition("=")
        if name.split() == ["#", "newdoc", "id"]:
            parts = value.strip().split("_")
            before = parts[1] if len(parts) > 2 and parts[0] == "GUM" else ""
    return before


def _tagged(sentence: Numbered, file: str) -> Tagged:
    found = [_word(line, file, number) for number, line in sentence if not line.startswith("#")]
    words = [(word, tag) for place, word, tag in found if place.isdecimal()]
    # Ranges stand beside their words, and empty nodes are not in the text: neither is taken.
    return Tagged(tuple(word for word, _ in words), tuple(tag for _, tag in words))


def _word(line: str, file: str, number: int) -> tuple[str, str, str]:
    columns = line.split("\t")
    if len(columns) != COLUMNS:
        problem = f"has {len(columns)} columns separated by tabs; CoNLL-U has {COLUMNS}"
        raise InputError(problem, file=file, line=number)
    if columns[0].isdecimal() and columns[XPOS] in ("", "_"):
        problem = f"the word {columns[FORM]!r} has no tag in column {XPOS + 1} (XPOS)"
        raise InputError(problem, file=file, line=number)
    return columns[0], columns[FORM], columns[XPOS]
