"""Folders of YAML to domains, and what is wrong with them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.errors import InputError
from partita.plugins import DOMAINS, installed
from partita.rules.domain import At, Call, Constant, Reference
from partita.rules.domain_files import load_rule_set, read_domain
from partita.rules.yaml import DEEPEST, LARGEST, Map, RuleError, Text, tree_of
from rules.toy import DOMAIN, GROUPS, LEXICON, RULES, written


def test_a_domain_is_what_its_files_say(tmp_path: Path) -> None:
    domain = read_domain(written(tmp_path))
    assert domain.name == "toy"
    assert list(domain.schema.slots) == ["FACILITY", "NUMBER", "LOCATION", "TYPE", "STATUS"]
    assert domain.types.subsumes("FACILITY", "DEPOT")
    assert domain.schema.types is domain.types
    assert domain.templates["FACILITY"].needs == ("FACILITY",)
    assert [phase.name for phase in domain.phases] == ["groups", "toy"]
    assert [phase.starts for phase in domain.phases] == ["cursor", "everywhere"]
    assert domain.verbs == {"build", "construct", "erect"}
    first = domain.entries[0]
    assert (first.types, first.tags, dict(first.says)) == (
        ("DEPOT",),
        ("NN",),
        {"FACILITY": "DEPOT"},
    )
    assert domain.entries[1].words == {"rail": "", "railway": "rail", "ammo": "ammunition"}


def test_words_that_yaml_would_take_for_something_else(tmp_path: Path) -> None:
    domain = read_domain(
        written(tmp_path, lexicon="- {tag: NN, words: [no, on, 12, 1996-03-15, null]}")
    )
    assert list(domain.entries[0].words) == ["no", "on", "12", "1996-03-15", "null"]


def test_values(tmp_path: Path) -> None:
    build = (
        "{kind: ng, a: first($x.value, 1), b: true, c: [p, 2], d: $x.all.word, e: 'true', f: 2.5}"
    )
    groups = f'rules:\n  - {{rule: r, pattern: "x:[tag=NN]", build: {build}}}'
    built = read_domain(written(tmp_path, groups=groups)).phases[0].rules[0].build
    assert built == {
        "kind": Constant("ng"),
        "a": Call("first", (Reference("x", "value", "last"), Constant(1))),
        "b": Constant(True),
        "c": Constant(("p", 2)),
        "d": Reference("x", "word", "all"),
        "e": Constant("true"),
        "f": Constant(2.5),
    }


def test_a_domain_takes_from_the_one_it_extends(tmp_path: Path) -> None:
    written(tmp_path)
    child = tmp_path / "child"
    (child / "rules").mkdir(parents=True)
    (child / "domain.yaml").write_text(
        "domain: child\nextends: toy\nsorts: {MINE: FACILITY}\nphases: [groups, own]\n"
    )
    (child / "rules/own.yaml").write_text(RULES.replace("phase: toy", "phase: own"))
    domain = read_domain(child)
    assert domain.types.subsumes("FACILITY", "MINE")
    assert [phase.name for phase in domain.phases] == ["groups", "own"]
    assert "FACILITY" in domain.templates
    assert any("depot" in entry.words for entry in domain.entries)


def test_places_by_what_contains_them(tmp_path: Path) -> None:
    sheet = "domain: d\nslots: {AT: {type: place}}\nplaces: {B: , A: B}\ninside: {B: [C, D]}\n"
    (tmp_path / "domain.yaml").write_text(sheet)
    gazetteer = read_domain(tmp_path).schema.slots["AT"].gazetteer
    assert gazetteer.parents == {"B": {*()}, **{key: {"B"} for key in "ACD"}}
    (tmp_path / "domain.yaml").write_text(sheet.replace("[C, D]", "[C, A]"))
    with pytest.raises(InputError, match="line 4: column 17: A stands twice among the places"):
        read_domain(tmp_path)


def test_sorts_by_their_parent(tmp_path: Path) -> None:
    (tmp_path / "domain.yaml").write_text("domain: d\nsorts: {A: , B: A}\nbelow: {B: [C, D]}\n")
    types = read_domain(tmp_path).types
    assert types.above["D"] == {"A", "B", "D"}
    assert not types.compatible("C", "D")


def test_a_circle_of_domains(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "domain.yaml").write_text(f"domain: {name}\nextends: {other}\n")
    with pytest.raises(InputError, match="in a circle"):
        read_domain(tmp_path / "a")


def test_domains_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown domain 'nowhere'"):
        read_domain("nowhere")
    with pytest.raises(InputError, match=r"has no domain\.yaml"):
        read_domain(tmp_path)


@pytest.mark.parametrize(
    ("file", "old", "new", "place", "expected"),
    [
        ("groups", "det:[tag=DT]?", "det:[tag=]?", (7, 24), "expected a value after tag"),
        ("groups", "head:NOUN", "head:NAUN", (7, 69), "unknown macro NAUN"),
        ("groups", '"to" main', '"to main', (23, 15), "quotation mark not closed"),
        ("groups", "NOUN: ", "noun: ", (4, 3), "upper case"),
        ("groups", "rules:\n", "rools:\n", (5, 1), "unknown field 'rools'"),
        ("groups", "kind: ng", "kant: ng", (9, 7), "build has no kind"),
        ("groups", "$head.sort", "$hand.sort", (12, 13), "unknown label $hand"),
        ("groups", "$head.sort", "$head.", (12, 13), "invalid value"),
        ("groups", "lower($det)", "lowly($det)", (13, 12), "unknown function"),
        ("groups", 'pattern: "[lemma=be]', 'pattern: "[tag=A]* [lemma=be]*', None, None),
        (
            "groups",
            '"[lemma=be] main:[tag=VBN]"',
            '"main:[tag=VBN]*"',
            (17, 14),
            "can match the empty sequence",
        ),
        ("groups", '"[lemma=be] main:[tag=VBN]"', '"main:([tag=A]+)+ ng"', (17, 14), "ways"),
        (
            "groups",
            '"[lemma=be] main:[tag=VBN]"',
            '"main:([tag=A]?)+ ng"',
            (17, 14),
            "repeats a part that can be empty",
        ),
        (
            "groups",
            '"[lemma=be] main:[tag=VBN]"',
            '"main:(([tag=A]{50}){50}){50} ng"',
            (17, 14),
            "more than 5,000 phrases",
        ),
        (
            "toy",
            "about: $what, slots: {LOC",
            "slots: {LOC",
            (7, 15),
            "about of a template is missing",
        ),
        ("toy", "about: $what, slots", "about: what, slots", (7, 23), "about is not a label"),
        ("toy", "starts: everywhere", "starts: nowhere", (3, 9), "expected cursor or everywhere"),
        ("toy", "nominal: [", "forms: [middle]\n    nominal: [", (16, 13), "unknown form 'middle'"),
        ("toy", "verb: [build", "verbs: [build", (13, 5), "unknown field 'verbs'"),
        ("toy", "where:[sort=PLACE]", "where:[sort=PLACE", (6, 69), "not closed"),
        ("domain", "type: number}", "type: numeral}", (11, 18), "no type of slots"),
        ("domain", "DEPOT: FACILITY", "DEPOT: FACTORY", (4, 3), "unknown parent FACTORY"),
        ("domain", "under: FACILITY}", "under: FACTORY}", (10, 13), "unknown sort FACTORY"),
        ("domain", "phases: [groups, toy]", "phases: [groups, tow]", (17, 9), "has no file"),
        ("domain", "[groups, toy]", f"[groups, {'a' * 300}]", (17, 9), "has no file rules/aaa"),
        ("domain", "[groups, toy]", "[groups, ../rules/toy]", (17, 9), "has no file"),
        ("domain", "domain: toy\n", "", (1, 1), "name of the domain is missing"),
        ("lexicon", "tag: NN\n", "tags: NN\n", (3, 3), "unknown field 'tags'"),
        ("lexicon", "words: [depot,", "wards: [depot,", (4, 3), "unknown field 'wards'"),
        ("lexicon", "words: [depot,", "words: [depot, {x", (4, 45), "is not YAML"),
        ("lexicon", "- sort: DEPOT", "- sort: &x DEPOT", (2, 9), "anchors and aliases"),
        ("lexicon", "- sort: DEPOT", "- sort: !!str DEPOT", (2, 9), "is not allowed"),
    ],
)
def test_errors_name_file_line_and_column(
    tmp_path: Path,
    file: str,
    old: str,
    new: str,
    place: tuple[int, int] | None,
    expected: str | None,
) -> None:
    texts = {"domain": DOMAIN, "lexicon": LEXICON, "groups": GROUPS, "toy": RULES}
    assert old in texts[file]
    changed = {file if file != "toy" else "rules": texts[file].replace(old, new, 1)}
    folder = written(tmp_path, **changed)
    if place is None or expected is None:
        read_domain(folder)
        return
    with pytest.raises(RuleError) as refused:
        read_domain(folder)
    assert expected in refused.value.said
    assert (refused.value.at.line, refused.value.at.column) == place
    assert str(folder) in str(refused.value)
    assert f"line {place[0]}: column {place[1]}: " in str(refused.value)


def test_all_problems_are_found_at_once(tmp_path: Path) -> None:
    groups = GROUPS.replace("[tag=VBN]", "[tag=]", 1).replace('"to"', '"to')
    loaded = load_rule_set(written(tmp_path, groups=groups))
    assert len(loaded.errors) == 2
    assert loaded.domain is not None
    assert len(loaded.domain.phases[0].rules) == 2


def test_a_column_in_double_quotes_counts_what_is_written(tmp_path: Path) -> None:
    groups = GROUPS.replace("'\"to\" main:[tag=VB]'", '"\\"to\\" main:[tag=]"')
    with pytest.raises(RuleError) as refused:
        read_domain(written(tmp_path, groups=groups))
    line = groups.split("\n")[refused.value.at.line - 1]
    assert line[refused.value.at.column - 1 :].startswith("]")


def test_unused_macros_are_warned_about(tmp_path: Path) -> None:
    groups = GROUPS.replace("macros:\n", 'macros:\n  LOST: "[tag=NN]"\n')
    folder = written(tmp_path, groups=groups)
    read_domain(folder)
    (problem,) = load_rule_set(folder).problems
    assert (problem.said, problem.error) == ("macro LOST is not used", False)


def test_limits_of_files(tmp_path: Path) -> None:
    folder = written(tmp_path, groups="rules: []" + "#" * LARGEST)
    with pytest.raises(InputError, match="larger than"):
        read_domain(folder)
    with pytest.raises(RuleError, match=f"more than {DEEPEST} deep"):
        tree_of("[" * 5_000, "f")
    bomb = "a: &a [x, x]\n" + "".join(f"b{n}: [*a, *a]\n" for n in range(50))
    with pytest.raises(RuleError, match="anchors and aliases"):
        tree_of(bomb, "f")
    with pytest.raises(RuleError, match="second document"):
        tree_of("a: 1\n---\nb: 2\n", "f")
    with pytest.raises(RuleError, match="duplicate key 'a'"):
        tree_of("a: 1\na: 2\n", "f")
    (folder / "rules/groups.yaml").write_bytes(b"rules:\n  \xff\n")
    with pytest.raises(InputError, match="line 2: is not UTF-8"):
        read_domain(folder)


def test_too_many_rules(tmp_path: Path) -> None:
    one = '  - {rule: r, pattern: "[tag=NN]", build: {kind: ng}}\n'
    with pytest.raises(InputError, match=r"1,001 rules in a phase \(expected at most 1,000\)"):
        read_domain(written(tmp_path, groups="rules:\n" + one * 1_001))


def test_macros_in_any_order_but_not_in_a_circle(tmp_path: Path) -> None:
    first = 'macros: {A: "B B", B: "[tag=NN]"}\n'
    rule = 'rules:\n  - {rule: r, pattern: "A", build: {kind: ng}}\n'
    assert read_domain(written(tmp_path, groups=first + rule))
    with pytest.raises(InputError, match="circular macros: "):
        read_domain(written(tmp_path, groups=first.replace("[tag=NN]", "A") + rule))


def test_macros_cannot_grow_without_end(tmp_path: Path) -> None:
    names = [chr(65 + n) * 2 for n in range(20)]
    macros = "".join(f'  {a}: "{b} {b}"\n' for a, b in pairwise(names))
    rule = 'rules:\n  - {rule: r, pattern: "AA", build: {kind: ng}}\n'
    groups = f'macros:\n{macros}  {names[-1]}: "[tag=NN]"\n{rule}'
    with pytest.raises(InputError, match="macros expanded"):
        read_domain(written(tmp_path, groups=groups))


def outcome(text: str) -> object:
    try:
        return tree_of(text, "f")
    except InputError as error:
        return str(error)


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="ab:-[]{},&*!|>'\"#\n \t%@`0\u2028\x00é", max_size=60))
def test_any_text_is_a_tree_or_refused(text: str) -> None:
    assert outcome(text) is not None


def test_brackets_that_yaml_would_cut() -> None:
    tree = tree_of("{a: first($x, 1, upper($y, z)), b: 2}", "f")
    assert isinstance(tree, Map)
    assert [(key.value, value.value) for key, value in tree.pairs if isinstance(value, Text)] == [
        ("a", "first($x, 1, upper($y, z))"),
        ("b", "2"),
    ]


def test_the_place_of_a_character() -> None:
    assert Text("ab", At("f", 3, 5), True, "ab").within(1) == At("f", 3, 6)
    assert Text("ab", At("f", 3, 5), False, "'ab'").within(1) == At("f", 3, 7)
    assert Text("folded", At("f", 3, 5), False, "").within(4) == At("f", 3, 5)


@pytest.mark.parametrize("name", ["english", "depots"])
def test_the_shipped_domains_are_read(name: str) -> None:
    assert name in installed(DOMAINS)
    assert read_domain(name) is read_domain(name)
    assert not load_rule_set(name).errors
