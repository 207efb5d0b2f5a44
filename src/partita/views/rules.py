"""Lint problems and traces as text and HTML."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from partita.rules.domain import RuleProblem
from partita.rules.extractor import PhaseTrace, RuleMatch, TracedPiece
from partita.views.layout import clean, count_text
from partita.views.markup import Html, document, element, join_markup, table_element, table_row

MAX_LINES = 400  # of a phase


def trace_text(message: str, seen: Sequence[PhaseTrace], width: int = 80) -> str:
    """Return the trace of a message, phase by phase and sentence by sentence."""
    lines = [f"Message {clean(message)}", ""]
    lines += [line for phase in seen for line in (*_text_phase(phase, width), "")]
    return "\n".join(lines) + "\n"


def _text_phase(seen: PhaseTrace, width: int) -> Iterator[str]:
    yield f"{clean(seen.phase)}: {match_count(seen)}"
    if not seen.whole:
        yield "  the work limit for one message was reached here"
    lines = [line for n in range(len(seen.sentences)) for line in _text_sentence(seen, n, width)]
    yield from lines[:MAX_LINES]
    if len(lines) > MAX_LINES:
        yield f"  {len(lines) - MAX_LINES:,} more lines"


def match_count(seen: PhaseTrace) -> str:
    matches = "1 match" if seen.count == 1 else f"{seen.count} matches"
    rules = "1 rule" if seen.rules == 1 else f"{seen.rules} rules"
    tried = "at the cursor" if seen.starts == "cursor" else "everywhere"
    return f"{matches} of {rules}, tried {tried}"


def _text_sentence(seen: PhaseTrace, n: int, width: int) -> Iterator[str]:
    value_text = " ".join(map(_text_piece, seen.sentences[n]))
    yield from textwrap.wrap(value_text, width, initial_indent="  ", subsequent_indent="  ")
    for win in seen.wins[n]:
        yield from _text_win(win, width)


def _text_piece(piece: TracedPiece) -> str:
    text = clean(piece.text)
    return f"[{text}]{piece.mark}" if piece.built else f"{text.replace(' ', '_')}/{piece.mark}"


def _text_win(win: RuleMatch, width: int) -> Iterator[str]:
    what = f"about {clean(win.about)!r}" if win.about else f"→ {clean(win.kind)}"
    head = f"* {clean(win.rule)}: {clean(win.text)!r} {what}"
    yield from _wrapped(head, width, 4)
    if win.made:
        yield from _wrapped(", ".join(pairs(win.made)), width, 8)
    if win.status:
        yield from _wrapped(clean(win.status), width, 8)
    if win.beaten:
        others = ", ".join(f"{clean(rule)} ({size})" for rule, size in win.beaten)
        yield from _wrapped(f"beat {others} with {win.size}", width, 8)
    for refusal in win.refused:
        yield from _wrapped(f"left out {clean(refusal)}", width, 8)


def pairs(made: Mapping[str, Any]) -> Iterator[str]:
    """Yield attributes or slots with their values."""
    for name, value in made.items():
        yield f"{clean(name)}={attribute_text(value)}"


def attribute_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(pairs(value))}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(attribute_text, value))}]"
    return clean(value)


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    space = " " * indent
    return textwrap.wrap(text, width, initial_indent=space, subsequent_indent=space + "  ")


def lint_text(name: str, problems: Sequence[RuleProblem]) -> str:
    """Return the problems and their counts."""
    errors = sum(problem.error for problem in problems)
    warnings = len(problems) - errors
    lines = [_line(problem) for problem in problems]
    lines.append(f"{clean(name)}: {count_text(errors, 'error')}, {count_text(warnings, 'warning')}")
    return "\n".join(lines) + "\n"


def _line(problem: RuleProblem) -> str:
    at = problem.at
    place = ":".join(str(part) for part in (_relative_path(at.file), at.line, at.column) if part)
    return f"{clean(place)}: {'error' if problem.error else 'warning'}: {clean(problem.said)}"


def _relative_path(file: str) -> str:
    """Return the path relative to the current folder if that is shorter."""
    if not file:
        return ""
    try:
        near = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return near if len(near) < len(file) else str(Path(file))


_STYLE = """
:root { color-scheme: light dark; --line: #8884; --built: #2a72; --mark: #888; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
h1 { font-size: 1.3rem } h2 { font-size: 1.15rem } h3 { margin: 2rem 0 .5rem }
.sentence { border-top: 1px solid var(--line); padding: .6rem 0 }
.phrase { display: inline-block; margin: .1rem .25rem .1rem 0 }
.built { background: var(--built); border-radius: .3rem; padding: 0 .3rem }
small { color: var(--mark) }
table { border-collapse: collapse; margin-top: .4rem; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .15rem .8rem .15rem 0 }
th { font-weight: 500; color: var(--mark) } code { overflow-wrap: anywhere }
nav a { margin-right: 1rem }
"""


def trace_html(messages: Sequence[tuple[str, Sequence[PhaseTrace]]], title: str) -> str:
    """Return the traces of messages as an HTML file."""
    body = (_message(n, name, seen) for n, (name, seen) in enumerate(messages))
    return document(clean(title), _STYLE, None, element("h1", clean(title)), *body)


def _message(n: int, name: str, seen: Sequence[PhaseTrace]) -> Html:
    links = (element("a", clean(one.phase), href=f"#m{n}p{k}") for k, one in enumerate(seen))
    phases = (_phase(one, f"m{n}p{k}") for k, one in enumerate(seen))
    title = element("h2", f"Message {clean(name)}")
    return join_markup([title, element("nav", *links), *phases])


def _phase(seen: PhaseTrace, place: str) -> Html:
    title = element("h3", f"{clean(seen.phase)} ", element("small", match_count(seen)))
    limit = "The work limit for one message was reached here."
    stopped = () if seen.whole else (element("p", limit),)
    sentences = map(_sentence, seen.sentences, seen.wins)
    return element("section", title, *stopped, *sentences, id=place)


def _sentence(pieces: Sequence[TracedPiece], wins: Sequence[RuleMatch]) -> Html:
    head = element("tr", *(element("th", name) for name in _TITLES))
    table = (table_element([head, *map(_win, wins)]),) if wins else ()
    return join_markup([element("div", *map(_piece, pieces), *table, class_="sentence"), "\n"])


_TITLES = ("rule", "matched", "made or said", "beaten")


def _piece(piece: TracedPiece) -> Html:
    mark = element("small", clean(piece.mark))
    name = "phrase built" if piece.built else "phrase"
    return element("span", f"{clean(piece.text)} ", mark, class_=name)


def _win(win: RuleMatch) -> Html:
    place = f"{win.at.file.rpartition('/')[2]}:{win.at.line}" if win.at.line else ""
    rule = join_markup([f"{clean(win.rule)} ", element("small", clean(place))])
    made = join_markup((element("code", one) for one in _made(win)), element("br"))
    beaten = ", ".join(f"{clean(rule)} ({size})" for rule, size in win.beaten)
    return table_row(rule, clean(win.text), made, beaten)


def _made(win: RuleMatch) -> Iterator[str]:
    if win.kind:
        yield f"kind={win.kind}"
    if win.about:
        yield f"about {clean(win.about)}"
    yield from pairs(win.made)
    if win.status:
        yield clean(win.status)
    yield from (f"left out {clean(one)}" for one in win.refused)
