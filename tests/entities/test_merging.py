"""Merged templates of cells, the deterministic merger, names and descriptions."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.depots import SCHEMA, A, B, C, D
from oracles.entities import random_set
from partita.antecedents.sets import coreference_sets
from partita.configurations.pair_models import greedy_labels
from partita.core import Configuration, Template
from partita.entities.entities import descriptions, longest_name, merge_cells
from partita.templates.schema import plain_slots


def greedy_configuration(given):
    """What the paper's deterministic merger makes of a set, as the greedy model has it."""
    place = {name: n for n, name in enumerate(given.ids)}
    allowed = np.ones((len(given), len(given)), dtype=np.bool_)
    for left, right in given.incompatible:
        allowed[place[left], place[right]] = allowed[place[right], place[left]] = False
    return Configuration.from_labels(given.ids, greedy_labels(allowed))


def greedy_merged(given, schema):
    return merge_cells(greedy_configuration(given), given, schema)


[DEPOTS] = coreference_sets([A, B, C, D], SCHEMA)


def test_cells_are_merged_and_in_text_order():
    cells = merge_cells(Configuration([["C"], ["D", "A", "B"]]), DEPOTS, SCHEMA)
    assert [cell.ids for cell in cells] == [("A", "B", "D"), ("C",)]
    assert plain_slots(cells[0].values) == dict(A.slots)
    assert plain_slots(cells[1].values) == dict(C.slots)


def test_the_deterministic_merger_takes_the_most_recent_that_fits():
    assert str(greedy_configuration(DEPOTS)) == "(A B) (C D)"
    assert [cell.ids for cell in greedy_merged(DEPOTS, SCHEMA)] == [("A", "B"), ("C", "D")]


@given(st.integers(0, 2**32), st.integers(2, 8))
@settings(deadline=None, max_examples=60)
def test_the_deterministic_merger_leaves_nothing_that_could_be_merged(seed, size):
    found = random_set(size, SCHEMA, np.random.default_rng(seed))
    cells = greedy_merged(found, SCHEMA)
    assert sorted(name for cell in cells for name in cell.ids) == sorted(found.ids)
    for n, one in enumerate(cells):
        for other in cells[n + 1 :]:
            assert any(
                (a, b) in found.incompatible or (b, a) in found.incompatible
                for a in one.ids
                for b in other.ids
            )


def test_the_longest_name():
    names = [Template(n, slots={"NAME": n}) for n in ("KINSTON", "KINSTON DEPOT")]
    assert longest_name([*names, D], SCHEMA) == "KINSTON DEPOT"
    assert longest_name([D], SCHEMA) == ""
    assert longest_name([Template("x", "Fort Bragg", form="name")], SCHEMA) == "Fort Bragg"


def test_precise_descriptions_come_before_vague_ones():
    said = {"FACILITY": "DEPOT", "TYPE": "RAIL"}
    members = [
        Template("p", "it", start=0, form="pronoun"),
        Template("v", "the depot", start=9, form="definite", slots={"FACILITY": "DEPOT"}),
        Template("a", "rail depot", start=19, form="bare", slots=said),
        Template("b", "an old rail depot", start=29, form="indefinite", slots=said),
        Template("n", "Kinston Depot", start=49, form="name", slots={**said, "LOCATION": "X"}),
    ]
    assert descriptions(members, SCHEMA) == ("an old rail depot", "the depot", "it")


def test_both_of_two_precise_descriptions_that_say_different_things():
    rail = Template("a", "a rail depot", form="indefinite", slots={"TYPE": "RAIL"})
    two = Template("b", "one depot", form="indefinite", slots={"NUMBER": 1})
    assert descriptions([rail, two], SCHEMA) == ("a rail depot", "one depot")
