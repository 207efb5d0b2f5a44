"""The fused belief about a slot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from partita.core import FloatArray, IntArray, Pair
from partita.fusion.kinds import Kind
from partita.fusion.numeric_slots import ErrorScales, NumberCells
from partita.fusion.people import NameLexicon
from partita.fusion.value_reading import ParsedSlot


@dataclass(frozen=True, slots=True)
class Tempering:
    """How far a posterior is believed: correlation ρ of errors, and the weight of shares of claims.

    `unknown` is a factor of *unknown*. `fitted` is the number of known truths that were used; they
    also give a `level` and `slope` of the log odds of the best value.
    """

    correlation: float = 0.0
    share: float = 0.0
    unknown: float = 1.0
    fitted: int = 0
    level: float = 0.0
    slope: float = 1.0


@dataclass(frozen=True, slots=True)
class HeldOutBin:
    """Held-out claims: what was stated of the best value of the others, and how many agreed."""

    count: int
    stated: float
    agreed: float


@dataclass(frozen=True, slots=True)
class HeldOutFit:
    """What predicts held-out claims best: correlation ρ with its 95 % interval, weight of shares.

    `claims` is the number of held-out claims; `bins` compare them with what the others state.
    `unknown` is the factor on unknown.
    """

    claims: int
    correlation: float
    interval: tuple[float, float]
    share: float
    bins: tuple[HeldOutBin, ...]
    unknown: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """All that was estimated for a slot: with it, objects are independent of each other.

    `rates` are θ by source, `pooled` that of an unseen source; `size` is the number of values that
    a source could state, `values` are those of a closed slot, `labels` their spellings.
    `concentration` is α of shared errors, `dependence` is ρ of dependent pairs of sources,
    `scales` are the errors of numbers and days, `detail` the levels of a hierarchy at which sources
    are general ("" for an unseen one), `change_rate` that of states, per day. `blocs` are the sizes
    of blocs of sources; what they say has another explanation, `rival`, of probability `doubt`.
    """

    kind: Kind
    rates: Mapping[str, FloatArray]
    pooled: FloatArray
    prior: FloatArray
    size: int
    values: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    lexicon: NameLexicon | None = None
    concentration: float | None = None
    dependence: Mapping[Pair, float] = field(default_factory=dict)
    tempering: Tempering = field(default_factory=Tempering)
    scales: ErrorScales | None = None
    detail: Mapping[str, FloatArray] = field(default_factory=dict)
    change_rate: float = 0.0
    blocs: tuple[int, ...] = ()
    rival: Parameters | None = None
    doubt: float = 0.0


@dataclass(frozen=True, slots=True)
class SlotReliability:
    """The reliability of a source in a slot: the probability that its claims are true.

    `low` and `high` are the 95 % interval; `claims` counts its claims that others also make claims
    about, `right` how many are expected to be right.
    """

    source: str
    slot: str
    reliability: float
    low: float
    high: float
    claims: int
    right: float


@dataclass(frozen=True, slots=True)
class Trust(SlotReliability):
    """The reliability of a source in a slot whose values were estimated, with all its claims.

    `rough` and `wrong` are expected counts, as `right` is. `given` says that the reliability was
    set by the user.
    """

    rough: float
    wrong: float
    given: bool = False


@dataclass(frozen=True, slots=True)
class SecondMode:
    """Another solution that explains the claims nearly as well, found from reversed values.

    `gap` is how much less likely it makes the claims, in nats per contested object; `changed` is
    the share of contested objects with another best value. `sources` are then more reliable.
    """

    gap: float
    changed: float
    contested: int
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class StateChanges:
    """P(the state of an object changed between reports), P(a report is wrong), and the rate.

    The rate of change is per day.
    """

    changed: FloatArray
    contradicted: FloatArray
    rate: float


@dataclass(frozen=True, slots=True, eq=False)
class SlotBelief:
    """The belief about one slot. Pair n is a value of an object, the most probable first.

    `unknown` is, for each object, the probability that no source states the true value. `sound` is,
    for each statement, the probability that it is true, even if it is not the whole truth.
    `effective` is the effective number of independent sources, `temper` the mean of τ. `cells` are
    where the true numbers may lie, `second` is another solution that is nearly as good. `inside`
    is, for each pair, the share of unknown that is right below its value in a hierarchy. `state` is
    there for states, whose values are the current ones. `held_out` says how well the other claims
    predict a claim.
    """

    name: str
    parsed: ParsedSlot
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
    effective: float = 0.0
    temper: float = 1.0
    cells: NumberCells | None = None
    second: SecondMode | None = None
    inside: FloatArray | None = None
    state: StateChanges | None = None
    held_out: HeldOutFit | None = None
    starts: IntArray = field(init=False)

    def __post_init__(self) -> None:
        objects = np.arange(len(self.parsed.statements.objects) + 1)
        object.__setattr__(self, "starts", np.searchsorted(self.object, objects))

    def of(self, number: int) -> list[tuple[int, float]]:
        """Return the values of an object, given by its number, with their probabilities."""
        chosen = slice(self.starts[number], self.starts[number + 1])
        return list(
            zip(self.value[chosen].tolist(), self.probability[chosen].tolist(), strict=True)
        )

    def best(self) -> dict[str, tuple[str, float]]:
        """Return the most probable value of each object, with its probability."""
        first = self.starts[:-1][np.diff(self.starts) > 0]
        labels, names = self.parsed.labels, self.parsed.statements.objects
        return {
            names[o]: (labels[v], p)
            for o, v, p in zip(
                self.object[first].tolist(),
                self.value[first].tolist(),
                self.probability[first].tolist(),
                strict=True,
            )
        }
