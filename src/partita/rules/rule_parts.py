"""Read the parts of a rule: patterns, macros, values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from partita.rules.ambiguity import REFUSED, Firsts, empty_rounds, ways
from partita.rules.domain import At, Call, Contributing, Filled, Literally, Reference, Value
from partita.rules.patterns import Macro, Refused, names_in, parse_macro
from partita.rules.syntax import Node, longest, nullable
from partita.rules.value_syntax import parse_value
from partita.rules.yaml import (
    List,
    Map,
    Text,
    Tree,
    keys_among,
    list_of,
    map_of,
    plain_value,
    refuse,
    text_of,
)
from partita.templates.words import symbol

FURTHEST = 5_000  # phrases of one match


def macros_of(tree: Map) -> dict[str, Macro]:
    """The macros of a file, whichever order they stand in."""
    texts = {key.value: text_of(value, f"macro {key.value}", key.at) for key, value in tree.pairs}
    for key, _ in tree.pairs:
        if not key.value.isupper() or not key.value.replace("_", "A").isalnum():
            refuse(f"macro {key.value!r} must be a name in upper case", key.at)
    uses = {name: sorted(names_in(text.value) & texts.keys()) for name, text in texts.items()}
    try:
        order = tuple(TopologicalSorter(uses).static_order())
    except CycleError as error:
        names = error.args[1]
        refuse(f"macros name each other in a circle: {' > '.join(names)}", texts[names[0]].at)
    made: dict[str, Macro] = {}
    for name in order:
        made[name] = parsed_macro(texts[name], made)
    return made


def parsed_macro(text: Text, macros: Mapping[str, Macro]) -> Macro:
    """A pattern of a file, its errors at their place there."""
    try:
        return parse_macro(text.value, macros)
    except Refused as error:
        refuse(error.problem, text.within(error.at))


def pattern_of(text: Text, macros: Mapping[str, Macro], follow: Firsts = frozenset()) -> Node:
    """A pattern that a rule may be tried with: it cannot match nothing, nor explode."""
    node = parsed_macro(text, macros).node
    safe(node, text.at, follow)
    return node


def safe(node: Node, at: At, follow: Firsts = frozenset()) -> None:
    """Refuse what could match nothing, or the same phrases in too many ways."""
    if nullable(node):
        refuse("the pattern could match nothing at all", at)
    if empty_rounds(node):
        refuse("the pattern repeats something that could be nothing", at)
    if longest(node) > FURTHEST:
        refuse(f"the pattern could match more than {FURTHEST:,} phrases", at)
    if (many := ways(node, follow)) > REFUSED:
        told = f"{many:,}" if many < 10**9 else "a billion or more"
        problem = f"the pattern could match the same phrases in {told} ways"
        refuse(f"{problem}; bound its repeats, or do not repeat repeats", at)


def value_of(tree: Tree, what: str) -> Value:
    """A value of `build` or `slots`."""
    if isinstance(tree, Map):
        return Filled({symbol(key.value): value_of(one, what) for key, one in tree.pairs})
    if isinstance(tree, List):
        return Literally(tuple(_literal(one, what) for one in tree.items))
    if not tree.plain and not tree.value.startswith("$") and "(" not in tree.value:
        return Literally(tree.value)
    plain = plain_value(tree)
    if not isinstance(plain, str):
        return Literally(plain)
    try:
        return parse_value(plain)
    except Refused as error:
        refuse(error.problem, tree.within(error.at))


def _literal(tree: Tree, what: str) -> object:
    """A member of a list that is given: true and false are texts there."""
    if not isinstance(tree, Text):
        refuse(f"{what}: expected a list of texts or numbers", tree.at)
    plain = plain_value(tree)
    return plain if isinstance(plain, int | float) and not isinstance(plain, bool) else tree.value


def build_of(tree: Tree | None, known: set[str], at: At) -> dict[str, Value]:
    """What a rule of a phase sets in the phrase that it builds."""
    given = map_of(tree, "build", at)
    for key, _ in given.pairs:
        if not key.value.isidentifier():
            refuse(f"{key.value!r} is no name of an attribute", key.at)
    built = {key.value: value_of(one, f"build {key.value}") for key, one in given.pairs}
    kind = built.get("kind")
    if not isinstance(kind, Literally) or not isinstance(kind.value, str):
        refuse("build must say which kind of phrase it is: {kind: ng}", given.at)
    for (_, one), value in zip(given.pairs, built.values(), strict=True):
        check_labels(value, known, one.at)
    return built


def contributing_of(tree: Tree | None, known: set[str], at: At) -> Contributing:
    """What a rule of the domain phase says, and about which phrase."""
    given = map_of(tree, "template", at)
    keys_among(given, "a template", ("about", "sort", "says", "slots"))
    about = text_of(given.get("about"), "about of a template", given.at)
    subject = value_of(about, "about")
    if not isinstance(subject, Reference) or subject.which != "text":
        refuse("about must be a label: $what", about.at)
    slots = map_of(given.get("slots"), "slots", given.at)
    filled = {symbol(key.value): value_of(one, key.value) for key, one in slots.pairs}
    sort = given.get("sort")
    says = given.get("says")
    several = says.items if isinstance(says, List) else () if says is None else (says,)
    made = Contributing(
        subject.label,
        filled,
        value_of(sort, "sort") if sort is not None else None,
        tuple(value_of(one, "says") for one in several),
    )
    for value in (subject, *filled.values(), *made.says, *([made.sort] if made.sort else [])):
        check_labels(value, known, given.at)
    return made


def check_labels(value: Value, known: set[str], at: At) -> None:
    """Refuse a reference to a label that the pattern does not have."""
    for label in referred(value):
        if label not in known:
            names = ", ".join(sorted(known)) or "none"
            refuse(f"unknown label ${label}; the pattern's labels are {names}", at)


def referred(value: Value) -> Iterator[str]:
    if isinstance(value, Reference):
        yield value.label
    inside = value.arguments if isinstance(value, Call) else ()
    for one in (*inside, *(value.slots.values() if isinstance(value, Filled) else ())):
        yield from referred(one)


def examples_of(tree: Tree | None, at: At) -> tuple[str, ...]:
    return tuple(text_of(one, "an example", at).value for one in list_of(tree, "examples", at))
