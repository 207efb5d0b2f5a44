"""What each phase saw and which rule won, as one HTML file that needs no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from partita.extraction.tracing import Piece, Seen, Win
from partita.views.trace import clean, counted, pairs

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


def trace_html(messages: Sequence[tuple[str, Sequence[Seen]]], title: str) -> str:
    """The whole file: messages, in each of them the phases."""
    body = "".join(_message(n, name, seen) for n, (name, seen) in enumerate(messages))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{_safe(title)}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{_safe(title)}</h1>{body}</body></html>\n"
    )


def _message(n: int, name: str, seen: Sequence[Seen]) -> str:
    links = "".join(f'<a href="#m{n}p{k}">{_safe(one.phase)}</a>' for k, one in enumerate(seen))
    phases = "".join(_phase(one, f"m{n}p{k}") for k, one in enumerate(seen))
    return f"<h2>Message {_safe(name)}</h2><nav>{links}</nav>{phases}"


def _phase(seen: Seen, place: str) -> str:
    stopped = "" if seen.whole else "<p>The work that a message may cost came to an end here.</p>"
    sentences = "".join(
        _sentence(pieces, wins) for pieces, wins in zip(seen.sentences, seen.wins, strict=True)
    )
    head = f'<section id="{place}"><h3>{_safe(seen.phase)} <small>{counted(seen)}</small></h3>'
    return f"{head}{stopped}{sentences}</section>"


def _sentence(pieces: Sequence[Piece], wins: Sequence[Win]) -> str:
    row = "".join(map(_piece, pieces))
    table = f"<table>{_HEAD}{''.join(map(_win, wins))}</table>" if wins else ""
    return f'<div class="sentence">{row}{table}</div>\n'


_HEAD = "<tr><th>rule<th>matched<th>made or said<th>beaten</tr>"


def _piece(piece: Piece) -> str:
    name = "phrase built" if piece.built else "phrase"
    return f'<span class="{name}">{_safe(piece.text)} <small>{_safe(piece.mark)}</small></span>'


def _win(win: Win) -> str:
    place = f"{win.at.file.rpartition('/')[2]}:{win.at.line}" if win.at.line else ""
    made = "<br>".join(f"<code>{escape(one)}</code>" for one in _made(win))
    beaten = ", ".join(f"{_safe(rule)} ({size})" for rule, size in win.beaten)
    return (
        f"<tr><td>{_safe(win.rule)} <small>{_safe(place)}</small><td>{_safe(win.text)}"
        f"<td>{made}<td>{beaten}</tr>"
    )


def _made(win: Win) -> Iterator[str]:
    if win.kind:
        yield f"kind={win.kind}"
    if win.about:
        yield f"about {clean(win.about)}"
    yield from pairs(win.made)
    yield from (f"left out {clean(one)}" for one in win.refused)


def _safe(text: str) -> str:
    return escape(clean(text))
