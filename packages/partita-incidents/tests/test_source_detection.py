"""Facts that sources report or pass over: the model finds what made the reports."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita_incidents.source_detection import (
    balance,
    correlations,
    detect,
    fit,
    independence,
    unusual_pairs,
)

FOUND = np.array([0.8, 0.7, 0.7, 0.6, 0.5, 0.5])
INVENTED = np.array([0.05, 0.1, 0.05, 0.2, 0.3, 0.1])


def reports(rng: np.random.Generator, facts: int = 800):
    holds = rng.random(facts) < 0.3
    rate = np.where(holds[:, None], FOUND, INVENTED)
    return holds, (rng.random(rate.shape) < rate).astype(float)


def test_rates_and_facts_are_found_from_agreement_alone():
    holds, reported = reports(np.random.default_rng(5))
    found = detect(reported, np.ones_like(reported))
    assert found.spread <= 0.5
    assert np.allclose(1 / (1 + np.exp(-found.hit_logits)), FOUND, atol=0.1)
    assert np.allclose(1 / (1 + np.exp(-found.false_logits)), INVENTED, atol=0.1)
    assert np.mean((found.probability > 0.5) == holds) > 0.93


def test_likelihood_is_that_of_brute_force():
    reported = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    found = fit(reported, np.ones_like(reported), 0.0)
    a, b = 1 / (1 + np.exp(-found.hit_logits)), 1 / (1 + np.exp(-found.false_logits))
    either = [
        found.share * np.prod(np.where(row, a, 1 - a))
        + (1 - found.share) * np.prod(np.where(row, b, 1 - b))
        for row in reported
    ]
    assert found.likelihood == pytest.approx(np.log(either).sum(), abs=1e-2)


def test_a_source_that_was_not_asked_changes_nothing():
    _, reported = reports(np.random.default_rng(6), 100)
    asked = np.ones_like(reported)
    more = np.hstack([reported, np.zeros((100, 1))])
    silent = np.hstack([asked, np.zeros((100, 1))])
    one, two = fit(reported, asked, 1.0), fit(more, silent, 1.0)
    assert np.allclose(one.probability, two.probability, atol=1e-2)


@given(st.integers(0, 1000))
@settings(deadline=None, max_examples=20)
def test_as_many_facts_hold_as_trusted_sources_report_and_their_order_stays(seed):
    rng = np.random.default_rng(seed)
    _, reported = reports(rng, 40)
    asked, trust = np.maximum(reported, rng.random(reported.shape) < 0.7), rng.random(6) + 0.1
    before = rng.uniform(0.01, 0.99, 40)
    after = balance(before, reported, asked.astype(float), trust)
    assert (asked @ trust) @ after == pytest.approx((reported @ trust).sum(), rel=1e-4)
    assert (np.argsort(before) == np.argsort(after)).all()


def test_the_one_who_copies_is_noticed_and_counts_less():
    rng = np.random.default_rng(7)
    _, reported = reports(rng)
    copy = np.where(rng.random(len(reported)) < 0.9, reported[:, 1], reported[:, 0])
    reported = np.column_stack([reported, copy])
    found = correlations(reported, np.ones_like(reported))
    assert np.argwhere(np.triu(unusual_pairs(found))).tolist() == [[1, 6]]
    weights = independence(found)
    assert weights[1] == weights[6] < 0.7
    assert (weights[[0, 2, 3, 4, 5]] == 1).all()


def test_ten_pairs_are_enough_to_tell_what_is_unusual():
    """Five sources, of which the first two agree far more than all others."""
    correlation = np.random.default_rng(0).normal(0.1, 0.02, (5, 5))
    correlation += correlation.T
    np.fill_diagonal(correlation, 0.0)
    correlation[0, 1] = correlation[1, 0] = 0.9
    expected = np.zeros((5, 5), dtype=bool)
    expected[0, 1] = expected[1, 0] = True
    assert np.array_equal(unusual_pairs(correlation), expected)
    assert not unusual_pairs(correlation[:4, :4]).any()
