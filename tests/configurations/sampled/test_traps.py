"""No answer is called converged while it misses a mode; ordinary sets converge, with fair errors.

`make traps` judges a thousand sets of each kind.
"""

from __future__ import annotations

import numpy as np
import pytest

from oracles.traps import ORDINARY, TRAPS, judge

SETS = 4  # of each family


@pytest.mark.parametrize("family", TRAPS)
def test_a_trap_is_never_answered_wrongly(family: str) -> None:
    for seed in range(SETS):
        verdict = judge(TRAPS[family](np.random.default_rng(seed)), 20_000, seed)
        assert not (verdict.converged and verdict.wrong)


@pytest.mark.parametrize("family", ORDINARY)
def test_ordinary_sets_converge_with_errors_that_cover_the_truth(family: str) -> None:
    judged = [
        judge(ORDINARY[family](np.random.default_rng(seed)), 60_000, seed) for seed in range(SETS)
    ]
    assert all(verdict.converged and not verdict.wrong for verdict in judged)
    pairs, covered = (sum(v.pairs for v in judged), sum(v.covered for v in judged))
    assert covered >= 0.93 * pairs
