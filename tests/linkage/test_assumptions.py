"""A=B and A!=B, also when ids hold those signs."""

from __future__ import annotations

import pytest

from partita.errors import InputError
from partita.linkage.grouping import group
from partita.linkage.pairs import read_pairs
from partita.linkage.sets import Assumption, conditioned, parse_assumption


def sets(*rows: tuple[str, str, float]):
    return group(read_pairs(rows, name="pairs"))


@pytest.mark.parametrize(
    ("text", "known", "meant"),
    [
        ("A=B", "A B", Assumption("A", "B", True)),
        ("A!=B", "A B", Assumption("A", "B", False)),
        (" A = B ", "A B", Assumption("A", "B", True)),
        ("A!=B", "A! B", Assumption("A!", "B", True)),
        ("a=1=b=2", "a=1 b=2", Assumption("a=1", "b=2", True)),
        ("a=1!=b=2", "a=1 b=2", Assumption("a=1", "b=2", False)),
        ("x!=y!=z", "x y!=z", Assumption("x", "y!=z", False)),
        ("=A=B", "=A B", Assumption("=A", "B", True)),
    ],
)
def test_readings(text, known, meant):
    assert parse_assumption(text, set(known.split())) == meant


@pytest.mark.parametrize(
    ("text", "known", "said"),
    [
        ("AB", "A B", "is not of the form A=B or A!=B"),
        ("=B", "A B", "is not of the form A=B or A!=B"),
        ("A=Z", "A B", "there is no template 'Z'"),
        ("Y!=B", "A B", "there is no template 'Y'"),
        ("A=A", "A B", "compares A with itself"),
        ("A!=B", "A A! B", "can be read in 2 ways"),
    ],
)
def test_what_cannot_be_read(text, known, said):
    with pytest.raises(InputError, match=said):
        parse_assumption(text, set(known.split()))


def test_only_the_set_that_holds_both_is_concerned():
    given = sets(("A", "B", 0.5), ("B", "C", 0.5), ("X", "Y", 0.5), ("Z", "A", 0.0))
    found = conditioned(given, ["C=B", "A!=B", "A!=X", "Z!=A"]).pairs()
    assert found[0].set.must == {("B", "C")}
    assert found[0].set.incompatible == {("A", "B")}
    assert not found[1].set.must
    assert found[0].matrix.tolist() == given.pairs()[0].matrix.tolist()
    with pytest.raises(InputError, match="A and X are in different sets"):
        conditioned(given, ["A=X"])


def test_slices_keep_their_assumptions():
    given = conditioned(sets(("A", "B", 0.5), ("X", "Y", 0.5)), ["X=Y"])
    assert given.slice(1, 2).pairs()[0].set.must == {("X", "Y")}
    assert not given.slice(0, 1).pairs()[0].set.must
