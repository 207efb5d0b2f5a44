"""One fill of a MUC-4 template: alternatives, then a colon and the alternatives of its tag.

? CIVILIAN / LEGAL OR JUDICIAL: "JUDGE" / "THE JUDGE"
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from partita.evaluation.muc.templates import Fill, Slot

NULL = ("-", "*", "")

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[/:()]|[^"/:()]+')
_ESCAPE = re.compile(r"\\(.)")
_BLANKS = re.compile(r"\s+")


class Malformed(Exception):
    """A fill that is not as it should be, with what was expected."""


def read_fill(written: str, slot: Slot, line: int) -> Fill | None:
    """The fill, or None where nothing is said (a hyphen or an asterisk)."""
    text = written.strip()
    optional = text.startswith("?")
    if optional:
        text = text[1:].strip()
    if text in NULL or text.strip('"') in NULL:
        return None
    if slot.kind in ("date", "location"):
        return Fill(tuple(_alternatives(text)), (), optional, line)
    values, tags = _parts(text, slot)
    return Fill(values, tags, optional, line)


def _alternatives(text: str) -> Iterator[str]:
    """Between slashes outside of brackets; brackets around a whole alternative are left out."""
    depth, begin = 0, 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "/" and depth == 0:
            yield _bare(text[begin:place])
            begin = place + 1
    if depth:
        raise Malformed(f"closing brackets in {text!r}")
    yield _bare(text[begin:])


def _bare(text: str) -> str:
    tidy = _BLANKS.sub(" ", text).strip()
    return tidy[1:-1].strip() if tidy.startswith("(") and tidy.endswith("))") else _whole(tidy)


def _whole(text: str) -> str:
    """`(PERU)` is PERU; `LIMA (CITY)` stays as it is."""
    return text[1:-1].strip() if text.startswith("(") and text.find(")") == len(text) - 1 else text


def _parts(text: str, slot: Slot) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What stands before the first colon outside of quotes, and what stands behind it."""
    sides: list[list[str]] = [[]]
    fresh = True
    for token in _tokens(text):
        if token == ":":
            if not slot.tagged:
                raise Malformed("no cross-reference in this slot")
            sides.append([])
            fresh = True
        elif token == "/":
            fresh = True
        elif fresh:
            sides[-1].append(token)
            fresh = False
        else:
            sides[-1][-1] += f" {token}"
    if len(sides) > 2 or not all(sides):
        raise Malformed('VALUE or VALUE: "STRING", alternatives between slashes')
    values, tags = sides[0], sides[1] if len(sides) > 1 else []
    return tuple(values), tuple(tag for tag in tags if tag not in NULL)


def _tokens(text: str) -> Iterator[str]:
    for found in _TOKEN.finditer(_single(text)):
        token = found[0]
        if token.startswith('"'):
            if inside := _BLANKS.sub(" ", _ESCAPE.sub(r"\1", token[1:-1])).strip():
                yield inside
        elif token in "/:":
            yield token
        elif token not in "()" and (bare := _BLANKS.sub(" ", token).strip()):
            yield bare


def _single(text: str) -> str:
    """Doubled quotes made single, and a quote that does not close left out."""
    once = re.sub(r'(?<!\\)""+', '"', text)
    if len(re.findall(r'(?<!\\)"', once)) % 2:
        raise Malformed(f"a closing quote in {text!r}")
    return once
