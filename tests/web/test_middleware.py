"""Who may ask: tokens, names of this machine, pages of other sites; what every answer says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from partita.web.config import ServiceConfig
from partita.web.error_responses import RequestError
from partita.web.middleware import check_access
from partita.web.server import running
from patience import PATIENCE

TOKEN = "a token that nobody guesses"
LOCAL = (b"host", b"127.0.0.1:8765")


def status_of(headers: list[tuple[bytes, bytes]], config: ServiceConfig, **changed: Any) -> int:
    scope = {"method": "GET", "path": "/api/runs", "headers": headers, **changed}
    try:
        check_access(scope, config)
    except RequestError as refusal:
        return refusal.status
    return 200


def bearer(token: str) -> tuple[bytes, bytes]:
    return (b"authorization", f"Bearer {token}".encode())


@pytest.mark.parametrize(
    ("host", "status"),
    [
        (b"127.0.0.1:8765", 200),
        (b"localhost", 200),
        (b"LOCALHOST:1", 200),
        (b"[::1]:8765", 200),
        (b"evil.example", 421),
        (b"127.0.0.1.evil.example", 421),
        (b"localhost.evil.example:8765", 421),
        (b"evil.example:127.0.0.1", 421),
        (b"", 421),
    ],
)
def test_on_loopback_only_this_machines_names_are_answered(host: bytes, status: int) -> None:
    """A page whose own name was made to lead here sends that name."""
    assert status_of([(b"host", host)], ServiceConfig()) == status
    assert (
        status_of([(b"host", host), bearer(TOKEN)], ServiceConfig(loopback=False, token=TOKEN))
        == 200
    )


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ([bearer(TOKEN)], 200),
        ([(b"authorization", f"bearer  {TOKEN}".encode())], 200),
        ([], 401),
        ([bearer("")], 401),
        ([bearer(TOKEN[:-1])], 401),
        ([bearer(TOKEN + "x")], 401),
        ([(b"authorization", f"Basic {TOKEN}".encode())], 401),
        ([(b"authorization", "Bearer ü".encode())], 401),
        ([(b"authorization", TOKEN.encode())], 401),
        ([bearer("x"), bearer(TOKEN)], 400),
    ],
)
def test_tokens(given: list[tuple[bytes, bytes]], status: int) -> None:
    assert status_of([LOCAL, *given], ServiceConfig(token=TOKEN)) == status
    assert status_of([LOCAL, *given], ServiceConfig(token=TOKEN), path="/api") == status


def test_the_page_and_health_ask_for_no_token() -> None:
    for path in ("/", "/style/base.css", "/api/health", "/apiary.js", "/api.css"):
        assert status_of([LOCAL], ServiceConfig(token=TOKEN), path=path) == 200
    for path in ("/api/runs", "/api/openapi.json", "/api", "/api/", "/api/health/x"):
        assert status_of([LOCAL], ServiceConfig(token=TOKEN), path=path) == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([], 200),
        ([(b"origin", b"http://127.0.0.1:8765")], 200),
        ([(b"origin", b"http://127.0.0.1:9999")], 403),
        ([(b"origin", b"https://evil.example")], 403),
        ([(b"origin", b"null")], 403),
        ([(b"sec-fetch-site", b"same-origin")], 200),
        ([(b"sec-fetch-site", b"cross-site")], 403),
        ([(b"sec-fetch-site", b"same-site")], 403),
    ],
)
def test_pages_of_other_sites_do_not_write(headers: list[Any], status: int) -> None:
    assert status_of([LOCAL, *headers], ServiceConfig(), method="POST") == status
    assert status_of([LOCAL, *headers], ServiceConfig()) == 200


@pytest.fixture(scope="module")
def guarded(store: Any) -> Iterator[httpx.Client]:
    config = ServiceConfig(store=str(store), token=TOKEN, seconds=PATIENCE, workers=1, eager=False)
    with running(config) as address, httpx.Client(base_url=address, timeout=PATIENCE) as found:
        yield found


def test_a_wrong_token_over_the_wire(guarded: httpx.Client) -> None:
    answer = guarded.get("/api/runs", headers={"authorization": "Bearer wrong"})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "token" in answer.json()["detail"]
    assert TOKEN not in answer.text
    right = guarded.get("/api/runs", headers={"authorization": f"Bearer {TOKEN}"})
    assert right.status_code == 200
    assert guarded.get("/").status_code == 200


def test_a_proxy_passes_the_host_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes need the page's own origin; addresses that a proxy names are not believed."""
    config = ServiceConfig(token=TOKEN, loopback=False)

    def status(host: bytes, origin: bytes, token: str = TOKEN) -> int:
        headers = [(b"host", host), (b"origin", origin), bearer(token)]
        headers.append((b"x-forwarded-for", b"198.51.100.7"))
        scope = {"method": "POST", "path": "/api/fuse", "headers": headers}
        try:
            check_access(scope | {"client": ("10.0.0.1", 1)}, config)
        except RequestError as refusal:
            return refusal.status
        return 200

    assert status(b"partita.example", b"https://partita.example") == 200
    assert status(b"10.0.0.2:8765", b"https://partita.example") == 403  # the proxy changed the host
    assert status(b"a", b"https://a", "a guess") == 401


def test_encoding_the_path_does_not_get_past_the_token(guarded: httpx.Client) -> None:
    for path in ("/%61pi/runs", "/api%2Fruns", "//api/runs", "/x/../api/runs", "/API/runs"):
        answer = guarded.get(path)
        assert answer.status_code in (401, 404), path
        assert "demo" not in answer.text


def test_what_every_answer_says(client: httpx.Client) -> None:
    for path in ("/", "/api/runs", "/api/nothing", "/nothing", "/api/runs/nobody"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers
    assert client.get("/api/runs").headers["cache-control"] == "no-store"
    assert client.get("/").headers["cache-control"] == "no-cache"


def test_another_name_over_the_wire(client: httpx.Client) -> None:
    answer = client.get("/api/runs", headers={"host": "evil.example"})
    assert answer.status_code == 421
    answer = client.post("/api/solve", json={}, headers={"origin": "https://evil.example"})
    assert answer.status_code == 403
