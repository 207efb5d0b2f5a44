"""Files of sources as accounts: what each is, what it says and where, and what is refused."""

from __future__ import annotations

import json

import pytest

from partita.errors import InputError
from partita.fusion.record_files import Slots, claim_records, judgement_records, table_records
from partita.fusion.run_results import read_run_results, run_records
from partita.fusion.source_records import merge_records
from partita.fusion.sources import read_source
from partita.rules.domain_files import read_domain
from partita.templates.schema import Schema

ABOUT = Slots(read_domain("depots").schema, ("FACILITY", "UNIT", "EQUIPMENT"))
RESULTS = [
    {
        "version": 1, "message": "m", "set": "m.1",
        "templates": [
            {"id": "T1", "text": "Tarboro depot", "start": 0, "end": 13, "sort": "DEPOT",
             "slots": {"FACILITY": "DEPOT", "LOCATION": "TARBORO"}},
            {"id": "T2", "text": "The depot", "start": 20, "end": 29, "sort": "DEPOT",
             "slots": {"FACILITY": "DEPOT", "SIZE": "5 ha"}},
            {"id": "T3", "text": "a depot", "start": 40, "end": 47, "sort": "DEPOT",
             "slots": {"FACILITY": "DEPOT"}},
        ],
        "incompatible": [],
        "pairs": [{"left": "T1", "right": "T2", "probability": 0.9, "marginal": 0.9},
                  {"left": "T1", "right": "T3", "probability": 0.2, "marginal": 0.1},
                  {"left": "T2", "right": "T3", "probability": 0.2, "marginal": 0.1}],
        "configurations": [{"cells": [["T1", "T2"], ["T3"]], "probability": 0.85}],
        "remainder": {"count": "4", "log2_count": 2.0, "probability": 0.15},
        "entropy_bits": 1.0, "conflict": 0.1, "model": "evidential", "method": "exact",
        "reason": "", "seed": 0,
        "entities": [
            {"id": "E1", "sort": "DEPOT", "templates": ["T1", "T2"], "anchor": "T1",
             "probability": 0.85, "slots": {
                 "FACILITY": [{"value": "DEPOT", "probability": 1.0, "templates": ["T1"]}],
                 "LOCATION": [{"value": "TARBORO", "probability": 1.0, "templates": ["T1"]}],
                 "SIZE": [{"value": "5 ha", "probability": 0.9, "templates": ["T2"]},
                          {"value": None, "probability": 0.1, "templates": []}]}},
            {"id": "E2", "sort": "DEPOT", "templates": ["T3"], "anchor": "T3", "probability": 0.85,
             "slots": {"FACILITY": [{"value": "DEPOT", "probability": 1.0, "templates": ["T3"]}]}},
        ],
    },
    {"version": 1, "message": "m", "singletons": [
        {"id": "T4", "text": "Camp Elm", "start": 60, "end": 68, "sort": "CAMP",
         "slots": {"FACILITY": "CAMP", "NAME": "CAMP ELM"}}], "run": {"domain": "depots"}},
]  # fmt: skip


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def results(tmp_path, lines=RESULTS):
    return written(tmp_path, "watch.jsonl", "".join(json.dumps(line) + "\n" for line in lines))


def test_results_are_records_with_their_distribution_and_where_they_stand(tmp_path):
    path = results(tmp_path)
    assert (read_source(path).kind, read_run_results(path).domain) == ("reports", "depots")
    found = run_records(read_run_results(path), ABOUT.schema)
    assert [one.id for one in found.records] == ["watch/m/T1", "watch/m/T3", "watch/m/T4"]
    first = found.records[0]
    assert dict(first.template.slots) == {
        "FACILITY": "DEPOT",
        "LOCATION": "TARBORO",
        "SIZE": "5 ha",
    }
    assert (first.slot_confidence("SIZE"), first.slot_confidence("LOCATION")) == (0.9, 1.0)
    assert found.same_message == {("watch/m/T1", "watch/m/T3"): 0.1}
    told = [(o.template, o.file, o.line, o.start, o.end) for o in first.origins]
    assert told == [("T1", str(path), 1, 0, 13), ("T2", str(path), 1, 20, 29)]
    assert found.records[2].origins[0].line == 2


def test_results_without_entities_are_refused(tmp_path):
    bare = {key: value for key, value in RESULTS[0].items() if key != "entities"}
    with pytest.raises(InputError, match=r"watch\.jsonl, line 1: set 'm\.1' has no entities"):
        run_records(read_run_results(results(tmp_path, [bare])), ABOUT.schema)


def test_records_are_records_of_their_file_or_of_a_column(tmp_path):
    text = "facility,location,size\ndepot,Tarboro,30 ha\nbridge,,\n"
    found = table_records(written(tmp_path, "table.csv", text), ABOUT)
    first = found.records[0]
    assert (first.id, first.source) == ("table/table.csv:2/R", "table")
    assert (first.template.type, first.origins[0].line) == ("DEPOT", 2)
    text = "source,reliability,id,Facility,status\nann,.9,7,depot,new; active\nbob,,7,depot,\n"
    found = table_records(written(tmp_path, "more.csv", text), ABOUT)
    assert [one.source for one in found.records] == ["ann", "bob"]
    assert found.records[0].object == found.records[1].object != ""
    assert found.records[0].template.slots["STATUS"] == ["new", "active"]
    assert found.reliabilities == {"ann": 0.9}


