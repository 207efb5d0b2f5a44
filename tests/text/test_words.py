"""The shipped table of words: shapes, look-ups, and relations that any dictionary confirms."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from partita.text.words import CLASSES, WordTable, shipped_words


@pytest.fixture(scope="module")
def table() -> WordTable:
    return shipped_words()


def test_every_column_has_a_row_for_each_word(table: WordTable) -> None:
    n = len(table.words)
    assert 30_000 <= n <= 50_000
    assert len(set(table.words)) == n
    for column in (table.vectors, table.clusters, table.frequencies, table.senses):
        assert len(column) == n
    assert np.allclose((table.vectors**2).sum(axis=1), 1.0, atol=1e-5)
    assert table.frequencies.max() < 0.0


def test_hypernyms_end_at_the_top(table: WordTable) -> None:
    assert table.senses.max() < len(table.parents)
    assert table.parents.max() < len(table.parents)
    assert 1 <= table.classes.min() <= table.classes.max() < len(CLASSES)
    depth = max(len(table.ancestors(sense)) for sense in range(0, len(table.parents), 50))
    assert 5 < depth < 25


def test_words_are_found_in_any_case(table: WordTable) -> None:
    assert table.find("Greece") == table.find("GREECE") == table.words.index("greece")
    assert table.find("qqqqqq") == table.find("") == -1
    assert table.similarity("qqqqqq", "car") == 0.0
    assert table.noun_classes("qqqqqq") == table.derived("qqqqqq") == ()


@pytest.mark.parametrize(
    ("general", "special"),
    [("vehicle", "car"), ("animal", "dog"), ("person", "teacher"), ("city", "city")],
)
def test_hypernyms(table: WordTable, general: str, special: str) -> None:
    assert table.is_hypernym(general, special)
    assert general == special or not table.is_hypernym(special, general)


def test_similar_words_are_nearer(table: WordTable) -> None:
    assert table.similarity("car", "vehicle") > 0.6 > table.similarity("car", "theology")
    assert table.similarity("car", "car") == pytest.approx(1.0, abs=1e-5)


def test_derivations_go_both_ways(table: WordTable) -> None:
    assert "greece" in table.derived("Greek")
    assert "greek" in table.derived("Greece")
    pairs = {(a, b) for a, b in table.derivations.tolist()}
    assert pairs == {(b, a) for a, b in pairs}
    assert sorted(map(list, pairs)) == table.derivations.tolist()


def test_import_compiles_nothing() -> None:
    code = (
        "import sys, partita.text.words as w; w.shipped_words(); assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
