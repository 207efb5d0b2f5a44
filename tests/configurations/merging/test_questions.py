"""Only what the merger asks on its way to a configuration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.merging import knowledge
from partita.configurations.merging.model import merger, questions
from partita.core import restricted_growth


def test_the_paper_s_four_decisions() -> None:
    """B = A? yes; C = B&A? no; D = C? no; D = B&A? yes, if C is not incompatible."""
    everything = np.ones((4, 4), dtype=bool)
    asked = questions([0, 0, 1, 0], everything)
    assert asked == [(0, 1, True), (1, 2, False), (2, 3, False), (1, 3, True)]


def test_a_closed_cell_is_not_asked() -> None:
    compatible = np.ones((4, 4), dtype=bool)
    compatible[0, 2] = compatible[2, 0] = False  # C may not be with A, whose cell B leads
    assert questions([0, 0, 1, 0], compatible) == [(0, 1, True), (2, 3, False), (1, 3, True)]
    assert questions([0, 1, 1, 2], compatible) == [
        (0, 1, False),
        (1, 2, True),
        (2, 3, False),
        (0, 3, False),
    ]


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 9), st.integers(0, 2**32))
def test_the_answers_make_up_the_weight(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, compatible, must = knowledge(n, rng)
    labels = restricted_growth(rng.integers(0, 3, n))
    asked = questions(labels, compatible)
    logs = [math.log(p[i, j] if yes else 1 - p[i, j]) for i, j, yes in asked]
    weight = merger(p, compatible, must).log_weight(labels)
    assert math.fsum(logs) == pytest.approx(weight, abs=1e-9)
    assert all(yes == (labels[i] == labels[j]) for i, j, yes in asked)
    assert all(i < j for i, j, _ in asked)
