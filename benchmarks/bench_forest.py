"""The forest model on large sets: normaliser, log P of a key and 1,000 exact draws."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import numpy as np

from naive import naive_seconds
from partita.configurations.forest.model import ForestParameters, ForestScores, Graph, weigh
from partita.configurations.forest.network import ForestNetwork
from partita.core import IntArray

Ratio = Callable[..., None]
DRAWS = 1000
CHUNK = 100  # draws that are held at a time


def blocky(
    n: int, pairs: int, block: int, rng: np.random.Generator, random: float = 0.02
) -> tuple[Graph, IntArray]:
    """Templates in blocks that hold several clusters; a share of the pairs are between any two."""
    key = np.arange(n) // block * block + rng.integers(0, max(1, block // 4), n)
    left = rng.integers(0, n, 3 * pairs)
    right = np.minimum(left // block * block + rng.integers(0, block, len(left)), n - 1)
    inside, across = int(pairs * (1.0 - random)), rng.integers(0, n, (int(pairs * random), 2))
    ends = np.sort(np.stack([left, right], axis=1), axis=1)
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    ends = np.concatenate([rng.permutation(ends)[:inside], np.sort(across, axis=1)])
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    near = key[ends[:, 0]] == key[ends[:, 1]]
    far = ends[:, 0] // block != ends[:, 1] // block
    theta = rng.normal(np.where(near, 2.0, np.where(far, -5.0, -3.0)), 1.5)
    none = np.zeros((0, 2), dtype=np.int64)
    scores = ForestScores(np.arange(n), ends[:, 0], ends[:, 1], theta, none, complete=False)
    return weigh(scores, ForestParameters()), np.unique(key, return_inverse=True)[1]


def answer(graph: Graph, key: IntArray, draws: int) -> tuple[float, float]:
    """Return the seconds of the processor, and the log-probability of the key."""
    start = time.process_time()
    network, rng = ForestNetwork(graph), np.random.default_rng(0)
    log = network.log_weight(key) - network.log_normaliser
    for _ in range(0, draws, CHUNK):
        network.draws(CHUNK, rng)
    return time.process_time() - start, log


def test_five_thousand_templates(ratio: Ratio) -> None:
    answer(*blocky(300, 2000, 50, np.random.default_rng(1)), CHUNK)  # compiles
    took, log = answer(*blocky(5000, 50_000, 50, np.random.default_rng(0)), DRAWS)
    assert np.isfinite(log)
    what = "forest, n = 5,000, 50,000 pairs: normaliser, log P of a key, 1,000 draws"
    ratio(what, took / naive_seconds(11, time.process_time), "naive n = 11", 10)


def test_hundred_thousand_templates(ratio: Ratio) -> None:
    graph, key = blocky(100_000, 1_000_000, 50, np.random.default_rng(0), random=0.0005)
    took, log = answer(graph, key, CHUNK)
    assert np.isfinite(log)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    what = "forest, n = 100,000, 1,000,000 pairs in blocks: memory in GB"
    ratio(what, memory, "", 2)
    ratio(
        "the same: normaliser, log P of a key, 100 draws",
        took / naive_seconds(11, time.process_time),
        "naive n = 11",
    )
    assert memory <= 2.0
