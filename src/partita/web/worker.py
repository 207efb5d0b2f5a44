"""A worker process that answers one request at a time: python -m partita.web.worker ROLE.

Requests are for the store, for computations, and for pages of a knowledge base.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO

from partita.app.cluster import review_records
from partita.app.runner import Settings
from partita.app.solve import solve
from partita.app.workspace import Workspace, open_workspace
from partita.collection.knowledge import stated_relation
from partita.core import Budget
from partita.core.tabular import optional
from partita.errors import InputError, Unknown
from partita.options import FuseOptions, default_memory
from partita.plugins import DOMAINS, installed
from partita.results.result_lines import result_line
from partita.store.store import default_store
from partita.tables import Table, read_table
from partita.text.raw_messages import RawMessage
from partita.web.error_responses import json_bytes, request_error
from partita.web.process_pool import (
    ANSWER,
    ERROR,
    HEADER,
    READY,
    REQUEST,
    frame,
    parse_request,
)
from partita.web.schemas import (
    ClusterRequest,
    FuseRequest,
    KeyRequest,
    NewMessageRequest,
    NewTableRequest,
    ResolveRequest,
    SolveRequest,
    Source,
    parse,
)

if TYPE_CHECKING:
    from partita.fusion.sources import FuseSource


Answer = dict[str, Any]
WARM_UP_TEXT = "A depot was found. The depot is empty. An ammunition depot is near."


# calls that are operations of the workspace, with arguments alone
STORED = {
    *("runs", "run", "messages", "message", "set", "entities", "keys", "agreement", "withdraw"),
    *("delete", "compare", "explain", "next", "train"),
}


class Calls:
    """What a worker process can be asked for; the workspace opens on first use.

    A call is an operation of the workspace, or a method here that gets the body of the request.
    """

    def __init__(self, store: str) -> None:
        self._store = store

    @cached_property
    def _workspace(self) -> Workspace:
        return open_workspace(self._store)

    def run(self, call: str, arguments: dict[str, Any], body: bytes) -> bytes:
        """Make one call and return the body of the answer."""
        if call in STORED:
            return json_bytes(getattr(self._workspace, call)(**arguments))
        answer = getattr(self, call)(body, **arguments)
        return answer if isinstance(answer, bytes) else json_bytes(answer)

    def warm_up(self) -> None:
        """Resolve a short message, so that loading does not delay the first request."""
        self.resolve(json.dumps({"text": WARM_UP_TEXT}).encode())

    def key(self, body: bytes, run: str, set: str) -> Answer:  # noqa: A002
        return self._workspace.key(run, set, **parse(KeyRequest, body).model_dump())

    def resolve(self, body: bytes) -> Answer:
        request = parse(ResolveRequest, body)
        return self._workspace.resolve(request.text, _settings(request))

    def solve(self, body: bytes, seconds: float) -> bytes:
        request = parse(SolveRequest, body)
        memory = default_memory() // (os.cpu_count() or 1)
        budget = Budget(min(seconds, Budget().seconds), memory)
        distribution = solve(request.pairs, request.model, top=request.top, budget=budget)
        return result_line(distribution).encode()

    def fuse(self, body: bytes) -> Answer:
        from partita.fusion.sources import Content, read_source

        request = parse(FuseRequest, body)
        contents = [Content(source.name, source.content) for source in request.sources]
        sources = [read_source(content, kinds=request.kinds) for content in contents]
        for source in sources:
            _check_domain(source)
        hierarchy = request.hierarchy
        options = FuseOptions(
            domain=request.domain or "",
            kinds={**request.kinds, **request.slot_kinds},
            reliability=request.reliabilities or None,
            hierarchy=None if hierarchy is None else Content(hierarchy.name, hierarchy.content),
            tolerance=request.tolerance,
            without=request.without,
            top=request.top,
        )
        return self._workspace.fuse(sources, request.runs, options)

    def cluster(self, body: bytes) -> Answer:
        from partita.app.link import review_tables

        request = parse(ClusterRequest, body)
        labels = [(left, right, int(same)) for left, right, same in request.labels]
        if request.records:
            return review_tables([*map(_table, request.records)], labels, request.limit)
        scores, clusters = (
            _table(one) if one else None for one in (request.scores, request.clusters)
        )
        return review_records(scores, clusters, labels, request.limit)

    def ingest(self, body: bytes, run: str) -> Answer:
        request = parse(NewMessageRequest, body)
        message = RawMessage(request.id, request.text, "the message")
        known = run in (one["name"] for one in self._workspace.runs())
        settings = Settings.of(request.domain) if request.domain and not known else None
        self._workspace.ingest([message], settings, name=run, workers=1)
        return self._workspace.message(run, request.id)

    def add_tables(self, body: bytes, run: str) -> Answer:
        request = parse(NewTableRequest, body)
        contents = {table.name: table.content for table in request.tables}
        return self._workspace.add_tables(run, request.kind, contents)

    def knowledge(
        self, _body: bytes, part: str, folder: str = "", run: str = "", **arguments: Any
    ) -> Answer:
        parts: dict[str, Callable[..., Answer]] = {
            "overview": overview,
            "entities": entities,
            "entity": entity,
        }
        tables = self._workspace.collection(run) if run else _tables(folder)
        answer = parts[part](tables, **arguments)
        return answer | {"name": run or Path(folder).name} if part == "overview" else answer

    def export(self, _body: bytes, run: str, table: str, form: str) -> bytes:
        """Write a temporary file, which the service sends and deletes; return its name."""
        handle, name = tempfile.mkstemp(suffix=f".{form}", prefix="partita-")
        os.close(handle)
        try:
            self._workspace.export(run, table, form, Path(name), excel_safe=True)
        except BaseException:
            Path(name).unlink()
            raise
        return name.encode()


def _table(source: Source) -> Table:
    return read_table(source.content.encode(), name=source.name)


def _settings(request: ResolveRequest) -> Settings:
    return Settings.of(request.domain, request.model)


def _check_domain(source: FuseSource) -> None:
    """Accept results of installed domains only: elsewhere a domain may be the path of a folder."""
    from partita.fusion.run_results import read_run_results
    from partita.fusion.sources import REPORTS

    domain = read_run_results(source).domain if source.kind == REPORTS else ""
    if domain and domain not in installed(DOMAINS):
        expected = ", ".join(installed(DOMAINS))
        problem = f"unknown domain {domain!r}; expected one of {expected}"
        raise InputError(problem, file=source.name)


# training yields to requests that somebody waits for, and large requests to small ones
NICENESS = {"working": 5, "training": 10}


def main() -> None:
    """Answer requests until the service ends."""
    output = _take_over_stdout()
    requests: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, requests), daemon=True).start()
    calls = _prepare_calls(sys.argv[1], default_store())
    _send(output, frame(READY))
    while True:
        _send(output, _answer(calls, requests.get()))


def _prepare_calls(role: str, store: str) -> Calls:
    calls = Calls(store)
    if role in ("small", "working"):
        calls.warm_up()
    os.nice(NICENESS.get(role, 0))
    return calls


def _take_over_stdout() -> BinaryIO:
    """Return the original standard output; what libraries print goes to standard error."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return output


