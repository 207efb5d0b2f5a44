"""Tables of things that come in variants: alike in all but a word or a number, and not the same.

Each kind gives rows with an `id`, and the entity of every row. Some entities have two rows, with
errors; nearly all have variants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

SYLLABLES = ("ba", "co", "du", "fe", "gi", "ha", "jo", "ku", "la", "me", "ni", "po", "ra", "si")
TYPES = ("jacket", "shirt", "lamp", "kettle", "chair", "bottle", "carpet", "backpack", "mug")
SIZES = ("small", "medium", "large", "xl", "mini")
COLOURS = ("black", "white", "red", "blue", "green", "grey", "brown")
VENUES = ("VLDB", "SIGMOD Conference", "ICDE", "KDD", "TODS", "VLDB Journal", "TKDE")
MARKS = ("live", "remastered", "deluxe edition", "mono", "acoustic")
KINDS = ("products", "shops", "papers", "episodes", "versions", "editions")
Row = dict[str, str | None]


def variants(kind: str, seed: int, families: int = 250) -> tuple[list[Row], list[int]]:
    """Return the rows of a kind in random order, and their entities."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    rows: list[Row] = []
    entities: list[int] = []
    number = 0
    for _ in range(families):
        for row in _family(kind, rng):
            copies = 1 + int(rng.random() < 0.3)
            for copy in range(copies):
                rows.append(_damaged(row, rng) if copy else row)
                entities.append(number)
            number += 1
    order = rng.permutation(len(rows)).tolist()
    rows = [{"id": f"r{n}", **rows[at]} for n, at in enumerate(order)]
    return rows, [entities[at] for at in order]


def _family(kind: str, rng: np.random.Generator) -> Iterator[Row]:
    """Yield the variants of one thing."""
    yield from FAMILIES[kind](rng, [_word(rng) for _ in range(5)], int(rng.integers(2, 6)))


def _products(rng: np.random.Generator, words: Sequence[str], count: int) -> Iterator[Row]:
    name, price = f"{words[0]} {words[1]} {_one(rng, TYPES)}", rng.integers(10, 300)
    for size, colour in _pairs(rng, count):
        yield {"name": f"{name} {size} {colour}", "brand": words[0], "price": f"{price}.00"}


def _shops(rng: np.random.Generator, words: Sequence[str], count: int) -> Iterator[Row]:
    name = f"{words[0]} {words[1]} {_one(rng, TYPES)}"
    for n in rng.permutation(9)[:count].tolist():
        yield {"title": f"{name}, {(n + 1) * 250} ml", "maker": words[0], "text": words[2]}


def _papers(rng: np.random.Generator, words: Sequence[str], count: int) -> Iterator[Row]:
    authors = f"{_word(rng).title()} {_word(rng).title()}, {_word(rng).title()}"
    year = int(rng.integers(1985, 2015))
    for n, venue in enumerate(rng.permutation(VENUES)[: min(count, 3)].tolist()):
        yield {"title": " ".join(words), "authors": authors, "venue": venue, "year": str(year + n)}


def _episodes(rng: np.random.Generator, words: Sequence[str], count: int) -> Iterator[Row]:
    for n in range(count):
        yield {"series": f"{words[0]} {words[1]}", "title": f"{words[2]} part {n + 1}",
               "season": str(1 + int(words[3] > "h"))}  # fmt: skip


def _versions(rng: np.random.Generator, words: Sequence[str], count: int) -> Iterator[Row]:
    for n in rng.permutation(7)[:count].tolist():
        yield {"software": f"{words[0]}{words[1]} {words[2]} {n + 1}.0", "vendor": words[3]}


def _editions(rng: np.random.Generator, words: Sequence[str], count: int) -> Iterator[Row]:
    for mark in rng.permutation(MARKS)[:count].tolist():
        yield {"artist": f"{words[0]} {words[1]}", "album": f"{words[2]} {words[3]} {mark}"}


FAMILIES: dict[str, Callable[[np.random.Generator, Sequence[str], int], Iterator[Row]]] = {
    "products": _products, "shops": _shops, "papers": _papers, "episodes": _episodes,
    "versions": _versions, "editions": _editions,
}  # fmt: skip


def _pairs(rng: np.random.Generator, count: int) -> list[tuple[str, str]]:
    every = [(size, colour) for size in SIZES for colour in COLOURS]
    return [every[n] for n in rng.permutation(len(every))[:count].tolist()]


def _one(rng: np.random.Generator, values: Sequence[str]) -> str:
    return values[int(rng.integers(len(values)))]


def _word(rng: np.random.Generator) -> str:
    return "".join(_one(rng, SYLLABLES) for _ in range(3))


def _damaged(row: Row, rng: np.random.Generator) -> Row:
    """Return a row with a typing error in its first value and perhaps without another one."""
    name, *others = row
    text = row[name] or ""
    at = int(rng.integers(1, max(2, len(text.split()[0]))))
    found = row | {name: text[:at] + text[at + 1 :]}
    if others and rng.random() < 0.3:
        found[others[-1]] = None
    return found
