"""Read YAML strictly, keeping the position of every node."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from partita.errors import InputError
from partita.rules.domain import At

LARGEST = 1 << 20  # bytes per file
DEEPEST = 12

_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[-+]?[0-9]{1,18}\.[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class Text:
    """A scalar: its value, position, whether it is unquoted, and its source text."""

    value: str
    at: At
    plain: bool = True
    source: str = ""

    @property
    def is_null(self) -> bool:
        return self.plain and self.value in ("", "~", "null")

    def within(self, offset: int) -> At:
        """Return the position of one of its characters, if it is on one line."""
        if self.source == self.value:
            return At(self.at.file, self.at.line, self.at.column + offset)
        if not self.source:
            return self.at
        step = 1 + sum(1 + (c in '"\\\n\t') for c in self.value[:offset])
        simple = 1 + offset if self.source[1:-1] == self.value else step
        return At(self.at.file, self.at.line, self.at.column + simple)


@dataclass(frozen=True, slots=True)
class List:
    items: tuple[Tree, ...]
    at: At


@dataclass(frozen=True, slots=True)
class Map:
    """Fields in their order; its methods read them by name, and errors have their positions."""

    pairs: tuple[tuple[Text, Tree], ...]
    at: At

    def get(self, key: str) -> Tree | None:
        return next((value for name, value in self.pairs if name.value == key), None)

    def text(self, key: str, what: str = "") -> Text:
        """Return a text that must be there."""
        return scalar_of(self.get(key), what or key, self.at)

    def optional(self, key: str) -> str:
        """Return a text, or an empty one if the field is missing."""
        return self.text(key).value if self.get(key) is not None else ""

    def choice(self, key: str, allowed: Sequence[str]) -> str:
        """Return one of the allowed texts, or an empty one if the field is missing."""
        return choice_of(self.text(key), key, allowed) if self.get(key) is not None else ""

    def flag(self, key: str) -> bool | None:
        chosen = self.choice(key, ("true", "false"))
        return chosen == "true" if chosen else None

    def items(self, key: str) -> tuple[Tree, ...]:
        return sequence_of(self.get(key), key)

    def texts(self, key: str) -> tuple[Text, ...]:
        return texts_of(self.get(key), key)

    def map(self, key: str) -> Map:
        return map_of(self.get(key), key, self.at)


Tree = Text | List | Map


class RuleError(InputError):
    """An error in a rule file, with its exact position."""

    def __init__(self, said: str, at: At) -> None:
        self.said, self.at = said, at
        where = f"column {at.column}: {said}" if at.column else said
        super().__init__(where, file=at.file, line=at.line or None)


def refuse(problem: str, at: At) -> NoReturn:
    """Raise RuleError for a position in a rule file."""
    raise RuleError(problem, at)


def read_tree(path: Path) -> Tree:
    """Return the single document of a file."""
    return tree_of(_text(path), str(path))


def _text(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            raw = stream.read(LARGEST + 1)
    except OSError as error:
        raise RuleError(f"cannot be read: {error.strerror}", At(str(path))) from error
    if len(raw) > LARGEST:
        refuse(f"is larger than {LARGEST:,} bytes", At(str(path)))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise RuleError("is not UTF-8", At(str(path), line)) from error


def tree_of(text: str, file: str) -> Tree:
    """Return the tree of a YAML text."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        events = yaml.parse(text, Loader=loader)
        return _Composer(events, file, text.split("\n")).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = At(file, mark.line + 1, mark.column + 1) if mark else At(file)
        refuse(f"is not YAML: {error.problem or error.context}", at)
    except yaml.YAMLError as error:
        refuse(f"is not YAML: {' '.join(str(error).split())}", At(file))


