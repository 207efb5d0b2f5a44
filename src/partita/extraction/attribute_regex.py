"""Regular expressions over one attribute: only such as match in a bounded number of steps.

ways(row) ≤ Π ways, ways(a|b) ≤ ways(a) + ways(b), and no repeat stands in another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LONGEST_VALUE = 64  # characters of an attribute that is looked at
_LONGEST = 200  # characters of a regular expression
_STEPS = 300_000

_LITERAL = re.compile(r"\\[^0-9]|\[\^?\]?(?:[^\]\\]|\\.)*\]")
_MARK = re.compile(r"\(\?:|[()|*+?]|\{([0-9]*)(,?)([0-9]*)\}")


def explosive(expression: str) -> str:
    """What is wrong with it; nothing, if it is harmless."""
    if len(expression) > _LONGEST:
        return f"has at most {_LONGEST} characters"
    try:
        re.compile(expression)
    except (re.error, RecursionError, OverflowError) as error:
        return f"must be one of Python's: {error}"
    plain = _LITERAL.sub("x", expression)
    if re.search(r"\(\?(?!:)|\\[0-9]", plain):
        return "has no look-around, names, flags or back references"
    steps = _steps(plain)
    if steps == 0:
        return "has no repeats or alternatives inside repeats"
    return "" if steps <= _STEPS else "has fewer repeats and alternatives beside each other"


def _steps(plain: str) -> int:
    """An upper bound of the ways to match; 0 for repeats inside repeats."""
    opened = [_Bracket()]
    last = (0, 1)  # where the last bracket ended, and its ways
    for mark in _MARK.finditer(plain):
        if mark[0] in ("(", "(?:"):
            opened.append(_Bracket())
        elif mark[0] == "|":
            opened[-1].branches.append(1)
        elif mark[0] == ")":
            last = (mark.end(), opened.pop().ways)
            opened[-1].times(last[1])
        else:
            inner = last[1] if last[0] == mark.start() else 1
            if (rounds := _rounds(mark)) > 1 and inner > 1 and mark[0] != "?":
                return 0
            opened[-1].times(rounds)
    return opened[0].ways


@dataclass(slots=True)
class _Bracket:
    """The ways of each branch so far."""

    branches: list[int] = field(default_factory=lambda: [1])

    @property
    def ways(self) -> int:
        return sum(self.branches)

    def times(self, factor: int) -> None:
        self.branches[-1] *= factor


def _rounds(mark: re.Match[str]) -> int:
    if mark[0] in "*+?":
        return 2 if mark[0] == "?" else LONGEST_VALUE
    least = int(mark[1] or 0)
    most = int(mark[3] or LONGEST_VALUE) if mark[2] else least
    # of a fixed number of rounds each may still be matched in several ways
    return max(most - least + 1, min(most, 2))
