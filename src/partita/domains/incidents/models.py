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
NONE = "NONE"  # what is chosen where nothing has been learned
BITS = 32  # of a hash
# Rules and sorts are named by the domain, so that these features are readable whatever they say.
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
    """Return the feature itself if all its words are our own, otherwise its hash."""
    own = feature.startswith(_DOMAIN_PREFIXES) or all(map(_is_domain_word, feature.split(" ")))
    return feature if own else blake2b(feature.encode(), digest_size=BITS // 8).hexdigest()


def _is_domain_word(word: str) -> bool:
    return word in _DOMAIN_WORDS or (word.isdecimal() and len(word) < 3)


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """Outcomes, the table of weights, and its rows by the codes of the features that count."""

    outcomes: tuple[str, ...]
    places: Mapping[str, int]
    weights: FloatArray

    def probabilities(self, features: Iterable[str]) -> FloatArray:
        """One for each outcome."""
        codes = map(encode_feature, features)
        known = [self.places[name] for name in codes if name in self.places]
        scores = self.weights[known].sum(0)
        odds = np.exp(scores - scores.max())
        found: FloatArray = odds / odds.sum()
        return found

    def best(self, features: Iterable[str]) -> tuple[str, float]:
        found = self.probabilities(features)
        place = int(found.argmax())
        return self.outcomes[place], float(found[place])

    def chance(self, outcome: str, features: Iterable[str]) -> float:
        """Of one outcome; none, if it has never been seen."""
        if outcome not in self.outcomes:
            return 0.0
        return float(self.probabilities(features)[self.outcomes.index(outcome)])


def train_classifier(
    seen: Sequence[tuple[Features, str]],
    least: int = 2,
    precision: float = 1.0,
    weight: FloatArray | None = None,
) -> Classifier:
    """The choice that makes the outcomes seen most probable; features seen fewer than `least` times
    are left out. What has always had the same outcome will have it again."""
    coded = [[encode_feature(name) for name in features] for features, _ in seen]
    counts = Counter(name for names in coded for name in names)
    names = sorted(name for name, count in counts.items() if count >= least)
    places = {name: n for n, name in enumerate(names)}
    outcomes = tuple(sorted({outcome for _, outcome in seen})) or (NONE,)
    if len(outcomes) == 1:
        return Classifier(outcomes, {}, np.zeros((0, 1)))
    rows = [sorted({places[name] for name in names if name in places}) for names in coded]
    given = np.array([outcomes.index(outcome) for _, outcome in seen], dtype=np.int64)
    weights = fit_sparse(rows, given, (len(names), len(outcomes)), precision, weight)
    return Classifier(outcomes, places, weights)
