"""Tables: a row can be one template, which its cells fill together."""

from __future__ import annotations

from collections.abc import Sequence

from partita.extraction.cascade import Columns
from partita.extraction.contributions import Contribution
from partita.extraction.domain import Domain
from partita.extraction.templates_drafts import Draft, Group, complete, drafted
from partita.extraction.templates_slots import Reading
from partita.records import Region

Row = tuple[int, int]


def rows_joined(
    groups: Sequence[Group],
    tokens: Columns,
    regions: Sequence[Region],
    domain: Domain,
    reading: Reading,
) -> list[Group]:
    """The groups of contributions, those of one row of a table joined to its first template.

    What makes no template of its own goes there ("INTACT"), and what may be the same thing: the
    row "DEPOT A | AMMO DEPOT | KINSTON" speaks of one depot.
    """
    rows: dict[Row, list[int]] = {}
    for n, group in enumerate(groups):
        region = regions[tokens.region[group[0].about.first]]
        if region.kind == "table" and region.row >= 0:
            rows.setdefault((region.table, region.row), []).append(n)
    joined = [list(group) for group in groups]
    for members in rows.values():
        _join(members, joined, domain, reading)
    return [group for group in joined if group]


def _join(
    members: Sequence[int],
    joined: list[list[Contribution]],
    domain: Domain,
    reading: Reading,
) -> None:
    drafts = {n: drafted(joined[n], domain, reading) for n in members}
    first = next((n for n in members if complete(drafts[n], domain)), None)
    for n in members:
        if first is not None and n != first and _belongs(drafts[n], drafts[first], domain):
            joined[first] += joined[n]
            joined[n] = []
            drafts[first] = drafted(joined[first], domain, reading)


def _belongs(draft: Draft, first: Draft, domain: Domain) -> bool:
    """Whether it makes no template, or one that is compatible with the row's first."""
    if not complete(draft, domain):
        return True
    mine, theirs = draft.said.values, first.said.values
    return domain.sorts.compatible(draft.sort, first.sort) and all(
        domain.schema.slots[slot].unify(mine[slot], theirs[slot]) is not None
        for slot in mine.keys() & theirs.keys()
    )
