"""HTTP as uvicorn reads it, with an end to the patience that it has with clients."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from partita.service.problems import told

HEADERS = 15.0  # seconds for the first lines of a request
FLUSH = 30.0  # seconds in which a client must take something of what waits for it
MOST = 800  # connections, below what one process may usually open


class PatientProtocol(HttpToolsProtocol):
    """A connection is closed that has not said for too long what it wants, or is one too many."""

    _patience: asyncio.TimerHandle | None = None
    _flushing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST:
            self._say(503, "too many connections; try again")
            return
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_flushing()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        self._wait()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

    def timeout_keep_alive_handler(self) -> None:
        """Closing waits for the client to take what was written; not for ever."""
        super().timeout_keep_alive_handler()
        self._flush()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._flush()

    def resume_writing(self) -> None:
        self._stop_flushing()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        self._say(400, msg)

    def _wait(self) -> None:
        self._stop_waiting()
        line = f"no request within {HEADERS:g} seconds"
        self._patience = self.loop.call_later(HEADERS, self._say, 408, line)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _flush(self, before: float = float("inf")) -> None:
        """A client that takes nothing is let go; one that takes little may go on."""
        self._stop_flushing()
        left = self.transport.get_write_buffer_size()
        if left >= before:
            self.transport.abort()
        elif left:
            self._flushing = self.loop.call_later(FLUSH, self._flush, left)

    def _stop_flushing(self) -> None:
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None

    def _say(self, status: int, line: str) -> None:
        if self.transport.is_closing():
            return
        body = told(line)
        head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        end = b"connection: close\r\n\r\n"
        self.transport.write(STATUS_LINE[status] + head.encode() + end + body)
        self.transport.close()
        self._flush()
