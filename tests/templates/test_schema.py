from __future__ import annotations

import json

import pytest

from oracles.depots import SCHEMA, TYPES, A, D
from partita.core import Template
from partita.core.templates import ASSERTIONS, Assertion
from partita.errors import InputError
from partita.templates.entity_types import EntityType
from partita.templates.name import NamedPlace
from partita.templates.quantities import Number, NumberType
from partita.templates.schema import OWN_TYPE, Schema, plain_slots


def test_plain_slots_are_read() -> None:
    assert SCHEMA.read(A.slots) == {
        "FACILITY": EntityType(frozenset({"DEPOT"})),
        "NUMBER": Number(1, 1),
        "LOCATION": NamedPlace(frozenset({"KINSTON"})),
        "TYPE": EntityType(frozenset({"RAIL"})),
    }


def test_values_stay_and_come_back_from_a_file() -> None:
    values = SCHEMA.read(A.slots)
    assert SCHEMA.read(values) == values
    assert plain_slots(values) == A.slots
    assert SCHEMA.read(json.loads(json.dumps(plain_slots(values)))) == values


@pytest.mark.parametrize("nil", [None, "", "  ", [], ()])
def test_nil(nil: object) -> None:
    assert SCHEMA.read({**D.slots, "TYPE": nil}) == SCHEMA.read(D.slots)


def test_slots_are_in_the_order_of_the_schema() -> None:
    assert list(SCHEMA.read(dict(reversed(A.slots.items())))) == list(SCHEMA.read(A.slots))


def test_the_type_of_the_template_goes_with_its_values() -> None:
    template = Template("T", type="depot", slots={"NUMBER": 2})
    values = SCHEMA.values(template)
    assert values == {OWN_TYPE: EntityType(frozenset({"DEPOT"})), "NUMBER": Number(2, 2)}
    assert plain_slots(values) == {"NUMBER": 2}
    assert OWN_TYPE not in Schema(SCHEMA.slots).values(template)
    assert OWN_TYPE not in SCHEMA.values(Template("T"))


def test_values_of_a_status_and_no_others() -> None:
    assertions = [
        Assertion("denied", {"NUMBER": 2}),
        Assertion("possible", {"TYPE": "RAIL"}),
        Assertion("denied"),  # the template as a whole
    ]
    template = Template("T", context={ASSERTIONS: [one.plain() for one in assertions]})
    assert SCHEMA.not_asserted(template, "denied") == [({"NUMBER": Number(2, 2)}, "denied")]
    rail = ({"TYPE": EntityType(frozenset({"RAIL"}))}, "possible")
    assert SCHEMA.not_asserted(template, "reported", "possible") == [rail]
    assert SCHEMA.not_asserted(template, "reported") == []


def test_mistakes_are_named() -> None:
    with pytest.raises(
        InputError, match=r"template T, unknown slot COLOUR \(expected FACILITY, NUMBER"
    ):
        SCHEMA.values(Template("T", slots={"COLOUR": "red"}))
    with pytest.raises(InputError, match=r"^unknown slot X \(expected no slots\)$"):
        Schema().read({"X": 1})
    with pytest.raises(InputError, match="template T, slot NUMBER: 'few' is not a number"):
        SCHEMA.values(Template("T", slots={"NUMBER": "few"}))
    with pytest.raises(InputError, match="template T, slot TYPE: 'DEPOT' is not a sort under KIND"):
        SCHEMA.values(Template("T", slots={"TYPE": "DEPOT"}))
    with pytest.raises(InputError, match="template T, sort: 'boat' is not a sort"):
        SCHEMA.values(Template("T", type="boat"))
    with pytest.raises(InputError, match="a slot of the schema has no name"):
        Schema({"": NumberType()}, TYPES)
