"""How a service and its processes talk: a length, a kind, and bytes.

frame = length of the rest (4 bytes) · kind (1 byte) · payload
"""

from __future__ import annotations

import json
import struct
from typing import Any, Literal

HEAD = struct.Struct(">IB")
READY, ASK, ANSWER, ERROR, PROGRESS = range(5)
Kind = Literal[0, 1, 2, 3, 4]


def frame(kind: int, payload: bytes = b"") -> bytes:
    return HEAD.pack(len(payload), kind) + payload


def question(call: str, arguments: dict[str, Any], body: bytes = b"") -> bytes:
    """What is asked, in one line, and the body of the request as it came."""
    head = json.dumps({"call": call, "arguments": arguments}).encode("ascii")
    return frame(ASK, head + b"\n" + body)


def asked(payload: bytes) -> tuple[str, dict[str, Any], bytes]:
    head, _, body = payload.partition(b"\n")
    read = json.loads(head)
    return read["call"], read["arguments"], body
