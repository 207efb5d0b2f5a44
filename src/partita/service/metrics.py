"""What a service has done and is doing, in the text format that Prometheus reads."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

BOUNDS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0)  # seconds


@dataclass(slots=True)
class Durations:
    """How many requests took up to each bound, how many there were, how long all took."""

    upto: list[int] = field(default_factory=lambda: [0] * len(BOUNDS))
    count: int = 0
    sum: float = 0.0

    def add(self, seconds: float) -> None:
        self.count += 1
        self.sum += seconds
        place = bisect_left(BOUNDS, seconds)
        for n in range(place, len(BOUNDS)):
            self.upto[n] += 1


@dataclass(slots=True)
class Metrics:
    """Counted by the pattern of a route, never by its names: of those there are any number."""

    requests: defaultdict[tuple[str, str, int], int] = field(
        default_factory=lambda: defaultdict(int)
    )
    durations: defaultdict[str, Durations] = field(default_factory=lambda: defaultdict(Durations))

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        self.requests[method, route, status] += 1
        self.durations[route].add(seconds)

    def text(self, gauges: Mapping[str, tuple[str, Mapping[str, int]]]) -> str:
        """All of it; `gauges` are what is so now: what it says, and a value for each label."""
        lines = [*self._requests(), *self._durations()]
        for name, (said, values) in gauges.items():
            lines += [f"# HELP {name} {said}", f"# TYPE {name} gauge"]
            lines += [f"{name}{label} {value}" for label, value in values.items()]
        return "\n".join(lines) + "\n"

    def _requests(self) -> Iterator[str]:
        yield "# HELP partita_requests_total Requests that were answered."
        yield "# TYPE partita_requests_total counter"
        for (method, route, status), count in sorted(self.requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"partita_requests_total{{{labels}}} {count}"

    def _durations(self) -> Iterator[str]:
        name = "partita_request_seconds"
        yield f"# HELP {name} From the first byte of a request to the last of its answer."
        yield f"# TYPE {name} histogram"
        for route, found in sorted(self.durations.items()):
            for bound, count in zip((*BOUNDS, "+Inf"), (*found.upto, found.count), strict=True):
                yield f'{name}_bucket{{route="{route}",le="{bound}"}} {count}'
            yield f'{name}_sum{{route="{route}"}} {found.sum:.6f}'
            yield f'{name}_count{{route="{route}"}} {found.count}'
