"""The tables are documented for people who query them: every table, every column."""

from __future__ import annotations

import re
from pathlib import Path

from partita.store.tables import metadata

PAGE = Path(__file__).parents[2] / "docs" / "store.md"


def test_every_column_is_documented():
    tables = PAGE.read_text(encoding="utf-8").split("## Tables")[1]
    told = re.findall(r"^\*\*(\w+)\*\*:.*?\n(.*?)(?=^\*\*|\Z)", tables, re.MULTILINE | re.DOTALL)
    documented = {
        name: {word for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
               for word in re.findall(r"`(\w+)`", row)}
        for name, text in told
    }  # fmt: skip
    known = {
        table.name: {column.name for column in table.columns} for table in metadata.sorted_tables
    }
    assert documented == known


def test_keys_are_named():
    page = PAGE.read_text(encoding="utf-8")
    for table in metadata.sorted_tables:
        names = ", ".join(f"`{column.name}`" for column in table.primary_key.columns)
        assert f"Key: {names}." in " ".join(page.split()), table.name
