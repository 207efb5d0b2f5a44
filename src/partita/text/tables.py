"""Find the tables of a message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from partita.text import columns as delimited
from partita.text.columns import aligned_cells, aligned_rows, is_form, labelled_values
from partita.text.lines import Line, Span, is_rule, is_upper

WIDEST = 20_000
HEADINGS = frozenset(
    """
    activity amount area capacity code comment comments condition coordinate coordinates count
    country date description designation designator equipment facility function grid id item
    latitude lat location long longitude mgrs model name nationality no no. number owner place
    position qty quantity region remark remarks serial site size source state status strength
    time total town type unit units utm value vehicle weapon year
    """.split()  # noqa: SIM905
)
Splitter = Callable[[str, Line], list[Span]]
Check = Callable[[list[list[Span]], list[Line]], bool]
# delimiters, splitter, check; bars come first since prose rarely has any, and runs of tabs come
# before single tabs where neighbouring lines then agree better
KINDS: tuple[tuple[str, Splitter, Check], ...] = (
    ("|\u2502\u2503\u2551", delimited.bar_cells, delimited.are_bars),
    ("\t", delimited.tab_run_cells, delimited.are_tabs),
    ("\t", delimited.tab_cells, delimited.are_tabs),
)
WEAK_KINDS: tuple[tuple[str, Splitter, Check], ...] = (
    (";", delimited.semicolon_cells, delimited.are_semicolons),
    (",", delimited.comma_cells, delimited.are_commas),
)


@dataclass(frozen=True, slots=True)
class TextTable:
    """Lines `first` to `last` (inclusive) as rows of cells by column; row 0 may be a heading.

    In a form, row 0 holds the labels and row 1 the values.
    """

    first: int
    last: int
    rows: tuple[dict[int, Span], ...]
    headed: bool = False


def find_tables(text: str, lines: list[Line]) -> list[TextTable]:
    """Return the tables among the lines, in order; no line is in two tables."""
    free = [bool(line.text) and len(line.text) <= WIDEST for line in lines]
    tables: list[TextTable] = []
    _take(_forms(text, lines, free), tables, free)
    for signs, splitter, check in KINDS:
        if splitter is delimited.tab_run_cells and not _agree_better(text, lines, free):
            continue
        if any(sign in text for sign in signs):
            _take(_delimited(text, lines, free, signs, splitter, check), tables, free)
    _take(_aligned(text, lines, free), tables, free)
    for sign, splitter, check in WEAK_KINDS:
        in_block = [*_blocks_with(lines, free, sign), False]
        weak = _delimited(text, lines, in_block[:-1], sign, splitter, check)
        whole = (t for t in weak if not (in_block[t.first - 1] or in_block[t.last + 1]))
        _take(whole, tables, free)
    return sorted(tables, key=lambda table: table.first)


def _take(tables: Iterator[TextTable], taken: list[TextTable], free: list[bool]) -> None:
    for table in list(tables):
        taken.append(table)
        free[table.first : table.last + 1] = [False] * (table.last + 1 - table.first)


def _agree_better(text: str, lines: list[Line], free: list[bool]) -> bool:
    """Return whether splitting at runs of tabs gives more neighbouring lines equal cell counts."""
    if "\t\t" not in text:
        return False
    tabbed = [line for line, ok in zip(lines, free, strict=True) if ok and "\t" in line.text]
    single = [len(delimited.tab_cells(text, line)) for line in tabbed]
    runs = [len(delimited.tab_run_cells(text, line)) for line in tabbed]
    return _equal_neighbours(runs) > _equal_neighbours(single)


def _equal_neighbours(counts: list[int]) -> int:
    return sum(left == right for left, right in pairwise(counts))


def _blocks_with(lines: list[Line], free: list[bool], sign: str) -> list[bool]:
    """Return which lines are in blocks with the sign in every line.

    An introductory line that ends with a colon is allowed.
    """
    in_block = [False] * len(lines)
    start = 0
    for n in range(len(lines) + 1):
        if n < len(lines) and free[n] and (sign in lines[n].text or start < 0):
            continue
        if n < len(lines) and free[n]:
            start = n + 1 if n == start and lines[n].text.endswith(":") else -1
            continue
        if 0 <= start < n - 1:
            in_block[start:n] = [True] * (n - start)
        start = n + 1
    return in_block


def _forms(text: str, lines: list[Line], free: list[bool]) -> Iterator[TextTable]:
    run: list[int] = []
    rows: list[list[tuple[Span, Span]]] = []
    for n, line in enumerate(lines):
        cells = labelled_values(line) if free[n] and ":" in line.text else []
        if cells:
            run.append(n)
            rows.append(cells)
        elif run and free[n] and line.indent > lines[run[-1]].indent + 1:
            label, (start, _) = rows[-1][-1]
            rows[-1][-1] = (label, (start, line.end))
        elif run:
            yield from _form(text, run[0], n - 1, rows)
            run, rows = [], []
    if run:
        yield from _form(text, run[0], len(lines) - 1, rows)


def _form(
    text: str, first: int, last: int, rows: list[list[tuple[Span, Span]]]
) -> Iterator[TextTable]:
    if is_form(rows, text):
        pairs = [pair for row in rows for pair in row]
        labels = {n: label for n, (label, _) in enumerate(pairs)}
        values = {n: value for n, (_, value) in enumerate(pairs)}
        yield TextTable(first, last, (labels, values), headed=True)


def _delimited(
    text: str, lines: list[Line], free: list[bool], signs: str, splitter: Splitter, check: Check
) -> Iterator[TextTable]:
    """Yield tables of lines with equal cell counts; tables with bars may contain rules."""
    run: list[int] = []
    rows: list[list[Span]] = []
    for n, line in enumerate(lines):
        if not free[n] or (run and "|" in signs and is_rule(line)):
            if not free[n] and run:
                yield from _checked_table(text, lines, run, rows, check)
                run, rows = [], []
            continue
        cells = splitter(text, line) if any(sign in line.text for sign in signs) else []
        if run and len(cells) != len(rows[0]):
            yield from _checked_table(text, lines, run, rows, check)
            run, rows = [], []
        if len(cells) > 1 and not is_rule(line):
            run.append(n)
            rows.append(cells)
    if run:
        yield from _checked_table(text, lines, run, rows, check)


def _checked_table(
    text: str, lines: list[Line], run: list[int], rows: list[list[Span]], check: Check
) -> Iterator[TextTable]:
    if not check(rows, [lines[n] for n in run]):
        return
    cells = tuple({n: span for n, span in enumerate(row) if span[0] < span[1]} for row in rows)
    table = TextTable(run[0], run[-1], cells)
    yield replace(table, headed=_is_headed(text, table, run))


def _aligned(text: str, lines: list[Line], free: list[bool]) -> Iterator[TextTable]:
    """Yield tables of lines with several cells; a blank line or rule may separate two rows."""
    cells = [aligned_cells(line) if ok else [] for line, ok in zip(lines, free, strict=True)]
    for run in _runs(lines, cells):
        rows = aligned_rows([lines[n] for n in run], [cells[n] for n in run])
        if rows is not None:
            yield _table(text, run, rows)
            continue
        for part in _parts(run, lines):
            rows = aligned_rows([lines[n] for n in part], [cells[n] for n in part])
            if rows is not None:
                yield _table(text, part, rows)


def _table(text: str, run: list[int], rows: list[dict[int, Span]]) -> TextTable:
    table = TextTable(run[0], run[-1], tuple(rows))
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
    """Return whether a rule, blank line or one-cell row stands between two rows."""
    follows = n + 1 < len(cells) and len(cells[n + 1]) > 1
    return is_rule(lines[n]) or (follows and len(cells[n - 1]) > 1)


def _parts(run: list[int], lines: list[Line]) -> Iterator[list[int]]:
    """Yield the parts of a run, split where lines are missing between rows."""
    part = run[:1]
    for before, n in pairwise(run):
        if n > before + 1:
            if len(part) > 1:
                yield part
            part = []
        part.append(n)
    if 1 < len(part) < len(run):
        yield part


def _is_headed(text: str, table: TextTable, run: list[int]) -> bool:
    """Return whether the first row names the columns, judged by a rule under it or its words."""
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
    if 2 * sum(map(_is_column_name, names)) >= len(names) and 2 * sum(
        map(_is_column_name, below)
    ) < len(below):
        return True
    return any(_is_numeric([text[slice(*row[n])] for row in rest if n in row]) for n in first)


def _is_column_name(cell: str) -> bool:
    return any(word.strip("().:#*") in HEADINGS for word in cell.lower().split()[:4])


def _is_numeric(cells: list[str]) -> bool:
    """Return whether most cells of a column have digits."""
    return 2 * sum(any(sign.isdigit() for sign in cell) for cell in cells) > len(cells)