@dataclass(slots=True)
class _Composer:
    events: Iterator[Any]
    file: str
    lines: list[str]

    def document(self) -> Tree:
        tree: Tree | None = None
        for event in self.events:
            name = type(event).__name__
            if name in ("ScalarEvent", "SequenceStartEvent", "MappingStartEvent"):
                if tree is not None:
                    refuse("second document in the file (expected one)", self._at(event))
                tree = self._node(event, 0)
            elif name == "AliasEvent":
                self._alias(event)
        return tree if tree is not None else Text("", At(self.file, 1, 1))

    def _alias(self, event: Any) -> NoReturn:
        refuse("anchors and aliases are not allowed", self._at(event))

    def _node(self, event: Any, depth: int) -> Tree:
        name, at = type(event).__name__, self._at(event)
        if depth > DEEPEST:
            refuse(f"is nested more than {DEEPEST} deep", at)
        if name == "AliasEvent" or event.anchor:
            self._alias(event)
        if event.tag and event.tag != "!":
            refuse(f"tag {event.tag} is not allowed", at)
        if name == "ScalarEvent":
            return self._scalar(event, at)
        if name == "SequenceStartEvent":
            items = self._until("SequenceEndEvent", lambda one: self._node(one, depth + 1))
            return List(tuple(items), at)
        return self._map(depth, at)

    def _until(self, end: str, read: Callable[[Any], Tree]) -> Iterator[Tree]:
        for event in self.events:
            if type(event).__name__ == end:
                return
            yield read(event)

    def _map(self, depth: int, at: At) -> Map:
        pairs: dict[str, tuple[Text, Tree]] = {}
        flat = self._until("MappingEndEvent", lambda one: self._node(one, depth + 1))
        last: Text | None = None
        for key in flat:
            value = next(flat)
            if not isinstance(key, Text):
                refuse("a key is not a text", key.at)
            if last is not None and _continues(pairs[last.value][1], value):
                pairs[last.value] = (last, _join(pairs[last.value][1], key))
                continue
            last = key
            if key.value in pairs:
                refuse(f"duplicate key {key.value!r}", key.at)
            pairs[key.value] = (key, value)
        return Map(tuple(pairs.values()), at)

    def _scalar(self, event: Any, at: At) -> Text:
        start, end = event.start_mark, event.end_mark
        source = ""
        if start.line == end.line and start.line < len(self.lines):
            source = self.lines[start.line][start.column : end.column]
        return Text(event.value, at, event.style in (None, ""), source)

    def _at(self, event: Any) -> At:
        return At(self.file, event.start_mark.line + 1, event.start_mark.column + 1)


def _continues(before: Tree, value: Tree) -> bool:
    """Return whether a value continues: YAML splits {a: first($x, 1), b: 2} at every comma."""
    if not isinstance(before, Text) or not isinstance(value, Text):
        return False
    return value.is_null and before.plain and before.value.count("(") > before.value.count(")")


def _join(before: Tree, key: Text) -> Text:
    assert isinstance(before, Text)
    return Text(f"{before.value}, {key.value}", before.at)


def scalar_of(tree: Tree | None, what: str, at: At) -> Text:
    """Return a non-empty text."""
    if not isinstance(tree, Text) or not tree.value.strip():
        refuse(f"{what} is missing (expected a text)", tree.at if tree is not None else at)
    return tree


def is_empty(tree: Tree) -> bool:
    """Return whether a tree is null, or a list or map without members."""
    if isinstance(tree, Text):
        return tree.is_null
    return not (tree.items if isinstance(tree, List) else tree.pairs)


def sequence_of(tree: Tree | None, what: str) -> tuple[Tree, ...]:
    """Return the items of a list, a single text as one item, null as none."""
    if tree is None or (isinstance(tree, Text) and tree.is_null):
        return ()
    if isinstance(tree, Map):
        refuse(f"{what} is a map (expected a list)", tree.at)
    return tree.items if isinstance(tree, List) else (tree,)


def texts_of(tree: Tree | None, what: str) -> tuple[Text, ...]:
    items = sequence_of(tree, what)
    return tuple(scalar_of(item, f"an item of {what}", item.at) for item in items)


def choice_of(text: Text, what: str, allowed: Sequence[str]) -> str:
    """Return the value of a text that must be one of these."""
    if text.value not in allowed:
        expected = (" or " if len(allowed) == 2 else ", ").join(allowed)
        refuse(f"unknown {what} {text.value!r} (expected {expected})", text.at)
    return text.value


def map_of(tree: Tree | None, what: str, at: At) -> Map:
    """Return a map, an empty one for null."""
    if tree is None or (isinstance(tree, Text) and tree.is_null):
        return Map((), at)
    if not isinstance(tree, Map):
        refuse(f"{what} is not a map of names to values", tree.at)
    return tree


def record_of(tree: Tree | None, what: str, at: At, allowed: Sequence[str]) -> Map:
    """Return a map that has no other fields than these."""
    record = map_of(tree, what, at)
    for key, _ in record.pairs:
        if key.value not in allowed:
            refuse(f"unknown field {key.value!r} in {what} (expected {', '.join(allowed)})", key.at)
    return record


def scalar_value(text: Text) -> object:
    """Return a scalar as a number, a Boolean, None or a text."""
    if not text.plain:
        return text.value
    if text.is_null:
        return None
    if text.value in ("true", "false"):
        return text.value == "true"
    if _WHOLE.fullmatch(text.value):
        return int(text.value)
    return float(text.value) if _DECIMAL.fullmatch(text.value) else text.value
