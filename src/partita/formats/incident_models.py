"""The incidents' models as one JSON file: outcomes, and hundredths of weights by feature; what the
models over pairs of events learn stands in it as in a file of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from partita.errors import InputError
from partita.formats.atomic import write_atomically
from partita.formats.pair_models import PAIRS, pair_parameters_text, parse_pair_parameters
from partita.incidents.details import Judges
from partita.incidents.experts import Experts, Screeners
from partita.incidents.models import Choice
from partita.incidents.readings import Readers

VERSION = 2
KIND = "incidents"
NAME = "incidents.json"
_SCALE = 100
_LEAST = 4  # hundredths: features whose weights all lie below count for nothing


def experts_text(experts: Experts) -> str:
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


def _choice_text(choice: Choice) -> str:
    whole = np.rint(choice.weights * _SCALE).astype(int).tolist()
    lines = [
        f"{json.dumps(name, ensure_ascii=False)}:{json.dumps(row, separators=(',', ':'))}"
        for name, place in choice.places.items()
        if max(map(abs, row := whole[place])) >= _LEAST
    ]
    return (
        f'{{"outcomes": {json.dumps(choice.outcomes)}, "features": {{\n' + ",\n".join(lines) + "}}"
    )


def write_experts(path: str | Path, experts: Experts) -> None:
    write_atomically(path, experts_text(experts))


def read_experts(path: str | Path) -> Experts:
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8; expected the incidents' models", file=str(path)) from error
    return _experts(text, str(path))


def shipped_experts() -> Experts:
    return _experts((files("partita.parameters") / NAME).read_text("utf-8"), NAME)


def _experts(text: str, file: str) -> Experts:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise InputError(f"is no JSON: {error}", file=file) from error
    if not isinstance(data, dict) or (data.get("version"), data.get("model")) != (VERSION, KIND):
        raise InputError(f"expected the incidents' models of version {VERSION}", file=file)
    try:
        return Experts(
            Readers(**_group(data["readers"])),
            parse_pair_parameters(json.dumps(data[PAIRS]), file),
            Screeners(**_group(data["screeners"])),
            Judges(**_group(data["judges"])),
            str(data["learned_from"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"is not as the incidents' models are: {error}", file=file) from error


def _group(data: Mapping[str, Any]) -> dict[str, Choice]:
    return {name: _choice(one) for name, one in data.items()}


def _choice(data: Mapping[str, Any]) -> Choice:
    outcomes = tuple(map(str, data["outcomes"]))
    features = data["features"]
    table = np.array(list(features.values()), dtype=np.float64) / _SCALE
    weights = table.reshape(len(features), len(outcomes))
    return Choice(outcomes, {name: n for n, name in enumerate(features)}, weights)
