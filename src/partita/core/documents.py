"""Messages with their regions, and documents whose key is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from partita.core.arrays import IntArray
from partita.core.configurations import Configuration
from partita.core.templates import Template
from partita.errors import InputError

RegionKind = Literal["subject", "heading", "text", "list", "table"]


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a message that is read on its own: a subject line, a heading, a paragraph, an
    item of a list, a cell of a table.

    `start` and `end` are characters of the message's text. Cells of a table know their table
    (counted from 0 in the message), row and column (from 0; −1 elsewhere) and the text of the
    column's heading; a row that is the table's heading has `heading` as its kind.
    """

    kind: RegionKind
    start: int
    end: int
    paragraph: int = 0
    table: int = -1
    row: int = -1
    column: int = -1
    column_name: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A text with its header fields and its regions in text order; what is in no region is
    layout. Offsets are characters of `text`, which is the original, decoded and unchanged; where
    a file holds several messages, it starts at the character `offset` of the file's text."""

    id: str
    text: str
    regions: tuple[Region, ...]
    fields: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    offset: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A text with its templates in text order and its key (gold label).

    `alternatives` are other configurations that the author of the key holds possible, with their
    weights; the key itself has the weight 1.
    """

    name: str
    genre: str
    templates: tuple[Template, ...]
    key: Configuration
    text: str = ""
    alternatives: tuple[tuple[Configuration, float], ...] = ()

    def __post_init__(self) -> None:
        keyed = {member for cell in self.key for member in cell}
        if odd := keyed ^ set(self.ids):
            problem = f"template {min(odd)} is not in both the key and the templates"
            raise InputError(f"document {self.name!r}: {problem}")

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(template.id for template in self.templates)

    @property
    def labels(self) -> IntArray:
        """Return the cell number of each template in the key."""
        return self.key.labels(self.ids)

    def __len__(self) -> int:
        return len(self.templates)
