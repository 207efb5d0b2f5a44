"""Scores that are similarities are recognised by themselves, and calibrated ones never taken so."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

import partita
from partita.linkage.similarities import SIMILARITIES, look_like_similarities

Scores = list[tuple[str, str, float]]


def similarities(seed: int, entities: int = 120) -> Scores:
    """Return the similarities of the eight nearest of invented records."""
    rng, scores = np.random.default_rng(seed), {}
    names = [f"e{k}r{n}" for k in range(entities) for n in range(1 + k % 2)]
    own = [name.split("r")[0] for name in names]
    true = {(a, b) for (a, i), (b, j) in combinations(zip(names, own, strict=True), 2) if i == j}
    for one in range(len(names)):
        for other in rng.choice(len(names), 8, replace=False).tolist():
            if other != one:
                low, high = sorted((names[one], names[other]))
                scores[low, high] = float(rng.uniform(0.15, 0.6))
    for pair in true:
        scores[pair] = float(rng.uniform(0.65, 0.9))
    return [(*pair, score) for pair, score in scores.items()]


def calibrated(seed: int, spread: float, least: float, entities: int) -> Scores:
    """Return the true probabilities of pairs by a noisy sign of each, in blocks of 12 records."""
    rng, scores = np.random.default_rng(seed), []
    for block in range(30):
        entity = rng.integers(entities, size=12)
        for a, b in combinations(range(12), 2):
            sign = rng.normal() + spread * (entity[a] == entity[b])
            odds = spread * sign - spread**2 / 2 - np.log(entities - 1)
            scores.append((f"b{block}r{a}", f"b{block}r{b}", float(1 / (1 + np.exp(-odds)))))
    return [row for row in scores if row[2] > least]


def clustered(scores: Scores, assume: Sequence[str] = ()) -> tuple[partita.Clusters, list[str]]:
    notes: list[str] = []
    return partita.cluster(scores, note=notes.append, assume=assume), notes


@pytest.mark.parametrize("seed", range(3))
def test_similarities_are_noted_unless_more_is_known(seed: int) -> None:
    scores = similarities(seed)
    assert clustered(scores)[1] == [SIMILARITIES]
    assert clustered(scores, assume=[f"{scores[0][0]}!={scores[0][1]}"])[1] == []


@pytest.mark.parametrize("entities", [4, 8])
@pytest.mark.parametrize("least", [0.0, 0.2])
@pytest.mark.parametrize("spread", [1.0, 2.0, 3.0])
def test_calibrated_scores_count_as_they_are_however_flat(
    spread: float, least: float, entities: int
) -> None:
    found, notes = clustered(calibrated(1, spread, least, entities))
    assert notes == []
    assert found.summary.parameters is not None
    assert found.summary.parameters["scale"] == 1.0
    assert found.summary.parameters["bias"] == 0.0


def test_few_and_bimodal_scores_are_no_similarities() -> None:
    unsure = np.full(99, 0.5)
    assert not look_like_similarities(unsure, unsure / 10)
    unsure = np.full(100, 0.5)
    assert look_like_similarities(unsure, unsure / 10)
    sure = np.tile([0.01, 0.99], 50)
    assert not look_like_similarities(sure, sure / 10)
    assert not look_like_similarities(np.tile([0.01, 0.5], 100), np.full(200, 0.01))
