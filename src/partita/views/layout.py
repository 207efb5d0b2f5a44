"""The terminal kit: clean, cut and pad text by display width; draw bars; format numbers."""

from __future__ import annotations

import textwrap
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from partita.core import Distribution, Figure

WIDTH = 80
BAR = 16
MAX_LINES = 4
EIGHTHS = " ▏▎▍▌▋▊▉█"


def clean(text: object) -> str:
    """Replace control characters, so that no input can control the terminal."""
    return "".join(c if c.isprintable() else "·" for c in str(text))


def one_line(text: str) -> str:
    """Return the text cleaned and on one line."""
    return clean(" ".join(text.split()))


def columns(text: str) -> int:
    """Return the display width of a text; wide characters take two columns."""
    return sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def pad(text: str, width: int) -> str:
    """Add spaces up to a display width."""
    return text + " " * (width - columns(text))


def cut_text(text: str, width: int) -> str:
    """Cut a text to a display width, ending in an ellipsis."""
    if columns(text) <= width:
        return text
    kept = ""
    for c in text:
        if columns(kept + c) > width - 1:
            break
        kept += c
    return f"{kept}…"


def cell(text: object, width: int) -> str:
    """Return a cleaned text cut and pad to exactly a display width."""
    return pad(cut_text(clean(text), width), width)


def wrap_cells(cells: str, width: int) -> list[str]:
    """Wrap a configuration to a few lines, counting those left out."""
    if columns(cells) <= width:
        return [cells]
    rows = textwrap.wrap(cells, width)
    if len(rows) <= MAX_LINES:
        return rows
    return [*rows[: MAX_LINES - 1], f"… {len(rows) - MAX_LINES + 1} lines"]


def indent(sentence: str, width: int, by: int = 2) -> list[str]:
    """Wrap a sentence to lines that are indent."""
    return [" " * by + row for row in textwrap.wrap(sentence, width - by)]


def bold(text: str, colour: bool) -> str:
    return f"\x1b[1m{text}\x1b[0m" if colour else text


def cyan(text: str, colour: bool) -> str:
    return f"\x1b[36m{text}\x1b[0m" if colour and text else text


def text_bar(p: float) -> str:
    """Draw a probability as a bar of at most `BAR` columns."""
    full, part = divmod(round(min(max(p, 0.0), 1.0) * BAR * 8), 8)
    return "█" * full + (EIGHTHS[part] if part else "")


def count_text(count: int, noun: str) -> str:
    """Return a count with its noun: "1 set", "2 sets", "2 entities"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def count_or_power(count: int | None, log2_count: float, noun: str) -> str:
    """Return an exact count, or a power of two for a very large one."""
    if count is not None and count < 10**15:
        return count_text(count, noun)
    return f"about 2^{log2_count:.1f} {noun}s"


def probability_text(p: float) -> str:
    """Format a probability with four digits; a tiny one keeps its magnitude."""
    if p == 0.0 or p >= 0.00005:
        return f"{p:.4f}"
    return f"{p:.0e}"


def with_interval(p: float, interval: tuple[float, float] | None) -> str:
    """Format a probability, with its interval if that is wide enough to show."""
    low, high = (p, p) if interval is None else interval
    if probability_text(low) == probability_text(high):
        return probability_text(p)
    ends = f"{probability_text(max(low, 0.0))}, {probability_text(min(high, 1.0))}"
    return f"{probability_text(p)} [{ends}]"


def interval_of(figure: Figure) -> tuple[float, tuple[float, float] | None]:
    """Return a figure's value and its interval (None if exact)."""
    return figure.value, None if figure.kind == "exact" else (figure.low, figure.high)


def probability_of(figure: Figure) -> str:
    """Format the probability of a figure, with its interval if it has one."""
    return with_interval(*interval_of(figure))


def figure_text(figure: Figure, digits: int = 4) -> str:
    """Format a figure with its error or interval."""
    value, low, high = (f"{x:.{digits}f}" for x in (figure.value, figure.low, figure.high))
    if low == high:
        return value
    if figure.kind == "interval":
        return f"between {low} and {high}"
    return f"{value} ± {figure.high - figure.value:.{digits}f}"


def configuration_count(distribution: Distribution) -> str:
    """Return the number of configurations, exactly or as a power of two."""
    return count_or_power(distribution.count, distribution.log2_count, "configuration")


def method_text(distribution: Distribution) -> str:
    """Return the method, with a warning if it has not converged."""
    if distribution.converged is False:
        return f"{distribution.method}, NOT converged"
    return str(distribution.method)


def method_reason(distribution: Distribution) -> str:
    """Return the method and why it was chosen."""
    method, reason = method_text(distribution), distribution.reason
    return reason if reason.startswith(method) else f"{method}: {reason}"


def optimality_note(distribution: Distribution) -> str:
    """Return a caveat about the first configuration, or "" if it is proven most probable."""
    if distribution.gap == 0.0:
        return ""
    if distribution.gap == float("inf"):
        return "the first configuration is not proven to be the most probable one"
    return f"another configuration may exceed the first by a factor of e^{distribution.gap:.3g}"


def remainder_text(distribution: Distribution) -> str:
    """Return the number of configurations not listed, and their total probability."""
    remainder = distribution.remainder
    if remainder.count == 0:
        return "all configurations listed"
    count = count_or_power(remainder.count, remainder.log2_count, "more configuration")
    total = with_interval(remainder.probability, remainder.interval)
    return f"{count}, total probability {total}"
