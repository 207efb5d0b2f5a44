from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import laws
from partita.errors import InputError
from partita.templates.name import Name, NameType, split_name
from partita.templates.slots import Aliases, compare

ALIASES = Aliases.of([["Big Blue", "IBM"], ["Kinston Base", "KB 1"]])
POOL = [
    "Kinston", "KINSTON depot", "Kinston Rail Depot", "K. Depot", "KRD", "Depot 1", "Depot 12",
    "Andrew Kehler", "A. Kehler", "Kehler", "Andrew", "AK", "IBM", "Big Blue", "KB 1",
    "International Business Machines", "Int'l Business", "U.S. Army", "US ARMY", "!!", "?",
]  # fmt: skip


@settings(deadline=None, max_examples=120)
@given(*[st.sampled_from(POOL)] * 3, st.sampled_from([Aliases(), ALIASES]))
def test_laws(a: str, b: str, c: str, aliases: Aliases) -> None:
    slot = NameType(aliases)
    laws.check(slot, slot.read(a), slot.read(b), slot.read(c))


def test_no_variant_is_forgotten() -> None:
    slot = NameType()
    both = slot.unify(slot.read("Kinston"), slot.read("Kinston Depot"))
    assert both == Name(frozenset({"KINSTON", "KINSTON DEPOT"}))
    assert both.json() == ["KINSTON", "KINSTON DEPOT"]
    assert str(both) == "KINSTON = KINSTON DEPOT"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("Kinston", "KINSTON ", "identical"),
        ("Kinston", "Kinston Depot", "compatible"),
        ("Kinston", "Fairview", "distinct"),
        ("Andrew Kehler", "A. Kehler", "compatible"),
        ("Andrew K.", "A. Kehler", "compatible"),
        ("Bill Clinton", "Hillary Clinton", "distinct"),
        ("International Business Machines", "I.B.M.", "compatible"),
        ("United States of America", "USA", "compatible"),
        ("US Army", "United States Army", "compatible"),
        ("IBM", "Int. Bus. M.", "compatible"),
        ("Depot 1", "Depot 2", "distinct"),
        ("Depot 1", "Depot 12", "distinct"),
        ("Depot", "Depot 12", "compatible"),
        ("O'Brien", "OBrien", "compatible"),
        ("Depot Kinston", "Kinston Depot", "distinct"),
        ("Al-Qaeda", "Al Qaeda", "compatible"),
        ("!!", "?", "distinct"),
        ("!!", "Kinston", "distinct"),
    ],
)
def test_comparisons(left: str, right: str, expected: str) -> None:
    slot = NameType()
    assert compare(slot, slot.read(left), slot.read(right)) == expected


def test_aliases() -> None:
    slot = NameType(ALIASES)
    assert slot.read("ibm") == slot.read("BIG BLUE")
    machines = slot.read("International Business Machines")
    assert slot.unify(slot.read("Big Blue"), machines) is not None
    plain = NameType()
    assert plain.unify(plain.read("Big Blue"), machines) is None


def place_all(short: list[str], long: list[str]) -> bool:
    """Whether the short name's words find disjoint places in order: all ways are tried."""
    if not short:
        return True
    word, rest = short[0], short[1:]
    for n, other in enumerate(long):
        initial = min(len(word), len(other)) == 1 and word[0] == other[0] and word[0].isalpha()
        if (word == other or initial) and place_all(rest, long[n + 1 :]):
            return True
    if len(word) > 1 and word.isalpha():
        for spots in combinations(range(len(long)), len(word)):
            if "".join(long[n][0] for n in spots) == word and place_all(
                rest, long[spots[-1] + 1 :]
            ):
                return True
    return False


WORDS = st.lists(
    st.sampled_from(["A", "B", "AB", "BA", "ABA", "1", "12", "1A"]), min_size=1, max_size=5
)


@settings(deadline=None, max_examples=120)
@given(WORDS, WORDS)
def test_words_find_their_places(a: list[str], b: list[str]) -> None:
    slot = NameType()
    fit = slot.unify(slot.read(" ".join(a)), slot.read(" ".join(b))) is not None
    assert fit == (place_all(a, b) or place_all(b, a))


def test_words() -> None:
    assert split_name("U.S. ARMY/3RD O'BRIEN_X") == ("US", "ARMY", "3RD", "OBRIEN", "X")


@settings(deadline=None)
@given(st.text(), st.text())
def test_any_text(a: str, b: str) -> None:
    slot = NameType()
    if a.strip() and b.strip():
        laws.check_two(slot, slot.read(a), slot.read(b))


def test_mistakes_are_named() -> None:
    slot = NameType()
    for given_ in (3, "", [], ["Kinston", "Fairview"]):
        with pytest.raises(InputError, match="is not a name or a list of variants of one name"):
            slot.read(given_)
    pairs = product(["Kinston", "Kinston Depot"], repeat=2)
    assert all(slot.read(list(names)) for names in pairs)
