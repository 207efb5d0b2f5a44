"""`link` and `fuse` link the records of the same tables in the same way."""

from __future__ import annotations

import csv
import os
import random
from pathlib import Path

import pytest

import partita
from oracles.people import people
from partita.app.fuse import EntityFusion, fuse_sources
from partita.errors import InputError
from partita.linkage.engines import is_for_splink

DATA = Path(os.environ.get("PARTITA_DATA", "../shared/data")) / "records"
TRUTHS = {  # columns that say which records are the same
    "restaurant-nophone-training": ("cluster", "unique_id"),
    "fake_1000": ("cluster",),
    "RLdata500": ("ent_id", "cluster"),
}
Place = tuple[str, int]


def split(rows: list[dict[str, str]], folder: Path, name: str) -> list[Path]:
    """Write the rows to two tables by a fixed seed."""
    chance = random.Random(7)
    parts: tuple[list[dict[str, str]], ...] = ([], [])
    for row in rows:
        parts[chance.random() < 0.5].append(row)
    paths = [folder / f"{name}-{part}.csv" for part in "ab"]
    for path, part in zip(paths, parts, strict=True):
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(part)
    return paths


def linked(paths: list[Path]) -> set[frozenset[Place]]:
    """Return the clusters of `link` by file and line."""
    found = partita.link(paths)
    counts = [len(path.read_text(encoding="utf-8").splitlines()) - 1 for path in paths]
    places = [(path.stem, n + 2) for path, count in zip(paths, counts, strict=True)
              for n in range(count)]  # fmt: skip
    clusters: dict[object, set[Place]] = {}
    for row, place in zip(found, places, strict=True):
        clusters.setdefault(row.cluster, set()).add(place)
    return {frozenset(members) for members in clusters.values()}


def fused(paths: list[Path]) -> set[frozenset[Place]]:
    """Return the entities of `fuse` by file and line."""
    found = fuse_sources(paths)
    assert isinstance(found, EntityFusion)
    return {
        frozenset((record.source, record.origins[0].line) for record in entity.records)
        for entity in found.fused.entities
    }


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    records, _ = people(40)
    rows = [{"unique_id": one["id"], **{k: v or "" for k, v in one.items() if k != "id"}}
            for one in records]  # fmt: skip
    return split(rows, tmp_path_factory.mktemp("people"), "people")


def test_link_and_fuse_give_the_same_clusters(tables: list[Path]) -> None:
    clusters = linked(tables)
    assert fused(tables) == clusters
    assert 1 < sum(len(cluster) > 1 for cluster in clusters) < len(clusters)


def test_the_order_of_tables_does_not_matter(tables: list[Path]) -> None:
    assert fused(tables[::-1]) == linked(tables[::-1]) == linked(tables)


@pytest.mark.corpus
@pytest.mark.parametrize("name", TRUTHS)
def test_link_and_fuse_give_the_same_clusters_of_known_tables(name: str, tmp_path: Path) -> None:
    path = DATA / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"no {path}")
    with path.open(newline="", encoding="utf-8") as stream:
        rows = [{column: value for column, value in row.items() if column not in TRUTHS[name]}
                for row in csv.DictReader(stream)]  # fmt: skip
    paths = split(rows, tmp_path, name)
    assert fused(paths) == linked(paths)


def test_a_model_of_our_engine_is_read_again(tables: list[Path]) -> None:
    found = partita.link(tables)
    again = partita.link(tables, settings=found.settings)
    assert again.clusters == found.clusters
    assert [name for name, _ in found.weights(found.records[0].record, found.records[1].record)]
    with pytest.raises(InputError, match="have no level"):
        partita.link(tables, settings={k: v for k, v in found.settings.items() if k != "level"})


def test_nearest_neighbours_are_the_default_unless_settings_say_otherwise() -> None:
    assert not is_for_splink(None)
    assert not is_for_splink({"engine": "nearest"})
    assert is_for_splink({"comparisons": []})
    with pytest.raises(InputError, match="settings of an unknown engine ditto"):
        is_for_splink({"engine": "ditto"})
