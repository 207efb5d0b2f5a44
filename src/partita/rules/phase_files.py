"""Read files of rules, with clause rules expanded into grammatical forms, and of the lexicon."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import cast, get_args

from partita.core import Status
from partita.rules.domain import (
    At,
    Call,
    Constant,
    LexiconEntry,
    Phase,
    Reference,
    Rule,
    RuleProblem,
    SlotMapping,
    Starts,
    TemplateRule,
    Value,
    Which,
    labels_used,
)
from partita.rules.syntax import (
    MOST_WAYS,
    Atom,
    Firsts,
    LabelledPattern,
    Macro,
    Node,
    PatternChoice,
    PatternError,
    PatternRow,
    Repeat,
    Test,
    atoms,
    count_ways,
    first_atoms,
    labels,
    longest,
    macro_names,
    nullable,
    parse_macro,
    repeats_empty,
)
from partita.rules.yaml import (
    List,
    Map,
    RuleError,
    Text,
    Tree,
    choice_of,
    map_of,
    read_tree,
    record_of,
    refuse,
    scalar_of,
    scalar_value,
    sequence_of,
    texts_of,
)
from partita.templates.slots import symbol

FUNCTIONS = (
    *("number", "date", "measure", "money", "coordinate"),
    *("upper", "lower", "join", "first"),
)

_REFERENCE = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z_][A-Za-z0-9_]*)*)")
_CALL = re.compile(rf"({'|'.join(FUNCTIONS)})\((.*)\)", re.DOTALL)
_DEEPEST = 8
_WHICH: tuple[Which, ...] = ("all", "first", "last")


def parse_value(text: str, depth: int = 0) -> Value:
    """Return the value that a text stands for."""
    text = text.strip()
    if depth > _DEEPEST:
        raise PatternError(f"functions are nested more than {_DEEPEST} deep", 0)
    if text.startswith("$"):
        return _reference(text)
    if call := _CALL.fullmatch(text):
        arguments = tuple(parse_value(argument, depth + 1) for argument in _arguments(call[2]))
        return Call(call[1], arguments)
    if re.match(r"[a-z]+\(", text) and not depth:
        raise PatternError(f"unknown function in {text!r} (expected {', '.join(FUNCTIONS)})", 0)
    if len(text) > 1 and text[0] == text[-1] == '"':
        return Constant(text[1:-1])
    return Constant(int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else text)


def _reference(text: str) -> Reference:
    match = _REFERENCE.fullmatch(text)
    if not match:
        raise PatternError(f"invalid value {text!r} (expected $label or $label.attribute)", 0)
    label, path = match[1], match[2].split(".")[1:]
    if not path:
        return Reference(label)
    if path == ["count"]:
        return Reference(label, which="count")
    if len(path) == 1:
        return Reference(label, path[0], "last")
    for which in _WHICH:
        if len(path) == 2 and path[0] == which:
            return Reference(label, path[1], which)
    raise PatternError(
        f"invalid value {text!r} (expected $label.attribute, or all, first or last between them)", 0
    )


def _arguments(text: str) -> list[str]:
    """Split at commas outside brackets and quotation marks."""
    arguments, depth, quotes, start = [], 0, False, 0
    for n, mark in enumerate(text):
        quotes ^= mark == '"'
        depth += 0 if quotes else (mark == "(") - (mark == ")")
        if mark == "," and not depth and not quotes:
            arguments.append(text[start:n])
            start = n + 1
    arguments.append(text[start:])
    if not all(argument.strip() for argument in arguments):
        raise PatternError("empty argument (expected a value)", 0)
    return arguments


MOST_PHRASES = 5_000  # of one match


def read_macros(tree: Map) -> dict[str, Macro]:
    """Return the macros of a file, in any order of definition."""
    texts = {key.value: scalar_of(value, f"macro {key.value}", key.at) for key, value in tree.pairs}
    for key, _ in tree.pairs:
        if not key.value.isupper() or not key.value.replace("_", "A").isalnum():
            refuse(f"macro name {key.value!r} is not in upper case", key.at)
    uses = {name: sorted(macro_names(text.value) & texts.keys()) for name, text in texts.items()}
    try:
        order = tuple(TopologicalSorter(uses).static_order())
    except CycleError as error:
        names = error.args[1]
        refuse(f"circular macros: {' > '.join(names)}", texts[names[0]].at)
    macros: dict[str, Macro] = {}
    for name in order:
        macros[name] = parse_pattern(texts[name], macros)
    return macros


def parse_pattern(text: Text, macros: Mapping[str, Macro]) -> Macro:
    """Parse a pattern of a file; errors carry their position in the file."""
    try:
        return parse_macro(text.value, macros)
    except PatternError as error:
        refuse(error.problem, text.within(error.at))


def read_pattern(text: Text, macros: Mapping[str, Macro], follow: Firsts = frozenset()) -> Node:
    """Return the checked pattern of a rule."""
    node = parse_pattern(text, macros).node
    check_pattern(node, text.at, follow)
    return node


def check_pattern(node: Node, at: At, follow: Firsts = frozenset()) -> None:
    """Reject patterns that can be empty or match the same phrases in too many ways."""
    if nullable(node):
        refuse("the pattern can match the empty sequence", at)
    if repeats_empty(node):
        refuse("the pattern repeats a part that can be empty", at)
    if longest(node) > MOST_PHRASES:
        refuse(f"the pattern can match more than {MOST_PHRASES:,} phrases", at)
    if (many := count_ways(node, follow)) > MOST_WAYS:
        number = f"{many:,}" if many < 10**9 else "a billion or more"
        problem = f"the pattern can match the same phrases in {number} ways"
        refuse(f"{problem}; bound its repeats, or avoid nested repeats", at)


def read_value(tree: Tree, what: str) -> Value:
    """Return a value of `build` or `slots`."""
    if isinstance(tree, Map):
        return SlotMapping({symbol(key.value): read_value(item, what) for key, item in tree.pairs})
    if isinstance(tree, List):
        return Constant(tuple(_literal(item, what) for item in tree.items))
    if not tree.plain and not tree.value.startswith("$") and "(" not in tree.value:
        return Constant(tree.value)
    plain = scalar_value(tree)
    if not isinstance(plain, str):
        return Constant(plain)
    try:
        return parse_value(plain)
    except PatternError as error:
        refuse(error.problem, tree.within(error.at))


def _literal(tree: Tree, what: str) -> object:
    """Return a member of a literal list, in which true and false are texts."""
    if not isinstance(tree, Text):
        refuse(f"{what} is not a list of texts or numbers", tree.at)
    plain = scalar_value(tree)
    return plain if isinstance(plain, int | float) and not isinstance(plain, bool) else tree.value


def read_build(tree: Tree | None, pattern_labels: set[str], at: At) -> dict[str, Value]:
    """Return the attributes that a rule sets in the phrase it builds."""
    fields = map_of(tree, "build", at)
    for key, _ in fields.pairs:
        if not key.value.isidentifier():
            refuse(f"{key.value!r} is not an attribute name", key.at)
    built = {key.value: read_value(item, f"build {key.value}") for key, item in fields.pairs}
    kind = built.get("kind")
    if not isinstance(kind, Constant) or not isinstance(kind.value, str):
        refuse("build has no kind (expected for example {kind: ng})", fields.at)
    for (_, item), value in zip(fields.pairs, built.values(), strict=True):
        check_labels(value, pattern_labels, item.at)
    return built


def read_template(tree: Tree | None, pattern_labels: set[str], at: At) -> TemplateRule:
    """Return the template of a rule: the slots, and the phrase they are about."""
    allowed = ("about", "sort", "says", "slots", "status", "roles")
    fields = record_of(tree, "a template", at, allowed)
    about = _label(fields.text("about", "about of a template"), "about", "$what", pattern_labels)
    slots = {
        symbol(key.value): read_value(item, key.value) for key, item in fields.map("slots").pairs
    }
    entity_type, says = fields.get("sort"), fields.get("says")
    several = says.items if isinstance(says, List) else () if says is None else (says,)
    template = TemplateRule(
        about,
        slots,
        read_value(entity_type, "sort") if entity_type is not None else None,
        tuple(read_value(item, "says") for item in several),
        fields.choice("status", get_args(Status)),
        {
            symbol(key.value): _label(item, f"role {key.value}", "$subject", pattern_labels)
            for key, item in fields.map("roles").pairs
        },
    )
    for value in (*slots.values(), *template.says, template.type):
        if value is not None:
            check_labels(value, pattern_labels, fields.at)
    return template


def _label(tree: Tree, what: str, example: str, pattern_labels: set[str]) -> str:
    """Return the label that a value names without an attribute."""
    value = read_value(tree, what)
    if not isinstance(value, Reference) or value.which != "text":
        refuse(f"{what} is not a label (expected for example {example})", tree.at)
    check_labels(value, pattern_labels, tree.at)
    return value.label


def check_labels(value: Value, pattern_labels: set[str], at: At) -> None:
    """Reject references to labels that the pattern does not have."""
    for label in labels_used(value):
        if label not in pattern_labels:
            names = ", ".join(sorted(pattern_labels)) or "no label"
            refuse(f"unknown label ${label} (expected {names})", at)


FORMS = ("active", "passive", "relative", "reduced", "infinitive", "nominal")
MOST_PREPOSITIONAL = 3  # prepositional phrases after a clause


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
    clause: Clause, template: TemplateRule, priority: int, examples: tuple[str, ...], at: At
) -> tuple[Rule, ...]:
    """Return the rules of the clause's forms that contain the phrase of the template."""
    rules: list[Rule] = []
    for form in clause.forms:
        for pattern in _patterns(clause, form):
            if template.about in labels(pattern):
                rule = Rule(
                    f"{clause.name} ({form})", pattern, None, None, priority, {}, template,
                    () if rules else examples, at, clause.name,
                )  # fmt: skip
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
    return Repeat(with_asides, least, max(least, min(len(phrases), MOST_PREPOSITIONAL)))


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


