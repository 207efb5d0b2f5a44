"""A process that answers one question at a time: python -m partita.service.worker ROLE."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any, BinaryIO

from partita.service.frames import ANSWER, ASK, ERROR, HEAD, PROGRESS, READY, asked, frame
from partita.service.problems import refused, written
from partita.store.opening import default_store

NICE = 10  # training gives way to what somebody waits for

Do = Callable[[str, dict[str, Any], bytes], bytes]


def main() -> None:
    """Answers until whoever asks is gone."""
    out = _own_output()
    questions: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, questions), daemon=True).start()
    do = _prepared(
        sys.argv[1], default_store(), lambda line: _send(out, frame(PROGRESS, line.encode()))
    )
    _send(out, frame(READY))
    while True:
        _send(out, _answer(do, questions.get()))


def _prepared(role: str, store: str, progress: Callable[[str], None]) -> Do:
    """What is needed for a role is loaded, and no more."""
    if role in ("reading", "writing"):
        from partita.service.reading import Reading

        return Reading(store).do
    from partita.service.work import Work

    work = Work(store, progress)
    if role == "training":
        os.nice(NICE)
    else:
        work.warm()
    return work.do


def _own_output() -> BinaryIO:
    """Answers have a way of their own: whatever a library prints must not get among them."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return out


def _listen(stream: BinaryIO, questions: SimpleQueue[bytes]) -> None:
    """Even in the middle of an answer it is noticed that nobody waits for it any more."""
    for payload in _frames(stream):
        questions.put(payload)
    os._exit(0)


def _frames(stream: BinaryIO) -> Iterator[bytes]:
    while len(head := stream.read(HEAD.size)) == HEAD.size:
        length, kind = HEAD.unpack(head)
        payload = stream.read(length)
        if kind == ASK and len(payload) == length:
            yield payload


def _send(out: BinaryIO, data: bytes) -> None:
    out.write(data)
    out.flush()


def _answer(do: Do, payload: bytes) -> bytes:
    try:
        return frame(ANSWER, do(*asked(payload)))
    except Exception as error:  # one that is not answered would be waited for
        found = refused(error)
        return frame(ERROR, written({"status": found.status, "error": found.line}))


if __name__ == "__main__":
    main()
