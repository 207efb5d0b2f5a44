from __future__ import annotations

import json

import numpy as np
import pytest

from partita.core import Budget, Configuration, Document, Template
from partita.errors import InputError
from partita.evaluation.experiment import (
    ExperimentEffort,
    compare_models,
    comparison_markdown,
    only_small,
    paper_markdown,
    run_experiment,
    run_splits,
)
from partita.evaluation.models import Joint
from partita.evaluation.rows import markdown, sizes_markdown
from partita.evaluation.splits import cut_document, grouped_splits, paper_splits

EFFORT = ExperimentEffort(Budget(seconds=np.inf), draws=4, times=50)
MODELS = ["uniform", "greedy", "merging", "evidential", "scaled", "forest"]


def experiment(train, test, more=(), **options):
    """All rows of documents that are cut into sets."""
    return run_experiment(
        [cut_document(one) for one in train], [cut_document(one) for one in test], more, **options
    )


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
    found = experiment(documents[:9], documents[9:], effort=EFFORT)
    assert [row.model for row in found.rows] == MODELS
    by_name = {row.model: row for row in found.rows}
    for row in found.rows:
        assert row.coverage == 1
        assert row.mentions == sum(map(len, documents[9:]))
        assert 0 <= row.bits_per_mention < 10
        assert 0 <= row.right <= row.sets
        assert 0 <= row.conll <= 1
        assert row.intervals["bits_per_set"].low <= row.bits_per_set
        assert sum(one.sets for one in row.sizes) == row.sets
    assert by_name["evidential"].bits_per_mention < by_name["uniform"].bits_per_mention
    written = json.loads(json.dumps(found.json(), allow_nan=False))
    assert {"model", "bits_per_set", "right", "sets", "bits_per_mention", "coverage"} <= set(
        written["rows"][0]
    )


def test_the_joint_model_has_its_row(documents: list[Document]) -> None:
    found = experiment(documents[:9], documents[9:], [Joint()], effort=EFFORT)
    assert [row.model for row in found.rows] == [*MODELS, "joint"]
    uniform, *_, last = found.rows
    assert last.sets == uniform.sets
    assert 0 < last.bits_per_mention < uniform.bits_per_mention


def test_the_same_seed_gives_the_same_rows(documents: list[Document]) -> None:
    def bits() -> list[float]:
        rows = experiment(documents[:9], documents[9:], effort=EFFORT).rows
        return [x for row in rows for x in (row.bits_per_mention, row.expected_lea, row.brier)]

    assert bits() == bits()


def test_tables_for_a_person(documents: list[Document]) -> None:
    found = experiment(documents[:9], documents[9:], effort=EFFORT)
    lines = markdown(found.rows).split("\n")
    assert len(lines) == 2 + len(MODELS)
    assert len({line.count("|") for line in lines}) == 1
    assert sizes_markdown(found.rows).startswith("| size | sets | uniform |")


def test_the_papers_table_and_many_splits(documents: list[Document]) -> None:
    cuts = [cut_document(document) for document in documents]
    found = run_splits(cuts, paper_splits(len(cuts), np.random.default_rng(0)), effort=EFFORT)
    rows = {name: one.rows for name, one in found.items()}
    assert list(rows) == ["test 1", "test 2", "tests 1 and 2"]
    assert paper_markdown(rows).count("\n") == 2 + len(MODELS)
    splits = grouped_splits(len(cuts), np.random.default_rng(0), times=3)
    many = run_splits(cuts, splits, effort=EFFORT)
    means = compare_models({name: one.rows for name, one in many.items()}, times=100)
    assert [one.model for one in means] == MODELS
    for one in means:
        assert one.bits_interval.low <= one.bits_per_set <= one.bits_interval.high
        assert one.mention_interval.low <= one.bits_per_mention <= one.mention_interval.high
    assert comparison_markdown(means).count("\n") == 1 + len(MODELS)


def test_only_small_sets_are_left(documents: list[Document]) -> None:
    for one in map(cut_document, documents):
        small = only_small(one, largest=4)
        assert [len(m) for m in small.sets] == [len(m) for m in one.sets if len(m) <= 4]
        for members in small.sets:
            assert {small.document.templates[n].type for n in members} != {"person", "place"}


def test_splits_keep_documents_apart_and_have_the_papers_shapes() -> None:
    first, second, both = paper_splits(72, np.random.default_rng(1))
    assert [len(s.test) for s in (first, second, both)] == [12, 15, 25]
    assert len(set(first.test) & set(second.test)) == 2
    assert set(both.test) == set(first.test) | set(second.test)
    for split in (first, second, both, *grouped_splits(7, np.random.default_rng(1), 5)):
        assert not set(split.train) & set(split.test)
    with pytest.raises(InputError, match="two documents"):
        paper_splits(1, np.random.default_rng(0))


def test_an_experiment_without_documents_is_refused(documents: list[Document]) -> None:
    with pytest.raises(InputError, match="documents to test on"):
        experiment(documents, [])
