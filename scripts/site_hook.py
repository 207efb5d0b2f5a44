"""A hook of MkDocs: pages load nothing from elsewhere.

The theme adds a shim for browsers without workers on pages from disk; current ones do not need it.
"""

from __future__ import annotations

import re
from typing import Any

SHIM = re.compile(r'<script src="https://unpkg\.com/[^"]*"></script>')


def on_post_page(output: str, **_: Any) -> str:
    """Return the page without the shim."""
    return SHIM.sub("", output)
