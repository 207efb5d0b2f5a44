"""Mass functions about slots: brute force over subsets, the laws of combination, strict reading."""

from __future__ import annotations

import json
from itertools import product

import pyds
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from partita.errors import InputError, TooLarge, TotalConflict
from partita.files.strict import Place
from partita.fusion.claims import Claims
from partita.fusion.mass_functions import (
    MAX_FOCAL_SETS,
    FocalSet,
    SourceMasses,
    claim_masses,
    combine_masses,
    read_masses,
)

CITIES = ("Bonn", "Lima", "Oslo")
SUBSETS = [None, *(tuple(c for n, c in enumerate(CITIES) if k >> n & 1) for k in range(1, 8))]


def about_city(source, *focal_sets):
    masses = tuple(FocalSet(values, mass) for values, mass in focal_sets)
    return SourceMasses("depot", "city", source, masses, Place("beliefs.jsonl", 1))


@st.composite
def sources(draw, names="abc"):
    made = []
    for name in names:
        chosen = draw(st.lists(st.sampled_from(SUBSETS), min_size=1, max_size=5, unique=True))
        parts = [draw(st.integers(1, 50)) for _ in chosen]
        shares = zip(chosen, (part / sum(parts) for part in parts), strict=True)
        made.append(about_city(name, *shares))
    return made


reliabilities = st.fixed_dictionaries({name: st.floats(0, 1) for name in "abc"})


def brute_force(masses, trust):
    """Return unnormalised masses over all choices of one set per source; a choice is discounted."""
    frame = frozenset({*CITIES, "other"})
    tables = []
    for one in masses:
        r = trust.get(one.source, 1.0)
        table = {frame: 1.0 - r}
        for focal_set in one.masses:
            subset = frame if focal_set.values is None else frozenset(focal_set.values)
            table[subset] = table.get(subset, 0.0) + r * focal_set.mass
        tables.append(table)
    total = {}
    for choice in product(*(table.items() for table in tables)):
        common, weight = frame, 1.0
        for subset, mass in choice:
            common, weight = common & subset, weight * mass
        total[common] = total.get(common, 0.0) + weight
    return total, frame


@given(sources(), reliabilities)
@settings(deadline=None, max_examples=60)
def test_values_and_conflict_are_those_of_brute_force(masses, trust):
    raw, frame = brute_force(masses, trust)
    kappa = raw.pop(frozenset(), 0.0)
    assume(kappa < 1 - 1e-6)
    (combined,) = combine_masses(masses, trust)
    assert combined.conflict == pytest.approx(kappa, abs=1e-9)
    mass = {subset: value / (1 - kappa) for subset, value in raw.items()}
    assert combined.unknown == pytest.approx(mass.get(frame, 0.0), abs=1e-9)
    for one in combined.values:
        name = one.value
        inside = sum(m for s, m in mass.items() if s == {name})
        touching = sum(m for s, m in mass.items() if name in s)
        share = sum(m / len(s) for s, m in mass.items() if name in s and s != frame)
        assert one.belief == pytest.approx(inside, abs=1e-9)
        assert one.plausibility == pytest.approx(touching, abs=1e-9)
        assert one.probability == pytest.approx(share, abs=1e-9)
        assert one.belief <= one.probability + 1e-12 <= one.plausibility + 2e-12
    total = sum(one.probability for one in combined.values) + combined.unknown
    assert total == pytest.approx(1, abs=1e-12)


@given(sources())
@settings(deadline=None, max_examples=40)
def test_an_independent_package_agrees(masses):
    raw, frame = brute_force(masses, {})
    assume(raw.get(frozenset(), 0.0) < 1 - 1e-6)
    (combined,) = combine_masses(masses, {})
    tables = [
        pyds.MassFunction({f.values or tuple(frame): f.mass for f in one.masses}) for one in masses
    ]
    theirs = tables[0].combine_conjunctive(tables[1:])
    for one in combined.values:
        assert one.belief == pytest.approx(theirs.bel({one.value}), abs=1e-9)
        assert one.plausibility == pytest.approx(theirs.pl({one.value}), abs=1e-9)


@given(sources(), reliabilities, st.permutations(range(3)))
@settings(deadline=None, max_examples=40)
def test_the_order_of_sources_does_not_matter(masses, trust, order):
    assume(brute_force(masses, trust)[0].get(frozenset(), 0.0) < 1 - 1e-6)
    assert combine_masses([masses[n] for n in order], trust) == combine_masses(masses, trust)


