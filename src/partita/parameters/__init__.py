"""Parameters that ship with the package, as JSON files."""

from __future__ import annotations

from partita.errors import InputError

VERSION = 1


def shipped_text(model: str) -> str | None:
    """The JSON of a model's shipped parameters, or None where none are shipped."""
    from importlib.resources import files

    file = files(__name__).joinpath(f"{model}.json")
    return file.read_text(encoding="utf-8") if file.is_file() else None


def shipped_bytes(name: str, what: str) -> bytes:
    """Return the content of a shipped file."""
    from importlib.resources import files

    file = files(__name__).joinpath(name)
    if not file.is_file():
        raise InputError(f"the package contains no {what}")
    return file.read_bytes()
