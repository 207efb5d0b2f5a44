"""The threshold of merges, and shares that are stated."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import partita
from partita.linkage.cluster_tables import Merges, chosen_threshold


def test_the_threshold_is_the_lowest_that_reaches_the_target() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        count = int(rng.integers(0, 8))
        height = rng.choice([0.45, 0.5, 0.6, 0.6, 0.75, 0.9, 1.0], count)
        between = rng.integers(1, 9, count).astype(float)
        certain, target = int(rng.integers(0, 4)), float(rng.uniform(0.4, 1.0))
        found = chosen_threshold(Merges(height, between, certain), target, 0.45)
        reaching = [
            h for h in {*height.tolist()}
            if certain + (between * height)[height >= h].sum()
            >= target * (certain + between[height >= h].sum())
        ]  # fmt: skip
        assert found == min(reaching, default=np.nextafter(height.max(initial=0.45), 2.0))


@given(st.lists(st.floats(0.9, 1.0), min_size=1, max_size=40))
@settings(deadline=None, max_examples=30)
def test_no_stated_share_is_above_one(scores: list[float]) -> None:
    """Expected pairs are sums of rounded numbers; a recall was stated as 1.0000000000357638."""
    pairs = [(f"a{n}", f"b{n}", score) for n, score in enumerate(scores)]
    summary = partita.cluster(pairs).summary
    for share in (summary.precision, summary.recall):
        assert share is not None
        assert 0.0 <= share.low <= share.value <= share.high <= 1.0
