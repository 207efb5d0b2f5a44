"""A worker process that answers one request at a time: python -m partita.web.worker ROLE."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import BinaryIO

from partita.store.opening import default_store
from partita.web.error_responses import json_bytes, request_error
from partita.web.wire_format import (
    ANSWER,
    ERROR,
    HEADER,
    PROGRESS,
    READY,
    REQUEST,
    frame,
    parse_request,
)
from partita.web.worker_calls import Calls, ComputingCalls, StoreCalls

# training yields to requests that somebody waits for, and large requests to small ones
NICENESS = {"working": 5, "training": 10}


def main() -> None:
    """Answer requests until the service ends."""
    output = _take_over_stdout()
    requests: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, requests), daemon=True).start()
    calls = _prepare_calls(
        sys.argv[1], default_store(), lambda line: _send(output, frame(PROGRESS, line.encode()))
    )
    _send(output, frame(READY))
    while True:
        _send(output, _answer(calls, requests.get()))


def _prepare_calls(role: str, store: str, progress: Callable[[str], None]) -> Calls:
    if role in ("reading", "writing"):
        return StoreCalls(store)
    calls = ComputingCalls(store, progress)
    if role != "training":
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


if __name__ == "__main__":
    main()