@given(sources(), st.lists(st.sampled_from(SUBSETS), min_size=1, max_size=1))
@settings(deadline=None, max_examples=40)
def test_reliability_0_changes_nothing(masses, subset):
    assume(brute_force(masses, {})[0].get(frozenset(), 0.0) < 1 - 1e-6)
    ignored = about_city("z", (subset[0], 1.0))
    (before,) = combine_masses(masses, {})
    (after,) = combine_masses([*masses, ignored], {"z": 0.0})
    figures = {one.value: (one.probability, one.belief, one.plausibility) for one in before.values}
    for one in after.values:
        expected = figures.get(one.value, (0.0, 0.0, before.unknown))
        assert (one.probability, one.belief, one.plausibility) == pytest.approx(expected, abs=1e-12)
    assert after.unknown == pytest.approx(before.unknown, abs=1e-12)
    assert after.conflict == pytest.approx(before.conflict, abs=1e-12)


@given(sources(), st.sampled_from(CITIES))
@settings(deadline=None, max_examples=40)
def test_a_certain_source_of_reliability_1_decides(masses, city):
    certain = [*masses, about_city("z", ((city,), 1.0))]
    assume(brute_force(certain, {})[0].get(frozenset(), 0.0) < 1 - 1e-6)
    (combined,) = combine_masses(certain, {"z": 1.0})
    best = combined.values[0]
    assert (best.value, best.probability, best.belief) == (city, 1.0, 1.0)
    assert combined.unknown == 0.0


def test_certain_sources_that_contradict_each_other_are_named():
    masses = [about_city(name, ((city,), 1.0)) for name, city in zip("ab", CITIES, strict=False)]
    masses.append(about_city("c", (CITIES, 1.0)))
    with pytest.raises(TotalConflict) as error:
        combine_masses(masses, {})
    assert str(error.value) == (
        "total conflict: a (says Bonn of depot) and b (says Lima of depot) leave nothing possible"
    )
    (combined,) = combine_masses(masses, {"a": 0.5})
    assert combined.values[0].value == "Lima"
    assert combined.conflict == pytest.approx(0.5)


def test_values_are_compared_without_case_and_shown_as_most_often_written():
    (combined,) = combine_masses(
        [
            about_city("a", (("OSLO",), 0.5), (None, 0.5)),
            about_city("b", (("Oslo", "Bonn"), 1.0)),
            about_city("c", (("Oslo",), 0.1), (None, 0.9)),
        ],
        {},
    )
    assert [one.value for one in combined.values] == ["Oslo", "Bonn"]
    assert combined.values[0].sources == ("a", "b", "c")
    assert combined.conflict == 0.0


def test_a_combination_with_too_many_sets_is_refused():
    names = [f"v{n:02}" for n in range(MAX_FOCAL_SETS.bit_length() + 1)]
    masses = [
        about_city(name, (tuple(n for n in names if n != name), 0.5), (None, 0.5)) for name in names
    ]
    with pytest.raises(TooLarge, match="about city of depot would need"):
        combine_masses(masses, {})


def test_claims_are_simple_support_functions():
    rows = [("press", "depot", "city", "Oslo"), ("forum", "depot", "city", "Bonn", 0.5)]
    trust = {"press": 0.8, "forum": 0.6}
    claims = claim_masses(Claims.of(rows), trust)
    by_hand = [
        about_city("press", (("Oslo",), 0.8), (None, 0.2)),
        about_city("forum", (("Bonn",), 0.3), (None, 0.7)),
    ]
    (combined,), (expected,) = combine_masses(claims.masses, trust), combine_masses(by_hand, {})
    assert combined.conflict == pytest.approx(0.24)
    assert combined.unknown == pytest.approx(expected.unknown)
    for one, other in zip(combined.values, expected.values, strict=True):
        assert one.value == other.value
        assert one.belief == pytest.approx(other.belief)


def test_claims_without_a_reliability_are_refused():
    with pytest.raises(InputError, match="source press has no reliability"):
        claim_masses(Claims.of([("press", "depot", "city", "Oslo")]), {})


ROW = {"object": "depot", "slot": "city", "source": "radar"}
GOOD = {**ROW, "masses": [{"values": ["Oslo", 7], "mass": 0.6}, {"values": None, "mass": 0.4}]}


def test_a_file_is_read_with_its_reliabilities(tmp_path):
    path = tmp_path / "beliefs.jsonl"
    other = {**GOOD, "source": "survey", "reliability": 0.9}
    path.write_text(json.dumps(GOOD) + "\n\n" + json.dumps(other) + "\n")
    read = read_masses(path)
    assert read.masses[0].masses == (FocalSet(("Oslo", "7"), 0.6), FocalSet(None, 0.4))
    assert [one.place.line for one in read.masses] == [1, 3]
    assert read.reliabilities == {"survey": 0.9}


