"""A million pairs, characteristics and probabilities, beside one RapidFuzz ratio of two names."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from oracles.described import documents
from partita.core import Template
from partita.pairs.characteristics import (
    EXTENDED,
    PAPER,
    Characteristic,
    characteristics_of,
    feature_names,
)
from partita.pairs.columns import template_columns
from partita.pairs.models import MaximumEntropy
from partita.training.maxent import contexts, fit_maxent
from partita.training.selection import select

MILLION = 1_000_000
TEMPLATES = 1415
FIRST = ("Kinston", "Raleigh", "Fairview", "Andrew", "Claire", "Western", "United", "Central")
SECOND = ("Military", "Rail", "Bailey-Ross", "National", "State", "River", "of Portsmouth", "Hill")
THIRD = ("Depot", "Kehler", "University", "Kingdom", "Bridge", "Command", "Airfield", "Office")
CUTOFFS = (100.0, 500.0, 2000.0, 8000.0)


def names(rng: np.random.Generator, count: int) -> list[str]:
    parts = (np.array(words)[rng.integers(0, 8, count)] for words in (FIRST, SECOND, THIRD))
    return [" ".join(three) for three in zip(*parts, strict=True)]


def message(rng: np.random.Generator) -> list[Template]:
    """Templates of all forms; a third of them have names."""
    made = documents(rng, TEMPLATES)
    for n, name in zip(range(0, TEMPLATES, 3), names(rng, TEMPLATES), strict=False):
        slots = {**made[n].slots, "NAME": name}
        made[n] = replace(made[n], form="name", text=name, head=name.split()[-1], slots=slots)
    return [replace(one, antecedents=one.antecedents[:12]) for one in made]


def seconds(action: Callable[[], object]) -> float:
    """Of this process: others on the machine do not count."""
    start = time.process_time()
    action()
    return time.process_time() - start


def one_ratio(rng: np.random.Generator, count: int = 200_000) -> float:
    from rapidfuzz.fuzz import ratio

    left, right = names(rng, count), names(rng, count)

    def every() -> None:
        for a, b in zip(left, right, strict=True):
            ratio(a, b)

    return min(seconds(every) for _ in range(3)) / count


@pytest.mark.parametrize(
    ("chosen", "title"), [(PAPER, "the paper's"), (EXTENDED, "all")], ids=["paper", "extended"]
)
def test_a_million_pairs(
    chosen: tuple[Characteristic, ...], title: str, ratio: Callable[..., None]
) -> None:
    rng = np.random.default_rng(0)
    templates = message(rng)
    left, right = (side[:MILLION] for side in np.triu_indices(TEMPLATES, 1))
    model = MaximumEntropy(chosen, rng.normal(size=len(feature_names(chosen))), CUTOFFS)

    def score() -> None:
        found = model.pair_probabilities(template_columns(templates), left, right)
        assert len(found) == MILLION

    each = min(seconds(score) for _ in range(3)) / MILLION
    value = each / one_ratio(rng)
    ratio(f"one of a million pairs, {title} characteristics", value, "one RapidFuzz ratio", 5.0)
    assert value <= 5.0


def test_the_selected_model_on_578_pairs(ratio: Callable[..., None]) -> None:
    """Selection and fit beside the ratios of 578 × 578 names: some tenths of a second."""
    rng = np.random.default_rng(1)
    known = template_columns(documents(rng, 60))
    left, right = np.triu_indices(60, 1)
    asked = rng.permutation(len(left))[:578]
    codes = characteristics_of(known, left[asked], right[asked], PAPER, cutoffs=CUTOFFS)
    yes = rng.random(578) < np.where(codes[:, 2] == 1, 0.7, 0.2)
    given = contexts(codes, yes, [len(one.values) for one in PAPER])
    chosen = select(given, precision=1.0)
    active = np.flatnonzero(chosen.weights)
    unit = one_ratio(rng) * 578**2
    fitted = min(seconds(lambda: fit_maxent(given, 1.0, active)) for _ in range(3)) / unit
    ratio("fit of the selected model on 578 pairs", fitted, "578² RapidFuzz ratios", 1.0)
    whole = seconds(lambda: select(given, precision=1.0)) / unit
    ratio("selection and fit on 578 pairs", whole, "578² RapidFuzz ratios", 10.0)
    assert fitted <= 1.0
    assert whole <= 10.0
