"""The command serve."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from partita.cli.command import command
from partita.cli.console import Console
from partita.options import STORE, Options, memory_size, option, positive, size_of

if TYPE_CHECKING:
    from partita.web.config import ServiceConfig


@dataclass(frozen=True, kw_only=True)
class ServeCommand(Options):
    """Options of the command serve."""

    store: str | None = option(STORE)
    host: str = option(
        "Address to bind to; other than loopback requires a token", "127.0.0.1", metavar="NAME"
    )
    port: int = option("Port; 0 picks a free one", 8765, metavar="N", min=0, max=65535)
    token: str = option(
        "Clients must send this token; generated if one is needed",
        "",
        metavar="T",
        envvar="PARTITA_TOKEN",
    )
    largest: str = option("Maximum request size, such as 10M", "2M", metavar="M", check=memory_size)
    seconds: float = option("Time limit per request", 60.0, metavar="S", check=positive)
    waiting: int = option(
        "Maximum queued requests; further ones are rejected", 256, metavar="N", min=1
    )
    workers: int | None = option(
        "Number of worker processes", metavar="N", min=1, shown="one per core, at most 4"
    )


@command(ServeCommand)
def serve(options: ServeCommand, console: Console) -> None:
    """Serve the web page and the HTTP service for a store.

    The service binds to loopback unless --host is given. It then requires a token;
    if none is given, one is generated and printed. Press Ctrl-C to stop.

    \b
    Examples:
      partita serve
      partita serve --store reports.db --port 9000
      partita serve --host 0.0.0.0 --token "$SECRET"
    """
    try:
        from partita.web import server as web_server
        from partita.web.config import LOOPBACK, ServiceConfig, default_workers
    except ImportError as error:
        from partita.errors import Unavailable

        raise Unavailable("the service needs FastAPI; install partita[service]") from error
    from partita.store.store import default_store

    loopback = options.host in LOOPBACK
    config = ServiceConfig(
        store=options.store or default_store(),
        token=_token(options.token, loopback),
        loopback=loopback,
        max_request_bytes=size_of(options.largest),
        timeout=options.seconds,
        max_queued=options.waiting,
        workers=options.workers or default_workers(),
    )
    with web_server.listen(options.host, options.port) as listener:
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


def _tell(console: Console, address: str, config: "ServiceConfig") -> None:
    """Print the address. The token follows the #, which browsers do not send to servers."""
    console.say(f"{address}/{f'#token={config.token}' if config.token else ''}\n")
    console.flush()
    console.note(f"store {config.store.split('@')[-1]}; press Ctrl-C to stop")
