"""A process that answers one question at a time: python -m partita.service.worker STORE."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import BinaryIO

from partita.service.frames import ANSWER, ASK, ERROR, HEAD, PROGRESS, READY, asked, frame
from partita.service.problems import refused, written
from partita.service.work import Work

NICE = 10  # a process in the background gives way to those that somebody waits for


def main() -> None:
    """Answers until whoever asks is gone."""
    store, background = sys.argv[1], "background" in sys.argv[2:]
    if background:
        os.nice(NICE)
    out = _own_output()
    questions: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, questions), daemon=True).start()
    work = Work(store, lambda line: _send(out, frame(PROGRESS, line.encode())))
    if not background:
        work.warm()
    _send(out, frame(READY))
    while True:
        _send(out, _answer(work, questions.get()))


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


def _answer(work: Work, payload: bytes) -> bytes:
    try:
        return frame(ANSWER, work.do(*asked(payload)))
    except Exception as error:  # one that is not answered would be waited for
        found = refused(error)
        return frame(ERROR, written({"status": found.status, "error": found.line}))


if __name__ == "__main__":
    main()
