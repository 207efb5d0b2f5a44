"""Facts of the corpus split among simulated sources: together they are right more often."""

from __future__ import annotations

import numpy as np
from typer.testing import CliRunner

from oracles.simulated_sources import facts_of, meant_by, measure_across, table_records
from partita.app.fuse import record_linker
from partita.cli import app
from partita.corpora.documents import corpus_path, read_keyed_messages
from partita.fusion.entities import Task, fuse_records
from partita.fusion.run_results import read_run_results, run_records
from partita.fusion.source_records import SourceRecords, merge_records
from partita.rules.domain_files import read_domain

TABLES = {"archive": 0.9, "survey": 0.75, "forum": 0.6}


def test_entities_across_sources_are_right_more_often_than_any_source(tmp_path):
    schema = read_domain("depots").schema
    documents = [one for one in read_keyed_messages(corpus_path()) if one.name.startswith("new")]
    facts = facts_of(documents, schema)
    files = [str(corpus_path() / f"{one.name}.txt") for one in documents]
    made = CliRunner().invoke(
        app, ["run", "--domain", "depots", *files, "--out", str(tmp_path / "reports.jsonl")]
    )
    assert made.exit_code == 0, made.output
    reports = run_records(read_run_results(tmp_path / "reports.jsonl"), schema)
    meant = dict(meant_by(reports.records, documents, facts))
    rng, records = np.random.default_rng(0), []
    for source, reliable in TABLES.items():
        for record, entity in table_records(facts, source, reliable, 0.7, schema, rng):
            records.append(record)
            meant[record.id] = entity
    fused = fuse_records(
        merge_records([reports, SourceRecords(tuple(records))]), Task(schema, record_linker())
    )
    found = measure_across(fused, meant, facts, schema)
    assert set(found.by_source) == {"reports", *TABLES}
    assert found.accuracy > max(found.by_source.values()) + 0.1  # of all facts
    for source in TABLES:  # of those facts that the source speaks of
        assert found.of_source[source] > found.said_right[source]
    trusted = fused.learned.reliabilities
    assert trusted["forum"] < trusted["archive"]
    assert found.f > 0.7
    assert found.error < 0.15
