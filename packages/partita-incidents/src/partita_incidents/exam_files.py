"""Read and write the templates of the MUC-4 exam."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from partita.errors import InputError
from partita_incidents.exam_templates import SLOTS, Fill, Incident, Slot, days

NULL = ("-", "*", "")

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[/:()]|[^"/:()]+')
_ESCAPE = re.compile(r"\\(.)")
_BLANKS = re.compile(r"\s+")


class Malformed(Exception):
    """A malformed fill, with what was expected."""


def read_fill(written: str, slot: Slot, line: int) -> Fill | None:
    """Return the fill, or None for an empty one (a hyphen or an asterisk)."""
    text = written.strip()
    optional = text.startswith("?")
    if optional:
        text = text[1:].strip()
    if text in NULL or text.strip('"') in NULL:
        return None
    if slot.kind in ("date", "location"):
        return Fill(tuple(_alternatives(text)), (), optional, line)
    values, tags = _parts(text, slot)
    if not (values := tuple(value for value in values if value not in NULL)):
        return None  # an empty fill that refers to a string
    return Fill(values, tags, optional, line)


def _alternatives(text: str) -> Iterator[str]:
    """Split at slashes outside of brackets; brackets around a whole alternative are removed."""
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
    """Remove brackets around the whole: `(PERU)` is PERU; `LIMA (CITY)` stays as it is."""
    return text[1:-1].strip() if text.startswith("(") and text.find(")") == len(text) - 1 else text


def _parts(text: str, slot: Slot) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the text before the first colon outside of quotes, and the text after it."""
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
    for match in _TOKEN.finditer(_single(text)):
        token = match[0]
        if token.startswith('"'):
            if inside := _BLANKS.sub(" ", _ESCAPE.sub(r"\1", token[1:-1])).strip():
                yield inside
        elif token in "/:":
            yield token
        elif token not in "()" and (bare := _BLANKS.sub(" ", token).strip()):
            yield bare


def _single(text: str) -> str:
    """Replace doubled quotes by single ones, and remove a quote that does not close."""
    once = re.sub(r'(?<!\\)""+', '"', text)
    if len(re.findall(r'(?<!\\)"', once)) % 2:
        raise Malformed(f"a closing quote in {text!r}")
    return once


_SLOT = re.compile(
    r"\s{0,3}([0-9]{1,2})\.\s+([A-Z][A-Z ]*:\s*[A-Z][A-Z ]*?)(?:(?:\s{2,}|\t)(.*)|\s*)$"
)
_LIKE_A_SLOT = re.compile(r"\s*[0-9]{1,2}\s*\.\s*[A-Za-z][A-Za-z ]*:|[0-9]{1,2}\s*\.\s*[A-Za-z]")
_COUNT = re.compile(r"~?\s*[0-9,]+|PLURAL|[0-9,]+\s*-\s*(?:[0-9,]+)?|-\s*[0-9,]+")
_DATE = "a date such as 05 JAN 90, - 05 JAN 90 or 05 JAN 90 - 07 JAN 90"
_MESSAGE = re.compile(r"([A-Z0-9]+-MUC[34]-[0-9]+)")
_NUMBER = re.compile(r"([0-9]+|\*|-)\s*(\(OPTIONAL\))?\s*")
_RULE = re.compile(r"[\s*=_-]{4,}")  # what archives draw between templates
LIMIT = 64 << 20
OPENING = 100  # lines in which a file of templates has one


@dataclass(frozen=True, slots=True)
class Problem:
    """A malformed fill: its position and what was expected."""

    file: str
    line: int
    slot: str
    expected: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}, slot {self.slot}: expected {self.expected}"


@dataclass(slots=True)
class Exam:
    """The templates of a file, its messages in order, and the problems in it."""

    file: str
    incidents: list[Incident] = field(default_factory=list)
    messages: dict[str, None] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class _TemplateBuilder:
    """A template under construction."""

    message: str
    line: int
    number: str = ""
    optional: bool = False
    slot: Slot = SLOTS[0]
    written: dict[int, list[tuple[int, str]]] = field(default_factory=dict)


def read_exam(path: str | Path) -> Exam:
    """Return all templates of a key or of a response."""
    exam = Exam(str(path))
    building: _TemplateBuilder | None = None
    for number, line in _lines(path):
        match = _SLOT.match(line)
        if match is None:
            _refuse_slot(line, number, exam.file)
            _continue(building, line, number, exam)
            continue
        slot = _slot(match, number, exam.file)
        if slot.number == 0:
            _close(building, exam)
            building = _TemplateBuilder(_message(match[3] or "", number, exam.file), number)
            exam.messages[building.message] = None
        elif building is None:
            problem = f"slot {slot.number} comes before the first 0. MESSAGE: ID"
            raise InputError(problem, file=exam.file, line=number)
        else:
            _add(building, slot, match[3] or "", number, exam.file)
    _close(building, exam)
    if not exam.messages:
        raise InputError("holds no template; expected lines such as 0. MESSAGE: ID", file=str(path))
    return exam


def holds_templates(path: str | Path) -> bool:
    """Return whether a file is a key or a response, and not messages."""
    matches = (_SLOT.match(line) for _, line in islice(_lines(path), OPENING))
    return any(match is not None and match[1] == "0" for match in matches)


def _lines(path: str | Path) -> Iterator[tuple[int, str]]:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    if len(data) > LIMIT:
        raise InputError(f"is larger than {LIMIT >> 20} MB", file=str(path))
    for number, line in enumerate(data.decode("latin-1").splitlines(), 1):
        if line.strip() and not line.lstrip().startswith(";"):
            yield number, line.rstrip()


