"""Tables of companies by sources of different quality, with the entity of every row."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

import numpy as np

COLUMNS = ("name", "city", "industry", "founded", "employees", "phone")
QUALITY = {"registry": 0.95, "chamber": 0.9, "yearbook": 0.83, "web": 0.75, "forum": 0.65}
COVERAGE = 0.7
REPEATING = ("chamber", "web")
LEGAL = ("Ltd", "GmbH", "Inc", "AG", "LLC", "Corporation", "S.A.", "Company")
SPELLED = {"Ltd": "Limited", "Inc": "Incorporated", "Corporation": "Corp.", "Company": "Co",
           "S.A.": "SA", "GmbH": "G.m.b.H.", "AG": "A.G.", "LLC": "L.L.C."}  # fmt: skip
TRADES = ("Logistics", "Foods", "Engineering", "Textiles", "Software", "Energy", "Chemicals",
          "Construction", "Pharmaceuticals", "Insurance", "Machinery", "Electronics")  # fmt: skip
STARTS = ("Nor", "Bel", "Kar", "Tel", "Mar", "Vel", "Ost", "Rin", "Dal", "Fen", "Gra", "Hol",
          "Sol", "Bri", "Cor", "Lun")  # fmt: skip
ENDS = ("vik", "dane", "mont", "tor", "sen", "field", "berg", "stad", "lund", "mark", "wick",
        "ford", "haus", "ton")  # fmt: skip
CITIES = ("Hamburg", "Leeds", "Turin", "Lyon", "Ghent", "Porto", "Malmo", "Graz", "Brno", "Gdansk",
          "Utrecht", "Bilbao", "Aarhus", "Tampere", "Cork", "Basel", "Split", "Kaunas")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a source's table, with the number of the entity that it means."""

    source: str
    entity: int
    cells: dict[str, str]


def noisy_tables(
    seed: int, entities: int = 300, coverage: float = COVERAGE, repeats: float = 0.0
) -> list[Row]:
    """Return the rows of five sources, each about a share of the entities.

    The second and the fourth source have another row for a share of theirs: `repeats`.
    """
    rng = np.random.default_rng(seed)
    companies = [_company(rng) for _ in range(entities)]
    rows = []
    for source, quality in QUALITY.items():
        for n in rng.permutation(entities)[: int(coverage * entities)].tolist():
            twice = source in REPEATING and repeats > 0.0 and rng.random() < repeats
            rows += [
                Row(source, n, _cells(companies[n], companies, quality, rng))
                for _ in range(1 + twice)
            ]
    return rows


def as_csv(rows: list[Row], source: str) -> str:
    """Return the table of one source."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(row.cells for row in rows if row.source == source)
    return stream.getvalue()


def _company(rng: np.random.Generator) -> dict[str, str]:
    first = _pick(STARTS, rng) + _pick(ENDS, rng)
    second = f" {_pick(STARTS, rng)}{_pick(ENDS, rng)}" if rng.random() < 0.3 else ""
    trade = _pick(TRADES, rng)
    return {
        "name": f"{first}{second} {trade} {_pick(LEGAL, rng)}",
        "city": _pick(CITIES, rng),
        "industry": trade.lower(),
        "founded": str(rng.integers(1890, 2015)),
        "employees": str(int(np.exp(rng.uniform(2, 9)))),
        "phone": f"+{rng.integers(30, 50)} {rng.integers(100, 999)} {rng.integers(10**6, 10**7)}",
    }


def _cells(
    true: dict[str, str],
    companies: list[dict[str, str]],
    quality: float,
    rng: np.random.Generator,
) -> dict[str, str]:
    """Return the cells as a source of this quality states them."""
    poor = 1.0 - quality
    cells = {}
    for column, value in true.items():
        if column != "name" and rng.random() < 0.1 + poor / 2:
            cells[column] = ""
        elif column != "name" and rng.random() < poor:
            cells[column] = companies[int(rng.integers(len(companies)))][column]
        else:
            cells[column] = value
    cells["name"] = _name(true["name"], poor, rng)
    if cells["employees"] and rng.random() < poor:
        cells["employees"] = str(round(int(cells["employees"]) * float(rng.uniform(0.8, 1.2))))
    return cells


def _name(name: str, poor: float, rng: np.random.Generator) -> str:
    """Return a name with another legal form, abbreviations and typing errors."""
    *words, legal = name.split()
    if rng.random() < 0.3 + poor:
        legal = _pick(("", SPELLED[legal]), rng)
    if rng.random() < poor and len(words) > 1:
        words[-1] = words[-1][: int(rng.integers(3, 5))] + "."
    if rng.random() < poor / 2 and len(words) > 2:
        words[1] = words[1][0] + "."
    text = " ".join(filter(None, [*words, legal]))
    for _ in range(int(rng.random() < 0.05 + poor) + int(rng.random() < poor / 3)):
        text = _typo(text, rng)
    return text.upper() if rng.random() < poor else text


def _typo(text: str, rng: np.random.Generator) -> str:
    at = int(rng.integers(1, len(text) - 1))
    kind = int(rng.integers(4))
    letter = chr(97 + int(rng.integers(26)))
    if kind == 0:
        return text[:at] + text[at + 1 :]
    if kind == 1:
        return text[:at] + letter + text[at:]
    if kind == 2:
        return text[:at] + letter + text[at + 1 :]
    return text[: at - 1] + text[at] + text[at - 1] + text[at + 1 :]


def _pick(words: tuple[str, ...], rng: np.random.Generator) -> str:
    return words[int(rng.integers(len(words)))]
