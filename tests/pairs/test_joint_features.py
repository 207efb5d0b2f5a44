"""What the joint model sees of templates."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.joint_explained import relations
from partita.configurations.joint import codes as column
from partita.configurations.joint.features import (
    joint_columns,
    kind_of,
    kinship,
    lexeme,
    rarities_of,
    words_of,
)
from partita.core import Configuration, Document, Template
from partita.domains.general.domain import domain
from partita.text.messages import parse_message
from partita.text.raw_messages import RawMessage
from partita.training.joint import key_decisions


def made(name: str, text: str, form: str, start: int = 0, **said: object) -> Template:
    words = text.lower().split()
    slots = {slot: said.pop(slot) for slot in ("NAME", "TITLE") if slot in said}
    context = {"WORDS": words, **said}
    place = (start, start + len(text))
    return Template(
        name, text, *place, type="person", head=words[-1], form=form, slots=slots, context=context
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "form", "said", "kind"),
    [
        ("myself", "pronoun", {}, "i"),
        ("its", "pronoun", {}, "it"),
        ("those", "pronoun", {}, "demonstrative"),
        ("everyone", "indefinite", {}, "indefinite pronoun"),
        ("the man", "definite", {"DETERMINER": "the"}, "the"),
        ("that man", "definite", {"DETERMINER": "that"}, "this"),
        ("her man", "definite", {"DETERMINER": "her"}, "possessed"),
        ("a man", "indefinite", {"DETERMINER": "a"}, "a"),
        ("Ann Lee", "name", {"NAME": "Ann Lee"}, "name"),
        ("here", "bare", {}, "deictic"),
        ("1984", "bare", {}, "numeral"),
        ("rain", "bare", {}, "bare"),
    ],
)
def test_kinds(text: str, form: str, said: dict[str, object], kind: str) -> None:
    template = made("a", text, form, **said)
    assert column.KINDS[kind_of(template, words_of(template))] == kind


def related(earlier: Template, later: Template) -> int:
    return int(relations(joint_columns([earlier, later], {}).mentions)[1, 0])


def test_words_in_common() -> None:
    bits = related(made("a", "the old man", "definite"), made("b", "the man", "definite", 50))
    assert bits & column.SAME_HEAD
    assert bits & column.ALL_OF_LATER
    assert not bits & (column.SAME_TEXT | column.ALL_OF_EARLIER)
    bits = related(made("a", "World Health Office", "name"), made("b", "WHO", "name", 50))
    assert bits & column.ACRONYM
    assert related(made("a", "Ann Lee", "name", NAME="Ann Lee"),
                   made("b", "Lee", "name", 50, NAME="Lee")) & column.PART_OF_NAME  # fmt: skip


def test_names_without_a_common_word() -> None:
    def both(earlier: str, later: str, **said: object) -> int:
        one = made("a", earlier, "name", NAME=earlier)
        return related(one, made("b", later, "name", 50, NAME=later, **said))

    others = column.OTHER_FULL_NAME | column.OTHER_HALF_NAME | column.OTHER_NAME
    assert both("Mark Hurd", "Ursula Stein") & others == column.OTHER_FULL_NAME
    assert both("Mark Hurd", "Stein") & others == column.OTHER_HALF_NAME
    assert both("Hurd", "Stein") & others == column.OTHER_NAME
    assert both("Mark Hurd", "Hurd") & others == 0
    assert both("Mark Hurd", "Stein", TITLE="Ms") & others == column.OTHER_FULL_NAME
    assert both("Mark Hurd", "Stein", TITLE="President") & others == column.OTHER_HALF_NAME
    assert both("M. Hurd", "P. Stein") & others == column.OTHER_FULL_NAME
    assert both("G.", "G", TITLE="Mrs") & others == 0
    assert both("Mark Hurd", "National Player") & others == column.OTHER_HALF_NAME
    assert both("Mark Hurd", "Chief Officer", APPOSITION_OF="a") & others == 0
    assert related(made("a", "Mark Hurd", "name", NAME="Mark Hurd"),
                   made("b", "the officer", "definite", 50)) & others == 0  # fmt: skip


def test_a_noun_has_the_name_in_apposition_to_it() -> None:
    noun = made("a", "its president", "definite", DETERMINER="its")
    name = made("b", "Ursula Stein", "name", 50, NAME="Ursula Stein", APPOSITION_OF="a")
    other = made("c", "Mark Hurd", "name", 100, NAME="Mark Hurd")
    bits = relations(joint_columns([noun, name, other], {}).mentions)
    assert bits[1, 0] & column.APPOSED
    assert bits[2, 0] & column.OTHER_FULL_NAME
    assert not relations(joint_columns([noun, other], {}).mentions)[1, 0] & column.OTHER_FULL_NAME


def test_numerals_and_pronouns() -> None:
    bits = related(made("a", "May 2015", "name"), made("b", "May 2016", "name", 50))
    assert bits & column.OTHER_NUMERAL
    assert related(made("a", "he", "pronoun"), made("b", "he", "pronoun", 50)) == column.ELSEWHERE


def test_possessors_are_decided_first_and_owners_known() -> None:
    outer = made("a", "his mother", "definite", DETERMINER="his")
    inner = made("b", "his", "pronoun", PARENT="a", ROLE="possessive")
    found = joint_columns([outer, inner], {})
    assert found.order.tolist() == [1, 0]
    assert found.mentions.attributes[1, column.OWNER] == 0
    assert relations(found.mentions)[1, 0] & column.NESTED


def test_parents_that_do_not_contain_are_not_followed() -> None:
    one, two = made("a", "man", "bare", PARENT="b"), made("b", "man", "bare", PARENT="a")
    assert not related(one, two) & column.NESTED


def test_appositions_and_predicates() -> None:
    one = made("a", "Ann", "name", NAME="Ann")
    assert related(one, made("b", "a doctor", "indefinite", 9, COPULA_OF="a")) & column.PREDICATED
    assert related(one, made("b", "a doctor", "indefinite", 9, APPOSITION_OF="a")) & column.APPOSED


def test_genders_of_names() -> None:
    names = ("Mary Smith", "John Smith", "Mr. Mary", "Smith", "Zzyzx Smith")
    made_of = [made(f"m{n}", name, "name", 50 * n, NAME=name) for n, name in enumerate(names)]
    genders = joint_columns(made_of, {}).mentions.attributes[:, column.GENDER].tolist()
    assert genders == [
        column.FEMALE_NAME,
        column.MALE_NAME,
        column.MASCULINE,
        column.MALE_ALONE,
        0,
    ]


@pytest.mark.parametrize(
    ("text", "earlier", "later", "path"),
    [
        ("The mayor thanked him.", "The mayor", "him", column.OTHER_THAN_SUBJECT),
        ("The mayor thanked himself.", "The mayor", "himself", column.BESIDE_SUBJECT),
        ("The mayor thanked Ruth.", "The mayor", "Ruth", column.BESIDE_SUBJECT),
        ("The mayor gave him money.", "The mayor", "him", column.BESIDE_SUBJECT),
        ("She took it with her.", "She", "her", column.OBLIQUE_BESIDE),
        ("She sent him to them.", "him", "them", column.ARGUMENTS),
        ("The mayor lost his hat.", "The mayor", "his", column.OWNED_BY_SUBJECT),
        ("The mayor lost his hat.", "his", "his hat", column.OWNED),
        ("Mary said that she was ill.", "Mary", "she", column.SUBJECT_ABOVE),
        ("Mary wanted to see her.", "Mary", "her", column.OTHER_THAN_SUBJECT),
        ("Mary came in. She sat down.", "Mary", "She", column.LAST_MAIN_SUBJECT),
        ("They saw Mary. She sat down.", "Mary", "She", column.LAST_OBJECT),
    ],
)
def test_places_in_the_sentence(text: str, earlier: str, later: str, path: int) -> None:
    found = domain.extract(parse_message(RawMessage("a", text, "a")))
    columns = joint_columns(found, {})
    texts = [found[n].text for n in columns.order.tolist()]
    i, j = sorted((texts.index(earlier), texts.index(later)))
    bits = int(relations(columns.mentions)[j, i])
    assert bits >> column.PATH == path >> column.PATH


def test_questions_and_turns() -> None:
    paragraphs = ((0, True), (1, False), (1, False), (3, False))
    said = [
        made(f"m{n}", "I", "pronoun", 10 * n, PARAGRAPH=place, QUESTION=asked)
        for n, (place, asked) in enumerate(paragraphs)
    ]
    attributes = joint_columns(said, {}).mentions.attributes
    assert attributes[:, column.QUESTION].tolist() == [1, 2, 2, 0]
    assert attributes[:, column.TURN].tolist() == [0, 1, 1, 0]


def test_who_is_quoted() -> None:
    said = [
        made("a", "I", "pronoun", 0),
        made("b", "I", "pronoun", 10, QUOTE=1),
        made("c", "you", "pronoun", 20, QUOTE=1),
        made("d", "I", "pronoun", 30, QUOTE=2),
    ]
    document = Document("d", "", tuple(said), Configuration([["a"], ["b"], ["c"], ["d"]]), "")
    decisions = key_decisions(document, {})
    last = decisions.codes[decisions.begin[3] :]  # the cells of c, b and a
    assert last[:, column.C_QUOTE].tolist() == [3 + 1, 3 + 1, 3 + 2]
    assert last[:, column.C_VOICES].tolist() == [16 + 2, 16 + 4 * 2, 16 + 4 * 3]
    assert last[:, column.C_SPEAKER_RANK].tolist() == [1, 2, 3]
    assert decisions.new[:, column.N_QUOTED].tolist() == [0, 1, 1, 1]


def test_lexemes() -> None:
    assert lexeme(made("a", "he", "pronoun")) == "*he"
    found = joint_columns([made("a", "the man", "definite")], {"man": 7})
    assert found.mentions.attributes[0, column.LEXEME_ID] == 7
    assert relations(joint_columns([], {}).mentions).shape == (0, 0)


def test_partitives_have_the_head_of_their_whole() -> None:
    whole = made("b", "the students", "definite", 7, PARENT="a")
    part = Template("a", "one of the students", 0, 19, head="one", form="indefinite",
                    context={"WORDS": ["one", "of", "the", "students"]})  # fmt: skip
    found = joint_columns([part, whole], {}).mentions
    assert found.attributes[0, column.HEAD] == found.attributes[1, column.HEAD]
    assert found.attributes[0, column.PARTS] == column.PARTITIVE
    assert found.attributes[1, column.PARTS] == 0


def test_coordinations_have_the_heads_of_all_that_they_join() -> None:
    both = made("a", "Ann and Lee", "name", CONJUNCTS=["ann"])
    bits = related(both, made("b", "Lee", "name", 50))
    assert not bits & column.SAME_HEAD
    again = made("b", "Lee and Ann", "name", 50, CONJUNCTS=["lee"])
    assert related(both, again) & column.SAME_HEAD


def test_words_are_related_by_the_table_of_words() -> None:
    kin = kinship(("", "car", "vehicle", "greek", "greece", "qqqq"))
    relation = kin // column.COSINES % column.RELATIONS
    assert relation[1, 2] == column.EARLIER_ABOVE
    assert relation[2, 1] == column.LATER_ABOVE
    assert relation[3, 4] == relation[4, 3] == column.DERIVED
    assert (np.diag(relation) == column.SAME_WORD).all()
    cosine = kin % column.COSINES
    assert cosine[1, 2] == 6
    assert (cosine[5, :5] == 0).all()
    assert rarities_of(["the", "qqqq"]) == [1, 6]
