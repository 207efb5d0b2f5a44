"""What a file of a source is, by its content: reports, records, claims or judgements."""

from __future__ import annotations

import json
from pathlib import Path

from partita.formats.claim_columns import claim_columns
from partita.formats.claim_rows import rows_of
from partita.formats.pairs import STANDARD_INPUT, opened

SOURCES = ("reports", "records", "claims", "judgements")
START = 1 << 16  # bytes in which the first line of JSON is looked for


def source_kind(path: str | Path) -> str:
    """By its first line of JSON or by the names of its columns."""
    if str(path) == STANDARD_INPUT:
        return "claims"  # it can be read only once
    if _is_results(path):
        return "reports"
    first = next(rows_of(path), None)
    if first is None:
        return "claims"  # whose reader says what is missing
    roles = claim_columns(first.columns)
    if isinstance(roles, str):
        return "records"
    if roles.left is not None and roles.right is not None:
        return "judgements"
    return "claims" if roles.value is not None else "records"


def _is_results(path: str | Path) -> bool:
    with opened(path) as stream:
        start = stream.read(START).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"{"):
        return False
    line = start.split(b"\n", 1)[0].decode(errors="replace")
    try:
        first = json.loads(line)
    except ValueError:  # a long line of results: its first fields tell
        return line.startswith('{"version":') and ('"set":' in line or '"singletons":' in line)
    return isinstance(first, dict) and "version" in first and (
        "set" in first or "singletons" in first
    )  # fmt: skip
