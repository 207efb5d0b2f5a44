"""The text of a message as it was read, before its layout is parsed."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Given:
    """A text with its id, where it was read, and what was said about it.

    `offset` is the character of the file's text at which it starts.
    """

    id: str
    text: str
    file: str
    line: int | None = None
    offset: int = 0
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return self.file if self.line is None else f"{self.file}, line {self.line}"
