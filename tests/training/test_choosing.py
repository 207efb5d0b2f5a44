"""What a key would teach: against determinants and inverses written out, and the laws of both."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.partitions import partitions
from partita.configurations.merging.model import questions
from partita.core import FloatArray
from partita.training import label_choice as choosing_greedy
from partita.training.label_choice import (
    KeyInformation,
    OpenPairs,
    choose,
    expected_saving,
    key_information,
    probabilities,
    question_probabilities,
    total_information,
    update_inverse,
)

FEATURES = 5
PRECISION = 0.7
seeds = st.integers(0, 10**6)


def some(rng: np.random.Generator, rows: int = 4) -> KeyInformation:
    return KeyInformation(rng.normal(size=(rows, FEATURES)), int(rng.integers(2, 40)))


def held_by(sets: list[KeyInformation]) -> FloatArray:
    """A, written out."""
    return PRECISION * np.eye(FEATURES) + total_information(sets, FEATURES)


@settings(deadline=None, max_examples=40)
@given(seeds)
def test_against_determinant_and_inverse(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = some(rng), some(rng, 7)
    target = some(rng).information
    inverse = update_inverse(np.eye(FEATURES) / PRECISION, first)
    np.testing.assert_allclose(inverse, np.linalg.inv(held_by([first])), atol=1e-10)
    after = np.linalg.inv(held_by([first, second]))
    less = np.trace((inverse - after) @ target) / 2 / math.log(2)
    found = expected_saving(inverse, second, inverse @ target @ inverse)
    assert found == pytest.approx(float(less), abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(seeds)
def test_gains_are_never_negative_and_grow_with_the_set(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inverse, one, other = np.eye(FEATURES) / PRECISION, some(rng), some(rng)
    part = KeyInformation(one.rows[:2])
    spread = inverse @ other.information @ inverse
    assert (
        0 <= expected_saving(inverse, part, spread) <= expected_saving(inverse, one, spread) + 1e-12
    )


def by_search(sets: list[KeyInformation], keyed: list[int], count: int) -> list[tuple[int, float]]:
    """One after another, with everything written out each time."""
    target, found, chosen = total_information(sets, FEATURES), [], list(keyed)
    for _ in range(count):
        before = np.linalg.inv(held_by([sets[n] for n in chosen]))
        worth = {}
        for n in set(range(len(sets))) - set(chosen):
            after = np.linalg.inv(held_by([sets[k] for k in (*chosen, n)]))
            less = float(np.trace((before - after) @ target)) / 2 / math.log(2)
            worth[n] = less / max(1, sets[n].templates / 10)
        best = max(sorted(worth), key=worth.__getitem__, default=None)
        if best is None or worth[best] < 1e-9:
            break
        found.append((best, worth[best]))
        chosen.append(best)
    return found


@settings(deadline=None, max_examples=25)
@given(seeds, st.integers(0, 3))
def test_choices_are_those_of_a_full_search(seed: int, keyed: int) -> None:
    rng = np.random.default_rng(seed)
    sets = [some(rng, int(rng.integers(0, 4))) for _ in range(8)]
    expected = by_search(sets, list(range(keyed)), 5)
    found = choose(sets, range(keyed), PRECISION, 5)
    assert [place for place, _ in found] == [place for place, _ in expected]
    np.testing.assert_allclose([g for _, g in found], [g for _, g in expected], atol=1e-9)


def test_beyond_the_shortlist_gains_are_those_of_the_first_look(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choosing_greedy, "EXACT_CHOICES", 2)
    monkeypatch.setattr(choosing_greedy, "SHORTLIST", 3)
    rng = np.random.default_rng(5)
    sets = [some(rng) for _ in range(9)]
    found = choose(sets, (), PRECISION, 9)
    assert sorted(place for place, _ in found) == list(range(9))
    assert found[0] == choose(sets, (), PRECISION, 1)[0]
    assert choose([], (), PRECISION, 3) == []


def test_a_set_like_another_comes_later_and_a_certain_one_not_at_all() -> None:
    codes = np.array([[0, 1], [0, 1], [0, 0]], dtype=np.uint8)
    pairs = OpenPairs(codes, np.array([0, 0, 1]), np.array([1, 2, 2]), 3)
    other = OpenPairs(np.array([[0, 2]], dtype=np.uint8), np.array([0]), np.array([1]), 2)
    weights = np.array([0.0, 0.0, 0.0, 0.0])
    found = choose(key_information([pairs, pairs, other], weights, (1, 3)), (), 1.0, 3)
    assert [place for place, _ in found].index(1) > [place for place, _ in found].index(0)
    assert found[0][1] > found[1][1] > found[2][1] > 0
    certain = key_information([pairs, other], np.array([800.0, 0.0, 0.0, 0.0]), (1, 3))
    assert choose(certain, (), 1.0, 3) == []


def every_answer(p: FloatArray, n: int) -> tuple[FloatArray, float]:
    """The chance of every pair to be asked, and the entropy, over all configurations."""
    chance, bits, compatible = np.zeros((n, n)), 0.0, np.ones((n, n), dtype=np.bool_)
    for labels in partitions(n):
        path = questions(labels, compatible)
        answers = [p[s, t] if yes else 1 - p[s, t] for s, t, yes in path]
        for s, t, _ in path:
            chance[s, t] += math.prod(answers)
        bits -= math.prod(answers) * math.log2(math.prod(answers))
    return chance, bits


def test_the_merger_is_asked_as_often_as_all_its_ways_say() -> None:
    """Exactly for three templates, of which none is asked in two ways."""
    p = np.zeros((3, 3))
    left, right = np.triu_indices(3, 1)
    p[left, right] = 0.3, 0.6, 0.2
    weights = np.log(p[left, right] / (1 - p[left, right]))
    codes = np.arange(3, dtype=np.uint8)[:, None]
    given = OpenPairs(codes, left, right, 3)
    chance, bits = every_answer(p, 3)
    np.testing.assert_allclose(
        question_probabilities(given, p[left, right]), chance[left, right], atol=1e-12
    )
    each = [-q * math.log2(q) - (1 - q) * math.log2(1 - q) for q in p[left, right]]
    found = question_probabilities(given, probabilities(given, weights, (3,))) @ each
    assert found == pytest.approx(bits, abs=1e-9)


@settings(deadline=None, max_examples=20)
@given(seeds)
def test_of_more_templates_it_is_right_to_first_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = np.triu(rng.random((5, 5)) * 0.05, 1)
    left, right = np.triu_indices(5, 1)
    found = question_probabilities(
        OpenPairs(np.zeros((10, 1), dtype=np.uint8), left, right, 5), p[left, right]
    )
    np.testing.assert_allclose(found, every_answer(p, 5)[0][left, right], atol=0.03)


def test_what_pairs_tell_written_out() -> None:
    """Two neighbours at p = ½, and one beyond that is asked in one of four cases."""
    codes = np.array([[0, 1], [0, 0], [0, 1]], dtype=np.uint8)
    given = OpenPairs(codes, np.array([0, 0, 1]), np.array([1, 2, 2]), 3)
    (found,) = key_information([given], np.zeros(3), (1, 2))
    expected = 2 * 0.25 * np.outer([1, 0, 1], [1, 0, 1])
    expected = expected + 0.25 * 0.25 * np.outer([1, 1, 0], [1, 1, 0])
    np.testing.assert_allclose(found.information, expected, atol=1e-12)
    assert found.templates == 3


def test_many_pairs_are_kept_in_as_many_rows_as_features() -> None:
    rng = np.random.default_rng(3)
    left, right = np.triu_indices(12, 1)
    codes = rng.integers(0, 3, (66, 3)).astype(np.uint8)
    whole = OpenPairs(codes, left, right, 12)
    weights = rng.normal(size=9)
    (found,) = key_information([whole], weights, (3, 3, 3))
    assert found.rows.shape == (9, 9)
    table = np.zeros((66, 9))
    table[np.arange(66)[:, None], codes + np.array([0, 3, 6])] = 1
    p = 1 / (1 + np.exp(-table @ weights))
    variance = question_probabilities(whole, p) * p * (1 - p)
    np.testing.assert_allclose(found.information, table.T @ (table * variance[:, None]), atol=1e-9)


def test_holding_is_holding_one_after_another() -> None:
    rng = np.random.default_rng(4)
    sets = [some(rng) for _ in range(3)]
    inverse = np.eye(FEATURES) / PRECISION
    for one in sets:
        inverse = update_inverse(inverse, one)
    np.testing.assert_allclose(np.linalg.inv(held_by(sets)), inverse, atol=1e-9)
