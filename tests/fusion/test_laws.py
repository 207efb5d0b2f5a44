"""The laws of fusion, for claims drawn at random."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.errors import InputError, TotalConflict, Unavailable
from partita.fusion.claims import Claims, join_claims
from partita.fusion.fuse import FusionSettings, answers_by_object, extend, fuse_slots, without

VALUES = ["Rome", "Oslo", "Bonn", "Lima"]
CLAIM = st.tuples(
    st.sampled_from(["ann", "bob", "cy", "dee"]),
    st.sampled_from(["x", "y", "z"]),
    st.just("city"),
    st.sampled_from(VALUES),
)
CLAIMS = st.lists(CLAIM, min_size=1, max_size=20, unique=True)
KINDS = st.sampled_from(["closed", "open", "several"])
SHARE = st.floats(0.05, 0.95)
LAW = settings(deadline=None, max_examples=40)


def believed(claims, **options):
    return answers_by_object(fuse_slots(claims, FusionSettings(**options)))


def probability(answers, thing, value):
    found = answers.get((thing, "city"))
    return next((v.probability for v in found.values if v.value == value), 0.0) if found else 0.0


@LAW
@given(CLAIMS, KINDS)
def test_probabilities_add_up_to_one_with_unknown(rows, kind):
    for answer in believed(Claims.of(rows), kinds={"": kind}).values():
        assert sum(v.probability for v in answer.values) + answer.unknown == pytest.approx(1)
        assert all(0 <= v.probability <= 1 for v in answer.values)
        assert 0 <= answer.unknown <= 1


@LAW
@given(CLAIMS, KINDS, st.randoms(use_true_random=False))
def test_the_order_of_claims_and_sources_does_not_matter(rows, kind, chance: random.Random):
    shuffled = chance.sample(rows, len(rows))
    options = {"kinds": {"": kind}}
    assert believed(Claims.of(rows), **options) == believed(Claims.of(shuffled), **options)


@LAW
@given(CLAIMS, CLAIMS, KINDS)
def test_a_source_of_reliability_0_changes_nothing(rows, more, kind):
    deaf = [("zero", *row[1:]) for row in more]
    options = {"kinds": {"": kind}}
    before = believed(Claims.of(rows), **options)
    after = believed(Claims.of([*deaf, *rows]), reliabilities={"zero": 0.0}, **options)
    assert after == before


@LAW
@given(CLAIMS, st.sampled_from(["closed", "open"]), st.sampled_from(["Rome", "Oslo"]))
def test_a_source_of_reliability_1_decides(rows, kind, value):
    sure = [*rows, ("sure", "x", "city", value)]
    found = believed(Claims.of(sure), kinds={"": kind}, reliabilities={"sure": 1.0})
    assert probability(found, "x", value) == 1.0


@LAW
@given(SHARE, SHARE, st.sampled_from(["closed", "open"]))
def test_two_that_agree_strengthen(first, second, kind):
    other = ("bob", "y", "city", "Oslo")
    one = [("ann", "x", "city", "Rome"), other]
    two = [*one, ("bob", "x", "city", "Rome")]
    options = {"kinds": {"": kind}, "reliabilities": {"ann": first, "bob": second}}
    alone = probability(believed(Claims.of(one), **options), "x", "Rome")
    both = probability(believed(Claims.of(two), **options), "x", "Rome")
    assert both > alone


@LAW
@given(CLAIMS, CLAIMS, KINDS)
def test_adding_claims_equals_starting_from_scratch(rows, more, kind):
    rows = [*rows, *(("eve", f"w{n}", "city", v) for n, v in enumerate(VALUES))]
    before = fuse_slots(Claims.of(rows), FusionSettings(kinds={"": kind}))
    whole = join_claims(Claims.of(rows), Claims.of(more))
    scratch = fuse_slots(whole, FusionSettings(kinds={"": kind}, fixed=before.parameters))
    assert extend(before, Claims.of(more)) == answers_by_object(scratch)


def test_adding_claims_leaves_other_objects_as_they_were():
    before = fuse_slots(Claims.of([("ann", "x", "city", "Rome"), ("bob", "y", "city", "Oslo")]))
    after = extend(before, Claims.of([("cy", "y", "city", "Bonn")]))
    assert after["x", "city"] == answers_by_object(before)["x", "city"]
    assert after["y", "city"] != answers_by_object(before)["y", "city"]


def test_a_new_value_of_a_closed_slot_asks_for_learning_again():
    before = fuse_slots(Claims.of([("ann", "x", "ok", "yes"), ("bob", "y", "ok", "no")]),
                  FusionSettings(kinds={"": "closed"}))  # fmt: skip
    with pytest.raises(InputError, match="MAYBE is no value of ok, which has NO, YES"):
        extend(before, Claims.of([("cy", "y", "ok", "maybe")]))


def test_with_one_match_each_nothing_can_be_added():
    rows = [("ann", "a_1", "same", "1"), ("ann", "a_2", "same", "0")]
    before = fuse_slots(Claims.of(rows), FusionSettings(kinds={"": "closed"}, separator="_"))
    with pytest.raises(Unavailable, match="fuse all sources again"):
        extend(before, Claims.of(rows))


@LAW
@given(CLAIMS, KINDS)
def test_leaving_a_source_out_is_never_having_heard_it(rows, kind):
    if len({row[0] for row in rows}) < 2:
        return
    left_out = rows[0][0]
    rest = [row for row in rows if row[0] != left_out]
    found = without(fuse_slots(Claims.of(rows), FusionSettings(kinds={"": kind})), left_out)
    assert answers_by_object(found) == believed(Claims.of(rest), kinds={"": kind})


def test_certain_sources_that_contradict_each_other_are_named():
    rows = [("ann", "x", "city", "Rome"), ("bob", "x", "city", "Oslo"), ("cy", "x", "city", "Rome")]
    sure = FusionSettings(kinds={"": "open"}, reliabilities={"ann": 1.0, "bob": 1.0})
    with pytest.raises(TotalConflict, match=r"ann \(says Rome of x\)") as caught:
        fuse_slots(Claims.of(rows), sure)
    assert "bob (says Oslo of x)" in str(caught.value)
    assert "cy" not in str(caught.value)


@pytest.mark.parametrize("reliability", [-0.1, 1.1, float("nan")])
def test_a_reliability_is_a_number_from_0_to_1(reliability):
    with pytest.raises(InputError, match=f"reliability {reliability} of ann"):
        believed(Claims.of([("ann", "x", "city", "Rome")]), reliabilities={"ann": reliability})


def test_unknown_slots_and_sources_are_refused():
    claims = Claims.of([("ann", "x", "city", "Rome")])
    with pytest.raises(InputError, match="unknown slot 'town'; there are city"):
        fuse_slots(claims, FusionSettings(kinds={"town": "open"}))
    with pytest.raises(InputError, match="unknown kind 'vague'"):
        fuse_slots(claims, FusionSettings(kinds={"city": "vague"}))
    with pytest.raises(InputError, match="no source named 'bob'"):
        without(fuse_slots(claims), "bob")


def test_where_nobody_is_heard_nothing_is_believed():
    with pytest.raises(InputError, match="all sources have reliability 0"):
        believed(Claims.of([("ann", "x", "city", "Rome")]), reliabilities={"ann": 0.0})


def test_without_its_only_source_there_is_nothing_to_fuse():
    with pytest.raises(InputError, match="there are no claims to fuse"):
        without(fuse_slots(Claims.of([("ann", "x", "city", "Rome")])), "ann")


def test_known_truths_decide_and_teach():
    rows = [
        row
        for n in range(12)
        for row in (("ann", f"o{n}", "city", "Rome"), ("bob", f"o{n}", "city", f"Oslo {n}"))
    ]
    known = {(f"o{n}", "city"): f"Oslo {n}" for n in range(8)}
    found = fuse_slots(Claims.of(rows), FusionSettings(kinds={"": "open"}, truths=known))
    answers = answers_by_object(found)
    assert probability(answers, "o0", "Oslo 0") == 1.0
    assert probability(answers, "o11", "Oslo 11") > 0.9
    trust = {one.source: one for one in found.slots[0].trust}
    assert set(trust) == {"ann", "bob"}
    assert trust["bob"].low > trust["ann"].high


def test_trust_has_an_interval_that_narrows():
    few = fuse_slots(Claims.of([(s, f"o{n}", "c", "v") for s in ("a", "b") for n in range(3)]))
    many = fuse_slots(Claims.of([(s, f"o{n}", "c", "v") for s in ("a", "b") for n in range(300)]))
    [narrow], [wide] = ([one for one in f.slots[0].trust if one.source == "a"] for f in (many, few))
    assert wide.low < wide.reliability < wide.high
    assert narrow.high - narrow.low < wide.high - wide.low


def test_the_less_confident_a_claim_the_less_it_weighs():
    options = {"kinds": {"": "open"}, "reliabilities": {"ann": 0.7, "bob": 0.9}}
    rows = [("ann", "x", "city", "Rome"), ("bob", "x", "city", "Oslo")]
    oslo = [
        probability(believed(Claims.of([rows[0], (*rows[1], sure)]), **options), "x", "Oslo")
        for sure in (0.0, 0.5, 1.0)
    ]
    assert oslo[0] < oslo[1] < oslo[2]
    assert oslo[0] < 0.1
