"""Corpora beside GUM that teach and measure the joint model: GAP, LitBank and ECB+.

Trees, types and, of GAP, mentions are those of the shipped analyser, which has seen none of them.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from partita.core import Configuration, Document, Template
from partita.corpora.documents import corpus_document, read_placed
from partita.domains.general.domain import general_templates
from partita.text.analysis import shipped_analyser
from partita.text.annotations import SpanMention, place_mentions
from partita.text.messages import parse_message
from partita.text.raw_messages import RawMessage

Span = tuple[int, int]
Keyed = tuple[Span, str]  # of a mention: where it stands, and its entity


class Question(NamedTuple):
    """A text of GAP: a pronoun and two names; `answer` is 0 for A, 1 for B, 2 for neither.

    `asked` are the places of pronoun, A and B among the templates, -1 for one that is not found.
    """

    name: str
    templates: tuple[Template, ...]
    asked: tuple[int, int, int]
    answer: int


def read_gap(path: str | Path) -> Iterator[Question]:
    """Yield the texts of a file of GAP."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            templates = found_templates(row["ID"], row["Text"])
            asked = [
                _place(templates, int(row[f"{name}-offset"]), row[name])
                for name in ("Pronoun", "A", "B")
            ]
            answer = 0 if row["A-coref"] == "TRUE" else 1 if row["B-coref"] == "TRUE" else 2
            yield Question(row["ID"], templates, (asked[0], asked[1], asked[2]), answer)


def read_gum(path: str | Path) -> Iterator[Document]:
    """Yield the documents of GUM with gold mentions and trees, and all slots of their templates."""
    for placed in read_placed(path):
        document = corpus_document(placed)
        yield replace(document, templates=general_templates(placed.sentences, placed.text))


def found_templates(name: str, text: str) -> tuple[Template, ...]:
    """Return the templates that `partita run` has of a text."""
    message = parse_message(RawMessage(name, text, name))
    return general_templates(shipped_analyser().analyse(message), message.text)


def _place(templates: tuple[Template, ...], start: int, text: str) -> int:
    """Return the template with this span, else the shortest one whose head lies in it or that ends
    with it ("Rabbi Akiva Eiger"), else -1."""
    end, best, length = start + len(text), -1, 0
    for n, template in enumerate(templates):
        if (template.start, template.end) == (start, end):
            return n
        first, last = template.context.get("HEAD_SPAN", (template.start, template.end))
        size = template.end - template.start
        ends = template.start < start and template.end == end
        if (ends or (start <= first and last <= end)) and (best < 0 or size < length):
            best, length = n, size
    return best


def read_litbank(folder: str | Path) -> Iterator[Document]:
    """Yield the extracts of LitBank with their gold mentions."""
    for file in sorted(Path(folder).glob("*.conll")):
        text, keyed = _conll_text(file.read_text(encoding="utf-8").splitlines())
        yield keyed_text(file.stem, "litbank", text, keyed)


def _conll_text(lines: Iterable[str]) -> tuple[str, list[Keyed]]:
    pieces: list[str] = []
    length, separator = 0, ""
    keyed: list[Keyed] = []
    open_at: dict[str, list[int]] = {}
    for line in lines:
        columns = line.split("\t")
        if len(columns) < 5:
            separator = "\n" if pieces and not line.strip() else separator
            continue
        pieces += [separator, columns[3]]
        start = length + len(separator)
        length, separator = start + len(columns[3]), " "
        for bracket in filter(None, columns[-1].strip().split("|")):
            entity = bracket.strip("()")
            if bracket[0] == "(":
                open_at.setdefault(entity, []).append(start)
            if bracket[-1] == ")":
                keyed.append(((open_at[entity].pop(), length), entity))
    return "".join(pieces), keyed


def read_ecb(folder: str | Path) -> Iterator[Document]:
    """Yield the articles of ECB+ with their gold mentions, and the key within each."""
    mentions: dict[str, list[Keyed]] = {}
    with (Path(folder) / "mentions.jsonl").open(encoding="utf-8") as file:
        for line in map(json.loads, file):
            span = (line["start"], line["end"])
            mentions.setdefault(line["document"], []).append((span, line["chain"]))
    for name, keyed in sorted(mentions.items()):
        text = (Path(folder) / "texts" / f"{name}.txt").read_text(encoding="utf-8")
        yield keyed_text(name, "ecb", text, keyed)


def keyed_text(name: str, genre: str, text: str, keyed: Iterable[Keyed]) -> Document:
    """Return a document with these mentions in the trees of the analyser."""
    entities = dict(keyed)
    message = parse_message(RawMessage(name, text, name))
    sentences = shipped_analyser().analyse(message)
    given = [SpanMention((span,)) for span in sorted(entities, key=lambda s: (s[0], -s[1]))]
    made = general_templates(place_mentions(sentences, given, text), text)
    cells: dict[str, list[str]] = {}
    for template in made:
        cells.setdefault(entities[template.start, template.end], []).append(template.id)
    return Document(name, genre, made, Configuration(cells.values()), text)
