"""Apply small mutations to the core rooms and run the tests that call the mutated function.

Run by `make mutate`. A mutation exists only in the memory of the process that tests it: an import
hook compiles the changed source, and no file of the project is touched. A first run of the tests of
each room notes which tests call which function. Compiled kernels are left out: their compiled form
is kept in a cache by the file's date. Mutations that no test notices are listed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "partita"
ROOMS = {
    "configurations/dense": ("configurations/test_exact.py", "configurations/test_solve.py"),
    "configurations/elimination": ("configurations/elimination",),
    "configurations/certified": ("configurations/certified",),
    "configurations/merging": ("configurations/merging",),
    "configurations/sampled": ("configurations/sampled",),
    "configurations/search": ("configurations/search", "configurations/optimum"),
    "templates": ("templates",),
    "reference": ("reference",),
    "entities": ("entities",),
    "files": ("files", "linkage/test_pairs.py", "fusion/test_claim_files.py"),
    "linkage": ("linkage", "configurations/test_solve.py"),
    "fusion": ("fusion",),
}
MOST_TESTS = 25  # for one mutation, the quickest ones first
CPU = 120  # seconds for the tests of one mutation; one that makes them slower is noticed
SWAPS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.In: ("in", "not in"),
    ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.NotIn: ("not in", "in"),
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"), ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change of one place of a file."""

    file: str
    line: int
    start: int  # offset in the source
    end: int
    old: str
    new: str
    function: int  # the first line of its code object, which has its decorators

    def apply(self, source: str) -> str:
        return source[: self.start] + self.new + source[self.end :]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.old.strip()} → {self.new.strip()}"


# --- mutations ---


def mutations(path: Path, name: str) -> list[Mutation]:
    """Return all mutations of the functions of a file."""
    source = path.read_text(encoding="utf-8")
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: list[Mutation] = []
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef) and not _compiled(function):
            first = min([function.lineno, *(d.lineno for d in function.decorator_list)])
            for start, end, new in _changes(function, _Source(source, starts)):
                line = source.count("\n", 0, start) + 1
                found.append(Mutation(name, line, start, end, source[start:end], new, first))
    return sorted({(m.start, m.new): m for m in found}.values(), key=lambda m: (m.start, m.new))


def _compiled(function: ast.FunctionDef) -> bool:
    return any("kernel" in ast.unparse(decorator) for decorator in function.decorator_list)


Change = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class _Source:
    """A source with the offsets of its lines."""

    text: str
    starts: Sequence[int]

    def start(self, node: ast.expr) -> int:
        return self._at(node.lineno, node.col_offset)

    def end(self, node: ast.expr) -> int:
        return self._at(node.end_lineno or 0, node.end_col_offset or 0)

    def _at(self, line: int, column: int) -> int:
        text = self.text[self.starts[line - 1] : self.starts[line]]
        return self.starts[line - 1] + len(text.encode()[:column].decode())

    def swapped(self, left: ast.expr, right: ast.expr, operator: ast.AST) -> Iterator[Change]:
        """Yield the change of the operator between two expressions."""
        old, new = SWAPS.get(type(operator), ("", ""))
        start, end = self.end(left), self.start(right)
        place = self.text.find(old, start, end)
        if old and place >= 0 and "#" not in self.text[start:end]:
            yield place, place + len(old), new


def _changes(function: ast.FunctionDef, source: _Source) -> Iterator[Change]:
    for statement in function.body:
        for node in ast.walk(statement):
            match node:
                case ast.BinOp(left, operator, right):
                    yield from source.swapped(left, right, operator)
                case ast.Compare(left, [operator, *_], [right, *_]):
                    yield from source.swapped(left, right, operator)
                case ast.BoolOp(operator, [left, right, *_]):
                    yield from source.swapped(left, right, operator)
                case ast.Constant(bool(value) | int(value) | float(value)):
                    yield source.start(node), source.end(node), _other(value)
                case ast.UnaryOp(ast.Not(), operand):
                    yield source.start(node), source.start(operand), ""


def _other(value: float) -> str:
    return repr(not value if isinstance(value, bool) else value + 1)


def chosen(count: int, seed: int, rooms: Sequence[str]) -> dict[str, list[Mutation]]:
    """Return about as many mutations of each room, drawn at random."""
    drawn: dict[str, list[Mutation]] = {}
    for n, room in enumerate(rooms):
        every = [
            mutation
            for path in sorted((PACKAGE / room).glob("*.py"))
            if not path.stem.endswith("kernels")
            for mutation in mutations(path, path.relative_to(PACKAGE).as_posix())
        ]
        size = count * (n + 1) // len(rooms) - count * n // len(rooms)
        drawn[room] = random.Random(f"{seed}/{room}").sample(every, min(size, len(every)))
    return drawn


