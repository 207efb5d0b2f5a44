"""Syntax trees of patterns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

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
