"""Things across sources: how often they are told right, and what many reports cost.

The corpus of depots is what is true. Its messages go through run; four tables speak of the same
things, with values that are wrong as often as their reliability says. Coordinates and sizes, of
which the messages say nothing, are drawn for every thing.
Five noisy tables of companies are fused without a domain.
Run by itself it prints all tables:  python benchmarks/bench_across.py
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from noisy_tables import LEGAL, QUALITY, SPELLED, as_csv, noisy_tables
from oracles.simulated_sources import (
    AcrossMeasured,
    Fact,
    facts_of,
    meant_by,
    measure_across,
    table_records,
)
from partita.app.batch import OutputForms
from partita.app.fuse import fuse_entities, record_linker
from partita.app.runner import Runner, Settings, run_messages
from partita.corpora.documents import corpus_path, read_keyed_messages
from partita.domains import find_domain
from partita.evaluation.rows import table
from partita.fusion.entities import FusedRecords, Task, fuse_records
from partita.fusion.run_results import read_run_results, run_records
from partita.fusion.source_records import SourceRecord, SourceRecords, merge_records
from partita.options import FuseOptions
from partita.text.raw_messages import RawMessage

TABLES = {"archive": 0.9, "survey": 0.8, "press": 0.7, "forum": 0.6}
COVERAGE = 0.7
SEEDS = range(3)
SIZES = (125, 250, 500)
KINDS = ("fuel depot", "ammunition depot", "rail bridge", "radar site", "training camp", "airfield")
STARTS = ("bar", "del", "gor", "hal", "kin", "lor", "mar", "nov", "pel", "ros", "tar", "vel")
MIDDLES = ("an", "em", "id", "ol", "ur", "a", "es", "in")
ENDS = ("vik", "sk", "dorf", "grad", "ville", "ton", "moor", "by")


def task() -> Task:
    return Task(find_domain("depots").schema, record_linker())


def reports(texts: Sequence[tuple[str, str]], name: str = "reports") -> SourceRecords:
    """Messages through run, and its results as accounts."""
    given = (RawMessage(message, text, f"{message}.txt") for message, text in texts)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.jsonl"
        lines = (
            line
            for one in run_messages(
                given, Runner(Settings(domain="depots")), OutputForms(json=True), workers=1
            )
            for line in one.lines
        )
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return run_records(read_run_results(path), find_domain("depots").schema)


def detailed(facts: Sequence[Fact], rng: np.random.Generator) -> list[Fact]:
    """With coordinates and a size, which tables tell and messages do not."""
    schema = find_domain("depots").schema
    found = []
    for fact in facts:
        north, east = int(rng.integers(3000, 6000)), int(rng.integers(1000, 9000))
        drawn = {"COORDINATES": f"{north}N {east:05}E", "SIZE": f"{int(rng.integers(2, 90))} ha"}
        found.append(Fact(fact.name, fact.type, {**fact.values, **schema.read(drawn)}))
    return found


def world(seed: int, details: bool) -> tuple[FusedRecords, AcrossMeasured]:
    """Messages and tables about the corpus, fused and measured."""
    made, rng = task(), np.random.default_rng(seed)
    documents = list(read_keyed_messages(corpus_path()))
    facts = facts_of(documents, made.schema)
    facts = detailed(facts, rng) if details else facts
    told = reports([(document.name, document.text) for document in documents])
    meant = dict(meant_by(told.records, documents, facts))
    records: list[SourceRecord] = []
    for source, reliable in TABLES.items():
        for record, entity in table_records(facts, source, reliable, COVERAGE, made.schema, rng):
            records.append(record)
            meant[record.id] = entity
    fused = fuse_records(merge_records([told, SourceRecords(tuple(records))]), made)
    return fused, measure_across(fused, meant, facts, made.schema)


def quality(details: bool) -> Iterator[str]:
    found = [world(seed, details) for seed in SEEDS]
    mean = lambda numbers: float(np.mean(list(numbers)))  # noqa: E731
    described = "with coordinates and sizes" if details else "of the corpus alone"
    yield f"{found[0][1].facts} facts {described}, {len(found)} draws\n"
    lines = []
    for source in ("reports", *TABLES):
        figures = (
            mean(fused.learned.reliabilities[source] for fused, _ in found),
            mean(measured.by_source[source] for _, measured in found),
            mean(measured.said_right[source] for _, measured in found),
            mean(measured.of_source[source] for _, measured in found),
        )
        name = "reports through `run`" if source == "reports" else source
        given = share(TABLES[source]) if source in TABLES else ""
        lines.append([name, given, *map(share, figures)])
    lines.append(["fused", "", "", share(mean(m.accuracy for _, m in found)), "", ""])
    yield table(["", "reliability", "learned", "all facts", "its facts", "fused"], lines)
    yield (
        f"\nB-cubed F {mean(m.f for _, m in found):.3f}, "
        f"reliability error {mean(m.error for _, m in found):.3f}"
    )


def share(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def written(count: int, rng: np.random.Generator) -> list[tuple[str, str]]:
    """Reports, each of two of a third as many things: every thing is reported some six times, and
    its size is wrong in every fifth report."""
    places = [
        f"{a}{b}{c}{d}".capitalize() for a, b, c, d in product(STARTS, MIDDLES, MIDDLES, ENDS)
    ]
    draw = lambda most: int(rng.integers(most))  # noqa: E731
    entities = [(places[draw(len(places))], KINDS[draw(len(KINDS))], 2 + draw(88))
              for _ in range(max(count // 3, 1))]  # fmt: skip
    found = []
    for n in range(count):
        (place, kind, size), (other, second, _) = (entities[draw(len(entities))] for _ in "ab")
        told = size if rng.random() < 0.8 else 2 + draw(88)
        text = (
            f"Subj: {place} {kind}\n\nA {kind} was seen near {place}. The {kind.split()[-1]} covers"
            f" {told} hectares. The {second} at {other} was not visited.\n"
        )
        found.append((f"m{n:04}", text))
    return found


REPEATS = 0.3  # of the rows of two sources, in the second table


def table_figures(seed: int, entities: int = 300, repeats: float = 0.0) -> dict[str, float]:
    """Fuse five noisy tables of companies without a domain; return F, stated and right things."""
    rows = noisy_tables(seed, entities, repeats=repeats)
    with TemporaryDirectory() as folder:
        paths = [Path(folder, f"{source}.csv") for source in QUALITY]
        for path in paths:
            path.write_text(as_csv(rows, path.stem), encoding="utf-8")
        fused = fuse_entities(paths, FuseOptions()).fused
    lines = {source: iter(range(2, len(rows) + 2)) for source in QUALITY}
    meant = {f"{r.source}/{r.source}.csv:{next(lines[r.source])}/R": r.entity for r in rows}
    sizes = Counter(meant.values())
    members = [[meant[record.id] for record in entity.records] for entity in fused.entities]
    right = [len(set(one)) == 1 and sizes[one[0]] == len(one) for one in members]
    names = Counter((_without_form(r.cells["name"]), r.entity) for r in rows)
    return {
        "F": pair_f([Counter(one) for one in members], sizes),
        "name F": pair_f(_by_name(names), sizes),
        "stated": float(np.mean([entity.probability.value for entity in fused.entities])),
        "right": float(np.mean(right)),
        **{source: fused.learned.reliabilities[source] for source in QUALITY},
    }


def _without_form(name: str) -> str:
    """Return a name in lower case without points and legal forms."""
    forms = {form.lower().replace(".", "") for form in (*LEGAL, *SPELLED.values())}
    return " ".join(w for w in name.lower().replace(".", "").split() if w not in forms)


def _by_name(names: Counter[tuple[str, int]]) -> list[Counter[int]]:
    groups: dict[str, Counter[int]] = {}
    for (name, entity), count in names.items():
        groups.setdefault(name, Counter())[entity] += count
    return list(groups.values())


def pair_f(groups: Sequence[Counter[int]], sizes: Counter[int]) -> float:
    """Return F of the pairs of records in one group, against those of one entity."""
    pairs = lambda counts: sum(n * (n - 1) // 2 for n in counts)  # noqa: E731
    both = sum(pairs(one.values()) for one in groups)
    stated = pairs(sum(one.values()) for one in groups)
    return 2 * both / max(stated + pairs(sizes.values()), 1)


def tables_quality() -> Iterator[str]:
    heads = ["F", "name F", "stated", "right", *QUALITY]
    lines = []
    for seed, repeats in product(SEEDS, (0.0, REPEATS)):
        found = table_figures(seed, repeats=repeats)
        lines.append([str(seed), share(repeats), *(share(found[head]) for head in heads)])
    columns = ["seed", "repeated", "F", "F of equal names", "things, stated", "things, right"]
    yield table([*columns, *QUALITY], lines)


def costs() -> Iterator[str]:
    made = task()
    fuse_records(reports(written(20, np.random.default_rng(1))), made)  # what is loaded once
    heads = ("reports", "accounts", "seconds", "all pairs", "compared", "share")
    yield "".join(f"{head:>11}" for head in heads)
    for size in SIZES:
        given = reports(written(size, np.random.default_rng(0)))
        begin = time.process_time()
        fused = fuse_records(given, made)
        taken = time.process_time() - begin
        yield (
            f"{size:>11,}{len(given.records):>11,}{taken:>11.2f}{fused.pairs:>11,}"
            f"{fused.compared:>11,}{fused.compared / fused.pairs:>11.5f}"
        )


def test_many_reports_are_compared_with_few(ratio) -> None:
    fused = fuse_records(reports(written(200, np.random.default_rng(0))), task())
    ratio("pairs compared of 200 reports", fused.compared / fused.pairs, "all pairs", 0.05)


if __name__ == "__main__":
    for part in (quality(False), quality(True), costs(), tables_quality()):
        for line in part:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
        sys.stdout.write("\n")
