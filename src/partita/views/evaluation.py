"""Evaluation results and selected features as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from partita.evaluation.rows import Row
from partita.training.selection import Selection, Step
from partita.views.layout import WIDTH, cell, count_text

MARGIN = 34


def evaluation_text(
    row: Row, hard: bool = False, notes: Sequence[str] = (), width: int = WIDTH
) -> str:
    """Return the figures by name; hard answers have no probabilities, so scores only."""
    sizes = ((row.documents, "message"), (row.mentions, "template"), (row.sets, "set"))
    lines = [f"{row.model}: {', '.join(count_text(n, noun) for n, noun in sizes)}"]
    lines += [""] if hard else ["", *_bits(row), "", *_calibration(row)]
    lines += ["", *_scores(row)] if not hard else _scores(row)
    if not hard:
        lines += ["", *_sizes(row)]
    for note in notes:
        lines += ["", *textwrap.wrap(note, width)]
    return "\n".join(lines) + "\n"


def _line(name: str, value: str) -> str:
    return f"{name:{MARGIN}}{value}"


def _bits(row: Row) -> Iterator[str]:
    yield _line("bits per set", _spread(row, "bits_per_set", row.bits_per_set))
    yield _line("bits per set as reported", f"{row.reported_bits_per_set:.3f}")
    yield _line("bits per mention", _spread(row, "bits_per_mention", row.bits_per_mention))
    yield _line("right", f"{row.right:,} of {row.sets:,} sets")
    yield _line("coverage of true links", f"{row.coverage:.4f}")


def _calibration(row: Row) -> Iterator[str]:
    yield _line("Brier score of pairs", f"{row.brier:.4f}")
    yield _line("reliability error of pairs", f"{row.pair_reliability_error:.4f}")
    error = row.configuration_reliability_error
    yield _line("… of reported configurations", f"{error:.4f}")
    yield _line("… of the most probable ones", f"{row.first_reliability_error:.4f}")
    yield _line("expected B³, LEA", f"{row.expected_b_cubed:.4f}, {row.expected_lea:.4f}")


def _scores(row: Row) -> Iterator[str]:
    yield "of the most probable configuration"
    for name, value in (("MUC", row.muc), ("B³", row.b_cubed), ("CEAFe", row.ceaf)):
        yield _line(f"  {name}", f"{value:.4f}")
    yield _line("  CoNLL", _spread(row, "conll", row.conll))
    yield _line("  LEA", f"{row.lea:.4f}")


def _sizes(row: Row) -> Iterator[str]:
    yield f"{'size of the set':{MARGIN}}{'sets':>7}{'right':>7}{'bits per set':>14}"
    for one in row.sizes:
        yield f"{one.size:{MARGIN}}{one.sets:>7,}{one.right:>7,}{one.bits_per_set:>14.3f}"


def _spread(row: Row, name: str, value: float) -> str:
    if name not in row.intervals:
        return f"{value:.3f}"
    interval = row.intervals[name]
    return f"{value:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def text(selection: Selection, width: int = WIDTH) -> str:
    """Return order, gain, weight and sign of every selected feature, one per line."""
    title = f"{len(selection.steps)} features selected from {selection.pairs:,} pairs"
    room = width - 43
    head = f"{'':>4} {'feature':{room}} {'gain':>7} {'bits':>7} {'held out':>8} {'weight':>8}"
    rows = [_row(n, step, room) for n, step in enumerate(selection.steps, 1)]
    why = textwrap.wrap(
        f"Stopped: {selection.stopped}. Gain, bits and held out are bits per pair; a weight above "
        "0 speaks for coreference, one below 0 against it.",
        width,
    )
    return "\n".join([title, "", head, *rows, "", *why]) + "\n"


def _row(number: int, step: Step, room: int) -> str:
    held = "" if step.held_out is None else f"{step.held_out:.4f}"
    figures = f"{step.gain:7.4f} {step.bits:7.4f} {held:>8} {step.weight:+8.3f}"
    return f"{number:>3}. {cell(step.feature, room)} {figures}"


def records(selection: Selection) -> list[dict[str, Any]]:
    """Return one plain object for each step."""
    return [
        {
            "order": number,
            "feature": step.feature,
            "approximate_gain": step.approximate,
            "gain": step.gain,
            "bits": step.bits,
            "held_out": step.held_out,
            "weight": step.weight,
            "sign": "for" if step.weight > 0 else "against",
        }
        for number, step in enumerate(selection.steps, 1)
    ]
