"""Text, bars and short phrases for the terminal."""

from __future__ import annotations

import textwrap
import unicodedata

from partita.records import Distribution, Figure

BAR = 16
LINES = 4
EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(p: float) -> str:
    full, part = divmod(round(min(max(p, 0.0), 1.0) * BAR * 8), 8)
    return "█" * full + (EIGHTHS[part] if part else "")


def wrapped(cells: str, room: int) -> list[str]:
    """At most a few lines: a configuration of hundreds of templates is not read here."""
    if columns(cells) <= room:
        return [cells]
    rows = textwrap.wrap(cells, room)
    return rows if len(rows) <= LINES else [*rows[: LINES - 1], f"… {len(rows) - LINES + 1} lines"]


def indented(sentence: str, width: int, by: int = 2) -> list[str]:
    """A sentence in lines that begin so many columns further right."""
    return [" " * by + row for row in textwrap.wrap(sentence, width - by)]


def clean(words: object) -> str:
    """Replace control characters: nothing from a file may steer the terminal."""
    return "".join(c if c.isprintable() else "·" for c in str(words))


def columns(words: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in words)


def padded(words: str, wide: int) -> str:
    return words + " " * (wide - columns(words))


def cut(words: str, width: int) -> str:
    if columns(words) <= width:
        return words
    kept = ""
    for c in words:
        if columns(kept + c) > width - 1:
            break
        kept += c
    return f"{kept}…"


def bold(words: str, colour: bool) -> str:
    return f"\x1b[1m{words}\x1b[0m" if colour else words


def coloured(words: str, colour: bool) -> str:
    return f"\x1b[36m{words}\x1b[0m" if colour and words else words


def number(p: float) -> str:
    """A probability with four digits; a tiny one keeps its magnitude, a sure one says so."""
    if p == 0.0 or p >= 0.00005:
        return f"{p:.4f}"
    return f"{p:.0e}"


def ranged(p: float, interval: tuple[float, float] | None) -> str:
    """A probability and its interval, where that is wide enough to be seen."""
    low, high = (p, p) if interval is None else interval
    if number(low) == number(high):
        return number(p)
    return f"{number(p)} [{number(max(low, 0.0))}, {number(min(high, 1.0))}]"


def figure(value: Figure, digits: int = 4) -> str:
    """A number that says how it was obtained."""
    told, low, high = (f"{x:.{digits}f}" for x in (value.value, value.low, value.high))
    if low == high:
        return told
    if value.kind == "interval":
        return f"between {low} and {high}"
    return f"{told} ± {value.high - value.value:.{digits}f}"


def counted(distribution: Distribution) -> str:
    """How many configurations there are, exactly or as a power of two."""
    return many(distribution.count, distribution.log2_count, "configuration")


def many(count: int | None, log2_count: float, noun: str) -> str:
    if count is not None and count < 10**15:
        return f"{count:,} {noun}{'' if count == 1 else 's'}"
    return f"about 2^{log2_count:.1f} {noun}s"


def obtained(distribution: Distribution) -> str:
    """The method, and whether it may be trusted."""
    if distribution.converged is False:
        return f"{distribution.method}, NOT converged"
    return str(distribution.method)


def how(distribution: Distribution) -> str:
    """The method and why it was chosen."""
    told = obtained(distribution)
    reason = distribution.reason
    return reason if reason.startswith(told) else f"{told}: {reason}"


def proof(distribution: Distribution) -> str:
    """What is known about the first configuration; empty where it is proved most probable."""
    if distribution.gap == 0.0:
        return ""
    if distribution.gap == float("inf"):
        return "the first configuration is not proven to be the most probable one"
    return f"another configuration may exceed the first by a factor of e^{distribution.gap:.3g}"


def left_out(distribution: Distribution) -> str:
    """The number of configurations that are not listed, and their total probability."""
    remainder = distribution.remainder
    if remainder.count == 0:
        return "all configurations listed"
    rest = many(remainder.count, remainder.log2_count, "more configuration")
    together = ranged(remainder.probability, remainder.interval)
    return f"{rest}, total probability {together}"