MOST_WORDS = 200_000
LONGEST_WORD = 200  # characters


def read_lexicon(folder: Path) -> tuple[list[LexiconEntry], list[RuleProblem]]:
    """Return the entries of a folder, file by file in alphabetical order, and the problems."""
    entries: list[LexiconEntry] = []
    problems: list[RuleProblem] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            trees = sequence_of(read_tree(path), "a lexicon")
        except RuleError as error:
            problems.append(RuleProblem(error.at, error.said))
            continue
        for tree in trees:
            try:
                entries.append(read_entry(tree))
            except RuleError as error:
                problems.append(RuleProblem(error.at, error.said))
    if sum(len(entry.words) for entry in entries) > MOST_WORDS:
        problems.append(
            RuleProblem(At(str(folder)), f"the lexicon has more than {MOST_WORDS:,} words")
        )
    return entries, problems


def read_entry(tree: Tree) -> LexiconEntry:
    """Return one entry: words with their tag, type and slots."""
    fields = record_of(tree, "an entry", tree.at, ("sort", "tag", "words", "says", "forms"))
    return LexiconEntry(
        _words(fields.get("words"), fields.at),
        tuple(tag.strip() for text in fields.texts("tag") for tag in text.value.split("|")),
        tuple(symbol(text.value) for text in fields.texts("sort")),
        {symbol(key.value): _slot_value(value) for key, value in fields.map("says").pairs},
        {
            " ".join(key.value.lower().split()): tuple(t.value for t in texts_of(value, "forms"))
            for key, value in fields.map("forms").pairs
        },
        fields.at,
    )


