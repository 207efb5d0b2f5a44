"""Group a table of pairs into coreference sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from partita.core import BoolArray, FloatArray, IntArray, Template, linked_components
from partita.errors import InputError
from partita.linkage.pairs import PairTable
from partita.linkage.sets import Across, Sets, softened
from partita.tables.columns import UNKNOWN

LINK_ABOVE = 1e-4  # lower scores do not connect sets


@dataclass(frozen=True, slots=True)
class TemplateList:
    """Templates in text order, and the file that lists them."""

    file: str
    templates: tuple[Template, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Nodes:
    """Templates as members of sets: name, number of the set (`home`) and order.

    `left` and `right` are the two members of each row of the table.
    """

    name: IntArray
    home: IntArray
    order: IntArray
    left: IntArray
    right: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class _PairRows:
    """Rows sorted by member, so that those of one set are adjacent; each pair occurs once."""

    left: IntArray
    right: IntArray
    probability: FloatArray
    lines: IntArray


@dataclass(frozen=True, slots=True)
class Evidence:
    """How scores count that are evidence and never certain.

    `unlisted` is the probability of two records that were not compared; `joined` are pairs that
    are known to be the same.
    """

    unlisted: float
    link_above: float = LINK_ABOVE
    joined: tuple[tuple[str, str], ...] = ()


Failure = tuple[int, int, str]  # number of the set, line, problem


def group(
    table: PairTable,
    *,
    missing: float | None = None,
    soft: bool = False,
    listed: TemplateList | None = None,
    evidence: Evidence | None = None,
) -> Sets:
    """Group a table into sets, in text order.

    `missing` is the probability of pairs that are not listed; with it, and without a `set` column,
    the whole table is one set. `soft` treats 0 as 1e-12 and 1 as 1 − 1e-12: strong evidence instead
    of certainty. `listed` gives the text order; the default is first appearance. With `evidence`
    scores are soft, a set is connected by those above its threshold alone, and other pairs of a
    set count as not compared.
    """
    p = softened(table.probability) if soft else table.probability
    names = [*table.names, *_unmentioned(table.names, listed)]
    linked = p > (evidence.link_above if evidence else 0.0)
    joined = _joined(names, evidence)
    nodes = _nodes(table, linked, len(names), missing is not None, joined)
    nodes = _sorted(nodes if listed is None else _reordered(nodes, names, listed, table))
    rows, across, twice = _rows(table, p, nodes, names)
    failures = [*_spoiled(table, nodes), *twice, *_unplaced(table, nodes, names, listed)]
    failed = _errors(table, failures)
    sets = _assembled(table, nodes, rows, names, failed, missing, listed, evidence)
    if evidence is None:
        return sets
    left, right = (
        [names[n] for n in nodes.name[ends].tolist()] for ends in (across.left, across.right)
    )
    return replace(sets, across=Across(left, right, across.probability))


def _unmentioned(names: Sequence[str], listed: TemplateList | None) -> list[str]:
    """Return the templates that no pair mentions."""
    mentioned = set(names)
    return [t.id for t in listed.templates if t.id not in mentioned] if listed else []


def _joined(names: Sequence[str], evidence: Evidence | None) -> list[tuple[int, int]]:
    """Return the pairs that are known to be the same as numbers; unknown names are left out."""
    if evidence is None or not evidence.joined:
        return []
    number = {name: n for n, name in enumerate(names)}
    ends = [(number.get(a), number.get(b)) for a, b in evidence.joined]
    return [(a, b) for a, b in ends if a is not None and b is not None]


def _nodes(
    table: PairTable,
    linked: BoolArray,
    names: int,
    single_set: bool,
    joined: list[tuple[int, int]],
) -> _Nodes:
    numbers = np.arange(names)
    if table.sets is not None:
        return _nodes_by_set(table, table.sets, names)
    if single_set:
        return _Nodes(numbers, np.zeros(names, np.int64), numbers, table.left, table.right)
    spoiled = [(b.left, b.right) for b in table.problems if UNKNOWN not in (b.left, b.right)]
    ends = np.array(spoiled + joined, np.int64).reshape(-1, 2)
    left = np.concatenate([table.left[linked], ends[:, 0]])
    right = np.concatenate([table.right[linked], ends[:, 1]])
    return _Nodes(numbers, linked_components(names, left, right), numbers, table.left, table.right)


def _nodes_by_set(table: PairTable, sets: IntArray, names: int) -> _Nodes:
    """Return the members by set; the same id in two sets names two templates."""
    keys = np.stack([sets * names + table.left, sets * names + table.right], axis=1)
    unique, first, position = _distinct(keys.ravel())
    ends = position.reshape(-1, 2)
    return _Nodes(unique % names, unique // names, first, ends[:, 0], ends[:, 1])


def _distinct(keys: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return unique keys, their first positions, and the number of each key.

    Like numpy.unique, which first loads masked arrays and takes a third as long as numpy itself.
    """
    order = np.argsort(keys, kind="stable")
    new = np.ones(len(keys), np.bool_)
    new[1:] = np.diff(keys[order]) != 0
    place = np.empty_like(order)
    place[order] = np.cumsum(new) - 1
    return keys[order][new], order[new], place


