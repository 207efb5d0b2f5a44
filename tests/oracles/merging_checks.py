"""Random sets for merging decisions, and a posterior beside the weights of an oracle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from oracles.merging import knowledge, normalised
from oracles.partitions import cell_marginals, entropy_bits, pair_marginals
from partita.core import Posterior


@st.composite
def sets(draw: st.DrawFn, largest: int = 7) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = draw(st.integers(1, largest))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    holes = draw(st.sampled_from([0.0, 0.1, 0.3, 0.6, 0.95]))
    return knowledge(n, rng, holes, draw(st.integers(0, 3)), draw(st.booleans()))


def agrees(posterior: Posterior, weights: dict[tuple[int, ...], float]) -> None:
    """Every question of an exact posterior is answered as the oracle's weights say."""
    n, expected = posterior.size, normalised(weights)
    total = math.log(math.fsum(weights.values()))
    assert posterior.method == "exact"
    assert posterior.log_normaliser.value == pytest.approx(total, abs=1e-9)
    assert posterior.entropy().value == pytest.approx(entropy_bits(expected), abs=1e-9)
    assert posterior.pairs().value == pytest.approx(pair_marginals(expected, n), abs=1e-9)
    best = posterior.best(len(weights) + 1)
    assert sorted(map(tuple, best.labels.tolist())) == sorted(weights)
    assert best.gap == 0
    assert (np.diff(best.log_weights) <= 1e-12).all()
    for row, weight in zip(best.labels, best.log_weights, strict=True):
        assert weight == pytest.approx(math.log(weights[tuple(row.tolist())]), abs=1e-9)
        assert posterior.log_weight(row) == pytest.approx(weight, abs=1e-9)
    cells = {cell: share for cell, share in posterior.cells() if share > 0}
    assert cells == pytest.approx(cell_marginals(expected), abs=1e-9)
