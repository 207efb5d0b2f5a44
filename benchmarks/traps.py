"""Judge the sampler's verdicts on many traps and ordinary sets against exact answers.

Run by `make traps`. The families take turns, so that a run that ends early (`--seconds`) has judged
about as many sets of each; the table says how many. With `--log` every verdict goes to a file at
once, and the verdicts that the file has are not computed again: a run that was cut short counts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from oracles.traps import ORDINARY, TRAPS, Verdict, judge

FAMILIES = list((TRAPS | ORDINARY).items())
Draw = tuple[str, int, int, int]  # family, seed, number of the set, sweeps


def judged(
    sets: int, work: int, seed: int, seconds: float, logged: dict[Draw, Verdict]
) -> Iterator[tuple[Draw, Verdict]]:
    """Yield the verdicts that are not in the log, of as many sets as the time allows."""
    end = time.monotonic() + seconds
    for n in range(sets):
        for number, (name, family) in enumerate(FAMILIES):
            draw = (name, seed, n, work)
            if draw not in logged and time.monotonic() < end:
                rng = np.random.default_rng([seed, number, n])
                yield draw, judge(family(rng), work, n)


def read_log(path: Path | None) -> dict[Draw, Verdict]:
    """Return the verdicts of a log; lines that were cut off are left out."""
    verdicts: dict[Draw, Verdict] = {}
    lines = path.read_text().split("\n") if path and path.exists() else []
    for line in (json.loads(text) for text in lines if text.endswith("}}")):
        draw = (line["family"], line["seed"], line["set"], line["work"])
        verdicts[draw] = Verdict(**line["verdict"])
    return verdicts


def log_line(draw: Draw, verdict: Verdict) -> str:
    family, seed, number, work = draw
    line = {"family": family, "seed": seed, "set": number, "work": work}
    return "\n" + json.dumps(line | {"verdict": asdict(verdict)})


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
    parser.add_argument("--log", type=Path, help="file of verdicts (JSONL), to which new ones go")
    chosen = parser.parse_args()
    verdicts = read_log(chosen.log)
    for draw, verdict in judged(chosen.sets, chosen.work, chosen.seed, chosen.seconds, verdicts):
        verdicts[draw] = verdict
        if chosen.log:
            with chosen.log.open("a") as stream:
                stream.write(log_line(draw, verdict))
        if verdict.converged and verdict.wrong:
            print(f"wrongly converged: {draw}", file=sys.stderr, flush=True)
    print("| family | sets | converged | of these wrong | coverage of these | coverage of all |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, _ in FAMILIES:
        print(row(name, [one for draw, one in verdicts.items() if draw[0] == name]), flush=True)
    sys.exit(any(one.converged and one.wrong for one in verdicts.values()))


if __name__ == "__main__":
    main()
