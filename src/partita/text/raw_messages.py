"""A message as it was read, before its layout is parsed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from partita.text.annotations import Annotation


@dataclass(frozen=True, slots=True)
class RawMessage:
    """A text with its id, its place in a file and its metadata fields.

    `offset` is the position of its first character in the text of the file. `annotation` is what
    the file, or another one, says of trees and mentions.
    """

    id: str
    text: str
    file: str
    line: int | None = None
    offset: int = 0
    fields: dict[str, str] = field(default_factory=dict)
    annotation: Annotation | None = None

    @property
    def place(self) -> str:
        return self.file if self.line is None else f"{self.file}, line {self.line}"
