"""A table of made-up people, some of them twice with mistakes."""

from __future__ import annotations

import random

GIVEN = tuple("Anna Ben Carla David Eva Felix Greta Hans Ida Jonas Klara Leo".split())  # noqa: SIM905
FAMILY = tuple("Albers Brandt Conrad Dietz Ebert Fuchs Gruber Jansen Vogt Zander".split())  # noqa: SIM905
TOWNS = ("Arnsbach", "Birkenau", "Clausthal", "Dornheim", "Eichstedt", "Falkenberg")
LETTERS = "bdfgklmnprst"

Person = dict[str, str | int | None]


def people(count: int, seed: int = 0, twice: float = 0.4) -> tuple[list[Person], list[int]]:
    """Return records in random order and the number of the person of each."""
    rng = random.Random(seed)
    records: list[tuple[Person, int]] = []
    for number in range(count):
        person = _person(rng)
        records.append((person, number))
        if rng.random() < twice:
            records.append((_copied(person, rng), number))
    rng.shuffle(records)
    table = [{"id": f"r{n}", **person} for n, (person, _) in enumerate(records)]
    return table, [number for _, number in records]


def _person(rng: random.Random) -> Person:
    year, month, day = rng.randint(1930, 2005), rng.randint(1, 12), rng.randint(1, 28)
    return {
        "first_name": rng.choice(GIVEN),
        "surname": rng.choice(FAMILY),
        "birth_date": f"{year}-{month:02d}-{day:02d}",
        "town": rng.choice(TOWNS),
        "email": "".join(rng.choices(LETTERS, k=7)) + "@example.org",
    }


def _copied(person: Person, rng: random.Random) -> Person:
    copy = dict(person)
    for name in rng.sample(sorted(copy), rng.choice([0, 1, 1, 2])):
        value = str(copy[name])
        at = rng.randrange(len(value) - 1)
        wrong = [None, value[:at] + value[at + 1 :], value[:at] + value[at + 1] + value[at]]
        copy[name] = rng.choice([*wrong[:2], f"{wrong[2]}{value[at + 2 :]}"])
    return copy
