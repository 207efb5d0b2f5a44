"""Print how clusters of a table improve with labelled pairs, as a table in Markdown.

    python -m research.label_curve RECORDS.csv --truth COLUMN [--draws 3] [--labels 0 25 50 …]
    python -m research.label_curve --scores DIR [--only NAME] [--labels 0 10 25 50 …]

Splink scores the pairs once, without the column that holds the truth. Labels are drawn at random
from the pairs with scores from .01 to .99, as a person would judge them. Bits per pair are those of
the other compared pairs; F1 is that of all pairs. Values are means over draws.

With --scores the tables of scores of a folder (research/score_records.py writes them) are labelled
in the order in which `partita cluster --to-label` asks. By the number of labels there are the
reliability error of the pairs without a label, F1 less that of the best of 20 thresholds up to .99,
and the bits of these pairs.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import partita
from partita.core import linked_components
from partita.evaluation.calibration import reliability, reliability_error
from partita.linkage.labels import pairs_to_label

UNSURE = (0.01, 0.99)
CLIP = 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=Path, nargs="?")
    parser.add_argument("--truth")
    parser.add_argument("--scores", type=Path)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--labels", type=int, nargs="+", default=[0, 10, 25, 50, 100, 200])
    arguments = parser.parse_args()
    if arguments.scores is not None:
        for line in score_curve(arguments.scores, arguments.only, arguments.labels):
            print(line, flush=True)
        return
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


def score_curve(folder: Path, only: Sequence[str], counts: Sequence[int]) -> Iterator[str]:
    """Yield the rows of the curve of all tables of scores in a folder, and their means."""
    yield f"| table | {' | '.join(map(str, counts))} |"
    yield "| --- |" + " --- |" * len(counts)
    every: dict[int, list[tuple[float, float, float]]] = {count: [] for count in counts}
    for file in sorted(folder.glob("*.truth.csv")):
        name = file.name.removesuffix(".truth.csv")
        if only and name not in only:
            continue
        scores = pd.read_csv(folder / f"{name}.csv")
        truth = pd.read_csv(file, dtype=str).set_index("id")["cluster"].to_dict()
        best = best_threshold(scores, truth)
        first = partita.cluster(scores, records=list(truth))
        for count in counts:
            if count < len(scores):
                bits, error, f1 = _labelled_scores(scores, truth, first, count)
                every[count].append((error, f1 - best, bits))
        cells = [_cell(every[count][-1]) if count < len(scores) else "" for count in counts]
        yield f"| {name} | {' | '.join(cells)} |"
    means = [_cell(np.mean(every[count], axis=0)) for count in counts]
    yield f"| mean | {' | '.join(means)} |"


def _cell(figures: Sequence[float]) -> str:
    error, f1, bits = figures
    return f"{error:.3f}, {f1:+.3f}, {bits:.3f}"


def best_threshold(scores: pd.DataFrame, truth: dict[str, str]) -> float:
    """Return the F1 of connected components at the best of 20 thresholds up to .99."""
    place = {record: n for n, record in enumerate(truth)}
    left, right = (scores[end].map(place).to_numpy() for end in ("left", "right"))
    found = []
    for threshold in np.linspace(0.05, 0.99, 20):
        kept = (scores["probability"] >= threshold).to_numpy()
        home = linked_components(len(place), left[kept], right[kept]).tolist()
        found.append(_pair_f1(dict(zip(truth, home, strict=True)), truth))
    return max(found)


def _labelled_scores(
    scores: pd.DataFrame, truth: dict[str, str], first: partita.Clusters, count: int
) -> tuple[float, float, float]:
    """Return bits and error of the pairs without a label, and F1, with the first labels."""
    rows = pairs_to_label(first.pair_probabilities, count)
    pairs = first.to_pandas("pairs").iloc[rows]
    ends = list(zip(pairs["left"], pairs["right"], strict=True))
    labels = [(a, b, int(truth[a] == truth[b])) for a, b in ends]
    found = partita.cluster(scores, records=list(truth), labels=labels or None)
    table, known = found.to_pandas("pairs"), {frozenset(both) for both in ends}
    both = list(zip(table["left"], table["right"], strict=True))
    others = np.array([frozenset(ends) not in known for ends in both])
    same = np.array([truth[a] == truth[b] for a, b in both])[others]
    p = np.clip(table["probability"].to_numpy()[others], CLIP, 1 - CLIP)
    bits = float(-np.log2(np.where(same, p, 1 - p)).mean())
    error = reliability_error(reliability(p, same, equal_width=True))
    return bits, error, _f1(found, truth)


def _f1(found: partita.Clusters, truth: Mapping[Any, str]) -> float:
    return _pair_f1({row.record: row.cluster for row in found}, truth)


def _pair_f1(cluster: Mapping[Any, Any], truth: Mapping[Any, str]) -> float:
    both = Counter((cluster[record], truth[record]) for record in truth)
    counts = (both, Counter(cluster.values()), Counter(truth.values()))
    right, reported, true = (sum(n * (n - 1) // 2 for n in one.values()) for one in counts)
    return 2 * right / (reported + true)


if __name__ == "__main__":
    main()