def _reordered(
    nodes: _Nodes, names: Sequence[str], listed: TemplateList, table: PairTable
) -> _Nodes:
    """Order by the list of templates; components by their first template, unlisted ones last."""
    position = {template.id: n for n, template in enumerate(listed.templates)}
    order = np.array([position.get(name, len(position)) for name in names], np.int64)[nodes.name]
    home = nodes.home
    if table.sets is None:
        earliest = np.full(home.max(initial=-1) + 1, len(position))
        np.minimum.at(earliest, home, order)
        home = np.argsort(np.argsort(earliest, kind="stable"))[home]
    return _Nodes(nodes.name, home, order, nodes.left, nodes.right)


def _sorted(nodes: _Nodes) -> _Nodes:
    """Renumber the members, set by set and in text order."""
    by_order = np.lexsort((nodes.order, nodes.home))
    rank = np.empty_like(by_order)
    rank[by_order] = np.arange(len(by_order))
    return _Nodes(
        nodes.name[by_order],
        nodes.home[by_order],
        nodes.order[by_order],
        rank[nodes.left],
        rank[nodes.right],
    )


def _rows(
    table: PairTable, p: FloatArray, nodes: _Nodes, names: Sequence[str]
) -> tuple[_PairRows, _PairRows, list[Failure]]:
    """Return the rows within sets, then those across two sets, each pair once, and failures."""
    low, high = np.minimum(nodes.left, nodes.right), np.maximum(nodes.left, nodes.right)
    key = low * len(nodes.name) + high
    by_pair = np.argsort(key, kind="stable")
    repeated = np.zeros(len(key), np.bool_)
    repeated[1:] = np.diff(key[by_pair]) == 0
    rows = _PairRows(low[by_pair], high[by_pair], p[by_pair], table.lines[by_pair])
    failures = list(_differing(table, nodes, rows, np.flatnonzero(repeated), names))
    within = nodes.home[rows.left] == nodes.home[rows.right]
    return _chosen(rows, within & ~repeated), _chosen(rows, ~within & ~repeated), failures


def _chosen(rows: _PairRows, kept: BoolArray) -> _PairRows:
    return _PairRows(rows.left[kept], rows.right[kept], rows.probability[kept], rows.lines[kept])


def _differing(
    table: PairTable, nodes: _Nodes, rows: _PairRows, repeated: IntArray, names: Sequence[str]
) -> Iterator[Failure]:
    """Yield pairs that are given twice with different values."""
    for n in repeated[rows.probability[repeated] != rows.probability[repeated - 1]].tolist():
        left, right = (names[nodes.name[end]] for end in (rows.left[n], rows.right[n]))
        yield (
            int(nodes.home[rows.left[n]]),
            int(rows.lines[n]),
            f"the probability of {left} and {right} is {float(rows.probability[n])}, "
            f"and {float(rows.probability[n - 1])} in {table.unit} {rows.lines[n - 1]}",
        )


