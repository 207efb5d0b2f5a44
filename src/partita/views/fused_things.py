"""Fused entities as text and JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from partita.fusion.accounts import Account
from partita.fusion.across import FusedAccounts, Resolved, Thing, ThingChange, find_copying_sources
from partita.fusion.across_values import SlotOfThing
from partita.results.result_lines import result_line
from partita.results.template_json import figure_json

THINGS = 20
VALUES = 4
SOURCES = 15
WIDTH = 80
LITTLE = 0.005  # a conflict that is not worth telling


def things_text(fused: FusedAccounts, width: int = WIDTH) -> Iterator[str]:
    """The things of which most sources speak, trust in sources, what was compared."""
    things = sorted(fused.things, key=lambda one: (-len(one.sources), -len(one.accounts)))
    accounts, sources = len(fused.accounts), len(fused.accounts.sources)
    yield f"{len(things):,} things in {accounts:,} accounts by {sources:,} sources\n"
    for thing in things[:THINGS]:
        yield from _thing(thing, width)
    if len(things) > THINGS:
        yield f"… {len(things) - THINGS:,} more things (--json has all)\n"
    yield "\n"
    yield from _trust(fused)
    yield (
        f"\n{fused.pairs:,} pairs of accounts, {len(fused.compared):,} compared, "
        f"{fused.pairs - len(fused.compared):,} share no name and no place\n"
    )


def _thing(thing: Thing, width: int) -> Iterator[str]:
    called = ", ".join(filter(None, (thing.name, thing.sort)))
    told = f"{thing.id}  {called or 'thing'}; described by {', '.join(thing.sources)}"
    yield _cut(f"{_clean(told)}  ({thing.probability.value:.4f})", width) + "\n"
    for name, slot in thing.slots.items():
        yield from _slot(name, slot, thing, width)


def _slot(name: str, slot: SlotOfThing, thing: Thing, width: int) -> Iterator[str]:
    lines = [
        f"{one.probability.value:.4f}  {_clean(one.text)}{_by(one.accounts, thing)}"
        for one in slot.values[:VALUES]
        if one.accounts or one.probability.value >= 0.0005
    ]
    if slot.unknown >= 0.00005:
        lines.append(f"{slot.unknown:.4f}  unknown")
    if slot.conflict >= LITTLE:
        lines.append(f"{slot.conflict:.4f}  conflict between sources")
    for n, line in enumerate(lines):
        yield _cut(f"    {name if not n else '':12} {line}", width) + "\n"


def _by(accounts: Sequence[str], thing: Thing) -> str:
    sources = sorted({one.source for one in thing.accounts if one.id in accounts})
    return f"  ({', '.join(map(_clean, sources))})" if sources else ""


def _trust(fused: FusedAccounts) -> Iterator[str]:
    yield f"  {'source':24}  {'reliability':20}  {'claims':>7} {'right':>7} {'wrong':>7}\n"
    sources = _sources(fused)
    for one in sources[:SOURCES]:
        spread = "given" if one["given"] else f"{one['low']:.3f} to {one['high']:.3f}"
        yield (
            f"  {_cut(_clean(one['source']), 24):24}  {one['reliability']:.3f} {spread:14}"
            f"  {one['claims']:>7,} {one['right']:>7.1f} {one['wrong']:>7.1f}\n"
        )
    if len(sources) > SOURCES:
        yield f"  … {len(sources) - SOURCES:,} more sources (--json has all)\n"
    for copy in find_copying_sources(fused)[:5]:
        yield f"{_clean(copy.copier)} may copy {_clean(copy.original)} ({copy.slot or 'sort'})\n"


def changes_text(changes: Sequence[ThingChange], source: str) -> Iterator[str]:
    """What is believed otherwise without a source."""
    told = "1 thing changes" if len(changes) == 1 else f"{len(changes):,} things change"
    yield f"\nwithout {_clean(source)}, {told}\n"
    for one in changes[:THINGS]:
        after = f"{_clean(one.after)} {one.after_probability:.4f}" if one.after else "nothing"
        before = f"{_clean(one.before)} {one.before_probability:.4f}"
        what = f", {one.slot}" if one.slot else ""
        yield _cut(f"  {one.thing}{what}: {before} → {after}", WIDTH) + "\n"


def things_json(
    fused: FusedAccounts,
    domain: str = "",
    changes: Sequence[ThingChange] = (),
    without: str | None = None,
) -> dict[str, Any]:
    """Everything: things with values and who said what and where, sets with distributions,
    sources with trust and why, what was compared."""
    compared = len(fused.compared)
    home = {account.id: n for n, one in enumerate(fused.sets) for account in one.set.accounts}
    told: dict[str, Any] = {
        "version": 1,
        "domain": domain,
        "entities": [_thing_json(one, fused, home) for one in fused.things],
        "sets": [_set_json(one) for one in fused.sets if one.set.distribution is not None],
        "sources": _sources(fused),
        "copying": [{**asdict(one), "share": one.share} for one in find_copying_sources(fused)],
        "compared": {
            "pairs": compared,
            "of": fused.pairs,
            "excluded": fused.pairs - compared,
            "sets_solved": fused.recomputed,
        },
    }
    if without is not None:
        told["without"] = {"source": without, "changes": [asdict(one) for one in changes]}
    return told


def _thing_json(thing: Thing, fused: FusedAccounts, home: dict[str, int]) -> dict[str, Any]:
    group = fused.sets[home[thing.anchor]].set
    told: dict[str, Any] = {"id": thing.id, "sort": thing.sort}
    if thing.name:
        told["name"] = thing.name
    return told | {
        **figure_json(thing.probability),
        "sources": list(thing.sources),
        "anchor": thing.anchor,
        "set": group.ids[0],
        "slots": {name: _slot_json(slot, thing) for name, slot in thing.slots.items()},
        "accounts": [_account_json(one) for one in thing.accounts],
    }


def _slot_json(slot: SlotOfThing, thing: Thing) -> dict[str, Any]:
    source = {account.id: account.source for account in thing.accounts}
    values = [
        {
            "value": one.value,
            **figure_json(one.probability),
            "sources": sorted({source[name] for name in one.accounts}),
            "accounts": list(one.accounts),
        }
        for one in slot.values
    ]
    return {"values": values, "unknown": slot.unknown, "conflict": slot.conflict}


def _account_json(account: Account) -> dict[str, Any]:
    """What it says, with the probability that its own distribution gives, and where."""
    said = {
        name: {"value": value, "probability": account.slot_confidence(name)}
        for name, value in account.template.slots.items()
    }
    told: dict[str, Any] = {
        "id": account.id,
        "source": account.source,
        "message": account.message,
        "said": said,
        "templates": [asdict(origin) for origin in account.origins],
    }
    return told | ({"object": account.object} if account.object else {})


def _set_json(one: Resolved) -> dict[str, Any]:
    """As a line of results, with the pairs about which sources contradict each other."""
    assert one.set.distribution is not None
    told: dict[str, Any] = json.loads(result_line(one.set.distribution))
    masses = one.set.masses
    if masses is not None:
        at = np.argwhere(np.triu(masses.conflict > LITTLE, 1)).tolist()
        told["contradicted"] = [
            {
                "left": one.set.ids[a],
                "right": one.set.ids[b],
                "conflict": float(masses.conflict[a, b]),
            }
            for a, b in at
        ]
    return told


def _sources(fused: FusedAccounts) -> list[dict[str, Any]]:
    """How far each is trusted, and what it was right and wrong about, by slot."""
    learned = fused.learned
    accounts = Counter(one.source for one in fused.accounts.accounts)
    found = []
    for source in fused.accounts.sources:
        slots = [one for one in learned.counts if one.source == source]
        low, high = learned.interval(source)
        found.append(
            {
                "source": source,
                "reliability": learned.reliabilities[source],
                "low": low,
                "high": high,
                "given": source in learned.fixed,
                "accounts": accounts[source],
                "claims": sum(one.claims for one in slots),
                "right": sum(one.right for one in slots),
                "wrong": sum(one.claims - one.right for one in slots),
                "slots": {one.slot or "sort": asdict(one) for one in slots},
            }
        )
    return found


def _clean(words: str) -> str:
    """Nothing from a file may steer the terminal."""
    return "".join(c if c.isprintable() else "·" for c in words)


def _cut(words: str, width: int) -> str:
    return words if len(words) <= width else f"{words[: width - 1]}…"
