"""Report problems in a domain's rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from partita.core.templates import Region
from partita.rules.cascade import Cascade, CascadeStep, TokenColumns, cost
from partita.rules.domain import (
    At,
    Call,
    Constant,
    Phase,
    Reference,
    Rule,
    RuleProblem,
    RuleSet,
    SlotMapping,
    Value,
)
from partita.rules.phase_files import OWN_TESTS
from partita.rules.syntax import (
    Atom,
    Node,
    Test,
    atoms,
    exclusive,
)
from partita.templates.slots import StringsType
from partita.text.tokens import lower_words

# tokens, tags and regions of a text
Read = Callable[[str], tuple[TokenColumns, Sequence[str], Sequence[Region]]]


def failing_examples(cascade: Cascade, read: Read) -> Iterator[RuleProblem]:
    """Yield examples that do not match.

    These are errors; they are warnings if another rule wins, or if the rule belongs to an extended
    domain.
    """
    for n, phase in enumerate(cascade.domain.phases):
        for rule in phase.rules:
            for example in rule.examples:
                yield from _check_example(cascade, n, rule, example, read)


def _check_example(
    cascade: Cascade, number: int, rule: Rule, example: str, read: Read
) -> Iterator[RuleProblem]:
    steps: list[CascadeStep] = []
    tokens, tags, regions = read(example)
    cascade.run(tokens, tags, regions, steps.append)
    step = steps[number]
    family = _family(cascade.domain.phases[number], rule)
    if any(matched in family for matched, _ in step.matches.matches):
        return
    problem = f"rule {rule.name!r}: the example {example!r}"
    winner_number = _winner_at_match(step, family)
    if winner_number is None:
        yield RuleProblem(rule.at, f"{problem} does not match", error=_is_own(cascade, rule))
    else:
        winner = cascade.domain.phases[number].rules[winner_number].name
        yield RuleProblem(rule.at, f"{problem} is won by {winner!r}", error=False)


def _is_own(cascade: Cascade, rule: Rule) -> bool:
    """Return whether the rule belongs to the domain itself, not to the one it extends."""
    return Path(rule.at.file).parent.parent == Path(cascade.domain.at.file).parent


def _family(phase: Phase, rule: Rule) -> set[int]:
    """Return the indices of the rule, or of all forms of its clause."""
    return {
        n
        for n, other in enumerate(phase.rules)
        if other is rule or (rule.clause and other.clause == rule.clause)
    }


def _winner_at_match(step: CascadeStep, family: set[int]) -> int | None:
    """Return the winner where one of the rules matches, or None if none matches."""
    for n in range(len(step.characters)):
        matching = {number for number, _ in step.stage.matching.contenders(step.characters, n)}
        if matching & family:
            return _winner(step, n)
    return None


def _winner(step: CascadeStep, at: int) -> int:
    for number, spans in step.matches.matches:
        if spans[0][0] <= at < spans[0][1]:
            return number
    return step.matches.matches[0][0]


_HYPHEN = re.compile(r"\w+(?:-\w+)+")

SLOW = 50_000  # ways to match

WORDS = frozenset(
    {
        *("kind", "text", "word", "lemma", "tag", "shape", "sort", "says", "known"),
        *("region", "column", "cased"),
    }
)


EVERY = frozenset({"kind", "text", "region", "column", "says"})  # attributes of every phrase
_OF_RULE = re.compile(r"^rule '.*?': ")


def lint(domain: RuleSet) -> list[RuleProblem]:
    """Return all problems that can be found without a text, in the order of the files."""
    problems = [*_types(domain), *_slots(domain), *_words(domain), *_spellings(domain)]
    kinds, attributes = {"word"}, set(WORDS)
    by_kind: dict[str, set[str]] = {"word": set(WORDS)}
    for phase in domain.phases:
        problems += _phase(phase, kinds, attributes)
        problems += _impossible_attributes(phase, by_kind)
        kinds |= {str(kind.value) for kind in _kinds(phase)}
        attributes |= {name for rule in phase.rules for name in rule.build}
        for rule in phase.rules:
            if isinstance(kind := rule.build.get("kind"), Constant):
                by_kind.setdefault(str(kind.value), set(EVERY)).update(rule.build)
    return _each_once(
        sorted(
            problems,
            key=lambda problem: (problem.at.file, problem.at.line, problem.at.column, problem.said),
        )
    )


def _each_once(problems: Iterable[RuleProblem]) -> list[RuleProblem]:
    """Return each mistake once: one in a macro shows in every rule that uses the macro."""
    found: dict[tuple[str, str], list[RuleProblem]] = {}
    for problem in problems:
        found.setdefault((problem.at.file, _OF_RULE.sub("", problem.said)), []).append(problem)
    return [
        some[0]
        if len(some) == 1
        else replace(some[0], said=f"{some[0].said} (also in {len(some) - 1} other places)")
        for some in found.values()
    ]


def _impossible_attributes(phase: Phase, by_kind: Mapping[str, set[str]]) -> Iterator[RuleProblem]:
    """Yield tests that no phrase of the tested kind can pass, such as [kind=ng, word=it]."""
    for rule in phase.rules:
        added = OWN_TESTS if rule.clause else frozenset()
        for atom in (atom for node in _patterns(rule) for atom in atoms(node)):
            kinds = [t for t in atom.tests if t.attribute == "kind" and t.operator == "="]
            if not kinds or not all(kind in by_kind for kind in kinds[0].values):
                continue
            had = set().union(*(by_kind[kind] for kind in kinds[0].values))
            for test in atom.tests:
                if test.operator not in ("not", "!=") and test.attribute not in had | {"kind"}:
                    if test in added or kinds[0] in added:
                        continue
                    kind = ", ".join(kinds[0].values)
                    problem = f"no phrase of kind {kind} has the attribute {test.attribute!r}"
                    yield RuleProblem(rule.at, f"rule {rule.name!r}: {problem}")


def _kinds(phase: Phase) -> Iterator[Constant]:
    for rule in phase.rules:
        if isinstance(kind := rule.build.get("kind"), Constant):
            yield kind


def _patterns(rule: Rule) -> Iterator[Node]:
    yield from (node for node in (rule.pattern, rule.before, rule.after) if node is not None)


def _tests(rule: Rule) -> Iterator[Test]:
    added = OWN_TESTS if rule.clause else frozenset()
    for pattern in _patterns(rule):
        for atom in atoms(pattern):
            yield from (test for test in atom.tests if test not in added)


def _types(domain: RuleSet) -> Iterator[RuleProblem]:
    """Yield types that the domain does not declare."""
    for at, name in _named_types(domain):
        if name not in domain.types:
            yield RuleProblem(at, f"unknown sort {name}")


def _named_types(domain: RuleSet) -> Iterator[tuple[At, str]]:
    for entry in domain.entries:
        yield from ((entry.at, name) for name in entry.types)
    for phase in domain.phases:
        for rule in phase.rules:
            tested = {name for t in _tests(rule) if t.attribute == "sort" for name in t.values}
            value = rule.template.type if rule.template else rule.build.get("sort")
            yield from ((rule.at, name) for name in sorted(tested | set(_literal(value))))


def _literal(value: Value | None) -> Iterator[str]:
    """Yield the types that a value names literally."""
    if isinstance(value, Constant):
        members = value.value if isinstance(value.value, tuple) else (value.value,)
        yield from (str(member).upper() for member in members)
    if isinstance(value, Call):
        for member in value.arguments:
            yield from _literal(member)


def _slots(domain: RuleSet) -> Iterator[RuleProblem]:
    """Yield slots that the domain does not declare."""
    names = ", ".join(domain.schema.slots) or "none"
    for at, name in _named_slots(domain):
        if name not in domain.schema.slots:
            yield RuleProblem(at, f"unknown slot {name} (expected {names})")
    for template in domain.templates.values():
        if template.type not in domain.types:
            yield RuleProblem(domain.at, f"templates: unknown sort {template.type}")


def _named_slots(domain: RuleSet) -> Iterator[tuple[At, str]]:
    for entry in domain.entries:
        yield from ((entry.at, slot) for slot in entry.says)
    for phase in domain.phases:
        for rule in phase.rules:
            says = rule.build.get("says")
            slots = [*says.slots] if isinstance(says, SlotMapping) else []
            slots += [*rule.template.slots, *rule.template.roles] if rule.template else []
            yield from ((rule.at, slot) for slot in slots)
    for template in domain.templates.values():
        yield from ((domain.at, slot) for slot in template.needs)


def _spellings(domain: RuleSet) -> Iterator[RuleProblem]:
    """Yield texts of a slot that another rule or entry writes in another case."""
    first: dict[tuple[str, str], str] = {}
    for at, slot, text in _slot_texts(domain):
        other = first.setdefault((slot, text.casefold()), text)
        if other != text and isinstance(domain.schema.slots.get(slot), StringsType):
            problem = f"slot {slot} has {text!r} here and {other!r} elsewhere (expected one case)"
            yield RuleProblem(at, problem, error=False)


def _slot_texts(domain: RuleSet) -> Iterator[tuple[At, str, str]]:
    """Yield the texts that entries and rules give to slots, each with its place."""
    values = [
        (entry.at, slot, value) for entry in domain.entries for slot, value in entry.says.items()
    ]
    for rule in (rule for phase in domain.phases for rule in phase.rules):
        says = rule.build.get("says")
        slots = dict(says.slots) if isinstance(says, SlotMapping) else {}
        slots |= rule.template.slots if rule.template else {}
        values += [
            (rule.at, slot, value.value)
            for slot, value in slots.items()
            if isinstance(value, Constant)
        ]
    for at, slot, value in values:
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and text != "$word":
                yield at, slot, text


def _words(domain: RuleSet) -> Iterator[RuleProblem]:
    """Yield hyphenated words that never match because they are split into tokens."""
    multiwords = {lower_words(word) for entry in domain.entries for word in entry.words}
    for phase in domain.phases:
        for rule in phase.rules:
            tests = [t for t in _tests(rule) if t.attribute == "word" and t.operator == "="]
            for word in sorted(
                {value for t in tests for value in t.values if _HYPHEN.fullmatch(value)}
            ):
                if len(pieces := lower_words(word)) > 1 and pieces not in multiwords:
                    problem = (
                        f"rule {rule.name!r}: the word {word!r} is split into {' '.join(pieces)}"
                    )
                    yield RuleProblem(rule.at, problem, error=False)


def _phase(phase: Phase, kinds: set[str], attributes: set[str]) -> Iterator[RuleProblem]:
    for rule in phase.rules:
        yield from _unknown_kinds(rule, kinds)
        names = {test.attribute for test in _tests(rule)} | set(_attributes_used(rule))
        for name in sorted(names - attributes):
            problem = f"rule {rule.name!r}: no earlier phase sets the attribute {name!r}"
            yield RuleProblem(rule.at, problem, error=False)
        if any(map(_impossible, (atom for node in _patterns(rule) for atom in atoms(node)))):
            yield RuleProblem(rule.at, f"rule {rule.name!r}: no phrase can pass all tests")
        if (many := cost(rule)) > SLOW:
            problem = f"rule {rule.name!r} is slow: it can match the same phrases in {many:,} ways"
            yield RuleProblem(rule.at, problem, error=False)


def _unknown_kinds(rule: Rule, kinds: set[str]) -> Iterator[RuleProblem]:
    """Yield kinds that no earlier phase builds; an error if a test has no other kind."""
    for test in sorted({t for t in _tests(rule) if t.attribute == "kind"}, key=repr):
        missing = [value for value in test.values if value not in kinds]
        if missing and test.operator in ("=", "!="):
            hopeless = len(missing) == len(test.values) and test.operator == "="
            problem = f"rule {rule.name!r}: no earlier phase builds {', '.join(missing)}"
            yield RuleProblem(rule.at, problem, error=hopeless)


def _attributes_used(rule: Rule) -> Iterator[str]:
    values: Iterable[Value] = rule.build.values()
    if rule.template:
        entity_type = [rule.template.type] if rule.template.type else []
        values = [*rule.template.slots.values(), *rule.template.says, *entity_type]
    for value in values:
        yield from _attributes(value)


def _attributes(value: Value) -> Iterator[str]:
    if isinstance(value, Reference) and value.attribute:
        yield value.attribute
    inside = value.arguments if isinstance(value, Call) else ()
    for part in (*inside, *(value.slots.values() if isinstance(value, SlotMapping) else ())):
        yield from _attributes(part)


def _impossible(atom: Atom) -> bool:
    return any(exclusive(a, b) for n, a in enumerate(atom.tests) for b in atom.tests[n + 1 :])
