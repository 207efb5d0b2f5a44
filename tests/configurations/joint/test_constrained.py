"""The joint model given incompatible templates: against all configurations, and by draws."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.joint_mentions import random_model, random_templates
from oracles.partitions import partitions
from partita.configurations.joint import posterior as module
from partita.configurations.joint.posterior import JointPosterior, joint_posterior
from partita.core import Template

Row = tuple[int, ...]


def untyped(template: Template) -> Template:
    """A template whose type excludes no cell from a close look."""
    context = {key: value for key, value in template.context.items() if "SORT" not in key}
    return replace(template, type="", context=context)


def instance(n: int, seed: int, holes: float = 0.3) -> tuple[JointPosterior, JointPosterior]:
    """The joint model without incompatible templates, and with some."""
    rng = np.random.default_rng(seed)
    apart = np.triu(rng.random((n, n)) < holes, 1)
    templates = [untyped(template) for template in random_templates(n, rng)]
    model = random_model(rng)
    model = replace(model, temperature=np.zeros(2))  # which depends on the number of choices
    return joint_posterior(templates, model), joint_posterior(
        templates, model, incompatible=apart | apart.T
    )


def expected_shares(free: JointPosterior, incompatible: np.ndarray) -> dict[Row, float]:
    """Each decision of the free model without the choices that join what is incompatible."""
    n = free.size
    begun: dict[Row, float] = {}
    for row in partitions(n):
        for size in range(n + 1):
            share = math.exp(free.log_weight(np.array(row)))
            begun[row[:size]] = begun.get(row[:size], 0.0) + share
    shares: dict[Row, float] = {(): 1.0}
    for size in range(n):
        rows = [row for row in begun if len(row) == size + 1]
        allowed = [row for row in rows if not joins(row, incompatible[size])]
        totals: dict[Row, float] = {}
        for row in allowed:
            totals[row[:-1]] = totals.get(row[:-1], 0.0) + begun[row]
        shares = {
            row: shares[row[:-1]] * begun[row] / totals[row[:-1]]
            for row in allowed
            if row[:-1] in shares
        }
    return shares


def joins(row: Row, apart: np.ndarray) -> bool:
    return any(apart[i] and row[i] == row[-1] for i in range(len(row) - 1))


@given(st.integers(2, 6), st.integers(0, 10**6))
@settings(deadline=None, max_examples=25)
def test_decisions_leave_out_what_is_incompatible(n, seed):
    free, found = instance(n, seed)
    if not len(found.mentions.incompatible):
        return
    expected = expected_shares(free, found.mentions.incompatible)
    assert math.fsum(expected.values()) == pytest.approx(1.0)
    assert found.count() == len(expected)
    best = found.best(len(expected))
    listed = {
        tuple(row): math.exp(log)
        for row, log in zip(best.labels.tolist(), best.log_weights.tolist(), strict=True)
    }
    assert listed == pytest.approx(expected, abs=1e-6)
    agrees_with(found, expected)


def agrees_with(found: JointPosterior, expected: Mapping[Row, float]) -> None:
    n = found.size
    bits = -math.fsum(p * math.log2(p) for p in expected.values() if p > 0)
    assert found.entropy().value == pytest.approx(bits, abs=1e-5)
    pairs, cells = found.pairs().value, dict(found.cells())
    for i in range(n):
        assert math.fsum(p for cell, p in cells.items() if i in cell) == pytest.approx(1.0)
        for j in range(i):
            together = math.fsum(p for row, p in expected.items() if row[i] == row[j])
            assert pairs[i, j] == pytest.approx(together, abs=1e-6)


def test_what_is_incompatible_has_no_weight():
    _, found = instance(5, 3, holes=1.0)
    assert found.log_weight(np.zeros(5, dtype=np.int64)) == -math.inf
    assert found.log_weight(np.arange(5)) == pytest.approx(0.0, abs=1e-9)
    assert found.best(9).labels.tolist() == [[0, 1, 2, 3, 4]]


def test_far_cells_are_excluded_too():
    rng = np.random.default_rng(5)
    templates = [
        replace(one, type=entity_type, context={"WORDS": one.text.lower().split()})
        for one, entity_type in zip(
            random_templates(4, rng), ("person", "organization") * 2, strict=True
        )
    ]
    incompatible = np.ones((4, 4), dtype=np.bool_)
    found = joint_posterior(templates, random_model(rng), incompatible=incompatible)
    assert found.best(9).labels.tolist() == [[0, 1, 2, 3]]


@pytest.mark.parametrize("holes", [0.1, 0.9])
def test_draws_agree_with_the_enumeration(monkeypatch, holes):
    _, exact = instance(6, 8, holes)
    value, bits, incompatible = exact.pairs().value, exact.entropy(), exact.mentions.incompatible
    top = exact.best(1)
    monkeypatch.setattr(module, "LARGEST", 2)
    _, drawn = instance(6, 8, holes)
    drawn.draw_count = 2000
    assert (drawn.method, drawn.pairs().kind) == ("sampled", "estimate")
    np.testing.assert_allclose(drawn.pairs().value, value, atol=0.03)
    assert (drawn.pairs().value[incompatible] == 0.0).all()
    assert drawn.entropy().value == pytest.approx(bits.value, abs=0.1)
    rows = np.concatenate((drawn.draws(50, np.random.default_rng(0)), drawn.best(5).labels))
    assert not ((rows[:, :, None] == rows[:, None, :]) & incompatible).any()
    best = drawn.best(1)
    assert best.labels.tolist() == top.labels.tolist()
    assert best.log_weights == pytest.approx(top.log_weights, abs=1e-6)
