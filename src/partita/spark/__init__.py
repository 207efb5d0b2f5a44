"""Clusters, linked tables, texts and knowledge bases on Spark, as on one machine.

Needs `pip install 'partita[spark]'` and Java.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StringType, StructField, StructType

from partita.errors import InputError
from partita.spark.clusters import SparkClusters, cluster
from partita.spark.documents import build
from partita.spark.link import LinkedOnSpark, link
from partita.spark.scores import components

__all__ = ["LinkedOnSpark", "SparkClusters", "build", "cluster", "components", "link", "run"]


def run(texts: DataFrame, *, text: str = "text", **options: Any) -> DataFrame:
    """Extract entities and resolve coreference in a data frame of texts.

    `text` names the column of texts, and the options are those of `partita.run`. The result has
    the columns of `texts` and `result`, the answer for each text as JSON.
    """

    def resolve(frames: Iterable[Any]) -> Iterator[Any]:
        from partita.app.run import run as run_locally

        for frame in frames:
            found = [run_locally(one, **options).to_dict() for one in frame[text]]
            yield frame.assign(result=[json.dumps(one) for one in found])

    if text not in texts.columns:
        raise InputError(f"texts have no column {text}; found {', '.join(texts.columns)}")
    schema = StructType([*texts.schema.fields, StructField("result", StringType())])
    return texts.mapInPandas(resolve, schema)
