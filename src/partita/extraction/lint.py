"""What a domain's author should know before a message is read: names that nothing has, rules
that never win, patterns that are slow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from partita.extraction.ambiguity import apart
from partita.extraction.clauses import OWN_TESTS
from partita.extraction.cutting import cut_words
from partita.extraction.domain import (
    At,
    Call,
    Domain,
    Filled,
    Literally,
    Phase,
    Reference,
    Rule,
    Value,
)
from partita.extraction.lint_order import never_wins
from partita.extraction.problems import Problem
from partita.extraction.stage import cost
from partita.extraction.syntax import Atom, Node, Test, atoms

_HYPHEN = re.compile(r"\w+(?:-\w+)+")

SLOW = 50_000  # ways to match

WORDS = frozenset(
    {
        *("kind", "text", "word", "lemma", "tag", "shape", "sort", "says", "known"),
        *("region", "column", "cased"),
    }
)


def linted(domain: Domain) -> list[Problem]:
    """Everything that can be told without a text, in the order of the files."""
    found = [*_sorts(domain), *_slots(domain), *_words(domain)]
    kinds, attributes = {"word"}, set(WORDS)
    for phase in domain.phases:
        found += _phase(phase, kinds, attributes)
        found += never_wins(phase, domain.sorts.below)
        kinds |= {str(kind.value) for kind in _kinds(phase)}
        attributes |= {name for rule in phase.rules for name in rule.build}
    return sorted(found, key=lambda one: (one.at.file, one.at.line, one.at.column, one.said))


def _kinds(phase: Phase) -> Iterator[Literally]:
    for rule in phase.rules:
        if isinstance(kind := rule.build.get("kind"), Literally):
            yield kind


def _patterns(rule: Rule) -> Iterator[Node]:
    yield from (node for node in (rule.pattern, rule.before, rule.after) if node is not None)


def _tests(rule: Rule) -> Iterator[Test]:
    own = OWN_TESTS if rule.clause else frozenset()
    for pattern in _patterns(rule):
        for atom in atoms(pattern):
            yield from (test for test in atom.tests if test not in own)


def _sorts(domain: Domain) -> Iterator[Problem]:
    """Sorts that the domain does not declare."""
    for at, name in _named_sorts(domain):
        if name not in domain.sorts:
            yield Problem(at, f"unknown sort {name}")


def _named_sorts(domain: Domain) -> Iterator[tuple[At, str]]:
    for entry in domain.entries:
        yield from ((entry.at, name) for name in entry.sorts)
    for phase in domain.phases:
        for rule in phase.rules:
            tested = {name for t in _tests(rule) if t.attribute == "sort" for name in t.values}
            given = rule.template.sort if rule.template else rule.build.get("sort")
            yield from ((rule.at, name) for name in sorted(tested | set(_literal(given))))


def _literal(value: Value | None) -> Iterator[str]:
    """The sorts that a value names outright."""
    if isinstance(value, Literally):
        each = value.value if isinstance(value.value, tuple) else (value.value,)
        yield from (str(one).upper() for one in each)
    if isinstance(value, Call):
        for one in value.arguments:
            yield from _literal(one)


def _slots(domain: Domain) -> Iterator[Problem]:
    """Slots that the domain does not declare."""
    known = ", ".join(domain.schema.slots) or "none"
    for at, name in _named_slots(domain):
        if name not in domain.schema.slots:
            yield Problem(at, f"unknown slot {name}; the slots are {known}")
    for wanted in domain.templates.values():
        if wanted.sort not in domain.sorts:
            yield Problem(domain.at, f"templates: unknown sort {wanted.sort}")


def _named_slots(domain: Domain) -> Iterator[tuple[At, str]]:
    for entry in domain.entries:
        yield from ((entry.at, slot) for slot in entry.says)
    for phase in domain.phases:
        for rule in phase.rules:
            says = rule.build.get("says")
            named = [*says.slots] if isinstance(says, Filled) else []
            named += [*rule.template.slots] if rule.template else []
            yield from ((rule.at, slot) for slot in named)
    for wanted in domain.templates.values():
        yield from ((domain.at, slot) for slot in wanted.needs)


def _words(domain: Domain) -> Iterator[Problem]:
    """Words with hyphens that no message has, as they are cut into several."""
    multiwords = {cut_words(word) for entry in domain.entries for word in entry.words}
    for phase in domain.phases:
        for rule in phase.rules:
            tests = [t for t in _tests(rule) if t.attribute == "word" and t.operator == "="]
            for word in sorted({one for t in tests for one in t.values if _HYPHEN.fullmatch(one)}):
                if len(pieces := cut_words(word)) > 1 and pieces not in multiwords:
                    said = f"rule {rule.name!r}: the word {word!r} is cut into {' '.join(pieces)}"
                    yield Problem(rule.at, said, error=False)


def _phase(phase: Phase, kinds: set[str], attributes: set[str]) -> Iterator[Problem]:
    for rule in phase.rules:
        yield from _unknown_kinds(rule, kinds)
        named = {test.attribute for test in _tests(rule)} | set(_referred(rule))
        for name in sorted(named - attributes):
            said = f"rule {rule.name!r}: no earlier phase sets the attribute {name!r}"
            yield Problem(rule.at, said, error=False)
        if any(map(_impossible, (atom for node in _patterns(rule) for atom in atoms(node)))):
            yield Problem(rule.at, f"rule {rule.name!r}: tests that nothing can pass together")
        if (many := cost(rule)) > SLOW:
            said = f"rule {rule.name!r} could match the same phrases in {many:,} ways: it is slow"
            yield Problem(rule.at, said, error=False)


def _unknown_kinds(rule: Rule, kinds: set[str]) -> Iterator[Problem]:
    """Kinds that nothing is; an error, if a test has no other."""
    for test in sorted({t for t in _tests(rule) if t.attribute == "kind"}, key=repr):
        missing = [value for value in test.values if value not in kinds]
        if missing and test.operator in ("=", "!="):
            hopeless = len(missing) == len(test.values) and test.operator == "="
            said = f"rule {rule.name!r}: no earlier phase builds {', '.join(missing)}"
            yield Problem(rule.at, said, error=hopeless)


def _referred(rule: Rule) -> Iterator[str]:
    values: Iterable[Value] = rule.build.values()
    if rule.template:
        sort = [rule.template.sort] if rule.template.sort else []
        values = [*rule.template.slots.values(), *rule.template.says, *sort]
    for value in values:
        yield from _attributes(value)


def _attributes(value: Value) -> Iterator[str]:
    if isinstance(value, Reference) and value.attribute:
        yield value.attribute
    inside = value.arguments if isinstance(value, Call) else ()
    for one in (*inside, *(value.slots.values() if isinstance(value, Filled) else ())):
        yield from _attributes(one)


def _impossible(atom: Atom) -> bool:
    return any(apart(a, b) for n, a in enumerate(atom.tests) for b in atom.tests[n + 1 :])
