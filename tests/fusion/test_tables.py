"""Tables without a domain: the comparison of their records is learned from them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from partita.app.fuse import (
    EntityFusion,
    Fusion,
    fuse_contents,
    fuse_entities,
    fuse_sources,
    needs_linkage,
    read_sources,
)
from partita.fusion.sources import Content
from partita.linkage.value_levels import edit_similarities_of
from partita.options import FuseOptions

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from bench_across import table_figures
from noisy_tables import QUALITY, as_csv, noisy_tables

PLAIN = FuseOptions()


def test_five_noisy_tables_are_linked_with_honest_probabilities():
    found = table_figures(5, entities=300)
    assert found["F"] >= 0.9
    assert found["F"] >= found["name F"] + 0.15
    assert abs(found["stated"] - found["right"]) <= 0.05
    order = list(QUALITY)  # from the best to the worst
    assert sorted(order, key=lambda source: -found[source]) == order


def test_tables_with_repeated_rows_are_linked_with_honest_probabilities():
    found = table_figures(5, entities=200, repeats=0.3)
    assert found["F"] >= 0.9
    assert abs(found["stated"] - found["right"]) <= 0.08


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    rows = noisy_tables(3, 40)
    for source in QUALITY:
        (folder / f"{source}.csv").write_text(as_csv(rows, source), encoding="utf-8")
    return [folder / f"{source}.csv" for source in QUALITY]


def entities(fused):
    return {
        tuple(sorted(record.id for record in entity.records)): entity.probability.value
        for entity in fused.entities
    }


def with_ids(tables, folder, first):
    """Copy tables with a column of ids: numbers from `first(table)` on."""
    paths = []
    for n, path in enumerate(tables):
        header, *lines = path.read_text(encoding="utf-8").splitlines()
        numbered = [f"{first(n) + k},{line}" for k, line in enumerate(lines)]
        paths.append(folder / path.name)
        paths[-1].write_text("\n".join([f"id,{header}", *numbered, ""]), encoding="utf-8")
    return paths


@pytest.mark.parametrize("first", [lambda n: 1, lambda n: 1000 * n], ids=["shared", "apart"])
def test_ids_of_rows_name_no_entities(tables, tmp_path, first):
    paths = with_ids(tables, tmp_path, first)
    assert needs_linkage(read_sources(paths))
    fusion = fuse_entities(paths, PLAIN)
    assert entities(fusion.fused) == entities(fuse_entities(tables, PLAIN).fused)
    assert any("linked by their values" in note for note in fusion.notes) == (first(1) == 1)


def test_ids_with_the_same_values_are_those_of_entities(tmp_path):
    lines = [f"{n},Company {n},{n % 7}" for n in range(30)]
    for name in ("one", "two"):
        text = "\n".join(["id,name,size", *lines, ""])
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    read = read_sources([tmp_path / "one.csv", tmp_path / "two.csv"])
    assert not needs_linkage(read)


def test_names_are_spelled_as_most_tables_spell_them(tmp_path):
    for name, said in {"a": "Ada Lovelace", "b": "ADA LOVELACE", "c": "Ada Lovelace"}.items():
        others = "".join(f"Person {k},18{k:02}-01-01\n" for k in range(10, 30))
        text = f"name,born\n{said},1815-12-10\n{others}"
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    fused = fuse_entities([tmp_path / f"{name}.csv" for name in "abc"], PLAIN).fused
    ada = next(entity for entity in fused.entities if "love" in entity.name.lower())
    assert ada.name == ada.slots["name"].values[0].text == "Ada Lovelace"
    assert ada.slots["name"].values[0].value == "Ada Lovelace"


def test_the_order_of_tables_does_not_matter(tables):
    """The order changes that of sums alone, and so the last digits."""
    found, other = (entities(fuse_entities(order, PLAIN).fused) for order in (tables, tables[::-1]))
    assert found == pytest.approx(other, abs=1e-12)


def test_a_table_of_reliability_0_changes_nothing(tables, tmp_path):
    given_ = tmp_path / "reliabilities.csv"
    given_.write_text("source,reliability\nforum,0\n", encoding="utf-8")
    without = fuse_entities(tables[:4], PLAIN).fused
    assert entities(fuse_entities(tables, replace(PLAIN, reliability=given_)).fused) == entities(
        without
    )


def test_a_column_that_one_table_lacks_is_missing_there(tmp_path):
    (tmp_path / "a.csv").write_text("Name,City\nAcme Ltd,Rome\nBorealis AG,Oslo\n")
    (tmp_path / "b.csv").write_text("name,phone\nACME Limited,123 456 789\nBorealis,77 88 99 11\n")
    fused = fuse_entities([tmp_path / "a.csv", tmp_path / "b.csv"], PLAIN).fused
    assert sorted(fused.task.schema.slots) == ["City", "Name", "phone"]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text("abcé ", max_size=8), min_size=2, max_size=6))
def test_edit_similarity_is_that_of_rapidfuzz(texts):
    pairs = [(a, b) for a in range(len(texts)) for b in range(len(texts))]
    left, right = (np.array(end) for end in zip(*pairs, strict=True))
    expected = [OSA.normalized_similarity(texts[a], texts[b]) for a, b in pairs]
    assert edit_similarities_of(texts, left, right).tolist() == pytest.approx(expected)


def test_tables_with_ids_of_their_own_are_linked(tmp_path):
    (tmp_path / "a.csv").write_text("id,name,city\na1,Acme Foods Ltd,Rome\na2,Borealis AG,Oslo\n")
    (tmp_path / "b.csv").write_text("id,name,city\nb7,ACME Foods,Rome\nb9,Borealis,Oslo\n")
    linked = fuse_sources([tmp_path / "a.csv", tmp_path / "b.csv"], PLAIN)
    assert isinstance(linked, EntityFusion)
    (tmp_path / "c.csv").write_text("id,name,city\na1,Acme,Rome\n")
    named = fuse_sources([tmp_path / "a.csv", tmp_path / "c.csv"], FuseOptions())
    assert isinstance(named, Fusion)


SITES = """object,slot,source,value,confidence,date
depot,city,a,Lima,0.9,1997-01-05
depot,city,b,Oslo,0.5,1997-01-06
depot,tanks,a,12,1,1997-01-05
depot,tanks,c,14,0.8,1997-01-07
bridge,city,b,Bonn,0.7,1997-01-06
bridge,city,c,Bonn,0.7,1997-01-06
"""


def test_a_source_that_is_always_right_leaves_no_nan():
    """Its records that differ in a slot cannot be the same thing, which is no undefined 0 / 0."""
    fused = fuse_contents([Content("a.csv", SITES)], replace(PLAIN, reliability={"a": 1.0}))
    assert len(fused["entities"]) > 1
    assert all(0.0 <= entity["probability"] <= 1.0 for entity in fused["entities"])
