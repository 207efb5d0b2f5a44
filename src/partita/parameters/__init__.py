"""Learned parameters that come with the package, as JSON files beside this one."""

from __future__ import annotations

from partita.parameters.learned import VERSION, Learned

__all__ = ["VERSION", "Learned", "shipped_text"]


def shipped_text(model: str) -> str | None:
    """The JSON of a model's shipped parameters, or None where none are shipped."""
    from importlib.resources import files

    file = files(__name__).joinpath(f"{model}.json")
    return file.read_text(encoding="utf-8") if file.is_file() else None
