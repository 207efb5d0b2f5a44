"""All models of the domain, and their JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from partita.errors import InputError
from partita.files.strict import json_problem
from partita.files.text import whole_text
from partita.files.writing import write_atomically
from partita.training.parameter_files import (
    PairParameters,
    pair_parameters_text,
    parse_pair_parameters,
)
from partita_incidents.characteristics import EVENTS
from partita_incidents.entities import Entity
from partita_incidents.features import local_features, sentence_features, sentence_words
from partita_incidents.models import BoostedTrees, Classifier
from partita_incidents.readings import Reading, ReadingModels
from partita_incidents.stories import Story, types_of


@dataclass(frozen=True, slots=True, eq=False)
class FillModels:
    """The models that choose among the exam's lists of fills."""

    victim_type: Classifier
    victim_effect: Classifier
    target_type: Classifier
    target_effect: Classifier
    confidence: Classifier
    stage: Classifier
    category: Classifier
    instrument: Classifier


def entity_type_features(entity: Entity, reading: Reading) -> list[str]:
    """Return features of what an entity is: its words, heads, types and titles."""
    features: dict[str, None] = {"any": None}
    for text in (*entity.names, *entity.descriptions):
        features |= {f"word {word}": None for word in text.split()}
    for text in entity.descriptions:
        features[f"description {text}"] = None
    for part in entity.parts:
        item = reading.mentions[part.place].item
        features[f"head {reading.mentions[part.place].lemma}"] = None
        features |= {f"sort {entity_type}": None for entity_type in types_of(item)}
        features |= {f"mod {word}": None for word in item.attributes.get("mods", ())}
    if entity.names:
        features["named"] = None
    return list(features)


def entity_context_features(entity: Entity, reading: Reading, type_: str) -> list[str]:
    """Return features of an entity's clauses and sentences, and of the incident type."""
    features: dict[str, None] = {f"type {type_}": None, "any": None}
    for part in entity.parts:
        mention = reading.mentions[part.place]
        features |= dict.fromkeys(local_features(reading.story, mention))
        words = sentence_words(reading.story.sentences[mention.sentence])
        features |= {f"bag {word}": None for word in words}
        features |= {f"bag {word} {type_}": None for word in words}
    return list(features)


def incident_features(
    story: Story, sentences: Sequence[int], words: Sequence[Sequence[str]], type_: str
) -> list[str]:
    """Return the features of the sentences of an incident."""
    features: dict[str, None] = {f"type {type_}": None, "any": None}
    for n in sentences:
        features |= dict.fromkeys(sentence_features(story, story.sentences[n], words))
    return list(features)


def perpetrator_features(reading: Reading, entities: Sequence[Entity]) -> list[str]:
    """Return features of the perpetrators, for the category of an incident."""
    features: dict[str, None] = {}
    for entity in entities:
        features |= {f"perpetrator {name}": None for name in entity_type_features(entity, reading)}
    return list(features) or ["perpetrator none"]


@dataclass(frozen=True, slots=True, eq=False)
class ScreeningModels:
    """The models that accept drafts, entities and fills, and choose days and places."""

    drafts: Classifier
    entities: Classifier
    draft_trees: BoostedTrees
    entity_trees: BoostedTrees
    days: Classifier
    places: Classifier
    day_trees: BoostedTrees
    place_trees: BoostedTrees
    fill_trees: BoostedTrees


@dataclass(frozen=True, slots=True, eq=False)
class IncidentModels:
    """All models of the domain: they read text, merge events, screen drafts and fill slots."""

    reading: ReadingModels
    pairs: PairParameters
    screening: ScreeningModels
    fills: FillModels
    learned_from: str = ""


VERSION = 6
KIND = "incidents"
PAIRS = "pairs"
_GROUPS = {"readers": "reading", "screeners": "screening", "judges": "fills"}
_SCALE = 100
_MIN_WEIGHT = 4  # hundredths: features with smaller weights only are left out


