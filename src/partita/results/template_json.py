"""Templates and entities as JSON objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast, get_args

from partita.core import Antecedent, Denial, Entity, Figure, Form, SlotValue, Status, Template
from partita.core.entities import Plain
from partita.core.templates import ASSERTIONS
from partita.files.strict import Place, fields, integer_of, list_of, number_of, text_of

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
