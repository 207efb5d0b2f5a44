"""Tables: what the other cells of a row say goes to the row's first template."""

from __future__ import annotations

from collections.abc import Sequence

from partita.extraction.cascade import Columns
from partita.extraction.domain import Domain
from partita.extraction.templates_drafts import Group, complete, drafted
from partita.records import Region

Row = tuple[int, int]


def rows_joined(
    groups: Sequence[Group], tokens: Columns, regions: Sequence[Region], domain: Domain
) -> list[Group]:
    """The groups of contributions, with those that make no template of their own but stand in a
    row of a table moved to the row's first group that does."""
    first: dict[Row, int] = {}
    for n, group in enumerate(groups):
        row = _row(group, tokens, regions)
        if row is not None and row not in first and complete(drafted(group, domain), domain):
            first[row] = n
    joined: list[list[Group]] = [[group] for group in groups]
    for n, group in enumerate(groups):
        row = _row(group, tokens, regions)
        if row in first and not complete(drafted(group, domain), domain):
            joined[first[row]].append(group)
            joined[n] = []
    return [[one for group in some for one in group] for some in joined if some]


def _row(group: Group, tokens: Columns, regions: Sequence[Region]) -> Row | None:
    region = regions[tokens.region[group[0].about.first]]
    return (region.table, region.row) if region.kind == "table" and region.row >= 0 else None
