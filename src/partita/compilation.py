"""The decorator of all compiled functions (kernels), and the cache of their machine code.

The name of a cache file holds a digest of everything the machine code is made from: the code of
the kernel and of every function it calls, the constants it reads, the compiler's options and the
versions of the libraries. An edit in any module therefore compiles exactly the kernels that depend
on it, and no stale code is ever loaded. The digest is taken at the first call, when all that the
kernel refers to is defined.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, ParamSpec, TypeVar

import llvmlite
import numba
import numpy as np
from numba.core import caching
from numba.np import linalg

ENTRIES = 1000  # index files kept in the cache, the most recently used first
LIBRARIES = {"llvmlite", "math", "numba", "numpy"}  # identified by their versions
LOG = logging.getLogger(__name__)
PLAIN = (bool, int, float, complex, str, bytes, np.generic, np.dtype, type(None), type(...))

P = ParamSpec("P")
R = TypeVar("R")


def kernel(**options: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function at its first call, and keep the machine code in the cache."""

    def compile_(function: Any) -> Any:
        function.kernel_options = options
        dispatcher = numba.njit(nogil=True, **options)(function)
        if dispatcher is not function:  # not switched off by NUMBA_DISABLE_JIT
            dispatcher._cache = _Unopened(dispatcher)
        return dispatcher

    return compile_


# A kernel without the counting of references to arrays, which takes longer than most loops over a
# few numbers: for functions that make no arrays and return none.
uncounted = kernel(_nrt=False)


def digest(function: FunctionType) -> str:
    """Identify the machine code of a kernel by all that it is made from."""
    content = hashlib.sha256(repr((llvmlite.__version__, numba.__version__)).encode())
    content.update(np.__version__.encode())
    for part in _parts(function, set()):
        content.update(f"{len(part)}:{part}".encode())
    return content.hexdigest()[:24]


def _parts(value: Any, seen: set[int]) -> Iterator[str]:
    """Describe a value to which compiled code refers, and whatever that value refers to."""
    value = inspect.unwrap(value) if callable(value) else value
    if isinstance(value, PLAIN):
        yield f"{type(value).__name__} {value!r}"
    elif isinstance(value, tuple):
        yield f"tuple of {len(value)}"
        for item in value:
            yield from _parts(item, seen)
    elif isinstance(value, set | frozenset):
        yield f"set {sorted(map(repr, value))}"
    elif isinstance(value, np.ndarray):
        yield f"array {value.dtype} {value.shape} {value.tobytes().hex()}"
    elif _package(value) in LIBRARIES:
        yield f"{getattr(value, '__module__', '')} {getattr(value, '__qualname__', value)}"
    elif isinstance(value, type):
        yield f"class {value.__module__}.{value.__qualname__} {getattr(value, '_fields', ())}"
    elif isinstance(value, FunctionType):
        yield from _function_parts(value, seen)
    else:
        raise TypeError(f"a kernel cannot refer to {value!r} (expected a constant or a function)")


def _function_parts(function: FunctionType, seen: set[int]) -> Iterator[str]:
    yield f"function {function.__module__}.{function.__qualname__}"
    if id(function) in seen:
        return
    seen.add(id(function))
    yield from _parts(tuple(getattr(function, "kernel_options", {}).items()), seen)
    yield from _parts(function.__defaults__, seen)
    for cell in function.__closure__ or ():
        yield from _parts(cell.cell_contents, seen)
    for code in _codes(function.__code__):
        yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars}"
        for constant in code.co_consts:
            described = isinstance(constant, CodeType) or constant is function.__doc__
            yield from _parts(None if described else constant, seen)
        for name, item in _globals(function, code):
            yield name
            yield from _parts(item, seen)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _globals(function: FunctionType, code: CodeType) -> Iterator[tuple[str, Any]]:
    """Yield what the global names in the code stand for; of a module, the attributes named."""
    for name in code.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType) and _package(value) not in LIBRARIES:
            yield from ((a, getattr(value, a)) for a in code.co_names if hasattr(value, a))
        elif name in function.__globals__:
            yield name, value


def _package(value: Any) -> str:
    name = value.__name__ if isinstance(value, ModuleType) else None
    module: str = name or getattr(value, "__module__", None) or type(value).__module__
    return module.partition(".")[0]


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


class _Files(caching.FunctionCache):
    """The cache files of one kernel: an index, and machine code for each signature."""

    _impl_class = _Naming

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with contextlib.suppress(OSError):  # there is no index before the first compilation
            os.utime(self._cache_file._index_path)
        loaded = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if loaded is None:
            LOG.info("compiling %s", self._py_func.__qualname__)
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:
        _prune(Path(self.cache_path))
        super().save_overload(sig, data)  # type: ignore[no-untyped-call]


@cache
def folder() -> Path | None:
    """Return the cache folder: the first that can be written to, or None."""
    chosen = os.environ.get("PARTITA_CACHE") or os.environ.get("NUMBA_CACHE_DIR")
    own = Path(__file__).parent / "__pycache__"
    for parent in [Path(chosen)] if chosen else [own, user_cache()]:
        with contextlib.suppress(OSError):
            (parent / "kernels").mkdir(parents=True, exist_ok=True, mode=0o700)
            tempfile.TemporaryFile(dir=parent / "kernels").close()
            return parent / "kernels"
    return None


def user_cache() -> Path:
    """Return the folder for this user's cached files, as the platform has it."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "partita"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/partita"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "partita"


@cache
def _prune(path: Path) -> None:
    """Delete the kernels that were not used for the longest time; once in a process."""
    times = {}
    for index in path.glob("*.nbi"):
        with contextlib.suppress(OSError):  # deleted by another process meanwhile
            times[index] = index.stat().st_mtime
    for index in sorted(times, key=times.__getitem__)[:-ENTRIES]:
        for file in [index, *path.glob(f"{index.stem}.*.nbc")]:
            with contextlib.suppress(OSError):
                file.unlink()
