"""What each phase saw and which rule won, as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from partita.extraction.tracing import Piece, Seen, Win

LINES = 400  # of a phase: more are counted, not shown


def trace_text(message: str, seen: Sequence[Seen], width: int = 80) -> str:
    """A message phase by phase, sentence by sentence."""
    lines = [f"Message {clean(message)}", ""]
    lines += [line for one in seen for line in (*_phase(one, width), "")]
    return "\n".join(lines) + "\n"


def _phase(seen: Seen, width: int) -> Iterator[str]:
    yield f"{clean(seen.phase)}: {counted(seen)}"
    if not seen.whole:
        yield "  the work that a message may cost came to an end here"
    lines = [line for n in range(len(seen.sentences)) for line in _sentence(seen, n, width)]
    yield from lines[:LINES]
    if len(lines) > LINES:
        yield f"  {len(lines) - LINES:,} more lines"


def counted(seen: Seen) -> str:
    matches = "1 match" if seen.count == 1 else f"{seen.count} matches"
    rules = "1 rule" if seen.rules == 1 else f"{seen.rules} rules"
    tried = "at the cursor" if seen.starts == "cursor" else "everywhere"
    return f"{matches} of {rules}, tried {tried}"


def _sentence(seen: Seen, n: int, width: int) -> Iterator[str]:
    shown = " ".join(map(_piece, seen.sentences[n]))
    yield from textwrap.wrap(shown, width, initial_indent="  ", subsequent_indent="  ")
    for win in seen.wins[n]:
        yield from _win(win, width)


def _piece(piece: Piece) -> str:
    text = clean(piece.text)
    return f"[{text}]{piece.mark}" if piece.built else f"{text.replace(' ', '_')}/{piece.mark}"


def _win(win: Win, width: int) -> Iterator[str]:
    what = f"about {clean(win.about)!r}" if win.about else f"→ {clean(win.kind)}"
    head = f"* {clean(win.rule)}: {clean(win.text)!r} {what}"
    yield from _wrapped(head, width, 4)
    if win.made:
        yield from _wrapped(", ".join(pairs(win.made)), width, 8)
    if win.beaten:
        others = ", ".join(f"{clean(rule)} ({size})" for rule, size in win.beaten)
        yield from _wrapped(f"beat {others} with {win.size}", width, 8)
    for refused in win.refused:
        yield from _wrapped(f"left out {clean(refused)}", width, 8)


def pairs(made: Mapping[str, Any]) -> Iterator[str]:
    """Attributes or slots with their values."""
    for name, value in made.items():
        yield f"{clean(name)}={shown(value)}"


def shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(pairs(value))}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    return clean(str(value))


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    space = " " * indent
    return textwrap.wrap(text, width, initial_indent=space, subsequent_indent=space + "  ")


def clean(words: str) -> str:
    """Nothing from a file may steer the terminal."""
    return "".join(c if c.isprintable() else "·" for c in words)
