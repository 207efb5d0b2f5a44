"""Report code of the packages that no command, public name or entry point reaches.

    python scripts/check_reachable.py

The script reads the sources of src/partita and packages/ without running them. It starts at the
entry points of every pyproject.toml, at the public modules, at the Python examples of the
documentation and at the allow-list, and follows every reference. A module is reached when reached
code imports it (also inside a function); a function, class or constant is reached when reached code
names it. Tests do not count. Methods are looked up by name: a method is reported when no source
mentions its name. Unused dependencies are reported as well. The exit code is 1 if anything is
reported.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "partita"
PUBLIC = (
    *("partita", "partita.__main__", "partita.coreference"),
    *("partita.records", "partita.spark"),
)
REGISTERING = {
    "command", "callback", "get", "post", "put", "delete", "patch", "middleware", "overload",
    "exception_handler", "register", "overload_method", "intrinsic", "lower_builtin",
}  # fmt: skip
ALLOWED = {
    "partita.web.worker": "started as a process of its own",
    "partita.compilation.__main__": "started by `make test`",
    "partita.compilation.build": "started by hatch_build.py",
    "partita.views.notebook.table_html": "named in core.tabular.RENDERERS",
    "partita.views.notebook.distribution_html": "named in core.tabular.RENDERERS",
    "partita._HOMES": "read by the module's __getattr__",
    "partita.core.tabular.Tabular.to_pandas": "for users of the Python API",
    "partita.core.tabular.Tabular.to_arrow": "for users of the Python API",
    "partita.core.tabular.Tabular._repr_html_": "called by notebooks",
    "partita.configurations.joint.model.read_joint_model": "the reader beside its writer",
    "partita_incidents.incident_models.read_models": "the reader beside its writer",
    **{
        f"partita.text.{name}": "the format beside its reader, for research/"
        for name in (
            "analysis.analyser_bytes",
            "analysis.read_analyser",
            "tagger_models.read_tagger",
            "tagger_models.tagger_bytes",
            "tagger_models.write_tagger",
        )
    },
    "partita.text.words.WordTable.similarity": "documented in docs/words.md",
    "partita.text.words.WordTable.noun_classes": "documented in docs/words.md",
    "partita.text.words.WordTable.is_hypernym": "documented in docs/words.md",
    "partita.text.words.WordTable.derived": "documented in docs/words.md",
    "partita.compilation.dispatchers._Locator.get_cache_path": "called by Numba",
    "partita.compilation.dispatchers._Locator.get_source_stamp": "called by Numba",
    "partita.compilation.dispatchers._Locator.get_disambiguator": "called by Numba",
    "partita.compilation.dispatchers._Locator.from_function": "called by Numba",
}
IMPORT_NAMES = {"pyyaml": "yaml", "typing-extensions": "typing_extensions"}
INDIRECT = {
    "pandas": "imported by name in core.tabular",
    "psycopg": "loaded by SQLAlchemy for URLs of PostgreSQL",
    "vl-convert-python": "used by Altair to write SVG and PNG",
    "httptools": "used by uvicorn",
}
EXTRAS = ("frames", "store", "service", "spacy", "link", "spark")
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

Name = tuple[str, str]  # a module and a name at its top level


@dataclass
class Module:
    """What a source file defines, imports and runs when it is imported."""

    name: str
    folder: str
    definitions: dict[str, list[ast.stmt]] = field(default_factory=lambda: defaultdict(list))
    imports: dict[str, Name] = field(default_factory=dict)
    body: list[ast.stmt] = field(default_factory=list)
    exported: list[str] = field(default_factory=list)


class Sources:
    """All modules of some folders of packages, and what of them is reached."""

    def __init__(self, *roots: Path) -> None:
        self.modules: dict[str, Module] = {}
        self.trees: dict[str, ast.Module] = {}
        self.lines: dict[str, int] = {}
        for root, path in [(one, path) for one in roots for path in sorted(one.rglob("*.py"))]:
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            text = path.read_text(encoding="utf-8")
            self.trees[name] = ast.parse(text)
            self.lines[name] = text.count("\n")
            folder = name if parts[-1] == "__init__" else name.rpartition(".")[0]
            self.modules[name] = Module(name, folder)
        for name, tree in self.trees.items():
            self._read(self.modules[name], tree.body)
        self.imported: set[str] = set()
        self.reached: set[Name] = set()

    def _read(self, module: Module, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                module.imports.update(self._bindings(module, statement))
                module.body.append(statement)
            elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                module.definitions[statement.name].append(statement)
                if _registers(statement):
                    module.body.append(statement)
            elif isinstance(statement, ast.If | ast.Try | ast.With):
                self._read(module, _children(statement))
            elif names := list(_targets(statement)):
                for name in names:
                    module.definitions[name].append(statement)
                if names == ["__all__"]:
                    module.exported = list(_strings(statement))
            else:
                module.body.append(statement)

    def _bindings(self, module: Module, node: ast.stmt) -> Iterator[tuple[str, Name]]:
        """Yield the local names that an import statement binds and what they stand for."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                yield alias.asname or whole, (whole, "")
        elif isinstance(node, ast.ImportFrom):
            source = self._source(module, node)
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                target = (inner, "") if inner in self.modules else (source, alias.name)
                yield alias.asname or alias.name, target

    def _source(self, module: Module, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        base = module.folder.rsplit(".", node.level - 1)[0] if node.level > 1 else module.folder
        return f"{base}.{node.module}" if node.module else base

    def reach_module(self, name: str) -> None:
        """Reach all that happens when a module is imported."""
        if name not in self.modules or name in self.imported:
            return
        self.imported.add(name)
        self.reach_module(name.rpartition(".")[0])
        module = self.modules[name]
        for statement in module.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.reach(name, statement.name)
            else:
                self._follow(module, statement)

    def reach(self, module_name: str, name: str) -> None:
        """Reach a name at the top level of a module, or what it is imported from."""
        module = self.modules.get(module_name)
        if module is None or (module_name, name) in self.reached:
            return
        self.reached.add((module_name, name))
        self.reach_module(module_name)
        for statement in module.definitions.get(name, []):
            self._follow(module, statement)
        if name in module.imports:
            self._reach_target(module.imports[name])

    def _reach_target(self, target: Name) -> None:
        self.reach_module(target[0])
        if target[1]:
            self.reach(*target)

    def reach_example(self, page: str) -> None:
        """Reach what the Python examples of a page of documentation name."""
        for code in EXAMPLE.findall(page):
            example = Module("", "")
            self._read(example, ast.parse(code).body)
            for target in example.imports.values():
                self._reach_target(target)
            for statement in ast.parse(code).body:
                self._follow(example, statement)

    def _follow(self, module: Module, node: ast.AST) -> None:
        """Reach all that a piece of code names or imports."""
        bound = dict(module.imports)
        parts = list(ast.walk(node))
        for part in parts:
            if isinstance(part, ast.Import | ast.ImportFrom):
                bound.update(self._bindings(module, part))
                self._import(module, part)
        attributes = [part for part in parts if isinstance(part, ast.Attribute)]
        for attribute in attributes:
            self._reach_chain(bound, _chain(attribute))
        for text in _strings(node):
            self._reach_string(text)
        inside = {id(_base(attribute)) for attribute in attributes}
        for part in parts:
            if isinstance(part, ast.Name):
                self._reach_name(module, bound, part.id)
                if id(part) not in inside:
                    self._reach_handed_on(bound, part.id, attributes)

    def _reach_name(self, module: Module, bound: dict[str, Name], name: str) -> None:
        if name in module.definitions:
            self.reach(module.name, name)
        if name in bound:
            self._reach_target(bound[name])

    def _reach_handed_on(
        self, bound: dict[str, Name], name: str, attributes: list[ast.Attribute]
    ) -> None:
        """Of a module that is handed on as a value, reach what it exports and any attribute
        that the code reads."""
        target, inner = bound.get(name, ("", ""))
        if target in self.modules and not inner:
            read = {attribute.attr for attribute in attributes}
            for each in read | set(self.modules[target].exported):
                self._reach_defined(target, each)

    def _import(self, module: Module, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.reach_module(alias.name)
            return
        self.reach_module(self._source(module, node))
        for _, target in self._bindings(module, node):
            self.reach_module(target[0])

    def _reach_chain(self, bound: dict[str, Name], chain: list[str]) -> None:
        """Reach `module.name` and `package.module.name`."""
        if not chain or chain[0] not in bound or bound[chain[0]][1]:
            return
        name = bound[chain[0]][0]
        for part in chain[1:]:
            if f"{name}.{part}" not in self.modules:
                self._reach_defined(name, part)
                return
            name = f"{name}.{part}"
            self.reach_module(name)

    def _reach_defined(self, module: str, name: str) -> None:
        if module in self.modules:
            found = self.modules[module]
            if name in found.definitions or name in found.imports:
                self.reach(module, name)

    def _reach_string(self, text: str) -> None:
        """Reach what a string names: "partita.module" or "partita.module:name"."""
        if text.startswith(f"{PACKAGE}."):
            module, _, name = text.partition(":")
            self.reach_module(module)
            if name:
                self.reach(module, name)

    def unreached(self) -> Iterator[str]:
        """Yield a line about every module, name and method that is not reached."""
        for name, module in self.modules.items():
            if name not in self.imported:
                if module.definitions or module.body:
                    yield f"{name}: module, {self.lines[name]} lines"
                continue
            for defined in () if name in ALLOWED else module.definitions:
                if (name, defined) not in self.reached and not _special(defined):
                    yield f"{name}.{defined}: {_kind(module.definitions[defined][0])}"
        yield from self._unused_methods()

    def _unused_methods(self) -> Iterator[str]:
        mentioned = set(_mentioned(self.trees.values()))
        public = {
            self._origin(module, name)
            for module in PUBLIC
            if module in self.modules
            for name in self.modules[module].exported
        }
        for name in sorted(self.imported):
            for node in ast.walk(self.trees[name]):
                if isinstance(node, ast.ClassDef) and (name, node.name) not in public:
                    for method in _methods(node):
                        if method not in mentioned and not self._overrides(name, node):
                            yield f"{name}.{node.name}.{method}: method"

    def _origin(self, module: str, name: str) -> Name:
        imports = self.modules[module].imports if module in self.modules else {}
        return self._origin(*imports[name]) if name in imports else (module, name)

    def _overrides(self, module: str, node: ast.ClassDef) -> bool:
        """Whether a class has a base outside the package, which may call its methods."""
        known = {"Protocol", "Generic", "NamedTuple", "Enum", "StrEnum", "IntEnum", "ABC"}
        for base in node.bases:
            base = base.value if isinstance(base, ast.Subscript) else base
            name = base.id if isinstance(base, ast.Name) else getattr(base, "attr", "")
            inside = self._origin(module, name)
            defined = inside[0] != module or name in self.modules[module].definitions
            if name not in known and not (defined and inside[0].startswith(PACKAGE)):
                return True
        return False


def _mentioned(trees: Iterable[ast.Module]) -> Iterator[str]:
    """Yield every name that could stand for a method: attributes, keywords and strings."""
    for tree in trees:
        for part in ast.walk(tree):
            if isinstance(part, ast.Attribute):
                yield part.attr
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value
            elif isinstance(part, ast.MatchClass):
                yield from part.kwd_attrs
            elif isinstance(part, ast.keyword) and part.arg:
                yield part.arg


def _methods(node: ast.ClassDef) -> Iterator[str]:
    for part in node.body:
        function = isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
        if function and not _special(part.name) and not _registers(part):
            yield part.name


def _children(statement: ast.If | ast.Try | ast.With) -> Iterator[ast.stmt]:
    for part in ast.iter_child_nodes(statement):
        if isinstance(part, ast.stmt):
            yield part
        elif isinstance(part, ast.ExceptHandler):
            yield from part.body
        elif isinstance(part, ast.expr):
            yield ast.Expr(part)


def _targets(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    else:
        return
    for target in targets:
        for part in target.elts if isinstance(target, ast.Tuple) else [target]:
            if isinstance(part, ast.Name):
                yield part.id


def _strings(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def _registers(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether a decorator hands the definition to someone who will call it."""
    for decorator in node.decorator_list:
        decorator = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = decorator.attr if isinstance(decorator, ast.Attribute) else ""
        if name in REGISTERING or (isinstance(decorator, ast.Name) and decorator.id in REGISTERING):
            return True
    return False


def _base(node: ast.Attribute) -> ast.expr:
    value: ast.expr = node
    while isinstance(value, ast.Attribute):
        value = value.value
    return value


def _chain(node: ast.Attribute) -> list[str]:
    """The names of `a.b.c`, or nothing if it starts with another expression."""
    names: list[str] = []
    value: ast.expr = node
    while isinstance(value, ast.Attribute):
        names.append(value.attr)
        value = value.value
    return [value.id, *reversed(names)] if isinstance(value, ast.Name) else []


def _special(name: str) -> bool:
    return name == "_" or (name.startswith("__") and name.endswith("__"))


def _kind(statement: ast.stmt) -> str:
    if isinstance(statement, ast.ClassDef):
        return "class"
    return "constant" if isinstance(statement, ast.Assign | ast.AnnAssign) else "function"


def entry_points(project: dict[str, Any]) -> Iterator[Name]:
    """Yield the module and name of every script and entry point."""
    for group in [project.get("scripts", {}), *project.get("entry-points", {}).values()]:
        for target in group.values():
            module, _, name = target.partition(":")
            yield module, name


def unused_dependencies(project: dict[str, Any], trees: Iterable[ast.Module]) -> Iterator[str]:
    """Yield a line about every dependency that no module imports."""
    imported = set()
    for tree in trees:
        for part in ast.walk(tree):
            if isinstance(part, ast.Import):
                imported.update(alias.name.partition(".")[0] for alias in part.names)
            elif isinstance(part, ast.ImportFrom):
                imported.add((part.module or "").partition(".")[0])
    extras = project.get("optional-dependencies", {})
    required = [*project["dependencies"], *(one for name in EXTRAS for one in extras.get(name, []))]
    for requirement in required:
        name = re.split(r"[\[<>=~! ;]", requirement)[0]
        if name not in INDIRECT and IMPORT_NAMES.get(name, name) not in imported | {PACKAGE}:
            yield f"{name}: dependency"


def _project(folder: Path) -> dict[str, Any]:
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project


def check(root: Path = ROOT) -> list[str]:
    """Return a line about everything that is not reached and not allowed."""
    folders = [root, *(path.parent for path in sorted(root.glob("packages/*/pyproject.toml")))]
    project, *others = map(_project, folders)
    sources = Sources(*(folder / "src" for folder in folders))
    for module, name in (point for one in (project, *others) for point in entry_points(one)):
        sources.reach(module, name)
    for module in PUBLIC:
        if module in sources.modules:
            sources.reach_module(module)
            for name in sources.modules[module].exported:
                sources.reach(module, name)
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        sources.reach_example(page.read_text(encoding="utf-8"))
    for allowed in ALLOWED:
        sources.reach_module(allowed)
        sources.reach(*allowed.rpartition(".")[::2])
    unreached = [line for line in sources.unreached() if line.partition(":")[0] not in ALLOWED]
    return [*unreached, *unused_dependencies(project, sources.trees.values())]


def main() -> int:
    sys.setrecursionlimit(20_000)
    lines = check()
    print("\n".join(lines) if lines else "everything is reached")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