def _words(tree: Tree | None, at: At) -> dict[str, str]:
    """Return each word with the word it stands for, or an empty string."""
    if tree is None:
        refuse("an entry has no words", at)
    if isinstance(tree, Map):
        pairs = [(_word(key), "" if _is_null(value) else _word(value)) for key, value in tree.pairs]
    else:
        pairs = [(_word(text), "") for text in sequence_of(tree, "words")]
    return dict(pairs)


def _word(tree: Tree) -> str:
    text = scalar_of(tree, "a word", tree.at)
    if len(text.value) > LONGEST_WORD:
        refuse(f"a word has more than {LONGEST_WORD} characters", text.at)
    return " ".join(text.value.split())


def _is_null(tree: Tree) -> bool:
    return isinstance(tree, Text) and tree.is_null


def _slot_value(tree: Tree) -> object:
    """Return a slot's value: a text, a number or a list; $word is the word itself."""
    if isinstance(tree, Text) and tree.value == "$word":
        return "$word"
    if isinstance(tree, List):
        return tuple(_slot_value(item) for item in tree.items)
    value = read_value(tree, "a slot")
    if not isinstance(value, Constant):
        refuse("invalid slot value (expected a text, a number, a list or $word)", tree.at)
    return value.value


MOST_RULES = 1_000  # per phase

_RULE = ("rule", "pattern", "before", "after", "priority", "build", "template", "examples")
_CLAUSE = (
    *("clause", "subject", "verb", "object", "with", "nominal", "forms"),
    *("priority", "template", "examples"),
)


@dataclass(slots=True)
class PhaseFile:
    """A phase, the problems of its file, and the verbs of its clauses."""

    phase: Phase
    problems: list[RuleProblem]
    verbs: set[str]


