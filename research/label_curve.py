"""Print how clusters of a table improve with labelled pairs, as a table in Markdown.

    python -m research.label_curve RECORDS.csv --truth COLUMN [--draws 3] [--labels 0 25 50 …]

Splink scores the pairs once, without the column that holds the truth. Labels are drawn at random
from the pairs with scores from .01 to .99, as a person would judge them. Bits per pair are those of
the other compared pairs; F1 is that of all pairs. Values are means over draws.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import partita

UNSURE = (0.01, 0.99)
CLIP = 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=Path)
    parser.add_argument("--truth", required=True)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--labels", type=int, nargs="+", default=[0, 25, 50, 100, 200])
    arguments = parser.parse_args()
    print(label_curve(arguments.records, arguments.truth, arguments.labels, arguments.draws))


def label_curve(
    records: Path, answer: str, counts: Sequence[int] = (0, 25, 50, 100, 200), draws: int = 3
) -> str:
    """Return the table of a file of records, whose column `answer` holds the truth."""
    frame = pd.read_csv(records, dtype=str)
    truth = dict(enumerate(frame[answer], 1))
    linked = partita.link(frame.drop(columns=answer))
    pairs = linked.to_pandas("pairs")
    ends = zip(pairs["left"], pairs["right"], strict=True)
    same = np.array([truth[a] == truth[b] for a, b in ends])
    lines = ["| labelled pairs | bits per pair | F1 |", "| --- | --- | --- |"]
    for count in counts:
        seeds = range(draws if count else 1)
        bits, f1 = np.mean([measured(pairs, same, truth, count, n) for n in seeds], axis=0)
        lines.append(f"| {count} | {bits:.3f} | {f1:.3f} |")
    return "\n".join(lines)


def measured(
    pairs: pd.DataFrame, same: Any, truth: dict[int, str], count: int, draw: int
) -> tuple[float, float]:
    """Return the bits of pairs that are not labelled, and the F1 of all pairs."""
    unsure = np.flatnonzero(pairs["score"].between(*UNSURE))
    chosen = np.random.default_rng(draw).permutation(unsure)[:count]
    labels = [
        (int(pairs["left"][n]), int(pairs["right"][n]), int(same[n])) for n in chosen.tolist()
    ]
    scores = pairs[["left", "right", "score"]].rename(columns={"score": "probability"})
    found = partita.cluster(scores, records=list(truth), labels=labels or None, link_above=0.01)
    again = found.to_pandas("pairs").set_index(["left", "right"])["probability"]
    keys = [(min(a, b), max(a, b)) for a, b in zip(pairs["left"], pairs["right"], strict=True)]
    p = np.clip(again.loc[keys].to_numpy(), CLIP, 1 - CLIP)
    others = np.ones(len(p), dtype=bool)
    others[chosen] = False
    bits = -np.log2(np.where(same, p, 1 - p))[others].mean()
    return float(bits), _f1(found, truth)


def _f1(found: partita.Clusters, truth: dict[int, str]) -> float:
    cluster = {row.record: row.cluster for row in found}
    both = Counter((cluster[record], truth[record]) for record in truth)
    counts = (both, Counter(cluster.values()), Counter(truth.values()))
    right, reported, true = (sum(n * (n - 1) // 2 for n in one.values()) for one in counts)
    return 2 * right / (reported + true)


if __name__ == "__main__":
    main()
