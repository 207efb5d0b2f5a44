"""The stages in order, with a stand-in for the extractor and for the pair model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.depots import SCHEMA, A, B, C, D
from partita import pipeline
from partita.antecedents import sets
from partita.antecedents.sets import Windows
from partita.configurations.solve_batch import solve_many
from partita.core import Message, Template
from partita.errors import TooLarge
from partita.pipeline import Stages, resolve

TABLE_1 = {"AB": 0.671, "AD": 0.505, "BD": 0.752, "CD": 0.504}
ALONE = Template("X", "the bridge", start=400, slots={"FACILITY": "BRIDGE"})
DEPOTS = (
    replace(A, text="Kinston Depot", end=20, region="subject", form="name", head="depot"),
    replace(B, text="a rail depot", end=52, sentence=1, form="indefinite", head="depot"),
    replace(C, text="the ammunition depot", end=170, sentence=1, form="definite", head="depot"),
    replace(D, text="the depot", end=259, sentence=1, form="definite", head="depot"),
)
MESSAGE = Message("kinston", "text", ())


class Table1:
    """The paper's Table 1 as a pair model over templates whose ids are known."""

    def pair_probabilities(self, columns, left, right):
        ids = "ABCD"
        return np.array([TABLE_1[ids[i] + ids[j]] for i, j in zip(left, right, strict=True)])


class Constant:
    """The same probability for every pair."""

    def __init__(self, probability):
        self.probability = probability

    def pair_probabilities(self, columns, left, right):
        return np.full(len(left), self.probability)


def stages(templates=(*DEPOTS, ALONE), solve=solve_many, probability=None) -> Stages:
    model = Table1() if probability is None else Constant(probability)
    return Stages(lambda message: templates, SCHEMA, model, solve)


def test_compatibility_is_computed_once(monkeypatch):
    calls, computed = [], sets._compatibility
    monkeypatch.setattr(sets, "_compatibility", lambda *given: calls.append(1) or computed(*given))
    assert resolve(MESSAGE, stages()).sets[0].incompatible
    assert len(calls) == 1


def test_the_paper_from_templates_to_entities():
    found = resolve(MESSAGE, stages())
    [one] = found.distributions
    assert one.set.name == "kinston.1"
    assert one.count == 7
    assert str(one.most_probable) == "(A B D) (C)"
    assert one.configurations[0].probability == pytest.approx(0.3826, abs=5e-5)
    assert found.singletons == (found.templates[-1],)
    assert [(e.id, e.templates) for e in found.entities] == [
        ("E1", ("A", "B", "D")),
        ("E2", ("C",)),
        ("E3", ("X",)),
    ]


def test_the_antecedents_of_definite_expressions():
    found = resolve(MESSAGE, stages())
    listed = {t.id: [a.id for a in t.antecedents] for t in found.templates}
    assert listed["D"][0] == "B"
    assert listed["B"] == listed["X"] == []
    assert "A" not in listed["C"]
    assert found.sets[0].incompatible == {("A", "C"), ("B", "C")}


def test_templates_may_come_in_any_order():
    shuffled = (ALONE, *reversed(DEPOTS))
    ids = [t.id for t in resolve(MESSAGE, stages(shuffled)).templates]
    assert ids == ["A", "B", "C", "D", "X"]


def test_a_message_without_templates():
    found = resolve(MESSAGE, stages(()))
    assert (found.templates, found.sets, found.entities) == ((), (), ())


def test_a_set_that_cannot_be_answered_fails_the_message():
    def refuse(pairs):
        return [TooLarge("this", "more", "less") for _ in pairs]

    with pytest.raises(TooLarge):
        resolve(MESSAGE, stages(solve=refuse))


def long_message(count, kinds=3):
    """Templates of which those of a kind, and no others, unify."""
    places = ("KINSTON", "RALEIGH", "FAIRVIEW")
    return tuple(
        replace(
            D, id=f"D{n}", start=n, end=n + 1, sentence=n, slots={"LOCATION": places[n % kinds]}
        )
        for n in range(count)
    )


def test_a_long_message_has_windows(monkeypatch):
    monkeypatch.setattr(pipeline, "MOST", 20)
    monkeypatch.setattr(pipeline, "LONG", Windows(most=10, last=3, names=2))
    many = long_message(45)
    found = resolve(MESSAGE, stages(many, probability=0.6))
    assert [one.id for one in found.templates] == [one.id for one in many]
    assert len(found.notes) == 1
    assert (
        "45 templates in 5 windows (at most 10 new templates, the last 3 and 2 names"
        in found.notes[0]
    )
    assert max(len(one.ids) for one in found.sets) <= 10 + 3 + 2
    assert len({one.name for one in found.sets}) == len(found.sets)
    held = [name for entity in found.entities for name in entity.templates]
    assert sorted(held) == sorted(one.id for one in many)
    places = {one.id: one.slots["LOCATION"] for one in many}
    assert all(len({places[name] for name in one.templates}) == 1 for one in found.entities)


def test_entities_continue_across_windows(monkeypatch):
    """With pairs that surely corefer, each kind is one entity however many windows there are."""
    whole = resolve(MESSAGE, stages(long_message(40), probability=0.999))
    monkeypatch.setattr(pipeline, "MOST", 20)
    monkeypatch.setattr(pipeline, "LONG", Windows(most=10, last=6, names=2))
    cut = resolve(MESSAGE, stages(long_message(40), probability=0.999))
    assert len(cut.sets) > len(whole.sets) == 3
    assert [one.templates for one in cut.entities] == [one.templates for one in whole.entities]


def test_no_template_of_a_long_message_is_lost(monkeypatch):
    """A template that is alone in its window and is read again belongs to one entity."""
    monkeypatch.setattr(pipeline, "MOST", 8)
    monkeypatch.setattr(pipeline, "LONG", Windows(most=4, last=3, names=2))
    for probability in (0.01, 0.5, 0.99):
        found = resolve(MESSAGE, stages(long_message(30), probability=probability))
        held = sorted(name for entity in found.entities for name in entity.templates)
        assert held == sorted(one.id for one in found.templates)
        listed = {name for one in found.sets for name in one.ids} | {t.id for t in found.singletons}
        assert listed >= {*held}


def test_templates_alone_in_a_long_message(monkeypatch):
    monkeypatch.setattr(pipeline, "MOST", 2)
    monkeypatch.setattr(pipeline, "LONG", Windows(most=2, last=1, names=1))
    found = resolve(MESSAGE, stages(long_message(3), probability=0.6))
    assert not found.sets
    assert [one.id for one in found.singletons] == ["D0", "D1", "D2"]
    assert [one.templates for one in found.entities] == [("D0",), ("D1",), ("D2",)]
