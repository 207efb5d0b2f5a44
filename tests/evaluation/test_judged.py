"""A report against keys: what all keys together are given is 1, and what is known is exact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.configurations.exact.listed import partitions
from partita.core import FloatArray, IntArray
from partita.evaluation.rows import ReportedAnswer, measure_report, possible_links
from partita.evaluation.splits import Excluded

EXCLUDED = Excluded(0.01, 0.02)


def answer(
    n: int, listed: int, seed: int, known: bool = False
) -> tuple[ReportedAnswer, FloatArray]:
    """A random product distribution over n templates, of which the best are listed; two of them
    may be known to differ. Also the probabilities of all partitions."""
    rng = np.random.default_rng(seed)
    theta = np.triu(rng.normal(size=(n, n)), 1)
    theta += theta.T
    possible, rows = np.ones((n, n), dtype=np.bool_), partitions(n)
    if known:
        possible[0, 1] = possible[1, 0] = False
    joined = rows[:, :, None] == rows[:, None, :]
    weights = np.exp((joined * np.triu(theta, 1)).sum(axis=(1, 2)))
    weights[(joined & ~possible).any(axis=(1, 2))] = 0.0
    shares = weights / weights.sum()
    order = np.argsort(-shares, kind="stable")[:listed]
    left = int((shares > 0).sum()) - len(order)
    told = ReportedAnswer(
        np.arange(n),
        rows[order],
        shares[order],
        float(1 - shares[order].sum()),
        math.log2(max(left, 1)),
        np.tensordot(shares, joined.astype(float), 1),
        possible,
        np.zeros((n, n), dtype=np.bool_),
        theta,
        float(np.log(weights.sum())),
    )
    return told, shares


def spent(told: ReportedAnswer, key: IntArray) -> tuple[float, float]:
    found = measure_report("m", key, [told], EXCLUDED).sets[0]
    return found.bits, found.reported_bits


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 5), st.integers(1, 6), st.integers(0, 2**32), st.booleans())
def test_what_all_keys_are_given_is_one(n: int, listed: int, seed: int, known: bool) -> None:
    told, shares = answer(n, min(listed, 1 if n == 2 and known else listed), seed, known)
    if told.rest < 1e-6:
        return
    costs = [spent(told, key) for key in partitions(n)]
    assert sum(2**-bits for bits, _ in costs) == pytest.approx(1.0, abs=1e-6)
    assert sum(2**-bits for _, bits in costs) == pytest.approx(1.0, abs=1e-6)
    kept = 0.99 if known else 1.0
    for share, (bits, _) in zip(shares, costs, strict=True):
        if share > 0:
            assert 2**-bits == pytest.approx(share * kept, rel=1e-9)


def test_a_listed_key_and_its_place() -> None:
    told, shares = answer(4, 3, 5)
    found = measure_report("m", told.rows[1], [told], EXCLUDED)
    assert (found.sets[0].found, found.sets[0].right) == (1, False)
    assert found.sets[0].reported_bits == pytest.approx(-math.log2(np.sort(shares)[-2]))
    assert measure_report("m", told.rows[0], [told], EXCLUDED).scores.conll == pytest.approx(
        1.0, abs=1 / 3
    )


def test_of_some_members_configurations_that_are_alike_are_one() -> None:
    told, shares = answer(4, 15, 9)
    part = told.among(np.array([0, 2]), np.array([1, 0]))
    assert part.members.tolist() == [1, 0]
    assert len(part.rows) == 2
    rows = partitions(4)
    together = float(shares[rows[:, 0] == rows[:, 2]].sum())
    assert dict(zip(map(tuple, part.rows.tolist()), part.probabilities.tolist(), strict=True)) == {
        (0, 0): pytest.approx(together),
        (0, 1): pytest.approx(1 - together),
    }
    assert told.among(np.arange(4), np.arange(4)).theta is not None


def test_links_between_sets_have_a_price() -> None:
    left, right = answer(2, 2, 1)[0], answer(2, 2, 2)[0].among(np.arange(2), np.array([2, 3]))
    apart = measure_report("m", np.array([0, 0, 1, 1]), [left, right], EXCLUDED)
    assert apart.bits == pytest.approx(sum(s.bits for s in apart.sets) - math.log2(0.98))
    crossing = measure_report("m", np.array([0, 1, 0, 2]), [left, right], EXCLUDED)
    # 15 partitions of 4 templates, of which 2 · 2 do not cross
    assert crossing.bits == pytest.approx(math.log2(11) - math.log2(0.02))
    assert possible_links(np.array([0, 0, 0, 1]), [left, right]) == (3, 1)


def test_what_must_be_together_and_is_not() -> None:
    told, _ = answer(3, 1, 3)
    needed = np.zeros((3, 3), dtype=np.bool_)
    needed[0, 1] = needed[1, 0] = True
    certain = ReportedAnswer(np.arange(3), np.array([[0, 0, 0]]), np.array([0.9]), 0.1, 0.0,
                     told.marginals, told.possible, needed)  # fmt: skip
    assert spent(certain, np.array([0, 1, 1]))[0] == pytest.approx(math.log2(3) - math.log2(0.01))
