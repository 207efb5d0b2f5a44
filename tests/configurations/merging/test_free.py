"""Where no yes can be forbidden: the set of tails against brute force, windows, cells, draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.merging import knowledge, replayed
from oracles.merging_checks import agrees
from partita.configurations.merging import kernels
from partita.configurations.merging.decisions import questions_needed, unconstrained
from partita.configurations.merging.model import is_constrained, merger
from partita.core import Budget
from partita.errors import TooLarge


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 2**32))
def test_equals_brute_force(n: int, reach: int, seed: int) -> None:
    """Also where a template is drawn only to the nearest ones."""
    p, compatible, must = knowledge(n, np.random.default_rng(seed))
    p[np.abs(np.subtract.outer(np.arange(n), np.arange(n))) > reach] = 0.0
    model = merger(p, compatible, must)
    assert not is_constrained(model)
    agrees(unconstrained(model, Budget()), replayed(p, compatible, must))


def test_incompatible_pairs_need_not_bite() -> None:
    """In the paper's Table 1 nobody who is compatible with C may be with A or B before C."""
    p = np.array([[0, 0.7, 0, 0.5], [0.7, 0, 0, 0.8], [0, 0, 0, 0.5], [0.5, 0.8, 0.5, 0]])
    compatible = (p > 0) | np.eye(4, dtype=bool)
    assert not is_constrained(merger(p, compatible, np.eye(4, dtype=bool)))
    p[1, 2] = p[2, 1] = 0.5
    compatible[1, 2] = compatible[2, 1] = True
    assert is_constrained(merger(p, compatible, np.eye(4, dtype=bool)))


def plainly_shared(
    left: np.ndarray, p: np.ndarray, q: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Let a template ask every set of tails: sets without the one joined, chances of being asked.

    `left` is spent. The last figure is the chance that all say no.
    """
    after, asked = np.zeros(len(left)), np.empty(len(p))
    for d in range(len(p)):
        tails = left.reshape(-1, 2, 1 << d)[:, 1]
        asked[d] = tails.sum()
        after.reshape(-1, 2, 1 << d)[:, 0] += tails * p[d]
        tails *= q[d]
    after += left
    return after, asked, float(left.sum())


@pytest.mark.parametrize("bits", [0, 1, 5, 12, 14])
def test_compiled_equals_plain(bits: int) -> None:
    rng = np.random.default_rng(0)
    chances, p = rng.random(1 << bits), rng.random(bits)
    for plain, other in zip(
        plainly_shared(chances.copy(), p, 1 - p),
        kernels.shared(chances.copy(), p, 1 - p),
        strict=True,
    ):
        assert other == pytest.approx(plain, rel=1e-12)


def test_a_large_set() -> None:
    n = 18
    model = merger(*knowledge(n, np.random.default_rng(1)))
    found = unconstrained(model, Budget())
    cells = {cell: share for cell, share in found.cells() if len(cell) <= 2}
    pairs = found.pairs().value
    assert found.starts.sum() == pytest.approx(found.ends.sum(), rel=1e-12)  # one cell each
    assert (pairs[:, :, None] + pairs[None] - pairs[:, None, :] <= 1 + 1e-9).all()
    assert cells[0, 1] <= pairs[0, 1]
    drawn = found.draws(20_000, np.random.default_rng(2))
    met = (drawn[:, :, None] == drawn[:, None, :]).mean(axis=0)
    assert np.abs(met - pairs).max() < 6 * np.sqrt(0.25 / 20_000)
    best = found.best(50)
    assert (np.diff(best.log_weights) <= 1e-12).all()
    assert len({tuple(row) for row in best.labels.tolist()}) == 50
    tried = max(model.log_weight(row) for row in drawn[:500])
    assert tried <= best.log_weights[0] + 1e-9


def test_a_long_set_of_near_relations() -> None:
    """The cost is governed by how far a template is drawn, not by their number."""
    n = 300
    p, compatible, must = knowledge(n, np.random.default_rng(3))
    p[np.abs(np.subtract.outer(np.arange(n), np.arange(n))) > 5] = 0.0
    found = unconstrained(merger(p, compatible, must), Budget(memory=1 << 20))
    head = unconstrained(merger(p[:9, :9], compatible[:9, :9], must[:9, :9]), Budget())
    assert found.pairs().value[:9, :9] == pytest.approx(head.pairs().value, abs=1e-12)
    assert found.best(2).labels.shape == (2, n)


def test_the_best_are_refused_where_their_tables_do_not_fit() -> None:
    model = merger(*knowledge(16, np.random.default_rng(4)))
    with pytest.raises(TooLarge, match="best configurations"):
        unconstrained(model, Budget(memory=1 << 16)).best(3)


@pytest.mark.parametrize(("n", "reach"), [(10, 9), (10, 1), (40, 3), (30, 7)])
def test_the_questions_are_predicted(monkeypatch: pytest.MonkeyPatch, n: int, reach: int) -> None:
    asked: list[float] = []

    def counted(left: np.ndarray, p: np.ndarray, q: np.ndarray) -> object:
        asked.append(len(left) * (1 + len(p) / 2))  # the latest tail, and half of the older ones
        return plainly_shared(left, p, q)

    monkeypatch.setattr(kernels, "shared", counted)
    p, compatible, must = knowledge(n, np.random.default_rng(n))
    p[np.abs(np.subtract.outer(np.arange(n), np.arange(n))) > reach] = 0.0
    model = merger(p, compatible, must)
    unconstrained(model, Budget())
    assert questions_needed(model) == pytest.approx(sum(asked), rel=0.3)


def test_cells_that_are_impossible_are_not_listed() -> None:
    """The second is always drawn to the first, so that no cell ends with the first."""
    p = np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 0.5], [0.5, 0.5, 0.0]])
    known = np.ones((3, 3), dtype=bool)
    cells = dict(unconstrained(merger(p, known, np.eye(3, dtype=bool)), Budget()).cells())
    assert cells == pytest.approx({(0, 1): 0.5, (0, 1, 2): 0.5, (2,): 0.5})
