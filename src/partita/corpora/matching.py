"""Match the mentions that were found in a text with those of its key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from partita.core import IntArray, Template


def match_mentions(gold: Sequence[Template], found: Sequence[Template]) -> IntArray:
    """Return, for each found mention, the gold mention with the same head, -1 for none.

    Heads are the same if they share a character. Of several mentions with one head, equal spans
    are matched first, then those that share most. Every mention is matched at most once.
    """
    matched, by_head = np.full(len(found), -1), _by_character(gold)
    pairs = [
        (-_likeness(gold[g], template), g, n)
        for n, template in enumerate(found)
        for g in sorted({g for place in range(*_head(template)) for g in by_head.get(place, ())})
    ]
    taken: set[int] = set()
    for _, g, n in sorted(pairs):
        if g not in taken and matched[n] < 0:
            matched[n] = g
            taken.add(g)
    return matched


def match_by_id_or_place(
    gold: Sequence[Template], found: Mapping[str, Template | None]
) -> tuple[dict[str, str], int]:
    """Return the gold id of each found id, and how many were matched by their place in the text.

    The same id is the same mention, unless both are at places that have nothing in common. Other
    mentions are matched by place if they share a word. None stands for a mention of which only the
    id is known.
    """
    known = {template.id: template for template in gold}
    ids = {name: name for name, one in found.items() if name in known and _meet(one, known[name])}
    left = [one for one in gold if one.id not in ids and _is_placed(one)]
    others = [one for name, one in found.items() if name not in ids and one and _is_placed(one)]
    places = {
        template.id: left[g].id
        for template, g in zip(others, match_mentions(left, others).tolist(), strict=True)
        if g >= 0 and not _words(template).isdisjoint(_words(left[g]))
    }
    return ids | places, len(places)


def _meet(found: Template | None, gold: Template) -> bool:
    if found is None or not _is_placed(found) or not _is_placed(gold):
        return True
    return max(found.start, gold.start) < min(found.end, gold.end)


def _is_placed(template: Template) -> bool:
    return template.end > template.start


def _words(template: Template) -> set[str]:
    return set(template.text.casefold().split())


def _head(template: Template) -> tuple[int, int]:
    """Return the span of the head; that of the whole mention where the head is not known."""
    start, end = template.context.get("HEAD_SPAN", (template.start, template.end))
    return int(start), int(end)


def _by_character(templates: Sequence[Template]) -> dict[int, list[int]]:
    """Return the templates whose heads hold each character."""
    places: dict[int, list[int]] = {}
    for number, template in enumerate(templates):
        for place in range(*_head(template)):
            places.setdefault(place, []).append(number)
    return places


def _likeness(gold: Template, found: Template) -> float:
    """Return the share of characters that two spans have in common, 1 if they are equal."""
    shared = min(gold.end, found.end) - max(gold.start, found.start)
    return max(0, shared) / max(1, max(gold.end, found.end) - min(gold.start, found.start))
