"""Entities and the probabilities of their slot values, against every partition."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.depots import SCHEMA, A, B, C, D
from oracles.entities import pairs_of, random_set, slot_shares
from partita.antecedents.sets import coreference_sets
from partita.configurations.solve import solve_set
from partita.core import (
    CoreferenceSet,
    Distribution,
    Entity,
    PairProbabilities,
    SlotValue,
    Template,
    cells,
)
from partita.core.templates import ASSERTIONS, Assertion
from partita.entities import entities as module
from partita.entities.entities import (
    AnchorCells,
    SlotTables,
    anchor_of,
    entities_of,
    number_entities,
    single_entity,
    slot_values,
)
from partita.errors import Unavailable
from partita.templates.schema import Schema
from partita.templates.slots import StringsType

TABLE_1 = {(0, 1): 0.671, (0, 3): 0.505, (1, 3): 0.752, (2, 3): 0.504}
[DEPOTS] = coreference_sets([A, B, C, D], SCHEMA)


def table_1() -> Distribution:
    p = np.eye(4)
    for (left, right), value in TABLE_1.items():
        p[left, right] = p[right, left] = value
    return solve_set(PairProbabilities(DEPOTS, p))


def told(entity: Entity) -> dict[str, dict[str, float]]:
    return {
        name: {"" if v.value is None else str(v.value): v.probability for v in values}
        for name, values in entity.slots.items()
    }


def test_the_paper():
    first, second = entities_of(table_1(), SCHEMA)
    assert (first.templates, first.anchor) == (("A", "B", "D"), "A")
    assert first.probability == pytest.approx(0.3826, abs=5e-5)
    assert told(first)["LOCATION"] == {"KINSTON": pytest.approx(1.0)}
    assert (second.templates, second.anchor) == (("C",), "C")
    assert second.probability == pytest.approx(1 - 0.1873, abs=1e-4)
    [rail] = first.slots["TYPE"]
    assert rail.templates == ("A", "B")
    [depot] = first.slots["FACILITY"]
    assert depot.templates == ("A", "B", "C", "D")


def test_seen_from_a_vague_template_values_are_uncertain():
    found = table_1()
    around = cells.cells_of(found)
    said = SlotTables.of(DEPOTS.templates, SCHEMA)
    values = slot_values(AnchorCells.of(around, 3), said)
    where = {v.value: v.probability for v in values["LOCATION"]}
    with_a = found.marginal("A", "D")
    assert where["KINSTON"] == pytest.approx(with_a)
    assert where["FAIRVIEW"] == pytest.approx(found.marginal("C", "D"))
    assert where[None] == pytest.approx(1 - with_a - found.marginal("C", "D"))
    assert values["LOCATION"][-1] == SlotValue("FAIRVIEW", values["LOCATION"][-1].figure, ("C",))


@given(st.integers(0, 2**32), st.integers(2, 6))
@settings(deadline=None, max_examples=60)
def test_values_are_those_of_all_partitions(seed, size):
    rng = np.random.default_rng(seed)
    pairs = pairs_of(random_set(size, SCHEMA, rng), rng)
    found = solve_set(pairs)
    entities = entities_of(found, SCHEMA)
    assert sorted(m for e in entities for m in e.templates) == sorted(pairs.set.ids)
    for entity in entities:
        expected = slot_shares(pairs, entity.anchor, SCHEMA)
        got = told(entity)
        assert got.keys() == expected.keys()
        for name, shares in expected.items():
            assert got[name] == pytest.approx(shares)
        assert entity.probability == pytest.approx(found.cell(entity.templates))


@given(st.integers(0, 2**32), st.sampled_from(["uniform", "merging", "evidential"]))
@settings(deadline=None, max_examples=40)
def test_the_values_of_a_slot_add_up_to_one_with_any_model(seed, model):
    rng = np.random.default_rng(seed)
    found = solve_set(pairs_of(random_set(7, SCHEMA, rng), rng), model)
    for entity in entities_of(found, SCHEMA):
        assert entity.figure.kind == "exact"
        for values in entity.slots.values():
            assert math.fsum(v.probability for v in values) == pytest.approx(1.0)
            assert all(0 < v.probability <= 1 for v in values)
            ordered = [v.probability for v in values]
            assert ordered == sorted(ordered, reverse=True)


def test_drawn_values_are_near_the_exact_ones(monkeypatch):
    rng = np.random.default_rng(7)
    found = solve_set(pairs_of(random_set(7, SCHEMA, rng), rng))
    exact = entities_of(found, SCHEMA)
    monkeypatch.setattr(cells, "MOST", 3)
    drawn = entities_of(found, SCHEMA)
    assert drawn == entities_of(found, SCHEMA)
    for one, other in zip(exact, drawn, strict=True):
        assert other.figure.kind == "estimate"
        assert other.figure.low < other.figure.high
        for name, shares in told(one).items():
            for value, share in shares.items():
                assert told(other)[name].get(value, 0.0) == pytest.approx(share, abs=0.1)
            assert math.fsum(told(other)[name].values()) == pytest.approx(1.0)


class OnlyListed:
    """A posterior that neither lists its cells nor can be drawn from."""

    def cells(self):
        raise Unavailable("no cells")

    def draws(self, count, rng):
        raise Unavailable("no draws")


def test_bounds_from_what_is_listed_hold_the_truth():
    rng = np.random.default_rng(11)
    pairs = pairs_of(random_set(6, SCHEMA, rng), rng)
    exact, short = solve_set(pairs), solve_set(pairs, top=4)
    bounded = entities_of(replace(short, posterior=OnlyListed()), SCHEMA)
    for one, other in zip(entities_of(exact, SCHEMA), bounded, strict=True):
        assert other.figure.kind == "interval"
        assert other.figure.low <= one.probability <= other.figure.high
        truth = told(one)
        for name, values in other.slots.items():
            assert math.fsum(v.probability for v in values) == pytest.approx(1.0)
            for v in values:
                share = truth[name]["" if v.value is None else str(v.value)]
                assert v.figure.low - 1e-12 <= share <= v.figure.high + 1e-12


def test_names_count_by_their_longest_variant():
    templates = [
        Template("a", start=0, form="name", slots={"NAME": "KINSTON DEPOT"}),
        Template("b", start=9, form="name", slots={"NAME": "KINSTON"}),
    ]
    [pair] = coreference_sets(templates, SCHEMA)
    found = solve_set(PairProbabilities(pair, np.array([[1.0, 0.6], [0.6, 1.0]])))
    [entity] = entities_of(found, SCHEMA)
    [name] = entity.slots["NAME"]
    assert (name.value, name.probability) == ("KINSTON DEPOT", pytest.approx(1.0))
    assert entity.name == "KINSTON DEPOT"


WITH_STATUS = replace(SCHEMA, slots={**SCHEMA.slots, "STATUS": StringsType()})
FIRST = Template(
    "X",
    slots={"FACILITY": "DEPOT", "STATUS": ["large"]},
    context={ASSERTIONS: [Assertion("possible", {"STATUS": ["burnt"]}).plain()]},
)
SECOND = Template(
    "Y",
    start=9,
    slots={"FACILITY": "DEPOT"},
    context={
        ASSERTIONS: [
            Assertion("denied", {"STATUS": ["large"]}).plain(),
            Assertion("denied", {"FACILITY": "BRIDGE", "STATUS": ["large"]}).plain(),
            Assertion("reported", {"STATUS": ["empty"]}).plain(),
        ]
    },
)


def test_what_is_not_asserted_holds_with_its_weight():
    """Asserted by one and denied by another is possible: .5; possible .5; reported .7."""
    both = CoreferenceSet((FIRST, SECOND), must=frozenset({("X", "Y")}))
    [entity] = entities_of(solve_set(PairProbabilities(both, np.ones((2, 2)))), WITH_STATUS)
    values = {frozenset(v.value or ()): v for v in entity.slots["STATUS"]}
    assert len(values) == 8
    for strings, value in values.items():
        share = math.prod(
            p if string in strings else 1 - p
            for string, p in (("large", 0.5), ("burnt", 0.5), ("empty", 0.7))
        )
        assert value.probability == pytest.approx(share)
    every = values[frozenset({"large", "burnt", "empty"})]
    assert (every.status, every.templates) == ("possible", ("X", "Y"))
    empty = values[frozenset({"empty"})]
    assert (empty.status, empty.templates) == ("reported", ("Y",))
    assert (values[frozenset()].status, values[frozenset()].templates) == ("asserted", ())


def test_denied_values_beside_others_deny_no_string():
    """What is denied to be a large bridge may be large."""
    denied = Assertion("denied", {"FACILITY": "BRIDGE", "STATUS": ["large"]}).plain()
    large = replace(FIRST, context={ASSERTIONS: [denied]})
    [value] = single_entity(large, WITH_STATUS).slots["STATUS"]
    assert (value.value, value.probability, value.status) == (["large"], 1.0, "asserted")
    assert value.templates == ("X",)


def test_the_templates_of_a_value_hold_it_or_a_more_general_one():
    two = [replace(A, id="X", slots={"NUMBER": 2}), replace(A, id="Y", start=9, slots={})]
    p = np.array([[1.0, 0.5], [0.5, 1.0]])
    [entity] = entities_of(solve_set(PairProbabilities(CoreferenceSet(tuple(two)), p)), SCHEMA)[:1]
    [number] = entity.slots["NUMBER"]
    assert (number.value, number.templates) == (2, ("X",))


def test_a_slot_of_which_only_denials_are_known_has_no_values():
    schema = Schema({"STATUS": StringsType()})
    denied = Assertion("denied", {"STATUS": ["CLOSED"]}, "not").plain()
    two = [Template(name, context={ASSERTIONS: [denied]}) for name in "ST"]
    distribution = solve_set(PairProbabilities(CoreferenceSet(tuple(two)), np.full((2, 2), 0.5)))
    for entity in entities_of(distribution, schema):
        assert entity.slots == {}
        assert entity.denied


def test_what_is_alone_is_sure():
    entity = single_entity(C, SCHEMA)
    assert entity.probability == 1.0
    assert told(entity)["LOCATION"] == {"FAIRVIEW": 1.0}


@pytest.mark.parametrize(("pronouns", "entity_type"), [(9, "PERSON"), (11, "PLACE")])
def test_pronouns_count_a_tenth_for_the_type_of_an_entity(pronouns, entity_type):
    named = Template("N", form="name", type="PERSON")
    others = [Template(f"P{n}", start=n, form="pronoun", type="PLACE") for n in range(pronouns)]
    every = CoreferenceSet((named, *others))
    found = solve_set(PairProbabilities(every, np.ones((len(every), len(every)))))
    [entity] = entities_of(found, Schema())
    assert entity.type == entity_type


def test_the_type_of_an_entity_adds_up_the_probabilities_of_its_members():
    shares = ({"PERSON": 0.6, "PLACE": 0.4}, {"PLACE": 0.9, "PERSON": 0.1})
    two = [
        Template(f"T{n}", start=n, context={"SORT_PROBABILITIES": each})
        for n, each in enumerate(shares)
    ]
    found = solve_set(PairProbabilities(CoreferenceSet(tuple(two)), np.ones((2, 2))))
    [entity] = entities_of(found, Schema())
    assert entity.type == "PLACE"
    assert single_entity(two[0], Schema()).type == "PERSON"


def test_numbers_follow_the_text():
    entities = [*reversed(entities_of(table_1(), SCHEMA))]
    ordered = number_entities(entities, {"A": 0, "B": 1, "C": 2, "D": 3})
    assert [(e.id, e.templates[0]) for e in ordered] == [("E1", "A"), ("E2", "C")]


def test_the_anchor_says_most():
    named = replace(D, id="N", form="name")
    assert anchor_of([D, B, A], SCHEMA) is A
    assert anchor_of([D, named], SCHEMA) is named
    assert anchor_of([D, replace(D, id="E")], SCHEMA) is D


def test_a_possible_type_counts_if_there_is_no_other():
    """The facility that is probably a depot is a facility; alone it would be a depot."""
    possible = {ASSERTIONS: [Assertion("possible", {"FACILITY": "DEPOT"}).plain()]}
    reported = {ASSERTIONS: [Assertion("reported", {"FACILITY": "DEPOT"}).plain()]}
    firm = Template("X", type="FACILITY")
    for context, entity_type in ((possible, "FACILITY"), (reported, "DEPOT"), ({}, "DEPOT")):
        other = Template("Y", start=9, type="DEPOT", context=context)
        both = CoreferenceSet((firm, other), must=frozenset({("X", "Y")}))
        [entity] = entities_of(solve_set(PairProbabilities(both, np.ones((2, 2)))), SCHEMA)
        assert entity.type == entity_type
        twice = CoreferenceSet((replace(other, id="X", start=0), other), must=both.must)
        [alone] = entities_of(solve_set(PairProbabilities(twice, np.ones((2, 2)))), SCHEMA)
        assert alone.type == "DEPOT"


def test_of_many_weak_values_the_last_ones_hold_in_any_case(monkeypatch):
    monkeypatch.setattr(module, "MOST_WEAK", 1)
    said = [Assertion("possible", {"STATUS": [word]}).plain() for word in ("burnt", "empty")]
    template = replace(FIRST, slots={"FACILITY": "DEPOT"}, context={ASSERTIONS: said})
    found = single_entity(template, WITH_STATUS).slots["STATUS"]
    shares = {frozenset(one.value or ()): one.probability for one in found}
    assert shares == pytest.approx({frozenset({"burnt", "empty"}): 0.5, frozenset({"empty"}): 0.5})
