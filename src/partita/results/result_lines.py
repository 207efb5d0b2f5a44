"""Distributions as lines of results JSONL."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from partita.core import (
    BoolArray,
    Distribution,
    Entity,
    Figure,
    Listing,
    Pair,
    Template,
)
from partita.results.template_json import entity_json, template_json

VERSION = 1
SCHEMA = "results.schema.json"
SMALL = 16
PLAIN_BITS = 10_000

LARGE = (
    60  # templates; of larger sets of the joint model only pairs from MIN_LISTED_PAIR on are listed
)
MIN_LISTED_PAIR = 0.005

Unlisted = tuple[int, float]  # number of pairs not listed in the input, and their probability
Positions = list[tuple[int, int]]

_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
BARE = template_json(Template(""))


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a line of results."""
    from importlib.resources import files

    text = files("partita.results").joinpath(SCHEMA).read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def result_line(
    distribution: Distribution,
    message: str = "",
    unlisted: Unlisted | None = None,
    entities: Sequence[Entity] | None = None,
) -> str:
    """One set as one line, without its line end: full precision, counts as text."""
    return line_head(distribution, message, unlisted) + entities_end(entities)


def entities_end(entities: Sequence[Entity] | None) -> str:
    """Return the end of the line of a set: its entities."""
    written = None if entities is None else [entity_json(entity) for entity in entities]
    return f"{_text(written)}}}"


def line_head(
    distribution: Distribution, message: str = "", unlisted: Unlisted | None = None
) -> str:
    """Return the line of a set up to its entities."""
    group = distribution.set
    apart, must = (_positions(group.ids, pairs) for pairs in (group.incompatible, group.must))
    listed = _listed_pairs(distribution, apart + must)
    if unlisted is None:
        unlisted = _below_least(distribution, listed)
    fields = {
        "version": VERSION,
        "message": message,
        "set": group.name,
        "templates": [_template(one) for one in group.templates],
        "incompatible": [[group.ids[a], group.ids[b]] for a, b in apart],
        "must": [[group.ids[a], group.ids[b]] for a, b in must],
        "unlisted": unlisted and dict(zip(("count", "probability"), unlisted, strict=True)),
        "pairs": _pairs(distribution, listed),
        "configurations": _configurations(distribution.configurations),
        "partial": _partial(distribution) if distribution.needs_partial else None,
        **_figures(distribution),
    }
    return f'{_text(fields)[:-1]},"entities":'


def singletons_line(
    templates: Iterable[Template],
    message: str = "",
    run: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    additions: Mapping[str, Sequence[object]] | None = None,
    date: str | None = None,
) -> str:
    """What is alone, as one line; with `run` it also says that the message is done, and how.

    The `date` of the message, `notes` on the text and the `additions` of a domain, if there are
    any, are written too.
    """
    alone = [template_json(template) for template in templates]
    written = {"version": VERSION, "message": message, "singletons": alone}
    written |= {"date": date} if date else {}
    written |= {"notes": list(notes)} if notes else {}
    written |= {name: list(added) for name, added in (additions or {}).items() if added}
    return _text(written | {"run": None if run is None else dict(run)})


def _positions(ids: Sequence[str], pairs: frozenset[Pair]) -> Positions:
    if not pairs:
        return []
    place = {name: n for n, name in enumerate(ids)}
    ends = ((place[left], place[right]) for left, right in pairs)
    return sorted((min(both), max(both)) for both in ends)


def _template(template: Template) -> dict[str, Any]:
    """Return every field of a template; of most that come from scores only the id is known."""
    bare = template.text == "" and template == Template(template.id)
    return BARE | {"id": template.id} if bare else template_json(template)


def _listed_pairs(distribution: Distribution, extra: Positions) -> BoolArray:
    """Return which pairs are listed: those that may corefer, and all that are constrained.

    In a large set of the joint model any two may corefer, nearly all with a tiny probability:
    those below MIN_LISTED_PAIR are left out.
    """
    shown = distribution.probabilities > 0.0
    if len(shown) > LARGE and distribution.model == "joint":
        shown = (
            np.maximum(distribution.probabilities, distribution.marginals.value) >= MIN_LISTED_PAIR
        )
    for a, b in extra:
        shown[a, b] = True
    return shown & _above(len(shown))


@lru_cache(maxsize=SMALL)
def _above(n: int) -> BoolArray:
    """Return which entries of a matrix are above the diagonal."""
    return np.triu(np.ones((n, n), dtype=np.bool_), 1)


