"""Distributions as lines of results JSONL."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

import numpy as np

from partita.core import (
    BoolArray,
    Distribution,
    Entity,
    Figure,
    FloatArray,
    Listing,
    Pair,
    Remainder,
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
_said = attrgetter("text", "start", "end", "region", "sentence", "type", "head", "number", "form",
                   "slots", "rule", "antecedents", "context")  # fmt: skip
NOTHING = _said(Template(""))
BARE = _text(template_json(Template(""))).removeprefix('{"id":"",')
EXACT = '{{"cells":{},"probability":{},"interval":null}}'


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
    """Return the line of a set up to its entities.

    Pairs and configurations are most of it and are written directly: files hold many sets.
    """
    group = distribution.set
    ids = group.ids
    quoted = [_text(name) for name in ids]
    apart, must = _positions(ids, group.incompatible), _positions(ids, group.must)
    listed = _listed_pairs(distribution, apart + must)
    if unlisted is None:
        unlisted = _below_least(distribution, listed)
    parts = [
        f'"version":{VERSION},"message":{_text(message)},"set":{_text(group.name)}',
        f'"templates":{_templates(group.templates, quoted)}',
        f'"incompatible":{_text([[ids[a], ids[b]] for a, b in apart])}',
        f'"must":{_text([[ids[a], ids[b]] for a, b in must])}',
        f'"unlisted":{_unlisted(unlisted)}',
    ]
    parts.append(f'"pairs":{_pairs(distribution, quoted, listed)}')
    parts.append(f'"configurations":{_configurations(distribution.configurations, quoted)}')
    parts.append(f'"partial":{_partial(distribution)}')
    parts += _rest(distribution)
    return f'{{{",".join(parts)},"entities":'


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


def _bare(template: Template) -> bool:
    """Whether nothing is known of a template but its id."""
    return bool(_said(template) == NOTHING)


def _unlisted(unlisted: Unlisted | None) -> str:
    if unlisted is None:
        return "null"
    return f'{{"count":{unlisted[0]},"probability":{unlisted[1]!r}}}'


def _templates(templates: Iterable[Template], quoted: Sequence[str]) -> str:
    """Every field of every template; those of bare ones are the same text."""
    written = [
        f'{{"id":{name},{BARE}' if _bare(template) else _text(template_json(template))
        for template, name in zip(templates, quoted, strict=True)
    ]
    return f"[{','.join(written)}]"


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


def _pairs(distribution: Distribution, quoted: Sequence[str], shown: BoolArray) -> str:
    """Return the listed pairs, each with its probability and marginal."""
    if len(quoted) <= SMALL and distribution.marginals.kind == "exact":
        return _few_pairs(distribution, quoted, shown)
    positions = np.nonzero(shown)
    left, right = ([quoted[n] for n in end.tolist()] for end in positions)
    marginals = distribution.marginals
    given = together = list(map(repr, _numbers(distribution.probabilities[positions])))
    if not np.array_equal(distribution.probabilities, marginals.value):
        together = list(map(repr, _numbers(marginals.value[positions])))
    intervals = ["null"] * len(left)
    if marginals.kind != "exact":
        ends = (_numbers(matrix[positions]) for matrix in (marginals.low, marginals.high))
        intervals = [f"[{low!r},{high!r}]" for low, high in zip(*ends, strict=True)]
    texts = [
        f'{{"left":{a},"right":{b},"probability":{p},"marginal":{m},"interval":{i}}}'
        for a, b, p, m, i in zip(left, right, given, together, intervals, strict=True)
    ]
    return f"[{','.join(texts)}]"


def _few_pairs(distribution: Distribution, quoted: Sequence[str], shown: BoolArray) -> str:
    """Return the pairs of a small set; plain loops are faster than numpy there."""
    alone, listed = distribution.probabilities.tolist(), shown.tolist()
    marginals = _numbers(distribution.marginals.value)
    n = range(len(quoted))
    texts = [
        f'{{"left":{quoted[a]},"right":{quoted[b]},'
        f'"probability":{alone[a][b]!r},"marginal":{marginals[a][b]!r},"interval":null}}'
        for a in n
        for b in n[a + 1 :]
        if listed[a][b]
    ]
    return f"[{','.join(texts)}]"


def _numbers(numbers: FloatArray) -> list[Any]:
    if not math.isfinite(numbers.sum()):
        raise ValueError("a probability is not a finite number")
    values: list[Any] = numbers.tolist()
    return values


def _configurations(listing: Listing, quoted: Sequence[str]) -> str:
    """Return the configurations, most probable first, cells in text order."""
    form = cells_format if len(quoted) <= SMALL else cells_format.__wrapped__
    cells = [form(tuple(row)).format(*quoted) for row in listing.rows.tolist()]
    probabilities = map(_number, listing.probabilities)
    if listing.intervals is None:
        written = map(EXACT.format, cells, probabilities)
    else:
        bounds = (_text(list(interval)) for interval in listing.intervals)
        form_with = '{{"cells":{},"probability":{},"interval":{}}}'.format
        written = map(form_with, cells, probabilities, bounds)
    return f"[{','.join(written)}]"


@lru_cache(maxsize=1 << 13)
def cells_format(labels: tuple[int, ...]) -> str:
    """Return the cells of a row of labels as a format string for the names."""
    cells: dict[int, list[str]] = {}
    for place, label in enumerate(labels):
        cells.setdefault(label, []).append(f"{{{place}}}")
    return f"[[{'],['.join(','.join(cell) for cell in cells.values())}]]"


def _partial(distribution: Distribution) -> str:
    """Return the partial configuration, or null where the listed configurations say enough."""
    if not distribution.needs_partial:
        return "null"
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
    return _text(figure | {"cells": cells, "borders": borders})


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else _text(value)  # raises an error


def _rest(distribution: Distribution) -> Iterator[str]:
    """Yield the remainder, the figures and the method."""
    yield f'"remainder":{{{_remainder(distribution.remainder)}}}'
    yield f'"excluded":{_number(distribution.pruned)}'
    yield f'"count":{_count(distribution.count)}'
    yield _figure("log2_count", distribution.figures.log2_count)
    yield _figure("entropy_bits", distribution.figures.entropy_bits)
    yield _figure("log_normaliser", distribution.figures.log_normaliser)
    yield f'"conflict":{"null" if (k := distribution.conflict) is None else _number(k)}'
    yield f'"model":{_text(distribution.model)},"method":{_text(distribution.method)}'
    yield from _trust(distribution)
    yield f'"reason":{_text(distribution.reason)},"seed":{distribution.seed}'


def _trust(distribution: Distribution) -> Iterator[str]:
    """Yield convergence, error and optimality."""
    marginals = distribution.marginals
    yield f'"converged":{_text(distribution.converged)}'
    sampled = marginals.kind == "estimate"
    error = float((marginals.high - marginals.value).max()) if sampled else None
    yield f'"error":{"null" if error is None else _number(error)}'
    yield f'"optimal":{_text(distribution.gap == 0.0)},"gap":{_open(distribution.gap)}'


def _remainder(remainder: Remainder) -> str:
    return (
        f'"count":{_count(remainder.count)},"log2_count":{_open(remainder.log2_count)},'
        f'"probability":{_number(remainder.probability)},"interval":{_text(remainder.interval)}'
    )


def _figure(name: str, figure: Figure) -> str:
    exact = figure.kind == "exact"
    interval = "null" if exact else f"[{_open(figure.low)},{_open(figure.high)}]"
    return f'"{name}":{_open(figure.value)},"{name}_interval":{interval}'


def _count(count: int | None) -> str:
    """Return a count as JSON text, since it may exceed what JSON readers support."""
    return "null" if count is None else f'"{digits(count)}"'


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


def _open(value: float) -> str:
    """Return a number, or null for infinity, which JSON does not have."""
    return repr(value) if math.isfinite(value) else "null"
