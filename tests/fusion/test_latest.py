"""Messages are statements of their source; in slots that change the last statement counts."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.app.fuse import fuse_claims, record_linker
from partita.core import Template
from partita.errors import InputError
from partita.fusion.claims import Claims, latest_claims
from partita.fusion.entities import Task, fuse_records
from partita.fusion.source_records import Origin, SourceRecord, SourceRecords
from partita.options import FuseOptions
from partita.templates.name import NameType
from partita.templates.schema import Schema
from partita.templates.slots import StringsType

SCHEMA = Schema({"NAME": NameType(), "STATUS": StringsType(several=False)})


def record(source, message, status, line=1, name="Camp Vargas"):
    template = Template("T1", slots={"NAME": name, "STATUS": status})
    origin = Origin(source, f"{source}.jsonl", line, message, "T1")
    return SourceRecord.of(source, message, template, SCHEMA, [origin], object_="vargas")


def status(*records, **options):
    options = {"reliabilities": {"a": 0.7, "b": 0.7}, **options}
    [entity] = fuse_records(
        SourceRecords(tuple(records)), Task(SCHEMA, record_linker(), **options)
    ).entities
    return {value.text: value.probability.value for value in entity.slots["STATUS"].values}


def test_two_messages_say_more_than_one_and_less_than_two_sources():
    one = status(record("a", "m1", "empty"))["empty"]
    two = status(record("a", "m1", "empty"), record("a", "m2", "empty"))["empty"]
    apart = status(record("a", "m1", "empty"), record("b", "m1", "empty"))["empty"]
    assert one < two < apart


def test_thirty_messages_do_not_outweigh_everything():
    many = [record("a", f"m{n:02}", "empty", n) for n in range(30)]
    three = [record("a", f"m{n:02}", "empty", n) for n in range(3)]
    assert status(*three)["empty"] < status(*many)["empty"] < 1.0


def test_a_later_message_supersedes_an_earlier_one_where_the_slot_changes():
    said = [record("a", "m1", "empty", 1), record("a", "m2", "occupied", 2)]
    both = status(*said)
    assert both["empty"] == pytest.approx(both["occupied"])
    changing = status(*said, latest=frozenset({"STATUS"}))
    assert changing == status(record("a", "m2", "occupied", 2))


ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from(["s", "t"]),
              st.sampled_from("123")), min_size=1, max_size=25)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(ROWS)
def test_only_the_last_claims_of_changing_slots_are_kept(rows):
    claims = Claims.of(rows)
    if "s" not in claims.slots:
        return
    kept = latest_claims(claims, ["s"])
    said = [(claims.sources[kept.source[n]], claims.objects[kept.object[n]],
             claims.slots[kept.slot[n]], claims.values[kept.value[n]])
            for n in range(len(kept))]  # fmt: skip
    last = {row[:3]: n for n, row in enumerate(rows)}
    expected = [row for n, row in enumerate(rows) if row[2] != "s" or last[row[:3]] == n]
    assert said == expected


def test_days_decide_before_the_order_of_lines(tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text(
        "object,source,slot,value,stated\n"
        "x,ann,status,open,2024-05-01\nx,ann,status,closed,2023-01-01\nx,bob,status,open,\n"
    )
    fusion = fuse_claims([path], FuseOptions(latest=("status",)))
    [belief] = fusion.fused.slots
    assert [belief.parsed.labels[n] for n in belief.parsed.statements.value.tolist()] == [
        "open",
        "open",
    ]


@pytest.mark.parametrize(
    ("column", "latest", "problem"),
    [
        ("soon", "status", "line 2: stated soon is not a day"),
        ("", "colour", "unknown slot 'colour'"),
    ],
)
def test_wrong_days_and_slots_are_refused(tmp_path, column, latest, problem):
    path = tmp_path / "claims.csv"
    path.write_text(f"object,source,slot,value,stated\nx,ann,status,open,{column}\n")
    with pytest.raises(InputError, match=problem):
        fuse_claims([path], FuseOptions(latest=(latest,)))


def test_messages_in_any_order_give_the_same():
    said = [record("a", f"m{n}", text, n) for n, text in enumerate(["empty", "empty", "occupied"])]
    found = [status(*order) for order in itertools.permutations(said)]
    assert all(one == pytest.approx(found[0]) for one in found)
