"""Measure `partita link` without options on the panel of record linkage.

    python -m research.panel_records FOLDER TREES [--only NAME] [--table FILE]

Everything that is learned comes from other families: TREES has the models of
research/train_pair_trees.py, which is run first where there are none. The table has the worst set
first.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from partita.app.link import LinkedRecords, link_table
from partita.core import BoolArray, FloatArray, IntArray
from partita.evaluation.calibration import reliability, reliability_error
from partita.evaluation.scores import b_cubed
from partita.linkage.cluster_tables import ExpectedValue
from partita.linkage.nearest_engine import ComparedPairs, NearestEngine
from partita.linkage.pair_features import PairEnds
from partita.linkage.pair_trees import PairTrees
from partita.options import LinkOptions
from partita.training.maxent import logistic_probability
from research.train_pair_trees import FAMILIES, PanelSet, read_panel, train, true_pairs

SURE = 0.9  # of `exact`: clusters whose share of right ones is counted
LIKELY = 0.05  # of pairs whose stated probabilities are compared with the truth
BASELINE = 0.4  # least cosine of the best match by weighted words


@dataclass(frozen=True, slots=True)
class PanelFigures:
    """What was measured on one set; probabilities are those that were stated."""

    name: str
    precision: float
    recall: float
    cubed: float
    words: float
    em: float
    pair_bits: float
    record_bits: float
    raw_bits: float
    candidates: float
    stated: tuple[tuple[float, float, float], tuple[float, float, float]]
    exact: dict[str, tuple[int, int, float]]
    reliability: float
    clean: bool
    seconds: float

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2.0 * self.precision * self.recall / max(both, 1e-12)

    def holds(self, n: int) -> bool:
        """Return whether the interval of precision (0) or recall (1) has the true value."""
        _, low, high = self.stated[n]
        return low - 1e-9 <= (self.precision, self.recall)[n] <= high + 1e-9


class RememberingEngine(NearestEngine):
    """An engine that can link again without comparing the same pairs again."""

    memory: dict[bytes, ComparedPairs]
    nearest: PairEnds | None = None

    def _nearest(self) -> PairEnds:
        if self.nearest is None:
            self.nearest = NearestEngine._nearest(self)
        return self.nearest

    def _compared(self, ends: PairEnds) -> ComparedPairs:
        key = sha256(np.concatenate(ends).tobytes()).digest()
        if key not in self.memory:
            self.memory[key] = NearestEngine._compared(self, ends)
        return self.memory[key]

    def again(self) -> RememberingEngine:
        """Return an engine that has learned nothing, and remembers what was compared."""
        other = copy(self)
        other._found, other.repeated, other.labels = {}, [], self.records.source
        return other


def opened(one: PanelSet, trees: PairTrees) -> RememberingEngine:
    """Return an engine for a set."""
    engine = RememberingEngine(one.table(), False, trees)
    engine.memory = {}
    return engine


def measured(one: PanelSet, trees: PairTrees) -> PanelFigures:
    """Link a set and compare the answer with the truth."""
    began = time.process_time()
    return linked_figures(one, opened(one, trees), began)


def linked_figures(one: PanelSet, engine: NearestEngine, began: float) -> PanelFigures:
    """Link the records of an engine and compare the answer with the truth."""
    linked = link_table(engine, None, LinkOptions())
    seconds = time.process_time() - began
    clusters = _codes([row.cluster for row in linked])
    pairs, _, odds = engine.scored_pairs(linked.settings)
    assert (engine.order == np.arange(len(one.truth))).all()
    same = one.truth[pairs.ends.left] == one.truth[pairs.ends.right]
    probability = _stated(linked, engine, pairs.ends, odds)
    kept = probability >= LIKELY
    total = true_pairs(one.truth)
    right = _pairs_in_both(clusters, one.truth)
    summary = linked.summary
    missed = total - int(same.sum())
    outside = max(float(linked.settings.get("missed", 0.0)), 1e-6)
    others = max(len(one.truth) * (len(one.truth) - 1) / 2.0 - len(odds), 1.0)
    charge = missed * -np.log2(min(outside / others, 1.0))
    return PanelFigures(
        one.name, right / max(true_pairs(clusters), 1), right / max(total, 1),
        b_cubed(one.truth, clusters).f, *_baselines(engine, linked, pairs, one.truth),
        _bits(probability, same) / len(same),
        (_bits(probability, same) + charge) / len(one.truth),
        (_bits(logistic_probability(pairs.trees), same) + charge) / len(one.truth),
        float(same.sum()) / max(total, 1),
        (_interval(summary.precision), _interval(summary.recall)),
        _exact(linked, clusters, one.truth),
        reliability_error(reliability(probability[kept], same[kept], equal_width=True)),
        bool(linked.settings["clean"]), seconds,
    )  # fmt: skip


def _interval(stated: ExpectedValue | None) -> tuple[float, float, float]:
    """Return an expected value and its interval: everything where it is unknown."""
    return (0.5, 0.0, 1.0) if stated is None else (stated.value, stated.low, stated.high)


def _stated(
    linked: LinkedRecords, engine: NearestEngine, ends: PairEnds, odds: FloatArray
) -> FloatArray:
    """Return the probabilities of pairs: of the clustering, or of the engine between sets."""
    found = logistic_probability(odds)
    place = {str(name): n for n, name in enumerate(engine.table.ids)}
    sets = linked.solved_sets
    numbers = np.array([place[name] for name in sets.ids], dtype=np.int64)
    offset = np.repeat(sets.starts[:-1], np.diff(sets.row_starts))
    left, right = numbers[sets.left + offset], numbers[sets.right + offset]
    count = len(engine.table)
    keys = ends.left * count + ends.right
    wanted = np.minimum(left, right) * count + np.maximum(left, right)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    here = keys[at] == wanted
    found[at[here]] = linked.pair_probabilities[here]
    return found


def _bits(p: FloatArray, same: BoolArray) -> float:
    p = np.clip(p, 1e-6, 1.0 - 1e-6)
    return float(-np.where(same, np.log2(p), np.log2(1.0 - p)).sum())


def _codes(names: Iterable[object]) -> IntArray:
    return np.unique(np.array([str(name) for name in names]), return_inverse=True)[1]


def _pairs_in_both(one: IntArray, other: IntArray) -> int:
    return true_pairs(np.unique(one * (other.max() + 1) + other, return_inverse=True)[1])


def _exact(
    linked: LinkedRecords, clusters: IntArray, truth: IntArray
) -> dict[str, tuple[int, int, float]]:
    """Return, for clusters with a sure `exact`: how many, how many right, of how many, by size."""
    stated = np.array([row.exact for row in linked])
    both = np.unique(clusters * (truth.max() + 1) + truth, return_inverse=True)[1]
    right = np.bincount(both)[both] == np.bincount(clusters)[clusters]
    right &= np.bincount(both)[both] == np.bincount(truth)[truth]
    _, first = np.unique(clusters, return_index=True)
    sizes = np.bincount(clusters)[clusters[first]]
    found = {}
    for name, kind in (("one", sizes == 1), ("several", sizes > 1)):
        sure = kind & (stated[first] >= SURE)
        found[name] = (int(sure.sum()), int(right[first][sure].sum()), float(kind.sum()))
    return found


def _baselines(
    engine: NearestEngine, linked: LinkedRecords, pairs: ComparedPairs, truth: IntArray
) -> tuple[float, float]:
    """Return F1 of the mutual best match by weighted words, and of expectation maximisation."""
    from partita.linkage.column_agreement import ColumnAgreement

    records, ends = engine.records, pairs.ends
    cosine = records.words.cosines(*ends)
    best = np.zeros(len(records))
    for end in ends:
        np.maximum.at(best, end, cosine)
    mutual = (cosine >= best[ends.left]) & (cosine >= best[ends.right]) & (cosine >= BASELINE)
    agreement = ColumnAgreement.from_dict(linked.settings["agreement"])
    em = agreement.prior + agreement.ratios(pairs.agreement).sum(axis=1) > 0.0
    same, total = truth[ends.left] == truth[ends.right], true_pairs(truth)
    words, alone = (2.0 * float((same & k).sum()) / max(k.sum() + total, 1) for k in (mutual, em))
    return words, alone


def panel(folder: Path, trees: Path, only: Sequence[str] = ()) -> list[PanelFigures]:
    """Measure the sets of the panel, each by trees of other families."""
    found = []
    for name in only or FAMILIES:
        one = read_panel(name, folder)
        model = json.loads((trees / f"without-{one.family}.json").read_text("utf-8"))
        found.append(measured(one, PairTrees.from_dict(model)))
        print(line(found[-1]), flush=True)
    return found


def line(f: PanelFigures) -> str:
    """Return the figures of a set as one line."""
    p, r = f.stated
    one, several = f.exact["one"], f.exact["several"]
    return (
        f"{f.name:15} F1 {f.f1:.3f} (P {f.precision:.3f} R {f.recall:.3f}) B³ {f.cubed:.3f} "
        f"TF-IDF {f.words:.3f} EM {f.em:.3f} cand {f.candidates:.3f} "
        f"bits/pair {f.pair_bits:.3f} /record {f.record_bits:.3f} (raw {f.raw_bits:.3f}) "
        f"rel {f.reliability:.3f} stated P {p[0]:.2f} [{p[1]:.2f} {p[2]:.2f}]"
        f"{'' if f.holds(0) else '!'} R {r[0]:.2f} [{r[1]:.2f} {r[2]:.2f}]"
        f"{'' if f.holds(1) else '!'} exact 1: {one[1]}/{one[0]} of {one[2]:.0f} "
        f"2+: {several[1]}/{several[0]} of {several[2]:.0f} "
        f"{'clean ' if f.clean else ''}{f.seconds:.1f} s"
    )


def table(figures: Sequence[PanelFigures]) -> str:
    """Return the figures as a table of Markdown, the worst F1 first, and what holds of all."""
    rows = [
        "| set | F1 | precision | recall | B³ | TF-IDF | EM | bits per record (trees alone) "
        "| stated precision | stated recall | CPU s |",
        "| --- |" + " --- |" * 10,
    ]
    for f in sorted(figures, key=lambda one: one.f1):
        stated = [f"{low:.2f} to {high:.2f}" for _, low, high in f.stated]
        rows.append(
            f"| {f.name} | {f.f1:.3f} | {f.precision:.3f} | {f.recall:.3f} | {f.cubed:.3f} "
            f"| {f.words:.3f} | {f.em:.3f} | {f.record_bits:.3f} ({f.raw_bits:.3f}) "
            f"| {' | '.join(stated)} | {f.seconds:.1f} |"
        )
    held = [sum(f.holds(n) for f in figures) for n in (0, 1)]
    widths = [float(np.median([f.stated[n][2] - f.stated[n][1] for f in figures])) for n in (0, 1)]
    sure = {
        kind: [sum(f.exact[kind][n] for f in figures) for n in (0, 1)]
        for kind in ("one", "several")
    }
    rows += [
        "",
        f"The intervals have the true precision in {held[0]} and the true recall in {held[1]} of "
        f"{len(figures)} sets; their median widths are {widths[0]:.2f} and {widths[1]:.2f}. Of "
        f"{sure['several'][0]:,} clusters of several records with `exact` of {SURE} and more, "
        f"{sure['several'][1] / max(sure['several'][0], 1):.3f} are right; of {sure['one'][0]:,} "
        f"single records, {sure['one'][1] / max(sure['one'][0], 1):.3f}.",
    ]
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path, help="folder of the sets of records")
    parser.add_argument("trees", type=Path, help="folder of the models without a family")
    parser.add_argument("--only", action="append", default=[], help="a set; repeatable")
    parser.add_argument("--table", type=Path, help="file for the table of Markdown")
    given = parser.parse_args()
    if not (given.trees / "pair_trees.json").exists():
        train(given.folder, given.trees, given.trees / "features")
    shown = table(panel(given.folder, given.trees, given.only))
    print(f"\n{shown}", end="")
    if given.table is not None:
        given.table.write_text(shown, encoding="utf-8")


if __name__ == "__main__":
    main()
