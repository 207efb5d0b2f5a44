"""Maximum entropy by L-BFGS: only sums over contexts, for training sets that outgrow a table."""

from __future__ import annotations

import numpy as np

from partita.learning.maxent import Contexts, expected, loss, refuse_one_class
from partita.records import FloatArray, IntArray

STEPS = 2000
ENOUGH = 1e-6  # of the gradient per pair: far below what held-out documents can tell


def lbfgs(
    given: Contexts,
    active: IntArray,
    precision: float = 0.0,
    start: FloatArray | None = None,
    enough: float = ENOUGH,
) -> FloatArray:
    """The weights that make the answers most probable; `enough` bounds the gradient per pair."""
    from scipy.optimize import minimize

    refuse_one_class(given)
    weights = np.zeros(given.features)
    first = weights[active] if start is None else start[active]

    def objective(inner: FloatArray) -> tuple[float, FloatArray]:
        weights[active] = inner
        scores = given.scores(weights)
        nats = loss(given, scores) + precision * float(inner @ inner) / 2
        gradient = given.totals(expected(given, scores) - given.yes)[active] + precision * inner
        return nats / given.pairs, gradient / given.pairs

    options = {"gtol": enough, "ftol": 0.0, "maxiter": STEPS, "maxfun": 2 * STEPS, "maxcor": 20}
    weights[active] = minimize(objective, first, jac=True, method="L-BFGS-B", options=options).x
    return weights
