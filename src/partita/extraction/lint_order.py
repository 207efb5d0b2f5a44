"""Rules that never win: wherever one matches, another that is preferred matches as much."""

from __future__ import annotations

from collections.abc import Iterator

from partita.extraction.domain import Phase, Rule
from partita.extraction.problems import Problem
from partita.extraction.syntax import Atom, Choice, Label, Node, Repeat, Row, Test
from partita.extraction.tests import Below

MOST_PAIRS = 100_000


def never_wins(phase: Phase, below: Below) -> Iterator[Problem]:
    """Of each rule that cannot win, the rule that takes its place."""
    if phase.starts != "cursor":
        return
    order = sorted(enumerate(phase.rules), key=lambda one: (-one[1].priority, one[0]))
    pairs = 0
    for n, (_, rule) in enumerate(order):
        for _, other in order[:n]:
            pairs += 1
            if pairs > MOST_PAIRS:
                return
            if _always(other, rule, below):
                said = f"rule {rule.name!r} never wins: {other.name!r} matches wherever it does"
                yield Problem(rule.at, said)
                break


def _always(preferred: Rule, rule: Rule, below: Below) -> bool:
    for wanted, given in ((preferred.before, rule.before), (preferred.after, rule.after)):
        if wanted is not None and (given is None or not covers(wanted, given, below)):
            return False
    return covers(preferred.pattern, rule.pattern, below)


def covers(wide: Node, narrow: Node, below: Below) -> bool:
    """Whatever the narrow pattern matches, the wide one matches too; as far as its shape shows."""
    wide, narrow = _bare(wide), _bare(narrow)
    if isinstance(narrow, Choice):
        return all(covers(wide, branch, below) for branch in narrow.branches)
    if isinstance(wide, Choice):
        return any(covers(branch, narrow, below) for branch in wide.branches)
    if isinstance(wide, Repeat):
        return _repeated(wide, narrow, below)
    if isinstance(wide, Row) and isinstance(narrow, Row):
        pairs = zip(wide.parts, narrow.parts, strict=False)
        same = len(wide.parts) == len(narrow.parts)
        return same and all(covers(a, b, below) for a, b in pairs)
    if isinstance(wide, Atom) and isinstance(narrow, Atom):
        return all(any(_implied(b, a, below) for b in narrow.tests) for a in wide.tests)
    return False


def _repeated(wide: Repeat, narrow: Node, below: Below) -> bool:
    least, most = (narrow.least, narrow.most) if isinstance(narrow, Repeat) else (1, 1)
    body = narrow.body if isinstance(narrow, Repeat) else narrow
    return wide.least <= least and most <= wide.most and covers(wide.body, body, below)


def _bare(node: Node) -> Node:
    while isinstance(node, Label):
        node = node.body
    return node


def _implied(given: Test, wanted: Test, below: Below) -> bool:
    """What passes the test that is given passes the one that is wanted."""
    if given == wanted:
        return True
    if given.attribute != wanted.attribute:
        return False
    if wanted.operator == "has":
        return given.operator == "=" and "false" not in given.values
    if given.operator != wanted.operator or wanted.operator not in ("=", "!="):
        return False
    if wanted.operator == "!=":
        return set(wanted.values) <= set(given.values) and wanted.attribute != "sort"
    allowed = set(wanted.values)
    if wanted.attribute == "sort":
        allowed = allowed.union(*(below.get(value, frozenset()) for value in allowed))
    return set(given.values) <= allowed
