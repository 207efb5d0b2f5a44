"""A distribution, and a summary of clusters, as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from partita.core import (
    Distribution,
    Figure,
    Listed,
    PartialCell,
    PartialConfiguration,
)
from partita.core.configurations import in_text_order
from partita.views.layout import (
    BAR,
    bold,
    clean,
    columns,
    configuration_count,
    count_text,
    cut_text,
    cyan,
    figure_text,
    indent,
    method_reason,
    method_text,
    optimality_note,
    pad,
    probability_of,
    probability_text,
    remainder_text,
    text_bar,
    with_interval,
    wrap_cells,
)

if TYPE_CHECKING:
    from partita.linkage.cluster_tables import ClusterSummary, ExpectedValue
    from partita.linkage.reference import MatchSummary

MAX_PAIRS = 15
MAX_PARTS = 12


def distribution_text(distribution: Distribution, width: int = 80, colour: bool = False) -> str:
    """Return a distribution as plain text."""
    parts = [
        bold(heading(distribution, width), colour),
        *_templates(distribution, width),
        "",
        *configuration_rows(distribution, width, colour),
        *indent(remainder_text(distribution), width),
        *partial_rows(distribution, width),
        "",
        *_pairs(distribution, width),
        "",
        *_facts(distribution, width),
    ]
    return "\n".join(parts) + "\n"


def distribution_line(distribution: Distribution, width: int = 80) -> str:
    """Return the most probable configuration of a set in one line."""
    first = distribution.configurations[0]
    start = f"{clean(distribution.set.name)}  {probability_text(first.probability)}  "
    if distribution.method != "exact":
        start += f"{method_text(distribution)}  "
    return cut_text(start + _cells_text(distribution, first), width)


def names_text(title: str, names: Sequence[str], width: int = 80) -> str:
    """Return a list of ids, wrapped."""
    lines = textwrap.wrap(f"{title} {', '.join(map(clean, names))}", width, subsequent_indent="  ")
    return "\n".join(lines) + "\n"


def heading(distribution: Distribution, width: int) -> str:
    """Return the set's name, size and model."""
    name = clean(distribution.set.name)
    size = len(distribution.set)
    title = f"Set {name}: " if name else ""
    return cut_text(
        f"{title}{size} templates, {configuration_count(distribution)}, {distribution.model}", width
    )


def _templates(distribution: Distribution, width: int) -> list[str]:
    """Return the templates that have a text."""
    members = [t for t in distribution.set.templates if t.text]
    wide = max((columns(clean(t.id)) for t in members), default=0)
    return [cut_text(f"  {pad(clean(t.id), wide)}  {clean(t.text)}", width) for t in members]


def configuration_rows(distribution: Distribution, width: int, colour: bool) -> list[str]:
    """Return the listed configurations with probabilities and bars."""
    texts = [_cells_text(distribution, listed) for listed in distribution.configurations]
    figures = [
        with_interval(listed.probability, listed.interval) for listed in distribution.configurations
    ]
    right = max(map(len, figures), default=0)
    room = max(width - right - BAR - 6, 20)
    wide = min(max(map(columns, texts), default=0), room)
    lines = []
    for cells, share, listed in zip(texts, figures, distribution.configurations, strict=True):
        first, *more = wrap_cells(cells, room)
        bar_text = cyan(text_bar(listed.probability), colour)
        lines.append(f"  {pad(first, wide)}  {share:>{right}}  {bar_text}".rstrip())
        lines += [f"    {rest}" for rest in more]
    return lines


def partial_rows(distribution: Distribution, width: int) -> list[str]:
    """Return the cells that are likely on their own, and the borders between them.

    Nothing where the listed configurations say enough.
    """
    if not distribution.needs_partial:
        return []
    partial = distribution.partial
    cells = [part for part in partial.settled if len(part.templates) > 1]
    others = [part for part in partial.parts if not part.settled and len(part.templates) > 1]
    groups = [(_members(one), one.together) for one in others]
    borders = [
        (" = ".join(_members(partial.parts[n]) for n in (one.left, one.right)), one.probability)
        for one in partial.borders
    ]
    return [
        "",
        *textwrap.wrap(_partial_title(partial, len(distribution.set)), width),
        *_figure_rows([(_members(one), one.cell) for one in cells], width),
        *_titled("Together, with or without others", groups, width),
        *_titled("Uncertain borders: both sides are in one cell", borders, width),
    ]


def _partial_title(partial: PartialConfiguration, size: int) -> str:
    settled = partial.settled
    if not settled:
        return f"No cell of the {size:,} templates has a probability of at least 0.5"
    count = sum(len(part.templates) for part in settled)
    alone = sum(len(part.templates) == 1 for part in settled)
    cells = f"{count:,} of {size:,} templates are in cells with a probability of at least 0.5"
    at_once = probability_of(partial.probability)
    return f"{cells}, {alone:,} of them alone; all these cells at once: {at_once}"


def _titled(title: str, named: Sequence[tuple[str, Figure]], width: int) -> list[str]:
    return [title, *_figure_rows(named, width)] if named else []


def _members(part: PartialCell) -> str:
    return f"({' '.join(map(clean, part.templates))})"


