"""The parameters of all models over pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from partita.configurations.forest.model import ForestParameters
from partita.configurations.odds import ScaledParameters
from partita.configurations.pair_models import GreedyParameters
from partita.errors import InputError
from partita.pairs.models import MaximumEntropy

EVERY_PAIR = "every pair"
QUESTIONS = "merging questions"
TRAININGS = (EVERY_PAIR, QUESTIONS)
DEFAULT_FOREST = ForestParameters()  # the shipped one: parameters/forest.json


@dataclass(frozen=True, slots=True, eq=False)
class PairParameters:
    """Pair models of both training sets with the same characteristics.

    `excluded` is the probability mass that knowledge excludes from a set, `crossing` that of links
    between sets in a document.
    """

    every_pair: MaximumEntropy
    questions: MaximumEntropy
    greedy: GreedyParameters
    scaled: ScaledParameters
    excluded: float
    crossing: float
    learned_from: str = ""
    sha256: str = ""
    seed: int = 0
    figures: Mapping[str, float] = field(default_factory=dict)
    forest: ForestParameters = DEFAULT_FOREST

    def __post_init__(self) -> None:
        for name in ("excluded", "crossing"):
            if not 0 < (value := getattr(self, name)) < 1:
                raise InputError(f"{name} is {value}, not between 0 and 1")

    def pair_model(self, training: str) -> MaximumEntropy:
        """Return the pair model of a training set."""
        if training not in TRAININGS:
            raise InputError(f"no training set {training!r}; expected {' or '.join(TRAININGS)}")
        return self.questions if training == QUESTIONS else self.every_pair


def training_of(model: str) -> str:
    """Return which of the paper's two training sets a model of configurations uses."""
    return QUESTIONS if model == "merging" else EVERY_PAIR
