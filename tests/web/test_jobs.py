"""Training jobs by name: those that are known, those that are lost, those that never were."""

from __future__ import annotations

import pytest

from partita.web.error_responses import RequestError
from partita.web.jobs import MAX_QUEUED, JobQueue


def test_a_wish_that_waits_is_not_queued_twice() -> None:
    jobs = JobQueue("nowhere")
    first = jobs.add("demo", b"{}")
    assert jobs.add("demo", b"{}") is first
    assert jobs.add("other", b"{}") is not first
    assert jobs.states() == {"waiting": 2}
    assert jobs.get(first.id).to_json()["job"] == first.id


def test_the_queue_has_an_end() -> None:
    jobs = JobQueue("nowhere")
    for n in range(MAX_QUEUED):
        jobs.add(f"run {n}", b"")
    with pytest.raises(RequestError) as refused:
        jobs.add("one more", b"")
    assert refused.value.status == 429


def test_lost_and_unknown_jobs() -> None:
    jobs, before = JobQueue("nowhere"), JobQueue("nowhere")
    job = jobs.add("demo", b"")
    old = before.add("demo", b"")
    assert jobs.get(old.id).state == "failed"
    assert "lost" in str(jobs.get(old.id).error)
    for name in ("", "nothing", f"{job.id}9", "../x"):
        with pytest.raises(RequestError):
            jobs.get(name)
