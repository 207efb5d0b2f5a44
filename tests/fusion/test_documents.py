"""Documents of one publisher: reliabilities of their own, drawn to that of the publisher."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.depots import SCHEMA
from partita.app.fuse import record_linker
from partita.core import Template
from partita.fusion.entities import Task, fuse_records
from partita.fusion.source_records import Origin, SourceRecord, SourceRecords, merge_records
from partita.fusion.trust import (
    DOCUMENT_WEIGHT,
    POOLED_WEIGHT,
    SharedSlots,
    _expected_counts,
    agreement,
)

NAMES = ("CAMP ELM", "CAMP OAK", "CAMP ASH", "CAMP FIR", "CAMP YEW", "CAMP BAY")
TYPES = ("RAIL", "AMMUNITION")


def reports(message, wrong=()):
    """Return what a message says of every depot; the types of those in `wrong` are wrong."""
    for n, name in enumerate(NAMES):
        slots = {"FACILITY": "DEPOT", "NAME": name, "LOCATION": ("KINSTON", "RALEIGH")[n % 2],
                 "TYPE": TYPES[(n // 2 + (n in wrong)) % 2]}  # fmt: skip
        origin = Origin("wire", "wire.jsonl", 1, message, f"R{n}")
        template = Template(f"R{n}", type="DEPOT", slots=slots)
        yield SourceRecord.of("wire", message, template, SCHEMA, [origin])


def test_messages_of_one_file_are_sources_with_a_publisher_above_them():
    """Three messages agree, the fourth does not: within one file that is seen."""
    rows = [*reports("1"), *reports("2"), *reports("3"), *reports("4", wrong=range(6))]
    fused = fuse_records(merge_records([SourceRecords(tuple(rows))]), Task(SCHEMA, record_linker()))
    [wire] = fused.source_trusts()
    assert set(wire.documents) == {"1", "2", "3", "4"}
    assert wire.documents["4"] < min(wire.documents[name] for name in "123") - 0.05
    assert min(wire.documents.values()) <= wire.reliability <= max(wire.documents.values())
    whole = [entity for entity in fused.entities if len(entity.records) > 2]
    assert len(whole) == len(NAMES)
    for entity in whole:
        expected = TYPES[NAMES.index(entity.name) // 2 % 2]
        assert entity.slots["TYPE"].values[0].text == expected


def shared(rows, documents, publisher, sources):
    """Return shared slots of pairs (left, right, agree) of documents, all of one slot."""
    count = len(rows)
    left, right, agree = (np.array(column) for column in zip(*rows, strict=True))
    return SharedSlots(
        np.arange(count), left, right, np.zeros(count, dtype=np.int64),
        np.where(agree, 0.05, 0.0), np.ones(count), np.ones(count), np.full(count, 0.9),
        tuple(documents), np.array(publisher), tuple(sources), ("STATUS",),
        {(source, "STATUS"): count for source in sources},
    )  # fmt: skip


def test_documents_are_drawn_to_their_publisher_and_publishers_to_the_mean():
    rng = np.random.default_rng(0)
    rows = [(*rng.permutation(6)[:2].tolist(), bool(rng.random() < 0.7)) for _ in range(80)]
    names, publisher = [f"d{n}" for n in range(6)], [0, 0, 0, 1, 1, 2]
    one = shared(rows, names, publisher, ["a", "b", "c"])
    result = agreement(one, {}, 0.8)
    rates = np.array([result.documents.get(n, result.reliabilities["c"]) for n in names])
    claims, right = (x.sum(axis=1) for x in _expected_counts(one, rates))
    assert set(result.documents) == set(names[:5])
    for n, source in enumerate("abc"):
        mine = np.array(publisher) == n
        mean = (right[mine].sum() + POOLED_WEIGHT * result.unseen) / (
            claims[mine].sum() + POOLED_WEIGHT
        )
        assert result.reliabilities[source] == pytest.approx(mean, abs=1e-3)
    for n in range(5):
        above = result.reliabilities["abc"[publisher[n]]]
        expected = (right[n] + DOCUMENT_WEIGHT * above) / (claims[n] + DOCUMENT_WEIGHT)
        assert rates[n] == pytest.approx(expected, abs=1e-3)


def test_a_reliability_that_is_set_holds_for_all_documents():
    rows = [(0, 1, False), (0, 2, False), (1, 2, True)] * 5
    one = shared(rows, ["d0", "d1", "d2"], [0, 0, 1], ["a", "b"])
    result = agreement(one, {"a": 0.9}, 0.8)
    assert result.reliabilities["a"] == 0.9
    assert result.documents == {"d0": 0.9, "d1": 0.9}