def _spoiled(table: PairTable, nodes: _Nodes) -> Iterator[Failure]:
    """Yield failures for invalid rows: of the set they name, or of all sets of their templates."""
    for problem in table.problems:
        if problem.set != UNKNOWN:
            yield problem.set, problem.line, problem.text
            continue
        ends = [end for end in (problem.left, problem.right) if end != UNKNOWN]
        for home in sorted(set(nodes.home[np.isin(nodes.name, ends)].tolist())):
            yield home, problem.line, problem.text


def _unplaced(
    table: PairTable, nodes: _Nodes, names: Sequence[str], listed: TemplateList | None
) -> Iterator[Failure]:
    """Yield templates of pairs that are missing from the list of templates."""
    if listed is None:
        return
    for n in np.flatnonzero(nodes.order == len(listed.templates)).tolist():
        touching = table.lines[(nodes.left == n) | (nodes.right == n)]
        line = int(touching.min()) if len(touching) else 0
        text = f"refers to {names[nodes.name[n]]}, which {listed.file} does not list"
        yield int(nodes.home[n]), line, text


def _errors(table: PairTable, failures: Sequence[Failure]) -> dict[int, InputError]:
    """Return one error for each failed set: its first, and how many more there are."""
    problems_by_set: dict[int, list[tuple[int, str]]] = {}
    for home, line, text in sorted(failures):
        problems_by_set.setdefault(home, []).append((line, text))
    return {
        home: InputError(
            problems[0][1]
            + (f" (and {len(problems) - 1} more in this set)" if problems[1:] else ""),
            file=table.file,
            line=problems[0][0],
            unit=table.unit,
        )
        for home, problems in problems_by_set.items()
    }


def _assembled(
    table: PairTable,
    nodes: _Nodes,
    rows: _PairRows,
    names: Sequence[str],
    failed: dict[int, InputError],
    missing: float | None,
    listed: TemplateList | None,
    evidence: Evidence | None,
) -> Sets:
    """Return sets of two or more templates and failed sets; all others are single."""
    homes = max(int(nodes.home.max(initial=-1)) + 1, len(table.set_names))
    sizes = np.bincount(nodes.home, minlength=homes)
    kept = sizes > 1
    kept[list(failed)] = True
    numbers = np.flatnonzero(kept)
    first = np.concatenate([[0], np.cumsum(sizes)])[nodes.home]
    home = nodes.home[rows.left]
    row_counts = np.bincount(home, minlength=homes)[numbers]
    templates = {t.id: t for t in listed.templates} if listed else {}
    singles = [names[n] for n in nodes.name[~kept[nodes.home]].tolist()]
    if table.sets is not None:
        singles += names[len(table.names) :]
    return Sets(
        file=table.file,
        unit=table.unit,
        names=_set_names(table, numbers),
        ids=[names[n] for n in nodes.name[kept[nodes.home]].tolist()],
        starts=np.concatenate([[0], np.cumsum(sizes[numbers])]),
        left=rows.left - first[rows.left],
        right=rows.right - first[rows.left],
        probability=rows.probability,
        lines=rows.lines,
        row_starts=np.concatenate([[0], np.cumsum(row_counts)]),
        missing=evidence.unlisted if evidence else missing,
        evidence=evidence is not None,
        templates=templates,
        failed={n: failed[k] for n, k in enumerate(numbers.tolist()) if k in failed},
        singletons=tuple(templates.get(i) or Template(i) for i in singles),
        named=table.sets is not None,
    )


def _set_names(table: PairTable, numbers: IntArray) -> list[str]:
    """Return the names given in the file, or numbers from 1."""
    if table.sets is None:
        return [str(n + 1) for n in range(len(numbers))]
    return [table.set_names[n] for n in numbers.tolist()]
