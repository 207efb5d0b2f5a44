"""The command serve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli import options
from partita.cli.console import error_boundary

if TYPE_CHECKING:
    from partita.cli.console import Console
    from partita.web.config import ServiceConfig

Host = Annotated[
    str,
    typer.Option(metavar="NAME", help="Address to bind to; other than loopback requires a token."),
]
Port = Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 picks a free one.")]
Token = Annotated[
    str,
    typer.Option(
        metavar="T",
        envvar="PARTITA_TOKEN",
        help="Clients must send this token; generated if one is needed.",
    ),
]
Largest = Annotated[
    str,
    typer.Option(
        metavar="M", callback=options.memory_size, help="Maximum request size, such as 10M."
    ),
]
Seconds = Annotated[
    float, typer.Option(metavar="S", callback=options.positive, help="Time limit per request.")
]
Waiting = Annotated[
    int,
    typer.Option(metavar="N", min=1, help="Maximum queued requests; further ones are rejected."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        show_default="one per core, at most 4",
        help="Number of worker processes.",
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(serve)


def serve(
    store: options.Store = None,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    token: Token = "",
    largest: Largest = "2M",
    seconds: Seconds = 60.0,
    waiting: Waiting = 256,
    workers: Workers = None,
) -> None:
    """Serve the web page and the HTTP service for a store.

    The service binds to loopback unless --host is given. It then requires a token;
    if none is given, one is generated and printed. Press Ctrl-C to stop.

    \b
    Examples:
      partita serve
      partita serve --store reports.db --port 9000
      partita serve --host 0.0.0.0 --token "$SECRET"
    """
    with error_boundary() as console:
        try:
            from partita.web import server as web_server
            from partita.web.config import LOOPBACK, ServiceConfig, default_workers
        except ImportError as error:
            from partita.errors import Unavailable

            raise Unavailable("the service needs FastAPI; install partita[service]") from error
        from partita.store.opening import default_store

        loopback = host in LOOPBACK
        config = ServiceConfig(
            store=store or default_store(),
            token=_token(token, loopback),
            loopback=loopback,
            max_request_bytes=options.size_of(largest),
            timeout=seconds,
            max_queued=waiting,
            workers=workers or default_workers(),
        )
        with web_server.listen(host, port) as listener:
            server = web_server.create_server(config)
            _tell(console, web_server.address(listener), config)
            web_server.serve(server, listener)


def _token(given: str, loopback: bool) -> str:
    """Return the token that clients must send; empty on loopback without one."""
    from partita.errors import InputError
    from partita.web.config import MIN_TOKEN_LENGTH

    if loopback or len(given) >= MIN_TOKEN_LENGTH:
        return given
    if given:
        raise InputError(
            f"the token has {len(given)} characters; expected at least {MIN_TOKEN_LENGTH}"
        )
    import secrets

    return secrets.token_urlsafe(24)


def _tell(console: Console, address: str, config: ServiceConfig) -> None:
    """Print the address. The token follows the #, which browsers do not send to servers."""
    console.say(f"{address}/{f'#token={config.token}' if config.token else ''}\n")
    console.flush()
    console.note(f"store {config.store.split('@')[-1]}; press Ctrl-C to stop")