def with_masses(*masses):
    return {**ROW, "masses": list(masses)}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**GOOD, "colour": 1}, "has a field 'colour'"),
        ({k: v for k, v in GOOD.items() if k != "object"}, "has no field 'object'"),
        ({**GOOD, "object": " "}, "object is empty"),
        ({**GOOD, "reliability": 1.5}, "reliability 1.5 of radar is not a number from 0 to 1"),
        (with_masses({"values": ["a"], "mass": -0.5}), "mass -0.5 is not a number from 0 to 1"),
        (with_masses({"values": ["a"], "mass": 0.5}), "the masses sum to 0.5; expected 1"),
        (with_masses({"values": [], "mass": 1}), "values is an empty set"),
        (with_masses({"values": ["a"]}), "has no field 'mass'"),
        (with_masses({"values": [""], "mass": 1}), 'value "" is neither a text nor a number'),
        (
            with_masses({"values": ["a"], "mass": 0.5}, {"values": ["A"], "mass": 0.5}),
            "a set of values appears twice",
        ),
        (with_masses(), "the masses sum to 0; expected 1"),
        ({"set": "S", "source": "c", "distribution": 1.5}, "distribution is 1.5; expected a list"),
        (
            {"set": "S", "source": "c", "masses": [{"values": 1.5, "mass": 1}]},
            "values is 1.5; expected a list",
        ),
        ([1], "expected an object"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_line(tmp_path, row, message):
    path = tmp_path / "beliefs.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n{json.dumps(row)}\n")
    with pytest.raises(InputError) as error:
        read_masses(path)
    assert (error.value.file, error.value.line) == (str(path), 2)
    assert message in error.value.problem


def test_a_source_that_describes_a_slot_twice_is_refused():
    masses = [about_city("a", (("Oslo",), 1.0)), about_city("a", (("Bonn",), 1.0))]
    with pytest.raises(InputError, match="a describes city of depot again"):
        combine_masses(masses, {})


PARTITIONS = [
    [["A", "B", "C"]],
    [["A", "B"], ["C"]],
    [["A", "C"], ["B"]],
    [["A"], ["B", "C"]],
    [["A"], ["B"], ["C"]],
]


def written(tmp_path, *rows):
    path = tmp_path / "beliefs.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(st.integers(0, 20), min_size=5, max_size=5).filter(any), min_size=2,
                max_size=3), st.floats(0.1, 0.95))  # fmt: skip
def test_distributions_over_configurations_combine_as_over_the_whole_frame(
    tmp_path_factory, parts, r
):
    rows, expected = [], [1.0] * 5
    for n, counts in enumerate(parts):
        shares = [count / sum(counts) for count in counts]
        stated = [{"value": value, "probability": p}
                  for value, p in zip(PARTITIONS, shares, strict=True)]  # fmt: skip
        rows.append({"set": "S", "source": f"s{n}", "distribution": stated, "reliability": r})
    read = read_masses(written(tmp_path_factory.mktemp("sets"), *rows))
    [combined] = combine_masses(read.masses, read.reliabilities)
    for counts in parts:
        factors = [r * count / sum(counts) + 1 - r for count in counts]
        expected = [e * f for e, f in zip(expected, factors, strict=True)]
    rest = (1 - r) ** len(parts)  # all of them ignorant: the whole frame
    total = sum(e - rest for e in expected) + rest
    stated = {one.value: one.probability for one in combined.values}
    for value, e in zip(PARTITIONS, expected, strict=True):
        text = " ".join(f"({' '.join(cell)})" for cell in value)
        assert stated.get(text, 0.0) == pytest.approx((e - rest) / total)
    assert combined.unknown == pytest.approx(rest / total)
    assert combined.conflict == pytest.approx(1 - total)


def test_a_distribution_leaves_the_rest_to_the_whole_frame(tmp_path):
    about = {"object": "depot", "slot": "city", "source": "a"}
    short = written(tmp_path, {**about, "distribution": [{"value": "Bonn", "probability": 0.7}]})
    [read] = read_masses(short).masses
    assert read.masses[0] == FocalSet(("Bonn",), 0.7)
    assert read.masses[1].values is None
    assert read.masses[1].mass == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"set": "S", "source": "a"}, "no masses and no distribution"),
        ({"set": "S", "source": "a", "distribution": [{"value": "x", "probability": 1}]},
         "not a configuration"),
        ({"set": "S", "source": "a", "distribution": [{"value": [["A"], ["A"]], "probability": 1}]},
         "a template twice"),
        ({"set": "S", "source": "a", "distribution": [
            {"value": [["A"], ["B"]], "probability": 0.5}, {"value": [["A"]], "probability": 0.5}]},
         "differ in template B"),
        ({"object": "x", "slot": "y", "source": "a",
          "distribution": [{"value": "v", "probability": 1.2}]}, "sum to 1.2"),
    ],
)  # fmt: skip
def test_wrong_distributions_are_refused(tmp_path, row, problem):
    with pytest.raises(InputError, match=problem):
        read_masses(written(tmp_path, row))
