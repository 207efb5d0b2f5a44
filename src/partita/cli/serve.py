"""The command serve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli import options
from partita.cli.console import edge

if TYPE_CHECKING:
    from partita.cli.console import Console
    from partita.web.config import ServiceConfig

Store = Annotated[
    str,
    typer.Option(
        metavar="URL",
        help="A file or postgresql://…; without it PARTITA_STORE, else partita.db.",
    ),
]
Host = Annotated[
    str, typer.Option(metavar="NAME", help="Other than this machine only with a token.")
]
Port = Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="0 takes any.")]
Token = Annotated[
    str,
    typer.Option(
        metavar="T", envvar="PARTITA_TOKEN", help="Who asks must send it; made if one is needed."
    ),
]
Largest = Annotated[
    str, typer.Option(metavar="M", callback=options.memory_size, help="Of a request, such as 10M.")
]
Seconds = Annotated[
    float, typer.Option(metavar="S", callback=options.positive, help="For one answer.")
]
Waiting = Annotated[
    int, typer.Option(metavar="N", min=1, help="Questions that may wait; more are sent away.")
]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Processes; one for each core if unsaid, at most 4."),
]


def add_to(app: typer.Typer) -> None:
    app.command()(serve)


def serve(
    store: Store = "",
    host: Host = "127.0.0.1",
    port: Port = 8765,
    token: Token = "",
    largest: Largest = "2M",
    seconds: Seconds = 60.0,
    waiting: Waiting = 256,
    workers: Workers = None,
) -> None:
    """The page and the service, over a store of runs.

    Answers to this machine alone unless --host says otherwise; then a token is
    needed, and is made and told if none is given. Ctrl-C ends it.

    \b
    Examples:
      partita serve
      partita serve --store reports.db --port 9000
      partita serve --host 0.0.0.0 --token "$SECRET"
    """
    with edge() as console:
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
    """Whoever can reach the service from elsewhere must know it."""
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
    """Where it is. The token goes where a browser does not send it on: behind the #."""
    console.say(f"{address}/{f'#token={config.token}' if config.token else ''}\n")
    console.flush()
    console.note(f"store {config.store.split('@')[-1]}; Ctrl-C ends the service")
