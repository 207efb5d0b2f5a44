"""What the columns of a file of claims are called, and what each of them says.

With a column for the value every row is a claim; without one every other column is a slot, and a
row is a record that makes a claim for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SKIPPED = "-"
ROLES = {
    "object": ("object", "obj", "question", "task", "item", "entity", "id"),
    "source": ("source", "src", "worker", "annotator", "site", "seller", "system"),
    "slot": ("slot", "attribute", "property"),
    "value": ("value", "answer", "label", "claim", "judgement", "judgment", "same", "truth"),
    "confidence": ("confidence",),
    "reliability": ("reliability",),
    "left": ("left",),
    "right": ("right",),
    "probability": ("probability",),
}


@dataclass(frozen=True, slots=True)
class ClaimColumns:
    """Which column plays which role (None: no column), and which are slots of records."""

    object: str | None
    source: str | None
    slot: str | None
    value: str | None
    confidence: str | None
    reliability: str | None
    left: str | None
    right: str | None
    probability: str | None
    slots: tuple[str, ...] = ()


def claim_columns(columns: Sequence[str]) -> ClaimColumns | str:
    """The roles of the columns, or what is wrong with them."""
    roles = {role: _found(columns, names) for role, names in ROLES.items()}
    pair = roles["left"] is not None and roles["right"] is not None
    taken = {name for name in roles.values() if name is not None}
    others = tuple(name for name in columns if name not in taken and name != SKIPPED)
    found = ", ".join(columns) or "nothing"
    if roles["object"] is None and not pair:
        return f"has no column object (or {_or('object')}, or left and right); found {found}"
    if roles["value"] is None and roles["probability"] is None and not others:
        return f"has no column value (or {_or('value')}) and no slots; found {found}"
    if (roles["value"] or roles["probability"]) and others:
        named = ", ".join(map(repr, others))
        return f"has unknown columns {named} beside {roles['value'] or 'probability'}"
    return ClaimColumns(**roles, slots=() if roles["value"] else others)


def _found(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """The column that has the first of the names; case does not matter."""
    lower = {column.lower(): column for column in reversed(columns)}
    return next((lower[name] for name in names if name in lower), None)


def _or(role: str) -> str:
    return ", ".join(ROLES[role][1:-1]) + " or " + ROLES[role][-1]
