"""Sources that copy are noticed, and believed less where that is wished."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import poisson

from partita.fusion.claims import Claims
from partita.fusion.copying import MIN_SHARED, _unusual_pairs, without_copies
from partita.fusion.fuse import FusionSettings, answers_by_object, changes_without, fuse_slots


def crowd(copiers: int, objects: int = 120, seed: int = 3) -> Claims:
    """Five good sources, one bad one, and some that repeat all it says."""
    rng = np.random.default_rng(seed)
    rows = []
    for n in range(objects):
        bad = f"wrong {rng.integers(1000)}" if rng.random() < 0.6 else f"true {n}"
        for k in range(5):
            said = f"true {n}" if rng.random() < 0.7 else f"wrong {rng.integers(1000)}"
            rows.append((f"good {k}", f"o{n}", "v", said))
        rows += [(f"bad {k}", f"o{n}", "v", bad) for k in range(1 + copiers)]
    return Claims.of(rows)


def test_a_copier_is_noticed_and_nobody_else():
    found = fuse_slots(crowd(1), FusionSettings(kinds={"": "open"})).copying
    assert [(one.original, one.copier) for one in found] == [("bad 0", "bad 1")]
    assert found[0].shared > 5 * found[0].expected
    assert found[0].significance < 1e-6
    assert 0.8 < found[0].share <= 1


def test_the_significance_is_that_of_a_poisson_tail_for_all_pairs_of_sources():
    [copy] = fuse_slots(crowd(1), FusionSettings(kinds={"": "open"})).copying
    tail = poisson.sf(copy.shared - 1, copy.expected)
    assert copy.significance == pytest.approx(tail * (7 * 6 / 2), rel=1e-6, abs=0)


def test_of_two_that_agree_the_one_with_fewer_claims_is_the_copier():
    """Whatever their names: the copier comes first in the alphabet, and repeats three quarters."""
    claims = crowd(0)
    bad = [(o, v) for s, o, _, v in rows_of(claims) if s == "bad 0"]
    copied = [("a copier", o, "v", v) for o, v in bad[: 3 * len(bad) // 4]]
    found = fuse_slots(
        Claims.of([*rows_of(claims), *copied]), FusionSettings(kinds={"": "open"})
    ).copying
    assert [(one.original, one.copier) for one in found] == [("bad 0", "a copier")]
    assert found[0].common == len(copied)


def rows_of(claims: Claims) -> list[tuple[str, str, str, str]]:
    return [
        (claims.sources[s], claims.objects[o], claims.slots[p], claims.values[v])
        for s, o, p, v in zip(claims.source, claims.object, claims.slot, claims.value, strict=True)
    ]


def test_only_what_the_copier_repeats_is_left_out():
    """Not the original, not what the copier says alone, and not another slot."""
    rows = [
        ("one", "x", "c", "Rome"),
        ("one", "y", "c", "Oslo"),
        ("two", "x", "c", "Rome"),
        ("two", "y", "c", "Bonn"),
        ("two", "x", "d", "1951"),
        ("one", "x", "d", "1951"),
    ]
    found = without_copies(Claims.of(rows), [("c", "one", "two")])
    assert set(rows) - set(rows_of(found)) == {("two", "x", "c", "Rome")}


def test_independent_sources_are_not_accused():
    assert fuse_slots(crowd(0), FusionSettings(kinds={"": "open"})).copying == ()


def test_copied_claims_can_be_believed_less():
    claims = crowd(2)
    plain = answers_by_object(fuse_slots(claims, FusionSettings(kinds={"": "open"})))
    wary = answers_by_object(fuse_slots(claims, FusionSettings(kinds={"": "open"}, discount=True)))

    def right(answers):
        return sum(a.values[0].value == f"true {a.object[1:]}" for a in answers.values())

    assert right(wary) >= right(plain)
    assert wary != plain


def test_what_changes_without_a_source():
    rows = [("ann", "x", "c", "Rome"), ("bob", "x", "c", "Rome"), ("cy", "x", "c", "Oslo"),
            ("ann", "y", "c", "Bonn")]  # fmt: skip
    fused = fuse_slots(Claims.of(rows), FusionSettings(kinds={"": "open"}))
    [lost] = [one for one in changes_without(fused, "ann") if one.object == "y"]
    assert (lost.before, lost.after) == ("Bonn", "")
    assert changes_without(fused, "cy") == ()


@pytest.mark.parametrize(("shared", "found"), [(MIN_SHARED - 1, 0), (MIN_SHARED, 1)])
def test_as_few_shared_errors_as_count_are_enough(shared: int, found: int) -> None:
    counts = np.array([[0.0, shared], [shared, 0.0]])
    assert len(_unusual_pairs(counts, np.full((2, 2), 0.01))) == found


@pytest.mark.parametrize("seed", range(4))
def test_a_copy_of_a_source_is_named_and_without_its_claims_changes_nothing(seed: int):
    rows = rows_of(crowd(0, objects=300, seed=seed))
    copied = [("copy", o, p, v) for s, o, p, v in rows if s == "good 2"]
    before, after = (
        fuse_slots(Claims.of(some), FusionSettings(kinds={"": "open"}, discount=discount))
        for some, discount in ((rows, False), ([*rows, *copied], True))
    )
    named = fuse_slots(Claims.of([*rows, *copied]), FusionSettings(kinds={"": "open"})).copying
    assert [{one.original, one.copier} for one in named] == [{"copy", "good 2"}]
    probabilities = [
        {
            (one.object, v.value): v.probability
            for one in answers_by_object(fused).values()
            for v in one.values
        }
        for fused in (before, after)
    ]
    assert probabilities[0].keys() == probabilities[1].keys()
    moved = [abs(p - probabilities[1][pair]) for pair, p in probabilities[0].items()]
    assert max(moved) <= 0.02


@pytest.mark.parametrize("copied", ["s0", "s11"])
def test_a_copy_of_a_source_in_a_group_is_left_out_too(copied: str):
    """Its wrong claims are shared by the whole group, so that they say nothing of one source."""
    rng = np.random.default_rng(7)
    rows = []
    for n in range(250):
        feed = f"t{n}" if rng.random() < 0.6 else f"w{n} {rng.integers(20)}"
        for s in range(12):
            value = feed if s < 5 else f"t{n}"
            stated = value if rng.random() < 0.85 else f"w{n} {rng.integers(20)}"
            rows.append((f"s{s}", f"o{n}", "v", stated))
    more = [*rows, *(("copy", o, p, v) for s, o, p, v in rows if s == copied)]
    before, after = (
        answers_by_object(fuse_slots(Claims.of(some), FusionSettings({"": "open"}, discount=True)))
        for some in (rows, more)
    )
    for key, answer in before.items():
        later = {one.value: one.probability for one in after[key].values}
        for one in answer.values:
            assert later[one.value] == pytest.approx(one.probability, abs=0.02)
