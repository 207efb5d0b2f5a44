"""Whatever is sent: one clear line with the right status, and the service stays up."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from patience import PATIENCE

AT = "/api/runs/demo"
PROBLEM = ["type", "title", "status", "detail", "errors", "trace"]
JSON = {"content-type": "application/json"}
KEYS = f"{AT}/sets/kinston.1/keys"
CELLS = [["T1"], ["T2"], ["T4"], ["T7"]]


def line_of(answer: httpx.Response) -> str:
    """The one line of an error, beside all problems and the id of the request."""
    told = answer.json()
    assert list(told) == PROBLEM
    assert answer.headers["content-type"] == "application/problem+json"
    assert told["status"] == answer.status_code
    assert told["trace"] == answer.headers["x-trace-id"]
    assert told["errors"]
    assert "\n" not in told["detail"]
    assert "Traceback" not in told["detail"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    return str(told["detail"])


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/api/runs/nobody", 404, "nobody"),
        ("/api/runs/nobody/messages", 404, "nobody"),
        ("/api/runs/nobody/entities", 404, "nobody"),
        ("/api/runs/nobody/next", 404, "nobody"),
        (f"{AT}/messages/nothing", 404, "nothing"),
        (f"{AT}/sets/nothing.1", 404, "nothing.1"),
        (f"{AT}/sets/nothing.1/keys", 404, "nothing.1"),
        (f"{AT}/sets/nothing.1/why?left=T1&right=T2", 404, "nothing.1"),
        (f"{AT}/sets/kinston.1/why?left=T1&right=T99", 404, "T99"),
        (f"{AT}/sets/kinston.1/why?left=T1&right=T1", 422, "T1"),
        (f"{AT}/sets/kinston.1/why?left=T1", 422, "right"),
        (f"{AT}/messages?limit=many", 422, "limit"),
        (f"{AT}/messages?limit=100000", 422, "limit"),
        (f"{AT}/messages?offset=-1", 422, "offset"),
        (f"{AT}/messages?order=random", 422, "order"),
        (f"{AT}/messages?search=%00", 422, "NUL"),
        (f"{AT}/messages/%00", 422, "NUL"),
        (f"{AT}/messages/%ff", 422, "utf-8"),
        (f"{AT}/export/nothing.csv", 422, "nothing"),
        (f"{AT}/export/messages.exe", 422, "form"),
        ("/api/jobs/nothing", 404, "nothing"),
        ("/api/nothing", 404, "/api/nothing"),
        ("/api", 404, "/api"),
        ("/nothing.html", 404, "nothing.html"),
    ],
)
def test_a_get_that_goes_nowhere(client: httpx.Client, path: str, status: int, said: str) -> None:
    answer = client.get(path)
    assert answer.status_code == status, answer.text
    assert said in line_of(answer)


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/api/resolve", {}, 422, "text"),
        ("/api/resolve", {"text": ""}, 422, "empty"),
        ("/api/resolve", {"text": "a\0b"}, 422, "NUL"),
        ("/api/resolve", {"text": 7}, 422, "text"),
        ("/api/resolve", {"text": "A depot.", "domain": "../../etc"}, 422, "domain"),
        ("/api/resolve", {"text": "A depot.", "domain": "/"}, 422, "domain"),
        ("/api/resolve", {"text": "A depot.", "model": "oracle"}, 422, "oracle"),
        ("/api/resolve", {"text": "A depot.", "parameters": "/etc/passwd"}, 422, "parameters"),
        ("/api/solve", {"pairs": []}, 422, "pairs"),
        ("/api/solve", {"pairs": [["A", "B"]]}, 422, "pairs.0.2"),
        ("/api/solve", {"pairs": [["A", "B", 1.5]]}, 422, "pairs.0.2"),
        ("/api/solve", {"pairs": [["A", "A", 0.5]]}, 422, "A"),
        ("/api/solve", {"pairs": [["A", "B", 1], ["B", "C", 1], ["A", "C", 0]]}, 422, "cannot"),
        ("/api/solve", {"pairs": [["A", "B", 0.5]], "model": "joint"}, 422, "joint"),
        ("/api/solve", {"pairs": [["A", "B", 0.5]], "top": 10**9}, 422, "top"),
        (f"{AT}/messages", {"id": "", "text": "A depot."}, 422, "id"),
        (f"{AT}/messages", {"id": "x", "text": "  "}, 422, "empty"),
        (f"{AT}/messages", {"id": "x\ny", "text": "A depot."}, 422, "id"),
        ("/api/runs/nobody/messages", {"id": "x", "text": "A depot."}, 404, "nobody"),
        ("/api/runs/nobody/train", {}, 404, "nobody"),
        (KEYS, {"author": "ann"}, 422, "cells"),
        (KEYS, {"cells": CELLS}, 422, "author"),
        (KEYS, {"cells": CELLS[1:], "author": "ann"}, 422, "T1"),
        (KEYS, {"cells": [*CELLS, ["T99"]], "author": "ann"}, 422, "T99"),
        (KEYS, {"cells": [*CELLS, ["T1"]], "author": "ann"}, 422, "T1"),
        (KEYS, {"cells": [*CELLS, []], "author": "ann"}, 422, "cells.4"),
        (KEYS, {"cells": "T1", "author": "ann"}, 422, "cells"),
        (KEYS, {"cells": CELLS, "author": "a\nb"}, 422, "author"),
        (KEYS, {"cells": CELLS, "author": "ann", "based_on": "x"}, 422, "based_on"),
        (KEYS, {"cells": CELLS, "author": "ann", "based_on": -1}, 422, "based_on"),
        (KEYS, {"cells": CELLS, "author": "ann", "based_on": 2**31}, 422, "based_on"),
        (KEYS, {"cells": CELLS, "author": "ann", "based_on": 10**400}, 422, "based_on"),
        (
            KEYS,
            {"cells": CELLS, "author": "ann", "alternatives": [{"cells": CELLS, "weight": -1}]},
            422,
            "weight",
        ),
        (f"{AT}/sets/nothing.1/keys", {"cells": CELLS, "author": "ann"}, 404, "nothing.1"),
    ],
)
def test_a_body_that_is_not_as_it_should_be(
    client: httpx.Client, path: str, body: Any, status: int, said: str
) -> None:
    answer = client.post(path, content=json.dumps(body), headers=JSON)
    assert answer.status_code == status, answer.text
    assert said in line_of(answer)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"not json",
        b"\xff\xfe",
        b'{"text": "\\ud800"}',
        b"[" * 100_000,
        b'{"pairs": [["A", "B", NaN]]}',
        b'{"pairs": [["A", "B", 1e999]]}',
        b"null",
        b"[]",
    ],
)
@pytest.mark.parametrize("path", ["/api/solve", KEYS])
def test_malformed_json(client: httpx.Client, path: str, body: bytes) -> None:
    answer = client.post(path, content=body, headers=JSON)
    assert answer.status_code in (400, 422), answer.text
    assert line_of(answer)


def test_another_content_type(client: httpx.Client) -> None:
    """What a form of any site could send is not taken."""
    answer = client.post("/api/solve", data={"pairs": "x"})
    assert answer.status_code == 415
    assert "application/json" in line_of(answer)


def test_another_method(client: httpx.Client) -> None:
    answer = client.delete(f"{AT}/messages")
    assert answer.status_code == 405
    assert "DELETE" in line_of(answer)


@pytest.mark.parametrize(
    "path",
    [
        "/../terms.py",
        "/%2e%2e/terms.py",
        "/..%2fterms.py",
        "/..%5cterms.py",
        "//etc/passwd",
        "/%2fetc%2fpasswd",
        "/style/../../terms.py",
        "/index.html/",
        "/index.html%00.js",
        "/api/runs/..%2f..%2fetc%2fpasswd",
        "/api/runs/demo/export/..%2f..%2fetc%2fpasswd.csv",
        "/api/runs/demo/messages/..%2f..%2f..%2fetc%2fpasswd",
    ],
)
def test_path_tricks_lead_nowhere(address: str, path: str) -> None:
    """Sent as they are: a client would tidy them up."""
    import http.client
    from urllib.parse import urlsplit

    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
    connection.request("GET", path)
    answer = connection.getresponse()
    told = answer.read()
    connection.close()
    assert answer.status in (404, 422), told
    assert b"root:" not in told
    assert b"LARGEST" not in told


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=40))
def test_any_name_is_found_or_not(client: httpx.Client, name: str) -> None:
    path = f"{AT}/sets/{quote(name, safe='')}"
    answer = client.get(path)
    assert answer.status_code in (404, 422) or name == ""
    assert line_of(answer)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["pairs", "model", "top", "x"]), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_any_json_is_answered(client: httpx.Client, body: Any) -> None:
    answer = client.post("/api/solve", content=json.dumps(body), headers=JSON)
    assert answer.status_code == 422
    assert line_of(answer)


def test_an_unexpected_error_has_an_id_and_a_logged_traceback(caplog):
    from partita.web.error_responses import request_error

    try:
        [][1]
    except IndexError as error:
        problem = request_error(error)
    assert problem.status == 500
    assert problem.line.startswith("internal error in Partita (IndexError); fault ")
    [(_, _, logged)] = caplog.record_tuples
    assert logged.startswith(f"fault {problem.line.split()[-1]}\nTraceback")
    assert "IndexError: list index out of range" in logged
