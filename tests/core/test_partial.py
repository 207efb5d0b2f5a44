"""The partial configuration of a distribution, against every partition."""

from __future__ import annotations

import json
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.instances import log_odds, planted_pairs, uniform_pairs, with_holes
from oracles.partitions import distribution as enumerate_all
from partita.configurations.forest.model import ForestParameters
from partita.configurations.solve import solve_set
from partita.core import Distribution, PairProbabilities, cells
from partita.core.configurations import least_cells
from partita.core.templates import CoreferenceSet, Template
from partita.files.strict import Place
from partita.results.result_lines import result_line
from partita.results.saved_results import Result, result_of
from partita.views.distribution import distribution_text, partial_rows


def solved(p: np.ndarray, model: str = "evidential", **options) -> Distribution:
    ids = [f"T{n}" for n in range(1, len(p) + 1)]
    p = p.copy()
    np.fill_diagonal(p, 1.0)
    group = CoreferenceSet(tuple(map(Template, ids)), name="s")
    return solve_set(PairProbabilities(group, p), model, **options)


def instance(seed: int, size: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if seed % 2:
        return with_holes(planted_pairs(size, rng, size=3), 0.2, rng)
    return uniform_pairs(size, 0.05, 0.95, rng)


def brute_cells(shares) -> dict[frozenset[int], float]:
    sums: dict[frozenset[int], float] = {}
    for labels, share in shares.items():
        for label in set(labels):
            cell = frozenset(n for n, one in enumerate(labels) if one == label)
            sums[cell] = sums.get(cell, 0.0) + share
    return sums


def brute_together(shares, members) -> float:
    return math.fsum(s for labels, s in shares.items() if len({labels[n] for n in members}) == 1)


@given(st.integers(0, 2**32), st.integers(2, 7))
@settings(deadline=None, max_examples=60)
def test_partial_configurations_are_those_of_all_partitions(seed, size):
    p = instance(seed, size)
    shares = enumerate_all(log_odds(p))
    partial = solved(p).partial
    place = {f"T{n + 1}": n for n in range(size)}
    parts = [frozenset(place[name] for name in part.templates) for part in partial.parts]
    assert sorted(n for part in parts for n in part) == list(range(size))
    likely = {cell for cell, share in brute_cells(shares).items() if share >= 0.5 + 1e-9}
    assert likely <= {parts[n] for n, part in enumerate(partial.parts) if part.settled}
    for members, part in zip(parts, partial.parts, strict=True):
        assert part.cell.kind == part.together.kind == "exact"
        assert part.cell.value == pytest.approx(brute_cells(shares).get(members, 0.0))
        assert part.together.value == pytest.approx(brute_together(shares, members))
        assert part.together.value >= 0.5 - 1e-9
    borders = {(one.left, one.right): one.probability.value for one in partial.borders}
    for left, right in combinations(range(len(parts)), 2):
        expected = brute_together(shares, parts[left] | parts[right])
        assert expected < 0.5 + 1e-9
        if abs(expected - 0.05) > 1e-9:
            assert ((left, right) in borders) == (expected >= 0.05)
        if (left, right) in borders:
            assert borders[left, right] == pytest.approx(expected)
    settled = [parts[n] for n, part in enumerate(partial.parts) if part.settled]
    at_once = math.fsum(
        share
        for labels, share in shares.items()
        if all(
            frozenset(n for n, x in enumerate(labels) if x == labels[min(c)]) == c for c in settled
        )
    )
    assert partial.probability.low - 1e-9 <= at_once <= partial.probability.high + 1e-9


def test_draws_are_near_the_exact_parts_and_say_their_error(monkeypatch):
    found = solved(planted_pairs(8, np.random.default_rng(5), size=3))
    exact = {part.templates: part for part in found.partial.parts}
    monkeypatch.setattr(cells, "MOST", 3)
    drawn = found.partial
    assert drawn == found.partial
    assert {part.templates for part in drawn.settled} == {n for n, p in exact.items() if p.settled}
    for part in drawn.settled:
        assert part.cell.kind == "estimate"
        error = part.cell.error
        assert 0 < error < 0.03
        assert abs(part.cell.value - exact[part.templates].cell.value) < 4 * error
    assert drawn.probability.kind == "estimate"
    assert found.partial.probability.low < drawn.probability.high


def test_exact_draws_of_a_large_forest():
    rng = np.random.default_rng(3)
    p = planted_pairs(40, rng)
    found = solved(np.where(p < 0.5, 0.01 * p, p), "forest", parameters=ForestParameters())
    assert found.method == "sampled"
    partial = found.partial
    assert sum(len(part.templates) for part in partial.parts) == 40
    assert len(partial.settled) >= 3
    assert all(0.05 <= one.probability.value <= 0.5 for one in partial.borders)


def test_large_or_improbable_sets_report_a_partial_configuration():
    rng = np.random.default_rng(1)
    small, blocks = solved(uniform_pairs(8, 0.4, 0.6, rng)), planted_pairs(24, rng)
    large = solved(np.where(blocks > 0.5, blocks, 0.0))
    flat = solved(uniform_pairs(9, 0.4, 0.6, rng))
    assert [one.needs_partial for one in (small, large, flat)] == [False, True, True]
    assert json.loads(result_line(small))["partial"] is None
    assert partial_rows(small, 80) == []
    written = json.loads(result_line(large))["partial"]
    assert [part["templates"] for part in written["cells"]] == [
        list(part.templates) for part in large.partial.parts
    ]
    assert all(part["interval"] is None for part in written["cells"]) == (
        large.partial.parts[0].cell.kind == "exact"
    )
    read = result_of(json.loads(result_line(large)), Place("results", 1))
    assert isinstance(read, Result)


def test_the_text_fits_eighty_columns():
    found = solved(planted_pairs(30, np.random.default_rng(2), size=6))
    rows = distribution_text(found).splitlines()
    assert max(map(len, rows)) <= 80
    assert any("templates are in cells with a probability of at least 0.5" in row for row in rows)
    assert set(partial_rows(found, 80)) <= set(rows)


def test_the_table_of_parts():
    found = solved(planted_pairs(6, np.random.default_rng(4), size=3))
    table = found.to_pandas("parts")
    assert [tuple(row) for row in table["templates"]] == [p.templates for p in found.partial.parts]
    assert (table["cell_low"] <= table["cell"]).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_number_of_cells_is_known_without_enumeration(seed: int) -> None:
    posterior = solved(instance(seed, 6)).posterior
    assert least_cells(posterior) == len(dict(posterior.cells()))


def test_more_cells_than_are_used_are_not_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, 65,537 of the million cells of 20 templates were listed and thrown away."""
    distribution = solved(instance(0, 9))
    monkeypatch.setattr(cells, "MOST", 100)
    listed = cells.cells_of(solved(instance(0, 6)))
    monkeypatch.setattr(
        type(distribution.posterior), "cells", lambda posterior: pytest.fail("listed")
    )
    drawn = cells.cells_of(distribution)
    assert (listed.kind, drawn.kind) == ("exact", "estimate")
