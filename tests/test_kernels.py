"""All entries: declared, called with their types, and equal to the kernels as written."""

from __future__ import annotations

import copy
import dis
import importlib
import inspect
import pkgutil
import re
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import partita
import partita_incidents
from partita import compilation
from partita.compilation import Kernel, loading
from partita.compilation.library import CompiledEntry
from partita.configurations.exact import kernels as exact_kernels
from partita.fusion.numeric_kernels import central_intervals, window_owners
from partita.linkage.value_levels import edit_similarities_of

Scene = Callable[[Path], Any]
LIKE_NAMES = {"LOAD_GLOBAL", "LOAD_NAME", "IMPORT_FROM"}
LIKE_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD"}


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not found.name.endswith(("__main__", "compilation.compiler")):
            yield importlib.import_module(found.name)


@pytest.fixture(scope="module")
def everything() -> list[ModuleType]:
    with warnings.catch_warnings(action="ignore"):  # former names of modules
        return [*modules(partita), *modules(partita_incidents)]


def kernels(module: ModuleType) -> Iterator[Kernel[Any, Any]]:
    for value in vars(module).values():
        if isinstance(value, Kernel) and value.py_func.__module__ == module.__name__:
            yield value


def codes(module: ModuleType) -> Iterator[CodeType]:
    """Yield the code of the functions of a module that are not kernels."""
    pending: list[Any] = []
    for value in vars(module).values():
        if getattr(value, "__module__", None) == module.__name__ and not isinstance(value, Kernel):
            pending += vars(value).values() if isinstance(value, type) else [value]
    for value in pending:
        function = getattr(value, "__func__", getattr(value, "fget", getattr(value, "func", value)))
        function = inspect.unwrap(function) if callable(function) else function
        if isinstance(function, FunctionType):
            yield from inner(function.__code__)


def inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from inner(constant)


def called(module: ModuleType, code: CodeType) -> Iterator[Kernel[Any, Any]]:
    """Yield the kernels to which code refers by name, or as attributes of modules."""
    imported: Any = None
    value: Any = None
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            imported = sys.modules.get(step.argval)
        elif step.opname in LIKE_NAMES:
            source = imported if step.opname == "IMPORT_FROM" else module
            value = vars(source).get(step.argval) if source else None
            if isinstance(value, Kernel):
                yield value
        elif step.opname in LIKE_ATTRIBUTES and isinstance(value, ModuleType):
            value = vars(value).get(step.argval)
            if isinstance(value, Kernel):
                yield value
        elif step.opname != "PRECALL":
            value = None


def test_every_kernel_that_python_calls_is_an_entry_and_no_other(
    everything: list[ModuleType],
) -> None:
    uses = {k.name: k for m in everything for code in codes(m) for k in called(m, code)}
    entries = {k.name for m in everything for k in kernels(m) if k.entry is not None}
    assert {name for name, kernel in uses.items() if kernel.entry is None} == set()
    assert entries - uses.keys() == set()


NUMBERS = {"int", "float", "bool", "np.uint32", "np.uint64"}


def unexplained(module: ModuleType, kernel: Kernel[Any, Any]) -> Iterator[str]:
    """Yield the arguments, numbers apart, that neither kernel, module nor type of record names."""
    for name, argument in inspect.signature(kernel.py_func).parameters.items():
        kind = argument.annotation
        record = vars(module).get(str(kind))
        heads = [kernel.py_func.__doc__, module.__doc__, getattr(record, "__doc__", "")]
        named = any(re.search(rf"\b{name}\b", head or "") for head in heads)
        if kind not in NUMBERS and not named:
            yield name
        if hasattr(record, "_fields"):
            yield from (f"{kind}.{field}" for field in silent_fields(record))


@cache
def silent_fields(record: Any) -> list[str]:
    """Return the fields that neither the head of a record nor a comment of theirs explains."""
    fields = inspect.getsource(record).replace(record.__doc__ or "", "")
    return [
        name
        for name in record._fields
        if not re.search(rf"\b{name}\b", record.__doc__)
        and not re.search(rf"^    {name}: .*  # ", fields, re.MULTILINE)
    ]


def test_every_entry_has_a_type_for_each_argument_and_says_what_they_are(
    everything: list[ModuleType],
) -> None:
    for module in everything:
        for kernel in kernels(module):
            names = inspect.signature(kernel.py_func).parameters
            assert kernel.entry is None or len(kernel.kinds) == len(names), kernel.name
            assert kernel.py_func.__doc__, kernel.name
            assert not list(unexplained(module, kernel)), kernel.name


def test_every_entry_of_the_package_is_in_a_group(everything: list[ModuleType]) -> None:
    grouped = {f"partita.{name}" for group in loading.GROUPS.values() for name in group}
    own = [m for m in everything if m.__name__.startswith("partita.")]
    with_entries = {m.__name__ for m in own if any(k.entry is not None for k in kernels(m))}
    assert with_entries == grouped


