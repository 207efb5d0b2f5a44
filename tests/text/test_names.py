"""Names of every kind, by texts that were written before the rules (tests/text/names)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from partita.domains.general.domain import domain
from partita.text.layout import parse_layout
from partita.text.mentions import titles_below_names

TEXTS = [
    json.loads(line)
    for line in (Path(__file__).parent / "names" / "sentences.jsonl")
    .read_text("utf-8")
    .splitlines()
]
LEAST = 46


def _mentions(text: str) -> list[tuple[str, str]]:
    found = domain.extract(parse_layout("text", text, "text.txt", 0))
    return [(" ".join(one.text.split()), one.type) for one in found]


def _bare(name: str) -> str:
    return name[4:] if name.lower().startswith("the ") else name


def _is_right(case: dict[str, Any]) -> bool:
    found = _mentions(case["text"])
    typed = {(_bare(text), entity_type) for text, entity_type in found}
    named = all((_bare(one["text"]), one["type"]) in typed for one in case["names"])
    return named and not {text for text, _ in found} & set(case["absent"])


def test_names_of_every_kind() -> None:
    wrong = [case["text"] for case in TEXTS if not _is_right(case)]
    assert len(TEXTS) == 50
    assert len(TEXTS) - len(wrong) >= LEAST, wrong


@pytest.mark.parametrize(
    ("text", "present", "absent"),
    [
        (
            "Hewlett-Packard CEO Mark Hurd said he would buy EDS. Coca-Cola and Rolls-Royce said "
            "Hurd is right.",
            {("Hewlett-Packard", "organization"), ("Mark Hurd", "person"),
             ("Coca-Cola", "organization"), ("Rolls-Royce", "organization")},
            {"Hewlett", "Packard", "Coca", "Rolls"},
        ),
        ("BREMEN (Reuters) - A ship sank.", {("BREMEN", "place"), ("Reuters", "organization")},
         {"BREMEN (Reuters)"}),
        ("Chapter 1\n\nSir Walter Elliot read a book.", {("Sir Walter Elliot", "person")},
         {"Chapter 1", "Chapter"}),
        ("The ferry left Port Ellery at noon.", {("Port Ellery", "place")}, {"Port", "Ellery"}),
        ("It cost $1.2 billion.", set(), {"$1", "$ 1", "$"}),
    ],
)  # fmt: skip
def test_what_made_readers_laugh(
    text: str, present: set[tuple[str, str]], absent: set[str]
) -> None:
    found = _mentions(text)
    assert present <= set(found)
    assert not {text for text, _ in found} & absent


@pytest.mark.parametrize(
    ("text", "name", "head", "gender"),
    [
        ("Mr Quinn asked for a new tank.", "Mr Quinn", "quinn", "male"),
        ("They thanked Ms Mehta.", "Ms Mehta", "mehta", "female"),
        ("Mrs. Lowe came home.", "Mrs. Lowe", "lowe", "female"),
        ("He told Mr Ahmed Farouk.", "Mr Ahmed Farouk", "ahmed", "male"),
        ("Prof. Xu is late.", "Prof. Xu", "xu", None),
    ],
)
def test_a_title_is_not_the_head_of_a_name_and_says_the_gender(
    text: str, name: str, head: str, gender: str | None
) -> None:
    (found,) = (one for one in domain.extract(parse_layout("text", text)) if one.text == name)
    assert (found.head, found.type, found.slots.get("GENDER")) == (head, "person", gender)


def test_a_noun_at_the_end_of_a_sentence_stays_in_it() -> None:
    words = ["there", "goes", "the", "dog", "Mary", "left"]
    heads = np.array([1, -1, 3, 1, 1, -1])
    subject, modifier, other = 1, 2, 0
    relations = np.array([other, other, other, subject, subject, other], dtype=np.uint8)
    named = np.array([word == "Mary" for word in words])
    apart, joined = (heads.copy(), relations.copy()), (heads.copy(), relations.copy())
    titles_below_names(words, named, np.array([4, 6]), *apart, modifier, subject)
    assert apart[0].tolist() == heads.tolist()
    assert apart[1].tolist() == relations.tolist()
    titles_below_names(words, named, np.array([6]), *joined, modifier, subject)
    assert (joined[0][3], joined[1][3]) == (4, modifier)
