"""The order in which rules take a pool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from partita.core import FloatArray
from partita.training.label_choice import OpenPairs
from research.label_study import RULES, Pool, choose_by_rule, entropy, refit_due

SIZES = (1, 4)


def sets(seed: int) -> list[OpenPairs]:
    rng = np.random.default_rng(seed)
    found = []
    for n in rng.permutation(np.arange(2, 10)).tolist():
        left, right = np.triu_indices(n, 1)
        codes = np.column_stack([np.zeros(len(left)), rng.integers(0, 4, len(left))])
        found.append(OpenPairs(codes.astype(np.uint8), left, right, n))
    return found


def learn(chosen: Sequence[int]) -> FloatArray:
    return np.linspace(-1, 1, 5) * len(chosen) / 8


POOL = Pool(sets(1), SIZES, 1.0, learn)


def order(rule: str, seed: int = 0, count: int = 8) -> list[int]:
    rng = np.random.default_rng(seed)
    return choose_by_rule(rule, POOL, [3, 5], lambda chosen: len(chosen) >= count, rng)


@pytest.mark.parametrize("rule", RULES)
def test_every_set_once_after_the_first_ones(rule: str) -> None:
    found = order(rule)
    assert found[:2] == [3, 5]
    assert sorted(found) == list(range(8))
    assert order(rule, count=4) == found[:4]
    assert order(rule) == found


def test_each_rule_does_what_it_is_called() -> None:
    sizes = [one.templates for one in POOL.sets]
    longest = [sizes[n] for n in order("longest")[2:]]
    assert longest == sorted(longest, reverse=True)
    assert order("random", 1) != order("random", 2)
    worth = [entropy(one, learn([3, 5]), SIZES) for one in POOL.sets]
    left = [n for n in range(8) if n not in (3, 5)]
    assert order("entropy")[2] == max(left, key=worth.__getitem__)
    each = [bits / size for bits, size in zip(worth, sizes, strict=True)]
    assert order("entropy per template")[2] == max(left, key=each.__getitem__)


def test_weights_are_learned_anew_less_and_less_often() -> None:
    assert [n for n in range(40) if refit_due(n)] == [
        *range(11),
        12,
        14,
        16,
        18,
        20,
        *range(24, 40, 4),
    ]
