"""The dense engine beside the naive way: everything for n = 20, 22 and 24, the best of 25."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from naive import naive_seconds
from oracles.instances import log_odds, planted_pairs, uniform_pairs
from partita.configurations.exact.posterior import exact
from partita.configurations.search.best import best
from partita.core import Budget, FloatArray

REGIMES: dict[str, Callable[[int], FloatArray]] = {
    "flat": lambda n: uniform_pairs(n, 0.3, 0.7, np.random.default_rng(n)),
    "mid": lambda n: uniform_pairs(n, 0.05, 0.95, np.random.default_rng(n)),
    "planted": lambda n: planted_pairs(n, np.random.default_rng(n)),
}
BOUNDS = {20: (10, 0.25), 22: (11, 0.1), 24: (11, 0.8)}
AIMS = {22: 0.08}  # on a machine without other work, which slows large tables more than naive loops


def everything(theta: FloatArray) -> None:
    found = exact(theta)
    found.cell_table.sum()
    found.pairs()
    found.entropy()
    found.count()
    found.best(10)


def seconds(action: Callable[[], object]) -> float:
    """How long all threads of this process occupy processors."""
    start = time.process_time()
    action()
    return time.process_time() - start


def child_seconds(command: list[str]) -> float:
    """How long a command occupies processors, with its own children and bytecode kept."""
    kept = {k: v for k, v in _paths().items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = os.times()
    subprocess.run(command, check=True, capture_output=True, env=kept)
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compilation is not what is measured."""
    everything(log_odds(REGIMES["mid"](18)))
    best(log_odds(REGIMES["mid"](15)), 10, Budget())


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("n", BOUNDS)
def test_everything(n: int, regime: str, ratio: Callable[..., None]) -> None:
    size, bound = BOUNDS[n]
    theta = log_odds(REGIMES[regime](n))
    took = min(seconds(lambda: everything(theta)) for _ in range(5 if n < 24 else 1))
    value = took / naive_seconds(size, time.process_time)
    aim = AIMS.get(n, bound)
    ratio(f"everything, dense n = {n}, {regime}", value, f"naive n = {size}", aim)
    assert value <= bound


@pytest.mark.parametrize("regime", REGIMES)
def test_thousand_best(regime: str, ratio: Callable[..., None]) -> None:
    theta = log_odds(REGIMES[regime](25))
    start = time.perf_counter()
    found = best(theta, 1000, Budget())
    value = (time.perf_counter() - start) / naive_seconds(11)
    ratio(f"1,000 best, dense n = 25, {regime}", value, "naive n = 11", 0.25)
    assert len(found.labels) == 1000
    assert found.gap == 0.0
    assert value <= 0.25


def test_memory_of_twenty_four(ratio: Callable[..., None]) -> None:
    code = (
        "import resource, numpy as np, bench_exact as b;"
        "b.everything(b.log_odds(b.REGIMES['mid'](24)));"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_paths()
    )
    gigabytes = int(run.stdout) * 1024 / 1e9
    ratio("peak memory, everything, n = 24", gigabytes / 1.25, "1.25 GB", 1.0)
    assert gigabytes <= 1.25


def test_the_command_at_twenty(ratio: Callable[..., None], tmp_path: Path) -> None:
    """With compiled code in the cache: start-up, reading, solving and printing."""
    p, path = REGIMES["mid"](20), tmp_path / "pairs.csv"
    rows = [f"T{i},T{j},{float(p[i, j])!r}\n" for i in range(20) for j in range(i)]
    path.write_text("left,right,probability\n" + "".join(rows))
    command = [sys.executable, "-m", "partita", "solve", str(path)]
    value = min(child_seconds(command) for _ in range(4)) / naive_seconds(10, time.process_time)
    ratio("the command, dense n = 20, mid", value, "naive n = 10", 0.8)
    assert value <= 1.0


def _paths() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def naive_reach(limit: float) -> int:
    """The largest n that the naive way answers within the limit."""
    n = 6
    while naive_seconds(n) * 7 <= limit:
        n += 1
    return n


def test_the_peers(ratio: Callable[..., None]) -> None:
    """py_dempster_shafer combining pair masses over all configurations, as far as it gets."""
    from peers import dempster_shafer_seconds

    limit, n = 45.0, 3
    while (took := dempster_shafer_seconds(n)) * 6 <= limit:
        n += 1
    ratio(
        f"py_dempster_shafer, n = {n} (largest in {limit:.0f} s)",
        took / naive_seconds(n),
        f"naive n = {n}",
        None,
    )
    ours = seconds(lambda: everything(log_odds(REGIMES["mid"](n))))
    ratio(f"Partita, n = {n}", ours / naive_seconds(n), f"naive n = {n}", None)
    reach = naive_reach(limit)
    ratio(f"naive, n = {reach} (largest in {limit:.0f} s)", 1.0, f"naive n = {reach}", None)
    assert ours < took
