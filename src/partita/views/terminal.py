"""A distribution as plain text for a terminal: configurations with bars, pairs before and after."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

import numpy as np

from partita.formats.results import in_text_order
from partita.records import Distribution, Listed
from partita.views.words import counted, figure, how, left_out, number, obtained, proof, ranged

BAR = 16
PAIRS = 15
LINES = 4
EIGHTHS = " ▏▎▍▌▋▊▉█"


def text(distribution: Distribution, width: int = 80, colour: bool = False) -> str:
    """Everything a person wants to see of one set, at most `width` columns wide."""
    parts = [
        _bold(_heading(distribution, width), colour),
        *_templates(distribution, width),
        "",
        *_configurations(distribution, width, colour),
        *_indented(left_out(distribution), width),
        "",
        *_pairs(distribution, width),
        "",
        *_facts(distribution, width),
    ]
    return "\n".join(parts) + "\n"


def line(distribution: Distribution, width: int = 80) -> str:
    """One set in one line: its most probable configuration."""
    first = distribution.configurations[0]
    start = f"{_clean(distribution.set.name)}  {number(first.probability)}  "
    if distribution.method != "exact":
        start += f"{obtained(distribution)}  "
    return _cut(start + _shown(distribution, first), width)


def names_text(title: str, names: Sequence[str], width: int = 80) -> str:
    """A list of ids, wrapped."""
    told = textwrap.wrap(f"{title} {', '.join(map(_clean, names))}", width, subsequent_indent="  ")
    return "\n".join(told) + "\n"


def _heading(distribution: Distribution, width: int) -> str:
    name = _clean(distribution.set.name)
    size = len(distribution.set)
    title = f"Set {name}: " if name else ""
    return _cut(f"{title}{size} templates, {counted(distribution)}, {distribution.model}", width)


def _templates(distribution: Distribution, width: int) -> list[str]:
    """The expressions, where the templates have any."""
    said = [t for t in distribution.set.templates if t.text]
    wide = max((_width(_clean(t.id)) for t in said), default=0)
    return [_cut(f"  {_padded(_clean(t.id), wide)}  {_clean(t.text)}", width) for t in said]


def _configurations(distribution: Distribution, width: int, colour: bool) -> list[str]:
    shown = [_shown(distribution, one) for one in distribution.configurations]
    figures = [ranged(one.probability, one.interval) for one in distribution.configurations]
    right = max(map(len, figures), default=0)
    room = max(width - right - BAR - 6, 20)
    wide = min(max(map(_width, shown), default=0), room)
    lines = []
    for cells, told, one in zip(shown, figures, distribution.configurations, strict=True):
        first, *more = _wrapped(cells, room)
        bar = _coloured(_bar(one.probability), colour)
        lines.append(f"  {_padded(first, wide)}  {told:>{right}}  {bar}".rstrip())
        lines += [f"    {rest}" for rest in more]
    return lines


def _shown(distribution: Distribution, listed: Listed) -> str:
    place = {name: n for n, name in enumerate(distribution.set.ids)}
    cells = in_text_order(listed.configuration, place)
    return " ".join(f"({' '.join(map(_clean, cell))})" for cell in cells)


def _pairs(distribution: Distribution, width: int) -> list[str]:
    """Pairs as given and as they came out; of many those that changed most."""
    ids = [_clean(name) for name in distribution.set.ids]
    given, came = distribution.probabilities, distribution.marginals
    left, right = np.nonzero(np.triu(given > 0.0, 1))
    change = np.abs(came.value[left, right] - given[left, right])
    chosen = np.sort(np.argsort(-change, kind="stable")[:PAIRS]).tolist()
    rows = []
    for n in chosen:
        at = (left[n], right[n])
        spread = None if came.kind == "exact" else (float(came.low[at]), float(came.high[at]))
        told = ranged(float(came.value[at]), spread)
        rows.append((f"{ids[at[0]]} = {ids[at[1]]}", f"{number(float(given[at]))} → {told}"))
    wide = min(max((_width(name) for name, _ in rows), default=0), max(width - 44, 10))
    lines = [f"  {_padded(_cut(name, wide), wide)}  {told}" for name, told in rows]
    if len(left) > len(chosen):
        lines.append(f"  {len(left) - len(chosen):,} more pairs changed less")
    return ["Pairs, as given → given everything else", *lines] if lines else ["No pair may corefer"]


def _facts(distribution: Distribution, width: int) -> list[str]:
    facts = [f"entropy {figure(distribution.entropy_bits)} bits"]
    if distribution.conflict is not None:
        facts.append(f"conflict κ {distribution.conflict:.5f}")
    cost = f"pruning cost {distribution.pruned:.3g}" if distribution.pruned else ""
    told = filter(None, [", ".join(facts), how(distribution), proof(distribution), cost])
    return [row for fact in told for row in textwrap.wrap(fact, width)]


def _indented(sentence: str, width: int) -> list[str]:
    return [f"  {row}" for row in textwrap.wrap(sentence, width - 2)]


def _bar(p: float) -> str:
    full, part = divmod(round(min(max(p, 0.0), 1.0) * BAR * 8), 8)
    return "█" * full + (EIGHTHS[part] if part else "")


def _wrapped(cells: str, room: int) -> list[str]:
    """At most a few lines: a configuration of hundreds of templates is not read here."""
    if _width(cells) <= room:
        return [cells]
    rows = textwrap.wrap(cells, room)
    return rows if len(rows) <= LINES else [*rows[: LINES - 1], f"… {len(rows) - LINES + 1} lines"]


def _clean(words: str) -> str:
    """Nothing from a file may steer the terminal."""
    return "".join(c if c.isprintable() else "·" for c in words)


def _width(words: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in words)


def _padded(words: str, wide: int) -> str:
    return words + " " * (wide - _width(words))


def _cut(words: str, width: int) -> str:
    if _width(words) <= width:
        return words
    kept = ""
    for c in words:
        if _width(kept + c) > width - 1:
            break
        kept += c
    return f"{kept}…"


def _bold(words: str, colour: bool) -> str:
    return f"\x1b[1m{words}\x1b[0m" if colour else words


def _coloured(words: str, colour: bool) -> str:
    return f"\x1b[36m{words}\x1b[0m" if colour and words else words
