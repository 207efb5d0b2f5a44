"""Multinomial maximum entropy models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from partita.records import FloatArray
from partita.training.maxent import fit_sparse

Features = Sequence[str]
NONE = "NONE"  # the only outcome of a model without examples
BITS = 32  # of a hash
# Rules and sorts are named by the domain, so these features are always readable.
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


@lru_cache(maxsize=1 << 16)
def encode_feature(feature: str) -> str:
    """Return the feature itself if all its words are the domain's, otherwise its hash."""
    readable = feature.startswith(_DOMAIN_PREFIXES) or all(map(_is_domain_word, feature.split(" ")))
    return feature if readable else blake2b(feature.encode(), digest_size=BITS // 8).hexdigest()


def _is_domain_word(word: str) -> bool:
    return word in _DOMAIN_WORDS or (word.isdecimal() and len(word) < 3)


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """Outcomes, the table of weights, and its rows by encoded features."""

    outcomes: tuple[str, ...]
    rows: Mapping[str, int]
    weights: FloatArray

    def probabilities(self, features: Iterable[str]) -> FloatArray:
        """Return the probability of each outcome."""
        codes = map(encode_feature, features)
        rows = [self.rows[name] for name in codes if name in self.rows]
        scores = self.weights[rows].sum(0)
        odds = np.exp(scores - scores.max())
        probabilities: FloatArray = odds / odds.sum()
        return probabilities

    def best(self, features: Iterable[str]) -> tuple[str, float]:
        """Return the most probable outcome and its probability."""
        probabilities = self.probabilities(features)
        index = int(probabilities.argmax())
        return self.outcomes[index], float(probabilities[index])

    def probability(self, outcome: str, features: Iterable[str]) -> float:
        """Return the probability of one outcome, 0 if it does not occur in the training data."""
        if outcome not in self.outcomes:
            return 0.0
        return float(self.probabilities(features)[self.outcomes.index(outcome)])


def train_classifier(
    examples: Sequence[tuple[Features, str]],
    least: int = 2,
    precision: float = 1.0,
    weight: FloatArray | None = None,
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
    weights = fit_sparse(rows, labels, (len(names), len(outcomes)), precision, weight)
    return Classifier(outcomes, row_of, weights)
