"""Spark gives the same answers as one machine."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import partita
import partita.spark
from partita.core import linked_components

if shutil.which("java") is None and not os.environ.get("PARTITA_TEST_ALL"):
    pytest.skip("needs Java", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.driver.memory": "1g",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",  # compiling costs more than these few rows
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
    monkeypatch.undo()


def scores(count: int, seed: int = 0) -> pandas.DataFrame:
    """Return scores in sets of a few records, with weak links between them."""
    rng = random.Random(seed)
    pairs: dict[tuple[int, int], float] = {}
    for _ in range(count):
        a = rng.randrange(count)
        b = a + rng.choice([1, 1, 2, 3, 40])
        pairs[a, b] = rng.choice([0.0, 1e-6, 0.02, 0.3, 0.7, 0.95, 1.0])
    rows = [(a, b, p) for (a, b), p in pairs.items()]
    rng.shuffle(rows)
    return pandas.DataFrame(rows, columns=["left", "right", "probability"])


TABLES = ("clusters", "alternatives", "pairs", "review")


def check_equal(found: Any, local: partita.Clusters, tables: tuple[str, ...] = TABLES) -> None:
    """Compare every table row for row, to the byte, and the summary."""
    assert found.summary == local.summary
    for name in tables:
        got, expected = rows(getattr(found, name).toPandas()), rows(local.to_pandas(name))
        assert got == expected, name


def rows(frame: pandas.DataFrame) -> list[tuple[Any, ...]]:
    plain = frame.astype(object).where(frame.notna(), None)
    listed = [
        tuple(list(v) if isinstance(v, np.ndarray) else v for v in row) for row in plain.to_numpy()
    ]
    return sorted(listed, key=repr)


def test_spark_clusters_as_one_machine_does(session: Any) -> None:
    frame = scores(300)
    frame[["left", "right"]] = frame[["left", "right"]].astype(str)
    everyone = pandas.DataFrame({"unique_id": [str(n) for n in range(1000)]})
    ids = sorted({*frame["left"], *frame["right"], *everyone["unique_id"]})
    pairs, records = session.createDataFrame(frame), session.createDataFrame(everyone)
    found = partita.spark.cluster(pairs, records)
    check_equal(found, partita.cluster(frame, records=ids))
    found.unpersist()
    assert repr(found).startswith("SparkClusters(1,000 records")


def test_without_weak_pairs_every_record_is_in_a_component(session: Any) -> None:
    frame = scores(60, seed=4)
    frame = frame[frame["probability"] > 0.01]
    found = partita.spark.cluster(session.createDataFrame(frame))
    check_equal(found, partita.cluster(frame, records=sorted({*frame["left"], *frame["right"]})))


def test_labels_assumptions_and_a_target_are_those_of_one_machine(session: Any) -> None:
    frame = scores(300)
    ids = sorted({*frame["left"], *frame["right"]})
    close = frame[(frame["probability"] > 0.2) & (frame["right"] - frame["left"] < 10)]
    rng = random.Random(0)
    labels = [(a, b, rng.random() < p) for a, b, p in close.head(40).to_numpy()]
    labels = [(int(a), int(b), int(same)) for a, b, same in labels] + [(ids[0], ids[-1], 1)]
    linked = frame[frame["probability"] == 0.3].iloc[-1]
    assume = [f"{int(linked.left)}!={int(linked.right)}"]
    options: Any = {"labels": labels, "assume": assume, "target_precision": 0.97}
    pairs = session.createDataFrame(frame)
    found = partita.spark.cluster(pairs, **options)
    check_equal(found, partita.cluster(frame, records=ids, **options))
    with pytest.raises(partita.InputError, match="there is no template '77777'"):
        partita.spark.cluster(pairs, assume=["77777=1"])
    with pytest.raises(partita.InputError, match="labels 77777, which is neither in"):
        partita.spark.cluster(pairs, labels=[(77777, 1, 1)])


def test_sources_without_duplicates_hold_on_spark(session: Any) -> None:
    frame = scores(100, seed=2)
    ids = sorted({*frame["left"], *frame["right"]})
    sources = ["ab"[n % 2] for n in ids]
    records = session.createDataFrame(list(zip(ids, sources, strict=True)), ["id", "origin"])
    found = partita.spark.cluster(session.createDataFrame(frame), records, source="origin")
    check_equal(found, partita.cluster(frame, records=ids, sources=sources))


PEOPLE = """\
1,Anna,Albers,1961-03-04,Arnsbach
2,Anna,Albers,1961-03-04,Arnsbach
3,Ana,Albers,1961-03-04,Arnsbach
4,Ben,Brandt,1978-11-20,Dornheim
5,Benn,Brandt,1978-11-20,
6,Carla,Dietz,1990-07-15,Birkenau
7,Carla,Dietz,1990-07-15,Birkenau
8,David,Ebert,1955-01-30,Falkenberg
9,Eva,Fuchs,1983-09-09,Clausthal
10,Eva,Fuchs,1938-09-09,Clausthal
11,Felix,Gruber,1969-12-24,Eichstedt
12,Greta,Jansen,1972-05-18,Arnsbach
"""


def test_records_are_linked_by_splink_on_spark(session: Any) -> None:
    import splink
    import splink.comparison_library as library

    names = ["id", "first_name", "surname", "birth_date", "town"]
    values = [line.split(",") for line in PEOPLE.splitlines()]
    frame = pandas.DataFrame(values, columns=names).astype({"id": int})
    settings = splink.SettingsCreator(
        link_type="dedupe_only",
        comparisons=[
            *(library.JaroWinklerAtThresholds(name) for name in ("first_name", "surname")),
            *map(library.ExactMatch, ("birth_date", "town")),
        ],
        blocking_rules_to_generate_predictions=["1=1"],
    ).create_settings_dict("duckdb")
    local = partita.link(frame, settings=settings)
    found = partita.spark.link(session.createDataFrame(frame), settings=local.settings)
    expected, got = (
        table.sort_values("record", ignore_index=True)
        for table in (local.to_pandas(), found.clusters.toPandas())
    )
    pandas.testing.assert_frame_equal(got, expected, rtol=1e-6, check_dtype=False)
    names = [one["output_column_name"] for one in found.settings["comparisons"]]
    assert names == ["first_name", "surname", "birth_date", "town"]
    with pytest.raises(partita.InputError, match="the settings of the engine nearest have no"):
        partita.spark.link(session.createDataFrame(frame), settings={"engine": "nearest"})
    with pytest.raises(partita.InputError, match="has no column of unique ids"):
        partita.spark.link(session.createDataFrame(frame.drop(columns="id")))
    twice = pandas.concat([frame, frame.head(1)])
    with pytest.raises(partita.InputError, match="the id is 1 in 2 records"):
        partita.spark.link(session.createDataFrame(twice), settings=settings)


def test_the_default_engine_on_spark_gives_the_rows_of_one_machine(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [line.split(",") for line in PEOPLE.splitlines()]
    people = pandas.DataFrame(rows, columns=["id", "first_name", "surname", "born", "town"])
    shuffled = session.createDataFrame(people.sample(frac=1.0, random_state=0)).repartition(3)
    labels = pandas.DataFrame([("1", "2", 1), ("1", "5", 0)], columns=["left", "right", "same"])
    local = partita.link(people.sort_values("id"), labels=labels)
    found = partita.spark.link(shuffled, labels=session.createDataFrame(labels))
    check_equal(found, local)
    assert (found.settings, found.notes) == (local.settings, local.notes)
    again = partita.spark.link(shuffled, settings=found.settings)
    check_equal(again, partita.link(people.sort_values("id"), settings=found.settings))
    monkeypatch.setattr(sys.modules["partita.spark.link"], "ON_DRIVER", 3)
    with pytest.raises(partita.InputError, match="more than 3 records"):
        partita.spark.link(shuffled)


def test_bad_scores_are_one_line(session: Any) -> None:
    def refused(rows: list[tuple[Any, ...]], match: str, **options: Any) -> None:
        kinds = "left string, right string, probability double"
        with pytest.raises(partita.InputError, match=match):
            partita.spark.cluster(session.createDataFrame(rows, kinds), **options)

    good = ("a", "b", 0.5)
    refused([good, ("a", "c", 1.5)], "the probability of a and c is 1.5, outside 0 to 1")
    refused([good, ("a", "c", float("nan"))], "a and c is nan, not a number")
    refused([good, ("a", None, 0.5)], "pairs a with nothing")
    refused([good, ("c", "c", 0.5)], "pairs c with itself")
    refused([good, ("b", "a", 0.6)], "the probability of a and b is 0.")
    refused([("a", "b", 1e-6), ("b", "a", 1e-7)], "the probability of a and b is 1e-06, and 1e-07")
    refused([], "has no rows")
    listed = session.createDataFrame([("a",), ("a",), ("b",)], ["id"])
    refused([good], "lists record a again", records=listed)
    refused([good, ("b", "c", 0.5)], "refers to c, which records does not list", records=listed)


@pytest.mark.parametrize("few", [0, 10**6])
def test_components_are_those_of_a_graph(
    session: Any, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("partita.spark.scores.IN_ONE_TASK", few)
    frame = scores(200, seed=1)
    found = partita.spark.components(session.createDataFrame(frame)).toPandas()
    left, right = (frame[name].to_numpy() for name in ("left", "right"))
    home = linked_components(int(max(left.max(), right.max())) + 1, left, right)
    least = {n: int(np.flatnonzero(home == home[n]).min()) for n in {*left, *right}}
    assert dict(zip(found["node"], found["component"], strict=True)) == least


def test_texts_are_run_in_partitions(session: Any) -> None:
    text = "A depot was found in Kinston. The depot is new."
    frame = session.createDataFrame([("a", text)], ["name", "text"])
    rows = partita.spark.run(frame, domain="depots").collect()
    expected = partita.run(text, domain="depots").to_dict()
    assert [json.loads(row["result"])["entities"] for row in rows] == [
        json.loads(json.dumps(expected))["entities"]
    ]


WRITERS = ("Ada Okafor", "Jonas Lindqvist", "Marta Okafor", "Rita Vandermeer", "Chen Wu")
FIRMS = ("Borealis Power Company", "Halcyon Bank", "Cardwell Shipping")
PLACES = ("Kinston", "Lisbon", "Norway")


def stories(count: int) -> dict[str, str]:
    rng = random.Random(5)
    found = {}
    for n in range(count):
        one, two = rng.sample(WRITERS, 2)
        firm, place = rng.choice(FIRMS), rng.choice(PLACES)
        topic = rng.choice(("the dam", "a marathon", "the strike"))
        found[f"d{n:03}"] = (
            f"{one} of {firm} met {two} in {place} on Monday. {one.split()[-1]} spoke of {topic}. "
            f"{firm} will open {n % 4 + 2} offices near {place}, the minister said."
        )
    return found


def test_knowledge_bases_are_those_of_one_machine(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = 40  # some lists of words are not read to their ends
    monkeypatch.setattr("partita.spark.documents.READ", few)
    monkeypatch.setattr("partita.linkage.neighbours.nearest_rows.__defaults__", (few, None))
    monkeypatch.setattr("partita.spark.documents.DOCUMENTS_PER_TASK", 16)
    texts = stories(30)
    frame = session.createDataFrame([*texts.items()][::-1], ["id", "text"])
    found = partita.spark.build(frame, out=str(tmp_path / "KB"))
    local = partita.build(texts, workers=1)
    for name in local.tables:
        assert found.to_pandas(name).equals(local.to_pandas(name)), name
    assert local.knowledge.resolution.compared > 500
    assert len(found.query("select * from worlds").rows) == 100 * len(found.knowledge.records)
    with pytest.raises(partita.InputError, match="is a knowledge base already"):
        partita.spark.build(frame, out=str(tmp_path / "KB"))


def test_documents_of_one_name_are_refused(session: Any) -> None:
    frame = session.createDataFrame(
        [("a", "Ann Lee came."), ("a", "Bob Lee left.")], ["id", "text"]
    )
    with pytest.raises(partita.InputError, match="two documents are called a"):
        partita.spark.build(frame)


def test_missing_columns_are_one_line(session: Any) -> None:
    frame = session.createDataFrame([(1, 2)], ["a", "b"])
    with pytest.raises(partita.InputError, match="scores: has no column left or right"):
        partita.spark.cluster(frame)
    with pytest.raises(partita.InputError, match="texts have no column text; found a, b"):
        partita.spark.run(frame)
    with pytest.raises(partita.InputError, match="texts have no column id; found a, b"):
        partita.spark.build(frame)
