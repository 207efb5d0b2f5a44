"""Phrases made by hand and read by the engine, for the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oracles.patterns import parse
from partita.rules.cascade import Candidate, PhaseMatching
from partita.rules.compile import SEPARATOR, Alphabet, Matcher, Tests
from partita.rules.syntax import Node, count_ways, reverse

Phrases = Sequence[Mapping[str, Any] | None]


def written(alphabet: Alphabet, phrases: Phrases) -> str:
    """The characters of phrases; None is the end of a sentence."""
    return "".join(
        SEPARATOR if one is None else alphabet.character(alphabet.tests.mask(one))
        for one in phrases
    )


def matcher(
    node: Node, before: Node | None = None, after: Node | None = None, below: Any = None
) -> Matcher:
    return Matcher.of(Alphabet(Tests(below or {})), node, before, reverse(after) if after else None)


def longest(made: Matcher, phrases: Phrases, start: int) -> Any:
    """The spans of the longest match there, and the text that they are of."""
    text = written(made.body.alphabet, phrases)
    for character, atoms in made.body.alphabet.sets.items():
        made.learn(character, atoms)
    return made.at(text, start, text[::-1]), text


def matching(*rules: tuple[str, int]) -> PhaseMatching:
    """Rules given as pattern and priority."""
    alphabet = Alphabet(Tests({}))
    return PhaseMatching(
        alphabet,
        [
            Candidate(
                n, Matcher.of(alphabet, parse(text), None, None), priority, count_ways(parse(text))
            )
            for n, (text, priority) in enumerate(rules)
        ],
    )


def words(text: str) -> list[dict[str, Any] | None]:
    """Words with their tags, `the/DT old/JJ depot/NN`; `|` ends a sentence."""
    made: list[dict[str, Any] | None] = []
    for one in text.split():
        word, _, tag = one.rpartition("/")
        made.append(None if one == "|" else {"kind": "word", "word": word.lower(), "tag": tag})
    return [*made, None]
