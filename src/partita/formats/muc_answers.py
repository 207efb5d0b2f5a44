"""Answers in the format of the MUC-4 exam: one template after another, 25 slots each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from partita.evaluation.muc.templates import SLOTS, Fill, Incident, Slot

_WIDTH = 36  # columns before the fills


def answers(messages: Iterable[tuple[str, Sequence[Incident]]]) -> Iterator[str]:
    """The templates of each message; a message without incidents has one that says so."""
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
    """A string in quotes; what is set or counted as it is, with the string that it is said of."""
    value = f'"{_quoted(fill.values[0])}"' if slot.kind == "string" else fill.values[0]
    return f'{value}: "{_quoted(fill.tags[0])}"' if fill.tags else value


def _quoted(text: str) -> str:
    return " ".join(text.replace("\\", " ").replace('"', " ").split())
