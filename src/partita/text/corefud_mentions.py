"""Read the mentions of CorefUD annotation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from partita.errors import InputError
from partita.text.expressions import Mention
from partita.text.trees import Word

GROUP = ("eid", "GRP")
TYPE = ("etype", "entity")
MINIMAL = ("minspan", "MIN", "head")
# What the annotation also holds gives the answer away: known by name, never read.
UNREAD = (
    "infstat",
    "salience",
    "centering",
    "link",
    "coref_type",
    "identity",
    "wiki",
    "other",
)
BRACKET = re.compile(r"\([^()]+\)?|[^()]+\)")
PART = re.compile(r"(.+)\[([0-9]+)/([0-9]+)\]$")


class EntityLayout(NamedTuple):
    """The order of the fields in the annotation of a mention, from `# global.Entity`."""

    fields: int
    group: int
    type: int
    minimal: int


def entity_layout(header: str, file: str, line: int | None) -> EntityLayout:
    """Return the order of fields from the header of a file."""
    names = header.split("-")
    for name in names:
        if name not in (*GROUP, *TYPE, *MINIMAL, *UNREAD):
            raise InputError(f"global.Entity has an unknown field {name!r}", file=file, line=line)
    group = _first(names, GROUP)
    if group < 0:
        problem = f"global.Entity is {header!r}, without the entity's id ({' or '.join(GROUP)})"
        raise InputError(problem, file=file, line=line)
    return EntityLayout(len(names), group, _first(names, TYPE), _first(names, MINIMAL))


def _first(names: Sequence[str], candidates: Sequence[str]) -> int:
    return next((names.index(name) for name in candidates if name in names), -1)


class BracketReader:
    """The open brackets of one sentence, and the mentions closed so far."""

    def __init__(self, layout: EntityLayout, file: str) -> None:
        self.layout, self.file = layout, file
        self.closed: list[Mention] = []
        self._open: dict[str, list[tuple[int, Mention]]] = {}
        self._parts: dict[str, list[tuple[int, Mention]]] = {}

    def word(self, place: int, word: Word) -> None:
        """Process the brackets that one word's annotation opens and closes."""
        rest = 0
        for match in BRACKET.finditer(word.entity):
            if match.start() != rest:
                self._refuse(word.line, f"Entity={word.entity} is not a run of brackets")
            rest = match.end()
            self._bracket(match.group(), place, word.line)
        if rest != len(word.entity):
            self._refuse(word.line, f"Entity={word.entity} is not a run of brackets")

    def _bracket(self, text: str, place: int, line: int) -> None:
        opens, closes = text[0] == "(", text[-1] == ")"
        inner = text.strip("()")
        if opens:
            name, mention = self._opened(inner, line)
            self._open.setdefault(name, []).append((place, mention))
        if closes:
            self._close(inner if not opens else name, place, line)

    def _opened(self, inner: str, line: int) -> tuple[str, Mention]:
        """Return the name that closes a bracket, and its mention (or that of an earlier part)."""
        values = inner.split("-", self.layout.fields - 1)
        name = self._value(values, self.layout.group)
        if not name:
            self._refuse(line, f"the entity bracket ({inner} has no id")
        match = PART.match(name)
        if match is None or match[2] == "1":
            entity = name if match is None else match[1]
            entity_type = self._value(values, self.layout.type)
            mention = Mention(entity, entity_type, self._value(values, self.layout.minimal), line)
            self._note(mention, match)
            return name, mention
        return name, self._next_part(match, line)

    def _note(self, mention: Mention, match: re.Match[str] | None) -> None:
        if match is None or match[3] == "1":
            self.closed.append(mention)
        else:
            self._parts.setdefault(f"{match[1]}/{match[3]}", []).append((1, mention))

    def _next_part(self, match: re.Match[str], line: int) -> Mention:
        """Return the mention that waits for this part."""
        waiting = self._parts.get(f"{match[1]}/{match[3]}", [])
        part, of = int(match[2]), int(match[3])
        place = next((n for n, (have, _) in enumerate(waiting) if have == part - 1), None)
        if place is None:
            self._refuse(line, f"part {part} of {of} of {match[1]} follows no part {part - 1}")
        _, mention = waiting.pop(place)
        if part == of:
            self.closed.append(mention)
        else:
            waiting.append((part, mention))
        return mention

    def _value(self, values: Sequence[str], place: int) -> str:
        return values[place] if 0 <= place < len(values) else ""

    def _close(self, inner: str, place: int, line: int) -> None:
        """Close the bracket opened last under this name (some files repeat the prefix)."""
        fields = inner.split("-")
        waiting = self._open.get(inner) or self._open.get(self._value(fields, self.layout.group))
        if not waiting:
            self._refuse(line, f"entity bracket {inner}) closes what is not open")
        start, mention = waiting.pop()
        mention.spans.append((start, place))

    def finished(self) -> list[Mention]:
        """Return all mentions of the sentence; raise if a bracket is still open."""
        for name, waiting in self._open.items():
            for _, mention in waiting:
                self._refuse(
                    mention.line, f"entity bracket ({name} is never closed in its sentence"
                )
        for name, parts in self._parts.items():
            for have, mention in parts:
                entity, _, of = name.rpartition("/")
                self._refuse(mention.line, f"entity {entity} has {have} of its {of} parts")
        return self.closed

    def _refuse(self, line: int, problem: str) -> NoReturn:
        raise InputError(problem, file=self.file, line=line)


def mentions(words: Sequence[Word], layout: EntityLayout, file: str) -> list[Mention]:
    """Return the mentions of one sentence, in no particular order."""
    brackets = BracketReader(layout, file)
    for place, word in enumerate(words):
        if word.entity:
            brackets.word(place, word)
    return brackets.finished()
