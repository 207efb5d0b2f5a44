"""Choose the method that answers a connected set."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from partita.configurations.exact.posterior import exact
from partita.configurations.exact.tables import LARGEST, predicted_bytes, predicted_seconds
from partita.configurations.meters import in_bytes
from partita.configurations.product_posterior import Engine
from partita.core import Budget, Figure, FloatArray, Posterior
from partita.errors import TooLarge

WIDTH = 0.5  # of a certified log-normaliser: a wider one is less informative than samples
INFERENCE = 0.65  # the share of the time before listing the best and counting
FIRST = 0.5  # the share of the time that the certified method gets
INTERPRETER = 200_000_000  # bytes that Python, numpy and compiled code take
PLANNED = 0.002  # seconds that the search for an order of elimination takes at least
NANO = 1e-9  # seconds that one operation of an elimination takes, about

Progress = Callable[[str], None]


def engine_for(budget: Budget, seed: int, method: str, progress: Progress | None) -> Engine:
    """Return an engine from θ of a connected set to its posterior.

    All calls together have the budget's seconds.

    With a budget of work the clock is not read: the same input gives the same bytes.
    """
    end = time.monotonic() + INFERENCE * budget.seconds

    def left(share: float) -> Budget:
        seconds = max(0.01, share * (end - time.monotonic()))
        return replace(budget, seconds=seconds) if budget.work is None else budget

    def engine(theta: FloatArray, share: float) -> Posterior:
        if method == "certified":
            return _certified(theta, left(share), progress)
        if method == "sampled":
            return _sampled(theta, left(share), seed, progress)
        whole = replace(budget, seconds=share * INFERENCE * budget.seconds)
        exact = _exact(theta, whole, needed=method == "exact")
        return exact or _beyond(theta, left(share), seed, progress)

    return engine


def _exact(theta: FloatArray, budget: Budget, needed: bool) -> Posterior | None:
    """Solve by the cheaper of the two exact recursions, if it fits; raise where it is `needed`.

    The structure decides, by predictions for an idle machine, and not the clock.
    """
    n = len(theta)
    if predicted_seconds(n) <= PLANNED:
        return exact(theta, budget)
    room = max(0, budget.memory - INTERPRETER)
    dense_bytes = predicted_bytes(n) if n <= LARGEST else math.inf
    dense = predicted_seconds(n) if dense_bytes <= room else math.inf
    allowed = math.inf if needed else budget.seconds
    if dense < math.inf and dense <= allowed and np.isfinite(theta).all():
        return exact(theta, budget)  # no order of elimination is narrow if all are compatible
    from partita.configurations.sparse.order import plan_elimination
    from partita.configurations.sparse.posterior import eliminate_exactly

    sparse = plan_elimination(theta)
    eliminated = sparse.operations * NANO if sparse.bytes <= room else math.inf
    fits = min(dense, eliminated) < math.inf  # a budget of work has infinite seconds
    if needed and not fits:
        raise too_large(n, min(float(predicted_bytes(n)), sparse.bytes) + INTERPRETER, budget)
    if not (fits and min(dense, eliminated) <= allowed):
        return None
    return exact(theta, budget) if dense <= eliminated else eliminate_exactly(theta, sparse)


def too_large(n: int, needs: float, budget: Budget) -> TooLarge:
    """Return the error that names what an exact answer would need."""
    what = f"an exact answer for {n} templates"
    instead = "the methods certified and sampled need less"
    return TooLarge(what, in_bytes(needs), in_bytes(budget.memory), instead)


def _beyond(theta: FloatArray, budget: Budget, seed: int, progress: Progress | None) -> Posterior:
    """Return certified intervals if narrow enough in their share of the time, otherwise samples."""
    start = time.monotonic()
    bounded = _certified(theta, budget, progress)
    if bounded.log_normaliser.high - bounded.log_normaliser.low <= WIDTH:
        return bounded
    seconds = max(0.01, budget.seconds - (time.monotonic() - start))
    left = replace(budget, seconds=seconds) if budget.work is None else budget
    return _sampled(theta, left, seed, progress, bounded.log_normaliser)


def _certified(theta: FloatArray, budget: Budget, progress: Progress | None) -> Posterior:
    """Solve in its share of the time; the rest is for listing the best, or for samples."""
    from partita.configurations.certified.posterior import narrowing

    for bounded in narrowing(theta, replace(budget, seconds=FIRST * budget.seconds)):
        total = bounded.log_normaliser
        if progress:
            progress(f"{len(theta)} templates: log-normaliser within {total.high - total.low:.2g}")
    return bounded


def _sampled(
    theta: FloatArray,
    budget: Budget,
    seed: int,
    progress: Progress | None,
    bounds: Figure | None = None,
) -> Posterior:
    from partita.configurations.sampled.posterior import sampled

    return sampled(theta, budget, seed, progress, bounds)
