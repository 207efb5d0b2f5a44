"""The door for tables: one reader for files, streams, data frames and lists, and one writer."""

from partita.tables.reading import is_table_name, read_table, table_blocks
from partita.tables.table import Note, Table, noted

__all__ = ["Note", "Table", "is_table_name", "noted", "read_table", "table_blocks"]
