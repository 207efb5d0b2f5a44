"""What a person reads first of a knowledge base, in about thirty lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

import numpy as np

from partita.collection.knowledge import Knowledge, entropies

SHOWN = 3  # rows of each kind
LARGEST = 5
NAME = 40  # letters of a name
WIDTH = 80


def figures(kb: Knowledge) -> dict[str, Any]:
    """Return the figures of the summary, as `--json` prints them."""
    found, home = kb.resolution, kb.resolution.comparison.home
    crossing = [places for places in kb.members.values() if len({*home[places].tolist()}) > 1]
    count, low, high = found.entity_count()
    p = found.probabilities[kb.across]
    labels = found.answer
    together = (labels[found.left] == labels[found.right])[kb.across]
    expected_right = float(p[together].sum())
    right = expected_right / max(int(together.sum()), 1)
    linked = float(p.sum())
    merges = float(np.mean([len(kb.records) - tree.expected_entities() for tree in found.trees]))
    missed = max((len(kb.records) - count) / merges, 1.0) if merges else 1.0
    review = kb.table("review")
    return {
        "documents": len(kb.documents),
        "mentions": sum(len(one.mentions) for one in kb.records),
        "records": len(kb.records),
        "entities": len(kb.members),
        "estimated_entities": [round(x) for x in (count, low, high)],
        "across_documents": len(crossing),
        "compared_pairs": found.compared,
        "expected_precision": right,
        "expected_recall_of_compared": expected_right / linked if linked else None,
        "expected_recall": expected_right / linked / missed if linked else None,
        "contradictions": len(kb.table("contradictions")["entity"]),
        "relations": len(kb.relations),
        "review_bits": float(sum(review["bits"][:10])),
        "bits": float(entropies(p).sum()),
    }


def summary_lines(kb: Knowledge) -> Iterator[str]:
    """Yield the summary, in lines of at most 80 columns."""
    n = figures(kb)
    for line in (*_totals(n), *_largest(kb), *_merges(kb), *_rest(kb, n)):
        yield from wrap(line, WIDTH, subsequent_indent="      ", break_long_words=False)


def _totals(n: Mapping[str, Any]) -> Iterator[str]:
    estimate, low, high = n["estimated_entities"]
    yield (f"{n['documents']:,} documents, {n['mentions']:,} mentions, {n['records']:,} records of "
           f"entities, {n['compared_pairs']:,} pairs compared")  # fmt: skip
    yield f"{n['entities']:,} entities, {n['across_documents']:,} of them in several documents"
    yield (f"Estimated number of entities, with links that were not compared: {estimate:,} "
           f"({low:,} to {high:,})")  # fmt: skip
    if n["across_documents"]:
        yield (f"Links across documents: expected precision {n['expected_precision']:.0%}, recall "
               f"{n['expected_recall_of_compared']:.0%} of compared pairs, about "
               f"{n['expected_recall']:.0%} of all")  # fmt: skip


def _largest(kb: Knowledge) -> Iterator[str]:
    yield "Largest entities:"
    table = kb.table("entities")
    rows = zip(*(table[name] for name in ("entity", "name", "type", "documents", "aliases")),
               strict=True)  # fmt: skip
    named = [row for row in rows if row[2] != "time"]
    for entity, name, kind, documents, aliases in sorted(named, key=lambda row: -row[3])[:LARGEST]:
        also = f"; also {', '.join(_short(one) for one in aliases[:3])}" if aliases else ""
        places = f"{documents} document{'s' if documents != 1 else ''}"
        yield f"  {entity} {_short(name)} ({kind or 'unknown'}): {places}{also}"


def _merges(kb: Knowledge) -> Iterator[str]:
    """Yield the surest and the least sure merges, of names that differ where there are any."""
    found, labels = kb.resolution, kb.resolution.answer
    p = found.probabilities
    named = np.array([bool(one.names) for one in kb.records])
    merged = (labels[found.left] == labels[found.right]) & kb.across
    merged &= named[found.left] & named[found.right]
    differ = merged & ~found.equal_names
    chosen = np.flatnonzero(differ if differ.any() else merged)
    order = chosen[np.argsort(-p[chosen], kind="stable")]
    seen: set[str] = set()  # an entity is shown once
    for title, places in (("Surest merges:", order), ("Least sure merges:", order[::-1])):
        shown: list[int] = []
        for n in map(int, places):
            entity = kb.entity[int(found.left[n])]
            if entity not in seen and len(shown) < SHOWN:
                seen.add(entity)
                shown.append(n)
        if shown:
            yield title
        for n, (reasons, _) in zip(shown, kb.reasons(shown), strict=True):
            yield f"  {_pair(kb, n)}: {reasons or 'the rest of the cluster'}"


def _pair(kb: Knowledge, n: int) -> str:
    a, b = kb.ends(n)
    return f"{kb.resolution.probabilities[n]:.2f} {_short(a.label)} = {_short(b.label)}"


def _rest(kb: Knowledge, n: Mapping[str, Any]) -> Iterator[str]:
    apart = kb.table("kept_apart")
    if apart["left"]:
        yield f"Equal names kept apart: {len(apart['left']):,}"
        rows = zip(apart["name"], apart["left"], apart["right"], apart["probability"],
                   apart["reason"], strict=True)  # fmt: skip
        for name, left, right, p, reason in [*rows][:SHOWN]:
            ends = f"{left.rsplit(':', 1)[0]} / {right.rsplit(':', 1)[0]}"
            yield f"  {p:.2f} {_short(name)} in {ends}: {reason or 'nothing in common'}"
    contradictions = kb.table("contradictions")
    if contradictions["entity"]:
        yield f"Contradictions: {len(contradictions['entity']):,}"
        said = zip(contradictions["entity"], contradictions["slot"], contradictions["values"],
                   strict=True)  # fmt: skip
        for entity, slot, values in [*said][:SHOWN]:
            yield f"  {_short(kb.name_of(entity))}: {slot} {' or '.join(values)}"
    review = kb.table("review")
    if review["left"]:
        yield (f"Review first (10 answers remove at least {n['review_bits']:.1f} of "
               f"{n['bits']:,.1f} bits):")  # fmt: skip
        rows = zip(review["probability"], review["left_name"], review["right_name"], review["left"],
                   review["right"], strict=True)  # fmt: skip
        for p, left, right, a, b in [*rows][:SHOWN]:
            yield f"  {p:.2f} {_short(left)} = {_short(right)}?  {a} {b}"


def _short(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= NAME else f"{name[: NAME - 1]}…"
