"""Multinomial maximum entropy models."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import chain

import numpy as np

from partita.core import FloatArray, IntArray
from partita.errors import InputError
from partita.training.maxent import logistic_probability
from partita_incidents.model_kernels import Bins, add_trees, descend, grow_tree

Features = Sequence[str]
NONE = "NONE"  # the only outcome of a model without examples
BITS = 32  # of a hash
SEED = 0
MOST_KNOWN = 1 << 17  # features whose rows are kept
INITIAL_SQUARE = 0.01  # of the gradients before the first step
BINS = 32  # of a column of numbers
DIGITS = 4  # of borders and values of trees
TREE_PRIOR = 1.0  # of the values of leaves
MIN_CURVATURE = 4.0  # of a leaf
# Rules and types are named by the domain, so these features are always readable.
_DOMAIN_PREFIXES = ("clause ", "list clause ", "sort ", "perpetrator sort ")
_DOMAIN_WORD_LIST = """
None True False any as at before behind chain chance country dateline day default drafts early
events first form home inside kind kinds late length list many mentions month named names near
none number only order others own perpetrator place relevance same sentence today together told
type week when within yesterday ago bare definite indefinite name pronoun VICTIM TARGET
PERPETRATOR ORGANISATION INSTRUMENT NONE TERRORIST GUERRILLAS STATE PERSON PLACE EVENT NAME OTHER
PLURAL ARSON ATTACK BOMBING KIDNAPPING ROBBERY HIJACKING FORCED WORK STOPPAGE CITY DEPARTMENT
PROVINCE REGION MUNICIPALITY NEIGHBORHOOD
"""
_DOMAIN_WORDS = frozenset(_DOMAIN_WORD_LIST.split())

MOST_STEPS = 150
ENOUGH_GRADIENT = 1e-5


def fit_sparse(
    rows: Sequence[Sequence[int]],
    outcome: IntArray,
    shape: tuple[int, int],
    precision: float,
) -> FloatArray:
    """Return the weights of features by outcomes; a row lists the features of one event."""
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix
    from scipy.special import log_softmax

    if len(np.unique(outcome)) < 2:
        raise InputError("training data has one outcome only; expected several")
    counts = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    columns = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(counts.sum()))
    ends = np.concatenate([[0], np.cumsum(counts)])
    table = csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(rows), shape[0]))
    transposed = table.T.tocsr()
    observed = np.zeros((len(rows), shape[1]))
    observed[np.arange(len(rows)), outcome] = 1.0

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        weights = flat.reshape(shape)
        log = log_softmax(table @ weights, axis=1)
        nats = -float((observed * log).sum(1).sum()) + precision * float(flat @ flat) / 2
        gradient = transposed @ (np.exp(log) - observed) + precision * weights
        return nats / len(rows), gradient.ravel() / len(rows)

    options = {"gtol": ENOUGH_GRADIENT, "maxiter": MOST_STEPS, "maxcor": 10}
    start = np.zeros(shape[0] * shape[1])
    result = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    weights: FloatArray = result.x.reshape(shape)
    return weights


@lru_cache(maxsize=1 << 16)
def encode_feature(feature: str) -> str:
    """Return the feature itself if all its words are the domain's, otherwise its hash."""
    readable = feature.startswith(_DOMAIN_PREFIXES) or all(map(_is_domain_word, feature.split(" ")))
    return feature if readable else blake2b(feature.encode(), digest_size=BITS // 8).hexdigest()


def _is_domain_word(word: str) -> bool:
    return word in _DOMAIN_WORDS or (word.isdecimal() and len(word) < 3)


class _KnownRows(dict[str, int]):
    """The rows of features that were looked up, -1 for a feature without weights."""

    def __init__(self, rows: Mapping[str, int]) -> None:
        self.rows = rows

    def __missing__(self, feature: str) -> int:
        if len(self) >= MOST_KNOWN:
            self.clear()
        row = self[feature] = self.rows.get(encode_feature(feature), -1)
        return row


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """Outcomes, the table of weights, and its rows by encoded features."""

    outcomes: tuple[str, ...]
    rows: Mapping[str, int]
    weights: FloatArray
    _known: _KnownRows = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_known", _KnownRows(self.rows))

    def probabilities(self, features: Iterable[str]) -> FloatArray:
        """Return the probability of each outcome."""
        rows = [row for row in map(self._known.__getitem__, features) if row >= 0]
        scores = self.weights[rows].sum(0)
        odds = np.exp(scores - scores.max())
        probabilities: FloatArray = odds / odds.sum()
        return probabilities

    def by_outcome(self, features: Iterable[str]) -> dict[str, float]:
        """Return the probabilities by the names of the outcomes."""
        return dict(zip(self.outcomes, self.probabilities(features).tolist(), strict=True))

    def best(self, features: Iterable[str], but: str = "") -> tuple[str, float]:
        """Return the most probable outcome, other than `but`, and its probability."""
        probabilities = self.probabilities(features)
        if but in self.outcomes:
            probabilities[self.outcomes.index(but)] = 0.0
        index = int(probabilities.argmax())
        return self.outcomes[index], float(probabilities[index])

    def probability(self, outcome: str, features: Iterable[str]) -> float:
        """Return the probability of one outcome, 0 if it does not occur in the training data."""
        if outcome not in self.outcomes:
            return 0.0
        return float(self.probabilities(features)[self.outcomes.index(outcome)])


def log_odds(probability: float) -> float:
    """Return the logarithm of the odds, within ± 9."""
    bounded = min(max(probability, 1e-4), 1 - 1e-4)
    return float(np.log(bounded / (1 - bounded)))


class Examples:
    """Features and outcomes of training examples, and the message of each."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.features = array("q")
        self.ends = array("q")
        self.outcomes: list[str] = []
        self.messages: list[int] = []

    def add(self, features: Iterable[str], outcome: str, message: int) -> None:
        numbers = self.numbers
        self.features.extend({numbers.setdefault(name, len(numbers)): 0 for name in features})
        self.ends.append(len(self.features))
        self.outcomes.append(outcome)
        self.messages.append(message)

    def train(self, messages: Collection[int], least: int, rate: float, passes: int) -> Classifier:
        """Train a classifier by stochastic gradient steps on the examples of some messages.

        Few passes regularise; features with fewer than `least` examples are left out.
        """
        chosen = np.isin(np.array(self.messages, dtype=np.int64), np.array(sorted(messages)))
        outcomes = tuple(sorted({self.outcomes[n] for n in np.flatnonzero(chosen)})) or (NONE,)
        if len(outcomes) == 1:
            return Classifier(outcomes, {}, np.zeros((0, 1)))
        features, ends = np.array(self.features), np.array(self.ends)
        counts = np.bincount(features[np.repeat(chosen, np.diff(ends, prepend=0))])
        kept = np.flatnonzero(counts >= least)
        rows = np.full(len(self.numbers), len(kept))  # the last row stands for the others
        rows[kept] = np.arange(len(kept))
        index = {outcome: n for n, outcome in enumerate(outcomes)}
        labels = np.array([index.get(outcome, 0) for outcome in self.outcomes], dtype=np.int64)
        weights = np.zeros((len(kept) + 1, len(outcomes)), dtype=np.float32)
        squares = np.full_like(weights, INITIAL_SQUARE)
        used = np.isin(features, kept)
        ends = np.concatenate([[0], np.cumsum(used)])[ends]
        random = np.random.default_rng(SEED)
        for _ in range(passes):
            order = random.permutation(np.flatnonzero(chosen))
            descend(rows[features[used]], ends, labels, order, weights, squares, rate)
        names = list(self.numbers)
        coded = {encode_feature(names[n]): row for row, n in enumerate(kept.tolist())}
        return Classifier(outcomes, coded, weights[:-1].astype(np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class BoostedTrees:
    """Gradient-boosted trees: P(yes) of rows of numbers.

    `borders` are those between the bins of each column; a row of the tables is a tree.
    """

    borders: tuple[FloatArray, ...]
    base: float
    tested: IntArray
    cuts: IntArray
    values: FloatArray

    def probabilities(self, rows: FloatArray) -> FloatArray:
        """Return P(yes) of each row."""
        scores = np.full(len(rows), self.base)
        if len(rows) and len(self.tested):
            add_trees(_bins(rows, self.borders), self.tested, self.cuts, self.values, scores)
        probabilities: FloatArray = logistic_probability(scores)
        return probabilities


def _bins(rows: FloatArray, borders: Sequence[FloatArray]) -> Bins:
    return np.stack(
        [np.searchsorted(edges, rows[:, j]) for j, edges in enumerate(borders)], axis=1
    ).astype(np.uint8)


def train_trees(
    rows: FloatArray,
    labels: Sequence[float],
    trees: int = 150,
    depth: int = 3,
    rate: float = 0.04,
    share: float = 0.5,
) -> BoostedTrees:
    """Fit trees to rows of numbers and their labels from 0 to 1; each tree to a random share."""
    right = np.asarray(labels, dtype=np.float64)
    base = log_odds(float((right.sum() + 1) / (len(right) + 2)))
    if not len(right):
        empty = np.zeros((0, 1), dtype=np.int64)
        return BoostedTrees((), base, empty, empty, empty.astype(np.float64))
    borders = tuple(
        np.unique(np.round(np.quantile(column, np.linspace(0, 1, BINS)[1:-1]), DIGITS))
        for column in rows.T
    )
    bins, scores = _bins(rows, borders), np.full(len(rows), base)
    grown: list[tuple[IntArray, IntArray, FloatArray]] = []
    random = np.random.default_rng(SEED)
    for _ in range(trees):
        p, chosen = logistic_probability(scores), random.random(len(rows)) < share
        gradient, curvature = (p - right)[chosen], (p * (1 - p) + 1e-9)[chosen]
        tested, cuts, values = grow_tree(
            bins[chosen], gradient, curvature, depth, BINS, TREE_PRIOR, MIN_CURVATURE
        )
        values = np.round(rate * values, DIGITS)
        add_trees(bins, tested[None], cuts[None], values[None], scores)
        grown.append((tested, cuts, values))
    tested, cuts, values = (np.array(column) for column in zip(*grown, strict=True))
    return BoostedTrees(borders, base, tested, cuts, values)


def train_classifier(
    examples: Sequence[tuple[Features, str]],
    least: int = 2,
    precision: float = 1.0,
) -> Classifier:
    """Fit a classifier to features and outcomes; features seen fewer than `least` times are left
    out."""
    coded = [[encode_feature(name) for name in features] for features, _ in examples]
    counts = Counter(name for names in coded for name in names)
    names = sorted(name for name, count in counts.items() if count >= least)
    row_of = {name: n for n, name in enumerate(names)}
    outcomes = tuple(sorted({outcome for _, outcome in examples})) or (NONE,)
    if len(outcomes) == 1:
        return Classifier(outcomes, {}, np.zeros((0, 1)))
    rows = [sorted({row_of[name] for name in names if name in row_of}) for names in coded]
    labels = np.array([outcomes.index(outcome) for _, outcome in examples], dtype=np.int64)
    weights = fit_sparse(rows, labels, (len(names), len(outcomes)), precision)
    return Classifier(outcomes, row_of, weights)
