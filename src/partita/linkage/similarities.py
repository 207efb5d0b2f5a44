"""Scores that look like similarities rather than probabilities."""

from __future__ import annotations

from partita.core import FloatArray

SIMILARITIES = (
    "the scores look like similarities, not probabilities: probabilities and expected precision "
    "are unreliable (give labels)"
)
FEWEST = 100  # compared pairs from which on scores are judged
# Of the pairs that scores state, those that clusters can hold: .38 to .57 for top neighbours by
# similarity of most tables of the panel, .65 and more for calibrated scores however flat.
POSSIBLE = 0.6
UNSURE = (0.1, 0.9)  # scores between them are unsure: at least half of all similarities …
LEAST, FEW = 0.05, 0.25  # … while few are below the first; calibrated ones of candidates mostly are


def look_like_similarities(score: FloatArray, stated: FloatArray) -> bool:
    """Tell whether scores are not probabilities, by what the forest model states for their pairs.

    Most of them are unsure, hardly any says that two records differ, and they add up to more pairs
    than clusters can hold.
    """
    unsure = (score > UNSURE[0]) & (score < UNSURE[1])
    return bool(
        len(score) >= FEWEST
        and stated.sum() < POSSIBLE * score.sum()
        and unsure.mean() >= 0.5
        and (score < LEAST).mean() <= FEW
    )
