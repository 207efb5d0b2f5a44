"""Syntax trees of patterns, and a bound on the number of ways in which one can match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

MOST = 50  # most rounds of a repeat, also of * and +


@dataclass(frozen=True, slots=True)
class Test:
    """A test of one attribute; `operator` is one of = != ~ < > has not."""

    __test__ = False  # not collected by pytest

    attribute: str
    operator: str
    values: tuple[str, ...] = ()
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Atom:
    """One phrase that passes all tests; without tests, any phrase."""

    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class PatternRow:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class PatternChoice:
    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    body: Node
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class LabelledPattern:
    name: str
    body: Node


Node = Atom | PatternRow | PatternChoice | Repeat | LabelledPattern


def children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, PatternRow):
        return node.parts
    if isinstance(node, PatternChoice):
        return node.branches
    return (node.body,) if isinstance(node, Repeat | LabelledPattern) else ()


def walk_pattern(node: Node) -> Iterator[Node]:
    """Yield the node and all nodes below it, in text order."""
    yield node
    for child in children(node):
        yield from walk_pattern(child)


def atoms(node: Node) -> Iterator[Atom]:
    return (child for child in walk_pattern(node) if isinstance(child, Atom))


def labels(node: Node) -> set[str]:
    return {child.name for child in walk_pattern(node) if isinstance(child, LabelledPattern)}


def nullable(node: Node) -> bool:
    """Return whether a node can match the empty sequence."""
    if isinstance(node, Atom):
        return False
    if isinstance(node, Repeat):
        return node.least == 0 or nullable(node.body)
    if isinstance(node, PatternChoice):
        return any(map(nullable, node.branches))
    return all(map(nullable, children(node)))


def longest(node: Node) -> int:
    """Return the most phrases that a node can match."""
    if isinstance(node, Atom):
        return 1
    if isinstance(node, Repeat):
        return node.most * longest(node.body)
    sizes = map(longest, children(node))
    return max(sizes) if isinstance(node, PatternChoice) else sum(sizes)


def single_phrase(node: Node) -> tuple[Atom, ...]:
    """Return the atoms of a node that matches exactly one phrase and has no labels, else ()."""
    if isinstance(node, Atom):
        return (node,)
    if not isinstance(node, PatternChoice):
        return ()
    each = [single_phrase(branch) for branch in node.branches]
    return tuple(atom for group in each for atom in group) if all(each) else ()


def reverse(node: Node) -> Node:
    """Return the node that matches the same phrases in reverse order."""
    if isinstance(node, PatternRow):
        return PatternRow(tuple(reverse(part) for part in reversed(node.parts)))
    if isinstance(node, PatternChoice):
        return PatternChoice(tuple(map(reverse, node.branches)))
    if isinstance(node, Repeat):
        return Repeat(reverse(node.body), node.least, node.most)
    return (
        LabelledPattern(node.name, reverse(node.body))
        if isinstance(node, LabelledPattern)
        else node
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
