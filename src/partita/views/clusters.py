"""A summary of clusters for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from partita.linkage.cluster_tables import ClusterSummary, ExpectedValue
from partita.views.layout import count_text


def summary_text(summary: ClusterSummary) -> str:
    """Return the summary in lines of at most 80 columns."""
    sampled = f", {summary.sampled_sets:,} of them from draws" if summary.sampled_sets else ""
    records, largest = (count_text(n, "record") for n in (summary.records, summary.largest_cluster))
    pairs, sets = count_text(summary.pairs, "compared pair"), count_text(summary.sets, "set")
    lines = [
        f"{records} in {count_text(summary.clusters, 'cluster')}; the largest has {largest}",
        f"{pairs} in {sets}{sampled}",
    ]
    if summary.kept:
        lines.append(f"{summary.kept:,} further records are in clusters that were kept")
    if summary.across:
        lines.append(f"{summary.across:,} pairs have scores too low to connect sets")
    if summary.cut_pairs:
        lines.append(
            f"{summary.cut_pairs:,} pairs between blocks of large sets were cut; "
            f"{summary.cut_true_pairs:,.1f} of them are expected to be true"
        )
    if summary.relaxed_sets:
        lines.append(f"in {summary.relaxed_sets:,} sets cannot-links hold for their own pairs only")
    lines += [
        f"expected precision  {_share(summary.precision)}",
        f"expected recall     {_share(summary.recall)}",
        f"expected entities   {_count(summary.entities)}",
        *_labels(summary),
        f"clusters merged from a mean pair probability of {summary.threshold:.3f}"
        + _target(summary),
        *_many(summary),
    ]
    return "\n".join(lines) + "\n"


def written_text(files: Mapping[str, Path | None]) -> str:
    """Return a line for each table that was written, or how to write the clusters."""
    written = [
        f"{name} written to {path.name}\n" for name, path in files.items() if path is not None
    ]
    return "".join(written) or "no table written; to write the clusters: --out clusters.csv\n"


def _labels(summary: ClusterSummary) -> list[str]:
    if not summary.labels or summary.parameters is None:
        return []
    scale, bias = summary.parameters["scale"], summary.parameters["bias"]
    floor = summary.parameters.get("floor", 0.0)
    wrong = f", {floor:.0%} of low scores wrong" if floor else ""
    return [f"{summary.labels:,} labelled pairs: scale {scale:.2f}, bias {bias:.2f}{wrong}"]


def _many(summary: ClusterSummary) -> list[str]:
    if summary.threshold_many == summary.threshold:
        return []
    return [
        f"  (down to {summary.threshold_many:.3f} with several pairs between two clusters,",
        "  and lower in sets where much is uncertain)",
    ]


def _share(value: ExpectedValue) -> str:
    return f"{value.value:.4f}  (95 %: {value.low:.4f} to {value.high:.4f})"


def _count(value: ExpectedValue) -> str:
    return f"{value.value:,.1f}  (95 %: {value.low:,.0f} to {value.high:,.0f})"


def _target(summary: ClusterSummary) -> str:
    target = summary.target_precision
    return "" if target is None else f", for a precision of {target:g}"
