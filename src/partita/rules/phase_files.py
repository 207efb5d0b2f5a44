"""Read files of rules and of the lexicon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from partita.rules.ambiguity import firsts
from partita.rules.clauses import FORMS, Clause, clause_rules
from partita.rules.domain import At, Entry, Literally, Phase, Problem, Rule, Starts
from partita.rules.patterns import Macro, names_in
from partita.rules.rule_parts import (
    build_of,
    contributing_of,
    examples_of,
    macros_of,
    parsed_macro,
    pattern_of,
    safe,
    value_of,
)
from partita.rules.syntax import Node, labels
from partita.rules.yaml import (
    List,
    Map,
    RuleError,
    Text,
    Tree,
    keys_among,
    list_of,
    map_of,
    plain_value,
    read_tree,
    refuse,
    text_of,
    texts_of,
)
from partita.templates.words import symbol

MOST_WORDS = 200_000
LONGEST_WORD = 200  # characters

_LEXICON_FIELDS = ("sort", "tag", "words", "says", "forms")


def read_lexicon(folder: Path) -> tuple[list[Entry], list[Problem]]:
    """All entries of a folder, file by file in alphabetical order, and what was wrong."""
    entries: list[Entry] = []
    problems: list[Problem] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            trees = list_of(read_tree(path), "a lexicon", At(str(path), 1, 1))
        except RuleError as error:
            problems.append(Problem(error.at, error.said))
            continue
        for tree in trees:
            try:
                entries.append(entry_of(tree))
            except RuleError as error:
                problems.append(Problem(error.at, error.said))
    if sum(len(entry.words) for entry in entries) > MOST_WORDS:
        problems.append(Problem(At(str(folder)), f"the lexicon has more than {MOST_WORDS:,} words"))
    return entries, problems


def entry_of(tree: Tree) -> Entry:
    """One entry: words with their tag, sort and slots."""
    given = map_of(tree, "an entry", tree.at)
    keys_among(given, "an entry", _LEXICON_FIELDS)
    forms = map_of(given.get("forms"), "forms", given.at)
    says = map_of(given.get("says"), "says", given.at)
    tags = (t.value for t in texts_of(given.get("tag"), "tag", given.at))
    return Entry(
        _words(given.get("words"), given.at),
        tuple(tag.strip() for given_tag in tags for tag in given_tag.split("|")),
        tuple(symbol(text.value) for text in texts_of(given.get("sort"), "sort", given.at)),
        {symbol(key.value): _said(value) for key, value in says.pairs},
        {
            " ".join(key.value.lower().split()): tuple(
                t.value for t in texts_of(value, "forms", key.at)
            )
            for key, value in forms.pairs
        },
        given.at,
    )


def _words(tree: Tree | None, at: At) -> dict[str, str]:
    """Each word with the one that it stands for, if it is another."""
    if tree is None:
        refuse("an entry needs words", at)
    if isinstance(tree, Map):
        pairs = [(_word(key), "" if _empty(value) else _word(value)) for key, value in tree.pairs]
    else:
        pairs = [(_word(text), "") for text in list_of(tree, "words", at)]
    return dict(pairs)


def _word(tree: Tree) -> str:
    text = text_of(tree, "a word", tree.at)
    if len(text.value) > LONGEST_WORD:
        refuse(f"a word has more than {LONGEST_WORD} characters", text.at)
    return " ".join(text.value.split())


def _empty(tree: Tree) -> bool:
    return isinstance(tree, Text) and tree.nothing


def _said(tree: Tree) -> object:
    """A slot's value: a text, a number, a list; $word is the word itself."""
    if isinstance(tree, Text) and tree.value == "$word":
        return "$word"
    if isinstance(tree, List):
        return tuple(_said(one) for one in tree.items)
    value = value_of(tree, "a slot")
    if not isinstance(value, Literally):
        refuse("a slot of the lexicon holds a text, a number, a list or $word", tree.at)
    return value.value


MOST_RULES = 1_000  # of a phase

_FIELDS = ("phase", "about", "starts", "macros", "rules")
_RULE = ("rule", "pattern", "before", "after", "priority", "build", "template", "examples")
_CLAUSE = (
    *("clause", "subject", "verb", "object", "with", "nominal", "forms"),
    *("priority", "template", "examples"),
)


@dataclass(slots=True)
class PhaseFile:
    """A phase, what was wrong in its file, and the verbs of its clauses."""

    phase: Phase
    problems: list[Problem]
    verbs: set[str]


