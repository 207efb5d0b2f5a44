"""Results as tables: data frames and Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from partita.errors import InputError, Unavailable

Columns = Mapping[str, Sequence[Any]]

# Rooms above this one write and draw results. They are named and not imported: a result shows
# itself (docs/decisions/0002), and core depends on nothing that depends on it.
RENDERERS = {
    "line": ("partita.results.result_lines", "result_line"),
    "text": ("partita.views.distribution", "distribution_text"),
    "html": ("partita.views.notebook", "distribution_html"),
    "table": ("partita.views.notebook", "table_html"),
}


def rendered(form: str, result: Any) -> str:
    """Return a result in one of the forms of RENDERERS."""
    module, name = RENDERERS[form]
    text: str = getattr(import_module(module), name)(result)
    return text


def row_columns(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """Return the columns of rows that all have the same fields."""
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


class Tabular:
    """A result that consists of tables; the first of them is the default."""

    __slots__ = ()

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        """Return for each table the function that makes its columns."""
        raise NotImplementedError

    def to_pandas(self, table: str | None = None) -> Any:
        """Return one of the tables as a pandas data frame."""
        return optional("pandas", "to_pandas()").DataFrame(dict(self._columns(table)))

    def to_arrow(self, table: str | None = None) -> Any:
        """Return one of the tables as an Arrow table, which Polars and DuckDB also read."""
        return optional("pyarrow", "to_arrow()").table(dict(self._columns(table)))

    def _repr_html_(self) -> str:
        return rendered("table", self._columns(None))

    def _columns(self, table: str | None) -> Columns:
        tables = self._tables()
        name = next(iter(tables)) if table is None else table
        if name not in tables:
            raise InputError(f"no table named {name!r} (expected one of {', '.join(tables)})")
        return tables[name]()


class SummarisedTables(Tabular):
    """Tables with a `summary` of all of them, which has the method to_dict."""

    __slots__ = ()
    summary: Any

    def to_dict(self) -> dict[str, Any]:
        """Return the summary, and every table as a list of dicts."""
        tables: dict[str, Any] = {"summary": self.summary.to_dict()}
        for name, make in self._tables().items():
            columns = make()
            rows = zip(*columns.values(), strict=True)
            tables[name] = [dict(zip(columns, row, strict=True)) for row in rows]
        return tables

    def columns(self, table: str) -> Columns:
        """Return the columns of a table."""
        return self._columns(table)


def optional(module: str, what: str) -> Any:
    """Import a package that only some users need."""
    try:
        return import_module(module)
    except ImportError as error:
        raise Unavailable(f"{what} needs {module}; install partita[frames]") from error