def equal(found: Any, expected: Any, name: str) -> None:
    """Compare results: whole numbers exactly, others up to 1e-12 of the largest."""
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            equal(one, other, name)
    elif isinstance(expected, np.ndarray | float | np.floating):
        one, other = np.asarray(found), np.asarray(expected)
        assert one.shape == other.shape, name
        if other.dtype.kind == "f":
            single = (
                other.dtype.itemsize == 4 or ".joint." in name
            )  # the network is of such numbers
            tolerance = 1e-5 if single else 1e-12
            finite = np.abs(other[np.isfinite(other)]).max(initial=1.0)
            np.testing.assert_allclose(one, other, tolerance, tolerance * finite, err_msg=name)
        else:
            np.testing.assert_array_equal(one, other, err_msg=name)
    elif not isinstance(expected, np.random.Generator):
        assert found == expected, name


ENOUGH = 3  # calls of an entry that are compared


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Compares entries with the kernels as they are written, at their first calls; counts these."""
    counted: Counter[str] = Counter()
    call, by_library = CompiledEntry.__call__, Kernel.__call__
    this_thread = threading.local()

    def as_chosen(kernel: Kernel[Any, Any], *args: Any) -> Any:
        as_written = getattr(this_thread, "as_written", False)
        return kernel.py_func(*args) if as_written else by_library(kernel, *args)

    def check(entry: CompiledEntry, *args: Any) -> Any:
        if counted[entry.name] >= ENOUGH:
            return call(entry, *args)
        counted[entry.name] += 1
        copies = copy.deepcopy(args)
        result = call(entry, *args)
        module, _, name = entry.name.rpartition(".")
        this_thread.as_written = True
        with np.errstate(all="ignore"):
            expected = getattr(sys.modules[module], name)(*copies)
        this_thread.as_written = False
        equal(result, expected, entry.name)
        equal(args, copies, entry.name)
        return result

    monkeypatch.setattr(Kernel, "__call__", as_chosen)
    monkeypatch.setattr(CompiledEntry, "__call__", check)
    return counted


def _solve(n: int, share: float, model: str = "evidential", **options: Any) -> Scene:
    def solved(folder: Path) -> Any:
        rng, rows = np.random.default_rng(3), ["left,right,probability"]
        for i in range(n):
            for j in range(i):
                if i - j == 1 or rng.random() < share:
                    rows.append(f"t{i},t{j},{rng.uniform(0.05, 0.9):.3f}")
        (folder / "pairs.csv").write_text("\n".join(rows) + "\n")
        return partita.solve(folder / "pairs.csv", model, **options)

    return solved


def _run(_folder: Path) -> Any:
    text = "Acme bought Borealis from Anna Berg. It paid her in cash. The company is Swedish. "
    return partita.run(text + "Anna Berg told reporters that she will leave the firm in May.")


def _cluster(folder: Path) -> Any:
    rng, rows = np.random.default_rng(2), ["left,right,probability"]
    rows += [f"a{i},a{j},{rng.uniform():.3f}" for i in range(6) for j in range(i)]
    rows += [f"b{i},b{i + 1},{rng.uniform():.3f}" for i in range(20)]
    (folder / "scores.csv").write_text("\n".join(rows) + "\n")
    return partita.cluster(folder / "scores.csv")


def _exact(_folder: Path) -> Any:
    weights = np.random.default_rng(4).random(32)
    exact_kernels.fill_normalisers(weights, np.empty(32))
    return exact_kernels.fill_log_normalisers(np.log(weights), np.empty(32))


def _values(_folder: Path) -> Any:
    edit_similarities_of(["oslo", "olso"], np.array([0, 0]), np.array([1, 0]))
    line = np.array([0, 3]), np.array([1.0, 2.0, 5.0])
    window_owners(*line, np.array([0.5, 0.2, 0.3]), np.array([0, 1, 2]), 1.5)
    return central_intervals(*line, np.ones(3), np.array([0.5, 0.2, 0.3]), 1.0, 0.8)


# What is done, and some of the entries that it calls.
SCENES: dict[str, tuple[Scene, str]] = {
    "run": (_run, "tag_all parse_all find_all draw_and_search"),
    "cluster": (_cluster, "answer_small answer_rows draw"),
    "solve": (_solve(26, 0.02), "cells_from push"),
    "exact": (_exact, "fill_normalisers fill_log_normalisers"),
    "sampled": (_solve(10, 0.5, method="sampled"), "run_chain"),
    "certified": (_solve(10, 0.5, method="certified"), "forward"),
    "merging": (_solve(24, 0.1, "merging"), "draw_joins"),
    "values": (_values, "edit_similarities window_owners central_intervals"),
}


@pytest.mark.parametrize("scene", SCENES)
def test_entries_equal_the_kernels_as_they_are_written(
    scene: str, compared: Counter[str], tmp_path: Path
) -> None:
    if compilation.mode() != "library":
        pytest.skip("kernels are not called by the library")
    do, names = SCENES[scene]
    do(tmp_path)
    assert {*names.split()} <= {name.rpartition(".")[2] for name in compared}


def test_entries_equal_what_numba_makes_of_them() -> None:
    """Numba compiles for the types that it gets: those that are declared."""
    rng = np.random.default_rng(5)
    weights, (one, other) = rng.random(16), np.zeros((2, 16))
    for kernel, *args in (
        (exact_kernels.fill_normalisers, weights),
        (exact_kernels.fill_log_normalisers, np.log(weights)),
    ):
        kernel(*args, one)
        kernel.dispatcher(*args, other)
        np.testing.assert_array_equal(one, other, err_msg=kernel.name)
        [types] = kernel.dispatcher.signatures
        assert [str(t) for t in types] == ["array(float64, 1d, C)"] * 2
