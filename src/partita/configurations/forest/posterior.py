"""Posteriors of the forest model: exact for small sets, exact draws for large ones.

The most probable configurations of a large set are the heaviest of its draws and of clusters by
mean linkage of the pair probabilities.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from partita.configurations.count import count_configurations, log2_bell
from partita.configurations.exact.posterior import SubsetPosterior
from partita.configurations.forest.model import (
    ForestParameters,
    Graph,
    independent,
    scores_of,
    violated,
    weigh,
)
from partita.configurations.forest.network import ForestNetwork
from partita.configurations.odds import PairKnowledge
from partita.configurations.product_posterior import Contracted, Part, Product
from partita.core import (
    Best,
    BoolArray,
    Budget,
    Figure,
    FloatArray,
    IntArray,
    Marginals,
    Method,
    Posterior,
)
from partita.core.configurations import mean_linkage
from partita.errors import InputError, TooLarge, Unavailable

EXACT = 14  # groups up to which tables over subsets answer at once
LARGEST = 18  # … and up to which they can, where draws do not or an exact answer is asked for
DRAWS = 4000  # from which the error of a pair is at most .008
CHUNK = 250
MIN_KEPT_DRAWS = 1e-3  # share of draws that must keep all cannot-links
WEIGHED = 200  # draws whose weights give the entropy, and that are listed as the best at most
COUNTED = 300  # groups up to which configurations are counted


def forest(
    knowledge: PairKnowledge,
    parameters: ForestParameters,
    budget: Budget,
    seed: int = 0,
    method: str = "auto",
) -> Posterior:
    """Return the posterior of a set; parts that cannot corefer are solved on their own."""
    if method == "certified":
        raise InputError("the forest model has no certified method (expected exact or sampled)")
    scores = scores_of(knowledge)
    groups = of_graph(weigh(scores, parameters), budget, seed, method)
    return groups if groups.size == len(scores.home) else Contracted(groups, scores.home)


def of_graph(graph: Graph, budget: Budget, seed: int = 0, method: str = "auto") -> Posterior:
    """Return the posterior of the groups of a graph."""
    home = independent(graph)
    numbers = np.unique(home)
    if len(numbers) == 1:
        return _connected(graph, budget, seed, method)
    places = [np.flatnonzero(home == number) for number in numbers.tolist()]
    parts = [Part(p, _connected(graph.part(p), budget, seed, method)) for p in places]
    return Product(len(graph), parts)


def _connected(graph: Graph, budget: Budget, seed: int, method: str) -> Posterior:
    n = len(graph)
    if method == "exact" and n > LARGEST:
        needs, has = f"tables over 2^{n} subsets", f"2^{LARGEST}"
        raise TooLarge(f"an exact answer for {n} templates", needs, has, "the method sampled does")
    if method == "exact" or (method == "auto" and n <= EXACT):
        return SubsetPosterior(TreeWeights(graph), budget)
    try:
        return SampledForest(graph, budget, seed)
    except Unavailable:
        if method == "auto" and n <= LARGEST:
            return SubsetPosterior(TreeWeights(graph), budget)
        raise


@dataclass(frozen=True, slots=True, eq=False)
class TreeWeights:
    """The weights of the cells of a graph; they are not products over pairs."""

    graph: Graph
    theta: None = None

    @property
    def compatible(self) -> BoolArray:
        return compatible_groups(self.graph)

    def log_table(self) -> FloatArray:
        return subset_log_weights(self.graph)


def compatible_groups(graph: Graph) -> BoolArray:
    """Return which groups have no cannot-link between them."""
    compatible = np.ones((len(graph), len(graph)), dtype=np.bool_)
    compatible[graph.apart[:, 0], graph.apart[:, 1]] = False
    return compatible & compatible.T


class SampledForest:
    """The posterior of a large set, from independent exact draws.

    The normaliser and the weight of any configuration are exact, if there are no cannot-links;
    with cannot-links the normaliser is corrected by the share of draws that keep them all.
    """

    method: Method = "sampled"
    converged = True

    def __init__(self, graph: Graph, budget: Budget, seed: int) -> None:
        self.graph, self.budget, self.seed = graph, budget, seed
        self.size = len(graph)
        self.network = ForestNetwork(graph, budget.memory)
        self.tried = 0
        self.rows = self._rows()
        self.log_normaliser = self._log_normaliser()

    @property
    def reason(self) -> str:
        words = f"{len(self.rows)} independent exact draws over {self.size} templates"
        if len(self.graph.apart):
            words += f", {len(self.rows) / self.tried:.1%} of them with all cannot-links kept"
        return words

    def _rows(self) -> IntArray:
        """Draw until there are enough, or the time is up; at least one chunk."""
        rng = np.random.default_rng(self.seed)
        wanted = self.budget.work or DRAWS
        wanted = max(1, min(wanted, self.budget.memory // (4 * 8 * self.size)))
        end = time.monotonic() + self.budget.seconds / 2
        found: list[IntArray] = []
        while sum(map(len, found)) < wanted:
            found.append(self._kept(min(CHUNK, wanted), rng))
            kept = sum(map(len, found))
            if self.tried >= 1 / MIN_KEPT_DRAWS and kept < MIN_KEPT_DRAWS * self.tried:
                raise self._refusal()
            if self.budget.work is None and time.monotonic() > end and kept >= CHUNK:
                break
        return np.concatenate(found)[:wanted]

    def _kept(self, number: int, rng: np.random.Generator) -> IntArray:
        rows = self.network.draws(number, rng)
        self.tried += number
        return rows[~violated(self.graph, rows)] if len(self.graph.apart) else rows

    def _refusal(self) -> Unavailable:
        pairs = len(self.graph.apart)
        return Unavailable(
            f"fewer than 1 in {1 / MIN_KEPT_DRAWS:,.0f} draws of the forest model keep all of the "
            f"{pairs:,} cannot-links between {self.size} templates; "
            "the models evidential and merging answer"
        )

    def _log_normaliser(self) -> Figure:
        log = self.network.log_normaliser
        if not len(self.graph.apart):
            return Figure.exact(log)
        share = len(self.rows) / self.tried
        return Figure.estimate(
            log + math.log(share), math.sqrt((1.0 - share) / (share * self.tried))
        )

    def log_weight(self, labels: IntArray) -> float:
        if len(self.graph.apart) and violated(self.graph, labels):
            return -math.inf
        return self.network.log_weight(labels)

    def count(self) -> int | None:
        if self.size > COUNTED:
            return None
        return count_configurations(compatible_groups(self.graph))

    def log2_count(self) -> Figure:
        """Return log₂ of the number, or bounds: without cannot-links, and without their ends."""
        if not len(self.graph.apart):
            return Figure.exact(log2_bell(self.size))
        free = self.size - len(np.unique(self.graph.apart))
        return Figure.interval(log2_bell(free), log2_bell(self.size))

    def entropy(self) -> Figure:
        """H = log Z − E[log w], the mean over draws."""
        logs = self.network.log_weights(self.rows[:WEIGHED])
        error = float(logs.std()) / math.sqrt(len(logs))
        total = self.log_normaliser
        value = max(0.0, total.value - float(logs.mean()))
        error = math.hypot(error, total.high - total.value)
        return Figure.estimate(value / math.log(2.0), error / math.log(2.0))

    def pairs(self) -> Marginals:
        """Return the shares of the draws, with Clopper–Pearson intervals of one standard error."""
        from partita.configurations.forest.batch_kernels import shares

        shares(self.rows, share := np.empty((self.size, self.size)))
        together = np.rint(share * len(self.rows)).astype(np.int64)
        value, low, high = (table[together] for table in clopper_pearson(len(self.rows)))
        for matrix in (value, low, high):
            np.fill_diagonal(matrix, 1.0)
        return Marginals(value, low, high, "estimate")

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        raise Unavailable("draws do not give all cells; they give pairs and configurations")

    def best(self, k: int) -> Best:
        """Return the best that were found; what is not listed has no more than the mass left."""
        rows, weights = self._found
        rows, weights = rows[:k], weights[:k]
        mass = float(np.exp(weights - self.log_normaliser.high).sum())
        left = self.log_normaliser.high + math.log(max(1e-300, 1.0 - mass))
        return Best(rows, weights, max(0.0, left - float(weights[-1])))

    @cached_property
    def _found(self) -> tuple[IntArray, FloatArray]:
        """Configurations and log-weights, best first: frequent draws, and clusters by linkage."""
        rows, times = np.unique(self.rows, axis=0, return_counts=True)
        often = rows[np.argsort(-times, kind="stable")[:WEIGHED]]
        pairs = self.pairs().value
        linked = np.stack([mean_linkage(pairs, least) for least in LINKAGES])
        if len(self.graph.apart):
            linked = linked[~violated(self.graph, linked)]
        found = np.unique(np.concatenate([often, linked]), axis=0)
        logs = self.network.log_weights(found)
        order = np.argsort(-logs, kind="stable")
        return found[order], logs[order]

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        found = [self._kept(min(CHUNK, count), rng)]
        while sum(map(len, found)) < count:
            found.append(self._kept(CHUNK, rng))
        return np.concatenate(found)[:count]


def clopper_pearson(draws: int, level: float = 0.6827) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return share, lower and upper bound for 0 to `draws` successes; 0 successes bound nothing
    to 0."""
    from scipy.stats import beta

    successes = np.arange(draws + 1)
    tail = (1.0 - level) / 2.0
    low = np.append(0.0, beta.ppf(tail, successes[1:], draws - successes[1:] + 1))
    high = np.append(beta.ppf(1.0 - tail, successes[:-1] + 1, draws - successes[:-1]), 1.0)
    return successes / draws, low, high


HEAVIEST = 35.0  # log-weight of an edge: products of 17, summed over all trees, are plain numbers
LINKAGES = (0.2, 0.3, 0.4, 0.5)  # mean probabilities from which clusters are joined


def subset_log_weights(graph: Graph) -> FloatArray:
    """Return log w of every subset of the groups as a cell; −∞ with a cannot-link."""
    from partita.configurations.forest.kernels import fill_tree_weights

    apart = np.zeros(len(graph), dtype=np.int64)
    np.bitwise_or.at(apart, graph.apart[:, 0], 1 << graph.apart[:, 1])
    np.bitwise_or.at(apart, graph.apart[:, 1], 1 << graph.apart[:, 0])
    weights = graph.dense()
    heaviest = math.log(max(1.0, weights.max(initial=0.0)))
    scale = max(0.0, heaviest - HEAVIEST) if len(graph) > EXACT else 0.0
    fill_tree_weights(
        weights * math.exp(-scale), graph.sizes, apart, w := np.empty(1 << len(graph))
    )
    edges = np.bitwise_count(np.arange(len(w))) - 1.0
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(w, out=w) + scale * edges)
