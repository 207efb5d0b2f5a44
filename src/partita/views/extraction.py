"""Extraction scores as a table of 80 columns, a list of errors, and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from partita.evaluation.extraction import Extraction, ExtractionCounts, Group, Slip
from partita.evaluation.scores import Tally
from partita.views.layout import clean, columns, cut, pad

NAME_WIDTH = 17
HEAD = (
    f"{'':{NAME_WIDTH}}{'templates':>9}{'R':>6}{'P':>6}{'F':>6}"
    f"{'slots':>8}{'R':>6}{'P':>6}{'F':>6}{'less':>5}{'more':>5}"
)
GROUPS: tuple[tuple[Group, str], ...] = (("form", "form"), ("region", "region"), ("slot", "slot"))


def extraction_text(measured: Extraction, errors: int = 0, width: int = 80) -> str:
    """Return scores by part, form, region and slot, and the first errors."""
    lines = [HEAD, *_parts(measured)]
    for group, title in GROUPS:
        lines += ["", f"by {title}"]
        lines += [_row(f"  {name}", one) for name, one in _nonempty(measured, group)]
    if errors:
        lines += ["", *_errors(measured, errors, width)]
    return "\n".join(lines) + "\n"


def extraction_json(measured: Extraction, errors: int = 0) -> dict[str, Any]:
    """Return counts, recall, precision and F of everything in the table."""
    groups: tuple[Group, ...] = ("part", "form", "region", "slot")
    return {
        "messages": measured.messages,
        "all": _figures(measured.of("all")),
        "matched": _figures(measured.of("matched")),
        **{
            group: {name: _figures(x) for name, x in _nonempty(measured, group)} for group in groups
        },
        "errors": [_error(slip) for slip in measured.slips[:errors]],
    }


def _parts(measured: Extraction) -> Iterator[str]:
    parts = measured.group("part")
    if len(parts) > 1:
        yield from (_row(name or "-", one) for name, one in parts.items())
    yield _row("all", measured.of("all"))
    yield _row("matched only", measured.of("matched"))


def _nonempty(measured: Extraction, group: Group) -> list[tuple[str, ExtractionCounts]]:
    """Return the names that occur in the key or the output."""
    return [(name, one) for name, one in measured.group(group).items() if one != ExtractionCounts()]


def _row(name: str, counted: ExtractionCounts) -> str:
    start = pad(cut(clean(name), NAME_WIDTH - 1), NAME_WIDTH)
    templates = _shares(counted.templates, 9) if counted.templates.wanted else " " * 27
    return f"{start}{templates}{_shares(counted.slots, 8)}{counted.less:>5}{counted.more:>5}"


def _shares(tally: Tally, wide: int) -> str:
    recall = _share(tally.recall, tally.wanted)
    precision = _share(tally.precision, tally.said)
    both = _share(tally.f, min(tally.wanted, tally.said))
    return f"{tally.wanted:>{wide}.0f}{recall}{precision}{both}"


def _share(share: float, of: float) -> str:
    """Format a share in percent, or "-" of nothing."""
    return f"{100 * share:>6.1f}" if of else f"{'-':>6}"


def _errors(measured: Extraction, errors: int, width: int) -> Iterator[str]:
    shown = list(islice(measured.slips, errors))
    yield f"{len(shown)} of {len(measured.slips)} errors"
    wide = max((columns(clean(slip.message)) for slip in shown), default=0)
    for slip in shown:
        text = f"{pad(clean(slip.message), wide)}  {slip.kind:8}  {clean(_error_text(slip))}"
        yield cut(text, width)


def _error_text(slip: Slip) -> str:
    if slip.kind != "slot":
        return slip.text
    return f"{slip.slot}: {slip.wanted or '-'}, found {slip.said or '-'}: {slip.text}"


def _figures(counted: ExtractionCounts) -> dict[str, Any]:
    return {
        "templates": _tally(counted.templates),
        "slots": _tally(counted.slots),
        "less": counted.less,
        "more": counted.more,
    }


def _tally(tally: Tally) -> dict[str, float]:
    return {
        "key": int(tally.wanted),
        "found": int(tally.found),
        "said": int(tally.said),
        "right": int(tally.right),
        "recall": tally.recall,
        "precision": tally.precision,
        "f": tally.f,
    }


def _error(slip: Slip) -> dict[str, str]:
    named = {"message": slip.message, "kind": slip.kind, "text": slip.text}
    if slip.kind == "slot":
        named |= {"slot": slip.slot, "key": slip.wanted, "found": slip.said}
    return named
