"""The text that Prometheus reads."""

from __future__ import annotations

from partita.web.middleware import BOUNDS, Metrics


def test_counts_and_durations_add_up() -> None:
    metrics = Metrics()
    for seconds in (0.001, 0.02, 3.0, 100.0):
        metrics.count("GET", "/api/runs", 200, seconds)
    metrics.count("GET", "/api/runs", 404, 0.001)
    rows = dict(
        line.rsplit(" ", 1)
        for line in metrics.text({"busy": ("Now.", {"": 2})}).splitlines()
        if not line.startswith("#")
    )
    assert rows['partita_requests_total{method="GET",route="/api/runs",status="200"}'] == "4"
    assert rows["busy"] == "2"
    counts = [
        int(rows[f'partita_request_seconds_bucket{{route="/api/runs",le="{bound}"}}'])
        for bound in (*BOUNDS, "+Inf")
    ]
    assert counts == [2, 3, 3, 3, 3, 4, 4, 5]
    assert float(rows['partita_request_seconds_sum{route="/api/runs"}']) == 103.022
