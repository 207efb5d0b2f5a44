"""Find the tables of a message, and their columns by delimiters, alignment or labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from partita.text.lines import WIDTH, Line, Span, is_rule, is_upper

Splitter = Callable[[str, Line], list[Span]]
Check = Callable[[list[list[Span]], list[Line]], bool]
GAP = re.compile(r"(?<![.!?:])[ \t\u00a0]{2,}")
LONGEST = 45


def aligned_cells(line: Line) -> list[Span]:
    """Return the cells of a line, split at two or more blanks that do not end a sentence."""
    if len(line.text) > WIDTH or "  " not in line.text:
        return [(line.start, line.end)] if line.text else []
    at = 0
    cells = []
    for gap in GAP.finditer(line.text):
        cells.append((line.start + at, line.start + gap.start()))
        at = gap.end()
    return [*cells, (line.start + at, line.end)]


def aligned_rows(lines: list[Line], cells: list[list[Span]]) -> list[dict[int, Span]] | None:
    """Return the rows of a table by column, or None if the lines do not share columns."""
    placed = [
        [(start - line.begin, end - line.begin) for start, end in row]
        for line, row in zip(lines, cells, strict=True)
    ]
    lengths = [end - start for row in placed for start, end in row]
    if sum(lengths) > LONGEST * len(lengths):
        return None
    columns = _columns(placed)
    if len(columns) < 2 or not _agree(placed, columns):
        return None
    return [_row(row, positions, columns) for row, positions in zip(cells, placed, strict=True)]


def _columns(placed: list[list[Span]]) -> list[Span]:
    """Return the columns' spans: the union of the cells of the fullest rows.

    If only few rows are full, all rows are used.
    """
    most = max(map(len, placed))
    full = [row for row in placed if len(row) == most]
    if len(full) >= 2 and 3 * len(full) >= len(placed):
        spans = [
            (min(s for s, _ in row), max(e for _, e in row)) for row in zip(*full, strict=True)
        ]
        if all(left[1] <= right[0] for left, right in pairwise(spans)):
            return spans
    return _merged(sorted(span for row in placed if len(row) > 1 for span in row))


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _agree(placed: list[list[Span]], columns: list[Span]) -> bool:
    """Return whether at least half of the rows share a start or an end in each further column."""
    starts: list[Counter[int]] = [Counter() for _ in columns]
    ends: list[Counter[int]] = [Counter() for _ in columns]
    rows = [0] * len(columns)
    for row in placed:
        for start, end in row:
            n = _nearest(start, end, columns)
            starts[n][start] += 1
            ends[n][end] += 1
            rows[n] += 1
    for n in range(1, len(columns)):
        shared = max(max(starts[n].values(), default=0), max(ends[n].values(), default=0))
        if shared < 2 or 2 * shared < rows[n]:
            return False
    return True


def _nearest(start: int, end: int, columns: list[Span]) -> int:
    """Return the column that a cell overlaps most, or the closest one."""
    return max(
        range(len(columns)),
        key=lambda n: min(end, columns[n][1]) - max(start, columns[n][0]),
    )


def _row(cells: list[Span], positions: list[Span], columns: list[Span]) -> dict[int, Span]:
    row: dict[int, Span] = {}
    for span, (start, end) in zip(cells, positions, strict=True):
        n = _nearest(start, end, columns)
        row[n] = (row[n][0], span[1]) if n in row else span
    return row


BARS = re.compile(r"[|\u2502\u2503\u2551]")
QUOTED = re.compile(r'"(?:[^"]|"")*"(?=\s*(?:[,;]|$))')
SHORT_CELL = 40


def bar_cells(text: str, line: Line) -> list[Span]:
    """Return the cells between bars; bars at the edges of the line are a frame."""
    start, end = line.start, line.end
    if BARS.match(line.text):
        start += 1
    if end > start and BARS.fullmatch(line.text[-1]):
        end -= 1
    return _cells(text, start, end, BARS)


def tab_cells(text: str, line: Line) -> list[Span]:
    return _cells(text, line.begin, line.stop, re.compile(r"\t"))


def _between(delimiter: str, quoted: bool = False) -> Splitter:
    """Return the splitter of a line at a delimiter, which may stand between quotation marks."""
    pattern = re.compile(delimiter)
    return lambda text, line: _cells(text, line.start, line.end, pattern, quoted)


def _cells(
    text: str, start: int, end: int, delimiter: re.Pattern[str], quoted: bool = False
) -> list[Span]:
    """Return the spans between delimiters, without surrounding blanks and quotation marks."""
    cells = []
    at = start
    for cut in _delimiters(text, start, end, delimiter, quoted):
        cells.append(_trimmed(text, at, cut[0]))
        at = cut[1]
    return [*cells, _trimmed(text, at, end)]


def _delimiters(
    text: str, start: int, end: int, delimiter: re.Pattern[str], quoted: bool
) -> list[Span]:
    """Return the delimiters outside quotation marks, which quote only at the start of a cell."""
    cuts: list[Span] = []
    at, open_until = start, start
    for match in delimiter.finditer(text, start, end):
        if match.start() < open_until:
            continue
        closed = _quote_end(text, at, match.start(), end) if quoted else 0
        if closed > match.start():
            open_until = closed
            continue
        cuts.append(match.span())
        at = open_until = match.end()
    return cuts


def _quote_end(text: str, at: int, first: int, end: int) -> int:
    """Return where the quotation marks of a cell close, or 0."""
    while at < first and text[at].isspace():
        at += 1
    if at >= end or text[at] != '"':
        return 0
    match = QUOTED.match(text, at, end)
    return match.end() if match else 0


def _trimmed(text: str, start: int, end: int) -> Span:
    cell = text[start:end]
    start += len(cell) - len(cell.lstrip())
    end -= len(cell) - len(cell.rstrip())
    if end - start > 2 and text[start] == text[end - 1] == '"':
        return start + 1, end - 1
    return (start, end) if start < end else (start, start)


def are_bars(rows: list[list[Span]], lines: list[Line]) -> bool:
    return len(rows) >= 2 and len(rows[0]) >= 2


def are_tabs(rows: list[list[Span]], lines: list[Line]) -> bool:
    """Return whether two rows have two filled cells each; a single tab may only indent."""
    return sum(sum(s < e for s, e in row) >= 2 for row in rows) >= 2


def are_semicolons(rows: list[list[Span]], lines: list[Line]) -> bool:
    """Return whether short cells recur: at least two semicolons per row, or three rows."""
    return (len(rows[0]) >= 3 or len(rows) >= 3) and _are_short(rows, lines)


def are_commas(rows: list[list[Span]], lines: list[Line]) -> bool:
    """Return whether commas separate values; in prose a blank follows each comma."""
    if len(rows) < 2 or len(rows[0]) < 3 or not _are_short(rows, lines):
        return False
    blanks = sum(line.text.count(", ") for line in lines)
    return blanks * 10 <= len(rows) * (len(rows[0]) - 1) or len(rows) >= 3


def _are_short(rows: list[list[Span]], lines: list[Line]) -> bool:
    lengths = [end - start for row in rows for start, end in row]
    sentences = sum(line.text.endswith((".", "!", "?", ",")) for line in lines)
    return (
        max(lengths) <= 3 * SHORT_CELL
        and sum(lengths) <= SHORT_CELL * len(lengths)
        and sentences == 0
    )


LABEL = re.compile(r"([A-Za-z][A-Za-z0-9 /().#&'-]{0,29})(?<! ) ?:\s+(?=\S)")
MOST_WORDS = 4
LONGEST_VALUE = 80
SECTIONS = frozenset(
    """
    activity analysis assessment background body comment comments conclusion conclusions
    description details discussion evaluation findings general intelligence message mission
    narrative note notes observation observations outlook remark remarks report situation
    summary text update warning
    """.split()  # noqa: SIM905
)


def labelled_values(line: Line) -> list[tuple[Span, Span]]:
    """Return the labels of a line with their values, or [] if a part has no label."""
    pairs = []
    for start, end in aligned_cells(line):
        cell = line.text[start - line.start : end - line.start]
        label = LABEL.match(cell)
        if (
            label is None
            or len(label[1].split()) > MOST_WORDS
            or len(cell) - label.end() > LONGEST_VALUE
        ):
            return []
        pairs.append(((start, start + label.end(1)), (start + label.end(), end)))
    return pairs


def is_form(rows: list[list[tuple[Span, Span]]], text: str) -> bool:
    """Return whether labels are distinct, at least two lines or three labels, with short values."""
    pairs = [pair for row in rows for pair in row]
    names = {text[start:end].lower() for (start, end), _ in pairs}
    prose = sum(text[end - 1] in ".?!" and end - start > 30 for _, (start, end) in pairs)
    return (len(rows) > 1 or len(pairs) > 2) and len(names) == len(pairs) and 2 * prose < len(pairs)


def section_label(text: str) -> Span | None:
    """Return the end of a label such as `REMARKS:` and the start of the text, or None."""
    label = LABEL.match(text[:80])
    if label is None or label[1].lower() not in SECTIONS:
        return None
    return label.end(1), label.end()


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
tab_run_cells = _between(r"\t+")  # runs of tabs, as typed to align columns
# delimiters, splitter, check; bars come first since prose rarely has any, and runs of tabs come
# before single tabs where neighbouring lines then agree better
KINDS: tuple[tuple[str, Splitter, Check], ...] = (
    ("|\u2502\u2503\u2551", bar_cells, are_bars),
    ("\t", tab_run_cells, are_tabs),
    ("\t", tab_cells, are_tabs),
)
WEAK_KINDS: tuple[tuple[str, Splitter, Check], ...] = (
    (";", _between(";", quoted=True), are_semicolons),
    (",", _between(",", quoted=True), are_commas),
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
        if splitter is tab_run_cells and not _agree_better(text, lines, free):
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
    single = [len(tab_cells(text, line)) for line in tabbed]
    runs = [len(tab_run_cells(text, line)) for line in tabbed]
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
    cells = [{n: span for n, span in enumerate(row) if span[0] < span[1]} for row in rows]
    yield _table(text, run, cells)


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
