"""Bits: −log₂ P(key), and the price of keys that knowledge excludes.

All excluded configurations together have one learned mass ε, spread evenly over them:
P(key) = (1 − ε)·P_model(key) if allowed, else ε / (Bell(n) − allowed).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from partita.configurations.count import log2_bell
from partita.errors import InputError


@dataclass(frozen=True, slots=True)
class Excluded:
    """How often knowledge excludes the key: a share of sets, and a share of documents."""

    sets: float
    documents: float

    def __post_init__(self) -> None:
        for name, value in (("sets", self.sets), ("documents", self.documents)):
            if not 0 < value < 1:
                raise InputError(f"excluded mass of {name} is {value}, not between 0 and 1")


def estimated_share(broken: int, total: int) -> float:
    """Return the estimate of Krichevsky and Trofimov: never 0, never 1."""
    return (broken + 0.5) / (total + 1)


def allowed_bits(log_probability: float, excluded: float) -> float:
    """Return the bits of an allowed key, from its natural log-probability among the allowed."""
    return max(0.0, -log_probability / math.log(2)) - math.log2(1 - excluded)


def excluded_bits(n: int, log2_allowed: float, excluded: float) -> float:
    """Return the bits of an excluded key: ε over the number of excluded configurations."""
    return log2_rest(log2_bell(n), log2_allowed) - math.log2(excluded)


def log2_rest(log2_all: float, log2_some: float) -> float:
    """Return log₂(2^all − 2^some), at least 0: something remains."""
    gap = log2_all - log2_some
    if gap <= 0:
        return 0.0
    return max(0.0, log2_all + math.log2(-math.expm1(-gap * math.log(2))))
