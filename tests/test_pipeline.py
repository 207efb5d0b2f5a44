"""The stages in order, with a stand-in for the extractor and for the pair model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oracles.depots import SCHEMA, A, B, C, D
from partita.configurations.solve_batch import solve_many
from partita.errors import InputError, TooLarge
from partita.pipeline import MOST, Stages, resolve
from partita.records import Message, Template
from partita.reference import sets

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


def stages(templates=(*DEPOTS, ALONE), solve=solve_many) -> Stages:
    return Stages(lambda message: templates, SCHEMA, Table1(), solve)


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


def test_a_message_with_too_many_templates_is_refused():
    many = tuple(replace(D, id=f"D{n}", start=n) for n in range(MOST + 1))
    with pytest.raises(InputError, match=r"2,001 templates are too many \(expected at most 2,000"):
        resolve(MESSAGE, stages(many))
