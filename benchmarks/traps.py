"""Judge the sampler's verdicts on many traps and ordinary sets against exact answers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from oracles.traps import ORDINARY, TRAPS, judge


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=250, help="sets of each of the eight families")
    parser.add_argument("--work", type=int, default=100_000, help="sweeps for a set")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    failed = 0
    for name, family in (TRAPS | ORDINARY).items():
        judged = [
            judge(family(np.random.default_rng([chosen.seed, n])), chosen.work, n)
            for n in range(chosen.sets)
        ]
        answers = [one for one in judged if one.converged]
        wrong = sum(one.wrong for one in answers)
        pairs, covered = sum(one.pairs for one in answers), sum(one.covered for one in answers)
        share = f"{covered / pairs:.3f}" if pairs else "-"
        counts = f"{len(answers):5} of {len(judged)} converged, {wrong} of them wrong"
        print(f"{name:8} {counts}, coverage {share}", flush=True)
        failed += wrong
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
