"""Machine code of kernels, called without Numba.

Numba compiles a function to C's calling convention: a pointer to the result, one to an exception,
and the arguments, an array as its memory's owner, its parent, the number and size of its items, the
address, the shape and the strides. The object file that it keeps is loaded by LLVM alone. What an
object needs of Numba's runtime is in two extension modules that need no Python code; an object that
needs more is not kept.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from partita.compilation.cached_code import digest, folder

NOTHING, OK, RETURNED_NONE = "none", 0, -2
RESULTS: dict[str, Any] = {"int64": ctypes.c_int64, "uint64": ctypes.c_uint64,
                           "float64": ctypes.c_double, "bool": ctypes.c_bool,
                           NOTHING: ctypes.c_void_p}  # fmt: skip
RUNTIME = ((("core", "runtime"), "_nrt_python", "NRT_"), ((), "_helperlib", "numba_"))
# These change the machine code and nothing that the digest sees: a cache on a shared disk may hold
# the code of several machines and settings.
OPTIONS = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_OPT", "NUMBA_DISABLE_JIT")

Function = Callable[..., Any]


class CachedKernel(Protocol):
    """What is needed of a kernel: the function, its machine code so far, and Numba's dispatcher."""

    py_func: Any
    loaded: dict[str, Any]

    @property
    def dispatcher(self) -> Any: ...

    def use_numba(self) -> None: ...


def call(kernel: CachedKernel, args: Sequence[Any]) -> Any:
    """Call a kernel by its machine code from the cache, else by Numba, and keep the code."""
    signature = _signature(args)
    if signature and "numba" not in sys.modules:
        if signature not in kernel.loaded:
            kernel.loaded[signature] = _load(_path(kernel, signature))
        if function := kernel.loaded[signature]:
            return function(*args)
    result = kernel.dispatcher(*args)
    if signature:
        _keep(kernel, args, _path(kernel, signature))
    kernel.use_numba()
    return result


def _signature(args: Sequence[Any]) -> str:
    """Describe the types of arguments; return nothing where one is unusual."""
    kinds = []
    for value in args:
        if isinstance(value, np.ndarray):
            if not (value.flags.c_contiguous and value.flags.aligned):
                return ""
            kinds.append(f"{value.dtype.str}{value.ndim}{'w' if value.flags.writeable else 'r'}")
        elif isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.generic):
            return ""
        else:
            kinds.append(_scalar(value))
    return ",".join(kinds)


def _scalar(value: Any) -> str:
    if isinstance(value, np.generic):
        return str(value.dtype.name)
    return "int64" if isinstance(value, int) else "float64"


def _path(kernel: CachedKernel, signature: str) -> Path | None:
    """Return the file of a kernel for these arguments and this processor."""
    place = folder()
    if place is None:
        return None
    made_for = hashlib.sha256(f"{signature} {_processor()}".encode()).hexdigest()[:16]
    return place / f"{kernel.py_func.__name__}-{digest(kernel.py_func)}-{made_for}.native"


@cache
def _processor() -> str:
    from llvmlite import binding

    features = binding.get_host_cpu_features().flatten()
    chosen = [os.environ.get(name, "") for name in OPTIONS]
    return repr((binding.get_process_triple(), binding.get_host_cpu_name(), features, chosen))


def _keep(kernel: CachedKernel, args: Sequence[Any], path: Path | None) -> None:
    """Keep the machine code that Numba made for these arguments."""
    made = kernel.dispatcher
    if path is None or path.exists() or not hasattr(made, "overloads"):
        return
    compiled = made.overloads.get(tuple(made.typeof_pyval(value) for value in args))
    if compiled is None or str(compiled.signature.return_type) not in RESULTS:
        return
    from partita.compilation.dispatchers import object_file

    code = object_file(compiled)
    if not code or not _sufficient(code):
        return
    known = {
        "symbol": compiled.fndesc.llvm_func_name,
        "result": str(compiled.signature.return_type),
        "checksum": hashlib.sha256(code).hexdigest(),
    }
    with contextlib.suppress(OSError):
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(json.dumps(known).encode() + b"\n" + code)
        Path(file.name).replace(path)


