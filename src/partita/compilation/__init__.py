"""The decorator of all compiled functions (kernels).

Numba is loaded when a kernel must be compiled. To load it takes longer than most commands take, so
machine code of kernels that a short command calls (`native`) is also kept in a form that is called
without it (see `partita.compilation.native`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


class Kernel(Generic[P, R]):
    """A function that is compiled at its first call; other kernels may call it."""

    def __init__(self, function: Callable[P, R], options: dict[str, Any], native: bool) -> None:
        update_wrapper(self, function)
        self.py_func = cast(Any, function)
        self.py_func.kernel_options = options
        self.native = native
        self.loaded: dict[str, Any] = {}  # machine code by types of arguments
        self._dispatcher: Any = None
        self._ready: Callable[P, R] | None = None

    def __call__(self, *args: P.args, **named: P.kwargs) -> R:
        if self._ready is not None:
            return self._ready(*args, **named)
        if not self.native or named:
            self._ready = self.dispatcher
            return self._ready(*args, **named)
        from partita.compilation.native import call

        return cast(R, call(self, args))

    @property
    def dispatcher(self) -> Any:
        """Numba's dispatcher, with the cache of this module."""
        if self._dispatcher is None:
            from partita.compilation.dispatchers import dispatcher

            self._dispatcher = dispatcher(self.py_func)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes this for in a kernel that calls it."""
        return self.dispatcher._numba_type_

    @property
    def stats(self) -> Any:
        """Hits and misses of the cache."""
        return self.dispatcher.stats

    def use_numba(self) -> None:
        """Leave further calls to Numba."""
        self._ready = self.dispatcher


def kernel(*, native: bool = False, **options: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function at its first call, and keep the machine code in the cache."""

    def compile_(function: Callable[P, R]) -> Callable[P, R]:
        return Kernel(function, options, native)

    return compile_


# A kernel without the counting of references to arrays, which takes longer than most loops over a
# few numbers: for functions that make no arrays and return none.
uncounted = kernel(_nrt=False)
