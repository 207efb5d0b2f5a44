"""The page: the files of one folder, each with its type; nothing outside it can be named."""

from __future__ import annotations

import asyncio
import hashlib
from http import HTTPStatus
from pathlib import Path
from urllib.parse import unquote

from fastapi import FastAPI, Request, Response

from partita.service.problems import Refusal

FOLDER = Path(__file__).parent / "page"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
ASK_AGAIN = "no-cache"  # kept by the browser, but not shown before asking whether it is still so


def add_to(app: FastAPI) -> None:
    app.add_api_route(
        "/{name:path}", page, methods=["GET", "HEAD"], include_in_schema=False, name="page"
    )


async def page(request: Request, name: str) -> Response:
    """A file of the page; the front one for /."""
    found = await asyncio.to_thread(_file, unquote(name) or "index.html")
    if found is None:
        raise Refusal(HTTPStatus.NOT_FOUND, f"nothing is at /{unquote(name)}")
    body, kind = found
    tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    headers = {"etag": tag, "cache-control": ASK_AGAIN}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(body, media_type=kind, headers=headers)


def _file(name: str) -> tuple[bytes, str] | None:
    """By its name in a list of all: a name is never made into a path."""
    for path in FOLDER.rglob("*"):
        if path.relative_to(FOLDER).as_posix() == name and path.suffix in TYPES and path.is_file():
            return path.read_bytes(), TYPES[path.suffix]
    return None
