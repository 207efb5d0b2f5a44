"""The cache of machine code: what identifies a kernel, and where the files are.

The name of a cache file holds a digest of everything the machine code is made from: the code of
the kernel and of every function it calls, the constants it reads, the compiler's options and the
versions of the libraries. An edit in any module therefore compiles exactly the kernels that depend
on it, and no stale code is ever loaded. The digest is taken at the first call, when all that the
kernel refers to is defined.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import inspect
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numpy as np

LIBRARIES = {"llvmlite", "math", "numba", "numpy"}  # identified by their versions
PLAIN = (bool, int, float, complex, str, bytes, np.generic, np.dtype, type(None), type(...))


@cache
def numba_version() -> str:
    """Return the version of Numba without loading it."""
    spec = importlib.util.find_spec("numba")
    if spec is not None and spec.origin is not None:
        with contextlib.suppress(OSError):
            text = (Path(spec.origin).parent / "_version.py").read_text(encoding="utf-8")
            if named := re.search(r'"version": "([^"]+)"', text):
                return named[1]
    import numba

    return str(numba.__version__)


def digest(function: FunctionType) -> str:
    """Identify the machine code of a kernel by all that it is made from."""
    content = hashlib.sha256(repr((llvmlite.__version__, numba_version())).encode())
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


@cache
def folder() -> Path | None:
    """Return the cache folder: the first that can be written to, or None."""
    chosen = os.environ.get("PARTITA_CACHE") or os.environ.get("NUMBA_CACHE_DIR")
    # Beside the package first: what one user compiles then serves all users of an installation.
    own = Path(__file__).parent.parent / "__pycache__"
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
