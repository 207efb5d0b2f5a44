"""Expand clause rules into one rule for each grammatical form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from partita.rules.domain import At, Rule, TemplateRule
from partita.rules.syntax import (
    Atom,
    LabelledPattern,
    Node,
    PatternChoice,
    PatternRow,
    Repeat,
    Test,
    atoms,
    labels,
)

FORMS = ("active", "passive", "relative", "reduced", "infinitive", "nominal")
MOST_PHRASES = 3  # prepositional phrases after a clause


def _phrase(**tests: str) -> Atom:
    """Return an atom whose attributes have these values; a leading ! negates."""
    return Atom(
        tuple(
            Test(name, "!=" if value.startswith("!") else "=", tuple(value.lstrip("!").split("|")))
            for name, value in tests.items()
        )
    )


_PREPOSITION = _phrase(tag="IN|TO")
_ADVERB = PatternChoice((_phrase(tag="RB|RBR|RBS"), _phrase(kind="when|date|location")))
_THING = _phrase(kind="ng|date|number|measure|name")
_ASIDE = PatternChoice((_ADVERB, PatternRow((_PREPOSITION, _THING))))
_RELATIVE = PatternChoice((_phrase(word="which|that|who"), _phrase(kind="ng", person="relative")))
_COMMA = Repeat(_phrase(word=","), 0, 1)
_GAP = Repeat(_ASIDE, 0, 2)

# Tests that the transformations add themselves; a domain need not build all of them.
OWN_TESTS = frozenset(
    test for node in (_ASIDE, _RELATIVE, _COMMA) for atom in atoms(node) for test in atom.tests
)


@dataclass(frozen=True, slots=True)
class Clause:
    """Who does what to whom; `others` are the phrases of each preposition."""

    name: str
    verbs: tuple[str, ...]
    subject: Node | None = None
    object: Node | None = None
    others: Mapping[str, Node] = field(default_factory=dict)
    nominals: tuple[str, ...] = ()
    forms: tuple[str, ...] = FORMS

    @property
    def labels(self) -> set[str]:
        """Return the labels that its template may use."""
        arguments = [self.subject, self.object, *self.others.values()]
        inside = {name for node in arguments if node for name in labels(node)}
        return {"subject", "verb", "object", *map(_preposition_label, self.others), *inside}


def clause_rules(
    clause: Clause,
    template: TemplateRule,
    priority: int = 0,
    examples: tuple[str, ...] = (),
    at: At | None = None,
) -> tuple[Rule, ...]:
    """Return the rules of the clause's forms that contain the phrase of the template."""
    rules: list[Rule] = []
    for form in clause.forms:
        for pattern in _patterns(clause, form):
            if template.about in labels(pattern):
                name = f"{clause.name} ({form})"
                rule_examples = () if rules else examples
                rule = Rule(
                    name,
                    pattern,
                    None,
                    None,
                    priority,
                    {},
                    template,
                    rule_examples,
                    at or At(),
                    clause.name,
                )
                rules.append(rule)
    return tuple(rules)


def _patterns(clause: Clause, form: str) -> Iterator[Node]:
    subject, object_ = _labelled("subject", clause.subject), _labelled("object", clause.object)
    tail, by = _tail(clause, agent=False), _tail(clause, agent=True)
    doing = _verb(clause, voice="active|either", form="!infinitive|gerund")
    done = _verb(clause, voice="passive")
    if form == "nominal":
        yield from _nominal(clause, object_, by)
    elif not clause.verbs:
        return
    elif form == "active":
        yield _row(subject, subject and _GAP, doing, object_, tail)
    elif form == "infinitive":
        auxiliary = (_GAP, _phrase(kind="vg"), Repeat(_ADVERB, 0, 1))  # "have yet to attack"
        led = Repeat(_row(subject, *auxiliary), 0, 1) if subject else None
        intent = _verb(clause, form="infinitive|gerund", voice="active|either")
        yield _row(led, intent, object_, tail)
    elif form == "relative":
        if subject:
            yield _row(subject, _COMMA, _RELATIVE, _GAP, doing, object_, tail)
        if object_:
            yield _row(object_, _COMMA, _RELATIVE, _GAP, done, by)
    elif object_ and form == "reduced":
        yield _reduced(clause, object_)
    elif object_:
        participle = _verb(clause, voice="passive|either", form="participle")
        question = _row(_phrase(kind="vg", lemma="be"), object_, _GAP, participle)
        yield _row(PatternChoice((_row(object_, _GAP, done), question)), by)


def _reduced(clause: Clause, object_: Node) -> Node:
    """Return the pattern without auxiliary; the following phrase marks the participle."""
    participle = _verb(clause, voice="passive|either", form="participle|gerund")
    phrases = _tail(clause, agent=True, least=1)
    marker = PatternRow((PatternChoice((_PREPOSITION, _phrase(word="by"))), _THING))
    return _row(
        object_, _COMMA, participle, PatternChoice((phrases, marker)) if phrases else marker
    )


def _nominal(clause: Clause, object_: Node | None, by: Node | None) -> Iterator[Node]:
    if not clause.nominals:
        return
    noun = LabelledPattern("verb", _phrase(kind="ng", lemma="|".join(clause.nominals)))
    of = PatternRow((_phrase(word="of"), object_)) if object_ else None
    yield _row(noun, of, by)


def _verb(clause: Clause, **tests: str) -> Node:
    return LabelledPattern("verb", _phrase(kind="vg", lemma="|".join(clause.verbs), **tests))


def _tail(clause: Clause, agent: bool, least: int = 0) -> Node | None:
    """Return prepositional phrases, with at most two other things before each."""
    phrases = [
        PatternRow((_prepositions(word), LabelledPattern(_preposition_label(word), node)))
        for word, node in clause.others.items()
    ]
    if agent and clause.subject:
        phrases.append(PatternRow((_phrase(word="by"), LabelledPattern("subject", clause.subject))))
    if not phrases:
        return None
    phrase = phrases[0] if len(phrases) == 1 else PatternChoice(tuple(phrases))
    # the fewest asides first, or they would take phrases of the clause
    with_asides = PatternChoice(
        (phrase, PatternRow((_ASIDE, phrase)), PatternRow((_ASIDE, _ASIDE, phrase)))
    )
    return Repeat(with_asides, least, max(least, min(len(phrases), MOST_PHRASES)))


def _prepositions(words: str) -> Node:
    """Return a preposition, alternatives (in|at), or one of several words (next to)."""
    rows = [
        tuple(_phrase(word=word) for word in alternative.split())
        for alternative in words.split("|")
    ]
    nodes = [row[0] if len(row) == 1 else PatternRow(row) for row in rows]
    return nodes[0] if len(nodes) == 1 else PatternChoice(tuple(nodes))


def _preposition_label(preposition: str) -> str:
    """Return the label of a preposition, the first of several."""
    return preposition.split("|")[0].strip().replace(" ", "_")


def _labelled(name: str, node: Node | None) -> Node | None:
    return LabelledPattern(name, node) if node else None


def _row(*parts: Node | None) -> Node:
    present = tuple(part for part in parts if part is not None)
    return present[0] if len(present) == 1 else PatternRow(present)
