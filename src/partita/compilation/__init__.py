"""The decorator of all compiled functions (kernels).

Kernels that Python calls are *entries*: they declare the types of their arguments, and their
machine code is in a library that comes with the package, or is compiled once for this machine (see
`partita.compilation.loading`). The others are compiled into the entries that call them.
`PARTITA_KERNELS` chooses how entries are called: `library` (the default), `numba` (compiled in this
process, nothing kept) or `python` (as they are written, for debuggers).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, cast

from partita.compilation.signatures import Kind, kernel_record, signature

__all__ = ["Kernel", "kernel", "kernel_record", "plain", "uncounted"]

P = ParamSpec("P")
R = TypeVar("R")
MODES = ("library", "numba", "python")


def mode() -> str:
    """Return how entries are called."""
    chosen = os.environ.get("PARTITA_KERNELS") or MODES[0]
    if chosen not in MODES:
        raise ValueError(f"PARTITA_KERNELS is {chosen!r} (expected one of {', '.join(MODES)})")
    return chosen


class Kernel(Generic[P, R]):
    """A compiled function; other kernels may call it, and Python if it is an entry."""

    def __init__(
        self, function: Callable[P, R], entry: str | None, options: dict[str, Any]
    ) -> None:
        update_wrapper(self, function)
        self.py_func = cast(Any, function)
        self.entry, self.options = entry, options
        self.name = f"{function.__module__}.{function.__qualname__}"
        self._ready: Callable[..., R] | None = None

    def __call__(self, *args: P.args, **named: P.kwargs) -> R:
        if self._ready is None:
            self._ready = self._callable(mode())
        return self._ready(*args, **named)

    def _callable(self, how: str) -> Callable[..., R]:
        if how == "python":
            return cast(Callable[..., R], self.py_func)
        if how == "library" and self.entry is not None:
            from partita.compilation.loading import loaded

            return cast(Callable[..., R], loaded(self))
        return cast(Callable[..., R], self.dispatcher)

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The types of the arguments of an entry."""
        return signature(self.entry or "", vars(sys.modules[self.py_func.__module__]))

    @cached_property
    def dispatcher(self) -> Any:
        """Numba's dispatcher, which compiles for the types of the arguments that it gets."""
        import numba

        return numba.njit(nogil=True, **self.options)(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes this for in a kernel that calls it."""
        return self.dispatcher._numba_type_


def kernel(
    *, entry: str | None = None, **options: Any
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function; Python may call it with arguments of the types that `entry` lists."""

    def compile_(function: Callable[P, R]) -> Callable[P, R]:
        return Kernel(function, entry, options)

    return compile_


def plain(function: Callable[P, R]) -> Callable[P, R]:
    """Return a kernel as it is written, for inputs that are too small to load machine code."""
    return cast(Callable[P, R], getattr(function, "py_func", function))


# A kernel without the counting of references to arrays, which takes longer than most loops over a
# few numbers: for functions that make no arrays and return none.
uncounted = kernel(_nrt=False)
