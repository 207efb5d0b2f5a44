"""A template as a JSON object, in keys and in results alike."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, cast, get_args

from partita.formats.strict import Place, fields, integer_of, list_of, text_of
from partita.records import Antecedent, Form, Template

TEXTS = ("text", "region", "sort", "head", "rule")
INTEGERS = ("start", "end", "sentence")
OTHERS = ("number", "form", "slots", "antecedents", "context")


def template_json(template: Template) -> dict[str, Any]:
    """Every field, in the order of the record."""
    written = asdict(template)
    written["slots"] = dict(template.slots)
    written["antecedents"] = [asdict(one) for one in template.antecedents]
    written["context"] = dict(template.context)
    return written


def template_of(value: Any, place: Place) -> Template:
    """A template from its object, or from its id alone."""
    if isinstance(value, str):
        return Template(value)
    given = fields(value, "a template", place, needed=("id",), allowed=(*TEXTS, *INTEGERS, *OTHERS))
    name = text_of(given["id"], "id of a template", place)
    read: dict[str, Any] = {}
    for field in given.keys() & set(TEXTS):
        read[field] = text_of(given[field], f"{field} of {name}", place)
    for field in given.keys() & set(INTEGERS):
        read[field] = integer_of(given[field], f"{field} of {name}", place)
    return Template(
        name,
        **read,
        number=_number(given.get("number"), name, place),
        form=_form(given.get("form", ""), name, place),
        slots=_mapping(given.get("slots", {}), f"slots of {name} are", place),
        antecedents=_antecedents(given.get("antecedents", []), name, place),
        context=_mapping(given.get("context", {}), f"context of {name} is", place),
    )


def _number(value: Any, name: str, place: Place) -> int | str | None:
    if value is None or isinstance(value, str):
        return value
    return integer_of(value, f"number of {name}", place)


def _form(value: Any, name: str, place: Place) -> Form:
    if value not in get_args(Form):
        expected = ", ".join(filter(None, get_args(Form)))
        place.refuse(f"form of {name} is {value!r}; expected {expected}")
    return cast(Form, value)


def _mapping(value: Any, what: str, place: Place) -> dict[str, Any]:
    if not isinstance(value, dict):
        place.refuse(f"{what} {value!r}; expected an object")
    return value


def _antecedents(value: Any, name: str, place: Place) -> tuple[Antecedent, ...]:
    return tuple(_antecedent(one, name, place) for one in list_of(value, "antecedents", place))


def _antecedent(value: Any, name: str, place: Place) -> Antecedent:
    what = f"an antecedent of {name}"
    given = fields(value, what, place, needed=("id",), allowed=("preferred",))
    preferred = given.get("preferred", False)
    if not isinstance(preferred, bool):
        place.refuse(f"preferred of {what} is {preferred!r}; expected true or false")
    return Antecedent(text_of(given["id"], f"id of {what}", place), preferred)
