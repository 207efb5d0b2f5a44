"""Measure what few keys are worth: shipped parameters, keys alone, and both.

python -m research.few_keys [--runs N] [--start F] [--only NAME]

In each run a fifth of the documents is held out, and 5, 20 and 80 keys of the others are learned
from: whole messages of depots, and sets of at most 9 templates of GUM's news. Bits are those of
held-out sets by the evidential model. Depots starts from the shipped parameters, which were learned
from GUM. News starts from parameters that are learned here from the other free genres (or read from
--start). Differences are paired, with intervals over documents. N is the number of runs with 80
keys; with 20 and 5 keys there are 4 and 8 times as many.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from partita.app.train import train
from partita.configurations.odds import ScaledParameters
from partita.configurations.pair_models import GreedyParameters
from partita.core import FloatArray
from partita.corpora.documents import corpus_path, read_documents
from partita.domains import schema_of
from partita.evaluation.calibration import bootstrap
from partita.evaluation.models import part
from partita.evaluation.rows import table
from partita.evaluation.splits import Cut, cut_document
from partita.pairs.characteristics import EXTENDED, characters, feature_offsets, pairs_of, quintiles
from partita.pairs.columns import Column, template_columns
from partita.pairs.models import MaximumEntropy
from partita.templates.schema import Schema
from partita.training.few_keys import Lesson, adapt_parameters, lesson, sizes_of
from partita.training.key_likelihood import KeyLikelihood
from partita.training.label_choice import feature_indices
from partita.training.pair_models import every_pair
from partita.training.parameter_files import (
    PairParameters,
    read_pair_parameters,
)

ROOT = Path(__file__).parent.parent
GUM = ROOT / "research" / "gum_pairs.json"
DATA = Path(os.environ.get("PARTITA_DATA", ROOT.parent / "shared" / "data"))
OTHERS = ("academic", "bio", "court", "interview", "speech", "textbook", "vlog", "voyage")
NUMBERS = {5: 8, 20: 4, 80: 1}  # keys, and how many times as many runs: few keys vary more
HELD_OUT = 5  # one document in so many
RUNS = 3
SHIPPED, KEYS, BOTH = "shipped only", "keys only", "both"
HEAD = ("corpus", "keys", SHIPPED, KEYS, BOTH, f"{BOTH} − {SHIPPED}", f"{BOTH} − {KEYS}")


def small_sets(documents: Iterable[Cut], largest: int) -> Iterator[Cut]:
    """Yield every set of at most `largest` templates with something to decide.

    A set whose key contradicts what is known is left out: no choice of keys can teach it.
    """
    for document in documents:
        for members in document.sets:
            for chunk in np.array_split(members, -(-len(members) // largest)):
                piece = cut_document(part(document.document, chunk), document.schema)
                if piece.sets and not piece.crosses and not any(map(piece.broken, piece.sets)):
                    yield piece


def untrained_parameters(sets: Sequence[Cut]) -> PairParameters:
    """Return parameters with weights of 0, and classes of distance, which need no keys."""
    cutoffs = quintiles(map(_distances, sets))
    even = MaximumEntropy(EXTENDED, np.zeros(int(feature_offsets(EXTENDED)[-1])), cutoffs)
    greedy = GreedyParameters(0.5, 0.5, 0.5)
    return PairParameters(even, even, greedy, ScaledParameters(1.0, 0.0), 0.05, 0.05)


def _distances(document: Cut) -> Column:
    observed = template_columns(
        document.document.templates, schema=document.schema, compatible=document.compatible
    )
    questions = every_pair(document.labels, document.compatible)
    return characters(pairs_of(observed, questions.left, questions.right, ()))


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Keyed sets by document, the parameters to start from, and whether a key is a document."""

    name: str
    documents: list[list[Lesson]]
    start: PairParameters
    empty: PairParameters
    whole: bool

    @classmethod
    def of(
        cls, name: str, documents: Sequence[Sequence[Cut]], start: PairParameters, whole: bool
    ) -> Corpus:
        kept = [sets for sets in documents if sets]
        empty = untrained_parameters([one for sets in kept for one in sets])
        return cls(
            name, [[lesson(one, start) for one in sets] for sets in kept], start, empty, whole
        )


def depots() -> Corpus:
    cuts = _cuts([corpus_path()], schema_of("depots"))
    sets = [list(small_sets([one], 12)) for one in cuts]
    return Corpus.of("depots", sets, read_pair_parameters(GUM), whole=True)