@dataclass(slots=True)
class _Reader:
    starts: Starts
    macros: Mapping[str, Macro]
    verbs: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)

    def rules(self, tree: Tree) -> tuple[Rule, ...]:
        """Return one rule, or the rules of a clause."""
        if isinstance(tree, Map) and tree.get("clause") is not None:
            return self._clause(record_of(tree, "a clause", tree.at, _CLAUSE))
        return (self._rule(record_of(tree, "a rule", tree.at, _RULE)),)

    def _rule(self, fields: Map) -> Rule:
        name = fields.text("rule", "the name of a rule").value
        before = self._optional(fields, "before")
        follow = first_atoms(before) if before else frozenset()
        text = fields.text("pattern", f"the pattern of rule {name!r}")
        self.texts.append(text.value)
        pattern = read_pattern(text, self.macros, follow)
        pattern_labels = labels(pattern)
        building = self.starts == "cursor"
        other, expected = ("template", "build") if building else ("build", "template")
        if fields.get(other) is not None:
            problem = f"{other} is not allowed in a phase with starts: {self.starts}"
            refuse(f"{problem} (expected {expected})", fields.at)
        return Rule(
            name,
            pattern,
            before,
            self._optional(fields, "after"),
            _priority(fields),
            read_build(fields.get("build"), pattern_labels, fields.at) if building else {},
            None if building else read_template(fields.get("template"), pattern_labels, fields.at),
            _examples(fields),
            text.at,
        )

    def _optional(self, fields: Map, name: str) -> Node | None:
        if fields.get(name) is None:
            return None
        text = fields.text(name)
        self.texts.append(text.value)
        return read_pattern(text, self.macros)

    def _clause(self, fields: Map) -> tuple[Rule, ...]:
        name = fields.text("clause", "the name of a clause")
        if self.starts == "cursor":
            refuse("clauses are only allowed in phases that start everywhere", name.at)
        subject, object_ = (
            self._node(fields.text(key)) if fields.get(key) is not None else None
            for key in ("subject", "object")
        )
        clause = Clause(
            name.value,
            tuple(text.value.lower() for text in fields.texts("verb")),
            subject,
            object_,
            {
                key.value.lower(): self._node(
                    scalar_of(item, f"the pattern after {key.value}", key.at)
                )
                for key, item in fields.map("with").pairs
            },
            tuple(text.value.lower() for text in fields.texts("nominal")),
            tuple(choice_of(text, "form", FORMS) for text in fields.texts("forms")) or FORMS,
        )
        if not clause.verbs and not clause.nominals:
            refuse(f"clause {name.value!r} has neither verb nor nominal", name.at)
        self.verbs.update(clause.verbs)
        template = read_template(fields.get("template"), clause.labels, fields.at)
        rules = clause_rules(clause, template, _priority(fields), _examples(fields), name.at)
        for rule in rules:
            check_pattern(rule.pattern, name.at)
        return rules

    def _node(self, text: Text) -> Node:
        self.texts.append(text.value)
        return parse_pattern(text, self.macros).node


def read_phase(path: Path, name: str) -> PhaseFile:
    """Return the phase of a file; invalid rules are left out and reported."""
    allowed = ("phase", "about", "starts", "macros", "rules")
    tree = record_of(read_tree(path), "a file of rules", At(str(path), 1, 1), allowed)
    if tree.optional("phase") not in ("", name):
        refuse(f"phase does not match the file name (expected {name})", tree.text("phase").at)
    macros = tree.map("macros")
    starts = cast(Starts, tree.choice("starts", get_args(Starts)) or "cursor")
    reader = _Reader(starts, read_macros(macros))
    rules: list[Rule] = []
    problems: list[RuleProblem] = []
    for item in tree.items("rules"):
        try:
            rules += reader.rules(item)
        except RuleError as error:
            problems.append(RuleProblem(error.at, error.said))
    if len(rules) > MOST_RULES:
        refuse(f"{len(rules):,} rules in a phase (expected at most {MOST_RULES:,})", tree.at)
    if not rules and not problems:
        refuse("a phase has no rules", tree.at)
    phase = Phase(name, reader.starts, tuple(rules), At(str(path), 1, 1))
    return PhaseFile(phase, [*problems, *_unused_macros(macros, reader.texts)], reader.verbs)


def _unused_macros(macros: Map, texts: list[str]) -> list[RuleProblem]:
    """Return warnings for macros that no rule and no other macro uses."""
    patterns = [value.value for _, value in macros.pairs if isinstance(value, Text)]
    used = {name for text in (*texts, *patterns) for name in macro_names(text)}
    unused = [key for key, _ in macros.pairs if key.value not in used]
    return [RuleProblem(key.at, f"macro {key.value} is not used", error=False) for key in unused]


def _examples(fields: Map) -> tuple[str, ...]:
    return tuple(text.value for text in fields.texts("examples"))


def _priority(fields: Map) -> int:
    tree = fields.get("priority")
    value = scalar_value(tree) if isinstance(tree, Text) else None
    if tree is not None and (not isinstance(value, int) or isinstance(value, bool)):
        refuse("priority is not an integer", tree.at)
    return value if isinstance(value, int) else 0
