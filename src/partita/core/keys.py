"""Keys (gold labels) and coreference sets whose correct configuration is known."""

from __future__ import annotations

from dataclasses import dataclass

from partita.core import Configuration, Template


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another configuration that the author of a key holds possible, and how strongly."""

    configuration: Configuration
    weight: float


@dataclass(frozen=True, slots=True)
class Key:
    """The correct configuration of some templates of a message, as a person wrote it."""

    message: str
    templates: tuple[Template, ...]
    configuration: Configuration
    author: str
    time: str
    alternatives: tuple[Alternative, ...] = ()
