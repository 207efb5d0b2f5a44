from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import laws
from partita.errors import InputError
from partita.templates.slots import StateGroup, Strings, StringsType

SETS = st.lists(st.sampled_from(["admin area", "Support area", "yard", "é"]), min_size=1)


@settings(deadline=None)
@given(SETS, SETS, SETS)
def test_laws(a: list[str], b: list[str], c: list[str]) -> None:
    slot = StringsType()
    x, y, z = (slot.read(given_) for given_ in (a, b, c))
    laws.check(slot, x, y, z)
    assert slot.unify(x, y).members == set(a) | set(b)


@settings(deadline=None)
@given(*[st.sampled_from(["a", "b", " a"])] * 3)
def test_laws_of_one_string(a: str, b: str, c: str) -> None:
    slot = StringsType(several=False)
    laws.check(slot, slot.read(a), slot.read(b), slot.read(c))
    assert (slot.unify(slot.read(a), slot.read(b)) is None) == (a.strip() != b.strip())


def test_forms() -> None:
    value = StringsType().read([" two   yards", "admin", "admin", "e\u0301"])
    assert value == Strings(frozenset({"two yards", "admin", "é"}))
    assert value.json() == ["admin", "two yards", "é"]
    assert str(value) == "admin; two yards; é"


@pytest.mark.parametrize("given_", [3, None, [], ["a", 3], " "])
def test_no_strings(given_: object) -> None:
    with pytest.raises(InputError, match="is not a string or a list of strings"):
        StringsType().read(given_)


def test_two_for_one() -> None:
    with pytest.raises(InputError, match="is not one string"):
        StringsType(several=False).read(["a", "b"])


def test_an_absorbing_state_remains_with_what_it_implies() -> None:
    values = ("OPERATIONAL", "NOT OPERATIONAL", "DESTROYED")
    absorbing, implied = frozenset({"DESTROYED"}), frozenset({"NOT OPERATIONAL"})
    slot = StringsType(groups=(StateGroup("condition", values, absorbing, implied),))
    works, idle, destroyed = (slot.read([one]) for one in values)
    assert slot.updated(destroyed, idle) == destroyed
    assert slot.updated(idle, destroyed) == destroyed
    assert slot.updated(destroyed, works) == works
    assert slot.updated(works, idle) == idle
    assert not slot.contradict(destroyed, idle)
    assert not slot.contradict(idle, destroyed)
    assert slot.contradict(destroyed, works)
    assert slot.contradict(works, idle)
