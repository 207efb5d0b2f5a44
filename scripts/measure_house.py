"""Measure the source tree: sizes, repeated names, import cycles, modules that a command loads.

    python scripts/measure_house.py [--root FOLDER] [--json] [--check]

`--root` measures another checkout. `--check` exits with code 1 if a limit is exceeded. Imports
inside functions count as imports; those under TYPE_CHECKING do not. A module has a single importer
when exactly one other module of the package imports it (packages' own `__init__` apart).
"""

from __future__ import annotations

import argparse
import ast
import json
import statistics
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "partita"
LIMITS = {
    "lines": 70_000,
    "modules": 340,
    "lines outside": 14_000,
    "page and YAML lines": 10_845,
    "import cycles": 0,
    "repeated class names": 0,
    "repeated public functions": 0,
    "single importers": 45,
    "loaded by run": 100,
    "loaded by cluster": 90,
    "loaded by fuse": 80,
    "function median": 7,
    "function p90": 19,
}
PAIRS = "left,right,probability\na,b,0.9\nb,c,0.4\n"
CLAIMS = "object,source,value\nx,s,1\nx,t,2\ny,s,3\ny,t,3\n"
TEXT = "Acme bought Borealis. It paid in cash.\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to measure")
    parser.add_argument("--python", default=sys.executable, help="the Python that has it installed")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is exceeded")
    parser.add_argument("--details", action="store_true", help="name what is counted")
    arguments = parser.parse_args()
    house = House(arguments.root.absolute())
    figures = house.figures() | loaded_modules(arguments.root.absolute(), arguments.python)
    if arguments.json:
        print(json.dumps(figures, indent=1))
    else:
        for name, value in figures.items():
            limit = LIMITS.get(name)
            over = "" if limit is None else f"  (at most {limit:,})" + " OVER" * (value > limit)
            print(f"{name:28}{value:>10,}{over}")
    if arguments.details:
        print(json.dumps(house.details(), indent=1))
    exceeded = [name for name, limit in LIMITS.items() if figures[name] > limit]
    raise SystemExit(bool(arguments.check and exceeded))