def _sufficient(code: bytes) -> bool:
    """Return whether an object file needs no more of Numba than `_provide_runtime` has."""
    from numba import _helperlib

    helpers: Any = _helperlib
    known = {f"numba_{name}".encode() for name in helpers.c_helpers}
    return b"__svml" not in code and {*re.findall(rb"\0(numba_\w+)", code)} <= known


def _load(path: Path | None) -> Function | None:
    """Return a function from its file; None if there is none."""
    if path is None:
        return None
    try:
        first, _, code = path.read_bytes().partition(b"\n")
        os.utime(path)
        known = json.loads(first)
        sound = known["checksum"] == hashlib.sha256(code).hexdigest()
    except (OSError, ValueError, KeyError):
        return None
    if not sound:  # it was not written whole, or is damaged
        path.unlink(missing_ok=True)
        return None
    try:
        engine = _engine(code)
    except (ImportError, OSError, RuntimeError):  # Numba can do it, more slowly
        return None
    result = RESULTS[known["result"]]
    entry = ctypes.CFUNCTYPE(ctypes.c_int32)(engine.get_function_address(known["symbol"]))

    def function(*args: Any) -> Any:
        value, error = result(), ctypes.c_void_p()
        status = entry(ctypes.byref(value), ctypes.byref(error), *_unpacked(args))
        if status not in (OK, RETURNED_NONE):
            raise ArithmeticError(f"{path.name} failed with code {status}")
        return None if result is ctypes.c_void_p else value.value

    function.engine = engine  # type: ignore[attr-defined]
    return function


def _unpacked(args: Sequence[Any]) -> list[Any]:
    """Return arguments as the machine code takes them."""
    values: list[Any] = []
    for value in args:
        if isinstance(value, np.ndarray):
            address = value.__array_interface__["data"][0]
            values += [None, None, ctypes.c_int64(value.size), ctypes.c_int64(value.itemsize)]
            values.append(ctypes.c_void_p(address))
            values += map(ctypes.c_int64, (*value.shape, *value.strides))
        elif isinstance(value, float | np.floating):
            values.append(ctypes.c_double(float(value)))
        elif isinstance(value, np.unsignedinteger):
            values.append(ctypes.c_uint64(int(value)))
        else:
            values.append(ctypes.c_int64(int(value)))
    return values


def _engine(code: bytes) -> Any:
    """Let LLVM load an object file."""
    from llvmlite import binding

    _provide_runtime()
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_triple(binding.get_process_triple())
    machine = target.create_target_machine(opt=0)  # of the empty module: the object is compiled
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


@cache
def _provide_runtime() -> None:
    """Give LLVM the addresses of Numba's functions, from extension modules without Python code."""
    from llvmlite import binding

    for folders, name, prefix in RUNTIME:
        module = _extension(_numba_folder().joinpath(*folders), name)
        if prefix == "NRT_":
            module.memsys_use_cpython_allocator()  # as Numba does
        for helper, address in module.c_helpers.items():
            binding.add_symbol(helper if helper.startswith("_") else prefix + helper, address)


def _numba_folder() -> Path:
    spec = importlib.util.find_spec("numba")
    if spec is None or spec.origin is None:
        raise ImportError("Numba is not installed")
    return Path(spec.origin).parent


def _extension(place: Path, name: str) -> Any:
    """Load an extension module of a package without the package."""
    paths = [place / f"{name}{suffix}" for suffix in importlib.machinery.EXTENSION_SUFFIXES]
    path = next((path for path in paths if path.is_file()), None)
    spec = importlib.util.spec_from_file_location(name, path) if path else None
    if spec is None or spec.loader is None:
        raise ImportError(f"{name} is not in {place}, or cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
