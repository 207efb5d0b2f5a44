"""A linear model of the pairs of this input, trained on those about which other models are sure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from partita.core import BoolArray, FloatArray
from partita.linkage.pair_features import AT_ONCE, FEATURES, Features

USED = (
    "words", "grams", "columns", "shared", "rarest", "contained", "overlap", "unshared",
    "code_overlap", "bits", "best_bits", "least", "first", "second", "third", "agreeing_bits",
    "differing_bits",
)  # fmt: skip
OFTEN_MISSING = ("code_overlap", "least", "first", "second", "third")
RIDGE = 5.0  # of the coefficients, where the pairs of both classes weigh `WEIGHT` each
WEIGHT = 2_000.0
ROUNDS = 40
COLUMNS = tuple(FEATURES.index(name) for name in USED)
MISSING = tuple(FEATURES.index(name) for name in OFTEN_MISSING)


@dataclass(frozen=True, slots=True, eq=False)
class LocalModel:
    """Coefficients of standardised features, and what stands for a missing value."""

    middle: FloatArray
    mean: FloatArray
    spread: FloatArray
    coefficients: FloatArray

    @classmethod
    def fitted(cls, features: Features, same: BoolArray, different: BoolArray) -> LocalModel:
        """Fit a logistic regression with a ridge to pairs that are taken for same and different."""
        columns = [features[:, n].astype(np.float64) for n in COLUMNS]
        middle = np.array([_median(column) for column in columns])
        if not same.any() or not different.any():
            nothing = np.zeros(1 + len(USED) + len(MISSING))
            return cls(middle, np.zeros(len(middle)), np.ones(len(middle)), nothing)
        filled = [np.where(np.isnan(column), value, column)
                  for column, value in zip(columns, middle, strict=True)]  # fmt: skip
        mean = np.array([column.mean() for column in filled])
        spread = np.array([column.std() for column in filled]) + 1e-9
        start = cls(middle, mean, spread, np.zeros(0))
        rows = start.standardised(features[same | different])
        right = same[same | different].astype(np.float64)
        weight = WEIGHT * np.where(right > 0, 1.0 / same.sum(), 1.0 / different.sum())
        return cls(middle, start.mean, start.spread, _regression(rows, right, weight))

    def standardised(self, features: Features) -> FloatArray:
        """Return the rows of the regression: 1, standardised values, which values are missing."""
        used = features[:, COLUMNS].astype(np.float64)
        values = (np.where(np.isnan(used), self.middle, used) - self.mean) / self.spread
        missing = np.isnan(features[:, MISSING])
        return np.column_stack([np.ones(len(values)), values, missing])

    def log_odds(self, features: Features) -> FloatArray:
        """Return the log-odds of pairs, up to a constant."""
        found = [self.standardised(features[first : first + AT_ONCE]) @ self.coefficients
                 for first in range(0, len(features), AT_ONCE)]  # fmt: skip
        return np.concatenate(found) if found else np.zeros(0)

    def to_dict(self) -> dict[str, Any]:
        """Return the model as JSON holds it."""
        return {field.name: getattr(self, field.name).tolist() for field in fields(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LocalModel:
        """Return the model of `to_dict`."""
        return cls(*(np.array(values[field.name], dtype=np.float64) for field in fields(cls)))


def _median(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else 0.0


def _regression(rows: FloatArray, right: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the coefficients of a logistic regression by Newton's method."""
    found = np.zeros(rows.shape[1])
    ridge = RIDGE * np.eye(len(found))
    ridge[0, 0] = 1e-6
    for _ in range(ROUNDS):
        p = 1.0 / (1.0 + np.exp(-np.clip(rows @ found, -60.0, 60.0)))
        slope = rows.T @ (weight * (right - p)) - ridge @ found
        each = weight * p * (1.0 - p) + 1e-9
        parts = (slice(first, first + AT_ONCE) for first in range(0, len(rows), AT_ONCE))
        curve = sum(((rows[k] * each[k, None]).T @ rows[k] for k in parts), start=ridge)
        step = np.linalg.solve(curve, slope)
        found += step
        if np.abs(step).max() < 1e-4:
            break
    return found
