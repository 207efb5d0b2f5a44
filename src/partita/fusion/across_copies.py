"""Sources that share wrong values of things far more often than chance would have it."""

from __future__ import annotations

from partita.fusion.across import FusedAccounts
from partita.fusion.across_values import claim, typed
from partita.fusion.claims import Claims
from partita.fusion.copying import Copying
from partita.fusion.fuse import Settings, fuse


def copies(fused: FusedAccounts) -> tuple[Copying, ...]:
    """By all that is said of things of which more than one source speaks, slot by slot."""
    rows = [
        claim(account, thing.id, slot)
        for thing in fused.things
        if len(thing.sources) > 1
        for account in thing.accounts
        for slot in account.values
        if slot in thing.slots
    ]
    if not rows:
        return ()
    slots = {row[2] for row in rows}
    settings = Settings(
        reading=typed(fused.task.schema, fused.task.tolerance),
        reliabilities=fused.learned.given,
        fixed={slot: fused.learned.slots[slot] for slot in sorted(slots)},
    )
    return fuse(Claims.of(rows), settings).copying
