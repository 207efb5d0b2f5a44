"""The distribution of the joint model, and the sets and documents that it solves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita.configurations.count import bell, count_configurations, log2_bell
from partita.configurations.exact.listed import LARGEST, ListedRows, partitions
from partita.configurations.joint.features import joint_columns
from partita.configurations.joint.model import JointModel
from partita.configurations.report import distribution_of
from partita.core import (
    Best,
    CoreferenceSet,
    Distribution,
    Figure,
    FloatArray,
    IntArray,
    Marginals,
    Method,
    Template,
    compatible_pairs,
    restricted_growth_rows,
)
from partita.errors import InputError, PartitaError, Unavailable

if TYPE_CHECKING:
    from partita.configurations.joint.features_kernels import Mentions
    from partita.configurations.joint.network_kernels import Network


DRAWS, FEWEST_DRAWS = 80, 24
WIDTH, NARROW = 64, 10  # of the beam; NARROW is the usual length of a list
FEW = 100  # templates; of more, each draw takes longer, and a narrow beam finds as good a list
TOGETHER = 1024  # draws that are made at a time
NOTHING: FloatArray = np.zeros((0, 0))
COUNTED = 100  # templates whose configurations are counted exactly
ENUMERATED = "exact by enumeration"


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """What draws estimate: pair probabilities in the order of decisions, and the entropy.

    Beside the draws, a beam search lists the best configurations that it finds.
    """

    value: FloatArray
    error: FloatArray
    bits: Figure
    rows: IntArray
    best: Best


@dataclass(slots=True, eq=False)
class JointPosterior:
    """The joint model's posterior; `order[k]` is the template that is decided as k-th.

    Up to nine templates all configurations are listed. Beyond, pair probabilities come from
    `draw_count` draws.
    """

    order: IntArray
    mentions: Mentions
    network: Network
    seed: int = 0
    draw_count: int = DRAWS
    _listed: ListedRows | None = field(default=None, repr=False)
    _sampled: Estimates | None = field(default=None, repr=False)
    _marginals: Marginals | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not len(self.order):
            raise InputError("a document without templates has no configurations")

    @property
    def size(self) -> int:
        return len(self.order)

    @property
    def method(self) -> Method:
        return "exact" if self.size <= LARGEST else "sampled"

    @property
    def reason(self) -> str:
        if self.size <= LARGEST:
            return ENUMERATED
        draws = f"{len(self._draws().rows)} draws, standard errors at most {self.error:.3f}"
        return f"exact probabilities of configurations, pairs from {draws}"

    @property
    def log_normaliser(self) -> Figure:
        return Figure.exact(0.0)

    @property
    def error(self) -> float:
        """The largest standard error of a pair probability."""
        return 0.0 if self.size <= LARGEST else float(self._draws().error.max(initial=0.0))

    def log_weight(self, labels: IntArray) -> float:
        """Return log P of one configuration."""
        return float(self.log_weights(np.asarray(labels, dtype=np.int64)[None, :])[0])

    def log_weights(self, rows: IntArray) -> FloatArray:
        """Return log P of several configurations."""
        from partita.configurations.joint.network_kernels import EXCLUSION, log_probabilities

        decided = np.ascontiguousarray(self.decided(rows))
        logs = log_probabilities(self.mentions, self.network, decided)
        possible: FloatArray = np.where(logs > -EXCLUSION / 2, logs, -np.inf)
        return possible

    def decided(self, rows: IntArray) -> IntArray:
        """Return labels in text order as labels in the order of decisions."""
        return restricted_growth_rows(rows[:, self.order])

    def count(self) -> int | None:
        if len(self.mentions.incompatible):
            return count_configurations(~self.mentions.incompatible)
        return bell(self.size) if self.size <= COUNTED else None

    def log2_count(self) -> Figure:
        number, most = self.count(), log2_bell(self.size)
        if number is not None:
            return Figure.exact(math.log2(number))
        excluded = len(self.mentions.incompatible) > 0
        return Figure.interval(0.0, most) if excluded else Figure.exact(most)

    def entropy(self) -> Figure:
        return self._draws().bits if self.size > LARGEST else self._rows().entropy()

    def pairs(self) -> Marginals:
        if self.size <= LARGEST:
            return self._rows().pairs()
        if self._marginals is None:
            self._marginals = self._estimated_pairs()
        return self._marginals

    def _estimated_pairs(self) -> Marginals:
        estimates = self._draws()
        value, error = self._in_text_order(estimates.value), self._in_text_order(estimates.error)
        np.fill_diagonal(value, 1.0)
        low, high = np.clip(value - error, 0.0, 1.0), np.clip(value + error, 0.0, 1.0)
        return Marginals(value, low, high, "estimate")

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        if self.size <= LARGEST:
            return self._rows().cells()
        raise Unavailable("cell probabilities need an exact answer; draws give pair probabilities")

    def best(self, k: int) -> Best:
        """List the best by beam search, with exact log P; `gap` bounds what it may have missed."""
        if self.size <= LARGEST:
            return self._rows().best(k)
        found = (
            self._draws().best
            if k <= self._width
            else self._draw_and_search(self._no_uniforms, k)[2]
        )
        labels, logs = found.labels[:k], found.log_weights[:k]
        return Best(self._in_text(labels), logs, max(0.0, found.gap - float(logs[-1])))

    @property
    def _width(self) -> int:
        return WIDTH if self.size <= FEW else NARROW

    @property
    def _no_uniforms(self) -> FloatArray:
        return np.zeros((0, self.size))

    def _draw_and_search(
        self,
        uniforms: FloatArray,
        width: int,
        sums: FloatArray = NOTHING,
        squares: FloatArray = NOTHING,
    ) -> tuple[IntArray, FloatArray, Best]:
        """Return a draw for each row of uniforms, the entropies of decisions, and a list by beam.

        The gap of the list is the highest log P dropped.
        """
        from partita.configurations.joint.network_kernels import draw_and_search

        rows, entropies, best, logs, dropped = draw_and_search(
            self.mentions, self.network, uniforms, width, sums, squares
        )
        return rows, entropies, Best(best, logs, float(dropped))

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        blocks = (min(TOGETHER, count - first) for first in range(0, count, TOGETHER))
        rows = [self._draw_and_search(rng.random((block, self.size)), 0)[0] for block in blocks]
        return self._in_text(np.concatenate([np.zeros((0, self.size), np.int64), *rows]))

    def drawn_rows(self) -> IntArray:
        """Return the draws behind the pair probabilities."""
        return self._in_text(self._draws().rows)

    def _in_text(self, rows: IntArray) -> IntArray:
        placed = np.empty_like(rows)
        placed[:, self.order] = rows
        return restricted_growth_rows(placed)

    def _in_text_order(self, lower: FloatArray) -> FloatArray:
        matrix = np.empty_like(lower)
        matrix[np.ix_(self.order, self.order)] = lower + lower.T
        return matrix

    def _rows(self) -> ListedRows:
        """Return every configuration, in the order of `partitions`, with its probability."""
        if self._listed is None:
            logs = self.log_weights(rows := partitions(self.size))
            rows, logs = rows[logs > -np.inf], logs[logs > -np.inf]
            self._listed = ListedRows(rows, logs, float(np.logaddexp.reduce(logs)), None)
        return self._listed

    def _draws(self) -> Estimates:
        if self._sampled is None:
            self._sampled = _sample(self)
        return self._sampled


def _sample(posterior: JointPosterior) -> Estimates:
    """Return means over draws, with the standard errors that independent draws would have."""
    n, rng = posterior.size, np.random.default_rng(posterior.seed)
    sums, squares, count = np.zeros((n, n)), np.zeros((n, n)), posterior.draw_count
    rows: list[IntArray] = []
    nats: list[FloatArray] = []
    bests: list[Best] = []
    for first in range(0, count, TOGETHER):
        uniforms = spread_uniforms(min(TOGETHER, count - first), n, rng)
        width = 0 if bests else posterior._width
        drawn, entropies, best = posterior._draw_and_search(uniforms, width, sums, squares)
        rows.append(drawn)
        nats.append(entropies)
        bests.append(best)
    variances = np.maximum(squares / count - (sums / count) ** 2, 0.0)
    error = np.sqrt(variances / max(1, count - 1))
    each = np.concatenate(nats)
    spread = float(each.std()) / math.sqrt(max(1, count - 1))
    bits = Figure.estimate(float(each.mean()) / math.log(2), spread / math.log(2))
    value = np.clip(sums / count, 0.0, 1.0)
    if len(posterior.mentions.incompatible):
        value[posterior.mentions.incompatible] = 0.0  # and not what rounding leaves
    return Estimates(value, error, bits, np.concatenate(rows), bests[0])


def spread_uniforms(draws: int, decisions: int, rng: np.random.Generator) -> FloatArray:
    """Return uniforms of which each decision has one in every equal part from 0 to 1.

    This is Latin hypercube sampling. Each draw has the distribution of an independent one, and
    means over the draws vary about half as much.
    """
    parts = np.argsort(rng.random((draws, decisions)), axis=0)
    uniforms: FloatArray = (parts + rng.random((draws, decisions))) / draws
    return uniforms


def draw_count(templates: int) -> int:
    """Return the usual number of draws for so many templates."""
    return max(FEWEST_DRAWS, min(DRAWS, DRAWS * FEW // max(1, templates)))


def joint_posterior(
    templates: Sequence[Template],
    model: JointModel,
    *,
    seed: int = 0,
    draws: int | None = None,
    incompatible: NDArray[np.bool_] | None = None,
) -> JointPosterior:
    """Return the model's distribution over the configurations of templates.

    No mention can join a cell with one that it is `incompatible` with. Pair probabilities of large
    sets come from `draws` draws.
    """
    draws = draw_count(len(templates)) if draws is None else draws
    columns = joint_columns(templates, model.lexemes, incompatible, model.encoder)
    return JointPosterior(columns.order, columns.mentions, model.network, seed, draws)


def solve_joint(
    sets: Sequence[CoreferenceSet],
    model: JointModel,
    *,
    top: int | None = None,
    threshold: float | None = None,
    seed: int = 0,
    draws: int | None = None,
) -> Iterator[Distribution | PartitaError]:
    """Yield the distribution of each set, or its error; pairs from so many draws.

    The pair probabilities are the joint model's before incompatible templates are excluded.
    """
    for group in sets:
        try:
            yield _distribution(group, model, top, threshold, seed, draws)
        except PartitaError as error:
            yield error


def _distribution(
    group: CoreferenceSet,
    model: JointModel,
    top: int | None,
    threshold: float | None,
    seed: int,
    draws: int | None,
) -> Distribution:
    free = posterior = joint_posterior(group.templates, model, seed=seed, draws=draws)
    compatible = compatible_pairs(group)
    if group.incompatible:
        posterior = joint_posterior(
            group.templates, model, seed=seed, draws=draws, incompatible=~compatible
        )
    return distribution_of(
        posterior,
        group,
        np.where(compatible, free.pairs().value, 0.0),
        "joint",
        top=top,
        threshold=threshold,
        seed=seed,
        log2_count=posterior.log2_count(),
    )
