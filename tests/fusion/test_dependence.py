"""Sources that err together: shared errors, dependent pairs, tempering."""

from __future__ import annotations

from itertools import product
from math import prod
from unittest.mock import patch

import numpy as np
import pytest

from partita.fusion import slot
from partita.fusion.claims import Claims
from partita.fusion.dependence import claim_weights
from partita.fusion.estimation import Rates, expect
from partita.fusion.fuse import FusionSettings, answers_by_object, fuse_slots
from partita.fusion.hierarchy import flat_order
from partita.fusion.open_slots import open_problem
from partita.fusion.value_reading import claim_statements
from partita.fusion.warnings import belief_warnings

VALUES = ["a", "b", "c", "d"]
OPEN = {"": "open"}


def stated(rows):
    claims = Claims.of([(s, o, "slot", v) for s, o, v in rows])
    value = np.array([VALUES.index(claims.values[n]) for n in claims.value], dtype=np.int64)
    codes = (claims.object, claims.source, value)
    return claim_statements(claims, VALUES, codes, claims.confidence)


def urn(wrong, alpha, values):
    """P(the wrong values in this order) by Pólya's urn with a uniform base."""
    return prod(
        (wrong[:n].count(value) + alpha / values) / (n + alpha) for n, value in enumerate(wrong)
    )


@pytest.mark.parametrize("alpha", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("said", ["aab", "abb", "aaa", "abc"])
def test_wrong_claims_are_drawn_from_an_urn(said, alpha):
    read = stated([(f"s{n}", "x", value) for n, value in enumerate(said)])
    problem = open_problem(read, flat_order(len(VALUES), len(VALUES))).problem
    right, wrong = 0.7, 0.3
    theta = np.tile([[right, 0.0, wrong]], (len(said), 1)).reshape(-1, 1, 3)
    found = expect(problem, Rates(theta, np.ones(1), alpha)).probability
    expected = {}
    for truth in VALUES:
        others = [value for value in said if value != truth]
        lucky = right + wrong / len(VALUES)
        expected[truth] = lucky ** said.count(truth) * wrong ** len(others)
        expected[truth] *= urn(others, alpha, len(VALUES))
    total = sum(expected.values())
    named = sorted(set(said))
    assert found[: len(named)] == pytest.approx([expected[v] / total for v in named])
    assert found.sum() == pytest.approx(1)


def test_the_urn_sums_to_one():
    assert sum(urn(list(said), 0.7, 3) for said in product("abc", repeat=3)) == pytest.approx(1)


def test_dependent_claims_of_one_value_share_their_weight():
    read = stated([("p", "x", "a"), ("q", "x", "a"), ("r", "x", "a"), ("p", "y", "b")])
    found = claim_weights(read, {("p", "q"): 1.0})
    named = {(read.sources[s], read.objects[o]): w
             for s, o, w in zip(read.source, read.object, found, strict=True)}  # fmt: skip
    assert named == {("p", "x"): 0.5, ("q", "x"): 0.5, ("r", "x"): 1.0, ("p", "y"): 1.0}


def clique(members: int, honest: int, objects: int = 150) -> Claims:
    """Honest sources right in .8, and a clique that repeats one source that is right in .4."""
    rng = np.random.default_rng(5)
    rows = []
    for n in range(objects):
        shared = f"true {n}" if rng.random() < 0.4 else f"wrong {n} {rng.integers(20)}"
        rows += [(f"clique {k}", f"o{n}", "v", shared) for k in range(members)]
        for k in range(honest):
            right = rng.random() < 0.8
            value = f"true {n}" if right else f"wrong {n} {rng.integers(20)}"
            rows.append((f"honest {k}", f"o{n}", "v", value))
    return Claims.of(rows)


def test_a_clique_that_always_agrees_counts_as_one_source():
    fused = fuse_slots(clique(6, 3), FusionSettings(kinds=OPEN))
    [belief] = fused.slots
    right = [a.values[0].value == f"true {a.object[1:]}" for a in answers_by_object(fused).values()]
    assert np.mean(right) > 0.75
    assert belief.effective < 6
    trust = {one.source: one.reliability for one in belief.trust}
    assert min(v for s, v in trust.items() if s.startswith("honest")) > trust["clique 0"]
    assert not [one for one in fused.copying if "honest" in one.original + one.copier]
    [warning] = [one for one in belief_warnings(belief) if one.kind == "clique"]
    assert "clique 0, clique 1, clique 2, clique 3 and 2 more" in warning.text
    assert "--known" in warning.advice


def test_few_claims_and_bare_majorities_are_warned_about():
    rows = [(s, f"o{n}", "v", f"{s} {n}") for n in range(10) for s in ("ann", "bob")]
    [belief] = fuse_slots(Claims.of(rows), FusionSettings(kinds=OPEN)).slots
    assert [one.kind for one in belief_warnings(belief)] == ["majority", "few claims"]
    agreed = [(s, f"o{n}", "v", f"{n}") for n in range(10) for s in ("ann", "bob", "cy")]
    [belief] = fuse_slots(Claims.of(agreed), FusionSettings(kinds=OPEN)).slots
    assert not list(belief_warnings(belief))


def test_one_claim_is_not_tempered_and_many_are():
    rows = [("ann", "x", "v", "Rome"), *((s, "y", "v", "Oslo") for s in ("ann", "bob", "cy"))]
    given = {"ann": 0.8, "bob": 0.8, "cy": 0.8}
    settings = FusionSettings(OPEN, reliabilities=given)
    tempered = answers_by_object(fuse_slots(Claims.of(rows), settings))
    with patch.object(slot, "temper", lambda belief: belief):
        plain = answers_by_object(fuse_slots(Claims.of(rows), settings))
    assert tempered["x", "v"].values[0].probability == plain["x", "v"].values[0].probability
    assert tempered["y", "v"].values[0].probability < plain["y", "v"].values[0].probability
    assert tempered["y", "v"].unknown > plain["y", "v"].unknown


def test_two_to_one_about_one_object_is_not_certain():
    rows = [("ann", "x", "v", "Rome"), ("bob", "x", "v", "Rome"), ("cy", "x", "v", "Oslo")]
    [best, *_] = answers_by_object(fuse_slots(Claims.of(rows), FusionSettings(kinds=OPEN)))[
        "x", "v"
    ].values
    assert best.value == "Rome"
    assert best.probability < 0.95


def test_known_truths_temper_sources_that_are_wrong_together():
    rng = np.random.default_rng(2)
    rows, truths = [], {}
    for n in range(300):
        hard = rng.random() < 0.4
        for s in range(5):
            popular = f"myth {n}" if rng.random() < 0.9 else f"other {n} {rng.integers(9)}"
            rows.append((f"s{s}", f"o{n}", "v", popular if hard else f"true {n}"))
        truths[f"o{n}"] = f"true {n}"
    known = {(f"o{n}", "v"): truths[f"o{n}"] for n in range(100)}
    before = answers_by_object(fuse_slots(Claims.of(rows), FusionSettings(kinds=OPEN)))
    fused = fuse_slots(Claims.of(rows), FusionSettings(kinds=OPEN, truths=known))
    after = answers_by_object(fused)
    assert fused.slots[0].parameters.tempering.fitted == 100
    rest = [f"o{n}" for n in range(100, 300)]
    assert np.mean([after[o, "v"].unknown for o in rest]) > 0.2
    assert np.mean([before[o, "v"].unknown for o in rest]) < 0.2
