"""The errors: each carries its data, and its text is one line.

PartitaError
├── InputError            a file, a line, what was expected
├── Contradiction         templates that must and cannot be the same
├── TotalConflict         sources that contradict each other completely
├── Incompatible          values or templates that do not unify
├── TooLarge              what a computation would need, and its budget
├── Unavailable           a question that the method does not answer
├── Unknown               a name that does not exist
└── StoreTrouble          a store that cannot be opened, read or written
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Unit = Literal["line", "row"]


class PartitaError(Exception):
    """Base class of all errors raised on purpose."""


class InputError(PartitaError):
    """Invalid input: where it is and what was expected.

    `line` is that of a text file or, as `unit` says, a row of another table.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        unit: Unit = "line",
    ) -> None:
        problem = " ".join(problem.splitlines())  # quoted input may have line breaks
        self.problem, self.file, self.line, self.unit = problem, file, line, unit
        place = [] if file is None else [file]
        place += [] if line is None else [f"{unit} {line}"]
        super().__init__(f"{', '.join(place)}: {problem}" if place else problem)


class Contradiction(PartitaError):
    """Two templates that must corefer, by the given chain, and cannot."""

    def __init__(self, left: str, right: str, chain: Sequence[str] = ()) -> None:
        self.left, self.right, self.chain = left, right, tuple(chain)
        by = f" (linked by {' = '.join(self.chain)})" if self.chain else ""
        super().__init__(f"{left} and {right} must be the same{by} and cannot be")


class TotalConflict(PartitaError):
    """Sources that contradict each other completely."""

    def __init__(self, sources: Sequence[str]) -> None:
        self.sources = tuple(sources)
        named = " and ".join(self.sources) or "the sources"
        super().__init__(f"total conflict: {named} leave nothing possible")


class Incompatible(PartitaError):
    """Two values (or templates) that do not unify."""

    def __init__(self, left: object, right: object, what: str = "values") -> None:
        self.left, self.right, self.what = left, right, what
        super().__init__(f"{what} do not unify: {left} and {right}")


class TooLarge(PartitaError):
    """A computation that would exceed its budget."""

    def __init__(self, what: str, needs: str, has: str, instead: str = "") -> None:
        self.what, self.needs, self.has, self.instead = what, needs, has, instead
        advice = f"; {instead}" if instead else ""
        super().__init__(f"{what} would need {needs}, the budget is {has}{advice}")


class Unavailable(PartitaError):
    """A question that the method in use does not answer."""


class Unknown(PartitaError):
    """A run, message, set or key that does not exist."""


class StoreTrouble(PartitaError):
    """A store that cannot be opened, read or written: which one, why, and what to do."""

    def __init__(self, store: str, problem: str) -> None:
        self.store, self.problem = store, problem
        super().__init__(f"store {store}: {problem}")
