"""Syntax trees of patterns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

MOST = 50  # rounds of a repeat, also of one without a bound


@dataclass(frozen=True, slots=True)
class Test:
    """One test of one attribute; `operator` is one of = != ~ < > has not."""

    __test__ = False  # not a test of the test suite

    attribute: str
    operator: str
    values: tuple[str, ...] = ()
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Atom:
    """One phrase, of which all tests hold; without tests any phrase."""

    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Row:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    body: Node
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Label:
    name: str
    body: Node


Node = Atom | Row | Choice | Repeat | Label


def children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Row):
        return node.parts
    if isinstance(node, Choice):
        return node.branches
    return (node.body,) if isinstance(node, Repeat | Label) else ()


def walked(node: Node) -> Iterator[Node]:
    """The node and everything below it, in the order of the text."""
    yield node
    for child in children(node):
        yield from walked(child)


def atoms(node: Node) -> Iterator[Atom]:
    return (found for found in walked(node) if isinstance(found, Atom))


def labels(node: Node) -> set[str]:
    return {found.name for found in walked(node) if isinstance(found, Label)}


def nullable(node: Node) -> bool:
    """Whether it can match nothing at all."""
    if isinstance(node, Atom):
        return False
    if isinstance(node, Repeat):
        return node.least == 0 or nullable(node.body)
    if isinstance(node, Choice):
        return any(map(nullable, node.branches))
    return all(map(nullable, children(node)))


def longest(node: Node) -> int:
    """The most phrases that it can match."""
    if isinstance(node, Atom):
        return 1
    if isinstance(node, Repeat):
        return node.most * longest(node.body)
    sizes = map(longest, children(node))
    return max(sizes) if isinstance(node, Choice) else sum(sizes)


def single(node: Node) -> tuple[Atom, ...]:
    """The atoms of a node that is one of several phrases and has no labels; else nothing."""
    if isinstance(node, Atom):
        return (node,)
    if not isinstance(node, Choice):
        return ()
    each = [single(branch) for branch in node.branches]
    return tuple(atom for found in each for atom in found) if all(each) else ()


def reversed_(node: Node) -> Node:
    """What matches the same phrases in the opposite order."""
    if isinstance(node, Row):
        return Row(tuple(reversed_(part) for part in reversed(node.parts)))
    if isinstance(node, Choice):
        return Choice(tuple(map(reversed_, node.branches)))
    if isinstance(node, Repeat):
        return Repeat(reversed_(node.body), node.least, node.most)
    return Label(node.name, reversed_(node.body)) if isinstance(node, Label) else node
