"""Counts, mapping and totals against every alignment by brute force, and the exam itself."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita_incidents.exam_files import read_exam
from partita_incidents.exam_templates import SCORED, SLOTS, Fill, Incident
from partita_incidents.fills import compare
from partita_incidents.score import (
    Tally,
    alike,
    ceaf_ree,
    count,
    gain,
    map_templates,
    score,
    score_entities,
)

EXAM = Path(__file__).parents[4] / "shared" / "data" / "muc4"
VICTIM = SLOTS[18]
NAMES = st.sampled_from(["ANN LEE", "LEE", "ANN", "BOB RAY", "RAY", "CAL"])
FILLS = st.lists(st.builds(Fill, st.tuples(NAMES), optional=st.booleans()), max_size=4)


@settings(deadline=None, max_examples=60)
@given(FILLS, FILLS)
def test_the_pairing_gains_as_much_as_the_best_of_all(
    response: list[Fill], key: list[Fill]
) -> None:
    found = count(VICTIM, response, key)
    assert found.points == _best(response, key)
    assert found.actual == len(response)
    required = sum(not fill.optional for fill in key)
    assert required <= found.possible <= len(key)


def _best(response: list[Fill], key: list[Fill]) -> float:
    wide = max(len(response), len(key))
    padded = [*range(len(key)), *[None] * (wide - len(key))]
    return max(
        sum(
            compare(VICTIM, fill, key[place])
            for fill, place in zip(response, order, strict=False)
            if place is not None
        )
        for order in permutations(padded)
    )


def incident(message: str, number: int = 1, optional: bool = False, **fills: str) -> Incident:
    named = {slot.name.replace("-", "_"): slot.number for slot in SLOTS}
    said = {named[name]: (Fill((value,)),) for name, value in fills.items()}
    return Incident(message, str(number), said, optional)


def test_templates_are_mapped_only_if_type_and_somebody_match() -> None:
    key = incident("M", inc_type="BOMBING", hum_tgt_name="ANN LEE", inc_loc="PERU")
    assert alike(incident("M", inc_type="ATTACK", hum_tgt_name="LEE"), key)
    assert not alike(incident("M", inc_type="ARSON", hum_tgt_name="LEE"), key)
    assert not alike(incident("M", inc_type="BOMBING", inc_loc="PERU"), key)
    assert gain(incident("M", inc_type="BOMBING", inc_loc="PERU"), key) == 0


def test_the_mapping_is_the_best_of_all() -> None:
    rng = np.random.default_rng(3)
    names = ["ANN LEE", "BOB RAY", "CAL DOE"]
    types = ["ATTACK", "BOMBING"]

    def some(n: int) -> list[Incident]:
        return [
            incident("M", k, inc_type=str(rng.choice(types)), hum_tgt_name=str(rng.choice(names)))
            for k in range(n)
        ]

    for _ in range(30):
        response, key = some(3), some(3)
        best = max(
            sum(gain(response[i], key[j]) for i, j in enumerate(order))
            for order in permutations(range(3))
        )
        assert sum(gain(r, k) for r, k in map_templates(response, key)) == best


def test_missing_spurious_and_optional_templates() -> None:
    key = [
        incident("M", 1, inc_type="BOMBING", hum_tgt_name="ANN LEE"),
        incident("M", 2, optional=True, inc_type="ARSON", phys_tgt_id="HOUSE"),
    ]
    nothing = score(["M"], [], key)
    assert nothing.all_templates == Tally(missing=2)
    assert nothing.slots["template-id"] == Tally(missing=1)
    right = score(["M"], key, key)
    assert right.all_templates == Tally(correct=4)
    assert right.all_templates.f() == 1
    other = score(["M"], [incident("N", inc_type="ROBBERY")], key)
    assert other.slots["inc-type"] == Tally(spurious=1, missing=1)
    assert set(other.messages) == {"M", "N"}
    assert sum(other.groups.values(), Tally()) == other.all_templates


def test_entities_of_a_role_are_found_once() -> None:
    key = [incident("M", 1, hum_tgt_name="ANN LEE"), incident("M", 2, hum_tgt_name="ANN LEE")]
    found = score_entities([incident("M", hum_tgt_name="ANN LEE")], key)
    assert found["victim"] == Tally(correct=1)
    twice = [incident("M", hum_tgt_name="ANN LEE"), incident("M", hum_tgt_name="BOB RAY")]
    assert score_entities(twice, key)["victim"] == Tally(correct=1, spurious=1)


def test_ceaf_ree_is_strict_about_strings_and_counts_names_and_optional_fills() -> None:
    key = [incident("M", 1, hum_tgt_name="ANN LEE", phys_tgt_id="THE OIL PIPELINE")]
    response = [incident("M", hum_tgt_name="Ann Lee", phys_tgt_id="PIPELINE")]
    tallies = ceaf_ree(response, key)
    assert tallies["victim"] == Tally(correct=1)
    assert tallies["target"] == Tally(spurious=1, missing=1)
    assert ceaf_ree([incident("M", phys_tgt_id="oil pipeline")], key)["target"] == Tally(correct=1)
    described = [incident("M", hum_tgt_desc="MAYOR")]
    assert ceaf_ree(described, described)["victim"] == Tally()
    optional = Incident("M", "1", {9: (Fill(("REBELS",), optional=True),)}, optional=True)
    assert ceaf_ree([], [optional])["perpetrator individual"] == Tally(missing=1)


@given(
    st.lists(st.sets(st.sampled_from("ABCDE"), min_size=1, max_size=3), max_size=4),
    st.lists(st.sets(st.sampled_from("ABCDE"), min_size=1, max_size=3), max_size=4),
)
def test_ceaf_ree_aligns_as_well_as_any_alignment(
    response: list[set[str]], key: list[set[str]]
) -> None:
    def entities(sets: list[set[str]]) -> list[set[str]]:
        kept: list[set[str]] = []
        for one in sets:
            kept += [] if any(one <= other or other <= one for other in kept) else [one]
        return kept

    def incidents(sets: list[set[str]]) -> list[Incident]:
        return [Incident("M", str(n), {9: (Fill(tuple(one)),)}) for n, one in enumerate(sets)]

    left, right = entities(response), entities(key)
    shorter, longer = sorted((left, right), key=len)
    best = max(
        sum((a <= b) if shorter is left else (b <= a) for a, b in zip(shorter, order, strict=False))
        for order in permutations(longer)
    )
    tally = ceaf_ree(incidents(response), incidents(key))["perpetrator individual"]
    assert tally == Tally(best, 0, 0, len(left) - best, len(right) - best)


@pytest.mark.corpus
@pytest.mark.skipif(not EXAM.exists(), reason="needs ../shared/data/muc4")
def test_the_seventeen_systems_of_1992_score_as_they_did() -> None:
    from scipy.stats import spearmanr

    key = read_exam(EXAM / "tst3" / "key-tst3.v2")
    official, ours = [], []
    for file in sorted((EXAM / "tst3-systems" / "responses").glob("*.txt")):
        report = (EXAM / "tst3-systems" / "scores" / file.name).read_text(encoding="latin-1")
        official.append(float(re.findall(r"F-MEASURES\s+([0-9.]+)", report)[-1]))
        found = score(key.messages, read_exam(file).incidents, key.incidents)
        ours.append(100 * found.all_templates.f())
    assert len(ours) == 17
    assert spearmanr(official, ours)[0] >= 0.99
    assert np.mean(np.abs(np.array(official) - np.array(ours))) <= 3.0


@pytest.mark.corpus
@pytest.mark.skipif(not EXAM.exists(), reason="needs ../shared/data/muc4")
def test_a_key_that_answers_itself_is_right_everywhere() -> None:
    key = read_exam(EXAM / "tst2" / "key-tst2.v4")
    found = score(key.messages, key.incidents, key.incidents)
    assert all(found.slots[slot.name].missing == 0 for slot in SCORED)
    assert found.all_templates.f() == 1.0