def _listen(stream: BinaryIO, requests: SimpleQueue[bytes]) -> None:
    """Queue requests; exit as soon as the service is gone, even during a computation."""
    for payload in _frames(stream):
        requests.put(payload)
    os._exit(0)


def _frames(stream: BinaryIO) -> Iterator[bytes]:
    while len(head := stream.read(HEADER.size)) == HEADER.size:
        length, kind = HEADER.unpack(head)
        payload = stream.read(length)
        if kind == REQUEST and len(payload) == length:
            yield payload


def _send(output: BinaryIO, data: bytes) -> None:
    output.write(data)
    output.flush()


def _answer(calls: Calls, payload: bytes) -> bytes:
    try:
        return frame(ANSWER, calls.run(*parse_request(payload)))
    except Exception as error:  # without an answer the service would wait until its timeout
        problem = request_error(error)
        fields = {"status": problem.status, "line": problem.line, "problems": problem.problems}
        return frame(ERROR, json_bytes(fields))


Row = dict[str, Any]
Tables = dict[str, list[Row]]
ORDERS = {"name": False, "type": False, "mentions": True, "documents": True}  # whether descending
MAX_MENTIONS = 500  # of an entity that are shown
ABOUT = ("names", "values", "contradictions", "alternatives")


def overview(tables: Tables) -> Row:
    """Return the sizes of a knowledge base and the types of its entities."""
    types = sorted({row["type"] for row in tables["entities"] if row["type"]})
    return {
        "documents": len(tables["documents"]),
        "entities": len(tables["entities"]),
        "types": types,
    }


def entities(tables: Tables, search: str, sort: str, order: str, offset: int, limit: int) -> Row:
    """Return a page of the entities of a type whose names have all words, and their number."""
    words = search.lower().split()
    rows = [
        row
        for row in tables["entities"]
        if sort in ("", row["type"])
        and all(word in " ".join([row["name"], *row["aliases"]]).lower() for word in words)
    ]
    column = order if order in ORDERS else "documents"
    rows.sort(key=lambda row: str(row[column]).lower() if not ORDERS[column] else -row[column])
    return {"total": len(rows), "entities": rows[offset : offset + limit]}


def entity(tables: Tables, entity: str) -> Row:
    """Return an entity with its names, values, mentions, relations, contradictions and doubts."""
    found = next((row for row in tables["entities"] if row["entity"] == entity), None)
    if found is None:
        raise Unknown(f"the knowledge base has no entity {entity}")
    about = {part: [row for row in tables[part] if row["entity"] == entity] for part in ABOUT}
    about["values"].sort(key=lambda row: (row["slot"], -row["probability"]))
    mentions = [row for row in tables["mentions"] if row["entity"] == entity]
    called = {row["entity"]: row["name"] for row in tables["entities"]}
    relations = [
        row
        | {"source_name": called[row["source"]], "target_name": called[row["target"]]}
        | {"relation": stated_relation(row["relation"], row.get("status", "asserted"))}
        for row in tables["relations"]
        if entity in (row["source"], row["target"])
    ]
    home = {row["record"]: row["entity"] for row in tables["records"]}
    similar = [
        row | {"left_entity": home.get(row["left"]), "right_entity": home.get(row["right"])}
        for row in tables["review"]
        if entity in (home.get(row["left"]), home.get(row["right"]))
    ]
    return (
        found
        | about
        | {"mentions": mentions[:MAX_MENTIONS], "relations": relations, "similar": similar}
    )


def _tables(folder: str) -> Tables:
    """Return the tables; they are read again after a new build."""
    path = Path(folder) / "entities.parquet"
    if not path.exists():
        raise InputError("is no knowledge base; expected a folder of partita build", file=folder)
    return _read(folder, path.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _read(folder: str, _changed: int) -> Tables:
    optional("pyarrow", "a knowledge base")
    from pyarrow.parquet import read_table

    names = ("documents", "entities", "mentions", "relations", "records", "review", *ABOUT)
    return {name: read_table(Path(folder) / f"{name}.parquet").to_pylist() for name in names}


if __name__ == "__main__":
    main()
