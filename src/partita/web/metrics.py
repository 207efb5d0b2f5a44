"""Request counts and durations in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

BOUNDS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0)  # seconds


@dataclass(slots=True)
class Durations:
    """A cumulative histogram of durations with their count and sum."""

    buckets: list[int] = field(default_factory=lambda: [0] * len(BOUNDS))
    count: int = 0
    sum: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one duration."""
        self.count += 1
        self.sum += seconds
        for bucket in range(bisect_left(BOUNDS, seconds), len(BOUNDS)):
            self.buckets[bucket] += 1


@dataclass(slots=True)
class Metrics:
    """Counts by route pattern, never by the names in a path, whose number is unlimited."""

    requests: defaultdict[tuple[str, str, int], int] = field(
        default_factory=lambda: defaultdict(int)
    )
    durations: defaultdict[str, Durations] = field(default_factory=lambda: defaultdict(Durations))

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self.requests[method, route, status] += 1
        self.durations[route].add(seconds)

    def text(self, gauges: Mapping[str, tuple[str, Mapping[str, int]]]) -> str:
        """Return all metrics; `gauges` maps a name to its help text and its value per label."""
        lines = [*self._request_lines(), *self._duration_lines()]
        for name, (description, values) in gauges.items():
            lines += [f"# HELP {name} {description}", f"# TYPE {name} gauge"]
            lines += [f"{name}{label} {value}" for label, value in values.items()]
        return "\n".join(lines) + "\n"

    def _request_lines(self) -> Iterator[str]:
        yield "# HELP partita_requests_total Answered requests."
        yield "# TYPE partita_requests_total counter"
        for (method, route, status), count in sorted(self.requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"partita_requests_total{{{labels}}} {count}"

    def _duration_lines(self) -> Iterator[str]:
        name = "partita_request_seconds"
        yield f"# HELP {name} Seconds from the first byte of a request to the last of its answer."
        yield f"# TYPE {name} histogram"
        for route, histogram in sorted(self.durations.items()):
            counts = (*histogram.buckets, histogram.count)
            for bound, count in zip((*BOUNDS, "+Inf"), counts, strict=True):
                yield f'{name}_bucket{{route="{route}",le="{bound}"}} {count}'
            yield f'{name}_sum{{route="{route}"}} {histogram.sum:.6f}'
            yield f'{name}_count{{route="{route}"}} {histogram.count}'
