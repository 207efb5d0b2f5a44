"""Calibration of fused claims: three public claim sets, three simulated families, numbers, days.

The default of the tempering is chosen on the other sets, one set left out at a time. Run by itself
it prints both tables:  python benchmarks/bench_fusion_calibration.py [FOLDER OF THE CLAIM SETS]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from partita.evaluation.fusion import SlotMeasure, measure_fusion
from partita.evaluation.rows import table
from partita.fusion.belief import Parameters, Tempering
from partita.fusion.claim_files import read_claims
from partita.fusion.claims import Claims
from partita.fusion.fuse import Fused, FusionSettings, fuse_slots
from partita.fusion.kinds import Kind, Reading
from partita.fusion.parsed_claims import positions
from partita.fusion.sources import read_nesting, read_truths
from peers import crh
from simulated_claims import FAMILIES, Truths, days, numbers

CLAIMS = Path(os.environ.get("PARTITA_DATA", "../shared/data")) / "claims"
SEEDS = (1, 2, 3)
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
CLOSED_RATE = 0.2  # of agreement of wrong claims that a closed slot is taken to have
KNOWN_SHARE = 0.1


@dataclass(frozen=True)
class ClaimSet:
    """Claims with truths, and how they are fused."""

    name: str
    claims: Claims
    settings: FusionSettings
    truths: Truths

    def measured(self, fused: Fused, known: frozenset[str] = frozenset()) -> SlotMeasure:
        rest = {name: value for name, value in self.truths.items() if name not in known}
        return measure_fusion(fused.slots[0], rest, self.settings.reading.nesting)

    def independent(self) -> SlotMeasure:
        return self.measured(fuse_slots(self.claims, replace(self.settings, independent=True)))

    def with_known(self, seed: int = 0) -> SlotMeasure:
        """Return the figures on the other truths where a tenth of them are known."""
        names = sorted(self.truths)
        chosen = np.random.default_rng(seed).permutation(len(names))
        known = frozenset(names[n] for n in chosen[: int(KNOWN_SHARE * len(names))].tolist())
        slot = self.claims.slots[0]
        truths = {(name, slot): self.truths[name] for name in known}
        return self.measured(fuse_slots(self.claims, replace(self.settings, truths=truths)), known)


def claim_sets(folder: Path) -> Iterator[ClaimSet]:
    """Yield the public sets, and the simulated ones with every seed."""
    crowd = partial(_public, folder / "crowd-product", "answer.csv", "truth.csv")
    places = Reading(nesting=read_nesting(folder / "birthplaces" / "hierarchy.csv"))
    yield crowd(FusionSettings(), "crowd-product")
    yield crowd(FusionSettings(separator="_"), "crowd-product, one to one")
    yield _public(folder / "birthplaces", "claims.csv", "groundtruths.csv",
                  FusionSettings(reading=places), "birthplaces")  # fmt: skip
    yield _public(folder / "book", "book.txt", "book_golden.txt",
                  FusionSettings(kinds={"": "people"}), "book",
                  ("source", "object", "-", "authors"))  # fmt: skip
    for name, make in FAMILIES.items():
        for seed in SEEDS:
            claims, truths = make(seed)
            yield ClaimSet(name, claims, FusionSettings(kinds={"": "open"}), truths)


def _public(
    folder: Path, claims: str, truths: str, settings: FusionSettings, name: str,
    columns: tuple[str, ...] = (),
) -> ClaimSet:  # fmt: skip
    stated = read_claims(folder / claims, columns)
    true = read_truths(folder / truths, list(stated.slots))
    return ClaimSet(name, stated, settings, {thing: value for (thing, _), value in true.items()})


def errors_by_share(case: ClaimSet, parameters: Parameters) -> list[float]:
    """Return the reliability error for every share of the agreement of wrong claims."""
    concentration = parameters.concentration
    rate = CLOSED_RATE if concentration is None else 1 / (1 + concentration)
    slot = case.claims.slots[0]
    found = []
    for share in SHARES:
        fixed = {slot: replace(parameters, tempering=Tempering(share * rate))}
        found.append(
            case.measured(fuse_slots(case.claims, replace(case.settings, fixed=fixed))).error
        )
    return found


def rows(folder: Path) -> Iterator[list[str]]:
    """Yield a row for each set; simulated sets are means over the seeds."""
    cases = list(claim_sets(folder))
    fused = [fuse_slots(case.claims, case.settings) for case in cases]
    errors = np.array([
        errors_by_share(case, one.slots[0].parameters)
        for case, one in zip(cases, fused, strict=True)
    ])  # fmt: skip
    names = np.array([case.name for case in cases])
    sets = np.array([name.split(",")[0] for name in names])
    for name in dict.fromkeys(names.tolist()):
        mine = np.flatnonzero(names == name).tolist()
        others = sets != name.split(",")[0]
        best = int(np.argmin(errors[others].mean(axis=0)))
        plain = [cases[n].independent() for n in mine]
        found = [cases[n].measured(fused[n]) for n in mine]
        known = [cases[n].with_known() for n in mine]
        figures = [
            _mean([one.accuracy for one in plain]), _mean([one.error for one in plain]),
            _mean([one.accuracy for one in found]), f"{SHARES[best]:.2f}",
            _mean(errors[mine, best].tolist()), _mean([one.error for one in found]),
            _mean([one.accuracy for one in known]), _mean([one.error for one in known]),
        ]  # fmt: skip
        yield [name, *figures]


def _mean(values: list[float]) -> str:
    return f"{np.mean(values):.4f}".removeprefix("0")


HEADINGS = [
    "claims", "accuracy, independent", "error, independent", "accuracy", "share, left out",
    "error, left out", "error, default", "accuracy, a tenth known", "error, a tenth known",
]  # fmt: skip


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


NUMBERS = {"numbers, within 2 %": (numbers, 0.02), "days, exact": (days, 0.0)}
NUMBER_HEADINGS = [
    "claims", "fused", "CRH", "median", "error", "intervals, stated", "intervals, observed",
]  # fmt: skip


if __name__ == "__main__":
    print(table(HEADINGS, list(rows(Path(sys.argv[1]) if len(sys.argv) > 1 else CLAIMS))))
    print()
    print(table(NUMBER_HEADINGS, list(number_rows())))
