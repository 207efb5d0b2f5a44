"""The domain incidents beside the domain depots on the messages of the exam, text to entities.

All messages are done in both domains, and one that fails fails the benchmark.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from partita.app.batch import gc_paused
from partita.app.runner import Runner, Settings, usual_budget
from partita.core import Message
from partita.pipeline import resolve
from partita.text.messages import read_messages

MUC = Path(__file__).parents[2] / "shared" / "data" / "muc4"
TEXTS = ("dev/dev-*", "tst1/tst1-*", "tst2/tst2-*", "tst3/tst3-muc4")
MODEL = "evidential"
MOST = 2.0  # times as long as depots


def messages() -> list[Message]:
    found = [path for pattern in TEXTS for path in sorted(MUC.glob(pattern))]
    return [one for one in read_messages(found) if isinstance(one, Message)]


def seconds(domain: str, given: list[Message]) -> float:
    """Of this process; the first message loads what is loaded once."""
    made = Runner(Settings(domain, MODEL, budget=usual_budget(MODEL)))
    resolve(given[0], made.stages)
    start = time.process_time()
    for message in given:
        with gc_paused():
            resolve(message, made.stages)
    return time.process_time() - start


@pytest.mark.skipif(not MUC.is_dir(), reason="the exam's texts are not here")
def test_incidents_beside_depots(ratio, capsys) -> None:  # type: ignore[no-untyped-def]
    given = messages()
    assert len(given) == 1600
    taken = {domain: seconds(domain, given) for domain in ("depots", "incidents")}
    with capsys.disabled():
        for domain, spent in taken.items():
            print(f"\n{domain}: {len(given):,} messages, {len(given) / spent:.1f} a second")
    ratio("1,600 messages, incidents", taken["incidents"] / taken["depots"], "depots", MOST)
    assert taken["incidents"] <= MOST * taken["depots"]
