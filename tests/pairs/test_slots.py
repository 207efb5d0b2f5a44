"""Slots as columns against the algebra of templates."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from hypothesis import given, settings

from oracles.depots import SCHEMA, A, B, C, D
from oracles.described import drawn
from oracles.laws import compatible
from partita.core import Template
from partita.pairs.columns import slot_columns
from partita.templates.schema import relation

DEPOTS = (A, B, C, D)


def _below(templates: tuple[Template, ...], s: int, t: int, schema: object) -> bool:
    slots = slot_columns(templates, schema)  # type: ignore[arg-type]
    return all(bool(slot.below(np.array([s]), np.array([t]))[0]) for slot in slots)


def test_the_papers_templates_with_and_without_a_schema() -> None:
    for s, t in permutations(range(4), 2):
        for schema in (SCHEMA, None):
            found = (_below(DEPOTS, s, t, schema), _below(DEPOTS, t, s, schema))
            if compatible(DEPOTS[s], DEPOTS[t], SCHEMA):
                expected = relation(DEPOTS[s], DEPOTS[t], SCHEMA)
                assert found[0] == (expected in ("identical", "properly subsumed by"))
                assert found[1] == (expected in ("identical", "properly subsumes"))


def test_a_type_is_subsumed_by_a_more_general_one_only_with_a_schema() -> None:
    bridge = Template("X", slots={"FACILITY": "BRIDGE"})
    facility = Template("Y", slots={"FACILITY": "FACILITY"})
    assert _below((bridge, facility), 0, 1, SCHEMA)
    assert not _below((bridge, facility), 1, 0, SCHEMA)
    assert not _below((bridge, facility), 0, 1, None)


@settings(max_examples=60, deadline=None)
@given(drawn(least=2))
def test_lists_and_texts_by_hand(templates: list[Template]) -> None:
    slots = slot_columns(templates, None)
    s, t = np.triu_indices(len(templates), 1)
    found = np.logical_and.reduce([slot.below(s, t) for slot in slots] or [np.ones(len(s), bool)])
    for n, (a, b) in enumerate(zip(s, t, strict=True)):
        assert found[n] == _subsumed(_said(templates[a]), _said(templates[b]))


def _said(template: Template) -> dict[str, object]:
    said: dict[str, object] = dict(template.slots)
    said["modifiers"] = template.context.get("MODIFIERS")
    said["sort"], said["number"] = template.type, template.number
    said["head"] = "" if template.form == "pronoun" else template.head
    return {name: value for name, value in said.items() if value not in ("", None)}


def _subsumed(left: dict[str, object], right: dict[str, object]) -> bool:
    def below(name: str) -> bool:
        a, b = left.get(name), right[name]
        if isinstance(b, list):
            return isinstance(a, list) and set(b) <= set(a)
        return a is not None and str(a) == str(b)

    return all(below(name) for name in right)