def models_text(models: IncidentModels) -> str:
    """Return the text of the file; the same models give the same bytes."""
    parts = [f'"version": {VERSION}', f'"model": "{KIND}"']
    parts.append(f'"learned_from": {json.dumps(models.learned_from)}')
    for name, attribute in _GROUPS.items():
        group = getattr(models, attribute)
        inner = ",\n".join(
            f'"{field.name}": {_model_text(getattr(group, field.name))}' for field in fields(group)
        )
        parts.append(f'"{name}": {{\n{inner}}}')
    parts.append(f'"{PAIRS}": {pair_parameters_text(models.pairs).rstrip()}')
    return "{" + ",\n".join(parts) + "}\n"


def _model_text(model: Classifier | BoostedTrees) -> str:
    return _trees_text(model) if isinstance(model, BoostedTrees) else _classifier_text(model)


def _trees_text(trees: BoostedTrees) -> str:
    data = {
        "borders": [border.tolist() for border in trees.borders],
        "base": trees.base,
        "tested": trees.tested.tolist(),
        "cuts": trees.cuts.tolist(),
        "values": trees.values.tolist(),
    }
    return json.dumps(data, separators=(",", ":"))


def _classifier_text(classifier: Classifier) -> str:
    hundredths = np.rint(classifier.weights * _SCALE).astype(int).tolist()
    lines = [
        f"{json.dumps(name, ensure_ascii=False)}:{json.dumps(row, separators=(',', ':'))}"
        for name, row_index in classifier.rows.items()
        if max(map(abs, row := hundredths[row_index])) >= _MIN_WEIGHT
    ]
    return (
        f'{{"outcomes": {json.dumps(classifier.outcomes)}, "features": {{\n'
        + ",\n".join(lines)
        + "}}"
    )


def write_models(path: str | Path, models: IncidentModels) -> None:
    """Replace a file of models, or leave it as it was."""
    write_atomically(path, models_text(models))


def read_models(path: str | Path) -> IncidentModels:
    """Read the models of a file."""
    return parse_models(whole_text(path), str(path))


def parse_models(text: str, file: str) -> IncidentModels:
    """Parse the models from JSON; the file is named in errors."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(json_problem(error), file=file) from error
    if not isinstance(data, dict) or (data.get("version"), data.get("model")) != (VERSION, KIND):
        raise InputError(f"expected models of incidents, version {VERSION}", file=file)
    try:
        return IncidentModels(
            ReadingModels(**_group(data["readers"])),
            parse_pair_parameters(json.dumps(data[PAIRS]), file, EVENTS),
            _screening_models(data["screeners"]),
            FillModels(**_group(data["judges"])),
            str(data["learned_from"]),
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"is not a file of incident models: {error}", file=file) from error


def _group(data: Mapping[str, Any]) -> dict[str, Classifier]:
    return {name: _classifier(classifier) for name, classifier in data.items()}


def _screening_models(data: Mapping[str, Any]) -> ScreeningModels:
    return ScreeningModels(
        _classifier(data["drafts"]),
        _classifier(data["entities"]),
        _trees(data["draft_trees"]),
        _trees(data["entity_trees"]),
        _classifier(data["days"]),
        _classifier(data["places"]),
        _trees(data["day_trees"]),
        _trees(data["place_trees"]),
        _trees(data["fill_trees"]),
    )


def _trees(data: Mapping[str, Any]) -> BoostedTrees:
    return BoostedTrees(
        tuple(np.array(border, dtype=np.float64) for border in data["borders"]),
        float(data["base"]),
        np.array(data["tested"], dtype=np.int64),
        np.array(data["cuts"], dtype=np.int64),
        np.array(data["values"], dtype=np.float64),
    )


def _classifier(data: Mapping[str, Any]) -> Classifier:
    outcomes = tuple(map(str, data["outcomes"]))
    features = data["features"]
    table = np.array(list(features.values()), dtype=np.float64) / _SCALE
    weights = table.reshape(len(features), len(outcomes))
    return Classifier(outcomes, {name: n for n, name in enumerate(features)}, weights)