@dataclass(slots=True)
class _Reader:
    starts: Starts
    macros: Mapping[str, Macro]
    verbs: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)

    def rules(self, tree: Tree) -> tuple[Rule, ...]:
        """One rule, or those that a clause stands for."""
        given = map_of(tree, "a rule", tree.at)
        return self._clause(given) if given.get("clause") is not None else (self._rule(given),)

    def _rule(self, given: Map) -> Rule:
        keys_among(given, "a rule", _RULE)
        name = text_of(given.get("rule"), "the name of a rule", given.at).value
        before = self._optional(given, "before")
        follow = firsts(before) if before else frozenset()
        text = text_of(given.get("pattern"), f"the pattern of rule {name!r}", given.at)
        self.texts.append(text.value)
        pattern = pattern_of(text, self.macros, follow)
        known = labels(pattern)
        building = self.starts == "cursor"
        self._fits(given, building)
        return Rule(
            name,
            pattern,
            before,
            self._optional(given, "after"),
            _priority(given),
            build_of(given.get("build"), known, given.at) if building else {},
            None if building else contributing_of(given.get("template"), known, given.at),
            examples_of(given.get("examples"), given.at),
            text.at,
        )

    def _fits(self, given: Map, building: bool) -> None:
        if building and given.get("template") is not None:
            refuse("templates are for phases that start everywhere; expected build", given.at)
        if not building and given.get("build") is not None:
            refuse("a phase that starts everywhere builds templates, not phrases", given.at)

    def _optional(self, given: Map, name: str) -> Node | None:
        tree = given.get(name)
        if tree is None:
            return None
        text = text_of(tree, name, given.at)
        self.texts.append(text.value)
        return pattern_of(text, self.macros)

    def _clause(self, given: Map) -> tuple[Rule, ...]:
        keys_among(given, "a clause", _CLAUSE)
        name = text_of(given.get("clause"), "the name of a clause", given.at)
        if self.starts == "cursor":
            refuse("clauses are for phases that start everywhere", name.at)
        with_ = map_of(given.get("with"), "with", given.at)
        clause = Clause(
            name.value,
            tuple(text.value.lower() for text in texts_of(given.get("verb"), "verb", given.at)),
            self._argument(given.get("subject"), given.at),
            self._argument(given.get("object"), given.at),
            {key.value.lower(): self._needed(one, key) for key, one in with_.pairs},
            tuple(t.value.lower() for t in texts_of(given.get("nominal"), "nominal", given.at)),
            self._forms(given),
        )
        if not clause.verbs and not clause.nominals:
            refuse(f"clause {name.value!r} has neither verb nor nominal", name.at)
        self.verbs.update(clause.verbs)
        template = contributing_of(given.get("template"), clause.labels, given.at)
        rules = clause_rules(
            clause,
            template,
            _priority(given),
            examples_of(given.get("examples"), given.at),
            name.at,
        )
        for rule in rules:
            safe(rule.pattern, name.at)
        return rules

    def _forms(self, given: Map) -> tuple[str, ...]:
        for text in texts_of(given.get("forms"), "forms", given.at):
            if text.value not in FORMS:
                refuse(f"{text.value!r} is no form; expected {', '.join(FORMS)}", text.at)
        forms = texts_of(given.get("forms"), "forms", given.at)
        return tuple(text.value for text in forms) or FORMS

    def _argument(self, tree: Tree | None, at: At) -> Node | None:
        return None if tree is None else self._node(text_of(tree, "an argument", at))

    def _needed(self, tree: Tree, key: Text) -> Node:
        return self._node(text_of(tree, f"what {key.value} goes with", key.at))

    def _node(self, text: Text) -> Node:
        self.texts.append(text.value)
        return parsed_macro(text, self.macros).node


def read_phase(path: Path, name: str) -> PhaseFile:
    """The phase of a file; a rule that is not one is left out and told."""
    tree = map_of(read_tree(path), "a file of rules", At(str(path), 1, 1))
    keys_among(tree, "a file of rules", _FIELDS)
    said = tree.get("phase")
    if said is not None and text_of(said, "phase", tree.at).value != name:
        refuse(f"this file is phase {name}, by its name", said.at)
    macros = map_of(tree.get("macros"), "macros", tree.at)
    reader = _Reader(_starts(tree), macros_of(macros))
    rules: list[Rule] = []
    problems: list[Problem] = []
    for one in list_of(tree.get("rules"), "rules", tree.at):
        try:
            rules += reader.rules(one)
        except RuleError as error:
            problems.append(Problem(error.at, error.said))
    if len(rules) > MOST_RULES:
        refuse(f"a phase has at most {MOST_RULES:,} rules; this one has {len(rules):,}", tree.at)
    if not rules and not problems:
        refuse("a phase needs at least one rule", tree.at)
    phase = Phase(name, reader.starts, tuple(rules), At(str(path), 1, 1))
    return PhaseFile(phase, [*problems, *_unused(macros, reader.texts)], reader.verbs)


def _unused(macros: Map, texts: list[str]) -> list[Problem]:
    """Macros that neither a rule nor another macro names."""
    patterns = [value.value for _, value in macros.pairs if isinstance(value, Text)]
    used = {name for text in (*texts, *patterns) for name in names_in(text)}
    unused = [key for key, _ in macros.pairs if key.value not in used]
    return [Problem(key.at, f"macro {key.value} is not used", error=False) for key in unused]


def _starts(tree: Map) -> Starts:
    given = tree.get("starts")
    said = "cursor" if given is None else text_of(given, "starts", tree.at).value
    if said == "cursor":
        return "cursor"
    if said != "everywhere":
        refuse(f"starts is {said!r}; expected cursor or everywhere", given.at if given else tree.at)
    return "everywhere"


def _priority(given: Map) -> int:
    tree = given.get("priority")
    value = plain_value(tree) if isinstance(tree, Text) else None
    if tree is not None and (not isinstance(value, int) or isinstance(value, bool)):
        refuse("priority must be a whole number", tree.at)
    return value if isinstance(value, int) else 0
