"""Distributions as lines of results JSONL, templates and entities as their objects."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast, get_args

import numpy as np

from partita.core import (
    Antecedent,
    BoolArray,
    Denial,
    Distribution,
    Entity,
    Figure,
    Form,
    Listing,
    Pair,
    SlotValue,
    Status,
    Template,
)
from partita.core.entities import Plain
from partita.core.templates import ASSERTIONS
from partita.files.strict import Place, fields, integer_of, list_of, number_of, text_of

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


Reader = Callable[[Any, str, Place], Any]
ATTRIBUTES = {"sort": "type"}  # files keep the name that they have had from the first version on


def template_json(template: Template) -> dict[str, Any]:
    """Return every field, in the order of the record."""
    document = {name: getattr(template, ATTRIBUTES.get(name, name)) for name in ("id", *READERS)}
    document |= {"slots": dict(template.slots), "context": dict(template.context)}
    antecedents = [{"id": one.id, "preferred": one.preferred} for one in template.antecedents]
    return document | {"antecedents": antecedents}


def template_of(value: Any, place: Place) -> Template:
    """Parse a template from its object, or from its id alone."""
    if isinstance(value, str):
        return Template(value)
    template = fields(value, "a template", place, needed=("id",), allowed=tuple(READERS))
    name = text_of(template["id"], "id of a template", place)
    parsed = {
        ATTRIBUTES.get(field, field): read(template[field], f"{field} of {name}", place)
        for field, read in READERS.items()
        if field in template
    }
    return Template(name, **parsed)


def _context(value: Any, what: str, place: Place) -> dict[str, Any]:
    context, name = _mapping(value, f"{what} is", place), what.removeprefix("context of ")
    for one in list_of(context.get(ASSERTIONS, []), f"{ASSERTIONS} of {name}", place):
        what = f"an assertion of {name}"
        given = fields(
            one, what, place, needed=("status", "slots"), allowed=("cue", "span", "scope")
        )
        if given["status"] not in get_args(Status):
            expected = ", ".join(get_args(Status))
            place.refuse(f"status of {what} is {given['status']!r}; expected {expected}")
        _slots(given["slots"], f"slots of {what}", place)
        for ends in (given.get("span", [0, 0]), given.get("scope", [0, 0])):
            if len(list_of(ends, f"span and scope of {what}", place)) != 2:
                place.refuse(f"span or scope of {what} is {ends!r}; expected two numbers")
            for end in ends:
                integer_of(end, f"span and scope of {what}", place)
    return context


def _number(value: Any, what: str, place: Place) -> int | str | None:
    return value if value is None or isinstance(value, str) else integer_of(value, what, place)


def _form(value: Any, what: str, place: Place) -> Form:
    if value not in get_args(Form):
        expected = ", ".join(filter(None, get_args(Form)))
        place.refuse(f"{what} is {value!r}; expected {expected}")
    return cast(Form, value)


def _slots(value: Any, what: str, place: Place) -> dict[str, Any]:
    return _mapping(value, f"{what} are", place)


def _mapping(value: Any, what: str, place: Place) -> dict[str, Any]:
    if not isinstance(value, dict):
        place.refuse(f"{what} {value!r}; expected an object")
    return value


def _antecedents(value: Any, what: str, place: Place) -> tuple[Antecedent, ...]:
    what = what.replace("antecedents of", "an antecedent of")
    antecedents = []
    for one in list_of(value, "antecedents", place):
        given = fields(one, what, place, needed=("id",), allowed=("preferred",))
        preferred = given.get("preferred", False)
        if not isinstance(preferred, bool):
            place.refuse(f"preferred of {what} is {preferred!r}; expected true or false")
        antecedents.append(Antecedent(text_of(given["id"], f"id of {what}", place), preferred))
    return tuple(antecedents)


# how each field of a template is read, in the order of the record
READERS: dict[str, Reader] = {
    "text": text_of,
    "start": integer_of,
    "end": integer_of,
    "region": text_of,
    "sentence": integer_of,
    "sort": text_of,
    "head": text_of,
    "number": _number,
    "form": _form,
    "slots": _slots,
    "rule": text_of,
    "antecedents": _antecedents,
    "context": _context,
}
BARE = template_json(Template(""))
INTEGERS = tuple(name for name, read in READERS.items() if read is integer_of)


NEEDED = ("id", "sort", "templates", "probability", "slots")
SPREAD = ("interval", "error")
ALLOWED = ("anchor", "name", "descriptions", "denied", *SPREAD)


def entity_json(entity: Entity) -> dict[str, Any]:
    """Return every field of an entity."""
    return {
        "id": entity.id,
        "sort": entity.type,
        "templates": list(entity.templates),
        "anchor": entity.anchor,
        "name": entity.name,
        "descriptions": list(entity.descriptions),
        **figure_json(entity.figure),
        "slots": {name: list(map(_value, values)) for name, values in entity.slots.items()},
        "denied": [
            {"slots": dict(one.slots), "templates": list(one.templates), "cue": one.cue}
            for one in entity.denied
        ],
    }


def _value(value: SlotValue) -> dict[str, Any]:
    figure = figure_json(value.figure)
    templates = list(value.templates)
    return {"value": value.value, **figure, "templates": templates, "status": value.status}


def figure_json(figure: Figure) -> dict[str, Any]:
    """Return a probability, and its interval or its standard error, where it is not exact."""
    interval = [figure.low, figure.high] if figure.kind == "interval" else None
    return {"probability": figure.value, "interval": interval, "error": figure.error}


def entity_of(value: Any, place: Place) -> Entity:
    """Parse an entity from its object."""
    entity = fields(value, "an entity", place, needed=NEEDED, allowed=ALLOWED)
    name = text_of(entity["id"], "id of an entity", place)
    templates = _texts(entity["templates"], f"templates of {name}", place)
    slots = _slots(entity["slots"], f"slots of {name}", place)
    return Entity(
        id=name,
        type=text_of(entity["sort"], f"sort of {name}", place),
        templates=templates,
        anchor=text_of(entity.get("anchor", templates[0] if templates else ""), "anchor", place),
        figure=_read_figure(entity, place),
        slots={slot: _values(values, slot, place) for slot, values in slots.items()},
        name=text_of(entity.get("name", ""), f"name of {name}", place),
        descriptions=_texts(entity.get("descriptions", []), f"descriptions of {name}", place),
        denied=tuple(
            _denial(one, name, place)
            for one in list_of(entity.get("denied", []), f"denied of {name}", place)
        ),
    )


def _denial(value: Any, name: str, place: Place) -> Denial:
    what = f"a denial of {name}"
    given = fields(value, what, place, needed=("slots", "templates"), allowed=("cue",))
    slots = _slots(given["slots"], f"slots of {what}", place)
    templates = _texts(given["templates"], f"templates of {what}", place)
    return Denial(slots, templates, text_of(given.get("cue", ""), f"cue of {what}", place))


def _values(values: Any, slot: str, place: Place) -> tuple[SlotValue, ...]:
    slot_values = []
    for value in list_of(values, f"values of {slot}", place):
        needed = ("value", "probability", "templates")
        allowed = (*SPREAD, "status")
        value_fields = fields(value, f"a value of {slot}", place, needed=needed, allowed=allowed)
        status = value_fields.get("status", "asserted")
        if status not in get_args(Status):
            place.refuse(f"status of a value of {slot} is {status!r}")
        templates = _texts(value_fields["templates"], f"templates of a value of {slot}", place)
        figure = _read_figure(value_fields, place)
        plain = _plain(value_fields["value"], slot, place)
        slot_values.append(SlotValue(plain, figure, templates, cast(Status, status)))
    return tuple(slot_values)


def _plain(value: Any, slot: str, place: Place) -> Plain | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return list(_texts(value, f"a value of {slot}", place))


def _read_figure(given: Mapping[str, Any], place: Place) -> Figure:
    value = number_of(given["probability"], "probability", place)
    if given.get("error") is not None:
        error = number_of(given["error"], "error", place)
        return Figure(value, max(0.0, value - error), min(1.0, value + error), "estimate")
    if given.get("interval") is None:
        return Figure.exact(value)
    ends = list_of(given["interval"], "interval", place)
    if len(ends) != 2:
        place.refuse(f"interval has {len(ends)} ends; expected 2")
    low, high = (number_of(end, "an end of an interval", place) for end in ends)
    return Figure(value, low, high, "interval")


def _texts(values: Any, what: str, place: Place) -> tuple[str, ...]:
    return tuple(text_of(one, what, place) for one in list_of(values, what, place))
