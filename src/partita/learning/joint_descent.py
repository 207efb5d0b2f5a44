"""Adam with decoupled decay and dropped units, over decisions in batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.configurations.joint.model import STARTED, layout
from partita.learning.joint_lessons import Lessons, Single, Weights

OTHER_SORT = -8.0  # where the scores of cells of another sort start
WARM = 50  # steps until the rate is whole
LAST = 0.05  # of the rate is left at the end


@dataclass(frozen=True, slots=True)
class Settings:
    """How to learn; chosen on held-out documents of GUM's training part."""

    units: int = 40  # of a member
    members: int = 3  # networks whose scores are averaged
    sharpness: float = 1.1  # by which the average is multiplied
    epochs: int = 10
    batch: int = 64
    rate: float = 0.003
    decay: float = 0.4
    dropped: float = 0.3
    known: int = 4  # documents that must hold a word for it to have a lexeme
    unsorted: float = 0.1  # the share of documents that are also learned without sorts


@dataclass(slots=True, eq=False)
class Descent:
    """The weights on their way down."""

    settings: Settings
    weights: Weights
    slopes: Weights
    means: Weights
    squares: Weights
    done: int = 0

    @classmethod
    def start(cls, rows: int, settings: Settings, rng: np.random.Generator) -> Descent:
        weights = _start(rows, settings.units, rng)
        return cls(settings, weights, _zeros(weights), _zeros(weights), _zeros(weights))

    def epoch(self, lesson: Lessons, epoch: int, rng: np.random.Generator) -> float:
        """Every decision once; the mean loss in bits."""
        from partita.learning.joint_kernels import gradient

        settings, count, losses = self.settings, len(lesson[5]), np.zeros(len(lesson[5]))
        order = rng.permutation(count)
        for first in range(0, count, settings.batch):
            chosen = order[first : first + settings.batch]
            masks = _masks(len(chosen), settings, rng)
            gradient(self.weights, layout(), lesson, chosen, masks, self.slopes, losses)
            self._step((epoch + first / count) / settings.epochs)
        return float(losses.mean() / np.log(2.0))

    def _step(self, progress: float) -> None:
        from partita.learning.joint_kernels import step

        self.done += 1
        rate = self.settings.rate * min(1.0, self.done / WARM) * (1.0 - (1.0 - LAST) * progress)
        each = zip(self.weights, self.slopes, self.means, self.squares, strict=True)
        for k, (w, s, m, v) in enumerate(each):
            decay = self.settings.decay if k == 0 else 0.0
            step(w.reshape(-1), s.reshape(-1), m.reshape(-1), v.reshape(-1), rate, self.done, decay)


def _start(rows: int, units: int, rng: np.random.Generator) -> Weights:
    table = 0.08 * rng.standard_normal((rows, units))
    table[STARTED:] *= 0.1  # a word must first earn what it says
    out = 0.3 * rng.standard_normal((2, units))
    bias, other = np.zeros((2, units)), np.full(3, OTHER_SORT)
    single = [array.astype(np.float32) for array in (table, bias, out, other)]
    return single[0], single[1], single[2], single[3]


def _zeros(weights: Weights) -> Weights:
    table, bias, out, other = (np.zeros_like(w) for w in weights)
    return table, bias, out, other


def _masks(count: int, settings: Settings, rng: np.random.Generator) -> Single:
    kept = rng.random((count, settings.units), dtype=np.float32) >= settings.dropped
    return np.where(kept, 1.0 / (1.0 - settings.dropped), 0.0).astype(np.float32)
