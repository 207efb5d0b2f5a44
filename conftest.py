"""What all tests share: no example has a time limit, and with PARTITA_TEST_ALL set, a missing
server or browser is a failure."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

OUTSIDE = ("postgres", "browser")

# Other work on the machine must not decide whether a test passes.
settings.register_profile("load", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("load")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    needed = [name for name in OUTSIDE if item.get_closest_marker(name)]
    if report.skipped and needed and os.environ.get("PARTITA_TEST_ALL"):
        report.outcome = "failed"
        report.longrepr = f"left out, but nothing may be: needs {' and '.join(needed)}"
    return report
