from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import InputError
from partita.rules.domain_files import read_domain
from research.measure_groups import (
    group_scores,
    grouping,
    measure_groups,
    noun_groups,
    score,
    tree_files,
    trees,
    verb_groups,
)

GUM = Path(os.environ.get("PARTITA_DATA", "../shared/data")) / "gum"


class Leaf(NamedTuple):
    form: str
    upos: str
    head: int
    relation: str


def tree(text: str) -> list[Leaf]:
    """A tree from lines of form, UPOS, head counted from 1, relation."""
    rows = [line.split() for line in text.strip().split("\n")]
    return [Leaf(form, upos, int(head) - 1, relation) for form, upos, head, relation in rows]


def nouns(text: str) -> list[str]:
    words = tree(text)
    return [" ".join(w.form for w in words[a:b]) for a, b in noun_groups(words)]


def verbs(text: str) -> list[str]:
    words = tree(text)
    return [" ".join(w.form for w in words[a:b]) for a, b in verb_groups(words)]


DEPOT = """
The DET 5 det
two NUM 5 nummod
very ADV 4 advmod
old ADJ 5 amod
depots NOUN 8 nsubj
near ADP 7 case
Kinston PROPN 5 nmod
burned VERB 0 root
down ADP 8 compound:prt
"""
DIVISION = """
The DET 2 det
division NOUN 5 nmod:poss
's PART 2 case
ammunition NOUN 5 compound
depot NOUN 10 nsubj:pass
in ADP 7 case
it PRON 5 nmod
has AUX 10 aux
been AUX 10 aux:pass
destroyed VERB 0 root
"""
NAMED = """
Matthew PROPN 5 nsubj
William PROPN 1 flat
Goode PROPN 1 flat
never ADV 5 advmod
saw VERB 0 root
his PRON 7 nmod:poss
debut NOUN 5 obj
on ADP 9 case
3 NUM 5 obl
April PROPN 9 nmod:unmarked
1978 NUM 9 nmod:unmarked
"""
JOINED = """
Extensive ADJ 5 amod
admin NOUN 5 compound
and CCONJ 4 cc
support NOUN 2 conj
areas NOUN 7 nsubj
to PART 7 mark
build VERB 0 root
and CCONJ 9 cc
all DET 7 conj
of ADP 11 case
them PRON 9 nmod
"""


def test_from_determiner_to_head() -> None:
    assert nouns(DEPOT) == ["The two very old depots", "Kinston"]
    assert verbs(DEPOT) == ["burned down"]


def test_a_clitic_is_in_no_group() -> None:
    assert nouns(DIVISION) == ["The division", "ammunition depot", "it"]
    assert verbs(DIVISION) == ["has been destroyed"]


def test_names_go_on_to_the_right_and_dates_are_one_group() -> None:
    assert nouns(NAMED) == ["Matthew William Goode", "his debut", "3 April 1978"]
    assert verbs(NAMED) == ["saw"]


def test_coordinated_modifiers_and_determiners_that_stand_alone() -> None:
    assert nouns(JOINED) == ["Extensive admin and support areas", "all", "them"]
    assert verbs(JOINED) == ["to build"]


KINDS = st.sampled_from(
    ["NOUN", "PROPN", "PRON", "DET", "ADJ", "VERB", "AUX", "PART", "NUM", "ADP"]
)
RELATIONS = st.sampled_from(
    ["det", "amod", "compound", "flat", "nmod:poss", "case", "nsubj", "obj", "aux", "mark", "conj"]
)


@st.composite
def any_tree(draw: st.DrawFn) -> list[Leaf]:
    """Each word depends on one that was drawn before it, wherever that stands."""
    order = draw(st.permutations(range(draw(st.integers(0, 10)))))
    heads = {word: draw(st.sampled_from(order[:n])) if n else -1 for n, word in enumerate(order)}
    return [Leaf("w", draw(KINDS), heads[n], draw(RELATIONS)) for n in sorted(heads)]


@given(any_tree())
def test_groups_of_any_tree_are_inside_and_apart(words: list[Leaf]) -> None:
    for spans in (noun_groups(words), verb_groups(words)):
        assert spans == sorted(set(spans))
        assert all(0 <= start < end <= len(words) for start, end in spans)
        assert all(a[1] <= b[0] for a, b in pairwise(spans))


def test_equal_spans_count() -> None:
    tally = score([(0, 2), (3, 4)], [(0, 2), (2, 4), (5, 6)])
    assert (tally.recall, tally.precision) == (1 / 2, 1 / 3)


def test_groups_that_the_rules_find_are_scored_at_their_place() -> None:
    tags = ["DT", "CD", "RB", "JJ", "NNS", "IN", "NNP", "VBD", "RP"]
    cascade = grouping(read_domain("english"))
    scores = group_scores([[tree(DEPOT), tree(DEPOT)]], cascade, lambda words, ends: tags * 2)
    assert scores.noun.f == scores.verb.f == 1
    assert (scores.noun.wanted, scores.verb.wanted) == (4, 2)


def test_files_are_read_without_empty_nodes(tmp_path: Path) -> None:
    rows = [
        "1 It it PRON PRP _ 2 nsubj _ _",
        "2 burned burn VERB VBD _ 0 root _ _",
        "2.1 it it PRON PRP _ _ _ 2:obj _",
        "3 it it PRON PRP _ 2 obj _ _",
    ]
    path = tmp_path / "one.conllu"
    path.write_text("\n".join("\t".join(row.split()) for row in rows) + "\n\n", encoding="utf-8")
    (words,) = trees(path)
    assert [(word.form, word.head) for word in words] == [("It", 1), ("burned", -1), ("it", 1)]
    found = measure_groups(read_domain("english"), [tmp_path], lambda words, ends: ["PRP"] * 3)
    assert found.noun.wanted == 2


def test_a_folder_without_trees_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no CoNLL-U files"):
        tree_files([tmp_path])


@pytest.mark.corpus
def test_noun_groups_of_gum() -> None:
    """With our own tags, on documents that neither the tagger nor the rules have seen."""
    if not (GUM / "dev").is_dir():
        pytest.skip(f"{GUM} is not here")
    from partita.text.tagger_models import shipped_tagger

    scores = measure_groups(read_domain("english"), [GUM / "dev"], shipped_tagger().names)
    assert scores.noun.f >= 0.90
    assert scores.verb.f >= 0.90
