"""Pairs from Python objects, and what a file's sets answer."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

from partita.app.solve import (
    Solver,
    learned_parameters,
    read_sets,
    solve,
    solved,
)
from partita.core import Budget, CoreferenceSet, Distribution, PairProbabilities
from partita.errors import Contradiction, InputError, PartitaError
from partita.options import default_memory

TABLE_1 = {
    ("A", "B"): 0.671,
    ("A", "C"): 0.0,
    ("A", "D"): 0.505,
    ("B", "C"): 0.0,
    ("B", "D"): 0.752,
    ("C", "D"): 0.504,
}
TRIPLES = [(left, right, p) for (left, right), p in TABLE_1.items()]
FRAME = pd.DataFrame(TRIPLES, columns=["left", "right", "probability"])


def matrix() -> PairProbabilities:
    ids = "ABCD"
    p = pd.DataFrame(0.0, list(ids), list(ids))
    for (left, right), value in TABLE_1.items():
        p.loc[left, right] = p.loc[right, left] = value
    return PairProbabilities(CoreferenceSet.of(ids), p.to_numpy().copy())


@pytest.mark.parametrize(
    "pairs",
    [TABLE_1, TRIPLES, iter(TRIPLES), FRAME, pl.from_pandas(FRAME), matrix()],
    ids=["mapping", "triples", "iterator", "pandas", "polars", "matrix"],
)
def test_everything_that_holds_pairs(pairs):
    found = solve(pairs)
    assert isinstance(found, Distribution)
    assert str(found.most_probable) == "(A B D) (C)"
    assert found.configurations[0].probability == pytest.approx(0.3826, abs=5e-5)
    assert found.marginal("C", "D") == pytest.approx(0.187, abs=5e-4)


def test_what_does_not_hold_pairs():
    with pytest.raises(InputError, match=r"is not a row \(expected left, right, probability\)"):
        solve([("A", "B")])
    with pytest.raises(InputError, match="pairs: has no rows"):
        solve([])
    with pytest.raises(InputError, match="pairs, row 2: pairs B with itself"):
        solve([("A", "B", 0.5), ("B", "B", 0.5)])
    with pytest.raises(InputError, match="pairs, row 1: pairs A with itself"):
        solve([("A", "A", 0.5)])
    with pytest.raises(InputError, match=r"has 2 sets \(expected one\): use cluster"):
        solve(pd.concat([FRAME.assign(set="x"), FRAME.assign(set="y")]))


def test_one_set_even_if_it_falls_apart():
    found = solve([("A", "B", 0.5), ("C", "D", 0.25), ("A", "E", 0.0)])
    assert found.set.ids == ("A", "B", "C", "D", "E")
    assert found.count == 4


def test_missing_soft_and_assume():
    chain = [("A", "B", 0.5), ("B", "C", 0.5)]
    assert solve(chain).count == 3
    assert solve(chain, missing=0.5).count == 5
    assert solve(chain, assume=["A=B"]).count == 1
    assert solve(chain, assume=["A!=B"]).count == 2
    assert solve([("A", "B", 0.0)]).count == 1
    assert solve([("A", "B", 0.0)], soft=True).count == 2
    with pytest.raises(Contradiction):
        solve(chain, assume=["A=C"])


def test_an_assumption_leaves_the_probabilities_to_the_merging_model():
    """A forbidden yes loses its mass, its no stays 1 - p: not the same as probability 0."""
    pairs = TABLE_1 | {("B", "C"): 0.5}
    assumed = solve(pairs, "merging", assume=["B!=C"])
    zero = solve(TABLE_1, "merging")
    assert assumed.probabilities[1, 2] == 0.5
    ours = {str(one.configuration): one.probability for one in assumed.configurations}
    theirs = {str(one.configuration): one.probability for one in zero.configurations}
    assert ours.keys() == theirs.keys()
    assert ours["(A B) (C D)"] == pytest.approx(theirs["(A B) (C D)"])


def test_all_sets_in_order_and_errors_in_their_place(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("left,right,probability\nA,B,.5\nC,D,1\nD,E,1\nC,E,0\nF,G,7\nH,I,.25\n")
    good, contradictory, bad, last = solved(read_sets(path), Solver(model="uniform"))
    assert isinstance(good, Distribution)
    assert good.model == "uniform"
    assert str(contradictory).startswith(f"{path}, line 5: C and E must be the same")
    assert isinstance(bad, PartitaError)
    assert isinstance(last, Distribution)
    assert last.set.ids == ("H", "I")


def test_parameters():
    assert learned_parameters("evidential") is None
    assert learned_parameters("scaled").scale > 0
    with pytest.raises(InputError, match="cannot be read"):
        learned_parameters("greedy", "nothing.json")


def test_budget_and_memory():
    assert default_memory() > 1 << 20
    assert solve(TABLE_1, budget=Budget(seconds=1.0, memory=1 << 28)).count == 7
