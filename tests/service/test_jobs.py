"""Training jobs by name: those that are known, those that are lost, those that never were."""

from __future__ import annotations

import pytest

from partita.service.jobs import WAITING, Jobs
from partita.service.problems import Refusal


def test_a_wish_that_waits_is_not_queued_twice() -> None:
    jobs = Jobs("nowhere")
    first = jobs.begin("demo", b"{}")
    assert jobs.begin("demo", b"{}") is first
    assert jobs.begin("other", b"{}") is not first
    assert jobs.states() == {"waiting": 2}
    assert jobs.get(first.id).told()["job"] == first.id


def test_the_queue_has_an_end() -> None:
    jobs = Jobs("nowhere")
    for n in range(WAITING):
        jobs.begin(f"run {n}", b"")
    with pytest.raises(Refusal) as refused:
        jobs.begin("one more", b"")
    assert refused.value.status == 429


def test_lost_and_unknown_jobs() -> None:
    jobs, before = Jobs("nowhere"), Jobs("nowhere")
    job = jobs.begin("demo", b"")
    old = before.begin("demo", b"")
    assert jobs.get(old.id).state == "failed"
    assert "lost" in str(jobs.get(old.id).error)
    for name in ("", "nothing", f"{job.id}9", "../x"):
        with pytest.raises(Refusal):
            jobs.get(name)