class House:
    """The sources of one checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root
        source = root / "src"
        self.trees: dict[str, ast.Module] = {}
        self.packages: set[str] = set()
        self.paths = sorted((source / PACKAGE).rglob("*.py"))
        for path in self.paths:
            parts = path.relative_to(source).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            self.packages |= {name} if parts[-1] == "__init__" else set()
            self.trees[name] = ast.parse(path.read_text(encoding="utf-8"))
        self.imports = {
            name: set(self._imports(name, tree)) - {name} for name, tree in self.trees.items()
        }

    def figures(self) -> dict[str, Any]:
        lengths = sorted(self._function_lengths())
        code, comments = self._comments()
        return {
            "lines": line_count(self.paths),
            "modules": len(self.paths),
            "lines outside": sum(
                line_count(path for path in (self.root / folder).rglob("*.py") if not is_test(path))
                for folder in ("packages", "research")
            ),
            "page and YAML lines": sum(
                line_count((self.root / folder).rglob(f"*.{ending}"))
                for folder in ("src", "packages")
                for ending in ("js", "css", "html", "yaml")
            ),
            "import cycles": len(self.cycles()),
            "repeated class names": len(self.repeated(ast.ClassDef)),
            "repeated public functions": len(self.repeated(ast.FunctionDef)),
            "single importers": len(self.single_importers()),
            "functions": len(lengths),
            "function median": int(statistics.median(lengths)),
            "function p90": lengths[int(0.9 * len(lengths))],
            "comment lines per 1,000": round(1000 * comments / code, 1),
        }

    def details(self) -> dict[str, Any]:
        return {
            "cycles": self.cycles(),
            "classes": self.repeated(ast.ClassDef),
            "functions": self.repeated(ast.FunctionDef),
            "single importers": self.single_importers(),
        }

    def _imports(self, name: str, tree: ast.AST) -> Iterator[str]:
        folder = name if name in self.packages else name.rpartition(".")[0]
        for node in _run_time_nodes(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._modules(alias.name)
            elif isinstance(node, ast.ImportFrom):
                above = folder.split(".")[: len(folder.split(".")) - node.level + 1]
                source = (
                    ".".join([*above, node.module or ""]).strip(".") if node.level else node.module
                )
                for alias in node.names:
                    inner = f"{source}.{alias.name}"
                    yield from self._modules(inner if inner in self.trees else source or "")

    def _modules(self, name: str) -> Iterator[str]:
        if name in self.trees:
            yield name

    def cycles(self) -> list[list[str]]:
        """The strongly connected groups of modules, by Tarjan's algorithm."""
        index: dict[str, int] = {}
        low: dict[str, int] = {}
        stack: list[str] = []
        groups: list[list[str]] = []

        def visit(name: str) -> None:
            index[name] = low[name] = len(index)
            stack.append(name)
            for other in sorted(self.imports[name]):
                if other not in index:
                    visit(other)
                    low[name] = min(low[name], low[other])
                elif other in stack:
                    low[name] = min(low[name], index[other])
            if low[name] == index[name]:
                group = stack[stack.index(name) :]
                del stack[stack.index(name) :]
                if len(group) > 1:
                    groups.append(sorted(group))

        sys.setrecursionlimit(10_000)
        for name in sorted(self.trees):
            if name not in index:
                visit(name)
        return groups

    def repeated(self, kind: type[ast.ClassDef] | type[ast.FunctionDef]) -> dict[str, list[str]]:
        """Public names at the top level of several modules; kernels are private by their file."""
        homes: dict[str, list[str]] = defaultdict(list)
        for module, tree in self.trees.items():
            names = {node.name for node in tree.body if isinstance(node, kind)}
            if kind is ast.FunctionDef and module.endswith("kernels"):
                continue
            for name in names:
                if not (
                    name.startswith("_")
                    or name == "main"
                    or (kind is ast.FunctionDef and _is_command(module))
                ):
                    homes[name].append(module)
        return {name: found for name, found in sorted(homes.items()) if len(found) > 1}

    def single_importers(self) -> list[str]:
        counts = Counter(
            other for name, others in self.imports.items() for other in others if name != other
        )
        return sorted(
            name for name in self.trees if counts[name] == 1 and name not in self.packages
        )

    def _function_lengths(self) -> Iterator[int]:
        for tree in self.trees.values():
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield (node.end_lineno or node.lineno) - node.lineno + 1

    def _comments(self) -> tuple[int, int]:
        """Lines of code, and lines that are comments alone."""
        code = comments = 0
        for path in self.paths:
            lines = path.read_text(encoding="utf-8").splitlines()
            code += sum(bool(line.strip()) for line in lines)
            with path.open("rb") as stream:
                for token in tokenize.tokenize(stream.readline):
                    alone = token.line.lstrip().startswith("#")
                    comments += token.type == tokenize.COMMENT and alone
        return code, comments


def _is_command(module: str) -> bool:
    """Commands and requests are named after the public function that they call.

    Alembic wants one name, `upgrade`, in every migration.
    """
    rooms = ("cli", "web", "spark")
    return module.startswith(tuple(f"{PACKAGE}.{room}" for room in rooms))


def _run_time_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield node
        yield from _run_time_nodes(node)


def line_count(paths: Any) -> int:
    return sum(path.read_text(encoding="utf-8").count("\n") for path in paths)


def is_test(path: Path) -> bool:
    return "tests" in path.parts


def loaded_modules(root: Path, python: str) -> dict[str, int]:
    """How many modules of the package each of three commands loads."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs = {"run": ("text.txt", TEXT), "cluster": ("p.csv", PAIRS), "fuse": ("c.csv", CLAIMS)}
        return {
            f"loaded by {verb}": _loaded(python, root, verb, folder / file, text)
            for verb, (file, text) in inputs.items()
        }


def _loaded(python: str, root: Path, verb: str, path: Path, text: str) -> int:
    path.write_text(text, encoding="utf-8")
    program = (
        "import sys; sys.argv = ['partita', *sys.argv[1:]]\n"
        "from partita.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        f"print(sum(n.partition('.')[0] == '{PACKAGE}' for n in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [python, "-c", program, verb, str(path)],
        capture_output=True, text=True, check=True, cwd=path.parent,
        env={"PYTHONPATH": str(root / "src"), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    return int(done.stderr.split()[-1])


if __name__ == "__main__":
    main()
