"""What other packages add: domains, commands, and formats of `experiment` and `fuse`.

A package names them as entry points; docs/new-domain.md has the groups. Nothing is imported before
it is used.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from partita.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

DOMAINS = "partita.domains"
COMMANDS = "partita.commands"
EXPERIMENTS = "partita.experiments"
FUSIONS = "partita.fusions"

# Our own packages, which an error can recommend: any other name may be that of a stranger.
PACKAGES = {"partita-incidents": ("incidents", "muc", "score-muc", "train-muc")}


def installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of all installed packages, by name; they are looked for once."""
    return dict(_installed_in(group, tuple(sys.path)))


@lru_cache
def _installed_in(group: str, path: tuple[str, ...]) -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    by_name: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        other = by_name.setdefault(entry.name, entry)
        if other.value != entry.value:
            kind = group.partition(".")[2].removesuffix("s")
            places = f"{other.value} and {entry.value}"
            raise InputError(f"two packages provide a {kind} {entry.name!r}: {places}")
    return by_name


def load_plugin(entry: EntryPoint) -> Any:
    """Import what an entry point names."""
    try:
        return entry.load()
    except InputError:
        raise
    except Exception as error:  # whatever the code of a third party raises
        kind = entry.group.partition(".")[2].removesuffix("s")
        problem = f"{kind} {entry.name}: {entry.value} fails to load"
        raise InputError(f"{problem} ({type(error).__name__}: {error})") from error


def format_of(group: str, name: str, own: tuple[str, ...] = ()) -> Any:
    """Return what a package offers for a format by its name."""
    entries = installed(group)
    if name not in entries:
        expected = ", ".join((*own, *entries)) or "none is installed"
        raise InputError(f"unknown format {name!r} (expected {expected}){where_from(name)}")
    return load_plugin(entries[name])


def where_from(name: str) -> str:
    """Say which package of ours adds what is asked for, if one does that is not installed."""
    from importlib.util import find_spec

    for package, names in PACKAGES.items():
        if name in names and find_spec(package.replace("-", "_")) is None:
            return f"; it comes with the package {package}: pip install {package}"
    return ""
