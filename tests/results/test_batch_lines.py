"""Result lines from arrays: those of the general writer."""

from __future__ import annotations

import csv
import json
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from partita.app import solve as solving
from partita.app.batch import OutputForms
from partita.app.solve import Solver, read_sets
from partita.configurations.odds import ScaledParameters
from partita.core import (
    CoreferenceSet,
    Distribution,
    Figure,
    Figures,
    Listing,
    Marginals,
    Remainder,
    Template,
    pair,
)
from partita.linkage.sets import Sets
from partita.options import SolveOptions
from partita.results import result_lines
from partita.results.result_lines import SmallSets, result_line

LINES = OutputForms(json=True)


def pairs_file(path: Path, rng: np.random.Generator, named: bool) -> str:
    """Write sets of 2 to 10 templates, with zeros, ones, gaps, extreme odds and odd names."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["left", "right", "probability", *(["set"] if named else [])])
        for s in range(60):
            n = int(rng.integers(2, 11 if s % 10 == 0 else 9))
            ids = [f"s{s} {'é|/'[i % 3]}{i}" for i in range(n)]
            rare = float(rng.choice([0.0, 0.0, 0.0, 1.0, 1e-300, 1e-17, 1 - 2**-53]))
            for i in range(n):
                for j in range(i + 1, n):
                    p = rare if rng.random() < 0.15 else float(rng.random())
                    if j == i + 1 or rng.random() < 0.8:
                        row = [ids[j], ids[i], p if p or j > i + 1 else 0.25]
                        writer.writerow([*row, *([f"sét {s}"] if named else [])])
    return str(path)


SOLVERS = [
    Solver(top=10),
    Solver(top=3, seed=7),
    Solver("scaled", ScaledParameters(0.6, -0.3), top=2000),
]


@pytest.fixture
def sets(tmp_path, monkeypatch, request) -> Sets:
    named, missing = request.param
    monkeypatch.setattr("partita.configurations.solve_batch.COMPILED", 1)
    file = pairs_file(tmp_path / "pairs.csv", np.random.default_rng(named), named)
    return read_sets(file, SolveOptions(missing=missing))


KINDS = pytest.mark.parametrize("sets", [(False, None), (True, None), (True, 0.25)], indirect=True)


@pytest.mark.parametrize("solver", SOLVERS)
@KINDS
def test_lines_are_those_of_the_general_writer(sets, monkeypatch, solver):
    given = []
    monkeypatch.setattr(result_lines, "SmallSets", partial(_noted, given))
    lines = solving._small_set_lines(sets, solver, LINES, 'a "b".csv')
    assert 25 <= len(lines) < len(sets)
    [small] = given
    ids = iter(small.ids)
    for k, line in enumerate(lines.values()):
        distribution = _distribution(small, k, [*islice(ids, int(small.sizes[k]))], solver)
        unlisted = int(small.unlisted[k]), sets.missing or 0.0
        assert line == result_line(distribution, 'a "b".csv', unlisted)


def _noted(noted, /, **fields):
    noted.append(SmallSets(**fields))
    return noted[-1]


def _distribution(small: SmallSets, k: int, ids: list[str], solver: Solver) -> Distribution:
    n, count = len(ids), int(small.counts[k])
    left, right = np.triu_indices(n, 1)
    matrices = np.zeros((2, n, n))
    for matrix, rows in zip(matrices, (small.given, small.marginals), strict=True):
        matrix[left, right] = matrix[right, left] = rows[k, : len(left)]
    zeros = np.flatnonzero(small.listed[k, : len(left)] & (small.given[k, : len(left)] == 0.0))
    apart = frozenset(pair(ids[left[x]], ids[right[x]]) for x in zeros)
    more, mass, bits, entropy, total, conflict = small.figures[k].tolist()
    listed = Listing(tuple(ids), small.labels[k, :count, :n], small.shares[k, :count].tolist())
    return Distribution(
        set=CoreferenceSet(tuple(map(Template, ids)), apart, name=small.names[k]),
        model=solver.model,
        method="exact",
        reason="exact by subset recursion",
        probabilities=matrices[0],
        marginals=Marginals.exact(matrices[1]),
        configurations=listed,
        remainder=Remainder(count - len(listed), more, mass),
        figures=Figures(*map(Figure.exact, (entropy, total, bits))),
        conflict=conflict,
        count=count,
        seed=solver.seed,
        posterior=None,
    )


@pytest.mark.parametrize("solver", SOLVERS)
@KINDS
def test_outcomes_equal_those_of_single_sets(sets, monkeypatch, solver):
    at_once = solving.solve_piece(solver, LINES, "p.csv", sets)
    monkeypatch.setattr(solving, "_small_set_lines", lambda *_: {})
    singly = solving.solve_piece(solver, LINES, "p.csv", sets)
    for one, other in zip(at_once, singly, strict=True):
        assert (one.name, one.error) == (other.name, other.error)
        if not one.error:
            a, b = json.loads(one.lines[0]), json.loads(other.lines[0])
            assert a.keys() == b.keys()
            for name in ("entropy_bits", "log_normaliser", "conflict", "log2_count"):
                assert a[name] == pytest.approx(b[name], abs=1e-9)
            for rows, name in (("pairs", "marginal"), ("configurations", "probability")):
                numbers = [row[name] for row in a[rows]]
                assert numbers == pytest.approx([row[name] for row in b[rows]], abs=1e-12)
