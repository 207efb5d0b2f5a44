"""Regular expressions over one attribute: only such as match in a bounded number of steps.

steps ≤ Π rounds · Π branches, over all repeats and brackets, as no repeat stands in another.
"""

from __future__ import annotations

import re
from math import prod

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
    factors: list[int] = []
    opened: list[list[int]] = [[0, 1]]  # of each open bracket: its first factor, its branches
    last = (0, 1)  # where the last item's factors begin, and how many it has of its own
    for mark in _MARK.finditer(plain):
        if mark[0] in ("(", "(?:"):
            opened.append([len(factors), 1])
        elif mark[0] == "|":
            opened[-1][1] += 1
        elif mark[0] == ")":
            begin, branches = opened.pop()
            factors.append(branches)
            last = (begin, mark.end())
        else:
            within = factors[last[0] :] if last[1] == mark.start() else []
            if (rounds := _rounds(mark)) > 2 and prod(within) > 1:
                return 0
            factors.append(rounds)
    return prod(factors)


def _rounds(mark: re.Match[str]) -> int:
    if mark[0] in "*+?":
        return 2 if mark[0] == "?" else LONGEST_VALUE
    least = int(mark[1] or 0)
    most = int(mark[3] or LONGEST_VALUE) if mark[2] else least
    # a round more than twice is a repeat, even if their number is fixed
    return max(most - least + 1, 3 if most > 2 else 2 if most == 2 else 1)
