"""Hierarchies: probabilities of a value or something within it, and the detail of sources."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.evaluation.calibration import reliability, reliability_error
from partita.fusion.answers import answers
from partita.fusion.claims import Claims, join_claims
from partita.fusion.fuse import FusionSettings, answers_by_object, extend, fuse_slots
from partita.fusion.hierarchy import Nesting
from partita.fusion.kinds import Reading
from partita.fusion.open_slots import learn_detail, open_problem
from partita.fusion.value_reading import parse_slot

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from research.simulated_claims import places

PARENTS = {"MUNICH": "BAVARIA", "NUREMBERG": "BAVARIA", "BAVARIA": "GERMANY", "HAMBURG": "GERMANY",
           "GERMANY": "EUROPE", "PARIS": "FRANCE", "FRANCE": "EUROPE", "LIMA": "PERU"}  # fmt: skip


def nested(parents):
    names = {name.upper(): name.upper() for name in {*parents, *parents.values()}}
    return Nesting.of(names, {a.upper(): b.upper() for a, b in parents.items()})


def fused(rows, **reading):
    return fuse_slots(Claims.of(rows), FusionSettings(
        kinds={"": "open"}, reading=Reading(nesting=nested(PARENTS), **reading)))  # fmt: skip


def within_error(claims, truths, nesting):
    [belief] = fuse_slots(claims, FusionSettings(reading=Reading(nesting=nesting))).slots
    stated, true = [], []
    for answer in answers(belief):
        truth = truths[answer.object].upper()
        path = {truth, *nesting.above[truth]}
        stated += [one.probability for one in answer.levels]
        true += [one.value.upper() in path for one in answer.levels]
    return reliability_error(reliability(np.array(stated), np.array(true)))


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_probabilities_within_are_reliable_where_sources_differ_in_detail(seed):
    claims, truths, parents = places(seed)
    assert within_error(claims, truths, nested(parents)) < 0.05


ROW = st.tuples(
    st.sampled_from(["ann", "bob", "cy", "dee"]), st.sampled_from(["x", "y", "z"]),
    st.just("town"), st.sampled_from(sorted({*PARENTS, *PARENTS.values()})),
)  # fmt: skip
LAW = settings(deadline=None, max_examples=25)


@LAW
@given(st.lists(ROW, min_size=1, max_size=16, unique=True), st.randoms(use_true_random=False))
def test_laws_of_levels(rows, chance):
    nesting, before = nested(PARENTS), fused(rows)
    believed = answers_by_object(before)
    for answer in believed.values():
        by_name = {one.value: one for one in answer.levels}
        exact = {one.value: one.probability for one in answer.values}
        said = {row[3]: row[0] for row in rows if row[1] == answer.object}
        assert set(by_name) == {up for v in said for up in (v, *nesting.above[v])}
        for name, level in by_name.items():
            below = [v for v in exact if v == name or name in nesting.above[v]]
            least = sum(exact[v] for v in below)
            assert least - 1e-9 <= level.probability <= min(least + answer.unknown, 1) + 1e-9
            wider = [by_name[up].probability for up in nesting.above[name]]
            assert all(level.probability <= p + 1e-9 for p in wider)
            who = {row[0] for row in rows if row[1] == answer.object and row[3] in below}
            assert set(level.sources) == who
    assert answers_by_object(fused(chance.sample(rows, len(rows)))) == believed
    more = Claims.of([("eve", "x", "town", "PARIS"), ("ann", "y", "town", "GERMANY")])
    fixed = FusionSettings(kinds={"": "open"}, reading=Reading(nesting=nesting),
                           fixed=before.parameters)  # fmt: skip
    whole = fuse_slots(join_claims(Claims.of(rows), more), fixed)
    assert extend(before, more) == answers_by_object(whole)


def test_towns_of_one_country_do_not_fight_about_it():
    rows = [("ann", "x", "town", "Munich"), ("bob", "x", "town", "Hamburg"),
            *((s, f"o{n}", "town", "Paris") for n in range(9) for s in ("ann", "bob"))]  # fmt: skip
    answer = answers_by_object(fused(rows))["x", "town"]
    levels = {one.value: one.probability for one in answer.levels}
    assert answer.values[0].probability < 0.5 < levels["GERMANY"]
    first = answers_by_object(fused(rows, most_detailed=True))["x", "town"].values[0]
    assert (first.value, first.probability) == ("GERMANY", 0.0)
    plain = [*rows, ("cy", "x", "town", "Munich"), ("dee", "x", "town", "Bavaria")]
    first = answers_by_object(fused(plain, most_detailed=True))["x", "town"].values[0]
    assert first.value == "Munich"
    assert first.probability >= 0.5


def test_the_detail_of_sources_is_learned():
    """One source names the country, one the region, and two the town."""
    rows = []
    for n in range(60):
        town = ("MUNICH", "NUREMBERG")[n % 2]
        said = (("top", "GERMANY"), ("mid", "BAVARIA"), ("ann", town), ("bob", town))
        rows += [(source, f"o{n}", "town", value) for source, value in said]
    parsed = parse_slot(Claims.of(rows), "open", Reading(nesting=nested(PARENTS)))
    one = open_problem(parsed.statements, parsed.order, parsed.more)
    detail = learn_detail(one, np.full(one.problem.shape, np.nan))
    by_source = dict(zip(parsed.statements.sources, detail.argmax(axis=1).tolist(), strict=True))
    assert by_source["top"] == 1
    assert by_source["mid"] == 2
    assert detail.sum(axis=1) == pytest.approx(1.0)
    relations = one.with_detail(detail).problem.relations
    chosen = relations.outcome == 1
    assert (relations.factor[chosen] <= 1 + 1e-9).all()


def test_claims_are_related_to_candidates_of_their_own_object():
    """A place above a stated one, which nobody states, is no value of another object."""
    rows = [("ann", f"o{n}", "town", v) for n, v in enumerate(("Munich", "Hamburg", "Bavaria"))]
    parsed = parse_slot(Claims.of(rows), "open", Reading(nesting=nested(PARENTS)))
    problem = open_problem(parsed.statements, parsed.order, parsed.more).problem
    relations = problem.relations
    assert len(relations.claim)
    owner = problem.candidates.item[relations.candidate]
    assert (problem.claims.item[relations.claim] == owner).all()
