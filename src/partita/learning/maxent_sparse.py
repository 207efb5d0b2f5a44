"""Maximum entropy for many outcomes over sparse features:  p(y | x) ∝ e^{Σ_i λ_{iy}},  i ∈ x.

The parameters maximise the likelihood of the outcomes, less precision·|λ|²/2, by L-BFGS.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from partita.errors import InputError
from partita.records import FloatArray, IntArray

STEPS = 150
ENOUGH = 1e-5


def fit_sparse(
    rows: Sequence[Sequence[int]],
    outcome: IntArray,
    shape: tuple[int, int],
    precision: float,
    weight: FloatArray | None = None,
) -> FloatArray:
    """Weights of features by outcomes; a row lists the features of one event."""
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix

    if len(np.unique(outcome)) < 2:
        raise InputError("training data has one outcome only; expected several")
    counts = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    places = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(counts.sum()))
    ends = np.concatenate([[0], np.cumsum(counts)])
    table = csr_matrix((np.ones(len(places)), places, ends), shape=(len(rows), shape[0]))
    across = table.T.tocsr()
    known = np.zeros((len(rows), shape[1]))
    known[np.arange(len(rows)), outcome] = 1.0
    each = np.ones(len(rows)) if weight is None else weight
    total = float(each.sum())

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        weights = flat.reshape(shape)
        log = _log_softmax(table @ weights)
        nats = -float(each @ (known * log).sum(1)) + precision * float(flat @ flat) / 2
        gradient = across @ ((np.exp(log) - known) * each[:, None]) + precision * weights
        return nats / total, gradient.ravel() / total

    options = {"gtol": ENOUGH, "maxiter": STEPS, "maxcor": 10}
    start = np.zeros(shape[0] * shape[1])
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    weights: FloatArray = found.x.reshape(shape)
    return weights


def _log_softmax(scores: NDArray[np.float64]) -> FloatArray:
    top = scores - scores.max(1, keepdims=True)
    log: FloatArray = top - np.log(np.exp(top).sum(1, keepdims=True))
    return log
