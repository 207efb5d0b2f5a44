"""What a task on Spark does: it solves some components and returns its tables as bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from partita.app.cluster import MIN_MERGE_PROBABILITY, RecordKnowledge, answered
from partita.app.solve import Solver
from partita.core import Template
from partita.errors import PartitaError
from partita.linkage.answers import MergeRule
from partita.linkage.cluster_tables import (
    alternatives,
    pair_columns,
    possible_merges,
    record_columns,
    review,
    totals,
)
from partita.linkage.grouping import Evidence, TemplateList, group
from partita.linkage.labels import Labels
from partita.linkage.pairs import PairTable
from partita.linkage.sets import Assumption
from partita.options import default_memory
from partita.tables.columns import IntegerIds

PAYLOAD = "name string, payload binary"


@dataclass(frozen=True, slots=True)
class ClusteringTask:
    """What every task is told: the model, what is known, and how clusters are merged.

    A task returns an error as a row as well, so that it can be raised as one line.
    """

    solver: Solver
    link_above: float
    known: RecordKnowledge
    assume: tuple[Assumption, ...]
    rule: MergeRule

    def __call__(self, table: Any) -> Any:
        """Solve the components of one task; return its tables as rows of bytes."""
        from pyarrow import table as make

        try:
            rows = list(self._tables(table))
        except PartitaError as error:
            rows = [("error", str(error).encode())]
        names, payloads = zip(*rows, strict=True)
        return make({"name": names, "payload": payloads})

    def _tables(self, table: Any) -> Iterator[tuple[str, bytes]]:
        pairs, ids, sources = pair_table(table)
        names = set(pairs.names)
        known = replace(
            self.known,
            labels=_labels_of(self.known.labels, names),
            assume=[one for one in self.assume if {one.left, one.right} <= names],
            sources=sources,
        )
        evidence = Evidence(self.solver.parameters.unlisted_probability, self.link_above)
        if known.labels is not None:
            evidence = replace(evidence, joined=known.labels.same())
        listed = TemplateList("records", tuple(map(Template, pairs.names)))
        grouped = group(pairs, listed=listed, evidence=evidence)
        budget = replace(self.solver.budget, memory=self.solver.budget.memory or default_memory())
        clustering = answered(
            known.applied(grouped)[0], replace(self.solver, budget=budget), self.rule
        )
        original = ids.originals
        yield "totals", json.dumps(asdict(totals(clustering))).encode()
        yield "clusters", _bytes(record_columns(clustering, {}, original))
        yield "alternatives", _bytes(alternatives(clustering, original))
        yield "pairs", _bytes(pair_columns(clustering, original))
        yield "review", _bytes(review(clustering, original))
        merges = possible_merges(clustering, MIN_MERGE_PROBABILITY)
        yield "merges", _bytes({"height": merges.height, "between": merges.between})
        yield "certain", str(merges.certain).encode()


def _labels_of(labels: Labels | None, names: set[str]) -> Labels | None:
    """Return the labels of some records."""
    if labels is None:
        return None
    inside = {both: same for both, same in labels.pairs.items() if {*both} <= names}
    return replace(labels, pairs=inside)


def pair_table(table: Any) -> tuple[PairTable, IntegerIds, Mapping[str, str] | None]:
    """Return the pairs of a task, their records in order, and the sources of these if known.

    A row without a right end is a record and its source.
    """
    import pyarrow
    import pyarrow.compute as compute

    ends = pyarrow.chunked_array([*table.column("left").chunks, *table.column("right").chunks])
    unique = compute.drop_null(ends.unique())
    unique = unique.take(compute.array_sort_indices(unique))
    rows = table.filter(compute.is_valid(table.column("right")))
    left, right = (
        compute.index_in(rows.column(end), unique).to_numpy().astype(np.int64)
        for end in ("left", "right")
    )
    ids = IntegerIds()
    ids.note(unique.to_pylist())
    p = rows.column("probability").to_numpy()
    names = [str(one) for one in unique.to_pylist()]
    pairs = PairTable("scores", names, left, right, p, np.arange(1, len(p) + 1), unit="row")
    if "source" not in table.column_names:
        return pairs, ids, None
    single = table.filter(compute.is_null(table.column("right")))
    of = zip(single.column("left").to_pylist(), single.column("source").to_pylist(), strict=True)
    return pairs, ids, {str(name): source for name, source in of}


def _bytes(columns: Mapping[str, Any]) -> bytes:
    """Return columns as an Arrow stream."""
    import pyarrow

    table = pyarrow.table(dict(columns))
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def read_table(payload: bytes, schema: Any = None) -> Any:
    """Return a table of a task, with the types of a schema."""
    import pyarrow

    table = pyarrow.ipc.open_stream(payload).read_all()
    return table if schema is None else table.cast(schema)
