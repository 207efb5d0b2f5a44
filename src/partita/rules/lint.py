"""Report problems in a domain's rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from partita.records.documents import Region
from partita.rules.ambiguity import apart
from partita.rules.cascade import Cascade, Columns, Step
from partita.rules.clauses import OWN_TESTS
from partita.rules.domain import (
    At,
    Call,
    Domain,
    Filled,
    Literally,
    Phase,
    Problem,
    Reference,
    Rule,
    Value,
)
from partita.rules.phases import cost
from partita.rules.predicates import Below
from partita.rules.syntax import Atom, Choice, Label, Node, Repeat, Row, Test, atoms
from partita.text.tokens import lower_words

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


Read = Callable[[str], tuple[Columns, Sequence[str], Sequence[Region]]]  # tokens, tags, regions


def failing(cascade: Cascade, read: Read) -> Iterator[Problem]:
    """Examples that do not match, as errors; where another rule wins, or the rule is of a domain
    that this one extends, as warnings."""
    for n, phase in enumerate(cascade.domain.phases):
        for rule in phase.rules:
            for example in rule.examples:
                yield from _failing(cascade, n, rule, example, read)


def _failing(
    cascade: Cascade, number: int, rule: Rule, example: str, read: Read
) -> Iterator[Problem]:
    steps: list[Step] = []
    tokens, tags, regions = read(example)
    cascade.run(tokens, tags, regions, steps.append)
    step = steps[number]
    family = _family(cascade.domain.phases[number], rule)
    if any(found in family for found, _ in step.found.matches):
        return
    said = f"rule {rule.name!r}: the example {example!r}"
    others = _matching(step, family)
    if others is None:
        yield Problem(rule.at, f"{said} does not match", error=_own(cascade, rule))
    else:
        winner = cascade.domain.phases[number].rules[others].name
        yield Problem(rule.at, f"{said} is won by {winner!r}", error=False)


def _own(cascade: Cascade, rule: Rule) -> bool:
    """Whether the rule is the domain's own: what it extends may be read with other words."""
    return Path(rule.at.file).parent.parent == Path(cascade.domain.at.file).parent


def _family(phase: Phase, rule: Rule) -> set[int]:
    """The rule, or all forms of its clause."""
    return {
        n
        for n, other in enumerate(phase.rules)
        if other is rule or (rule.clause and other.clause == rule.clause)
    }


def _matching(step: Step, family: set[int]) -> int | None:
    """If one of the rules matches at all: who won where it does."""
    for n in range(len(step.characters)):
        matching = {number for number, _ in step.stage.matching.contenders(step.characters, n)}
        if matching & family:
            return _winner(step, n)
    return None


def _winner(step: Step, at: int) -> int:
    for number, spans in step.found.matches:
        if spans[0][0] <= at < spans[0][1]:
            return number
    return step.found.matches[0][0]


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
    multiwords = {lower_words(word) for entry in domain.entries for word in entry.words}
    for phase in domain.phases:
        for rule in phase.rules:
            tests = [t for t in _tests(rule) if t.attribute == "word" and t.operator == "="]
            for word in sorted({one for t in tests for one in t.values if _HYPHEN.fullmatch(one)}):
                if len(pieces := lower_words(word)) > 1 and pieces not in multiwords:
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
