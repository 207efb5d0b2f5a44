"""Bound the number of ways in which a pattern can match."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

from partita.rules.syntax import Atom, Choice, Node, Repeat, Row, Test, children, nullable, single

REFUSED = 100_000  # ways
CAP = 10**9

Firsts = frozenset[Atom]

# Attributes of which a phrase has one value: what is built sees to that.
SINGLE = frozenset({"kind", "text", "word", "lemma", "tag", "shape", "region", "column"})


def firsts(node: Node) -> Firsts:
    """The atoms that its first phrase may satisfy."""
    if isinstance(node, Atom):
        return frozenset({node})
    if isinstance(node, Row):
        return _firsts_of_row(node.parts, frozenset())
    return frozenset().union(*map(firsts, children(node)))


def ways(node: Node, follow: Firsts = frozenset()) -> int:
    """An upper bound of the ways to match the same phrases, given what may come after."""
    if isinstance(node, Atom) or single(node):
        return 1
    if isinstance(node, Row):
        return _row(node, follow)
    if isinstance(node, Choice):
        return _choice(node, follow)
    if isinstance(node, Repeat):
        return _repeat(node, follow)
    return ways(node.body, follow)


def _row(node: Row, follow: Firsts) -> int:
    product = 1
    for part in reversed(node.parts):
        product = min(product * ways(part, follow), CAP)
        follow = firsts(part) | follow if nullable(part) else firsts(part)
    return product


def _choice(node: Choice, follow: Firsts) -> int:
    each = [ways(branch, follow) for branch in node.branches]
    starts = [firsts(b) | follow if nullable(b) else firsts(b) for b in node.branches]
    clash = any(meet(a, b) for a, b in combinations(starts, 2))
    return min(sum(each), CAP) if clash else max(each)


def _repeat(node: Repeat, follow: Firsts) -> int:
    again = firsts(node.body)
    each = ways(node.body, follow | again if node.most > 1 else follow)
    counts = range(node.least if meet(again, follow) else node.most, node.most + 1)
    if each == 1:
        return len(counts)
    return min(sum(min(each, CAP) ** count if count < 30 else CAP for count in counts), CAP)


def _firsts_of_row(parts: tuple[Node, ...], found: Firsts) -> Firsts:
    for part in parts:
        found |= firsts(part)
        if not nullable(part):
            break
    return found


def meet(left: Firsts, right: Firsts) -> bool:
    """Whether some phrase may satisfy an atom of each."""
    return any(_overlap(a, b) for a in left for b in right)


@lru_cache(maxsize=1 << 16)
def _overlap(left: Atom, right: Atom) -> bool:
    return not any(apart(a, b) for a in left.tests for b in right.tests)


def apart(a: Test, b: Test) -> bool:
    """Nothing passes both tests."""
    if a.attribute != b.attribute:
        return False
    both = {a.operator, b.operator}
    if "not" in both:
        values = {*a.values, *b.values}
        return both == {"not", "has"} or (both == {"not", "="} and "false" not in values)
    if a.attribute not in SINGLE:
        return False
    if both == {"="}:
        return not set(a.values) & set(b.values)
    if both == {"=", "!="}:
        equal, other = (a, b) if a.operator == "=" else (b, a)
        return set(equal.values) <= set(other.values)
    return False


def empty_rounds(node: Node) -> bool:
    """Whether something that may be nothing is repeated."""
    if isinstance(node, Repeat) and node.most > 1 and nullable(node.body):
        return True
    return any(map(empty_rounds, children(node)))


def deterministic(node: Node) -> bool:
    """At every phrase at most one way to go on: the first match found is the longest."""
    return ways(node) == 1
