"""The scaled evidential model: the product form of scaled log-odds,  θ' = scale·θ + bias.

The product form counts every pair as a source of its own; templates that resemble each other make
pairs that repeat each other, and a scale below 1 takes that back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from partita.errors import InputError
from partita.records import FloatArray


@dataclass(frozen=True, slots=True)
class ScaledParameters:
    """A scale and a bias on the log-odds of every pair; 1 and 0 are the evidential model."""

    scale: float
    bias: float

    def __post_init__(self) -> None:
        if not 0 <= self.scale < math.inf:
            raise InputError(f"scale of the scaled model is {self.scale}, not a number from 0 on")
        if not math.isfinite(self.bias):
            raise InputError(f"bias of the scaled model is {self.bias}, not a finite number")


def scale_log_odds(
    theta: FloatArray, parameters: ScaledParameters, numbers: FloatArray | None = None
) -> FloatArray:
    """The scaled log-odds; what is infinite (incompatible, must-link) is knowledge and stays.

    Between groups that must-links contracted, θ is a sum over pairs: `numbers` (`pair_numbers`)
    says how many, for each of them has the bias.
    """
    finite = np.isfinite(theta)
    bias = parameters.bias * (np.ones_like(theta) if numbers is None else numbers)
    scaled = np.where(finite, parameters.scale * np.where(finite, theta, 0.0) + bias, theta)
    np.fill_diagonal(scaled, 0.0)
    return scaled
