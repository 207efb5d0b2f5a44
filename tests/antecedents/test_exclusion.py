from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from partita.antecedents.sets import possible_pairs
from partita.core import Template

GUM = Path(os.environ.get("PARTITA_DATA", "../shared/data")) / "gum"


def may(left: Template, right: Template) -> bool:
    allowed = possible_pairs((left, right))
    assert np.array_equal(allowed, allowed.T)
    assert allowed.diagonal().all()
    return bool(allowed[0, 1])


def said(start: int, end: int, **rest: object) -> Template:
    return Template(f"{start}-{end}", start=start, end=end, **rest)  # type: ignore[arg-type]


def test_types_genders_and_counts_that_differ_rule_out() -> None:
    assert not may(said(0, 1, type="person"), said(2, 3, type="place"))
    assert may(said(0, 1, type="person"), said(2, 3, type="Person"))
    assert may(said(0, 1, type="person"), said(2, 3))
    assert not may(said(0, 1, number=2), said(2, 3, number=3))
    assert may(said(0, 1, number=2), said(2, 3, number="plural"))
    he, she = ({"GENDER": gender} for gender in ("masc", "fem"))
    assert not may(said(0, 1, context=he), said(2, 3, context=she))


def test_a_part_that_begins_its_whole_or_lies_deep_in_it_is_not_the_whole() -> None:
    mother, her, name = said(0, 20), said(0, 3), said(10, 15)
    assert not may(mother, her)
    assert may(mother, name)
    deep = possible_pairs((said(0, 30), said(5, 30), said(10, 15), said(20, 22, form="pronoun")))
    assert not deep[0, 2]
    assert deep[1, 2]
    assert deep[0, 3]


@pytest.mark.corpus
@pytest.mark.skipif(not GUM.is_dir(), reason=f"{GUM} is missing")
def test_knowledge_leaves_the_truth_possible_on_gum() -> None:
    from partita.corpora.documents import read_corefud

    lost = links = 0
    for document in read_corefud(GUM / "dev"):
        joined = np.triu(document.labels[:, None] == document.labels[None, :], 1)
        links += int(joined.sum())
        lost += int((joined & ~possible_pairs(document.templates)).sum())
    assert 1 - lost / links >= 0.99
