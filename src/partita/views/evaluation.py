"""Evaluation of results and of extraction as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from partita.evaluation.extraction import (
    ExtractionCounts,
    ExtractionFigures,
    Group,
    Slip,
    StatusCounts,
)
from partita.evaluation.rows import ModelRow
from partita.evaluation.scores import ScoreTally
from partita.views.layout import WIDTH, cell, clean, columns, count_text, cut_text, pad

MARGIN = 34
GROUP = 22


def evaluation_text(
    row: ModelRow, hard: bool = False, notes: Sequence[str] = (), width: int = WIDTH
) -> str:
    """Return the figures by name; hard answers have no probabilities, so scores only."""
    sizes = ((row.documents, "message"), (row.mentions, "template"), (row.sets, "set"))
    lines = [f"{row.model}: {', '.join(count_text(n, noun) for n, noun in sizes)}"]
    lines += [""] if hard else ["", *_bits(row), "", *_calibration(row)]
    lines += ["", *_scores(row)] if not hard else _scores(row)
    if not hard:
        lines += ["", *_sizes(row), "", *_groups(row)]
    for note in notes:
        lines += ["", *textwrap.wrap(note, width)]
    return "\n".join(lines) + "\n"


def _line(name: str, value: str) -> str:
    return f"{name:{MARGIN}}{value}"


def _bits(row: ModelRow) -> Iterator[str]:
    yield _line("bits per set", _spread(row, "bits_per_set", row.bits_per_set))
    yield _line("bits per set as reported", f"{row.reported_bits_per_set:.3f}")
    yield _line("bits per mention", _spread(row, "bits_per_mention", row.bits_per_mention))
    yield _line("right", f"{row.right:,} of {row.sets:,} sets")
    yield _line("coverage of true links", f"{row.coverage:.4f}")


def _calibration(row: ModelRow) -> Iterator[str]:
    yield _line("Brier score of pairs", f"{row.brier:.4f}")
    yield _line("reliability error of pairs", f"{row.pair_reliability_error:.4f}")
    yield _line("… of cells", f"{row.cell_reliability_error:.4f}")
    error = row.configuration_reliability_error
    yield _line("… of reported configurations", f"{error:.4f}")
    yield _line("… of the most probable ones", f"{row.first_reliability_error:.4f}")


def _scores(row: ModelRow) -> Iterator[str]:
    yield "of the most probable configuration"
    for name, value in (("MUC", row.muc), ("B³", row.b_cubed), ("CEAFe", row.ceaf)):
        yield _line(f"  {name}", f"{value:.4f}")
    yield _line("  CoNLL", _spread(row, "conll", row.conll))
    yield _line("  LEA", f"{row.lea:.4f}")


def _sizes(row: ModelRow) -> Iterator[str]:
    yield f"{'size of the set':{MARGIN}}{'sets':>7}{'right':>7}{'bits per set':>14}"
    for one in row.sizes:
        yield f"{one.size:{MARGIN}}{one.sets:>7,}{one.right:>7,}{one.bits_per_set:>14.3f}"


def _groups(row: ModelRow) -> Iterator[str]:
    """Yield a table of reliability: of all, by size of the set, by genre."""
    head = f"{'statements':>11}{'stated':>8}{'observed':>10}{'error':>8}"
    yield f"{'reliability':{GROUP}}{head}  95 % over messages"
    for one in row.calibration:
        name = f"{one.of}s" if one.by == "all" else f"  {one.by} {clean(one.group)}"
        shares = f"{one.stated:>8.3f}{one.observed:>10.3f}{one.error:>8.3f}"
        ends = (
            "" if one.interval is None else f"  {one.interval.low:.3f} to {one.interval.high:.3f}"
        )
        yield f"{cell(name, GROUP)}{one.statements:>11,}{shares}{ends}"


def _spread(row: ModelRow, name: str, value: float) -> str:
    if name not in row.intervals:
        return f"{value:.3f}"
    interval = row.intervals[name]
    return f"{value:.3f} ({interval.low:.3f} to {interval.high:.3f})"


NAME_WIDTH = 17
HEAD = (
    f"{'':{NAME_WIDTH}}{'templates':>9}{'R':>6}{'P':>6}{'F':>6}"
    f"{'slots':>8}{'R':>6}{'P':>6}{'F':>6}{'less':>5}{'more':>5}"
)
GROUPS: tuple[tuple[Group, str], ...] = (("form", "form"), ("region", "region"), ("slot", "slot"))


def extraction_text(measured: ExtractionFigures, errors: int = 0, width: int = 80) -> str:
    """Return scores by part, form, region and slot, and the first errors."""
    lines = [HEAD, *_parts(measured)]
    if measured.statuses is not None:
        lines += ["", *_status_lines(measured.statuses)]
    for group, title in GROUPS:
        lines += ["", f"by {title}"]
        lines += [_extraction_row(f"  {name}", one) for name, one in _nonempty(measured, group)]
    if errors:
        lines += ["", *_errors(measured, errors, width)]
    return "\n".join(lines) + "\n"


def extraction_json(measured: ExtractionFigures, errors: int = 0) -> dict[str, Any]:
    """Return counts, recall, precision and F of everything in the table."""
    groups: tuple[Group, ...] = ("part", "form", "region", "slot")
    return {
        "messages": measured.messages,
        "all": _figures(measured.of("all")),
        "matched": _figures(measured.of("matched")),
        **{
            group: {name: _figures(x) for name, x in _nonempty(measured, group)} for group in groups
        },
        "statuses": None if measured.statuses is None else _status_figures(measured.statuses),
        "errors": [_error(slip) for slip in measured.slips[:errors]],
    }


def _status_lines(counted: StatusCounts) -> Iterator[str]:
    denials = counted.denials
    yield f"denied values stated as facts {counted.stated}"
    others = f"and {_other(denials):.0f} others"
    yield f"denied values {denials.wanted:.0f}, found {denials.found:.0f} ({others})"
    yield f"status right of {counted.right} of {counted.values} values that agree with the key"
    yield f"status right of {counted.weak_right} of {counted.weak} that are possible or reported"


def _other(denials: ScoreTally) -> float:
    return denials.said - denials.right


def _status_figures(counted: StatusCounts) -> dict[str, Any]:
    return {
        "denied_stated": counted.stated,
        "denied": counted.denials.wanted,
        "denied_found": counted.denials.found,
        "denied_others": _other(counted.denials),
        "right": counted.right,
        "values": counted.values,
        "weak_right": counted.weak_right,
        "weak": counted.weak,
    }


def _parts(measured: ExtractionFigures) -> Iterator[str]:
    parts = measured.group("part")
    if len(parts) > 1:
        yield from (_extraction_row(name or "-", one) for name, one in parts.items())
    yield _extraction_row("all", measured.of("all"))
    yield _extraction_row("matched only", measured.of("matched"))


def _nonempty(measured: ExtractionFigures, group: Group) -> list[tuple[str, ExtractionCounts]]:
    """Return the names that occur in the key or the output."""
    return [(name, one) for name, one in measured.group(group).items() if one != ExtractionCounts()]


def _extraction_row(name: str, counted: ExtractionCounts) -> str:
    start = pad(cut_text(clean(name), NAME_WIDTH - 1), NAME_WIDTH)
    templates = _shares(counted.templates, 9) if counted.templates.wanted else " " * 27
    return f"{start}{templates}{_shares(counted.slots, 8)}{counted.less:>5}{counted.more:>5}"


def _shares(tally: ScoreTally, wide: int) -> str:
    recall = _share(tally.recall, tally.wanted)
    precision = _share(tally.precision, tally.said)
    both = _share(tally.f, min(tally.wanted, tally.said))
    return f"{tally.wanted:>{wide}.0f}{recall}{precision}{both}"


def _share(share: float, of: float) -> str:
    """Format a share in percent, or "-" of nothing."""
    return f"{100 * share:>6.1f}" if of else f"{'-':>6}"


def _errors(measured: ExtractionFigures, errors: int, width: int) -> Iterator[str]:
    shown = list(islice(measured.slips, errors))
    yield f"{len(shown)} of {len(measured.slips)} errors"
    wide = max((columns(clean(slip.message)) for slip in shown), default=0)
    for slip in shown:
        text = f"{pad(clean(slip.message), wide)}  {slip.kind:8}  {clean(_error_text(slip))}"
        yield cut_text(text, width)


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


def _tally(tally: ScoreTally) -> dict[str, float]:
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
