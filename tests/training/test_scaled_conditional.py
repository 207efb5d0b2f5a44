from __future__ import annotations

import numpy as np
import pytest

from oracles.partitions import distribution
from partita.core import FloatArray, IntArray
from partita.errors import InputError
from partita.training.pair_models import fit_scale


def drawn(
    scale: float, bias: float, rng: np.random.Generator, barred: bool
) -> tuple[FloatArray, IntArray]:
    """A set of five whose key is drawn from the scaled model itself."""
    theta = np.triu(rng.normal(0, 2, (5, 5)), 1)
    theta = theta + theta.T
    p = 1 / (1 + np.exp(-theta))
    scaled = scale * theta + bias
    if barred:
        p[0, 1] = p[1, 0] = 0
        scaled[0, 1] = scaled[1, 0] = -np.inf
    np.fill_diagonal(scaled, 0)
    found = distribution(scaled)
    keys = list(found)
    return p, np.array(keys[rng.choice(len(keys), p=list(found.values()))])


@pytest.mark.parametrize("barred", [False, True])
def test_what_keys_were_drawn_with_is_found_again(barred: bool) -> None:
    rng = np.random.default_rng(2)
    sets = [drawn(0.4, -0.5, rng, barred) for _ in range(1500)]
    found = fit_scale(sets)
    assert found.scale == pytest.approx(0.4, abs=0.05)
    assert found.bias == pytest.approx(-0.5, abs=0.08)


def test_few_keys_stay_near_the_evidential_model() -> None:
    found = fit_scale([drawn(0.1, 0.0, np.random.default_rng(0), False)])
    assert 0.4 < found.scale < 1.6
    with pytest.raises(InputError, match="leaves anything to decide"):
        fit_scale([])
