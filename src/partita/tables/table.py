"""Tables as they are read: names of columns, their values, and where each row stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from partita.errors import InputError, Unit
from partita.files.strict import Place

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows with common columns, or a block of them.

    `name` is how errors call the table: its file, or what it is. `lines` has the line of each row
    or, where `unit` says so, its number, from 1. `problems` maps rows that could not be read to
    what is wrong with them; they are filled up with empty values. `source` is the name without
    folder and suffix, `header` the line that names the columns, and `separator` what stands between
    values in CSV, which are all texts. `notes` say what the user should know of the reading.
    """

    name: str
    columns: tuple[str, ...]
    values: Sequence[Sequence[Any]]
    lines: Sequence[int]
    unit: Unit = "line"
    problems: Mapping[int, str] = field(default_factory=dict)
    source: str = ""
    header: int | None = None
    separator: str = ""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def typed(self) -> bool:
        """Whether values have types; in CSV they are texts."""
        return not self.separator

    def column(self, name: str) -> Sequence[Any]:
        """Return the values of a column."""
        return self.values[self.columns.index(name)]

    def find(self, *names: str) -> str | None:
        """Return the column with the first of these names that there is, ignoring case."""
        lower = {column.strip().lower(): column for column in reversed(self.columns)}
        return next((lower[name] for name in names if name in lower), None)

    def first(self, names: Iterable[str]) -> str | None:
        """Return the first of these names that a column has exactly."""
        return next((name for name in names if name in self.columns), None)

    def needed(self, names: Sequence[str]) -> str:
        """Return the first of these names that a column has exactly; none is an error."""
        if (name := self.first(names)) is None:
            problem = f"has no column {' or '.join(names)}; found {self.found}"
            raise self.error(None, problem)
        return name

    @property
    def found(self) -> str:
        """The names of the columns, for errors."""
        return ", ".join(self.columns) or "nothing"

    def filled(self, expected: str) -> Table:
        """Return the table; one without rows is an error."""
        if not len(self):
            raise InputError(f"has no rows; expected {expected}", file=self.name)
        return self

    def dicts(self) -> Iterator[dict[str, Any]]:
        """Return every row by column name."""
        for row in zip(*self.values, strict=True):
            yield dict(zip(self.columns, row, strict=True))

    def error(self, row: int | None, problem: str) -> InputError:
        """Return an error about a row, counted from 0, or about the names of the columns."""
        if row is None:
            return InputError(problem, file=self.name, line=self.header)
        return InputError(problem, file=self.name, line=int(self.lines[row]), unit=self.unit)

    def place(self, row: int) -> Place:
        """Return where a row is, for the readers of its values."""
        return Place(self.name, int(self.lines[row]), self.unit)

    def checked(self) -> Table:
        """Return the table; a row that could not be read is an error."""
        if self.problems:
            first = min(self.problems)
            raise self.error(first, self.problems[first])
        return self


def noted(table: Table, note: Note) -> Table:
    """Return a table after its notes are passed on."""
    for text in table.notes:
        note(text)
    return table


def joined(blocks: Sequence[Table]) -> Table:
    """Return the blocks of a table as one; a column that a block lacks has no values there."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    columns = tuple(dict.fromkeys(name for block in blocks for name in block.columns))
    values: list[list[Any]] = [[] for _ in columns]
    lines: list[int] = []
    problems: dict[int, str] = {}
    for block in blocks:
        for name, column in zip(columns, values, strict=True):
            there = name in block.columns
            column.extend(block.column(name) if there else [None] * len(block))
        problems |= {len(lines) + row: problem for row, problem in block.problems.items()}
        lines.extend(block.lines)
    return replace(first, columns=columns, values=values, lines=lines, problems=problems)
