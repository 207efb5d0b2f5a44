"""Train the network that judges mentions once more, from what the linear models find."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core import IntArray
from partita.text.mention_network import (
    POSITIONS,
    WITH_VECTORS,
    Inputs,
    MentionNetwork,
    Single,
    Tagset,
    block_starts,
    halved,
    hypernyms_of,
    inputs_for,
    logs_of,
    softmax,
)
from partita.text.words import shipped_words

VECTORS = shipped_words().vectors.shape[1] * len(WITH_VECTORS)  # numbers that are of vectors


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """Settings of the training of the network, chosen on genres that it does not learn from."""

    units: int = 64
    passes: int = 4
    batch: int = 256
    rate: float = 0.003
    decay: float = 0.02
    words_dropped: float = 0.4
    dropped: float = 0.1  # of tags, labels, states and vectors
    hypernyms_dropped: float = 0.2
    units_dropped: float = 0.5
    least: int = 15  # times that a frequent word occurs
    most: int = 3000  # such words
    least_below: int = 20  # words below a sense that has a row


class Lessons(NamedTuple):
    """What the network sees of candidates, and the right classes; `ends` are those of `more`."""

    rows: IntArray
    more: IntArray
    ends: IntArray
    numbers: Single
    right: IntArray


def lessons(parts: Iterable[tuple[Inputs, IntArray]]) -> Lessons:
    """Return inputs of several texts with the right classes as one."""
    inputs, right = zip(*parts, strict=True)
    counts = [np.bincount(one.owners, minlength=len(one.rows)) for one in inputs]
    return Lessons(
        np.concatenate([one.rows for one in inputs]), np.concatenate([one.more for one in inputs]),
        np.cumsum(np.concatenate(counts)), np.concatenate([one.numbers for one in inputs]),
        np.concatenate(right),
    )  # fmt: skip


def blank_network(
    texts: Iterable[Sequence[str]], tagset: Tagset, classes: int, settings: NetworkSettings
) -> MentionNetwork:
    """Return a network that knows nothing yet, with rows for frequent words and hypernyms."""
    counts = Counter(word.lower() for text in texts for word in text)
    ranked = sorted(counts, key=lambda word: (-counts[word], word))[: settings.most]
    words = tuple(word for word in ranked if counts[word] >= settings.least)
    below = Counter(above for word in shipped_words().words for above in hypernyms_of(word))
    hypernyms = np.array(sorted(n for n, times in below.items() if times >= settings.least_below))
    rows = int(block_starts(len(words), tagset)[-1]) + len(hypernyms)
    numbers, units = inputs_for(classes), settings.units
    return MentionNetwork(
        words, hypernyms, tagset, np.zeros((rows, units), np.int8), np.ones(units, np.float32),
        np.zeros((numbers, units), np.float32), np.zeros(units, np.float32),
        np.zeros((units + 1, classes), np.float32), np.eye(2 * classes, classes, dtype=np.float32),
    )  # fmt: skip


class Weights(NamedTuple):
    """The weights of a network in training, or their gradients."""

    table: Single
    dense: Single
    bias: Single
    out: Single
    skip: Single


def train_network(
    network: MentionNetwork, data: Lessons, seed: int, settings: NetworkSettings
) -> MentionNetwork:
    """Return the network trained by AdamW; the same data and seed give the same bytes."""
    from research.analyser_kernels import adam_step

    rng = np.random.default_rng(seed)
    weights = drawn_weights(network, rng)
    slopes, means, squares = ([np.zeros_like(each) for each in weights] for _ in range(3))
    batches = -(-len(data.right) // settings.batch)
    steps = settings.passes * batches
    for step in range(steps):
        if step % batches == 0:
            order = rng.permutation(len(data.right))
        chosen = order[step % batches * settings.batch :][: settings.batch]
        gradient(weights, Weights(*slopes), data, chosen, settings, rng)
        rate = settings.rate * (1 + np.cos(np.pi * step / steps)) / 2
        for each, slope, mean, square in zip(weights, slopes, means, squares, strict=True):
            flat = [array.reshape(-1) for array in (each, slope, mean, square)]
            adam_step(flat[0], flat[1], flat[2], flat[3], step + 1, rate, settings.decay)
    table, unit = whole_numbers(weights.table)
    return replace(
        network,
        table=table,
        steps=unit,
        dense=halved(weights.dense),
        bias=halved(weights.bias),
        out=halved(weights.out),
        skip=halved(weights.skip),
    )


def drawn_weights(network: MentionNetwork, rng: np.random.Generator) -> Weights:
    """Return random weights; at first the scores are nearly those of the linear models."""

    def normal(scale: float, like: NDArray[np.generic]) -> Single:
        return rng.normal(0, scale, like.shape).astype(np.float32)

    scale = 0.3 * len(network.dense) ** -0.5
    return Weights(
        normal(0.02, network.table), normal(scale, network.dense), network.bias.copy(),
        normal(0.02, network.out), network.skip.copy(),
    )  # fmt: skip


def whole_numbers(weights: Single) -> tuple[NDArray[np.int8], Single]:
    """Return weights as integers from -127 to 127, and the weight of 1 in each column."""
    steps = np.maximum(np.abs(weights).max(axis=0) / np.float32(127), np.float32(1e-9))
    return np.rint(weights / steps).astype(np.int8), steps


def gradient(
    weights: Weights, slopes: Weights, data: Lessons, chosen: IntArray,
    settings: NetworkSettings, rng: np.random.Generator,
) -> None:  # fmt: skip
    """Write the mean gradient of −log P(right class) of some lessons, some inputs left out."""
    from research.analyser_kernels import add_rows, spread_rows

    count, units = len(chosen), settings.units
    kept = _kept(rng, (count, data.rows.shape[1]), _row_drops(data.rows.shape[1], settings))
    own = _kept(rng, (count, 1), settings.hypernyms_dropped)[:, 0]
    numbers = data.numbers[chosen]
    plain = numbers.shape[1] - VECTORS
    seen = _kept(rng, (count, len(WITH_VECTORS)), settings.dropped)
    seen = (
        np.hstack(
            [
                np.ones((count, plain), np.float32),
                np.repeat(seen, VECTORS // len(WITH_VECTORS), axis=1),
            ]
        )
        * numbers
    )
    hidden = seen @ weights.dense + weights.bias
    ends = data.ends[chosen]
    starts = np.where(chosen > 0, data.ends[chosen - 1], 0)
    rows = data.rows[chosen]
    add_rows(weights.table, rows, kept, data.more, starts, ends, own, hidden)
    slope = np.where(hidden > 0, 1, 0.1).astype(np.float32)
    slope *= _kept(rng, (count, units), settings.units_dropped)
    active = hidden * slope
    logs = logs_of(numbers, len(weights.skip))
    scores = active @ weights.out[:-1] + weights.out[-1] + logs @ weights.skip
    excess = softmax(scores).astype(np.float32)
    excess[np.arange(count), data.right[chosen]] -= 1
    excess /= count
    slopes.out[:-1], slopes.out[-1] = active.T @ excess, excess.sum(axis=0)
    slopes.skip[:] = logs.T @ excess
    back = (excess @ weights.out[:-1].T) * slope
    slopes.dense[:], slopes.bias[:] = seen.T @ back, back.sum(axis=0)
    slopes.table[:] = 0
    spread_rows(slopes.table, rows, kept, data.more, starts, ends, own, back)


def _row_drops(columns: int, settings: NetworkSettings) -> Single:
    drops = np.full(columns, settings.dropped, np.float32)
    drops[:POSITIONS] = settings.words_dropped
    return drops


def _kept(rng: np.random.Generator, shape: tuple[int, int], drops: float | Single) -> Single:
    """Return 0 for what is left out, and for the others what makes up for it."""
    chances = rng.random(shape, dtype=np.float32)
    return (chances >= drops).astype(np.float32) / np.float32(1 - np.asarray(drops))
