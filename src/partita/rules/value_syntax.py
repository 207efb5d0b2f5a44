"""Parse the values that a rule sets."""

from __future__ import annotations

import re

from partita.rules.domain import Call, Constant, Reference, Value, Which
from partita.rules.patterns import PatternError

FUNCTIONS = (
    *("number", "date", "measure", "coordinate"),
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