# --- tests ---


class CallRecorder:
    """A plugin of pytest that notes the functions of the package that each test calls."""

    def __init__(self) -> None:
        self.calls: dict[str, list[tuple[float, str]]] = defaultdict(list)

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> None:
        self.seen: set[CodeType] = set()

    def pytest_runtest_call(self, item: Any) -> None:
        sys.setprofile(self._note)
        self.began = time.perf_counter()

    def pytest_runtest_setup(self, item: Any) -> None:
        sys.setprofile(self._note)
        self.began = time.perf_counter()

    def pytest_runtest_teardown(self, item: Any) -> None:
        sys.setprofile(None)
        took = time.perf_counter() - self.began
        for code in self.seen:
            if code.co_filename.startswith(str(PACKAGE)):
                place = Path(code.co_filename).relative_to(PACKAGE).as_posix()
                self.calls[f"{place}:{code.co_firstlineno}"].append((took, item.nodeid))

    def _note(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            self.seen.add(frame.f_code)


class Mutated(MetaPathFinder):
    """Import one module from a changed source."""

    def __init__(self, name: str, source: str) -> None:
        self.name, self.source = name, source

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if name == self.name else None
        if spec is not None and spec.origin is not None:
            source, origin = self.source, spec.origin

            class Loader(SourceFileLoader):
                def get_code(self, fullname: str) -> CodeType:
                    return compile(source, origin, "exec", dont_inherit=True)

            spec.loader = Loader(name, origin)
        return spec


def forked(work: Any, seconds: float) -> int:
    """Return the exit code of a call in a forked process, or 1 if it takes too much CPU time."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        _, status = os.waitpid(pid, 0)
        return abs(os.waitstatus_to_exitcode(status))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        os._exit(int(work()))
    except BaseException:
        os._exit(1)


def run_tests(names: Sequence[str], plugins: Sequence[object] = ()) -> int:
    import pytest

    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--rootdir", str(ROOT)]
    return int(pytest.main([*options, *names], plugins=list(plugins)))


def calls_of(room: str, place: Path) -> dict[str, list[tuple[float, str]]]:
    """Run the tests of a room once; return those that call each function, the quickest first."""

    def record() -> int:
        recorder = CallRecorder()
        code = run_tests([str(ROOT / "tests" / name) for name in ROOMS[room]], [recorder])
        place.write_text(json.dumps(recorder.calls))
        return code

    if forked(record, 3600):
        raise SystemExit(f"the tests of {room} fail without a mutation")
    return {
        name: sorted(map(tuple, tests)) for name, tests in json.loads(place.read_text()).items()
    }


def noticed(mutation: Mutation, tests: Sequence[tuple[float, str]]) -> bool:
    """Return whether one of the tests fails with the mutation."""
    source = mutation.apply((PACKAGE / mutation.file).read_text(encoding="utf-8"))
    parts = Path(mutation.file).with_suffix("").parts
    name = ".".join(("partita", *(parts[:-1] if parts[-1] == "__init__" else parts)))

    def work() -> int:
        sys.meta_path.insert(0, Mutated(name, source))
        return run_tests([str(ROOT / test) for _, test in tests[:MOST_TESTS]])

    return bool(tests) and forked(work, CPU) != 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rooms", nargs="+", choices=sorted(ROOMS), default=list(ROOMS))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    given = parser.parse_args()
    os.chdir(ROOT)
    end = time.monotonic() + given.seconds
    import numba  # noqa: F401  # the forked processes have them

    total = killed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = folder
        print("| room | mutations | noticed |\n| --- | --- | --- |", flush=True)
        survivors: list[str] = []
        for room, drawn in chosen(given.mutations, given.seed, given.rooms).items():
            calls = calls_of(room, Path(folder) / "calls.json") if time.monotonic() < end else {}
            done = 0
            for mutation in drawn:
                if time.monotonic() > end:
                    break
                tests = calls.get(f"{mutation.file}:{mutation.function}", [])
                found = noticed(mutation, tests)
                done, killed = done + 1, killed + found
                if not found:
                    survivors.append(f"{mutation} ({len(tests)} tests)")
                    print(survivors[-1], file=sys.stderr, flush=True)
            total += done
            print(
                f"| {room} | {done} | {done - sum(s.startswith(room) for s in survivors)} |",
                flush=True,
            )
    print(f"\n{killed} of {total} mutations noticed ({killed / max(total, 1):.0%}); not noticed:")
    print(*survivors, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
