"""What links tie together: for every name the first of its component, by union and find."""

from __future__ import annotations

from collections.abc import Iterable

Two = tuple[str, str]


def tied(names: Iterable[str], links: Iterable[Two]) -> dict[str, str]:
    """The first name, in order, of the component of each."""
    home = {name: name for name in names}

    def root(name: str) -> str:
        while home[name] != name:
            home[name] = home[home[name]]
            name = home[name]
        return name

    for left, right in links:
        a, b = sorted((root(left), root(right)))
        home[b] = a
    return {name: root(name) for name in home}