def _below_least(distribution: Distribution, listed: BoolArray) -> Unlisted | None:
    """Return how many pairs are left out, and what their probability does not reach."""
    possible = np.triu(distribution.probabilities > 0.0, 1)
    count = int((possible & ~listed).sum())
    return (count, MIN_LISTED_PAIR) if count else None


def _pairs(distribution: Distribution, shown: BoolArray) -> list[dict[str, Any]]:
    """Return the listed pairs, each with its probability and marginal."""
    positions, ids, marginals = np.nonzero(shown), distribution.set.ids, distribution.marginals
    given, together, low, high = (
        matrix[positions].tolist()
        for matrix in (
            *(distribution.probabilities, marginals.value),
            *(marginals.low, marginals.high),
        )
    )
    left, right = (end.tolist() for end in positions)
    exact = marginals.kind == "exact"
    return [
        {
            "left": ids[a],
            "right": ids[b],
            "probability": given[n],
            "marginal": together[n],
            "interval": None if exact else (low[n], high[n]),
        }
        for n, (a, b) in enumerate(zip(left, right, strict=True))
    ]


def _configurations(listing: Listing) -> list[dict[str, Any]]:
    """Return the configurations, most probable first, cells in text order."""
    intervals: Sequence[Any] = listing.intervals or [None] * len(listing)
    parts = zip(listing.rows.tolist(), listing.probabilities, intervals, strict=True)
    return [
        {"cells": _cells(row, listing.ids), "probability": probability, "interval": interval}
        for row, probability, interval in parts
    ]


def _cells(labels: Sequence[int], ids: Sequence[str]) -> list[list[str]]:
    cells: dict[int, list[str]] = {}
    for name, label in zip(ids, labels, strict=True):
        cells.setdefault(label, []).append(name)
    return list(cells.values())


def _partial(distribution: Distribution) -> dict[str, Any]:
    partial = distribution.partial
    cells = [
        {"templates": part.templates, "settled": part.settled}
        | {"probability": part.cell.value, "interval": part.cell.bounds}
        | {"together": part.together.value, "together_interval": part.together.bounds}
        for part in partial.parts
    ]
    borders = [
        {"left": one.left, "right": one.right}
        | {"probability": one.probability.value, "interval": one.probability.bounds}
        for one in partial.borders
    ]
    figure = {"probability": partial.probability.value, "interval": partial.probability.bounds}
    return figure | {"cells": cells, "borders": borders}


def _figures(distribution: Distribution) -> dict[str, Any]:
    """Return the remainder, the figures and the method."""
    rest, figures, marginals = distribution.remainder, distribution.figures, distribution.marginals
    sampled = marginals.kind == "estimate"
    return {
        "remainder": {
            "count": _count(rest.count),
            "log2_count": _open(rest.log2_count),
            "probability": rest.probability,
            "interval": rest.interval,
        },
        "excluded": distribution.pruned,
        "count": _count(distribution.count),
        **_figure("log2_count", figures.log2_count),
        **_figure("entropy_bits", figures.entropy_bits),
        **_figure("log_normaliser", figures.log_normaliser),
        "conflict": distribution.conflict,
        "model": distribution.model,
        "method": distribution.method,
        "converged": distribution.converged,
        "error": float((marginals.high - marginals.value).max()) if sampled else None,
        "optimal": distribution.gap == 0.0,
        "gap": _open(distribution.gap),
        "reason": distribution.reason,
        "seed": distribution.seed,
    }


def _figure(name: str, figure: Figure) -> dict[str, Any]:
    bounds = None if figure.kind == "exact" else (_open(figure.low), _open(figure.high))
    return {name: _open(figure.value), f"{name}_interval": bounds}


def _count(count: int | None) -> str | None:
    """Return a count as text, since it may exceed what JSON readers support."""
    return None if count is None else digits(count)


def digits(count: int) -> str:
    """Return the digits of an integer of any length; Python limits str() to 4,300 digits."""
    if count.bit_length() < PLAIN_BITS:
        return str(count)
    from decimal import Decimal

    return format(Decimal(count), "f")


def whole(text: str) -> int:
    """Return the integer of a text of digits of any length."""
    if len(text) * 3 < PLAIN_BITS:
        return int(text)
    from decimal import Decimal

    return int(Decimal(text))


def _open(value: float) -> float | None:
    """Return a number, or None for infinity, which JSON does not have."""
    return float(value) if math.isfinite(value) else None
