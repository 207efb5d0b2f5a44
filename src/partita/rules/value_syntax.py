"""Parse the values that a rule sets."""

from __future__ import annotations

import re

from partita.rules.domain import Call, Literally, Reference, Value, Which
from partita.rules.patterns import Refused

FUNCTIONS = (
    *("number", "date", "measure", "coordinate"),
    *("upper", "lower", "join", "first"),
)

_REFERENCE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z_][A-Za-z0-9_]*)*)")
_CALL = re.compile(rf"({'|'.join(FUNCTIONS)})\((.*)\)", re.DOTALL)
_DEEPEST = 8
_WHICH: tuple[Which, ...] = ("all", "first", "last")


def parse_value(text: str, depth: int = 0) -> Value:
    """The value that a text stands for."""
    text = text.strip()
    if depth > _DEEPEST:
        raise Refused(f"functions are nested more than {_DEEPEST} deep", 0)
    if text.startswith("$"):
        return _reference(text)
    if call := _CALL.fullmatch(text):
        arguments = tuple(parse_value(one, depth + 1) for one in _arguments(call[2]))
        return Call(call[1], arguments)
    if re.match(r"[a-z]+\(", text) and not depth:
        raise Refused(f"{text!r} is no value; the functions are {', '.join(FUNCTIONS)}", 0)
    if len(text) > 1 and text[0] == text[-1] == '"':
        return Literally(text[1:-1])
    return Literally(int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else text)


def _reference(text: str) -> Reference:
    found = _REFERENCE.fullmatch(text)
    if not found:
        raise Refused(f"{text!r} is no value; expected $label or $label.attribute", 0)
    label, path = found[1], found[2].split(".")[1:]
    if not path:
        return Reference(label)
    if path == ["count"]:
        return Reference(label, which="count")
    if len(path) == 1:
        return Reference(label, path[0], "last")
    for which in _WHICH:
        if len(path) == 2 and path[0] == which:
            return Reference(label, path[1], which)
    raise Refused(f"{text!r}: expected $label.attribute, or all, first or last between them", 0)


def _arguments(text: str) -> list[str]:
    """What stands between commas that are in no bracket and no quotes."""
    found, depth, quotes, start = [], 0, False, 0
    for n, mark in enumerate(text):
        quotes ^= mark == '"'
        depth += 0 if quotes else (mark == "(") - (mark == ")")
        if mark == "," and not depth and not quotes:
            found.append(text[start:n])
            start = n + 1
    found.append(text[start:])
    if not all(one.strip() for one in found):
        raise Refused("an argument is missing between the brackets", 0)
    return found
