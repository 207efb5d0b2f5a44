"""Ratios are collected and printed as one table at the end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Report = Callable[[str, float, str, float | None], None]

_rows: list[tuple[str, float, str, float | None]] = []


@pytest.fixture
def ratio() -> Report:
    """Call with (what, seconds as a ratio, to what, the bound that is aimed at)."""

    def add(what: str, value: float, to: str, bound: float | None = None) -> None:
        _rows.append((what, value, to, bound))

    return add


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _rows:
        return
    terminalreporter.section("ratios, measured in this run on this machine")
    for what, value, to, bound in _rows:
        aim = "" if bound is None else f"  (at most {bound:g})"
        terminalreporter.write_line(f"{what:<52} {value:>9.4f} × {to}{aim}")
