"""An explanation as text."""

from __future__ import annotations

import math
from dataclasses import replace

from partita.pairs.explanation import (
    FeatureContribution,
    Influence,
    PairExplanation,
    SetExplanation,
)
from partita.views.explanation import ExplainedPair, explanation_text

PAIR = PairExplanation(
    "A",
    "B",
    (
        FeatureContribution("names: identical", 2.0, "…"),
        FeatureContribution("distance: very far away", -0.5, "…"),
        FeatureContribution("regions: text, text", 0.0, "…"),
    ),
    1.5,
    1 / (1 + math.exp(-1.5)),
)
REST = SetExplanation(
    "A",
    "B",
    PAIR.probability,
    0.0,
    (
        Influence(("C",), PAIR.probability, 0.4),
        Influence(("D", "E", "F"), 0.4, 0.0),
    ),
)
TOLD = ExplainedPair("A", "B", PAIR.probability, 0.0, PAIR, REST, {}, ())


def test_the_text_lists_features_and_the_rest_of_the_set() -> None:
    expressions = {"A": "the  big\n\x1bdepot", "C": "x" * 200}
    told = explanation_text(replace(TOLD, expressions=expressions))
    lines = told.splitlines()
    assert lines[0] == "A “the big ·depot” = B"
    assert any(line.split()[-2:] == ["+2.0000", "0.8808"] for line in lines)
    assert any(line.split()[-2:] == ["+1.5000", "0.8176"] for line in lines)
    assert "1 more characteristic has weight 0" in told
    assert any(line.startswith("3 other templates") for line in lines)
    assert lines[-1].split()[-2:] == ["-0.8176", "0.0000"]
    assert max(map(len, lines)) <= 80


def test_without_a_set_only_the_pair_is_told() -> None:
    told = explanation_text(replace(TOLD, rest=None))
    assert "rest of the set" not in told
    assert told.splitlines()[-1].split()[-1] == "0.0000"


def test_without_features_that_is_said() -> None:
    without = replace(TOLD, pair=None, notes=["features are unknown " * 8])
    told = explanation_text(without)
    assert "features are unknown" in told
    assert "weight" not in told
    assert "given the whole set" in told
    assert max(map(len, told.splitlines())) <= 80
