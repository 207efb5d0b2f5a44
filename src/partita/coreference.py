"""Use the output of another coreference system: its mentions, and its links as evidence.

    from_fastcoref  a result of fastcoref, with the scores of its links
    from_stanza     a document of Stanza with coreference chains
    from_clusters   clusters of character spans, as most systems write them

Each returns `PairScores`: solve(scores.pairs) gives the distribution over who is who, and
run(scores.text, mentions=scores.mentions) resolves the same mentions with Partita's own models.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.app.run import ResolvedMessage
from partita.core import FloatArray, pair
from partita.errors import InputError

__all__ = ["PairScores", "from_clusters", "from_fastcoref", "from_stanza"]

Span = tuple[int, int]
CLIP = 1e-6  # probabilities of others are evidence and never certain


@dataclass(frozen=True, slots=True)
class PairScores:
    """Mentions of a text, m1, m2, … in text order, and the probability that two corefer.

    `spans` are characters of the text. Every pair of mentions has a probability.
    """

    text: str
    spans: tuple[Span, ...]
    pairs: tuple[tuple[str, str, float], ...]

    @property
    def mentions(self) -> list[dict[str, Any]]:
        """The mentions as the argument of `run`."""
        return [
            {"id": f"m{n}", "start": start, "end": end, "text": self.text[start:end]}
            for n, (start, end) in enumerate(self.spans, 1)
        ]

    def combined(self, result: ResolvedMessage, prior: float = 0.5) -> PairScores:
        """Return the scores with the evidence of a result of `run` on the same mentions.

        The two are taken as independent: their odds are multiplied, and divided by the odds of
        the `prior`, which both have in them.
        """
        if not 0.0 < prior < 1.0:
            raise ValueError(f"prior is {prior} (expected a probability between 0 and 1)")
        if {one.id for one in result.mentions} != {one["id"] for one in self.mentions}:
            raise InputError("the result has other mentions (expected run(…, mentions=…) of these)")
        own = _marginals(result)
        log_prior = _log_odds(prior)
        pairs = tuple(
            (a, b, _probability(_log_odds(p) + _log_odds(own.get(pair(a, b), 0.0)) - log_prior))
            for a, b, p in self.pairs
        )
        return PairScores(self.text, self.spans, pairs)


def from_clusters(
    text: str, clusters: Iterable[Iterable[Sequence[int]]], *, precision: float, missed: float
) -> PairScores:
    """Return the scores of clusters of [start, end] spans, with end behind the last character.

    `precision` is the share of pairs within the system's clusters that do corefer, `missed` the
    share of other pairs that do: measure both on texts with known clusters.
    """
    for name, share in (("precision", precision), ("missed", missed)):
        if not 0.0 <= share <= 1.0:
            raise ValueError(f"{name} is {share} (expected a share from 0 to 1)")
    homes: dict[Span, int] = {}
    for number, cluster in enumerate(clusters, 1):
        for span in cluster:
            if homes.setdefault(_checked(span, text), number) != number:
                raise InputError(f"the span {span[0]} to {span[1]} is in two clusters")
    spans = sorted(homes, key=_in_text_order)
    same = np.array([[homes[a] == homes[b] for b in spans] for a in spans], dtype=bool)
    return _scores(text, spans, np.where(same, precision, missed))


def from_fastcoref(result: Any, *, least: float = 0.05) -> PairScores:
    """Return the scores of a `CorefResult` of fastcoref.

    The model chooses an antecedent, or none, for every span by a softmax over its logits, and
    chooses for each span independently. The probability that two spans corefer follows exactly:
    that of the later one's antecedent coreferring with the earlier one, summed over antecedents.
    Spans are left out that are in no cluster and corefer with nothing with probability `least`.
    """
    places = {index: tuple(span) for span, (index, _) in result.reverse_char_map.items()}
    order = sorted(index for index, span in places.items() if None not in span)
    links = _same_cluster(np.asarray(result.coref_logit, dtype=np.float64), order)
    clustered = {
        tuple(span) for cluster in result.get_clusters(as_strings=False) for span in cluster
    }
    linked = np.where(np.eye(len(order), dtype=bool), 0.0, links).max(axis=1, initial=0.0)
    kept = [n for n, index in enumerate(order) if places[index] in clustered or linked[n] >= least]
    kept.sort(key=lambda n: _in_text_order(_checked(places[order[n]], result.text)))
    spans = [_checked(places[order[n]], result.text) for n in kept]
    return _scores(result.text, spans, links[np.ix_(kept, kept)])


def from_stanza(doc: Any, *, precision: float, missed: float) -> PairScores:
    """Return the scores of a document of Stanza with coreference chains in `doc.coref`.

    Stanza gives no scores: `precision` and `missed` are those of `from_clusters`. Mentions that
    are not in the text, such as dropped pronouns, are left out.
    """
    clusters = []
    for chain in doc.coref:
        mentions = [one for one in chain.mentions if isinstance(one.start_word, int)]
        clusters.append([_stanza_span(one, doc.sentences) for one in mentions])
    return from_clusters(doc.text, clusters, precision=precision, missed=missed)


def _stanza_span(mention: Any, sentences: Sequence[Any]) -> Span:
    """Return the characters of a mention; a word inside a multiword token has that token's."""
    words = sentences[mention.sentence].words[mention.start_word : mention.end_word]
    tokens = [word if word.start_char is not None else word.parent for word in words]
    return tokens[0].start_char, tokens[-1].end_char


def _same_cluster(logits: FloatArray, order: Sequence[int]) -> FloatArray:
    """Return the probability that two spans are in one cluster, from scores of antecedents."""
    links = np.eye(len(order))
    for n, index in enumerate(order):
        scores = np.append(logits[index, list(order[:n])], 0.0)  # the last: no antecedent
        weights = np.exp(scores - scores.max())
        links[n, :n] = links[:n, n] = (weights[:-1] / weights.sum()) @ links[:n, :n]
    return np.clip(links, 0.0, 1.0)


def _checked(span: Sequence[int], text: str) -> Span:
    start, end = span
    if not 0 <= start < end <= len(text):
        raise InputError(f"the span {start} to {end} is outside of the text (ends at {len(text)})")
    return int(start), int(end)


def _in_text_order(span: Span) -> Span:
    return span[0], -span[1]


def _scores(text: str, spans: Sequence[Span], links: FloatArray) -> PairScores:
    pairs = tuple(
        (f"m{a + 1}", f"m{b + 1}", min(max(float(links[a, b]), CLIP), 1.0 - CLIP))
        for a in range(len(spans))
        for b in range(a + 1, len(spans))
    )
    return PairScores(text, tuple(spans), pairs)


def _marginals(result: ResolvedMessage) -> Mapping[tuple[str, str], float]:
    columns = result._columns("pairs")
    ids = (columns[name] for name in ("left", "right", "marginal"))
    return {pair(a, b): p for a, b, p in zip(*ids, strict=True)} if columns["set"] else {}


def _log_odds(probability: float) -> float:
    p = min(max(probability, CLIP), 1.0 - CLIP)
    return math.log(p) - math.log1p(-p)


def _probability(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-log_odds))
