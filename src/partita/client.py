"""A client of the service: the calls of the API as methods, with typed answers.

>>> from partita.client import Client
>>> client = Client("http://127.0.0.1:8765", token="…")
>>> client.resolve("Acme bought Borealis. It paid in cash.")["entities"]
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any, cast
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import ProxyHandler, Request, build_opener

from partita.errors import PartitaError
from partita.web import answers

TIMEOUT = 120.0  # seconds
POLL_INTERVAL = 0.5


class ServiceError(PartitaError):
    """An error that the service answered.

    `status` is that of HTTP, 0 if there was no answer; `problems` has the field and the problem of
    everything that is wrong with the request; `trace` is the id of the request in the log.
    """

    def __init__(
        self,
        line: str,
        status: int = 0,
        problems: Sequence[answers.ProblemJson] = (),
        trace: str = "",
    ) -> None:
        super().__init__(line)
        self.status, self.problems, self.trace = status, list(problems), trace


class Client:
    """A service at an address. Answers are dicts as the API has them; names may hold anything."""

    def __init__(
        self, address: str = "http://127.0.0.1:8765", token: str = "", timeout: float = TIMEOUT
    ) -> None:
        self.address, self._token, self._timeout = address.rstrip("/"), token, timeout
        self._opener = build_opener(ProxyHandler({}))

    def health(self) -> answers.Health:
        """Return the version of the service."""
        return cast(answers.Health, self._call("health"))

    def domains(self) -> answers.Domains:
        """Return the domains, what each covers, and the models."""
        return cast(answers.Domains, self._call("domains"))

    def runs(self) -> list[answers.RunJson]:
        """Return all runs of the store."""
        return cast(list[answers.RunJson], self._call("runs"))

    def run(self, run: str) -> answers.RunJson:
        """Return a run."""
        return cast(answers.RunJson, self._call(_path("runs", run)))

    def messages(
        self, run: str, search: str = "", order: str = "text", offset: int = 0, limit: int = 100
    ) -> answers.MessagePage:
        """Return a page of the messages that hold all words of `search`.

        `order` is text, or uncertain for the least certain first.
        """
        query = {"search": search, "order": order, "offset": offset, "limit": limit}
        return cast(answers.MessagePage, self._call(_path("runs", run, "messages"), query))

    def message(self, run: str, message: str) -> answers.MessageJson:
        """Return a message with its text, sets, entities and keys."""
        return cast(answers.MessageJson, self._call(_path("runs", run, "messages", message)))

    def add_message(
        self, run: str, name: str, text: str, domain: str | None = None
    ) -> answers.MessageJson:
        """Resolve a text, add it to a run and return it; with a domain, a new run is made."""
        body = {"id": name, "text": text, "domain": domain}
        return cast(answers.MessageJson, self._call(_path("runs", run, "messages"), body=body))

    def add_tables(self, run: str, kind: str, contents: Mapping[str, str]) -> answers.RunJson:
        """Store tables of records, scores, clusters or claims as a new run and return it."""
        tables = [{"name": name, "content": content} for name, content in contents.items()]
        body = {"kind": kind, "tables": tables}
        return cast(answers.RunJson, self._call(_path("runs", run, "tables"), body=body))

    def delete_run(self, run: str) -> answers.DeletedRun:
        """Delete a run with its texts, answers and keys."""
        return cast(answers.DeletedRun, self._call(_path("runs", run), method="DELETE"))

    def set(self, run: str, name: str) -> answers.ResultJson:
        """Return a coreference set with its distribution."""
        return cast(answers.ResultJson, self._call(_path("runs", run, "sets", name)))

    def entities(
        self, run: str, search: str = "", sort: str = "", offset: int = 0, limit: int = 100
    ) -> answers.EntityPage:
        """Return a page of the entities of a type that hold all words of `search`."""
        # The parameter has the name of the JSON field that it filters, not that of Entity.type.
        query = {"search": search, "sort": sort, "offset": offset, "limit": limit}
        return cast(answers.EntityPage, self._call(_path("runs", run, "entities"), query))

    def why(self, run: str, name: str, left: str, right: str) -> answers.ExplanationJson:
        """Explain the probability that two templates of a set corefer."""
        query = {"left": left, "right": right}
        path = _path("runs", run, "sets", name, "why")
        return cast(answers.ExplanationJson, self._call(path, query))

    def keys(self, run: str, name: str) -> list[answers.KeyJson]:
        """Return all keys of a set, oldest first."""
        return cast(list[answers.KeyJson], self._call(_path("runs", run, "sets", name, "keys")))

    def save_key(
        self,
        run: str,
        name: str,
        cells: Sequence[Sequence[str]],
        author: str,
        alternatives: Sequence[answers.AlternativeJson] = (),
        based_on: int | None = None,
        override: bool = False,
    ) -> answers.SavedKey:
        """Save a key (gold label). With `override` it may contradict what is known."""
        body: dict[str, Any] = {"cells": cells, "author": author}
        body["alternatives"] = list(alternatives)
        body |= {"based_on": based_on, "override": override}
        path = _path("runs", run, "sets", name, "keys")
        return cast(answers.SavedKey, self._call(path, body=body))

    def withdraw_key(self, run: str, name: str, author: str) -> answers.WithdrawnKeys:
        """Withdraw the keys of an author for a set."""
        path = _path("runs", run, "sets", name, "keys")
        return cast(answers.WithdrawnKeys, self._call(path, {"author": author}, method="DELETE"))

    def agreement(self, run: str, name: str) -> answers.AgreementJson:
        """Return how the authors of a set agree."""
        return cast(
            answers.AgreementJson, self._call(_path("runs", run, "sets", name, "agreement"))
        )

    def next(self, run: str, limit: int = 10) -> list[answers.NextSet]:
        """Return the sets to key next, the most informative first."""
        return cast(list[answers.NextSet], self._call(_path("runs", run, "next"), {"limit": limit}))

    def train(self, run: str) -> answers.Trained:
        """Train on the keys of a run, wait for the end of the job, and return its result."""
        job = self._call(_path("runs", run, "train"), body={})["job"]
        while (state := self.job(job))["state"] in ("waiting", "running"):
            time.sleep(POLL_INTERVAL)
        if state["result"] is None:
            raise ServiceError(state["error"] or "training failed")
        return state["result"]

    def job(self, job: str) -> answers.JobJson:
        """Return the state of a job."""
        return cast(answers.JobJson, self._call(_path("jobs", job)))

    def curve(self, run: str) -> answers.Curve:
        """Return the learning curve over the keys of a run."""
        return cast(answers.Curve, self._call(_path("runs", run, "curve")))

    def evaluation(self, run: str) -> dict[str, Any]:
        """Return the scores of a run against its keys."""
        return cast(dict[str, Any], self._call(_path("runs", run, "evaluation")))

    def resolve(
        self, text: str, domain: str = "general", model: str | None = None
    ) -> answers.MessageJson:
        """Resolve a text without storing it."""
        body = {"text": text, "domain": domain, "model": model}
        return cast(answers.MessageJson, self._call("resolve", body=body))

    def solve(
        self, pairs: Sequence[tuple[str, str, float]], model: str = "evidential", top: int = 100
    ) -> answers.ResultJson:
        """Return the distribution for pair probabilities."""
        body = {"pairs": pairs, "model": model, "top": top}
        return cast(answers.ResultJson, self._call("solve", body=body))

    def fuse(
        self, sources: Mapping[str, str], runs: Sequence[str] = (), **options: Any
    ) -> dict[str, Any]:
        """Fuse files, given by name and content, and runs; `options` are fields of the API."""
        files = [{"name": name, "content": content} for name, content in sources.items()]
        body = {"sources": files, "runs": list(runs), **options}
        return cast(dict[str, Any], self._call("fuse", body=body))

    def cluster(
        self,
        name: str = "",
        scores: str = "",
        labels: Sequence[tuple[str, str, bool]] = (),
        limit: int = 50,
        *,
        clusters: str = "",
    ) -> answers.ReviewSets:
        """Cluster records by a table of pair scores, given by its name and content.

        `clusters` is the content of a CSV file of clusters, to be compared with the scores.
        """
        body: dict[str, Any] = {"labels": labels, "limit": limit}
        if scores:
            body["scores"] = {"name": name, "content": scores}
        if clusters:
            body["clusters"] = {"name": "clusters.csv", "content": clusters}
        return cast(answers.ReviewSets, self._call("cluster", body=body))

    def export(self, run: str, table: str, out: str | Path) -> None:
        """Write a table of a run to a file; its ending is csv, jsonl or parquet."""
        path = Path(out)
        answer = self._send(f"{_path('runs', run, 'export', table)}{path.suffix}")
        path.write_bytes(answer)

    def report(self, run: str) -> str:
        """Return the report of a run as HTML."""
        return self._send(_path("runs", run, "report.html")).decode()

    def _call(self, path: str, *query: Any, **more: Any) -> Any:
        return json.loads(self._send(path, *query, **more))

    def _send(
        self,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        method: str | None = None,
    ) -> bytes:
        """Return the bytes of an answer; raise `ServiceError` for an error."""
        url = f"{self.address}/api/{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {"Content-Type": "application/json", "Accept-Encoding": "gzip"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None if body is None else json.dumps(body).encode()
        request = Request(url, data, headers, method=method)
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                content: bytes = answer.read()
                packed = answer.headers.get("content-encoding") == "gzip"
                return gzip.decompress(content) if packed else content
        except HTTPError as error:
            raise _error(error) from error
        except (URLError, HTTPException, OSError) as error:
            raise ServiceError(f"no answer from {self.address}: {error}") from error


def _path(*parts: str) -> str:
    return "/".join(quote(part, safe="") for part in parts)


def _error(error: HTTPError) -> ServiceError:
    """Return the error that the service described, or the bare status."""
    try:
        content = error.read()
        packed = error.headers.get("content-encoding") == "gzip"
        told = json.loads(gzip.decompress(content) if packed else content)
        return ServiceError(told["detail"], error.code, told["errors"], told["trace"])
    except (ValueError, KeyError, TypeError, OSError):
        return ServiceError(f"status {error.code}", error.code)
