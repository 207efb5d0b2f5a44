"""The fused belief about slots, as records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from partita.fusion.kinds import Kind
from partita.fusion.people import Lexicon
from partita.fusion.value_reading import Read
from partita.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """All that was learned of a slot: with it, claims about one object touch no other.

    `rates` are θ by source, `pooled` those of a source never met; `size` is how many values a
    source could have said, `values` are all those of a closed slot, `labels` how people write them.
    """

    kind: Kind
    rates: Mapping[str, FloatArray]
    pooled: FloatArray
    prior: FloatArray
    size: int
    values: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    lexicon: Lexicon | None = None


@dataclass(frozen=True, slots=True)
class Trust:
    """How far a source is trusted in a slot: the probability that what it says is true.

    `low` and `high` hold it with probability .95; `right`, `rough` and `wrong` are expected counts
    of its claims. `given` tells that the reliability was not learned.
    """

    source: str
    slot: str
    reliability: float
    low: float
    high: float
    claims: int
    right: float
    rough: float
    wrong: float
    given: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class SlotBelief:
    """One slot. Pair n is a value of an object with its probability, the best of each first.

    `unknown` is, of every object, the probability that nobody has said the value; `sound`, of every
    statement, that it is true, though it may be less than the whole truth.
    """

    name: str
    read: Read
    object: IntArray
    value: IntArray
    probability: FloatArray
    unknown: FloatArray
    sound: FloatArray
    parameters: Parameters
    trust: tuple[Trust, ...]
    rounds: int
    converged: bool
    method: str = "exact"
    starts: IntArray = field(init=False)

    def __post_init__(self) -> None:
        objects = np.arange(len(self.read.said.objects) + 1)
        object.__setattr__(self, "starts", np.searchsorted(self.object, objects))

    def of(self, number: int) -> list[tuple[int, float]]:
        """The values of an object, by its number, with their probabilities."""
        chosen = slice(self.starts[number], self.starts[number + 1])
        return list(
            zip(self.value[chosen].tolist(), self.probability[chosen].tolist(), strict=True)
        )

    def best(self) -> dict[str, tuple[str, float]]:
        """The most probable value of every object that has one, and its probability."""
        first = self.starts[:-1][np.diff(self.starts) > 0]
        labels, names = self.read.labels, self.read.said.objects
        return {
            names[o]: (labels[v], p)
            for o, v, p in zip(
                self.object[first].tolist(),
                self.value[first].tolist(),
                self.probability[first].tolist(),
                strict=True,
            )
        }
