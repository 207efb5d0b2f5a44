"""The normaliser where few configurations hold the mass: log Z = log(weight of V) - log P(V).

V is what the chains visited so far, P(V) the share of further sweeps that end in it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita.configurations.sampled.chains import Chain, Progress, together
from partita.configurations.sampled.meter import Meter
from partita.records import Figure, FloatArray

if TYPE_CHECKING:
    from partita.configurations.sampled.runs import Elite

SHARE = 0.05  # with less of the mass in V the ladder is the better way
LENGTH = 16  # sweeps in a batch
TARGET = 0.005  # the standard error, in nats, at which it ends


def census(
    every: list[Chain], visited: Elite, meter: Meter, progress: Progress = None
) -> Figure | None:
    """The log-normaliser, or None if too little of the mass was visited."""
    marks, log_mass = np.sort(visited.marks), float(np.logaddexp.reduce(visited.scores))
    shares = np.zeros((len(every), 0))
    while shares.shape[1] < 2 or _unsure(shares, meter):
        more = max(4, shares.shape[1] // 2)
        begun = time.monotonic()
        shares = np.hstack([shares, _counted(every, marks, more)])
        meter.charge(more * LENGTH * len(every), begun)
        if progress:
            progress(f"{shares.mean():.3f} of the mass was visited")
    if shares.mean() < SHARE:
        return None
    share = float(shares.mean())
    return Figure.estimate(log_mass - float(np.log(share)), _error(shares))


def _counted(every: list[Chain], marks: NDArray[np.uint64], batches: int) -> FloatArray:
    """The share of hits, chain × batch."""
    found = np.stack(together(lambda chain: chain.census(marks, LENGTH * batches), every))
    shares: FloatArray = found.reshape(len(every), batches, LENGTH).mean(axis=2)
    return shares


def _unsure(shares: FloatArray, meter: Meter) -> bool:
    """Whether more sweeps are worth it and allowed."""
    more = shares.size * LENGTH / 2
    return bool(shares.mean() >= SHARE and _error(shares) > TARGET and meter.sweeps() >= more)


def _error(shares: FloatArray) -> float:
    """Of the log of the mean share: by batches, and not less than chains differ."""
    by_batch = shares.std(ddof=1) / np.sqrt(shares.size)
    by_chain = shares.mean(axis=1).std(ddof=1) / np.sqrt(len(shares))
    once = 1.0 / (shares.size * LENGTH)  # a miss that was as likely not to be seen
    return float(max(by_batch, by_chain, once) / max(float(shares.mean()), once))
