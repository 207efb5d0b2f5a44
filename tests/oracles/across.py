"""Accounts drawn at random for the laws of fusion across sources."""

from __future__ import annotations

from hypothesis import strategies as st

from oracles.depots import SCHEMA
from partita.core import Template
from partita.fusion.source_records import Origin, SourceRecord, SourceRecords, merge_records

SLOTS = st.fixed_dictionaries(
    {"FACILITY": st.sampled_from(["DEPOT", "BRIDGE", "FACILITY"])},
    optional={
        "LOCATION": st.sampled_from(["KINSTON", "RALEIGH", "TARBORO"]),
        "TYPE": st.sampled_from(["RAIL", "AMMUNITION"]),
        "NAME": st.sampled_from(["CAMP VARGAS", "VARGAS", "CAMP ELM"]),
        "NUMBER": st.integers(1, 3),
    },
)
SAID = st.lists(st.tuples(st.sampled_from(["ann", "bob", "cy"]), SLOTS), min_size=1, max_size=7)


def record(source, message, slots, entity="", sure=None):
    """A record; the type is that of the facility."""
    template = Template("R", type=slots.get("FACILITY", ""), slots=slots)
    origin = Origin(source, f"{source}.csv", 1, str(message), "R")
    return SourceRecord.of(source, str(message), template, SCHEMA, [origin], sure, entity)


def records(said, prefix="m", **options):
    """One account for each source and its slots, each a message of its own."""
    made = [record(source, f"{prefix}{n}", slots) for n, (source, slots) in enumerate(said)]
    return merge_records([SourceRecords(tuple(made), **options)])
