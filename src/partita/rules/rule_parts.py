"""Read the parts of a rule: patterns, macros, values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import get_args

from partita.core import Status
from partita.rules.domain import (
    At,
    Call,
    Constant,
    Reference,
    SlotMapping,
    TemplateRule,
    Value,
    Which,
)
from partita.rules.patterns import Macro, PatternError, macro_names, parse_macro
from partita.rules.syntax import (
    MOST_WAYS,
    Firsts,
    Node,
    count_ways,
    longest,
    nullable,
    repeats_empty,
)
from partita.rules.yaml import (
    List,
    Map,
    Text,
    Tree,
    map_of,
    record_of,
    refuse,
    scalar_of,
    scalar_value,
)
from partita.templates.slots import symbol

FUNCTIONS = (
    *("number", "date", "measure", "money", "coordinate"),
    *("upper", "lower", "join", "first"),
)

_REFERENCE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z_][A-Za-z0-9_]*)*)")
_CALL = re.compile(rf"({'|'.join(FUNCTIONS)})\((.*)\)", re.DOTALL)
_DEEPEST = 8
_WHICH: tuple[Which, ...] = ("all", "first", "last")


def parse_value(text: str, depth: int = 0) -> Value:
    """Return the value that a text stands for."""
    text = text.strip()
    if depth > _DEEPEST:
        raise PatternError(f"functions are nested more than {_DEEPEST} deep", 0)
    if text.startswith("$"):
        return _reference(text)
    if call := _CALL.fullmatch(text):
        arguments = tuple(parse_value(argument, depth + 1) for argument in _arguments(call[2]))
        return Call(call[1], arguments)
    if re.match(r"[a-z]+\(", text) and not depth:
        raise PatternError(f"unknown function in {text!r} (expected {', '.join(FUNCTIONS)})", 0)
    if len(text) > 1 and text[0] == text[-1] == '"':
        return Constant(text[1:-1])
    return Constant(int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else text)


def _reference(text: str) -> Reference:
    match = _REFERENCE.fullmatch(text)
    if not match:
        raise PatternError(f"invalid value {text!r} (expected $label or $label.attribute)", 0)
    label, path = match[1], match[2].split(".")[1:]
    if not path:
        return Reference(label)
    if path == ["count"]:
        return Reference(label, which="count")
    if len(path) == 1:
        return Reference(label, path[0], "last")
    for which in _WHICH:
        if len(path) == 2 and path[0] == which:
            return Reference(label, path[1], which)
    raise PatternError(
        f"invalid value {text!r} (expected $label.attribute, or all, first or last between them)", 0
    )


def _arguments(text: str) -> list[str]:
    """Split at commas outside brackets and quotation marks."""
    arguments, depth, quotes, start = [], 0, False, 0
    for n, mark in enumerate(text):
        quotes ^= mark == '"'
        depth += 0 if quotes else (mark == "(") - (mark == ")")
        if mark == "," and not depth and not quotes:
            arguments.append(text[start:n])
            start = n + 1
    arguments.append(text[start:])
    if not all(argument.strip() for argument in arguments):
        raise PatternError("empty argument (expected a value)", 0)
    return arguments


MOST_PHRASES = 5_000  # of one match


def read_macros(tree: Map) -> dict[str, Macro]:
    """Return the macros of a file, in any order of definition."""
    texts = {key.value: scalar_of(value, f"macro {key.value}", key.at) for key, value in tree.pairs}
    for key, _ in tree.pairs:
        if not key.value.isupper() or not key.value.replace("_", "A").isalnum():
            refuse(f"macro name {key.value!r} is not in upper case", key.at)
    uses = {name: sorted(macro_names(text.value) & texts.keys()) for name, text in texts.items()}
    try:
        order = tuple(TopologicalSorter(uses).static_order())
    except CycleError as error:
        names = error.args[1]
        refuse(f"circular macros: {' > '.join(names)}", texts[names[0]].at)
    macros: dict[str, Macro] = {}
    for name in order:
        macros[name] = parse_pattern(texts[name], macros)
    return macros


def parse_pattern(text: Text, macros: Mapping[str, Macro]) -> Macro:
    """Parse a pattern of a file; errors carry their position in the file."""
    try:
        return parse_macro(text.value, macros)
    except PatternError as error:
        refuse(error.problem, text.within(error.at))


def read_pattern(text: Text, macros: Mapping[str, Macro], follow: Firsts = frozenset()) -> Node:
    """Return the checked pattern of a rule."""
    node = parse_pattern(text, macros).node
    check_pattern(node, text.at, follow)
    return node


def check_pattern(node: Node, at: At, follow: Firsts = frozenset()) -> None:
    """Reject patterns that can be empty or match the same phrases in too many ways."""
    if nullable(node):
        refuse("the pattern can match the empty sequence", at)
    if repeats_empty(node):
        refuse("the pattern repeats a part that can be empty", at)
    if longest(node) > MOST_PHRASES:
        refuse(f"the pattern can match more than {MOST_PHRASES:,} phrases", at)
    if (many := count_ways(node, follow)) > MOST_WAYS:
        number = f"{many:,}" if many < 10**9 else "a billion or more"
        problem = f"the pattern can match the same phrases in {number} ways"
        refuse(f"{problem}; bound its repeats, or avoid nested repeats", at)


def read_value(tree: Tree, what: str) -> Value:
    """Return a value of `build` or `slots`."""
    if isinstance(tree, Map):
        return SlotMapping({symbol(key.value): read_value(item, what) for key, item in tree.pairs})
    if isinstance(tree, List):
        return Constant(tuple(_literal(item, what) for item in tree.items))
    if not tree.plain and not tree.value.startswith("$") and "(" not in tree.value:
        return Constant(tree.value)
    plain = scalar_value(tree)
    if not isinstance(plain, str):
        return Constant(plain)
    try:
        return parse_value(plain)
    except PatternError as error:
        refuse(error.problem, tree.within(error.at))


def _literal(tree: Tree, what: str) -> object:
    """Return a member of a literal list, in which true and false are texts."""
    if not isinstance(tree, Text):
        refuse(f"{what} is not a list of texts or numbers", tree.at)
    plain = scalar_value(tree)
    return plain if isinstance(plain, int | float) and not isinstance(plain, bool) else tree.value


def read_build(tree: Tree | None, pattern_labels: set[str], at: At) -> dict[str, Value]:
    """Return the attributes that a rule sets in the phrase it builds."""
    fields = map_of(tree, "build", at)
    for key, _ in fields.pairs:
        if not key.value.isidentifier():
            refuse(f"{key.value!r} is not an attribute name", key.at)
    built = {key.value: read_value(item, f"build {key.value}") for key, item in fields.pairs}
    kind = built.get("kind")
    if not isinstance(kind, Constant) or not isinstance(kind.value, str):
        refuse("build has no kind (expected for example {kind: ng})", fields.at)
    for (_, item), value in zip(fields.pairs, built.values(), strict=True):
        check_labels(value, pattern_labels, item.at)
    return built


def read_template(tree: Tree | None, pattern_labels: set[str], at: At) -> TemplateRule:
    """Return the template of a rule: the slots, and the phrase they are about."""
    allowed = ("about", "sort", "says", "slots", "status", "roles")
    fields = record_of(tree, "a template", at, allowed)
    about = _label(fields.text("about", "about of a template"), "about", pattern_labels)
    slots = {
        symbol(key.value): read_value(item, key.value) for key, item in fields.map("slots").pairs
    }
    entity_type, says = fields.get("sort"), fields.get("says")
    several = says.items if isinstance(says, List) else () if says is None else (says,)
    template = TemplateRule(
        about,
        slots,
        read_value(entity_type, "sort") if entity_type is not None else None,
        tuple(read_value(item, "says") for item in several),
        fields.choice("status", get_args(Status)),
        {
            symbol(key.value): _label(item, f"role {key.value}", pattern_labels)
            for key, item in fields.map("roles").pairs
        },
    )
    for value in (*slots.values(), *template.says, template.type):
        if value is not None:
            check_labels(value, pattern_labels, fields.at)
    return template


def _label(tree: Tree, what: str, pattern_labels: set[str]) -> str:
    """Return the label that a value names without an attribute."""
    value = read_value(tree, what)
    if not isinstance(value, Reference) or value.which != "text":
        refuse(f"{what} is not a label (expected for example $what)", tree.at)
    check_labels(value, pattern_labels, tree.at)
    return value.label


def check_labels(value: Value, pattern_labels: set[str], at: At) -> None:
    """Reject references to labels that the pattern does not have."""
    for label in labels_used(value):
        if label not in pattern_labels:
            names = ", ".join(sorted(pattern_labels)) or "no label"
            refuse(f"unknown label ${label} (expected {names})", at)


def labels_used(value: Value) -> Iterator[str]:
    if isinstance(value, Reference):
        yield value.label
    inside = value.arguments if isinstance(value, Call) else ()
    for part in (*inside, *(value.slots.values() if isinstance(value, SlotMapping) else ())):
        yield from labels_used(part)
