"""Find the tables of a message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from partita.text import columns as delimited
from partita.text.columns import aligned_cells, aligned_rows, is_form, labelled
from partita.text.lines import Line, Span, is_rule, is_upper

WIDEST = 20_000
HEADINGS = frozenset(
    [
        "activity",
        "amount",
        "area",
        "capacity",
        "code",
        "comment",
        "comments",
        "condition",
        "coordinate",
        "coordinates",
        "count",
        "country",
        "date",
        "description",
        "designation",
        "designator",
        "equipment",
        "facility",
        "function",
        "grid",
        "id",
        "item",
        "latitude",
        "lat",
        "location",
        "long",
        "longitude",
        "mgrs",
        "model",
        "name",
        "nationality",
        "no",
        "no.",
        "number",
        "owner",
        "place",
        "position",
        "qty",
        "quantity",
        "region",
        "remark",
        "remarks",
        "serial",
        "site",
        "size",
        "source",
        "state",
        "status",
        "strength",
        "time",
        "total",
        "town",
        "type",
        "unit",
        "units",
        "utm",
        "value",
        "vehicle",
        "weapon",
        "year",
    ]
)
Splitter = Callable[[str, Line], list[Span]]
Check = Callable[[list[list[Span]], list[Line]], bool]
# delimiter, how to split, how to be sure; bars first since a line with bars is hardly prose, and
# runs of tabs before tabs only where the lines then agree better
KINDS: tuple[tuple[str, Splitter, Check], ...] = (
    ("|\u2502\u2503\u2551", delimited.bar_cells, delimited.are_bars),
    ("\t", delimited.tab_run_cells, delimited.are_tabs),
    ("\t", delimited.tab_cells, delimited.are_tabs),
)
WEAK: tuple[tuple[str, Splitter, Check], ...] = (
    (";", delimited.semicolon_cells, delimited.are_semicolons),
    (",", delimited.comma_cells, delimited.are_commas),
)


@dataclass(frozen=True, slots=True)
class Table:
    """Lines `first` to `last` (inclusive) as rows of cells by column; the first may be a heading.

    In a form the labels, row 0, stand between their values, row 1.
    """

    first: int
    last: int
    rows: tuple[dict[int, Span], ...]
    headed: bool = False


def tables_of(text: str, lines: list[Line]) -> list[Table]:
    """The tables among the lines, in order; every line is in one at most."""
    free = [bool(line.text) and len(line.text) <= WIDEST for line in lines]
    found: list[Table] = []
    _take(_forms(text, lines, free), found, free)
    for signs, splitter, check in KINDS:
        if splitter is delimited.tab_run_cells and not _agree_better(text, lines, free):
            continue
        if any(sign in text for sign in signs):
            _take(_delimited(text, lines, free, signs, splitter, check), found, free)
    _take(_aligned(text, lines, free), found, free)
    for sign, splitter, check in WEAK:
        apart = [*_apart(lines, free, sign), False]
        weak = _delimited(text, lines, apart[:-1], sign, splitter, check)
        whole = (t for t in weak if not (apart[t.first - 1] or apart[t.last + 1]))
        _take(whole, found, free)
    return sorted(found, key=lambda table: table.first)


def _take(tables: Iterator[Table], found: list[Table], free: list[bool]) -> None:
    for table in list(tables):
        found.append(table)
        free[table.first : table.last + 1] = [False] * (table.last + 1 - table.first)


def _agree_better(text: str, lines: list[Line], free: list[bool]) -> bool:
    """Whether runs of tabs give neighbouring lines the same number of cells more often."""
    if "\t\t" not in text:
        return False
    tabbed = [line for line, ok in zip(lines, free, strict=True) if ok and "\t" in line.text]
    single = [len(delimited.tab_cells(text, line)) for line in tabbed]
    runs = [len(delimited.tab_run_cells(text, line)) for line in tabbed]
    return _alike(runs) > _alike(single)


def _alike(counts: list[int]) -> int:
    return sum(left == right for left, right in pairwise(counts))


def _apart(lines: list[Line], free: list[bool], sign: str) -> list[bool]:
    """The lines of blocks that hold a sign in every line, so that no prose goes in or out.

    A line that ends with a colon may introduce them.
    """
    apart = [False] * len(lines)
    start = 0
    for n in range(len(lines) + 1):
        if n < len(lines) and free[n] and (sign in lines[n].text or start < 0):
            continue
        if n < len(lines) and free[n]:
            start = n + 1 if n == start and lines[n].text.endswith(":") else -1
            continue
        if 0 <= start < n - 1:
            apart[start:n] = [True] * (n - start)
        start = n + 1
    return apart


def _forms(text: str, lines: list[Line], free: list[bool]) -> Iterator[Table]:
    run: list[int] = []
    rows: list[list[tuple[Span, Span]]] = []
    for n, line in enumerate(lines):
        own = labelled(line) if free[n] and ":" in line.text else []
        if own:
            run.append(n)
            rows.append(own)
        elif run and free[n] and line.indent > lines[run[-1]].indent + 1:
            label, (start, _) = rows[-1][-1]
            rows[-1][-1] = (label, (start, line.end))
        elif run:
            yield from _form(text, run[0], n - 1, rows)
            run, rows = [], []
    if run:
        yield from _form(text, run[0], len(lines) - 1, rows)


def _form(text: str, first: int, last: int, rows: list[list[tuple[Span, Span]]]) -> Iterator[Table]:
    if is_form(rows, text):
        pairs = [pair for row in rows for pair in row]
        labels = {n: label for n, (label, _) in enumerate(pairs)}
        values = {n: value for n, (_, value) in enumerate(pairs)}
        yield Table(first, last, (labels, values), headed=True)


def _delimited(
    text: str, lines: list[Line], free: list[bool], signs: str, splitter: Splitter, check: Check
) -> Iterator[Table]:
    """Runs of lines with equally many cells; in tables with bars rules are drawn between them."""
    run: list[int] = []
    rows: list[list[Span]] = []
    for n, line in enumerate(lines):
        if not free[n] or (run and "|" in signs and is_rule(line)):
            if not free[n] and run:
                yield from _checked(text, lines, run, rows, check)
                run, rows = [], []
            continue
        own = splitter(text, line) if any(sign in line.text for sign in signs) else []
        if run and len(own) != len(rows[0]):
            yield from _checked(text, lines, run, rows, check)
            run, rows = [], []
        if len(own) > 1 and not is_rule(line):
            run.append(n)
            rows.append(own)
    if run:
        yield from _checked(text, lines, run, rows, check)


def _checked(
    text: str, lines: list[Line], run: list[int], rows: list[list[Span]], check: Check
) -> Iterator[Table]:
    if not check(rows, [lines[n] for n in run]):
        return
    cells = tuple({n: span for n, span in enumerate(row) if span[0] < span[1]} for row in rows)
    table = Table(run[0], run[-1], cells)
    yield replace(table, headed=_is_headed(text, table, run))


def _aligned(text: str, lines: list[Line], free: list[bool]) -> Iterator[Table]:
    """Runs of lines with several cells; a blank line or a rule may stand between two of them."""
    cells = [aligned_cells(line) if ok else [] for line, ok in zip(lines, free, strict=True)]
    for run in _runs(lines, cells):
        rows = aligned_rows([lines[n] for n in run], [cells[n] for n in run])
        if rows is not None:
            yield _headed(text, run, rows)
            continue
        for part in _parts(run, lines):
            rows = aligned_rows([lines[n] for n in part], [cells[n] for n in part])
            if rows is not None:
                yield _headed(text, part, rows)


def _headed(text: str, run: list[int], rows: list[dict[int, Span]]) -> Table:
    table = Table(run[0], run[-1], tuple(rows))
    return replace(table, headed=_is_headed(text, table, run))


def _runs(lines: list[Line], cells: list[list[Span]]) -> Iterator[list[int]]:
    run: list[int] = []
    for n, row in enumerate(cells):
        several = len(row) > 1 and not is_rule(lines[n])
        if several:
            run.append(n)
        elif run and not _bridged(lines, cells, n):
            if len(run) > 1:
                yield run
            run = []
        elif run and row and not is_rule(lines[n]):
            run.append(n)
    if len(run) > 1:
        yield run


def _bridged(lines: list[Line], cells: list[list[Span]], n: int) -> bool:
    """A rule, a blank line or a row with one cell, when the next line is a row again."""
    follows = n + 1 < len(cells) and len(cells[n + 1]) > 1
    return is_rule(lines[n]) or (follows and len(cells[n - 1]) > 1)


def _parts(run: list[int], lines: list[Line]) -> Iterator[list[int]]:
    """A run cut where lines are missing between its rows."""
    part = run[:1]
    for before, n in pairwise(run):
        if n > before + 1:
            if len(part) > 1:
                yield part
            part = []
        part.append(n)
    if 1 < len(part) < len(run):
        yield part


def _is_headed(text: str, table: Table, run: list[int]) -> bool:
    """Whether the first row names the columns: a rule under it says so, or what it holds."""
    first, rest = table.rows[0], table.rows[1:]
    if not rest or not first:
        return False
    if run[1] > run[0] + 1 and len(first) > 1:
        return True
    names = [text[start:end] for start, end in first.values()]
    if any(sign.isdigit() for name in names for sign in name) or len(names) < 2:
        return False
    below = [text[start:end] for row in rest for start, end in row.values()]
    if is_upper("".join(names)) and not any(map(is_upper, below)):
        return True
    if 2 * sum(map(_is_name, names)) >= len(names) and 2 * sum(map(_is_name, below)) < len(below):
        return True
    return any(_is_numeric([text[slice(*row[n])] for row in rest if n in row]) for n in first)


def _is_name(cell: str) -> bool:
    return any(word.strip("().:#*") in HEADINGS for word in cell.lower().split()[:4])


def _is_numeric(cells: list[str]) -> bool:
    """Most of a column has digits, so a word above it is its name."""
    return 2 * sum(any(sign.isdigit() for sign in cell) for cell in cells) > len(cells)
