"""Matches against an oracle that tries every parse, and the choice among rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.patterns import longest_parses, parse
from partita.rules.cascade import WORK_AT_LEAST, WORK_PER_PHRASE, Candidate, PhaseMatching
from partita.rules.compile import Alphabet, Matcher, Tests
from partita.rules.syntax import (
    MOST_WAYS,
    Atom,
    LabelledPattern,
    Node,
    PatternChoice,
    PatternRow,
    Repeat,
    Test,
    count_ways,
    deterministic,
    labels,
    nullable,
    repeats_empty,
    single_phrase,
    walk_pattern,
)
from rules.matched import longest, matcher, matching, words, written

BELOW = {"A": frozenset({"A", "B"}), "B": frozenset({"B"}), "C": frozenset({"C"})}

TESTS = st.one_of(
    st.builds(
        Test,
        st.sampled_from(["kind", "tag"]),
        st.sampled_from(["=", "!="]),
        st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, max_size=2).map(tuple),
    ),
    st.builds(Test, st.sampled_from(["tag", "n"]), st.sampled_from(["has", "not"])),
    st.builds(Test, st.just("sort"), st.just("="), st.sampled_from([("A",), ("B",), ("C",)])),
    st.builds(Test, st.just("n"), st.sampled_from("<>"), st.sampled_from([("1",), ("2.5",)])),
    st.builds(Test, st.just("tag"), st.just("~"), st.sampled_from([("[xy]",), ("x|z",)])),
)
ATOMS = st.builds(Atom, st.lists(TESTS, max_size=2).map(tuple))
NODES: st.SearchStrategy[Node] = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds(PatternRow, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(PatternChoice, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(Repeat, inner, st.integers(0, 1), st.integers(1, 3)),
        st.builds(LabelledPattern, st.sampled_from(["p", "q"]), inner),
    ),
    max_leaves=5,
)
PHRASES = st.lists(
    st.one_of(
        st.none(),
        st.fixed_dictionaries(
            {"kind": st.sampled_from("xy")},
            optional={
                "tag": st.sampled_from(["x", "y", "z", ""]),
                "sort": st.sampled_from([("A",), ("B", "C"), ("C",)]),
                "n": st.sampled_from([0, 1, 2, 3, "2", False, 1.0]),
            },
        ),
    ),
    max_size=6,
)


def usable(node: Node) -> bool:
    return not nullable(node) and not repeats_empty(node) and count_ways(node) <= MOST_WAYS


@settings(deadline=None, max_examples=150)
@given(NODES, PHRASES)
def test_the_longest_match_is_the_oracles(node: Node, phrases: list[Any]) -> None:
    assume(usable(node))
    made = matcher(node, below=BELOW)
    for start in range(len(phrases)):
        spans, _ = longest(made, phrases, start)
        expected = longest_parses(node, phrases, start, below=BELOW)
        assert (spans[0] if spans else None) == ((start, expected[0][0]) if expected else None)


@settings(deadline=None, max_examples=150)
@given(NODES, PHRASES)
def test_labels_cover_what_the_oracle_says_where_it_is_sure(node: Node, phrases: list[Any]) -> None:
    assume(usable(node) and labels(node))
    made = matcher(node, below=BELOW)
    for start in range(len(phrases)):
        spans, text = longest(made, phrases, start)
        expected = {found for _, found in longest_parses(node, phrases, start, below=BELOW)}
        if len(expected) != 1:
            continue
        for label in labels(node):
            told = [(a, b) for name, a, b in next(iter(expected)) if name == label and b > a]
            assert made.body.spans(spans, label) == (max(told) if told else None)
            if not nested(node, label):
                assert made.body.all_spans(text, spans, label) == sorted(told)


def nested(node: Node, label: str, inside: bool = False) -> bool:
    """A label that stands inside itself covers phrases twice."""
    if isinstance(node, LabelledPattern):
        if inside and node.name == label:
            return True
        return nested(node.body, label, inside or node.name == label)
    if isinstance(node, Repeat):
        return nested(node.body, label, inside)
    parts = (
        node.parts
        if isinstance(node, PatternRow)
        else node.branches
        if isinstance(node, PatternChoice)
        else ()
    )
    return any(nested(part, label, inside) for part in parts)


@settings(deadline=None, max_examples=100)
@given(NODES, NODES, NODES, PHRASES)
def test_what_must_follow_and_precede(
    node: Node, before: Node, after: Node, phrases: list[Any]
) -> None:
    assume(all(map(usable, (node, before, after))))
    for around in ((before, None), (None, after), (before, after)):
        made = matcher(node, *around, below=BELOW)
        for start in range(len(phrases)):
            spans, _ = longest(made, phrases, start)
            expected = longest_parses(node, phrases, start, *around, below=BELOW)
            assert (spans[0][1] if spans else None) == (expected[0][0] if expected else None)


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(NODES, st.none() | NODES), min_size=1, max_size=3), PHRASES)
def test_everywhere_finds_all_matches_of_the_oracle(
    rules: list[tuple[Node, Node | None]], phrases: list[Any]
) -> None:
    assume(all(usable(node) for rule in rules for node in rule if node))
    alphabet = Alphabet(Tests(BELOW))
    made = PhaseMatching(
        alphabet,
        [Candidate(n, Matcher.of(alphabet, *rule, None)) for n, rule in enumerate(rules)],
    )
    found = made.everywhere(written(alphabet, phrases)).matches
    expected = [
        (n, (start, ends[0][0]))
        for start in range(len(phrases))
        for n, rule in enumerate(rules)
        if (ends := longest_parses(rule[0], phrases, start, rule[1], None, below=BELOW))
    ]
    assert [(n, spans[0]) for n, spans in found] == expected


@settings(deadline=None, max_examples=100)
@given(NODES, PHRASES)
def test_ways_are_an_upper_bound(node: Node, phrases: list[Any]) -> None:
    assume(usable(node))
    assume(
        not any(isinstance(one, PatternChoice) and single_phrase(one) for one in walk_pattern(node))
    )
    for start in range(len(phrases)):
        found = longest_parses(node, phrases, start, below=BELOW)
        assert len(found) <= count_ways(node)


def test_the_first_branch_does_not_win_over_a_longer_one() -> None:
    made = matcher(parse("[tag=DT] | [tag=DT] [tag=NN]"))
    assert longest(made, words("the/DT depot/NN"), 0)[0][0] == (0, 2)


def test_a_prefix_that_cannot_go_on_gives_way() -> None:
    made = matcher(parse("([tag=A] [tag=B] | [tag=A]) ([tag=B] [tag=C])?"))
    assert not deterministic(made.body.node)
    assert longest(made, words("a/A b/B c/C"), 0)[0][0] == (0, 3)


def test_all_rounds_of_a_label() -> None:
    made = matcher(parse('(one:[tag=NN] ","?){1,5}'))
    spans, text = longest(made, words("a/NN ,/, b/NN c/NN"), 0)
    assert made.body.spans(spans, "one") == (3, 4)
    assert made.body.all_spans(text, spans, "one") == [(0, 1), (2, 3), (3, 4)]


def test_a_label_in_several_branches() -> None:
    made = matcher(parse("[tag=A] (x:[tag=B] | x:[tag=C] [tag=C])"))
    spans, _ = longest(made, words("a/A c/C c/C"), 0)
    assert made.body.spans(spans, "x") == (1, 2)


def test_nothing_matches_across_the_end_of_a_sentence() -> None:
    made = matcher(parse(". ."))
    assert longest(made, words("a/A | b/B"), 0)[0] is None


def run(rules: list[tuple[str, int]], text: str) -> list[tuple[int, int, int]]:
    made = matching(*rules)
    found = made.cursor(written(made.alphabet, words(text)))
    assert found.complete
    return [(number, *spans[0]) for number, spans in found.matches]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([("[tag=A]", 9), ("[tag=A] [tag=B]", 0)], [(1, 0, 2)]),  # most phrases first
        ([("[tag=A] .", 0), ("[tag=A] [tag=B]", 1)], [(1, 0, 2)]),  # then priority
        ([("[tag=A] .", 1), ("[tag=A] [tag=B]", 1)], [(0, 0, 2)]),  # then order
    ],
)
def test_the_choice_among_rules(
    rules: list[tuple[str, int]], expected: list[tuple[int, int, int]]
) -> None:
    assert run(rules, "a/A b/B") == expected


def test_the_cursor_moves_behind_a_match_or_on_by_one() -> None:
    rules = [("[tag=A] [tag=A]", 0), ("[tag=B] [tag=C]", 0)]
    assert run(rules, "a/A a/A a/A b/B c/C") == [(0, 0, 2), (1, 3, 5)]


def test_everywhere_all_matches_count() -> None:
    made = matching(("[tag=A]+", 0), ("[tag=A]", 0))
    found = made.everywhere(written(made.alphabet, words("a/A a/A")))
    assert [(n, *spans[0]) for n, spans in found.matches] == [
        *((0, 0, 2), (1, 0, 1)),
        *((0, 1, 2), (1, 1, 2)),
    ]


def test_phrases_that_turn_up_later_are_matched_too() -> None:
    made = matching(("[tag=A|B]", 0), ("[word=c]", 0))
    for text, expected in (("a/A", [0]), ("b/B x/X", [0]), ("c/X c/B", [1, 0])):
        found = made.cursor(written(made.alphabet, words(text)))
        assert [n for n, _ in found.matches] == expected


def test_work_comes_to_an_end() -> None:
    costly = "[tag=A]{0,50} [tag=A]{0,20} [tag=A]{0,20} [tag=A|B]"
    price = count_ways(parse(costly))
    assert price > WORK_PER_PHRASE
    made = matching((costly, 0))
    many = 4 * WORK_AT_LEAST // (price - WORK_PER_PHRASE)
    text = written(made.alphabet, [{"tag": "B"}] * many)
    for tried in (made.cursor, made.everywhere):
        found = tried(text)
        assert not found.complete
        assert 0 < len(found.matches) < many
