"""Rows of the experiment as a Markdown table for a person."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from partita.evaluation.rows import Row

COLUMNS: tuple[tuple[str, Callable[[Row], str]], ...] = (
    ("model", lambda row: row.model),
    ("bits per mention", lambda row: _with_interval(row, "bits_per_mention", row.bits_per_mention)),
    ("bits per set", lambda row: _with_interval(row, "bits_per_set", row.bits_per_set)),
    ("right", lambda row: f"{row.right} of {row.sets}"),
    ("as reported", lambda row: f"{row.reported_bits_per_set:.2f}"),
    ("coverage", lambda row: f"{row.coverage:.4f}"),
    ("Brier", lambda row: f"{row.brier:.4f}"),
    (
        "pair reliability error",
        lambda row: _with_interval(row, "pair_reliability_error", row.pair_reliability_error),
    ),
    ("expected B³", lambda row: f"{row.expected_b_cubed:.3f}"),
    ("expected LEA", lambda row: f"{row.expected_lea:.3f}"),
    ("CoNLL", lambda row: f"{row.conll:.3f}"),
)


def markdown(rows: Sequence[Row]) -> str:
    """One line for each model."""
    return table(
        [name for name, _ in COLUMNS], [[cell(row) for _, cell in COLUMNS] for row in rows]
    )


def sizes_markdown(rows: Sequence[Row]) -> str:
    """Bits per set and number right, by the size of sets: one line for each size."""
    names = list(dict.fromkeys(one.size for row in rows for one in row.sizes))
    lines = []
    for name in names:
        found = [next((s for s in row.sizes if s.size == name), None) for row in rows]
        count = next(s.sets for s in found if s is not None)
        cells = ["" if s is None else f"{s.bits_per_set:.2f} ({s.right})" for s in found]
        lines.append([name, str(count), *cells])
    return table(["size", "sets", *(row.model for row in rows)], lines)


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    rule = ["---"] * len(header)
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rule, *lines))


def _with_interval(row: Row, name: str, value: float) -> str:
    if name not in row.intervals:
        return f"{value:.3f}"
    found = row.intervals[name]
    return f"{value:.3f} ({found.low:.3f}–{found.high:.3f})"
