"""A text to a message: header, headings, paragraphs, lists and tables as regions with offsets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest

from partita.formats.message_blocks import Item, items_of, markers_of
from partita.formats.message_header import header_of, is_layout, unmarked
from partita.formats.message_lines import Line, Span, lines_of
from partita.formats.message_muc import is_muc, muc_header
from partita.formats.message_tables import Table, tables_of
from partita.records.documents import Message, Region, RegionKind


def analysed(id: str, text: str, file: str = "", offset: int = 0) -> Message:  # noqa: A002
    """The message of a text that starts at a character of its file; the text is kept as it is."""
    regions = _Regions(text)
    if is_muc(text):
        muc = muc_header(text)
        regions.body(lines_of(text, muc.start))
        return Message(id, text, tuple(regions.found), muc.fields, file, offset)
    lines = lines_of(text)
    header = header_of(lines)
    for line in lines[: header.first]:
        if line.text and not is_layout(line):
            regions.add("heading", (line.start, line.end))
    for start, end in header.subjects:
        regions.add("subject", unmarked(text, start, end))
    regions.body(lines[header.used :])
    return Message(id, text, tuple(regions.found), header.fields, file, offset)


@dataclass(slots=True)
class _Regions:
    """The regions of a text so far, with the numbers of the paragraph and the table to come."""

    text: str
    found: list[Region] = field(default_factory=list)
    paragraph: int = 0
    table: int = 0

    def add(self, kind: RegionKind, span: Span) -> None:
        start, end = span
        while start < end and self.text[start].isspace():  # a marker may end its line
            start += 1
        if start < end:
            self.found.append(Region(kind, start, end, self.paragraph))
            self.paragraph += 1

    def body(self, lines: list[Line]) -> None:
        parts = list(_parts(self.text, _without_layout(lines)))
        for part, after in zip_longest(parts, parts[1:]):
            if isinstance(part, Table):
                self._table(part)
            else:
                self.add(_kind(part, after, first=part is parts[0]), (part.start, part.end))

    def _table(self, table: Table) -> None:
        names = table.rows[0] if table.headed else {}
        named = {n: " ".join(self.text[slice(*span)].split()) for n, span in names.items()}
        cells = [
            Region(
                "heading" if table.headed and row == 0 else "table",
                *span,
                self.paragraph,
                self.table,
                row,
                column,
                named.get(column, ""),
            )
            for row, spans in enumerate(table.rows)
            for column, span in spans.items()
        ]
        # in a form labels and values take turns
        self.found += sorted(cells, key=lambda cell: cell.start)
        self.paragraph += 1
        self.table += 1


def _without_layout(lines: list[Line]) -> list[Line]:
    """Markings and the like count as blank lines."""
    return [line._replace(text="", end=line.start) if is_layout(line) else line for line in lines]


def _parts(text: str, lines: list[Line]) -> Iterator[Item | Table]:
    """Tables and, between them, items of the lines between blank lines; in text order."""
    markers = markers_of(lines)
    at = 0
    for table in tables_of(text, lines):
        yield from _items(lines[at : table.first], markers)
        yield table
        at = table.last + 1
    yield from _items(lines[at:], markers)


def _items(lines: list[Line], markers: frozenset[str]) -> Iterator[Item]:
    block: list[Line] = []
    for line in lines:
        if line.text:
            block.append(line)
        elif block:
            yield from items_of(block, markers)
            block = []
    if block:
        yield from items_of(block, markers)


def _kind(item: Item, after: Item | Table | None, *, first: bool) -> RegionKind:
    """A short line is a heading if something follows that is not as short itself."""
    if item.kind != "perhaps":
        return item.kind
    if isinstance(after, Table):
        return "heading"
    follows = after is not None and (first or after.kind != "perhaps")
    if item.marker and after is not None and after.marker and after.kind in ("list", "perhaps"):
        follows = False
    if follows:
        return "heading"
    return "list" if item.marker else "text"