def _refuse_slot(line: str, number: int, file: str) -> None:
    """Raise for a line that looks like a slot but is malformed: it would be lost."""
    if _LIKE_A_SLOT.match(line):
        problem = f"{line.strip()[:60]!r}; expected a slot such as 12. PHYS TGT: ID, then its fill"
        raise InputError(problem, file=file, line=number)


def _slot(match: re.Match[str], line: int, file: str) -> Slot:
    """Return the slot by its number; its title must match."""
    number, title = int(match[1]), re.sub(r"\s+", " ", match[2])
    expected = f"{number}. {SLOTS[number].title}" if number < len(SLOTS) else "a slot from 0 to 24"
    if number >= len(SLOTS) or title != SLOTS[number].title:
        problem = f"is {number}. {title}; expected {expected}"
        raise InputError(problem, file=file, line=line)
    return SLOTS[number]


def _message(written: str, line: int, file: str) -> str:
    if match := _MESSAGE.search(written):
        return match[1]
    problem = f"message {written!r}; expected an id such as TST3-MUC4-0001"
    raise InputError(problem, file=file, line=line)


def _add(building: _TemplateBuilder, slot: Slot, written: str, line: int, file: str) -> None:
    building.slot = slot
    if slot.number in building.written:
        raise InputError(f"slot {slot.title} appears twice in a template", file=file, line=line)
    building.written[slot.number] = [(line, written)]
    if slot.number != 1:
        return
    match = _NUMBER.fullmatch(written.strip())
    if match is None:
        problem = f"template {written!r}; expected a number, (OPTIONAL) behind it, or *"
        raise InputError(problem, file=file, line=line)
    building.number, building.optional = match[1], match[2] is not None


def _continue(building: _TemplateBuilder | None, line: str, number: int, exam: Exam) -> None:
    """Add a further fill of the slot before, or the rest of one that ends in a slash."""
    if building is None or not line[0].isspace() or building.slot.number < 2:
        return  # headings and trailers of an archive are not part of the answers
    if _RULE.fullmatch(line):
        return
    fills = building.written[building.slot.number]
    if fills[-1][1].rstrip().endswith("/") or line.lstrip().startswith("/"):
        fills[-1] = (fills[-1][0], f"{fills[-1][1]} {line.strip()}")
    else:
        fills.append((number, line.strip()))


def _close(building: _TemplateBuilder | None, exam: Exam) -> None:
    """Keep the template; one of a message without incidents has no number and is empty."""
    if building is not None and not building.number:
        problem = f"a template without slot {SLOTS[1].title}; expected a number, or *"
        raise InputError(problem, file=exam.file, line=building.line)
    if building is None or building.number in ("*", "-"):
        return
    fills = {
        number: tuple(_fills(SLOTS[number], written, exam))
        for number, written in building.written.items()
        if number > 1
    }
    kept = {number: fill_list for number, fill_list in fills.items() if fill_list}
    exam.incidents.append(
        Incident(building.message, building.number, kept, building.optional, building.line)
    )


def _fills(slot: Slot, written: Iterable[tuple[int, str]], exam: Exam) -> Iterator[Fill]:
    for line, text in written:
        try:
            fill = read_fill(text, slot, line)
        except Malformed as error:
            exam.problems.append(Problem(exam.file, line, slot.title, str(error)))
            yield Fill((text.strip(" ?"),), (), text.startswith("?"), line)
            continue
        if fill is None:
            continue
        for value in fill.values:
            if expected := _expected(value, slot):
                problem = f"{expected}, not {value!r}"
                exam.problems.append(Problem(exam.file, line, slot.title, problem))
        yield fill


def _expected(value: str, slot: Slot) -> str:
    """Return what a value should be, or nothing if it is valid."""
    if slot.choices and value not in slot.choices:
        return f"one of {', '.join(sorted(slot.choices))}"
    if slot.kind == "date" and days(value) is None:
        return _DATE
    if slot.kind == "number" and not _COUNT.fullmatch(value):
        return "a number, PLURAL, a range (5 - 7) or about a number (~7)"
    return ""


_WIDTH = 36  # columns before the fills


def format_templates(messages: Iterable[tuple[str, Sequence[Incident]]]) -> Iterator[str]:
    """Return the templates of each message; without incidents, one that says so."""
    for message, incidents in messages:
        if not incidents:
            yield _template(message, "*", {}, "*")
        for number, incident in enumerate(incidents, 1):
            yield _template(message, str(number), incident.fills, "-")


def _template(message: str, number: str, fills: Mapping[int, Sequence[Fill]], empty: str) -> str:
    lines = [_line(SLOTS[0], message), _line(SLOTS[1], number)]
    for slot in SLOTS[2:]:
        written = [_fill(slot, fill) for fill in fills.get(slot.number, ())] or [empty]
        lines.append(_line(slot, written[0]))
        lines += [" " * _WIDTH + more for more in written[1:]]
    return "\n".join(lines) + "\n\n"


def _line(slot: Slot, written: str) -> str:
    return f"{slot.number}.".ljust(4) + slot.title.ljust(_WIDTH - 4) + written


def _fill(slot: Slot, fill: Fill) -> str:
    """Format a fill: strings in quotes; set and counted fills bare, with their tag's string."""
    value = f'"{_quoted(fill.values[0])}"' if slot.kind == "string" else fill.values[0]
    return f'{value}: "{_quoted(fill.tags[0])}"' if fill.tags else value


def _quoted(text: str) -> str:
    return " ".join(text.replace("\\", " ").replace('"', " ").split())
