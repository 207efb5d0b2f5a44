"""The pair model of depots, learned from two parts of the corpus, on the third."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from partita.configurations.solve_batch import solve_many
from partita.core import Budget, Configuration, CoreferenceSet, PairProbabilities, pair
from partita.corpora.documents import corpus_path, read_keyed_messages
from partita.domains import schema_of
from partita.evaluation.splits import Cut, cut_document
from partita.pairs.models import pair_matrix
from partita.training.parameter_files import (
    PairParameters,
    read_pair_parameters,
    shipped_pair_parameters,
)

OWN = corpus_path().parent / "pairs.json"
LARGEST = 12


@pytest.fixture(scope="module")
def unseen() -> list[Cut]:
    """The part that nothing was learned from."""
    schema = schema_of("depots")
    documents = read_keyed_messages(corpus_path())
    return [cut_document(one, schema) for one in documents if one.name.startswith("new-")]


def keyed(
    cuts: list[Cut], learned: PairParameters
) -> Iterator[tuple[PairProbabilities, list[int]]]:
    """Every set whose key is possible, with pair probabilities and the key's labels."""
    for one in cuts:
        templates = one.document.templates
        matrix = pair_matrix(learned.every_pair, templates, one.compatible, one.schema)
        for members in one.sets:
            if one.broken(members) or len(members) > LARGEST:
                continue
            inside = np.ix_(members, members)
            ids = [templates[n].id for n in members]
            apart = np.argwhere(np.triu(~one.compatible[inside], 1)).tolist()
            given = CoreferenceSet(
                tuple(templates[n] for n in members),
                frozenset(pair(ids[i], ids[j]) for i, j in apart),
            )
            yield PairProbabilities(given, matrix[inside]), one.labels[members].tolist()


def bits(cuts: list[Cut], learned: PairParameters, model: str) -> float:
    """−log₂ P(key), summed over the sets."""
    pairs, labels = zip(*keyed(cuts, learned), strict=True)
    answers = solve_many(pairs, model, budget=Budget(5.0))
    found = (
        answer.log_probability(Configuration.from_labels(answer.set.ids, key))
        for answer, key in zip(answers, labels, strict=True)
    )
    return -math.fsum(found) / math.log(2)


def test_it_says_what_it_was_learned_from():
    own = read_pair_parameters(OWN)
    assert own.learned_from == "the parts dev and msg of the corpus of depots, 72 messages"
    assert own.figures["documents"] == 72


def test_it_knows_the_domain_better_than_the_general_one(unseen):
    own, general = read_pair_parameters(OWN), shipped_pair_parameters()
    by_own = bits(unseen, own, "evidential")
    assert by_own < 0.6 * bits(unseen, own, "uniform")
    # The start of any domain has learned from other domains too, so it is not far behind.
    assert by_own < 0.9 * bits(unseen, general, "evidential") < bits(unseen, own, "uniform")
