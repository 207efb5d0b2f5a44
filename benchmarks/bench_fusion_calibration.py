"""Simulated numbers and days with errors, beside CRH and the median; research/panel_claims.py has
the other claims. Run by itself it prints the table:  python benchmarks/bench_fusion_calibration.py
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from partita.evaluation.fusion import measure_fusion
from partita.evaluation.rows import table
from partita.fusion.claims import Claims
from partita.fusion.fuse import fuse_slots
from partita.fusion.kinds import Kind
from partita.fusion.parsed_claims import positions
from peers import crh
from research.simulated_claims import Truths, days, numbers

SEEDS = (1, 2, 3)


def number_rows() -> Iterator[list[str]]:
    """Yield a row for each simulated family of numbers and days: shares, errors and intervals."""
    for name, (make, near) in NUMBERS.items():
        figures = [_number_figures(*make(seed), near) for seed in SEEDS]
        yield [name, *(_mean([one[n] for one in figures]) for n in range(len(figures[0])))]


def _number_figures(claims: Claims, truths: Truths, near: float) -> list[float]:
    """Return the shares of answers near the truth, and the reliability of what is stated."""
    belief = fuse_slots(claims).slots[0]
    kind = belief.parsed.kind
    said: dict[str, dict[str, float]] = {}
    for n, thing in enumerate(claims.object.tolist()):
        source = claims.sources[claims.source[n]]
        value = _place(claims.values[claims.value[n]], kind)
        said.setdefault(claims.objects[thing], {})[source] = value
    answers = [
        {thing: _place(value, kind) for thing, (value, _) in belief.best().items()},
        crh(said),
        {thing: float(np.median(list(values.values()))) for thing, values in said.items()},
    ]
    true = {thing: _place(truths[thing], kind) for thing in said}
    shares = [
        float(np.mean([abs(answer[n] - x) <= near * x for n, x in true.items()]))
        for answer in answers
    ]
    found = measure_fusion(belief, truths, None)
    return [*shares, found.error, *(found.intervals or (0.0, 0.0))]


def _place(text: str, kind: Kind) -> float:
    return float(positions([text], kind)[0])


def _mean(values: list[float]) -> str:
    return f"{np.mean(values):.4f}".removeprefix("0")


NUMBERS = {"numbers, within 2 %": (numbers, 0.02), "days, exact": (days, 0.0)}
NUMBER_HEADINGS = [
    "claims", "fused", "CRH", "median", "error", "intervals, stated", "intervals, observed",
]  # fmt: skip


if __name__ == "__main__":
    print(table(NUMBER_HEADINGS, list(number_rows())))
