"""The likelihood of whole keys: against the solvers, and never lower after training."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.app.runner import Settings, usual_budget
from partita.app.workspace import open_workspace
from partita.cli.demo import MESSAGE
from partita.configurations.merging.decisions import merging
from partita.configurations.method_choice import engine_for
from partita.configurations.pair_models import split
from partita.core import Budget, Configuration, Document, restricted_growth
from partita.corpora.documents import corpus_path, read_corpora
from partita.domains import schema_of
from partita.evaluation.splits import Cut, cut_document
from partita.text.raw_messages import RawMessage
from partita.training.few_keys import (
    PRIORS,
    adapt_parameters,
    teach,
)
from partita.training.key_likelihood import KeyedSet, KeyLikelihood, KeyPrior, fit_weights
from partita.training.lessons import Lesson, key_answer, lesson
from partita.training.parameter_files import PairParameters, shipped_pair_parameters

START = shipped_pair_parameters()
MODELS = ("evidential", "merging", "scaled", "greedy")


def keyed_set(rng: np.random.Generator, n: int, alternatives: int = 2) -> KeyedSet:
    """A set with some incompatible pairs, and a key with weighted alternatives."""
    left, right = np.triu_indices(n, 1)
    rows = [restricted_growth(rng.integers(0, 3, n).tolist()) for _ in range(alternatives)]
    labels = np.unique(np.array(rows), axis=0)
    used = (labels[:, left] == labels[:, right]).any(axis=0)
    kept = used | (rng.random(len(left)) > 0.2)
    weights = rng.random(len(labels)) + 0.1
    return KeyedSet(n, left[kept], right[kept], labels, weights / weights.sum())


def expected(one: KeyedSet, theta: np.ndarray, by_merging: bool) -> float:
    """Σ weight · log P of the key's configurations, by the solvers."""
    if by_merging:
        p = one.matrix(1 / (1 + np.exp(-theta)), 0.0)
        compatible = one.matrix(np.ones(len(theta)), 0.0) > 0
        np.fill_diagonal(compatible, True)
        same = np.eye(one.size, dtype=np.bool_)
        posterior = merging(p, compatible, same, Budget(), method="exact")
    else:
        engine = engine_for(Budget(), 0, "exact", None)
        posterior = split(one.matrix(theta, -np.inf), engine)
    logs = [posterior.log_weight(row) for row in one.rows]
    return float(one.weights @ logs - posterior.log_normaliser.value)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 8), by_merging=st.booleans())
def test_the_likelihood_is_that_of_the_solvers(seed: int, n: int, by_merging: bool) -> None:
    rng = np.random.default_rng(seed)
    sets = tuple(keyed_set(rng, n) for _ in range(2))
    parts = [rng.normal(0, 1.5, len(one.left)) for one in sets]
    found, _ = KeyLikelihood(sets, by_merging)(np.concatenate(parts))
    both = zip(sets, parts, strict=True)
    assert found == pytest.approx(sum(expected(one, part, by_merging) for one, part in both))


@pytest.mark.parametrize("by_merging", [False, True])
@pytest.mark.parametrize("n", [2, 5, 9, 10, 15])
def test_the_gradient_is_that_of_differences(n: int, by_merging: bool) -> None:
    rng = np.random.default_rng(n)
    likelihood = KeyLikelihood((keyed_set(rng, n), keyed_set(rng, max(2, n - 1))), by_merging)
    theta = rng.normal(0, 1.0, sum(len(one.left) for one in likelihood.sets))
    _, gradient = likelihood(theta)
    step = 1e-5
    for k in rng.choice(len(theta), min(8, len(theta)), replace=False).tolist():
        moved = [theta + sign * step * (np.arange(len(theta)) == k) for sign in (1, -1)]
        slope = (likelihood(moved[0])[0] - likelihood(moved[1])[0]) / (2 * step)
        assert gradient[k] == pytest.approx(slope, abs=1e-6)


def test_a_large_set_of_two_cells_is_as_its_choices() -> None:
    """Of two templates the choices are the likelihood itself."""
    from partita.training.key_likelihood import _choices

    one = KeyedSet(2, np.array([0]), np.array([1]), np.array([[0, 0]]), np.ones(1))
    value, gradient = _choices(one, np.array([0.7]))
    assert value == pytest.approx(-math.log1p(math.exp(-0.7)))
    assert gradient[0] == pytest.approx(1 / (1 + math.exp(0.7)))


def test_few_keys_move_little_and_many_move_much() -> None:
    """The prior counts as so many keys: the distance to the start grows with their number."""
    rng = np.random.default_rng(0)
    one = keyed_set(rng, 4, 1)
    indices = np.zeros((len(one.left), 1), dtype=np.int64)
    moved = []
    for count in (1, 10, 1000):
        likelihood = KeyLikelihood((one,) * count)
        weights = fit_weights(likelihood, np.tile(indices, (count, 1)), np.zeros(1), PRIORS[-1])
        moved.append(abs(float(weights[0])))
    assert 0 < moved[0] < moved[1] < moved[2]
    still = fit_weights(KeyLikelihood((one,)), indices, np.zeros(1), KeyPrior(1e9, 1e9, 1e9))
    assert np.abs(still).max() < 1e-6


