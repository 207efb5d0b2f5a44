"""Results as tables: data frames and Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from partita.errors import InputError, Unavailable

Columns = Mapping[str, Sequence[Any]]


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
        from partita.views.notebook import table_html

        return table_html(self._columns(None))

    def _columns(self, table: str | None) -> Columns:
        tables = self._tables()
        name = next(iter(tables)) if table is None else table
        if name not in tables:
            raise InputError(f"no table named {name!r} (expected one of {', '.join(tables)})")
        return tables[name]()


def optional(module: str, what: str) -> Any:
    """Import a package that only some users need."""
    try:
        return import_module(module)
    except ImportError as error:
        raise Unavailable(f"{what} needs {module}; install partita[frames]") from error