def test_records_of_jsonl_and_parquet(tmp_path):
    rows = [{"facility": "depot", "name": ["Camp Elm", "Elm"], "number": 2}]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    [one] = table_records(written(tmp_path, "t.jsonl", text), ABOUT).records
    assert str(one.values["NAME"]) == "CAMP ELM = ELM"
    assert str(one.values["NUMBER"]) == "2"
    arrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    write_table(arrow.table({"facility": ["depot"], "location": ["Dunn"]}), tmp_path / "t.parquet")
    [one] = table_records(tmp_path / "t.parquet", ABOUT).records
    assert str(one.values["LOCATION"]) == "DUNN"
    from pyarrow.feather import write_feather

    write_feather(arrow.table({"facility": ["depot"], "location": ["Dunn"]}), tmp_path / "t.arrow")
    [again] = table_records(tmp_path / "t.arrow", ABOUT).records
    assert again.values == one.values
    broken = written(tmp_path, "odd.arrow", "facility\ndepot\n")
    with pytest.raises(InputError, match=r"odd\.arrow: is not Arrow"):
        table_records(broken, ABOUT)


def test_claims_are_records_of_objects_and_a_contradiction_makes_two(tmp_path):
    text = (
        "object,source,slot,value,confidence\nx,ann,facility,depot,\nx,ann,location,Dunn,.7\n"
        "x,ann,location,Weldon,\nx,bob,location,Dunn,\n"
    )
    path = written(tmp_path, "claims.csv", text)
    assert read_source(path).kind == "claims"
    found = claim_records(path, ABOUT).records
    assert [(one.source, one.object, len(one.values)) for one in found] == [
        ("ann", "x", 3), ("ann", "x", 1), ("bob", "x", 1),
    ]  # fmt: skip
    assert found[0].slot_confidence("LOCATION") == 0.7


def test_judgements_are_probabilities_of_pairs(tmp_path):
    text = "left,right,source,same,confidence\nx,y,ann,yes,\ny,z,ann,no,.5\nx,y,bob,different,1\n"
    path = written(tmp_path, "judged.csv", text)
    assert read_source(path).kind == "judgements"
    ann, bob = judgement_records(path).judgements
    assert (ann.source, dict(ann.pairs)) == ("ann", {("x", "y"): 1.0, ("y", "z"): 0.25})
    assert dict(bob.pairs) == {("x", "y"): 0.0}
    odd = written(tmp_path, "odd.csv", "left,right,source,same\nx,y,ann,perhaps\n")
    with pytest.raises(InputError, match=r"line 2: judgement 'perhaps' is neither same nor"):
        judgement_records(odd)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("facility,colour\ndepot,red\n", r"line 1: unknown slot 'colour'; the slots are FACILITY"),
        ("facility,number\ndepot,many\n", r"line 2: .*slot NUMBER: 'many' is not a number"),
        ("source,facility\n,depot\n", r"line 2: has no source"),
        ("source,reliability,facility\nann,2,depot\n", r"line 2: reliability of ann 2 is not"),
        ("source,reliability,facility\na,.5,depot\na,.6,depot\n", r"line 3: .* of a is 0\.6"),
        ("facility,location\n,\n", r"has no records"),
        ("source,reliability\nann,1\n", r"has no columns of slots"),
        ("facility,location\ndepot\n", r"line 2: has 1 values"),
        (f"facility,number\ndepot,{'[' * 10_000}\n", r"line 2: .*slot NUMBER"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_records_is_told_with_its_line(tmp_path, text, problem):
    with pytest.raises(InputError, match=problem):
        table_records(written(tmp_path, "bad.csv", text), ABOUT)


def test_a_domain_without_slots_says_so(tmp_path):
    path = written(tmp_path, "bad.csv", "object,slot,source,value\nd,city,a,Lima\n")
    with pytest.raises(InputError, match=r"line 2: unknown slot 'city'; the domain has no slots"):
        claim_records(path, Slots(Schema()))


def test_an_unknown_type_is_ignored_with_a_note(tmp_path):
    path = written(tmp_path, "t.csv", "facility,location\nzebra,Tarboro\ndepot,Kinston\n")
    found = table_records(path, ABOUT)
    assert [one.template.type for one in found.records] == ["", "DEPOT"]
    assert "1 unknown sorts are ignored, such as zebra in line 2" in found.notes[0]


def test_strings_that_differ_in_case_are_one_value(tmp_path):
    paths = [written(tmp_path, name, f"facility,location,status\ndepot,Tarboro,{status}\n")
             for name, status in (("a.csv", "damaged"), ("b.csv", "DAMAGED"))]  # fmt: skip
    merged = merge_records(table_records(path, ABOUT) for path in paths)
    first, second = (one.values["STATUS"] for one in merged.records)
    assert first == second
