"""Wait for what other processes do: the limit ends a test that hangs and measures no speed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 600.0  # seconds

Result = TypeVar("Result")


def until(look: Callable[[], Result], what: str, pause: float = 0.01) -> Result:
    """Return what `look` returns as soon as it is true; fail with `what` when it never is."""
    end = time.monotonic() + PATIENCE
    while not (result := look()):
        assert time.monotonic() < end, f"waited {PATIENCE:g} seconds for {what}"
        time.sleep(pause)
    return result
