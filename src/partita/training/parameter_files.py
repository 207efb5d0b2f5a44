"""The parameters of all models over pairs, read and written as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from partita.configurations.forest.model import ForestParameters
from partita.configurations.odds import ScaledParameters
from partita.configurations.pair_models import GreedyParameters
from partita.errors import InputError
from partita.files.strict import (
    Place,
    fields,
    figures_of,
    integer_of,
    list_of,
    number_of,
    origin_of,
    parsed,
    refuse_other_version,
    text_of,
)
from partita.files.text import TextSource, whole_text
from partita.files.writing import write_atomically
from partita.pairs.characteristics import EXTENDED, Characteristic, Cutoffs, feature_names
from partita.pairs.models import MaximumEntropy
from partita.parameters import VERSION, shipped_text

T = TypeVar("T")
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


KIND = "pairs"
FIELDS = (
    "version", "model", "characteristics", EVERY_PAIR, QUESTIONS, "greedy", "scaled", "excluded",
    "crossing", "learned_from", "seed", "figures",
)  # fmt: skip
GREEDY_FIELDS = ("p2", "p3", "p_more")
SCALED_FIELDS = ("scale", "bias")
FOREST_FIELDS = ("scale", "bias", "unlisted")


def write_pair_parameters(path: str | Path, learned: PairParameters) -> None:
    """Replace a parameter file, or leave it as it was."""
    write_atomically(path, pair_parameters_text(learned))


def read_pair_parameters(path: TextSource) -> PairParameters:
    """Read the parameters of a file."""
    return parse_pair_parameters(whole_text(path), str(path))


def shipped_pair_parameters() -> PairParameters:
    """Return the parameters that come with the package."""
    text = shipped_text(KIND)
    if text is None:
        raise InputError(f"no parameters of {KIND} are shipped")
    return parse_pair_parameters(text, f"shipped parameters of {KIND}")


def pair_parameters_text(learned: PairParameters) -> str:
    """Return the JSON text, the same bytes for the same values."""
    content = {
        "version": VERSION,
        "model": KIND,
        "characteristics": [
            characteristic.name for characteristic in learned.every_pair.characteristics
        ],
        EVERY_PAIR: _model_content(learned.every_pair),
        QUESTIONS: _model_content(learned.questions),
        "greedy": {name: getattr(learned.greedy, name) for name in GREEDY_FIELDS},
        "scaled": {name: getattr(learned.scaled, name) for name in SCALED_FIELDS},
        "forest": {name: getattr(learned.forest, name) for name in FOREST_FIELDS},
        "excluded": learned.excluded,
        "crossing": learned.crossing,
        "learned_from": {"description": learned.learned_from, "sha256": learned.sha256},
        "seed": learned.seed,
        "figures": dict(learned.figures),
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _model_content(model: MaximumEntropy) -> dict[str, Any]:
    return {
        "cutoffs": list(model.cutoffs),
        "weights": dict(zip(model.features, model.weights.tolist(), strict=True)),
        "figures": dict(model.figures),
    }


def parse_pair_parameters(
    text: str, file: str, characteristics: Sequence[Characteristic] = EXTENDED
) -> PairParameters:
    """Parse parameters from JSON; the file is named in errors.

    `characteristics` are those that the parameters may name.
    """
    place = Place(file)
    content = _versioned(parsed(text, place), place)
    chosen = _characteristics(content["characteristics"], characteristics, place)
    source = origin_of(content["learned_from"], place)
    seed = integer_of(content["seed"], "seed", place)
    every, questions = (
        _model(content[name], name, chosen, (*source, seed), place)
        for name in (EVERY_PAIR, QUESTIONS)
    )
    try:
        return PairParameters(
            every,
            questions,
            _set_parameters(GreedyParameters, content["greedy"], "greedy", GREEDY_FIELDS, place),
            _set_parameters(ScaledParameters, content["scaled"], "scaled", SCALED_FIELDS, place),
            number_of(content["excluded"], "excluded", place),
            number_of(content["crossing"], "crossing", place),
            *source,
            seed,
            figures_of(content["figures"], place),
            _forest(content.get("forest"), place),
        )
    except InputError as error:
        raise InputError(error.problem, file=file) from error


def _forest(content: Any, place: Place) -> ForestParameters:
    """Return the parameters of the forest model; the default for a file that has none."""
    if content is None:
        return DEFAULT_FOREST
    return _set_parameters(ForestParameters, content, "forest", FOREST_FIELDS, place)


def _versioned(content: Any, place: Place) -> Mapping[str, Any]:
    """Check the kind and the version before anything else."""
    if isinstance(content, dict) and (kind := content.get("model", KIND)) != KIND:
        place.refuse(f"holds parameters of {kind!r}; expected {KIND!r}")
    refuse_other_version(content, VERSION, place)
    return fields(content, "the file", place, needed=FIELDS, allowed=("forest",))


def _model(
    content: Any,
    name: str,
    chosen: tuple[Characteristic, ...],
    source: tuple[str, str, int],
    place: Place,
) -> MaximumEntropy:
    content = fields(content, name, place, needed=("cutoffs", "weights", "figures"))
    weights = _weights(content["weights"], feature_names(chosen), place)
    return MaximumEntropy(
        chosen,
        np.array(weights, dtype=np.float64),
        _cutoffs(content["cutoffs"], place),
        name,
        *source,
        figures_of(content["figures"], place),
    )


def _characteristics(
    content: Any, characteristics: Sequence[Characteristic], place: Place
) -> tuple[Characteristic, ...]:
    by_name = {characteristic.name: characteristic for characteristic in characteristics}
    names = [
        text_of(name, "a characteristic", place)
        for name in list_of(content, "characteristics", place)
    ]
    for name in names:
        if name not in by_name:
            place.refuse(
                f"was trained with a characteristic {name!r}, which is unknown to this version"
            )
    if len(set(names)) < len(names):
        place.refuse("names a characteristic twice")
    return tuple(by_name[name] for name in names)


def _weights(content: Any, expected: tuple[str, ...], place: Place) -> list[float]:
    """Return the weights; the features must be exactly those expected."""
    if not isinstance(content, dict):
        place.refuse("weights are not an object; expected a number for each feature")
    known = set(expected)
    for name in content:
        if name not in known:
            place.refuse(f"was trained with a feature {name!r}, which is unknown to this version")
    for name in expected:
        if name not in content:
            place.refuse(f"has no weight for the feature {name!r}; train the model again")
    return [number_of(content[name], f"weight of {name!r}", place) for name in expected]


def _cutoffs(content: Any, place: Place) -> Cutoffs:
    cutoffs = tuple(
        float(number_of(c, "a cut-off", place)) for c in list_of(content, "cutoffs", place)
    )
    if len(cutoffs) != 4 or list(cutoffs) != sorted(cutoffs):
        place.refuse(f"cutoffs are {list(cutoffs)}; expected four numbers that do not fall")
    return cutoffs


SET_FIELDS = ("version", "model", "values", "learned_from", "seed", "figures")
SetParameters = GreedyParameters | ScaledParameters | ForestParameters
SET_MODELS: dict[str, tuple[Callable[..., SetParameters], tuple[str, ...]]] = {
    "greedy": (GreedyParameters, GREEDY_FIELDS),
    "scaled": (ScaledParameters, SCALED_FIELDS),
    "forest": (ForestParameters, FOREST_FIELDS),
}


def model_parameters(model: str, path: TextSource | None = None) -> SetParameters:
    """Return the parameters of a model: the shipped ones, those of a file of that model, or those
    of a file of `partita train`."""
    if model not in SET_MODELS:
        expected = " or ".join(SET_MODELS)
        raise InputError(f"no parameters of a model {model!r} are shipped; expected {expected}")
    file = f"shipped parameters of {model}" if path is None else str(path)
    text = shipped_text(model) or "" if path is None else whole_text(path)
    place = Place(file)
    content = parsed(text, place)
    if isinstance(content, dict) and content.get("model") == KIND:
        found: SetParameters = getattr(parse_pair_parameters(text, file), model)
        return found
    refuse_other_version(content, VERSION, place)
    content = fields(content, "the file", place, needed=SET_FIELDS)
    if (kind := text_of(content["model"], "model", place)) != model:
        place.refuse(f"holds parameters of {kind!r}; expected {model!r}")
    origin_of(content["learned_from"], place)
    integer_of(content["seed"], "seed", place)
    figures_of(content["figures"], place)
    make, names = SET_MODELS[model]
    return _set_parameters(make, content["values"], f"values of {model}", names, place)


def _set_parameters(
    make: Callable[..., T], content: Any, what: str, names: Sequence[str], place: Place
) -> T:
    given = fields(content, what, place, needed=tuple(names))
    values = [number_of(given[name], name, place) for name in names]
    try:
        return make(*values)
    except InputError as error:
        raise InputError(error.problem, file=place.file) from error
