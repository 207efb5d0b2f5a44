"""What other packages add: domains and commands.

A package names them as entry points; docs/new-domain.md has the groups. Nothing is imported before
it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from partita.errors import InputError

DOMAINS = "partita.domains"
COMMANDS = "partita.commands"

# Our own packages, which an error can recommend: any other name may be that of a stranger.
PACKAGES = {"partita-incidents": ("incidents", "muc", "score-muc", "train-muc")}


class EntryPoint(NamedTuple):
    """What a package adds to a group: a name, and where it is (`module` or `module:object`)."""

    name: str
    value: str
    group: str
    package: str

    @property
    def module(self) -> str:
        return self.value.partition(":")[0].strip()

    def load(self) -> Any:
        """Import the module and return it or the object in it."""
        found: Any = import_module(self.module)
        for name in filter(None, self.value.partition(":")[2].strip().split(".")):
            found = getattr(found, name)
        return found


def installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of all installed packages, by name; they are looked for once."""
    return dict(_installed_in(group, tuple(sys.path)))


@lru_cache
def _installed_in(group: str, path: tuple[str, ...]) -> dict[str, EntryPoint]:
    by_name: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group, path)):
        other = by_name.setdefault(entry.name, entry)
        if other.value != entry.value:
            kind = group.partition(".")[2].removesuffix("s")
            places = f"{other.value} and {entry.value}"
            raise InputError(f"two packages provide a {kind} {entry.name!r}: {places}")
    return by_name


def entry_points(group: str, path: tuple[str, ...]) -> Iterator[EntryPoint]:
    """Yield the entry points of a group, of each package as it is found first on the path.

    `importlib.metadata` does the same; to import it takes longer than most of `partita --help`.
    """
    seen = set()
    for folder in path:
        for file in sorted(Path(folder or ".").glob("*-info/entry_points.txt")):
            package = file.parent.name.partition("-")[0].lower()
            if package not in seen:
                seen.add(package)
                yield from _entries(group, package, file.read_text(encoding="utf-8"))


def _entries(group: str, package: str, text: str) -> Iterator[EntryPoint]:
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[]").strip()
        elif section == group and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield EntryPoint(name.strip(), value.strip(), group, package)


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


def where_from(name: str) -> str:
    """Say which package of ours adds what is asked for, if one does that is not installed."""
    from importlib.util import find_spec

    for package, names in PACKAGES.items():
        if name in names and find_spec(package.replace("-", "_")) is None:
            return f"; it comes with the package {package}: pip install {package}"
    return ""
