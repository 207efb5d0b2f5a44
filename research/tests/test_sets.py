"""Records to keyed sets: nobody's own cluster teaches his probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from research.solve_parameters import sets
from research.solve_parameters.sets import (
    FLOOR,
    FOLDS,
    LARGEST,
    WHOLE,
    Table,
    candidates,
    keyed_sets,
    read_records,
)

TABLE = Table("people.csv", "who", ("name", "town"), ((("town", WHOLE),), (("name", 3),)))


@pytest.fixture
def records(tmp_path):
    """Forty people, some with two or three records whose last letters or towns differ."""
    rng = np.random.default_rng(8)
    rows = ["name,town,who"]
    for who in range(40):
        name = "".join(rng.choice(list("abcdefgh"), 6))
        town = rng.choice(["ulm", "bonn", "kiel", "jena", "trier", "hof"])
        for n in range(rng.integers(1, 4)):
            rows.append(f"{name[: 6 - n]}{'x' * n},{town if rng.random() < 0.8 else ''},{who}")
    (tmp_path / "people.csv").write_text("\n".join(rows))
    return read_records(tmp_path, TABLE)


def test_sets_have_two_to_twelve_templates_each_once_and_the_true_key(records):
    made = keyed_sets(records, np.random.default_rng(0))
    members = [int(name) for one in made for name in one.pairs.set.ids]
    assert len(made) > 5
    assert len(members) == len(set(members))
    for one in made:
        ids = one.pairs.set.ids
        assert 2 <= len(ids) <= LARGEST
        assert list(map(int, ids)) == sorted(map(int, ids))
        for left in ids:
            for right in ids:
                same = records.clusters[int(left)] == records.clusters[int(right)]
                assert one.key.together(left, right) == same


def test_probabilities_are_symmetric_and_none_stands_between_0_and_the_floor(records):
    for one in keyed_sets(records, np.random.default_rng(0)):
        matrix = one.pairs.matrix
        assert np.array_equal(matrix, matrix.T)
        off = matrix[~np.eye(len(matrix), dtype=bool)]
        assert ((off == 0) | ((off > FLOOR) & (off < 1))).all()


def test_the_same_seed_gives_the_same_sets(records):
    one, other = (keyed_sets(records, np.random.default_rng(3)) for _ in range(2))
    assert [a.key for a in one] == [b.key for b in other]
    assert all(
        np.array_equal(a.pairs.matrix, b.pairs.matrix) for a, b in zip(one, other, strict=True)
    )


def test_a_model_has_not_seen_the_folds_that_it_scores(records, monkeypatch):
    """Each regression is fitted on just the pairs that touch neither of its two folds."""
    fitted = []

    def spy(x, yes, ridge):
        fitted.append(len(x))
        return np.zeros(x.shape[1])

    monkeypatch.setattr(sets, "fit_logistic", spy)
    keyed_sets(records, np.random.default_rng(0))
    per_cluster = np.random.default_rng(0).integers(0, FOLDS, records.clusters.max() + 1)
    folds = per_cluster[records.clusters]
    expected = [
        sum(not {folds[i], folds[j]} & {left, right} for i, j in candidates(records))
        for left in range(FOLDS)
        for right in range(left, FOLDS)
    ]
    assert fitted == expected


def test_components_too_large_are_broken_up_at_higher_floors():
    """A chain of thirty records whose links get weaker towards one end."""
    linked = {(n, n + 1): 0.9 if n % 5 else 0.2 for n in range(29)}
    found = sets._broken_up(range(30), linked, FLOOR)
    assert [len(one) for one in found] == [5, 5, 5, 5, 5, 4]
    assert sets._broken_up(range(30), dict.fromkeys(linked, 1.0), FLOOR) == []
