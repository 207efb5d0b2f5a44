"""Where the machine code of entries comes from.

A wheel for Linux on x86-64 carries one library for each level of processors, and a manifest.
Elsewhere, and in a clone, Numba compiles the entries of a group of modules for this machine, once,
in a process of its own; the object is kept (see `partita.compilation.cache`) and loaded by LLVM.
Either is used only as long as the sources that it was made from are the same.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from partita.compilation.cache import folders, kept, writable_folder
from partita.compilation.library import RELEASE, CompiledEntry
from partita.compilation.signatures import Kind, signature
from partita.errors import Unavailable

# Modules whose entries are compiled into one object: those that a command needs together. Every
# other module is a group of its own.
GROUPS = {
    "text": ("text.tagger_kernels", "text.parser_kernels", "text.mention_kernels"),
    "joint": ("configurations.joint.network_kernels",),
    "cluster": ("configurations.forest.kernels", "configurations.forest.batch_kernels"),
    "exact": ("configurations.exact.kernels", "configurations.exact.ranked"),
    "search": ("configurations.optimum", "configurations.search.best",
               "configurations.search.prices", "configurations.certified.posterior"),
    "sparse": ("configurations.sparse.kernels",
               "configurations.sparse.posterior", "configurations.sparse.steps"),
    "sampled": ("configurations.sampled.kernels",),
    "merging": ("configurations.merging.particles",),
    "values": ("fusion.numeric_kernels", "linkage.value_levels"),
    "records": ("linkage.neighbours", "linkage.pair_trees"),
    "collection": ("collection.tree",),
    "training": ("training.joint_kernels",),
}  # fmt: skip
# Groups that a command needs after another: they are compiled at the same time.
TOGETHER = {"text": ("joint",)}
LIBRARIES = Path(__file__).parent / "libraries"
MANIFEST = LIBRARIES / "manifest.json"
# Levels of x86-64 and what the processor must have for them, as Linux names it.
LEVELS = {
    "x86-64-v3": {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
    "x86-64-v2": {"cx16", "popcnt", "sse4_1", "sse4_2", "ssse3"},
}
HOST = "host"
_LOCK = threading.RLock()
_CODE: dict[str, Code] = {}
_RUNNING: dict[str, subprocess.Popen[bytes]] = {}


class EntryKernel(Protocol):
    """What is needed of a kernel."""

    name: str
    entry: str | None
    py_func: Any

    @property
    def kinds(self) -> Sequence[Kind]: ...

    @property
    def dispatcher(self) -> Any: ...


@dataclass(slots=True)
class Code:
    """Loaded machine code: a description of its entries, and where they are."""

    entries: Mapping[str, Mapping[str, str]]
    holder: Any
    addresses: dict[str, int] = field(default_factory=dict)

    def address(self, name: str) -> int:
        if isinstance(self.holder, ctypes.CDLL):
            return ctypes.cast(self.holder[name], ctypes.c_void_p).value or 0
        return int(self.holder.get_function_address(name))


def group_of(module: str) -> str:
    """Return the name of the group of a module."""
    inside = module.removeprefix("partita.")
    return next((name for name, modules in GROUPS.items() if inside in modules), module)


def modules_of(group: str) -> tuple[str, ...]:
    """Return the modules of a group."""
    return tuple(f"partita.{module}" for module in GROUPS[group]) if group in GROUPS else (group,)


def loaded(kernel: EntryKernel) -> Any:
    """Return the machine code of an entry; in a script of its own, what Numba makes of it."""
    module = kernel.py_func.__module__
    if module == "__main__":
        return kernel.dispatcher
    with _LOCK:
        group = group_of(module)
        if group not in _CODE:
            _CODE[group] = _packaged(group) or _compiled(group)
        code = _CODE[group]
    described = code.entries[kernel.name]
    names = vars(sys.modules[module])
    result = signature(described["result"], names) if described["result"] else (None,)
    addresses = code.address(kernel.name), code.address(RELEASE)
    return CompiledEntry(kernel.name, addresses[0], kernel.kinds, result[0], addresses[1])


def unchanged(sources: Mapping[str, str]) -> bool:
    """Return whether modules have the sources that machine code was made from."""
    return all(source_hash(module) == expected for module, expected in sources.items())


@cache
def source_hash(module: str) -> str:
    """Return a hash of the source of a module; nothing if it cannot be read."""
    imported = sys.modules.get(module)
    path = getattr(imported, "__file__", None)
    if path is None:
        with contextlib.suppress(ImportError, ValueError):
            path = getattr(importlib.util.find_spec(module), "origin", None)
    try:
        return hashlib.sha256(Path(path or "").read_bytes()).hexdigest()[:32]
    except OSError:
        return ""


def _packaged(group: str) -> Code | None:
    """Return the library of the package, if it has one for this machine and these sources."""
    try:
        manifest = json.loads(MANIFEST.read_bytes())
    except OSError:
        return None
    described = manifest["groups"].get(group)
    level = processor_level()
    if described is None or level not in manifest["libraries"]:
        return None
    if not unchanged(described["sources"]):
        return None
    return Code(described["entries"], _shared(LIBRARIES / manifest["libraries"][level]))


@cache
def _shared(path: Path) -> ctypes.CDLL:
    return ctypes.CDLL(str(path))


@cache
def processor_level() -> str:
    """Return the level of this processor for which there may be a library, or nothing."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return ""
    with Path("/proc/cpuinfo").open(encoding="ascii", errors="replace") as lines:
        flags = next((set(line.split()) for line in lines if line.startswith("flags")), set())
    needed = LEVELS["x86-64-v2"]
    return next((name for name, more in LEVELS.items() if needed | more <= flags), "")


