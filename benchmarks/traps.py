"""Judge the sampler's verdicts on many traps and ordinary sets against exact answers.

Run by `make traps`. The families take turns, so that a run that ends early (`--seconds`) has judged
about as many sets of each; the table says how many.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from oracles.traps import ORDINARY, TRAPS, Verdict, judge

FAMILIES = list((TRAPS | ORDINARY).items())


def judged(sets: int, work: int, seed: int, seconds: float) -> dict[str, list[Verdict]]:
    """Return the verdicts by family, of as many sets as the time allows."""
    verdicts: dict[str, list[Verdict]] = {name: [] for name, _ in FAMILIES}
    end = time.monotonic() + seconds
    for n in range(sets):
        for number, (name, family) in enumerate(FAMILIES):
            if time.monotonic() < end:
                rng = np.random.default_rng([seed, number, n])
                verdicts[name].append(judge(family(rng), work, n))
    return verdicts


def row(name: str, verdicts: Sequence[Verdict]) -> str:
    """Return a line of the table."""
    converged = [one for one in verdicts if one.converged]
    wrong = sum(one.wrong for one in converged)
    cells = [
        f"{len(verdicts):,}",
        f"{len(converged):,}",
        f"{wrong:,}",
        coverage(converged),
        coverage(verdicts),
    ]
    return f"| {name} | {' | '.join(cells)} |"


def coverage(verdicts: Sequence[Verdict]) -> str:
    pairs = sum(one.pairs for one in verdicts)
    return f"{sum(one.covered for one in verdicts) / pairs:.3f}" if pairs else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=250, help="sets of each of the eight families")
    parser.add_argument("--work", type=int, default=100_000, help="sweeps for a set")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    verdicts = judged(chosen.sets, chosen.work, chosen.seed, chosen.seconds)
    print("| family | sets | converged | of these wrong | coverage of these | coverage of all |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, found in verdicts.items():
        print(row(name, found), flush=True)
    sys.exit(any(one.converged and one.wrong for found in verdicts.values() for one in found))


if __name__ == "__main__":
    main()
