"""A slot with few values: each source has a confusion matrix, θ[s, t, v] = P(s says v | t is true).

A reliability r that is given stands for  θ[s, t, v] = r·[v = t] + (1 − r)/K.
"""

from __future__ import annotations

import numpy as np

from partita.fusion.problem import Candidates, Problem, Said, no_relations
from partita.fusion.statements import Statements
from partita.records import FloatArray

SHRINKAGE = 0.1  # a source's own habits show soon where there are few values
RIGHT = 0.7  # where learning starts: how often a source is right


def closed_problem(said: Statements) -> Problem:
    """Every value of the slot is a candidate for every object."""
    values, objects = len(said.values), len(said.objects)
    item = np.repeat(np.arange(objects), values)
    value = np.tile(np.arange(values), objects)
    return Problem(
        Said(
            said.source,
            said.object,
            said.value,
            np.ones(len(said)),
            said.confidence,
            1.0 / values,
        ),
        Candidates(item, item, value, value, np.zeros(len(item))),
        no_relations(),
        sources=len(said.sources),
        blocks=objects,
        items=objects,
        kinds=values,
        start=reliable(RIGHT, values),
        shrinkage=SHRINKAGE,
    )


def reliable(reliability: float, values: int) -> FloatArray:
    """The confusion matrix of a source that knows with this probability, and else guesses."""
    rates: FloatArray = reliability * np.eye(values) + (1 - reliability) / values
    return rates
