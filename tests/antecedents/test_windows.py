"""Windows of a long message: where they are cut, what they read again, and which entities go on."""

from __future__ import annotations

import pytest

from partita.antecedents.sets import Chains, Windows
from partita.core import Configuration, CoreferenceSet, Template


def templates(*places: tuple[int, int]) -> list[Template]:
    """Return templates by (paragraph, sentence), with their numbers as ids."""
    return [
        Template(f"m{n}", start=n, end=n + 1, sentence=sentence, context={"PARAGRAPH": paragraph})
        for n, (paragraph, sentence) in enumerate(places)
    ]


@pytest.mark.parametrize(
    ("places", "cuts"),
    [
        ([(0, 0)] * 4, [0, 4]),  # as many as a window takes
        ([(0, 0)] * 5, [0, 4, 5]),  # nowhere to cut
        ([(0, 0)] * 3 + [(0, 1)] * 2, [0, 3, 5]),  # a sentence begins
        ([(0, 0)] * 3 + [(1, 1)] + [(1, 2)], [0, 3, 5]),  # a paragraph is better than a sentence
        ([(0, 0)] * 2 + [(1, 1)] * 3, [0, 4, 5]),  # windows are more than half full
        ([(0, n) for n in range(9)], [0, 4, 8, 9]),
        ([], [0, 0]),
    ],
)
def test_windows_begin_with_a_paragraph_or_else_a_sentence(places, cuts):
    assert Windows(most=4).cuts(templates(*places)) == cuts


def test_the_last_templates_and_one_name_of_other_entities_are_read_again():
    chains = Chains()
    names = {"m0": "Ann", "m1": "Ann Smith", "m3": "Bob"}
    every = [
        Template(f"m{n}", names.get(f"m{n}", "it"), start=n, end=n + 1,
                 form="name" if f"m{n}" in names else "pronoun")
        for n in range(7)
    ]  # fmt: skip
    for ids in (("m0", "m1", "m4"), ("m2",), ("m3",), ("m5", "m6")):
        chosen = [every[int(name[1:])] for name in ids]
        chains.add(Configuration([ids]), CoreferenceSet(tuple(chosen)))

    def again(last: int, names: int) -> list[str]:
        return [one.id for one in chains.read_again(every, Windows(4, last, names))]

    assert again(2, 9) == ["m1", "m3", "m5", "m6"]
    assert again(2, 1) == ["m1", "m5", "m6"]
    assert again(4, 9) == ["m3", "m4", "m5", "m6"]  # the entity of m1 is there


def test_a_cell_joins_the_entity_that_most_of_its_earlier_templates_belong_to():
    chains = Chains()
    first = templates(*[(0, 0)] * 5)
    chains.add(Configuration([("m0", "m1"), ("m2",), ("m3",)]), CoreferenceSet(tuple(first[:4])))
    chains.add_single(first[4])
    chains.add_single(first[4])
    assert [[one.id for one in members] for members in chains.members] == [
        ["m0", "m1"], ["m2"], ["m3"], ["m4"],
    ]  # fmt: skip
    new = [Template(f"n{n}", start=9 + n, end=10 + n) for n in range(3)]
    cells = [("m0", "m1", "m2", "n0"), ("m3", "n1"), ("n2",)]
    chains.add(Configuration(cells), CoreferenceSet((*first[:4], *new)))
    assert [[one.id for one in members] for members in chains.members] == [
        ["m0", "m1", "n0"], ["m2"], ["m3", "n1"], ["m4"], ["n2"],
    ]  # fmt: skip


def test_with_as_many_templates_of_each_the_earlier_entity_goes_on():
    chains = Chains()
    first = templates((0, 0), (0, 0))
    chains.add(Configuration([("m0",), ("m1",)]), CoreferenceSet(tuple(first)))
    both = (*first, Template("n", start=9))
    chains.add(Configuration([("m0", "m1", "n")]), CoreferenceSet(both))
    assert chains.home == {"m0": 0, "m1": 1, "n": 0}
