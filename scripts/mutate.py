"""Apply small mutations to the core rooms and run the tests that call the mutated function.

Run by `make mutate`. One process collects the tests and runs those of a room once, noting which of
them call the functions that will be mutated. For every mutation it forks, with all it has loaded.
The fork replaces the code of the function by that of the changed source, and runs the tests that
call it, the quickest first, until one fails. No file of the project is touched. Compiled kernels
are left out: machine code does not follow its source. Mutations that no test notices are listed.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import functools
import gc
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType, FunctionType

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "partita"
ROOMS = {
    "configurations/exact": ("configurations/test_exact.py", "configurations/test_solve.py"),
    "configurations/sparse": ("configurations/sparse",),
    "configurations/certified": ("configurations/certified",),
    "configurations/merging": ("configurations/merging",),
    "configurations/sampled": ("configurations/sampled",),
    "configurations/search": ("configurations/search", "configurations/optimum"),
    "templates": ("templates",),
    "antecedents": ("antecedents",),
    "entities": ("entities",),
    "files": ("files", "linkage/test_pairs.py", "fusion/test_claim_files.py"),
    "linkage": ("linkage", "app/test_link.py", "configurations/test_solve.py"),
    "fusion": ("fusion",),
}
MOST_TESTS = 25  # for one mutation, the quickest ones first
MOST_SECONDS = 20.0  # of CPU for the tests of one mutation
SLOWEST = 3.0  # seconds of CPU; slower tests are left out
PATIENCE = 10.0  # a mutation that makes its tests slower by this factor is noticed
HANGS = 30  # seconds, with four times its CPU time, after which a forked process is ended
AGAIN = 0.2  # seconds of CPU until the next look at a test that loads machine code
COMPILERS = ("numba.", "llvmlite.")
SURVIVED = "NOT NOTICED"
HIT = "__mutated_function_is_called__"
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
            for start, end, new in _changes(function, _Source(source, starts)):
                line, first = source.count("\n", 0, start) + 1, _first_line(function)
                found.append(Mutation(name, line, start, end, source[start:end], new, first))
    return sorted({(m.start, m.new): m for m in found}.values(), key=lambda m: (m.start, m.new))


def _first_line(function: ast.FunctionDef) -> int:
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


def _compiled(function: ast.FunctionDef) -> bool:
    decorators = [ast.unparse(decorator) for decorator in function.decorator_list]
    return any(name in decorator for decorator in decorators for name in ("kernel", "uncounted"))


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


def survivors_of(log: Path, rooms: Sequence[str]) -> dict[str, list[Mutation]]:
    """Return the mutations of a log that no test noticed."""
    lines = [line for line in log.read_text(encoding="utf-8").split("\n") if SURVIVED in line]
    names = {line.rpartition(" (")[0] for line in lines}
    files = {name.partition(":")[0] for name in names}
    return {
        room: [
            mutation
            for file in sorted(files)
            if Path(file).parent.as_posix() == room
            for mutation in mutations(PACKAGE / file, file)
            if str(mutation) in names
        ]
        for room in rooms
    }


# --- code ---


def codes(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """Return all code objects inside one, by name and first line."""
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    every = {(one.co_qualname, one.co_firstlineno): one for one in inner}
    return every | {name: one for each in inner for name, one in codes(each).items()}


def replace_code(file: Path, source: ast.Module | str) -> None:
    """Give the functions of a file the code that is compiled from a source."""
    compiled = codes(compile(source, str(file), "exec", dont_inherit=True))
    for function in gc.get_objects():
        # not isinstance, which asks a proxy for the class of an object that may be gone
        if type(function) is FunctionType and function.__code__.co_filename == str(file):
            old = function.__code__
            new = compiled.get((old.co_qualname, old.co_firstlineno))
            if new is not None and new.co_freevars == old.co_freevars:
                function.__code__ = new


def with_hits(source: str, name: str, functions: set[int]) -> ast.Module:
    """Return a source whose functions on these lines say that they are called."""
    tree = ast.parse(source)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and _first_line(function) in functions:
            place = f"{name}:{_first_line(function)}"
            call = ast.parse(f"{HIT}({place!r})").body[0]
            for node in ast.walk(call):
                ast.copy_location(node, function.body[0])
            function.body.insert(0, call)
    return tree


def module_name(file: str) -> str:
    """Return the name of the module of a file of the package."""
    parts = Path(file).with_suffix("").parts
    return ".".join(("partita", *(parts[:-1] if parts[-1] == "__init__" else parts)))


@contextmanager
def hits_noted(drawn: Sequence[Mutation], note: Callable[[str], None]) -> Iterator[None]:
    """Call `note` with the place of every function that is to be mutated, when it is called."""
    setattr(builtins, HIT, note)
    files = {mutation.file for mutation in drawn}
    sources = {file: (PACKAGE / file).read_text(encoding="utf-8") for file in files}
    for file, source in sources.items():
        import_module(module_name(file))  # which a test may load only when it is needed
        functions = {mutation.function for mutation in drawn if mutation.file == file}
        replace_code(PACKAGE / file, with_hits(source, file, functions))
    yield
    for file, source in sources.items():
        replace_code(PACKAGE / file, source)


def forget() -> None:
    """Empty the caches of functions, which hold what the code before a mutation returned."""
    for each in gc.get_objects():
        if type(each) is functools._lru_cache_wrapper:
            module = str(getattr(each, "__module__", ""))
            if module.startswith("partita.") and module != "partita.compilation":
                each.cache_clear()


# --- tests ---

Tests = list[tuple[float, pytest.Item]]  # with their CPU seconds


class TooSlow(BaseException):
    """A test took too long. Not an Exception, so that no test catches it."""


class Campaign:
    """A plugin of pytest that runs the collected tests once, and then those of each mutation."""

    def __init__(
        self,
        drawn: dict[str, list[Mutation]],
        log: Path | None = None,
        seconds: float = float("inf"),
        slowest: float = SLOWEST,
    ) -> None:
        self.drawn, self.log, self.slowest = drawn, log, slowest
        self.end = time.monotonic() + seconds
        self.noticed: dict[Mutation, str] = {}  # the test that notices it, or ""
        self.tests: dict[str, Tests] = defaultdict(list)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for room, drawn in self.drawn.items():
            folders = [ROOT / "tests" / name for name in ROOMS[room]]
            self._record([item for item in session.items if _inside(item, folders)], drawn)
            for mutation in drawn:
                if time.monotonic() < self.end:
                    tests = self.tests[f"{mutation.file}:{mutation.function}"]
                    tests.sort(key=lambda test: test[0])
                    self.noticed[mutation] = first_failure(mutation, tests)
                    self._say(mutation, len(tests))
        return True

    def _record(self, items: Sequence[pytest.Item], drawn: Sequence[Mutation]) -> None:
        """Run every test once, and note which functions it calls and how long it takes."""
        called: set[str] = set()
        with hits_noted(drawn, called.add):
            for item in items:
                called.clear()
                began = time.process_time()
                if time.monotonic() < self.end and passes(item, self.slowest):
                    for place in called:
                        self.tests[place].append((time.process_time() - began, item))

    def _say(self, mutation: Mutation, tests: int) -> None:
        test = self.noticed[mutation]
        said = f"noticed by {test}" if test else SURVIVED
        line = f"{mutation} ({tests} tests): {said}"
        print(line, file=sys.stderr, flush=True)
        if self.log:
            with self.log.open("a", encoding="utf-8") as stream:
                stream.write(f"{line}\n")


def _inside(item: pytest.Item, folders: Sequence[Path]) -> bool:
    return any(folder in (item.path, *item.path.parents) for folder in folders)


def passes(item: pytest.Item, seconds: float) -> bool:
    """Return whether a test passes within its CPU time."""

    def ring(_signal: int, frame: FrameType | None) -> None:
        if compiling(frame):
            signal.setitimer(signal.ITIMER_PROF, AGAIN)
        else:
            raise TooSlow

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return all(report.passed for report in runtestprotocol(item, nextitem=None, log=False))
    except BaseException:  # the end of the time in the middle of pytest itself
        return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def compiling(frame: FrameType | None) -> bool:
    """Return whether machine code is being made or loaded: half loaded, its calls would crash."""
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(COMPILERS):
            return True
        frame = frame.f_back
    return False


def first_failure(mutation: Mutation, tests: Tests) -> str:
    """Return the first test that fails with the mutation and passes without it, or nothing."""
    source = mutation.apply((PACKAGE / mutation.file).read_text(encoding="utf-8"))
    chosen: Tests = []
    for took, item in tests[:MOST_TESTS]:
        if not chosen or sum(other for other, _ in chosen) + took < MOST_SECONDS:
            chosen.append((took, item))

    def mutated() -> int:
        replace_code(PACKAGE / mutation.file, source)
        return failing(chosen)

    while chosen and (number := forked(mutated, chosen)):
        _, item = failed = chosen[number - 1]
        if not forked(lambda: failing([failed]), [failed]):  # noqa: B023
            return item.nodeid
        chosen.remove(failed)
    return ""


def failing(tests: Tests) -> int:
    """Return the number of the first test that fails, from 1, or 0."""
    forget()
    for number, (took, item) in enumerate(tests, 1):
        os.ftruncate(PROGRESS, 0)
        os.pwrite(PROGRESS, str(number).encode(), 0)
        if not passes(item, 1.0 + PATIENCE * took):
            return number
    return 0


def forked(work: Callable[[], int], tests: Tests) -> int:
    """Return what a call in a forked process returns; the running test if it does not return."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        seconds = int(5 + PATIENCE * sum(took for took, _ in tests))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        signal.alarm(HANGS + 4 * seconds)  # ends it: a thread of before the fork may hold a lock
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        try:
            os._exit(work())
        except BaseException:
            os._exit(255)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if 0 <= code < 255 else int(os.pread(PROGRESS, 10, 0) or b"1")