def _figure_rows(named: Sequence[tuple[str, Figure]], width: int) -> list[str]:
    """Return the most probable of some names, each with its figure."""
    shown = sorted(named, key=lambda one: -one[1].value)[:MAX_PARTS]
    right = max((len(probability_of(figure)) for _, figure in shown), default=0)
    room = max(width - right - 4, 20)
    wide = min(max((columns(name) for name, _ in shown), default=0), room)
    rows = [
        f"  {pad(cut_text(name, wide), wide)}  {probability_of(figure):>{right}}"
        for name, figure in shown
    ]
    return rows + ([f"  and {len(named) - len(shown):,} more"] if len(named) > len(shown) else [])


def _cells_text(distribution: Distribution, listed: Listed) -> str:
    place = {name: n for n, name in enumerate(distribution.set.ids)}
    cells = in_text_order(listed.configuration, place)
    return " ".join(f"({' '.join(map(clean, cell))})" for cell in cells)


def _pairs(distribution: Distribution, width: int) -> list[str]:
    """Return the pairs, alone and given the whole set; of many, those that changed most."""
    ids = [clean(name) for name in distribution.set.ids]
    alone, marginals = distribution.probabilities, distribution.marginals
    left, right = np.nonzero(np.triu(alone > 0.0, 1))
    change = np.abs(marginals.value[left, right] - alone[left, right])
    chosen = np.sort(np.argsort(-change, kind="stable")[:MAX_PAIRS]).tolist()
    rows = []
    for n in chosen:
        position = (left[n], right[n])
        interval = (
            None
            if marginals.kind == "exact"
            else (float(marginals.low[position]), float(marginals.high[position]))
        )
        share = with_interval(float(marginals.value[position]), interval)
        rows.append(
            (
                f"{ids[position[0]]} = {ids[position[1]]}",
                f"{probability_text(float(alone[position]))} → {share}",
            )
        )
    wide = min(max((columns(name) for name, _ in rows), default=0), max(width - 44, 10))
    lines = [f"  {pad(cut_text(name, wide), wide)}  {share}" for name, share in rows]
    if len(left) > len(chosen):
        lines.append(f"  {len(left) - len(chosen):,} more pairs changed less")
    return ["Pairs, alone → given the whole set", *lines] if lines else ["No pair can corefer"]


def _facts(distribution: Distribution, width: int) -> list[str]:
    facts = [f"entropy {figure_text(distribution.figures.entropy_bits)} bits"]
    if distribution.conflict is not None:
        facts.append(f"conflict κ {distribution.conflict:.5f}")
    cost = f"pruning cost {distribution.pruned:.3g}" if distribution.pruned else ""
    parts = filter(
        None, [", ".join(facts), method_reason(distribution), optimality_note(distribution), cost]
    )
    return [row for fact in parts for row in textwrap.wrap(fact, width)]


def summary_text(summary: ClusterSummary) -> str:
    """Return the summary in lines of at most 80 columns."""
    sampled = f", {summary.sampled_sets:,} of them from draws" if summary.sampled_sets else ""
    records, largest = (count_text(n, "record") for n in (summary.records, summary.largest_cluster))
    pairs, sets = count_text(summary.pairs, "compared pair"), count_text(summary.sets, "set")
    lines = [
        f"{records} in {count_text(summary.clusters, 'cluster')}; the largest has {largest}",
        f"{pairs} in {sets}{sampled}",
    ]
    if summary.across:
        lines.append(f"{summary.across:,} pairs have scores too low to connect sets")
    if summary.cut_pairs:
        lines.append(
            f"{summary.cut_pairs:,} pairs between blocks of large sets were cut; "
            f"{summary.cut_true_pairs:,.1f} of them are expected to be true"
        )
    if summary.relaxed_sets:
        lines.append(f"in {summary.relaxed_sets:,} sets cannot-links hold for their own pairs only")
    precision = summary.target_precision
    target = "" if precision is None else f", for a precision of {precision:g}"
    lines += [
        f"expected precision  {_share(summary.precision)}",
        f"expected recall     {_share(summary.recall)}",
        f"expected entities   {_count(summary.entities)}",
        *_labels(summary),
        f"clusters merged from a mean pair probability of {summary.threshold:.3f}{target}",
        *_many(summary),
    ]
    return "\n".join(lines) + "\n"


def matches_text(summary: MatchSummary) -> str:
    """Return the summary of matches with a reference table in lines of at most 80 columns."""
    lines = [
        f"{count_text(summary.records, 'record')}, {summary.reported:,} matched with one of "
        f"{summary.reference:,} reference records",
        count_text(summary.pairs, "compared pair"),
    ]
    if summary.uncompared:
        lines.append(
            f"{summary.uncompared:,} records were compared with none: their match is unknown"
        )
    lines.append(f"expected matches    {_count(summary.matches)}")
    for name, value in (("precision", summary.precision), ("recall", summary.recall)):
        lines.append(f"expected {name:<10} {_share(value)}")
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
        f"  (down to {summary.threshold_many:.3f} with several pairs between two clusters)",
    ]


def _share(value: ExpectedValue | None) -> str:
    if value is None:
        return "unknown"
    return f"{value.value:.4f}  (95 %: {value.low:.4f} to {value.high:.4f})"


def _count(value: ExpectedValue) -> str:
    return f"{value.value:,.1f}  (95 %: {value.low:,.0f} to {value.high:,.0f})"
