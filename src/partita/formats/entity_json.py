"""An entity as a JSON object in results, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from partita.formats.strict import Place, fields, list_of, number_of, text_of
from partita.records import Entity, Figure, SlotValue
from partita.records.entities import Plain

NEEDED = ("id", "sort", "templates", "probability", "slots")
SPREAD = ("interval", "error")
ALLOWED = ("anchor", "name", "descriptions", *SPREAD)


def entity_json(entity: Entity) -> dict[str, Any]:
    """What is known of it; a name and descriptions where there are any."""
    written: dict[str, Any] = {"id": entity.id, "sort": entity.sort}
    written["templates"] = list(entity.templates)
    written["anchor"] = entity.anchor
    if entity.name:
        written["name"] = entity.name
    if entity.descriptions:
        written["descriptions"] = list(entity.descriptions)
    written |= _figure(entity.probability)
    written["slots"] = {name: list(map(_value, values)) for name, values in entity.slots.items()}
    return written


def _value(value: SlotValue) -> dict[str, Any]:
    figure = _figure(value.probability)
    return {"value": value.value, **figure, "templates": list(value.templates)}


def _figure(figure: Figure) -> dict[str, Any]:
    """Bounds as an interval, an estimate with its standard error."""
    told: dict[str, Any] = {"probability": figure.value}
    if figure.kind == "interval":
        told["interval"] = [figure.low, figure.high]
    elif figure.kind == "estimate":
        told["error"] = max(figure.high - figure.value, figure.value - figure.low)
    return told


def entity_of(value: Any, place: Place) -> Entity:
    """An entity from its object."""
    given = fields(value, "an entity", place, needed=NEEDED, allowed=ALLOWED)
    name = text_of(given["id"], "id of an entity", place)
    templates = _texts(given["templates"], f"templates of {name}", place)
    slots = given["slots"]
    if not isinstance(slots, dict):
        place.refuse(f"slots of {name} are {slots!r}; expected an object")
    return Entity(
        id=name,
        sort=text_of(given["sort"], f"sort of {name}", place),
        templates=templates,
        anchor=text_of(given.get("anchor", templates[0] if templates else ""), "anchor", place),
        probability=_read_figure(given, place),
        slots={slot: _values(values, slot, place) for slot, values in slots.items()},
        name=text_of(given.get("name", ""), f"name of {name}", place),
        descriptions=_texts(given.get("descriptions", []), f"descriptions of {name}", place),
    )


def _values(given: Any, slot: str, place: Place) -> tuple[SlotValue, ...]:
    found = []
    for one in list_of(given, f"values of {slot}", place):
        needed = ("value", "probability", "templates")
        told = fields(one, f"a value of {slot}", place, needed=needed, allowed=SPREAD)
        templates = _texts(told["templates"], f"templates of a value of {slot}", place)
        figure = _read_figure(told, place)
        found.append(SlotValue(_plain(told["value"], slot, place), figure, templates))
    return tuple(found)


def _plain(value: Any, slot: str, place: Place) -> Plain | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return list(_texts(value, f"a value of {slot}", place))


def _read_figure(given: Mapping[str, Any], place: Place) -> Figure:
    value = number_of(given["probability"], "probability", place)
    if "error" in given:
        error = number_of(given["error"], "error", place)
        return Figure(value, max(0.0, value - error), min(1.0, value + error), "estimate")
    if "interval" not in given:
        return Figure.exact(value)
    ends = list_of(given["interval"], "interval", place)
    if len(ends) != 2:
        place.refuse(f"interval has {len(ends)} ends; expected 2")
    low, high = (number_of(end, "an end of an interval", place) for end in ends)
    return Figure(value, low, high, "interval")


def _texts(given: Any, what: str, place: Place) -> tuple[str, ...]:
    return tuple(text_of(one, what, place) for one in list_of(given, what, place))