PROGRESS = os.memfd_create("progress")  # the number of the running test of a forked process


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rooms", nargs="+", choices=sorted(ROOMS), default=list(ROOMS))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--log", type=Path, help="file to which every outcome is appended")
    parser.add_argument("--survivors", type=Path, help="log whose survivors are tried again")
    parser.add_argument("--slowest", type=float, default=SLOWEST, help="CPU seconds of a test")
    given = parser.parse_args()
    os.chdir(ROOT)
    if given.survivors:
        drawn = survivors_of(given.survivors, given.rooms)
    else:
        drawn = chosen(given.mutations, given.seed, given.rooms)
    campaign = Campaign(drawn, given.log, given.seconds, given.slowest)
    tests = sorted({str(ROOT / "tests" / name) for room in given.rooms for name in ROOMS[room]})
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = folder
        options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(ROOT)]
        pytest.main([*options, *tests], plugins=[campaign])
    print("\n| room | mutations | noticed |\n| --- | --- | --- |")
    for room, mutations_ in drawn.items():
        done = [mutation for mutation in mutations_ if mutation in campaign.noticed]
        found = sum(bool(campaign.noticed[mutation]) for mutation in done)
        print(f"| {room} | {len(done)} | {found} |")
    survivors = [mutation for mutation, test in campaign.noticed.items() if not test]
    total = len(campaign.noticed)
    print(f"\n{total - len(survivors)} of {total} mutations noticed; not noticed:")
    print(*survivors, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
