"""Rule files and texts that try to take for ever: refused, or done in bounded work."""

from __future__ import annotations

from pathlib import Path

import pytest

from oracles.patterns import parse
from partita.errors import InputError
from partita.rules.compile import Matcher
from partita.rules.domain_files import read_domain
from partita.rules.syntax import MOST_WAYS, count_ways
from rules.matched import matching, written
from rules.toy import cascade, run
from rules.toy import written as folder_of

A, B = {"tag": "A"}, {"tag": "B"}


@pytest.mark.parametrize(
    "pattern",
    [
        "([tag=A]+)+ [tag=B]",
        "(([tag=A] | .)+ [tag=A]?)+ [tag=B]",
        "([tag=A] | [tag=A] [tag=A])+ [tag=B]",
        "(.* [tag=A] .*)+ [tag=B]",
        ".* .* .* .* [tag=B]",
        "([tag=A]? [tag=A]? [tag=A]?){1,20} [tag=B]",
        " ".join(["([tag=A] | [tag=A] [tag=A])"] * 20) + " [tag=B]",
        "(x:[tag=A]{1,10}){1,10} [tag=A]",
    ],
)
def test_patterns_that_explode_are_refused(tmp_path: Path, pattern: str) -> None:
    groups = f"rules:\n  - {{rule: bad, pattern: '{pattern}', build: {{kind: ng}}}}"
    with pytest.raises(InputError, match=r"line 2: column \d+: the pattern"):
        read_domain(folder_of(tmp_path, groups=groups))


@pytest.mark.parametrize(
    "pattern",
    [
        ".{0,50} .{0,30} [tag=B]",
        "[tag=A]{0,50} [tag=A]{0,50} [tag=A|B] [tag=B]",
        " ".join(["[tag=A]?"] * 9) + " [tag=A] [tag=B]",
        "([tag=A] | [tag=A] [tag=A]){1,9} [tag=B]",
        "[tag=A]* [tag=A]* [tag=B]",
        "([tag=A] [tag=A]?){1,8} [tag=B]",
    ],
)
@pytest.mark.parametrize("way", ["cursor", "everywhere"])
def test_what_is_just_allowed_comes_to_an_end(pattern: str, way: str) -> None:
    assert count_ways(parse(pattern)) <= MOST_WAYS
    made = matching((pattern, 0))
    found = getattr(made, way)(written(made.alphabet, [A] * 400))
    assert found.matches == []


def test_each_rule_is_tried_once_a_phrase(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = 0
    once = Matcher.at

    def counted(self: Matcher, *given: object) -> object:
        nonlocal tried
        tried += 1
        return once(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Matcher, "at", counted)
    made = matching(*[("[tag=A]+ [tag=B]", 0)] * 5)
    made.cursor(written(made.alphabet, [A] * 200))
    assert tried == 5 * 199  # the last phrase has nothing behind it, and is not even tried
    made.everywhere(written(made.alphabet, [A] * 200))
    assert tried == 5 * 199  # no phrase has the tag B
    made.everywhere(written(made.alphabet, [A] * 200 + [B]))
    assert tried == 5 * 199 + 5 * 200


def test_a_sentence_without_end(tmp_path: Path) -> None:
    made = cascade(tmp_path)
    text = " ".join(["the/DT", "old/JJ", "rail/NN"] * 3_000)
    analysis = run(made, text)
    assert len(analysis.phrases) == 3_000
    assert analysis.unfinished == ()


def test_a_word_without_end(tmp_path: Path) -> None:
    groups = """
rules:
  - {rule: long, pattern: "x:[text~/a*b?a*c?/]", build: {kind: ng, n: number($x), d: date($x)}}
"""
    made = cascade(tmp_path, groups=groups)
    analysis = run(made, f"{'a' * 1_000_000}/NN aab/NN")
    assert [phrase.kind for phrase in analysis.phrases] == ["word", "ng"]


def test_many_kinds_of_phrases_make_many_characters() -> None:
    names = [f"w{n}" for n in range(60)]
    made = matching(*[(f"[word={name}] | [tag={name}]", 0) for name in names])
    phrases = [{"word": a, "tag": b} for a in names for b in names]
    found = made.everywhere(written(made.alphabet, phrases))
    assert len(made.alphabet.sets) > 1_000
    assert len(found.matches) == 2 * len(phrases) - len(names)
