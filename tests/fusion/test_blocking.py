"""Blocking against all pairs: what it finds, what it leaves, and what it never compares."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings

from oracles.across import SAID, record, records
from oracles.depots import SCHEMA
from partita.app.fuse import record_linker
from partita.fusion.entities import Task, fuse_records
from partita.fusion.schema_comparison import (
    MAX_PER_KEY,
    Chances,
    Comparer,
    SchemaKeys,
    can_match,
    candidates,
    count_record_pairs,
)
from partita.rules.domain_files import read_domain

LAW = settings(deadline=None, max_examples=30)
PLACES = ["KINSTON", "RALEIGH", "TARBORO", "WELDON", "DUNN", "NORTH CAROLINA", "BAGHDAD", "IRAQ"]
NAMES = [
    "CAMP VARGAS",
    "VARGAS",
    "IBM",
    "INTERNATIONAL BUSINESS MACHINES",
    "OLD BRIDGE",
    "CAMP ELM",
]
MADE = [f"{a}{b}" for a in ("BAR", "DEL", "GOR", "HAL", "LOR") for b in ("VIK", "SK", "DORF", "BY")]
TYPES = ["DEPOT", "CAMP", "BRIDGE", "FACILITY", "BATTALION"]


def world(size, rng):
    """Accounts of the domain of depots, four of a thing, each of which says some of its slots."""
    schema = read_domain("depots").schema

    def drawn(*lists):
        several = [one for some in lists for one in some]
        return several[int(rng.integers(len(several)))]

    entities = [(drawn(TYPES), drawn(PLACES, MADE), drawn(NAMES, MADE), int(rng.integers(2, 90)))
              for _ in range(size // 4)]  # fmt: skip
    made = []
    for n in range(size):
        entity_type, place, name, hectares = entities[n // 4]
        slots = {
            "UNIT" if entity_type == "BATTALION" else "FACILITY": entity_type,
            "SIZE": f"{hectares} ha",
        }
        slots |= {"LOCATION": place} if rng.random() < 0.7 else {}
        slots |= {"NAME": name} if rng.random() < 0.7 else {}
        made.append(_record(f"s{n % 4}", n, slots, entity_type, schema))
    return made, schema


def _record(source, message, slots, entity_type, schema):
    from partita.core import Template
    from partita.fusion.source_records import Origin, SourceRecord

    template = Template("R", type=entity_type, slots=slots)
    return SourceRecord.of(
        source, str(message), template, schema, [Origin(source, "f", 1, "", "R")]
    )


def test_blocking_finds_what_comparing_everything_would_link():
    made, schema = world(200, np.random.default_rng(0))
    by_id = {one.id: one for one in made}
    found = set(candidates(made, schema))
    ordered = sorted(made, key=lambda one: one.id)
    every = [(a.id, b.id) for a, b in combinations(ordered, 2) if can_match(a, b, schema)]
    comparer = Comparer(schema, Chances.of_records(made, schema))
    prior = comparer.chances.prior
    probable = {
        (a, b) for a, b in every
        if comparer.compare(by_id[a], by_id[b]).log_odds(0.81, prior) >= 0.0
    }  # fmt: skip
    assert len(probable) > 50
    missed = probable - found
    assert len(missed) <= 0.1 * len(probable)  # and nothing of what shares a name or a place:
    keys = {one.id: SchemaKeys(schema).keys(one) for one in made}
    assert not any(keys[a].own & keys[b].own for a, b in missed)
    assert found <= set(every)
    assert len(found) < 0.5 * len(every)
    assert len(every) < count_record_pairs(made)


@LAW
@given(SAID)
def test_every_pair_stands_once(said):
    made = records(said).records
    found = list(candidates(made, SCHEMA))
    assert len(found) == len(set(found))
    assert all(left < right for left, right in found)
    by_id = {one.id: one for one in made}
    assert all(can_match(by_id[a], by_id[b], SCHEMA) for a, b in found)


def test_a_key_that_very_many_hold_is_left_but_the_type_parts_them():
    crowd = [record("ann", n, {"FACILITY": "BRIDGE", "LOCATION": "KINSTON"}) for n in
             range(MAX_PER_KEY + 5)]  # fmt: skip
    few = [record(s, 1, {"FACILITY": "DEPOT", "LOCATION": "KINSTON"}) for s in ("bob", "cy")]
    common = SchemaKeys(SCHEMA).crowded([*crowd, *few])
    assert ("LOCATION", "KINSTON") in common
    assert list(candidates([*crowd, *few], SCHEMA, common)) == [("bob/1/R", "cy/1/R")]


def test_what_is_known_a_priori_is_not_compared():
    one, other = ({"FACILITY": "DEPOT", "LOCATION": "KINSTON", "NUMBER": n} for n in (1, 2))
    bridge = {"FACILITY": "BRIDGE", "LOCATION": "KINSTON"}
    first = record("ann", 1, one, "x")
    assert not can_match(first, record("bob", 1, bridge), SCHEMA)
    assert not can_match(first, record("bob", 1, other), SCHEMA)  # one thing and two
    assert not can_match(first, record("ann", 2, one, "y"), SCHEMA)  # the source tells them apart
    assert can_match(first, record("ann", 2, one), SCHEMA)
    assert can_match(first, record("bob", 2, bridge, "x"), SCHEMA)  # both call it x


def test_pairs_grow_with_reports_and_not_with_their_square():
    def share(size):
        made, schema = [], read_domain("depots").schema
        for n in range(size):
            slots = {"FACILITY": "DEPOT", "LOCATION": f"PLACE {n // 3}"}
            made.append(_record(f"s{n % 3}", n, slots, "DEPOT", schema))
        return len(list(candidates(made, schema))) / size

    assert share(60) == share(600) == 1.0


def test_the_answer_says_what_was_compared():
    said = [("ann", {"FACILITY": "DEPOT", "LOCATION": p}) for p in ("KINSTON", "DUNN", "WELDON")]
    found = fuse_records(records([*said, ("bob", said[0][1])]), Task(SCHEMA, record_linker()))
    assert (found.pairs, found.compared) == (6, 1)
