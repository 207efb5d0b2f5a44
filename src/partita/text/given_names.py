"""Given names with the share of women who have them, and names of places: the shipped table.

research/make_names.py makes it from open data; NOTICE names the sources.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from partita.parameters import shipped_text

SHARES = 20  # steps of the share of women in the table
ENDING = 3  # letters by which the names that are not listed are compared
PRIOR = 4.0  # names that the share of a shorter ending counts for
CERTAIN = 0.02  # no name says more than this share leaves


class GivenName(NamedTuple):
    """The share of women among those with a name, and how many digits their number has."""

    women: float
    digits: int


@dataclass(frozen=True, eq=False)
class NameTable:
    """Given names and sizes of places: 1 to 3 for cities, 4 for states and countries.

    All names are in lower case.
    """

    given: Mapping[str, GivenName]
    places: Mapping[str, int]


@cache
def shipped_names() -> NameTable:
    """Return the table that comes with the package."""
    table = json.loads(shipped_text("names") or "")
    given = {}
    for group, names in table["given"].items():
        share, digits = map(int, group.split())
        women = min(max(share / SHARES, CERTAIN), 1 - CERTAIN)
        given.update(dict.fromkeys(names.split(), GivenName(women, digits)))
    places = {
        name: int(size) for size, names in table["places"].items() for name in names.split("|")
    }
    return NameTable(given, places)


@cache
def shares_of_endings() -> Mapping[str, float]:
    """Return the share of women's names with each ending, moved towards that of the shorter one."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for name, (women, _) in shipped_names().given.items():
        for size in range(min(ENDING, len(name)) + 1):
            total = sums[name[len(name) - size :]]
            total[0] += women
            total[1] += 1
    shares: dict[str, float] = {}
    for ending in sorted(sums, key=len):
        women, count = sums[ending]
        below = shares[ending[1:]] if ending else 0.5
        shares[ending] = (women + PRIOR * below) / (count + PRIOR)
    return shares


def share_of_women(name: str) -> float | None:
    """Return the probability that someone with this given name is a woman.

    None where the name is not listed: `share_by_ending` guesses then.
    """
    listed = shipped_names().given.get(_plain(name))
    return listed.women if listed else None


def share_by_ending(name: str) -> float:
    """Return the share of women's names among those that end like a name."""
    shares, plain = shares_of_endings(), _plain(name)
    for size in range(ENDING, 0, -1):
        if plain[-size:] in shares:
            return shares[plain[-size:]]
    return shares[""]


def place_size(name: str) -> int:
    """Return the size of a place of the table, 0 if there is none of this name."""
    return shipped_names().places.get(name.lower(), 0)


def _plain(name: str) -> str:
    """Return a name as the table has it; of "Mary-Ann" the first part counts."""
    return name.lower().partition("-")[0].replace("'", "").replace("’", "")
