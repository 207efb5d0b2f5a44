"""Sets that are solved together: the lines of single sets."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from partita.app import solve as solving
from partita.app.batch import OutputForms
from partita.app.solve import Solver, read_sets
from partita.configurations.odds import ScaledParameters
from partita.linkage.sets import Sets
from partita.options import SolveOptions

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
    monkeypatch.setattr("partita.configurations.solve_batch.MANY", 1)
    file = pairs_file(tmp_path / "pairs.csv", np.random.default_rng(named), named)
    return read_sets(file, SolveOptions(missing=missing))


KINDS = pytest.mark.parametrize("sets", [(False, None), (True, None), (True, 0.25)], indirect=True)


@pytest.mark.parametrize("solver", SOLVERS)
@KINDS
def test_outcomes_equal_those_of_single_sets(sets, monkeypatch, solver):
    at_once = solving.solve_piece(solver, LINES, "p.csv", sets)
    monkeypatch.setattr("partita.configurations.solve_batch.MANY", 1 << 30)
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
