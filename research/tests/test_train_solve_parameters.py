"""The shipped parameters are what the command learns from the tables that they name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from partita.core import Configuration, CoreferenceSet, PairProbabilities
from partita.parameters import shipped_text
from research import train_solve_parameters as shipped
from research.solve_parameters.greedy import KeyedSet, key_bits

TABLES = Path(__file__).parents[3] / "shared" / "data" / "records"


def keyed(key):
    pairs = PairProbabilities(CoreferenceSet.of("ABC"), np.full((3, 3), 0.5))
    return KeyedSet(pairs, Configuration(key))


def test_bits_of_the_greedy_model():
    shares = shipped.greedy.GreedyParameters(0.5, 0.25, 0.5)
    count = np.log2(5)
    assert key_bits(keyed(["ABC"]), shares, count) == 2.0
    assert key_bits(keyed(["A", "BC"]), shares, count) == pytest.approx(-np.log2(0.75 / 4))
    assert key_bits(keyed(["ABC"]), shares, 0.0) == 0.0
    assert key_bits(keyed(["A", "BC"]), shares, np.inf) == np.inf


def test_blocks_are_fields_with_leading_characters():
    (block,) = shipped._blocks("city dob:4")
    assert block == (("city", shipped.WHOLE), ("dob", 4))


@pytest.mark.corpus
@pytest.mark.skipif(not TABLES.is_dir(), reason="../shared/data is not here")
def test_one_table_end_to_end(tmp_path, monkeypatch, capsys):
    """The command on the smallest table: it prints what it measured and writes both files."""
    smallest = shipped.tables()[:1]
    monkeypatch.setattr(shipped, "tables", lambda: smallest)
    shipped.main([str(TABLES), str(tmp_path)])
    assert {file.name for file in tmp_path.iterdir()} == {"greedy.json", "scaled.json"}
    shown = capsys.readouterr().out.splitlines()[-1].split()
    figures = json.loads((tmp_path / "scaled.json").read_text())["figures"]
    assert shown[0] == "all"
    assert float(shown[-1]) == figures["held_out_bits_scaled"]
    assert figures["held_out_bits_evidential"] < figures["held_out_bits_uniform"] / 2


@pytest.mark.corpus
@pytest.mark.skipif(not TABLES.is_dir(), reason="../shared/data is not here")
def test_the_shipped_parameters_are_learned_again_from_the_tables_that_they_name():
    """Values, counts and the hash; the figures of held-out folds are those of the command."""
    sets = [one for table in shipped.tables() for one in shipped.made_sets(TABLES, table, 0)]
    bits = np.zeros((len(sets), len(shipped.MODELS)))
    for learned in shipped.learn(sets, bits, shipped._digest(TABLES), 0):
        here, there = json.loads(learned.text()), json.loads(shipped_text(learned.model) or "")
        for measured in (here, there):
            for name in [*measured["figures"]]:
                if name.startswith(("held_out", "gain", "standard")):
                    del measured["figures"][name]
        assert here == there
