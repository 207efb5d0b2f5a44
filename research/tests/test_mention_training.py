"""The training of the network that judges mentions: its gradient, its result, the same bytes."""

from __future__ import annotations

import numpy as np

from partita.text.mention_network import Inputs, MentionNetwork, Tagset, logs_of, softmax
from research.mention_training import (
    Lessons,
    NetworkSettings,
    Weights,
    blank_network,
    drawn_weights,
    gradient,
    lessons,
    train_network,
    whole_numbers,
)

NOTHING_DROPPED = NetworkSettings(
    units=3, batch=8, words_dropped=0, dropped=0, hypernyms_dropped=0, units_dropped=0, least=1
)
TAGSET = Tagset.of(("NN|NOUN", "PRP|PRON"), ("nsubj", "obj"))
CLASSES = 3


def toy(count: int, chosen: NetworkSettings = NOTHING_DROPPED) -> tuple[MentionNetwork, Lessons]:
    """Candidates with random inputs whose class follows from one of their rows."""
    rng = np.random.default_rng(1)
    network = blank_network([["a", "dog"]], TAGSET, CLASSES, chosen)
    columns, numbers = 74, len(network.dense)
    rows = rng.integers(0, 6, (count, columns))
    right = rows[:, 0] % CLASSES
    owners = np.sort(rng.integers(0, count, 2 * count))
    inputs = Inputs(
        rows, rng.integers(0, 9, len(owners)), owners,
        rng.random((count, numbers), dtype=np.float32),
    )  # fmt: skip
    return network, lessons([(inputs, right)])


def loss(weights: Weights, data: Lessons) -> float:
    """The mean of −log P(right class), from the definition."""
    total = 0.0
    starts = [0, *data.ends.tolist()]
    for n, right in enumerate(data.right.tolist()):
        rows = [*data.rows[n], *data.more[starts[n] : starts[n + 1]]]
        hidden = weights.table[rows].sum(axis=0) + data.numbers[n] @ weights.dense + weights.bias
        logs = logs_of(data.numbers[n : n + 1], len(weights.skip))[0]
        scores = np.maximum(hidden, hidden / 10) @ weights.out[:-1] + weights.out[-1]
        scores = scores + logs @ weights.skip
        total -= float(np.log(softmax(scores[None])[0, right]))
    return total / len(data.right)


def test_the_gradient_is_that_of_the_loss() -> None:
    network, data = toy(6)
    rng = np.random.default_rng(2)
    weights = drawn_weights(network, rng)
    slopes = Weights(*(np.zeros_like(each) for each in weights))
    gradient(weights, slopes, data, np.arange(6), NOTHING_DROPPED, rng)
    wide = Weights(*(each.astype(np.float64) for each in weights))
    for array, slope in zip(wide, slopes, strict=True):
        flat, flat_slope = array.reshape(-1), slope.reshape(-1)
        order = np.argsort(-np.abs(flat_slope))[:4]
        for place in [*order, 0]:
            kept = flat[place]
            sides = []
            for step in (1e-4, -1e-4):
                flat[place] = kept + step
                sides.append(loss(wide, data))
            flat[place] = kept
            assert abs((sides[0] - sides[1]) / 2e-4 - flat_slope[place]) < 2e-3


def test_what_decides_is_learned_to_the_same_bytes() -> None:
    settings = NetworkSettings(units=8, batch=8, passes=40, rate=0.01, least=1)
    network, data = toy(60, settings)
    first, second = (train_network(network, data, 0, settings) for _ in range(2))
    for name in ("table", "steps", "dense", "bias", "out", "skip"):
        assert np.array_equal(getattr(first, name), getattr(second, name))
    counts = np.diff([0, *data.ends])
    owners = np.repeat(np.arange(len(counts)), counts)
    scores = first.scores(Inputs(data.rows, data.more, owners, data.numbers))
    assert (scores.argmax(axis=1) == data.right).mean() > 0.9
    untaught = network.scores(Inputs(data.rows, data.more, owners, data.numbers))
    assert (untaught.argmax(axis=1) == data.right).mean() < 0.6


def test_whole_numbers_are_near_the_weights() -> None:
    weights = np.random.default_rng(0).normal(0, 1, (50, 4)).astype(np.float32)
    numbers, steps = whole_numbers(weights)
    assert np.abs(numbers * steps - weights).max() <= steps.max() / 2 * 1.001
