"""Bound the number of ways in which a pattern can match."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

from partita.rules.syntax import (
    Atom,
    Node,
    PatternChoice,
    PatternRow,
    Repeat,
    Test,
    children,
    nullable,
    single_phrase,
)

MOST_WAYS = 100_000
CAP = 10**9

Firsts = frozenset[Atom]

# Attributes that have a single value in every phrase.
SINGLE_VALUED = frozenset({"kind", "text", "word", "lemma", "tag", "shape", "region", "column"})


def first_atoms(node: Node) -> Firsts:
    """Return the atoms that the first phrase of a match may satisfy."""
    if isinstance(node, Atom):
        return frozenset({node})
    if isinstance(node, PatternRow):
        return _firsts_of_row(node.parts, frozenset())
    return frozenset().union(*map(first_atoms, children(node)))


def count_ways(node: Node, follow: Firsts = frozenset()) -> int:
    """Return an upper bound of the ways to match the same phrases, given what may follow."""
    if isinstance(node, Atom) or single_phrase(node):
        return 1
    if isinstance(node, PatternRow):
        return _row(node, follow)
    if isinstance(node, PatternChoice):
        return _choice(node, follow)
    if isinstance(node, Repeat):
        return _repeat(node, follow)
    return count_ways(node.body, follow)


def _row(node: PatternRow, follow: Firsts) -> int:
    product = 1
    for part in reversed(node.parts):
        product = min(product * count_ways(part, follow), CAP)
        follow = first_atoms(part) | follow if nullable(part) else first_atoms(part)
    return product


def _choice(node: PatternChoice, follow: Firsts) -> int:
    each = [count_ways(branch, follow) for branch in node.branches]
    starts = [first_atoms(b) | follow if nullable(b) else first_atoms(b) for b in node.branches]
    clash = any(may_overlap(a, b) for a, b in combinations(starts, 2))
    return min(sum(each), CAP) if clash else max(each)


def _repeat(node: Repeat, follow: Firsts) -> int:
    again = first_atoms(node.body)
    each = count_ways(node.body, follow | again if node.most > 1 else follow)
    counts = range(node.least if may_overlap(again, follow) else node.most, node.most + 1)
    if each == 1:
        return len(counts)
    return min(sum(min(each, CAP) ** count if count < 30 else CAP for count in counts), CAP)


def _firsts_of_row(parts: tuple[Node, ...], first: Firsts) -> Firsts:
    for part in parts:
        first |= first_atoms(part)
        if not nullable(part):
            break
    return first


def may_overlap(left: Firsts, right: Firsts) -> bool:
    """Return whether some phrase may satisfy an atom of each set."""
    return any(_overlap(a, b) for a in left for b in right)


@lru_cache(maxsize=1 << 16)
def _overlap(left: Atom, right: Atom) -> bool:
    return not any(exclusive(a, b) for a in left.tests for b in right.tests)


def exclusive(a: Test, b: Test) -> bool:
    """Return whether no phrase passes both tests."""
    if a.attribute != b.attribute:
        return False
    both = {a.operator, b.operator}
    if "not" in both:
        values = {*a.values, *b.values}
        return both == {"not", "has"} or (both == {"not", "="} and "false" not in values)
    if a.attribute not in SINGLE_VALUED:
        return False
    if both == {"="}:
        return not set(a.values) & set(b.values)
    if both == {"=", "!="}:
        equal, other = (a, b) if a.operator == "=" else (b, a)
        return set(equal.values) <= set(other.values)
    return False


def repeats_empty(node: Node) -> bool:
    """Return whether a part that can be empty is repeated."""
    if isinstance(node, Repeat) and node.most > 1 and nullable(node.body):
        return True
    return any(map(repeats_empty, children(node)))


def deterministic(node: Node) -> bool:
    """Return whether the first match is the longest: at most one way to go on at every phrase."""
    return count_ways(node) == 1
