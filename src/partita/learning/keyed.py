"""Keys, and coreference sets for which the correct configuration is known."""

from __future__ import annotations

from dataclasses import dataclass

from partita.errors import InputError
from partita.records import Configuration, PairProbabilities, Template


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


@dataclass(frozen=True, slots=True, eq=False)
class KeyedSet:
    """Pair probabilities of a coreference set with its key: what the models learn from."""

    pairs: PairProbabilities
    key: Configuration

    def __post_init__(self) -> None:
        known = {member for cell in self.key for member in cell}
        if odd := known ^ set(self.pairs.set.ids):
            where = f" of set {self.pairs.set.name}" if self.pairs.set.name else ""
            raise InputError(f"template {min(odd)} is not in both the key and the templates{where}")
