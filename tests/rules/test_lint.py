"""What lint finds in a domain, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita.domains import RuleDomain
from partita.errors import InputError
from partita.rules.cascade import Cascade
from partita.rules.domain_files import read_domain
from partita.rules.lint import failing_examples, lint
from rules.toy import DOMAIN, GROUPS, LEXICON, RULES, TEXT, tagged, written


def found(folder: Path, **files: str) -> list[tuple[str, bool]]:
    return [(one.said, one.error) for one in lint(read_domain(written(folder, **files)))]


def test_a_domain_that_is_in_order(tmp_path: Path) -> None:
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "said", "error"),
    [
        ("lexicon", "sort: DEPOT", "sort: DEPUT", "unknown sort DEPUT", True),
        ("rules", "where:[sort=PLACE]", "where:[sort=PLAICE]", "unknown sort PLAICE", True),
        ("groups", "sort: $head.sort", "sort: HEDD", "unknown sort HEDD", True),
        ("domain", "  FACILITY: {needs", "  FACTORY: {needs", "unknown sort FACTORY", True),
        ("rules", "slots: {LOCATION", "slots: {LOCUS", "unknown slot LOCUS", True),
        ("lexicon", "says: {FACILITY", "says: {FACULTY", "unknown slot FACULTY", True),
        ("domain", "needs: [FACILITY]", "needs: [FACULTY]", "unknown slot FACULTY", True),
        ("rules", 'what:[kind=ng, sort=FACILITY]"', 'what:np"', "no earlier phase builds np", True),
        ("rules", 'what:[kind=ng, sort=FACILITY]"', 'what:[kind=np|ng]"', "builds np", False),
        (
            "rules",
            'what:[kind=ng, sort=FACILITY]"',
            'what:[kind=ng, word=it]"',
            "no phrase of kind ng has the attribute 'word'",
            True,
        ),
        ("rules", "$what.sort", "$what.sart", "no earlier phase sets the attribute 'sart'", False),
        ("groups", "[lemma=be]", "[tag=VB, tag=NN]", "no phrase can pass all tests", True),
        ("groups", "[lemma=be]", "[word=on-site]", "is split into on - site", False),
        ("groups", "[lemma=be]", "[known, !known]", "no phrase can pass all tests", True),
        (
            "groups",
            '"main:[tag=VBD|VBN]"',
            '"main:[tag=VBD|VBN]{0,50} [tag=VBD]{0,40} [tag=VBD]{0,40} [tag=VBD|VBN]"',
            "is slow: it can match",
            False,
        ),
    ],
)
def test_what_is_found(
    tmp_path: Path, name: str, old: str, new: str, said: str, error: bool
) -> None:
    texts = {"domain": DOMAIN, "lexicon": LEXICON, "groups": GROUPS, "rules": RULES}
    assert old in texts[name]
    assert not any(said in one for one, _ in found(tmp_path))
    told = found(tmp_path, **{name: texts[name].replace(old, new, 1)})
    assert [(said in one, is_error) for one, is_error in told if said in one][:1] == [(True, error)]


def test_a_mistake_in_several_rules_is_reported_once(tmp_path: Path) -> None:
    broken = RULES.replace("sort=FACILITY", "sort=FACULTY")
    told = [one for one, _ in found(tmp_path, rules=broken) if "unknown sort FACULTY" in one]
    assert RULES.count("sort=FACILITY") > 1
    assert len(told) == 1


def test_run_refuses_what_lint_calls_an_error(tmp_path: Path) -> None:
    broken = RULES.replace("where:[sort=PLACE]", "where:[sort=PLAICE]")
    with pytest.raises(InputError, match="unknown sort PLAICE"):
        RuleDomain(written(tmp_path, rules=broken)).extractor  # noqa: B018


def test_texts_of_a_slot_that_differ_only_in_case(tmp_path: Path) -> None:
    words = LEXICON + (
        "- {tag: JJ, words: [closed], says: {STATUS: CLOSED}}\n"
        "- {tag: JJ, words: [shut], says: {STATUS: [Closed, OLD]}}\n"
    )
    problem = "slot STATUS has 'Closed' here and 'CLOSED' elsewhere (expected one case)"
    assert found(tmp_path, lexicon=words) == [(problem, False)]


def test_examples(tmp_path: Path) -> None:
    groups = """
rules:
  - {rule: noun, pattern: "[tag=NN]", build: {kind: ng}, examples: ["depot/NN", "go/VB"]}
  - {rule: nouns, pattern: "[tag=NN] [tag=NN]", build: {kind: ng}, examples: ["rail/NN depot/NN"]}
  - {rule: late, pattern: "[tag=NN]", build: {kind: ng}, examples: ["the/DT depot/NN"]}
"""
    rules = RULES.replace("nominal:", 'examples: ["go/VB"]\n    nominal:')
    made = Cascade(read_domain(written(tmp_path, groups=groups, rules=rules)))
    told = [
        (one.said, one.error) for one in failing_examples(made, lambda text: (*tagged(text), TEXT))
    ]
    assert told == [
        ("rule 'noun': the example 'go/VB' does not match", True),
        ("rule 'late': the example 'the/DT depot/NN' is won by 'noun'", False),
        ("rule 'construction (active)': the example 'go/VB' does not match", True),
    ]
