"""What would be believed otherwise of things if a source were left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from partita.fusion.across import FusedAccounts, Thing, without
from partita.fusion.across_values import SlotOfThing


@dataclass(frozen=True, slots=True)
class ThingChange:
    """A thing whose slot is believed to have another value, or (without a slot) whose accounts
    are put together otherwise; what is empty is not there."""

    thing: str
    slot: str
    before: str
    before_probability: float
    after: str
    after_probability: float


def changed(fused: FusedAccounts, source: str) -> tuple[ThingChange, ...]:
    """Everything learned anew, thing by thing."""
    after = without(fused, source)
    home = {account.id: thing for thing in after.things for account in thing.accounts}
    found: list[ThingChange] = []
    for thing in fused.things:
        left = [account.id for account in thing.accounts if account.source != source]
        if not left:
            told = ", ".join(account.id for account in thing.accounts)
            found.append(ThingChange(thing.id, "", told, thing.probability.value, "", 0.0))
            continue
        seen = home[thing.anchor if thing.anchor in left else left[0]]
        found += _changes(thing, seen, left)
    return tuple(found)


def _changes(thing: Thing, after: Thing, left: list[str]) -> Iterator[ThingChange]:
    now = [account.id for account in after.accounts]
    if set(left) != set(now):
        yield ThingChange(
            thing.id,
            "",
            ", ".join(left),
            thing.probability.value,
            ", ".join(now),
            after.probability.value,
        )
    for slot, one in thing.slots.items():
        (value, p), (other, q) = _best(one), _best(after.slots.get(slot))
        if value != other:
            yield ThingChange(thing.id, slot, value, p, other, q)


def _best(slot: SlotOfThing | None) -> tuple[str, float]:
    if slot is None or not slot.values:
        return "", 0.0
    return slot.values[0].text, slot.values[0].probability.value
