"""The precision of the Gaussian prior by cross-validation over documents, never over pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from partita.errors import InputError
from partita.learning.maxent import Codes, bits, contexts, fit
from partita.records import IntArray

# Pairs of one document depend on each other: with few documents a strong prior is best.
PRECISIONS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
FOLDS = 4


@dataclass(frozen=True, slots=True)
class Prior:
    """The chosen precision, and for each one tried the bits per pair on documents left out."""

    precision: float
    tried: tuple[tuple[float, float], ...]


def choose_prior(
    codes: Codes,
    yes: np.ndarray[tuple[int], np.dtype[np.bool_]],
    documents: IntArray,
    sizes: Sequence[int],
    rng: np.random.Generator,
    precisions: Sequence[float] = PRECISIONS,
) -> Prior:
    """The precision with the fewest bits per pair; `documents` says of which each pair is."""
    names = np.unique(documents)
    if len(names) < 2:
        raise InputError("cross-validation needs pairs of two documents or more")
    folds = rng.permutation(len(names)) % min(FOLDS, len(names))
    fold = folds[np.searchsorted(names, documents)]
    spent = np.zeros(len(precisions))
    for left_out in range(int(folds.max()) + 1):
        away = fold == left_out
        kept, held = (contexts(codes[m], yes[m], sizes) for m in (~away, away))
        weights = None
        for n in np.argsort(precisions)[::-1]:
            weights = fit(kept, precisions[n], start=weights)
            spent[n] += bits(held, weights) * held.pairs
    spent /= len(yes)
    tried = tuple(zip(map(float, precisions), spent.tolist(), strict=True))
    return Prior(float(precisions[int(spent.argmin())]), tried)