def news(start: Path | None = None) -> Corpus:
    folder = DATA / "gum" / "train"
    others = [path for name in OTHERS for path in sorted(folder.glob(f"GUM_{name}_*"))]
    learned = (
        train(others, fit="pairs").parameters if start is None else read_pair_parameters(start)
    )
    assert isinstance(learned, PairParameters)
    sets = [list(small_sets([one], 9)) for one in _cuts(sorted(folder.glob("GUM_news_*")), None)]
    return Corpus.of("GUM news", sets, learned, whole=False)


def _cuts(paths: Sequence[Path], schema: Schema | None) -> list[Cut]:
    return [cut_document(document, schema) for document in read_documents(paths)]


def ways(corpus: Corpus, keys: Sequence[Lesson]) -> Iterator[tuple[str, FloatArray]]:
    """Yield the weights that each way learns from some keys."""
    yield SHIPPED, corpus.start.every_pair.weights
    yield KEYS, adapt_parameters(corpus.empty, keys).every_pair.weights
    yield BOTH, adapt_parameters(corpus.start, keys).every_pair.weights


def evidential_bits(key: Lesson, weights: FloatArray, sizes: Sequence[int]) -> float:
    """Return the bits of one key that knowledge does not exclude."""
    odds = weights[feature_indices(key.pairs[key.places], sizes)].sum(axis=1)
    return -KeyLikelihood(key.sets)(odds)[0] / math.log(2)


Bits = dict[int, list[tuple[float, int]]]  # by document: bits and templates of each run


def measured(corpus: Corpus, number: int, runs: int, seed: int) -> dict[str, Bits]:
    """Return the bits of held-out documents by way."""
    bits: dict[str, Bits] = {name: {} for name in (SHIPPED, KEYS, BOTH)}
    sizes = sizes_of(corpus.start.every_pair)
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        order = rng.permutation(len(corpus.documents)).tolist()
        held = order[: len(order) // HELD_OUT]
        keys = _keys(corpus, order[len(held) :], number, rng)
        for name, weights in ways(corpus, keys):
            for n in held:
                some = corpus.documents[n]
                spent = sum(evidential_bits(one, weights, sizes) for one in some)
                templates = sum(len(one.cut.labels) for one in some)
                bits[name].setdefault(n, []).append((spent, templates))
    return bits


def _keys(
    corpus: Corpus, documents: Sequence[int], number: int, rng: np.random.Generator
) -> list[Lesson]:
    """Return so many keys: whole documents, or sets of any of them."""
    if corpus.whole:
        return [one for n in documents[:number] for one in corpus.documents[n]]
    every = [one for n in documents for one in corpus.documents[n]]
    return [every[n] for n in rng.permutation(len(every))[:number].tolist()]


def row(corpus: Corpus, number: int, runs: int, seed: int) -> list[str]:
    """Return the means, and the paired differences with 95 % intervals over documents."""
    bits = measured(corpus, number, runs, seed)
    documents = sorted(bits[BOTH])
    sums = {
        name: np.array([np.sum(some[n], axis=0) for n in documents]) for name, some in bits.items()
    }
    means = [f"{_ratio(one):.3f}" for one in sums.values()]
    return [
        corpus.name,
        str(number),
        *means,
        *(_difference(sums, w, seed) for w in (SHIPPED, KEYS)),
    ]


def _ratio(rows: FloatArray) -> float:
    return float(rows[:, 0].sum() / rows[:, 1].sum())


def _difference(sums: Mapping[str, FloatArray], way: str, seed: int) -> str:
    pairs = np.column_stack([sums[BOTH][:, 0] - sums[way][:, 0], sums[way][:, 1]])

    def figure(sample: Sequence[FloatArray]) -> float:
        return _ratio(np.array(sample))

    interval = bootstrap(list(pairs), figure, np.random.default_rng(seed))
    return f"{_ratio(pairs):+.3f} ({interval.low:+.3f} to {interval.high:+.3f})"


def few_keys(
    runs: int = RUNS, seed: int = 1, start: Path | None = None, only: str | None = None
) -> str:
    """Return the table of bits per template."""
    corpora: dict[str, Callable[[], Corpus]] = {"depots": depots, "news": lambda: news(start)}
    rows = []
    for name, read in corpora.items():
        if only in (None, name):
            corpus = read()
            rows += [row(corpus, n, runs * times, seed) for n, times in NUMBERS.items()]
    return table(HEAD, rows)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=RUNS, help="runs with 80 keys")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=Path, help="parameters learned without news")
    parser.add_argument("--only", choices=("depots", "news"))
    given = parser.parse_args()
    print(few_keys(given.runs, given.seed, given.start, given.only))


if __name__ == "__main__":
    main()
