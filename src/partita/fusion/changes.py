"""What would be believed otherwise if a source were left out."""

from __future__ import annotations

from dataclasses import dataclass

from partita.fusion.fuse import Fused, without


@dataclass(frozen=True, slots=True)
class Change:
    """An object whose most probable value is another one; an empty one where nobody is left."""

    object: str
    slot: str
    before: str
    before_probability: float
    after: str
    after_probability: float


def changed(fused: Fused, source: str) -> tuple[Change, ...]:
    """Where the most probable value is another one if a source is left out."""
    rest = without(fused, source)
    found = []
    for belief in fused.slots:
        after = next((one.best() for one in rest.slots if one.name == belief.name), {})
        for thing, (value, p) in belief.best().items():
            other, q = after.get(thing, ("", 0.0))
            if other != value:
                found.append(Change(thing, belief.name, value, p, other, q))
    return tuple(found)
