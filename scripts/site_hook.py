"""A hook of MkDocs: pages load nothing from elsewhere.

The theme loads a shim for workers on pages opened from a folder, which browsers still need.
"""

from __future__ import annotations

import re
from typing import Any

SHIM = re.compile(r'<script src="https://unpkg\.com/[^"]*"></script>')


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Return the page with the site's own shim; pages lie in folders of several depths."""
    return SHIM.sub(f'<script src="{"../" * page.url.count("/")}local-worker.js"></script>', output)


def on_post_template(output: str, **_: Any) -> str:
    """Return a page that is not of the documentation, such as 404.html, without the shim."""
    return SHIM.sub("", output)
