"""Who may ask: the right token, the right name of this machine, no other site's page."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, MutableMapping
from http import HTTPStatus
from typing import Any

from partita.service.problems import Refusal
from partita.service.terms import LOOPBACK, Terms

OPEN = ("/api/health",)  # asked by those who watch over services
READING = ("GET", "HEAD")


def admit(scope: MutableMapping[str, Any], terms: Terms) -> None:
    """Refuses a request that may not be answered, with the reason."""
    headers = scope["headers"]
    host = _one(headers, b"host")
    if terms.loopback and _name(host) not in LOOPBACK:
        # a page of another site that had its name lead here
        line = f"this service is not called {host or 'nothing'}; expected 127.0.0.1 or localhost"
        raise Refusal(HTTPStatus.MISDIRECTED_REQUEST, line)
    if scope["method"] not in READING:
        _refuse_other_sites(headers, host)
    if terms.token and _asks_for_a_token(scope["path"]):
        _refuse_wrong_token(_one(headers, b"authorization"), terms.token)


def _asks_for_a_token(path: str) -> bool:
    """Everything under /api but OPEN; a file of the page may be called whatever it is called."""
    return (path == "/api" or path.startswith("/api/")) and path not in OPEN


def _refuse_other_sites(headers: Iterable[tuple[bytes, bytes]], host: str) -> None:
    """Writes come from this service's own page or from no page at all."""
    origin, site = _one(headers, b"origin"), _one(headers, b"sec-fetch-site")
    elsewhere = origin and origin.partition("://")[2] != host
    if elsewhere or site in ("cross-site", "same-site"):
        raise Refusal(HTTPStatus.FORBIDDEN, "pages of other sites may not write here")


def _refuse_wrong_token(said: str, token: str) -> None:
    kind, _, given = said.partition(" ")
    right = hmac.compare_digest(given.strip().encode(), token.encode())
    if kind.lower() != "bearer" or not right:
        what = "the token is wrong" if given else "a token is needed"
        line = f"{what}; send Authorization: Bearer TOKEN, or open the page with /#token=TOKEN"
        raise Refusal(HTTPStatus.UNAUTHORIZED, line, {"www-authenticate": "Bearer"})


def _one(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    """A header that may stand there once."""
    found = [value for key, value in headers if key == name]
    if len(found) > 1:
        raise Refusal(HTTPStatus.BAD_REQUEST, f"{name.decode()} is given {len(found)} times")
    return found[0].decode("latin-1") if found else ""


def _name(host: str) -> str:
    """Without the port, and without the brackets of an address of version 6."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()
