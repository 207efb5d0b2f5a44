"""Numba's dispatchers of kernels, with the cache of this package."""

from __future__ import annotations

import contextlib
import logging
import os
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba.core import caching
from numba.np import linalg

from partita.compilation.cached_code import digest, folder

ENTRIES = 1000  # index files kept in the cache, the most recently used first
LOG = logging.getLogger("partita.compilation")


def dispatcher(function: Any) -> Any:
    """Return Numba's dispatcher of a kernel."""
    made = numba.njit(nogil=True, **function.kernel_options)(function)
    if made is not function:  # not switched off by NUMBA_DISABLE_JIT
        made._cache = _Unopened(made)
    return made


def _load_without_scipy() -> None:
    """Load Numba's array functions without SciPy, which they would import to check for BLAS.

    No kernel multiplies matrices by BLAS, and the import takes longer than all kernels of a set.
    """
    check = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = check


def object_file(compiled: Any) -> bytes:
    """Return the machine code of a compiled function as an object file, if it is known."""
    if known := getattr(compiled.library, "object_file", b""):
        return bytes(known)
    try:
        return bytes(compiled.library._get_compiled_object())
    except RuntimeError:
        return b""


class _Unopened(caching.NullCache):
    """Stands for the cache of a kernel until its first call."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        files: Any = caching.NullCache()
        _load_without_scipy()
        if folder():
            files = _Files(self._dispatcher.py_func)  # type: ignore[no-untyped-call]
        self._dispatcher._cache = files
        return files.load_overload(sig, target_context)


class _Locator(caching._CacheLocator):
    """Names the files of one kernel by its digest."""

    def __init__(self, function: FunctionType, file: str) -> None:
        self._py_file = file
        self._digest = digest(function)

    def get_cache_path(self) -> str:
        return str(folder())

    def get_source_stamp(self) -> str:
        return self._digest

    def get_disambiguator(self) -> str:
        return self._digest

    @classmethod
    def from_function(cls, py_func: FunctionType, py_file: str) -> _Locator:
        return cls(py_func, py_file)


class _Naming(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return what was compiled, with its object file, which Numba does not keep."""
        compiled = super().rebuild(target_context, payload)  # type: ignore[no-untyped-call]
        _, kind, code = payload[0]
        compiled.library.object_file = code[0] if kind == "object" else b""
        return compiled


# The index names the classes of arguments by their modules, which may have been renamed since; the
# digest has only what the code itself refers to.
UNREADABLE = (ImportError, AttributeError)


class _Files(caching.FunctionCache):
    """The cache files of one kernel: an index, and machine code for each signature."""

    _impl_class = _Naming

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with contextlib.suppress(OSError):  # there is no index before the first compilation
            os.utime(self._cache_file._index_path)
        try:
            loaded = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except UNREADABLE:
            self._forget()
            loaded = None
        if loaded is None:
            LOG.info("compiling %s", self._py_func.__qualname__)
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:
        prune(Path(self.cache_path))
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except UNREADABLE:  # another version has written the index meanwhile
            self._forget()
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]

    def _forget(self) -> None:
        Path(self._cache_file._index_path).unlink(missing_ok=True)


@cache
def prune(path: Path) -> None:
    """Delete the kernels that were not used for the longest time; once in a process."""
    times = {}
    for index in [*path.glob("*.nbi"), *path.glob("*.native")]:
        with contextlib.suppress(OSError):  # deleted by another process meanwhile
            times[index] = index.stat().st_mtime
    for index in sorted(times, key=times.__getitem__)[:-ENTRIES]:
        for file in [index, *path.glob(f"{index.stem}.*.nbc")]:
            with contextlib.suppress(OSError):
                file.unlink()
