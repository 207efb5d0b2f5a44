"""The laws that every slot type obeys, checked on given values."""

from __future__ import annotations

import json
from typing import Any

from partita.core import Template
from partita.templates.schema import Schema, TemplateLike
from partita.templates.slots import SlotType, compare

MIRROR = {
    "identical": "identical",
    "more general": "more specific",
    "more specific": "more general",
    "compatible": "compatible",
    "distinct": "distinct",
}


def unify(slot: SlotType[Any], *values: Any) -> Any:
    """Unified from left to right; None once two are distinct."""
    first, *rest = values
    for value in rest:
        first = None if first is None or value is None else slot.unify(first, value)
    return first


def subsumed(slot: SlotType[Any], special: Any, general: Any) -> bool:
    return compare(slot, special, general) in ("identical", "more specific")


def check_one(slot: SlotType[Any], a: Any) -> None:
    """Idempotent, identical with itself, and the same after a way through a file."""
    assert slot.unify(a, a) == a
    assert compare(slot, a, a) == "identical"
    back = slot.read(json.loads(json.dumps(a.json())))
    assert back == a
    assert hash(back) == hash(a)
    assert str(back) == str(a) != ""
    assert slot.read(a) == a


def check_two(slot: SlotType[Any], a: Any, b: Any) -> None:
    """Commutative; the comparison is mirrored; what is unified follows from nothing less."""
    both = slot.unify(a, b)
    assert both == slot.unify(b, a)
    assert compare(slot, b, a) == MIRROR[compare(slot, a, b)]
    assert (compare(slot, a, b) == "distinct") == (both is None)
    assert (compare(slot, a, b) == "identical") == (a == b)
    if both is not None:
        check_one(slot, both)
        assert subsumed(slot, both, a)
        assert subsumed(slot, both, b)


def check_three(slot: SlotType[Any], a: Any, b: Any, c: Any) -> None:
    """Associative, transitive, the greatest lower bound, and closed under pairs."""
    all_three = unify(slot, a, b, c)
    assert all_three == unify(slot, a, unify(slot, b, c))
    pairs = (slot.unify(a, b), slot.unify(b, c), slot.unify(a, c))
    assert (all_three is not None) == (None not in pairs)
    if subsumed(slot, a, b) and subsumed(slot, b, c):
        assert subsumed(slot, a, c)
    if subsumed(slot, c, a) and subsumed(slot, c, b):
        assert subsumed(slot, c, slot.unify(a, b))


def check(slot: SlotType[Any], a: Any, b: Any, c: Any) -> None:
    for value in (a, b, c):
        check_one(slot, value)
    check_two(slot, a, b)
    check_three(slot, a, b, c)
    both = slot.unify(a, b)
    if both is not None:  # a third value that is surely below: random ones seldom are
        check_three(slot, a, b, both)
        check_three(slot, both, a, c)


def compatible(s: TemplateLike, t: TemplateLike, schema: Schema) -> bool:
    """Nothing known a priori says that the two differ."""
    left, right = (
        schema.values(one) if isinstance(one, Template) else one.values for one in (s, t)
    )
    return all(
        schema.slot(name).unify(left[name], right[name]) is not None
        for name in left.keys() & right.keys()
    )