def part(document: Document, places: Iterable[int]) -> Document:
    """The document with some of its templates only."""
    templates = tuple(document.templates[n] for n in places)
    kept = {one.id for one in templates}
    cells = ([one for one in cell if one in kept] for cell in document.key)
    return replace(document, templates=templates, key=Configuration(filter(None, cells)))


def small_sets(documents: Iterable[Cut], largest: int) -> Iterator[Cut]:
    """Yield every set of at most `largest` templates with something to decide, as a document."""
    for document in documents:
        for members in document.sets:
            for chunk in np.array_split(members, -(-len(members) // largest)):
                piece = cut_document(part(document.document, chunk), document.schema)
                if piece.sets and not piece.crosses and not any(map(piece.broken, piece.sets)):
                    yield piece


@pytest.fixture(scope="module")
def depots() -> list[Cut]:
    schema = schema_of("depots")
    documents = list(read_corpora([corpus_path()]))[:40]
    return list(small_sets([cut_document(d, schema) for d in documents], 6))


def randomly_keyed(one: Cut, rng: np.random.Generator) -> Lesson:
    """The set with a random key that knowledge allows, mostly a wrong one."""
    ids = one.document.ids
    labels = np.arange(len(ids))
    for later in range(1, len(ids)):
        cell = labels == labels[rng.integers(0, later)]
        if one.compatible[later, cell].all() and rng.random() < 0.6:
            labels[later] = labels[np.argmax(cell)]
    key = Configuration.from_labels(ids, labels)
    document = replace(one.document, key=key, alternatives=())
    return lesson(cut_document(document, one.schema), START)


@pytest.mark.parametrize("number", [1, 3])
def test_keys_never_become_less_probable_in_sum(depots: list[Cut], number: int) -> None:
    for seed in range(20):
        rng = np.random.default_rng([number, seed])
        chosen = rng.choice(len(depots), number, replace=False).tolist()
        lessons = [randomly_keyed(depots[n], rng) for n in chosen]
        model = MODELS[seed % len(MODELS)]
        taught = teach(START, lessons, model=model)
        before, after = taught.bits
        assert after <= before, (seed, model)
        for other in MODELS:
            assert bits(lessons, taught.parameters, other) <= bits(lessons, START, other)


def bits(lessons: list[Lesson], parameters: PairParameters, model: str) -> float:
    return math.fsum(key_answer(one, parameters, model).bits for one in lessons)


def test_a_step_that_would_lower_the_likelihood_is_refused(
    depots: list[Cut], monkeypatch: pytest.MonkeyPatch
) -> None:
    from partita.training import few_keys

    lessons = [lesson(depots[0], START)]
    every = adapt_parameters(START, lessons * 5).every_pair
    worse = replace(every, weights=2 * START.every_pair.weights - every.weights)
    monkeypatch.setattr(few_keys, "adapt_parameters", lambda *_: replace(START, every_pair=worse))
    taught = teach(START, lessons)
    assert taught.share == 0.0
    assert taught.parameters is START
    assert "refused" in (taught.note or "")
    assert taught.bits[0] == taught.bits[1]


def test_weighted_alternatives_are_learned_from(depots: list[Cut]) -> None:
    one = next(c for c in depots if len(c.labels) > 2 and c.labels.max() + 1 < len(c.labels))
    apart = Configuration.from_labels(one.document.ids, np.arange(len(one.labels)))
    found = []
    for weight in (0.0, 0.5, 5.0):
        others = ((apart, weight),) if weight else ()
        document = replace(one.document, alternatives=others)
        learned = adapt_parameters(START, [lesson(cut_document(document, one.schema), START)])
        clean = lesson(one, START)
        found.append(teach(learned, [clean]).before[0].probability)
    assert found[0] > found[1] > found[2]


def test_the_key_of_the_demo_becomes_more_probable(tmp_path: Path) -> None:
    workspace = open_workspace(tmp_path / "store.db")
    options = Settings("depots", "evidential", budget=usual_budget("evidential"))
    workspace.ingest([RawMessage("kinston", MESSAGE, "test")], options, "r", workers=1)
    cells = [["T1", "T2", "T7"], ["T4"]]
    workspace.key("r", "kinston.1", cells, "anna")
    trained = workspace.train("r", workers=1)
    report = trained["report"]
    [row] = report["sets"]
    assert row["set"] == "kinston.1"
    assert row["probability"]["after"] > row["probability"]["before"] > 0.9
    assert report["bits"]["after"] < report["bits"]["before"]
    assert report["note"] is None
    for run, side in (("r", "before"), (trained["run"], "after")):
        listed = workspace.set(run, "kinston.1")["configurations"]
        [shown] = [one["probability"] for one in listed if one["cells"] == cells]
        assert shown == pytest.approx(row["probability"][side], abs=1e-9)
    workspace.close()
