"""Spark gives the same answers as one machine."""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas
import pytest

import partita
import partita.spark
from partita.records import linked_components

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


@pytest.mark.parametrize("kind", [int, str])
def test_spark_clusters_as_one_machine_does(session: Any, kind: type) -> None:
    frame = scores(300)
    frame[["left", "right"]] = frame[["left", "right"]].astype(kind)
    everyone = pandas.DataFrame({"unique_id": [kind(n) for n in range(1000)]})
    ids = sorted({*frame["left"], *frame["right"], *everyone["unique_id"]})
    local = partita.cluster(frame, records=ids).to_pandas()
    pairs, records = session.createDataFrame(frame), session.createDataFrame(everyone)
    found = partita.spark.cluster(pairs, records).toPandas()
    expected = local.sort_values("record", ignore_index=True)
    pandas.testing.assert_frame_equal(
        found.sort_values("record", ignore_index=True),
        expected,
        check_exact=True,
        check_dtype=False,
    )


def test_components_are_those_of_a_graph(session: Any) -> None:
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


def test_missing_columns_are_one_line(session: Any) -> None:
    frame = session.createDataFrame([(1, 2)], ["a", "b"])
    with pytest.raises(partita.InputError, match="scores have no columns left"):
        partita.spark.cluster(frame)
    with pytest.raises(partita.InputError, match="texts have no column text; found a, b"):
        partita.spark.run(frame)
