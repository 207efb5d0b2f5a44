"""All models of the domain, and their JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from partita.domains.incidents.characteristics import EVENTS
from partita.domains.incidents.entities import Entity
from partita.domains.incidents.features import local_features, sentence_features, sentence_words
from partita.domains.incidents.models import Classifier
from partita.domains.incidents.readings import Reading, ReadingModels
from partita.domains.incidents.stories import Story, sorts_of
from partita.errors import InputError
from partita.files.text import whole_text
from partita.files.writing import write_atomically
from partita.training.pair_parameters import PairParameters
from partita.training.parameter_files import pair_parameters_text, parse_pair_parameters


@dataclass(frozen=True, slots=True, eq=False)
class FillModels:
    """The models that choose among the exam's lists."""

    victim_type: Classifier
    victim_effect: Classifier
    target_type: Classifier
    target_effect: Classifier
    confidence: Classifier
    stage: Classifier
    category: Classifier
    instrument: Classifier


def entity_type_features(story: Story, entity: Entity, reading: Reading) -> list[str]:
    """What an entity is: its words, heads, sorts, titles."""
    found: dict[str, None] = {"any": None}
    for text in (*entity.names, *entity.descriptions):
        found |= {f"word {word}": None for word in text.split()}
    for text in entity.descriptions:
        found[f"description {text}"] = None
    for part in entity.parts:
        item = reading.mentions[part.place].item
        found[f"head {reading.mentions[part.place].lemma}"] = None
        found |= {f"sort {sort}": None for sort in sorts_of(item)}
        found |= {f"mod {word}": None for word in item.known.get("mods", ())}
    if entity.names:
        found["named"] = None
    return list(found)


def entity_context_features(
    story: Story, entity: Entity, reading: Reading, type_: str
) -> list[str]:
    """What happens to an entity: its verbs, clauses and sentences, and the type of incident."""
    found: dict[str, None] = {f"type {type_}": None, "any": None}
    for part in entity.parts:
        mention = reading.mentions[part.place]
        found |= dict.fromkeys(local_features(story, mention))
        words = sentence_words(story.sentences[mention.sentence])
        found |= {f"bag {word}": None for word in words}
        found |= {f"bag {word} {type_}": None for word in words}
    return list(found)


def incident_features(
    story: Story, sentences: Sequence[int], bags: Sequence[Sequence[str]], type_: str
) -> list[str]:
    """All that is said in the sentences of an incident."""
    found: dict[str, None] = {f"type {type_}": None, "any": None}
    for n in sentences:
        found |= dict.fromkeys(sentence_features(story, story.sentences[n], bags))
    return list(found)


def perpetrator_features(reading: Reading, cast: Sequence[Entity]) -> list[str]:
    """Who did it, for the category of an incident."""
    found: dict[str, None] = {}
    for one in cast:
        found |= {
            f"perpetrator {name}": None
            for name in entity_type_features(reading.story, one, reading)
        }
    return list(found)


@dataclass(frozen=True, slots=True, eq=False)
class ScreeningModels:
    """The models that accept drafts and entities and choose days and places."""

    drafts: Classifier
    entities: Classifier
    days: Classifier
    places: Classifier


@dataclass(frozen=True, slots=True, eq=False)
class IncidentModels:
    """Who reads, who says which events are one, who screens, who chooses from the lists."""

    readers: ReadingModels
    pairs: PairParameters
    screeners: ScreeningModels
    judges: FillModels
    learned_from: str = ""


VERSION = 3
KIND = "incidents"
PAIRS = "pairs"
_SCALE = 100
_MIN_WEIGHT = 4  # hundredths: features whose weights all lie below count for nothing


def models_text(experts: IncidentModels) -> str:
    """The file's text; the same models give the same bytes."""
    parts = [f'"version": {VERSION}', f'"model": "{KIND}"']
    parts.append(f'"learned_from": {json.dumps(experts.learned_from)}')
    for group in ("readers", "screeners", "judges"):
        inner = ",\n".join(
            f'"{one.name}": {_choice_text(getattr(getattr(experts, group), one.name))}'
            for one in fields(getattr(experts, group))
        )
        parts.append(f'"{group}": {{\n{inner}}}')
    parts.append(f'"{PAIRS}": {pair_parameters_text(experts.pairs).rstrip()}')
    return "{" + ",\n".join(parts) + "}\n"


def _choice_text(choice: Classifier) -> str:
    whole = np.rint(choice.weights * _SCALE).astype(int).tolist()
    lines = [
        f"{json.dumps(name, ensure_ascii=False)}:{json.dumps(row, separators=(',', ':'))}"
        for name, place in choice.places.items()
        if max(map(abs, row := whole[place])) >= _MIN_WEIGHT
    ]
    return (
        f'{{"outcomes": {json.dumps(choice.outcomes)}, "features": {{\n' + ",\n".join(lines) + "}}"
    )


def write_models(path: str | Path, experts: IncidentModels) -> None:
    write_atomically(path, models_text(experts))


def read_models(path: str | Path) -> IncidentModels:
    """Read the models of a file."""
    return parse_models(whole_text(path), str(path))


def parse_models(text: str, file: str) -> IncidentModels:
    """Parse the models from JSON; the file is named in errors."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise InputError(f"is no JSON: {error}", file=file) from error
    if not isinstance(data, dict) or (data.get("version"), data.get("model")) != (VERSION, KIND):
        raise InputError(f"expected the incidents' models of version {VERSION}", file=file)
    try:
        return IncidentModels(
            ReadingModels(**_group(data["readers"])),
            parse_pair_parameters(json.dumps(data[PAIRS]), file, EVENTS),
            ScreeningModels(**_group(data["screeners"])),
            FillModels(**_group(data["judges"])),
            str(data["learned_from"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"is not as the incidents' models are: {error}", file=file) from error


def _group(data: Mapping[str, Any]) -> dict[str, Classifier]:
    return {name: _choice(one) for name, one in data.items()}


def _choice(data: Mapping[str, Any]) -> Classifier:
    outcomes = tuple(map(str, data["outcomes"]))
    features = data["features"]
    table = np.array(list(features.values()), dtype=np.float64) / _SCALE
    weights = table.reshape(len(features), len(outcomes))
    return Classifier(outcomes, {name: n for n, name in enumerate(features)}, weights)
