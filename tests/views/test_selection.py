"""The selection as a report."""

from __future__ import annotations

import numpy as np

from partita.training.selection import Selection, SelectionStep
from partita.views.evaluation import records, selection_text


def selection(held: float | None = 0.75) -> Selection:
    steps = (
        SelectionStep("slot_relation: identical", 0.2, 0.21, 0.79, held, 1.25),
        SelectionStep(
            "a characteristic with a very long name: and a long value", 0.01, 0.02, 0.77, held, -2
        ),
    )
    return Selection(steps, np.array([1.25, -2.0]), 1.0, 578, "every remaining gain is below 0.001")


def test_the_report_gives_order_gain_weight_and_sign() -> None:
    lines = selection_text(selection()).splitlines()
    assert lines[0] == "2 features selected from 578 pairs"
    first = next(line for line in lines if line.startswith("  1."))
    assert first.split()[-4:] == ["0.2100", "0.7900", "0.7500", "+1.250"]
    assert next(line for line in lines if line.startswith("  2.")).endswith("-2.000")
    assert max(map(len, lines)) <= 80
    assert "every remaining gain" in selection_text(selection())


def test_without_held_out_documents_the_column_is_empty() -> None:
    first = next(
        line for line in selection_text(selection(None)).splitlines() if line.startswith("  1.")
    )
    assert first.split()[-3:] == ["0.2100", "0.7900", "+1.250"]


def test_records_hold_every_step() -> None:
    assert [one["sign"] for one in records(selection())] == ["for", "against"]
