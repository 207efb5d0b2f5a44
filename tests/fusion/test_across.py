"""The laws of fusion across sources, for accounts drawn at random and for a few that are clear."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.across import SAID, record, records
from oracles.depots import SCHEMA
from partita.app.fuse import record_linker
from partita.errors import InputError, TotalConflict
from partita.fusion.entities import (
    Task,
    entity_changes_without,
    fuse_records,
    fuse_without,
)
from partita.fusion.source_records import PairBelief, SourceRecords, merge_records

LAW = settings(deadline=None, max_examples=15)
TASK = Task(SCHEMA, record_linker())
SURE = {"ann": 0.9, "bob": 0.8, "cy": 0.7}
KINSTON = {"FACILITY": "DEPOT", "LOCATION": "KINSTON", "TYPE": "RAIL"}


def fused(said, reliabilities=None, **options):
    return fuse_records(records(said, **options), replace(TASK, reliabilities=reliabilities or {}))


def told(found):
    """Everything that is believed, by the accounts of each thing."""
    return {
        tuple(one.id for one in entity.records): (
            entity.type,
            pytest.approx(entity.probability.value, abs=1e-9),
            {
                name: {v.text: pytest.approx(v.probability.value, abs=1e-9) for v in slot.values}
                for name, slot in entity.slots.items()
            },
        )
        for entity in found.entities
    }


def value(entity, slot, text):
    values = entity.slots[slot].values
    return next((one.probability.value for one in values if one.text == text), 0.0)


@LAW
@given(SAID)
def test_values_add_up_to_one_with_unknown_and_every_record_is_somewhere(said):
    found = fused(said)
    assert sorted(a.id for t in found.entities for a in t.records) == sorted(
        a.id for a in found.records.records
    )
    for entity in found.entities:
        for slot in entity.slots.values():
            total = sum(one.probability.value for one in slot.values) + slot.unknown
            assert total == pytest.approx(1)
            assert 0 <= slot.conflict <= 1
    for one in found.distributions:
        listed = sum(each.probability for each in one.configurations)
        assert listed + one.remainder.probability == pytest.approx(1)


@LAW
@given(SAID, st.randoms(use_true_random=False))
def test_the_order_of_records_and_sources_does_not_matter(said, chance: random.Random):
    whole = records(said)
    mixed = chance.sample(whole.records, len(whole))
    again = merge_records([SourceRecords((one,)) for one in mixed])
    assert told(fuse_records(again, TASK)) == told(fuse_records(whole, TASK))


@LAW
@given(SAID, SAID)
def test_a_source_of_reliability_0_changes_nothing(said, more):
    deaf = [("zero", slots) for _, slots in more]
    assert told(fused([*said, *deaf], {"zero": 0.0})) == told(fused(said))


def test_one_of_reliability_1_that_is_certain_decides():
    other = {**KINSTON, "LOCATION": "DUNN"}
    said = (("ann", KINSTON), ("bob", other), ("cy", other))
    named = [record(source, 1, slots, "x") for source, slots in said]
    given_ = merge_records([SourceRecords(tuple(named))])
    found = fuse_records(given_, replace(TASK, reliabilities={"ann": 1.0, "bob": 0.9, "cy": 0.9}))
    [entity] = found.entities
    assert value(entity, "LOCATION", "KINSTON") == 1.0
    assert entity.slots["LOCATION"].conflict == pytest.approx(0.99)


def test_certain_sources_that_contradict_each_other_are_named():
    named = [
        record("ann", 1, KINSTON, "x"),
        record("bob", 1, {**KINSTON, "TYPE": "AMMUNITION"}, "x"),
    ]
    sure = replace(TASK, reliabilities={"ann": 1.0, "bob": 1.0})
    with pytest.raises(TotalConflict, match=r"bob \(says AMMUNITION of x, TYPE\) and ann"):
        fuse_records(merge_records([SourceRecords(tuple(named))]), sure)


def test_certain_sources_that_contradict_each_other_speak_of_two_entities():
    said = [("ann", KINSTON), ("bob", {**KINSTON, "TYPE": "AMMUNITION"})]
    assert len(fused(said, {"ann": 1.0, "bob": 1.0}).entities) == 2
    assert len(fused(said, {"ann": 0.5, "bob": 0.5}).entities) == 2


@LAW
@given(st.floats(0.3, 0.95), st.floats(0.3, 0.95))
def test_two_that_agree_strengthen(first, second):
    trust = {"ann": first, "bob": second}
    alone = fused([("ann", KINSTON)], trust).entities[0]
    both = next(t for t in fused([("ann", KINSTON), ("bob", KINSTON)], trust).entities)
    for slot, text in (("LOCATION", "KINSTON"), ("TYPE", "RAIL")):
        assert value(both, slot, text) > value(alone, slot, text)


def test_a_place_inside_another_supports_it_and_numbers_are_the_same_within_tolerance():
    from partita.rules.domain_files import read_domain

    schema = read_domain("depots").schema
    rows = [{"FACILITY": "DEPOT", "LOCATION": "KINSTON", "SIZE": "40 ha"},
            {"FACILITY": "FACILITY", "LOCATION": "NORTH CAROLINA", "SIZE": "41 ha"}]  # fmt: skip
    made = [
        replace(record(s, 1, {"FACILITY": "DEPOT"}, "x"), values=schema.read(row))
        for s, row in zip(("ann", "bob"), rows, strict=True)
    ]
    given_ = merge_records([SourceRecords(tuple(made))])
    trust = {"ann": 0.9, "bob": 0.9}
    [entity] = fuse_records(given_, Task(schema, record_linker(), trust, tolerance=0.05)).entities
    assert entity.slots["LOCATION"].values[0].text == "KINSTON"
    assert entity.slots["LOCATION"].values[0].records == ("ann/1/R", "bob/1/R")
    assert entity.slots["FACILITY"].values[0].text == "DEPOT"
    assert [one.text for one in entity.slots["SIZE"].values] == ["40 ha"]
    assert entity.slots["SIZE"].values[0].probability.value > 0.9


def test_judgements_link_and_part_and_are_discounted():
    said = [("ann", KINSTON), ("bob", KINSTON)]
    two = ("ann/m0/R", "bob/m1/R")

    def together(p, reliability):
        judge = PairBelief("judge", {two: p})
        found = fused(said, {**SURE, "judge": reliability}, judgements=(judge,))
        return found.distributions[0].marginal(*two) if found.distributions else 0.0

    plain = fused(said, SURE).distributions[0].marginal(*two)
    assert together(0.0, 1.0) == 0.0
    assert together(1.0, 1.0) == 1.0
    assert together(0.1, 0.5) < plain < together(0.9, 0.5)
    assert together(0.1, 0.9) < together(0.1, 0.5)


def test_what_a_message_believes_of_its_entities_counts():
    def apart(p):
        mates = {("ann/m/1", "ann/m/2"): p}
        first = [replace(record("ann", "m", KINSTON), template=replace(
            record("ann", "m", KINSTON).template, id=f"ann/m/{n}")) for n in (1, 2)]  # fmt: skip
        given_ = merge_records([SourceRecords((*first, record("bob", "m", KINSTON)), mates)])
        task = replace(TASK, reliabilities={"ann": 0.9, "bob": 0.9})
        return fuse_records(given_, task).distributions[0].marginal("ann/m/1", "ann/m/2")

    assert 0 < apart(0.2) < apart(0.6) < apart(0.9) < 1


def test_without_a_source_is_never_having_heard_it():
    said = [("ann", KINSTON), ("bob", KINSTON), ("cy", {"FACILITY": "BRIDGE", "NAME": "ELM"})]
    found = fused(said)
    assert told(fuse_without(found, "cy")) == told(fused(said[:2]))
    [gone] = entity_changes_without(found, "cy")
    assert (gone.slot, gone.before, gone.after) == ("", "cy/m2/R", "")
    with pytest.raises(InputError, match="no source named 'eve'; sources are ann, bob, cy"):
        fuse_without(found, "eve")


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="all sources have reliability 0"):
        fused([("ann", KINSTON)], {"ann": 0.0})
    with pytest.raises(InputError, match=r"reliability 1\.5 of ann"):
        fused([("ann", KINSTON)], {"ann": 1.5})
    judge = PairBelief("judge", {("ann/m0/R", "eve/m0/R"): 0.5})
    with pytest.raises(InputError, match="judge refers to an unknown template 'eve/m0/R'"):
        merge_records([records([("ann", KINSTON)]), SourceRecords((), judgements=(judge,))])
    with pytest.raises(InputError, match=r"stands in ann\.csv, line 1, already"):
        merge_records([records([("ann", KINSTON)]), records([("ann", KINSTON)])])


def test_reliability_is_learned_from_agreement():
    places = [f"PLACE {n}" for n in range(12)]
    said = []
    for n, place in enumerate(places):
        for source in ("ann", "bob", "cy"):
            wrong = source == "cy" and n % 2
            kind = "AMMUNITION" if wrong else "RAIL"
            said.append(
                (source, {"FACILITY": "DEPOT", "LOCATION": place, "TYPE": kind, "NUMBER": 1})
            )
    learned = fused(said).learned.reliabilities
    assert learned["ann"] == pytest.approx(learned["bob"])
    assert learned["cy"] < learned["ann"] - 0.05


@LAW
@given(SAID)
def test_the_interval_holds_the_reliability(said):
    learned = fused(said, {"ann": 0.7}).learned
    for source, reliability in learned.reliabilities.of.items():
        low, high = learned.interval(source)
        assert low == high == 0.7 if source == "ann" else 0 <= low < reliability < high <= 1


def test_the_interval_is_that_of_the_posterior_and_narrower_with_more_claims():
    from scipy.stats import beta

    def width(count):
        said = [
            (who, {"FACILITY": "DEPOT", "LOCATION": place, "TYPE": "RAIL", "NUMBER": "1"})
            for place in ("KINSTON", "TARBORO", "RALEIGH")[:count]
            for who in ("ann", "bob")
        ]
        low, high = fused(said).learned.interval("ann")
        return high - low

    assert width(3) < width(1)
    alone = fused([("ann", KINSTON)]).learned  # nobody was met: the prior, worth one claim
    r = alone.reliabilities["ann"]
    assert alone.interval("ann") == pytest.approx(beta(r, 1 - r).ppf([0.025, 0.975]), abs=1e-9)
    assert alone.interval("new") == alone.interval("ann")
