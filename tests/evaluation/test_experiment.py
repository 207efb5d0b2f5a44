from __future__ import annotations

import numpy as np
import pytest

from partita.core import Budget, Configuration, Document, Template
from partita.errors import InputError
from partita.evaluation.models import (
    ExperimentEffort,
    Greedy,
    PairBasedModel,
    PairLearner,
    Uniform,
    UniformPosteriors,
    paper_markdown,
    run_experiment,
)
from partita.evaluation.splits import cut_document, paper_splits

EFFORT = ExperimentEffort(Budget(seconds=np.inf))
MODELS = ["uniform", "greedy", "merging", "evidential"]
SHAPES = {"test 1": 9, "test 2": 10}


def experiment(train, test):
    """All rows of documents that are cut into sets."""
    counts, learner = UniformPosteriors(EFFORT.budget), PairLearner()
    models = (
        Uniform(counts),
        Greedy(counts),
        PairBasedModel("merging", learner, EFFORT.merging),
        PairBasedModel("evidential", learner, EFFORT.budget),
    )
    cuts = [[cut_document(one) for one in part] for part in (train, test)]
    return run_experiment(*cuts, models, effort=EFFORT)


def made(rng: np.random.Generator, name: str) -> Document:
    """Some people and places; heads tell most of who is who."""
    templates, labels = [], []
    for n in range(int(rng.integers(5, 9))):
        who = int(rng.integers(0, 3))
        entity_type = "person" if who < 2 else "place"
        head = f"head{who}" if rng.random() < 0.8 else "thing"
        form = str(rng.choice(["definite", "bare", "indefinite"]))
        templates.append(
            Template(f"m{n}", "x", 20 * n, 20 * n + 5, "text", n, entity_type, head, form=form)  # type: ignore[arg-type]
        )
        labels.append(who)
    ids = [template.id for template in templates]
    return Document(name, "", tuple(templates), Configuration.from_labels(ids, labels))


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    rng = np.random.default_rng(5)
    return [made(rng, f"d{n}") for n in range(14)]


def test_the_rows_of_an_experiment(documents: list[Document]) -> None:
    found = experiment(documents[:9], documents[9:])
    assert [row.model for row in found.rows] == MODELS
    by_name = {row.model: row for row in found.rows}
    sets = sum(len(cut_document(one).sets) for one in documents[9:])
    for row in found.rows:
        assert row.sets == sets
        assert 0 <= row.right <= row.sets
        every = [one for results in found.results[row.model] for one in results]
        assert row.bits_per_set == pytest.approx(sum(one.bits for one in every) / sets)
        assert row.right == sum(one.right for one in every)
    assert by_name["evidential"].bits_per_set < by_name["uniform"].bits_per_set


def test_the_same_seed_gives_the_same_rows(documents: list[Document]) -> None:
    first, again = (experiment(documents[:9], documents[9:]).results for _ in range(2))
    assert first == again


def test_the_papers_table(documents: list[Document]) -> None:
    rows = {name: experiment(documents[:n], documents[n:]).rows for name, n in SHAPES.items()}
    lines = paper_markdown(rows).split("\n")
    assert lines[0] == "| model | test 1 | test 2 |"
    assert len(lines) == 3 + len(MODELS)


def test_splits_keep_documents_apart_and_have_the_papers_shapes() -> None:
    first, second, both = paper_splits(72, np.random.default_rng(1))
    assert [len(s.test) for s in (first, second, both)] == [12, 15, 25]
    assert len(set(first.test) & set(second.test)) == 2
    assert set(both.test) == set(first.test) | set(second.test)
    for split in (first, second, both):
        assert not set(split.train) & set(split.test)
    with pytest.raises(InputError, match="two documents"):
        paper_splits(1, np.random.default_rng(0))


def test_an_experiment_without_documents_is_refused(documents: list[Document]) -> None:
    with pytest.raises(InputError, match="documents to test on"):
        experiment(documents, [])
