"""Clusters on Spark beside one machine: the same rows, and the time on one core and on two.

    python benchmarks/bench_spark.py [--pairs 1000000] [--rows 100000] [--runs 3]

compares all tables of ROWS pairs row for row, and prints the median time of PAIRS pairs on one core
and on two (each in a process of its own that is bound to them), without the start of the session.

    python benchmarks/bench_spark.py --only 2 --pairs 10000000 --runs 1

runs the second part on two cores only, such as for ten million pairs. Spark's own event log says
how long no task ran, one, or more at a time: the first two are what further cores cannot shorten.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bench_records

SIZES = (2, 15)  # records of a set
CHOSEN = 0.3  # share of pairs that are compared beside a path through the set
TABLES = ("clusters", "alternatives", "pairs", "review")


def main() -> None:
    arguments = parsed()
    if arguments.cores:
        child(arguments)
        return
    with tempfile.TemporaryDirectory() as folder:
        if not arguments.only:
            report("rows", measured(arguments, folder, 2, arguments.rows, compare=True))
        seconds = {}
        for cores in [arguments.only] if arguments.only else [1, 2]:
            found = measured(arguments, folder, cores, arguments.pairs)
            report(f"{cores} cores" if cores > 1 else "1 core", found)
            seconds[cores] = statistics.median(found["seconds"])
        if len(seconds) == 2:
            share = seconds[2] / seconds[1]
            print(f"2 cores take {share:.3f} of the time of 1 core (at most .65)")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=100_000, help="pairs that are compared")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", type=int, default=0, help="cores, without a comparison")
    parser.add_argument("--memory", default="4g", help="of the Java process")
    parser.add_argument("--cores", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--compare", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--path", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def measured(
    arguments: argparse.Namespace, folder: str, cores: int, pairs: int, compare: bool = False
) -> dict[str, Any]:
    """Return what a process says that runs on some cores alone."""
    path = Path(folder) / f"scores-{pairs}.parquet"
    if not path.exists():
        bench_records.PAIRS = pairs
        bench_records.scores(np.random.default_rng(0), SIZES, CHOSEN).to_parquet(path, index=False)
    command = [sys.executable, __file__, "--cores", str(cores), "--path", str(path)]
    command += ["--runs", str(arguments.runs), "--memory", arguments.memory]
    run = subprocess.run(
        command + (["--compare"] if compare else []), check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def report(title: str, found: dict[str, Any]) -> None:
    for name, value in found.items():
        print(f"{title}: {name} {value}")


def child(arguments: argparse.Namespace) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.cores])
    session = spark(arguments.cores, arguments.memory, events(arguments.path))
    found = compared(session, arguments.path) if arguments.compare else timed(session, arguments)
    java = session._jvm.java.lang.ProcessHandle.current().pid()
    workers = below(java)
    found["peak memory of Java, GB"] = peak(java)
    found["peak memory of its Python workers, GB"] = [peak(worker) for worker in workers]
    found["CPU seconds of Java"] = round(cpu(java), 1)
    found["CPU seconds of its Python workers"] = round(sum(map(cpu, workers)), 1)
    session.stop()
    if not arguments.compare:
        found |= busy(events(arguments.path), found.pop("began"))
    print(json.dumps(found))


def events(path: str) -> Path:
    """Return the folder of the event logs of the session that reads this file."""
    return Path(path).with_name("events")


def spark(cores: int, memory: str, log: Path) -> Any:
    from pyspark.sql import SparkSession

    shutil.rmtree(log, ignore_errors=True)
    log.mkdir()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.driver.memory": memory,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": log.as_uri(),
        "spark.sql.shuffle.partitions": "8",
        "spark.default.parallelism": "8",
    }
    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def timed(session: Any, arguments: argparse.Namespace) -> dict[str, Any]:
    """Cluster all pairs, and write the clusters; the first run warms up on some of them."""
    import partita.spark

    scores = session.read.parquet(arguments.path)
    out = str(Path(arguments.path).with_name("clusters.parquet"))
    seconds = []
    summary: Any = None
    began = []
    warm_up = [scores.limit(20_000)] if arguments.runs > 1 else []
    for part in [*warm_up, *[scores] * arguments.runs]:
        start = time.perf_counter()
        began.append(time.time())
        found = partita.spark.cluster(part)
        found.clusters.write.mode("overwrite").parquet(out)
        seconds.append(round(time.perf_counter() - start, 2))
        began.append(time.time())
        summary = found.summary
        found.unpersist()
    rows = session.read.parquet(out).count()
    return {
        "seconds": seconds[len(warm_up) :],
        "pairs": summary.pairs,
        "sets": summary.sets,
        "records": rows,
        "began": began[-2:],
    }


def busy(folder: Path, period: list[float]) -> dict[str, Any]:
    """Return from an event log how long 0, 1, 2 … tasks ran at a time in a period, and the tasks.

    Where a stage of one task ran, other cores had nothing to do.
    """
    start, end = (1000.0 * moment for moment in period)
    tasks = []
    for line in next(folder.iterdir()).read_text().splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerTaskEnd":
            info, used = event["Task Info"], event["Task Metrics"]
            times = info["Launch Time"], info["Finish Time"]
            if times[0] >= start and times[1] <= end:
                tasks.append((*times, event["Stage ID"], used["Executor CPU Time"] / 1e9))
    changes = sorted([(a, 1) for a, *_ in tasks] + [(b, -1) for _, b, *_ in tasks] + [(end, 0)])
    durations: dict[int, float] = {}
    running, before = 0, start
    for moment, change in changes:
        durations[running] = durations.get(running, 0.0) + (moment - before) / 1000.0
        running, before = running + change, moment
    stages: dict[int, list[tuple[float, ...]]] = {}
    for task in tasks:
        stages.setdefault(task[2], []).append(task)
    longest = sorted(stages.values(), key=lambda own: -sum(b - a for a, b, *_ in own))[:8]
    return {
        "seconds with 0, 1, 2, … tasks at a time": {
            n: round(durations[n], 2) for n in sorted(durations)
        },
        "longest stages (tasks, seconds of all, seconds of the longest, CPU seconds of Java)": [
            [
                len(own),
                round(sum(b - a for a, b, *_ in own) / 1000.0, 2),
                round(max(b - a for a, b, *_ in own) / 1000.0, 2),
                round(sum(one[3] for one in own), 2),
            ]
            for own in longest
        ],
    }


def compared(session: Any, path: str) -> dict[str, Any]:
    """Compare every table with that of one machine; raise if a row differs."""
    import partita
    import partita.spark

    frame = pd.read_parquet(path)
    local = partita.cluster(frame, records=sorted({*frame["left"], *frame["right"]}))
    found = partita.spark.cluster(session.read.parquet(path))
    assert found.summary == local.summary
    counts = {}
    for name in TABLES:
        own = rows(pd.DataFrame(local.columns(name)))
        assert rows(getattr(found, name).toPandas()) == own, name
        counts[f"equal rows of {name}"] = len(own)
    return counts | linked(session)


def linked(session: Any, count: int = 10_000) -> dict[str, Any]:
    """Link a table by the default engine on Spark and on one machine; raise if a row differs."""
    import partita
    import partita.spark

    rng = np.random.default_rng(0)
    letters = np.array(list("abdeiklmnorstu"))
    names = ["".join(word) for word in letters[rng.integers(len(letters), size=(400, 6))]]
    people = rng.integers(0, count // 2, count)
    frame = pd.DataFrame({
        "id": range(count),
        "first_name": [names[n * 7 % 397] for n in people],
        "surname": [names[n * 11 % 399][: 5 + rng.integers(2)] for n in people],
        "birth_date": [f"19{40 + n % 60}-0{1 + n % 9}-1{n % 7}" for n in people],
        "town": [f"town {n % 211}" for n in people],
    })  # fmt: skip
    local = partita.link(frame)
    found = partita.spark.link(session.createDataFrame(frame.sample(frac=1.0, random_state=0)))
    assert found.summary == local.summary
    for name in TABLES:
        own = rows(pd.DataFrame(local.columns(name)))
        assert rows(getattr(found, name).toPandas()) == own, name
    return {"clusters of records linked": local.summary.clusters}


def rows(frame: pd.DataFrame) -> list[str]:
    plain = frame.astype(object).where(frame.notna(), None)
    listed = [
        [v.tolist() if isinstance(v, np.ndarray) else v for v in row] for row in plain.to_numpy()
    ]
    return sorted(map(repr, listed))


def below(pid: int) -> list[int]:
    """Return the processes that a process started, and those that they started."""
    own = Path(f"/proc/{pid}/task")
    children = [
        int(one) for task in own.iterdir() for one in (task / "children").read_text().split()
    ]
    return children + [one for child in children for one in below(child)]


def peak(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    size = next((line.split()[1] for line in lines if line.startswith("VmHWM")), "0")  # 0: ended
    return round(int(size) / (1 << 20), 2)


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")  # with ended children


if __name__ == "__main__":
    main()
