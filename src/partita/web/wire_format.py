"""The messages between the service and its worker processes.

frame = length of the payload (4 bytes) · kind (1 byte) · payload
"""

from __future__ import annotations

import json
import struct
from typing import Any

HEADER = struct.Struct(">IB")
READY, REQUEST, ANSWER, ERROR, PROGRESS = range(5)


def frame(kind: int, payload: bytes = b"") -> bytes:
    """Return the bytes of one frame."""
    return HEADER.pack(len(payload), kind) + payload


def request_frame(call: str, arguments: dict[str, Any], body: bytes = b"") -> bytes:
    """Return a request: the call and its arguments in one line, then the HTTP body unchanged."""
    head = json.dumps({"call": call, "arguments": arguments}).encode("ascii")
    return frame(REQUEST, head + b"\n" + body)


def parse_request(payload: bytes) -> tuple[str, dict[str, Any], bytes]:
    """Return the call, its arguments and the HTTP body of a request."""
    head, _, body = payload.partition(b"\n")
    request = json.loads(head)
    return request["call"], request["arguments"], body
