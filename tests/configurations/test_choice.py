"""Which method is chosen, and that none is chosen that does not fit."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from partita.configurations import method_choice
from partita.configurations.solve import solve_set
from partita.core import Budget, CoreferenceSet, PairProbabilities


@pytest.mark.parametrize("n", [60, 300])
def test_a_large_set_with_an_amount_of_work_is_not_tried_exactly(n: int) -> None:
    """Such a budget has no end in seconds; no table of this size fits any memory."""
    matrix = np.full((n, n), 0.3)
    np.fill_diagonal(matrix, 1.0)
    pairs = PairProbabilities(CoreferenceSet.of([f"T{i}" for i in range(n)]), matrix)
    found = solve_set(pairs, "evidential", top=1, budget=Budget(math.inf, 1 << 30, 50))
    assert found.method in ("certified", "sampled")
    assert found.marginals.value.shape == (n, n)


def test_the_choice_does_not_depend_on_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fits the budget is solved exactly, even if getting there took all of it."""
    n, ticks = 20, iter(range(0, 10**9, 1000))
    matrix = np.full((n, n), 0.4)
    np.fill_diagonal(matrix, 1.0)
    pairs = PairProbabilities(CoreferenceSet.of([f"T{i}" for i in range(n)]), matrix)
    clock = SimpleNamespace(monotonic=lambda: next(ticks))
    monkeypatch.setattr("partita.configurations.method_choice.time", clock)
    assert solve_set(pairs, "evidential", top=1, budget=Budget(seconds=30.0)).method == "exact"


@pytest.mark.parametrize("work", [None, 50])
def test_what_comes_before_the_chains_is_part_of_the_time(
    work: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planning an elimination and loading its code take from the seconds of the answer."""
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    budgets: list[Budget] = []

    def planned(*_values: object, **_named: object) -> None:
        clock.now += 100.0

    def beyond(theta: object, budget: Budget, *_values: object) -> None:
        budgets.append(budget)

    monkeypatch.setattr(method_choice, "time", clock)
    monkeypatch.setattr(method_choice, "_exact", planned)
    monkeypatch.setattr(method_choice, "_beyond", beyond)
    method_choice.engine_for(Budget(seconds=2.0, work=work), 0, "auto", None)(
        np.zeros((30, 30)), 1.0
    )
    assert budgets == [Budget(seconds=0.01 if work is None else 2.0, work=work)]