def machine(level: str) -> dict[str, str]:
    """Describe what compiled code depends on besides its sources."""
    from importlib.metadata import version

    from llvmlite import binding

    known = {name: version(name) for name in ("numba", "llvmlite")}
    known |= {"triple": binding.get_process_triple(), "processor": level}
    if level == HOST:
        features = binding.get_host_cpu_features().flatten()
        known["processor"] = os.environ.get("NUMBA_CPU_NAME") or binding.get_host_cpu_name()
        known["features"] = hashlib.sha256(features.encode()).hexdigest()[:16]
    return known


def file_name(group: str, level: str) -> str:
    """Return how the names of files begin that have a group for a machine."""
    return group if level == HOST else f"{group}.{level}"


def fitting(
    group: str, places: Sequence[Path], level: str = HOST
) -> tuple[dict[str, Any], bytes] | None:
    """Return kept machine code of a group for a machine and for the sources as they are."""
    expected = machine(level)
    for described, code in kept(file_name(group, level), places):
        if described.get("machine") == expected and unchanged(described["sources"]):
            return described, code
    return None


def _compiled(group: str) -> Code:
    """Return kept machine code of a group, or compile it."""
    if importlib.util.find_spec("numba") is None:
        raise Unavailable(
            "this installation has no machine code for this platform or for changed sources, "
            "and no compiler (pip install numba)"
        )
    found = fitting(group, folders())
    if found is None:
        with _place() as folder:
            _compile(group, folder)
            found = fitting(group, [folder])
    if found is None:
        raise RuntimeError(f"the kernels of {group} were compiled and cannot be read")
    described, code = found
    return Code(described["entries"], _engine(code))


@contextlib.contextmanager
def _place() -> Iterator[Path]:
    """Yield the folder for new machine code; without one, a folder that is deleted."""
    if folder := writable_folder():
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="partita-") as temporary:
        yield Path(temporary)


def compile_all() -> None:
    """Compile the groups that the package does not have for this machine, several at a time."""
    with _place() as folder:
        pending = [g for g in GROUPS if not _packaged(g) and not fitting(g, folders())]
        while pending:
            several, pending = pending[: os.cpu_count()], pending[os.cpu_count() or 1 :]
            for group in several:
                _RUNNING[group] = start(group, folder, HOST)
            for group in several:
                _compile(group, folder)


WAITED_FOR: list[str] = []  # groups whose compilation was shown


def _compile(group: str, folder: Path) -> None:
    """Compile a group in a process of its own, and start those that will be needed with it."""
    together = () if group in _RUNNING else TOGETHER.get(group, ())
    for name in (group, *together):
        if name not in _RUNNING and (name == group or fitting(name, [folder]) is None):
            _RUNNING[name] = start(name, folder, HOST)
    WAITED_FOR.append(group)
    with _RUNNING.pop(group) as process:
        _wait(process)
        if process.returncode:
            error = process.stderr.read().decode().strip() if process.stderr else ""
            raise Unavailable(f"the kernels of {group} cannot be compiled: {error[-2000:]}")


def start(group: str, folder: Path, *levels: str) -> subprocess.Popen[bytes]:
    """Start to compile a group for machines in a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "partita.compilation.compiler", group, str(folder), *levels]
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Wait for a compilation and say so: it takes longer than most commands."""
    terminal, start = sys.stderr.isatty(), time.monotonic()
    text = "partita: compiling for this machine, once"
    if not terminal:
        print(f"{text} ...", file=sys.stderr, flush=True)
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
            break
        if terminal:
            seconds = int(time.monotonic() - start)
            print(f"\r{text}: {seconds} s", end="", file=sys.stderr, flush=True)
    seconds = round(time.monotonic() - start)
    print(f"{chr(13) * terminal}{text}: {seconds} s", file=sys.stderr, flush=True)


def _engine(code: bytes) -> Any:
    """Let LLVM load an object file."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_triple(binding.get_process_triple())
    empty = target.create_target_machine(opt=0)  # of the empty module: the object is compiled
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), empty)
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine
