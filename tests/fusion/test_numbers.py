"""Numbers and days: errors are learned, rounding is recognised, what is stated is reliable."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t

from partita.errors import InputError
from partita.evaluation.fusion import measure_fusion
from partita.fusion.answers import answers
from partita.fusion.claims import Claims, join_claims
from partita.fusion.fuse import FusionSettings, answers_by_object, extend, fuse_slots
from partita.fusion.kinds import Reading
from partita.fusion.numeric_slots import (
    DEGREES,
    LEAST_FACTOR,
    _density,
    _steps,
    first_scales,
    numeric_frame,
    numeric_problem,
    student_t,
)
from partita.fusion.parsed_claims import positions
from partita.fusion.value_reading import parse_slot

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from peers import crh
from research.simulated_claims import days, numbers, quotes

KINDS = {"": "number"}


@pytest.fixture(scope="module")
def simulated():
    claims, truths = numbers(7, objects=250)
    return claims, truths, fuse_slots(claims)


def table(claims):
    said: dict[str, dict[str, float]] = {}
    for n, thing in enumerate(claims.object.tolist()):
        source = claims.sources[claims.source[n]]
        said.setdefault(claims.objects[thing], {})[source] = float(claims.values[claims.value[n]])
    return said


def test_numbers_with_heavy_tails_are_at_least_as_near_as_those_of_crh(simulated):
    claims, truths, fused = simulated
    [belief] = fused.slots
    assert belief.parsed.kind == "number"
    best = {thing: float(value) for thing, (value, _) in belief.best().items()}
    near = {
        name: np.mean([abs(answer[n] / float(truths[n]) - 1) <= 0.02 for n in answer])
        for name, answer in (("fused", best), ("crh", crh(table(claims))))
    }
    assert near["fused"] >= near["crh"]
    assert near["fused"] > 0.95


def test_a_zero_among_the_numbers_makes_no_error_relative():
    """Sources differ by 1 whatever the size; a 0 has no logarithm."""
    rows = [(f"s{k}", f"o{n}", "v", str(n + (k > 0))) for n in range(0, 60, 5) for k in range(3)]
    found = answers_by_object(fuse_slots(Claims.of(rows), FusionSettings(kinds=KINDS)))
    assert [found[f"o{n}", "v"].values[0].value for n in (0, 5)] == ["1", "6"]


def test_stated_probabilities_and_intervals_of_numbers_are_reliable(simulated):
    _, truths, fused = simulated
    figures = measure_fusion(fused.slots[0], truths, None)
    assert figures.calibration.error < 0.05
    stated, observed = figures.intervals
    assert abs(stated - observed) < 0.06


def test_scales_follow_the_order_of_the_true_ones(simulated):
    _, _, fused = simulated
    scales = fused.slots[0].parameters.scales
    true = np.geomspace(0.001, 0.1, 10)[np.random.default_rng(7).permutation(10)]
    learned = np.array([scales.scales[f"s{n}"] for n in range(10)])
    assert np.corrcoef(np.log(true), np.log(learned))[0, 1] > 0.9
    assert scales.relative
    assert scales.steps == {"s0": 10.0, "s1": 10.0}


def test_days_that_are_often_exact_are_stated_as_such():
    claims, truths = days(7, objects=200)
    [belief] = fuse_slots(claims).slots
    assert belief.parsed.kind == "date"
    assert belief.parameters.scales.margin == 0.0
    figures = measure_fusion(belief, truths, None)
    medians = {}
    for n, thing in enumerate(claims.object.tolist()):
        day = date.fromisoformat(claims.values[claims.value[n]]).toordinal()
        medians.setdefault(claims.objects[thing], []).append(day)
    right = [int(np.median(d)) == date.fromisoformat(truths[n]).toordinal()
             for n, d in medians.items()]  # fmt: skip
    assert figures.accuracy > np.mean(right) + 0.05
    assert figures.calibration.error < 0.05


def test_a_rounding_source_supports_what_rounds_to_its_number():
    exact = [("ann", f"o{n}", "size", str(1000 * n + 34)) for n in range(1, 30)]
    rough = [("bob", f"o{n}", "size", str(1000 * n)) for n in range(1, 30)]
    other = [("cy", f"o{n}", "size", str(1000 * n + 34 + (n % 3 == 0) * (n % 7 + 1)))
             for n in range(1, 30)]  # fmt: skip
    belief = fuse_slots(Claims.of([*exact, *rough, *other]), FusionSettings(kinds=KINDS)).slots[0]
    assert belief.parameters.scales.steps == {"bob": 1000.0}
    trust = {one.source: one for one in belief.trust}
    assert trust["bob"].reliability > 0.8
    assert belief.best()["o5"][0] == "5034"


def test_without_near_values_nothing_is_learned():
    rows = [("ann", f"o{n}", "size", str(n * 1000)) for n in range(20)]
    rows += [("bob", f"o{n}", "size", str(n * 1000)) for n in range(20)]
    claims = Claims.of(rows)
    assert first_scales(parse_slot(claims, "number", FusionSettings().reading)) is None


LAW = settings(deadline=None, max_examples=10)


@LAW
@given(st.integers(0, 1000), st.randoms(use_true_random=False))
def test_the_laws_hold_for_noisy_numbers(seed, chance):
    claims, _ = numbers(seed, sources=4, objects=15)
    rows = rows_of(claims)
    before = fuse_slots(Claims.of(rows), FusionSettings(kinds=KINDS))
    believed = answers_by_object(before)
    for answer in believed.values():
        assert sum(v.probability for v in answer.values) + answer.unknown == pytest.approx(1)
    assert answers_by_object(
        fuse_slots(Claims.of(chance.sample(rows, len(rows))), FusionSettings(kinds=KINDS))
    ) == believed  # fmt: skip
    deaf = [("zero", *row[1:]) for row in rows[:9]]
    ignored = FusionSettings(kinds=KINDS, reliabilities={"zero": 0.0})
    assert answers_by_object(fuse_slots(Claims.of([*rows, *deaf]), ignored)) == believed
    sure = Claims.of([*rows, ("sure", "o1", "value", "77")])
    certain = fuse_slots(sure, FusionSettings(kinds=KINDS, reliabilities={"sure": 1.0}))
    [first, *_] = answers_by_object(certain)["o1", "value"].values
    assert (first.value, first.probability) == ("77", pytest.approx(1.0))
    more = [("eve", "o2", "value", "120"), ("s1", "o3", "value", "90")]
    scratch = FusionSettings(kinds=KINDS, fixed=before.parameters)
    whole = join_claims(Claims.of(rows), Claims.of(more))
    assert extend(before, Claims.of(more)) == answers_by_object(fuse_slots(whole, scratch))


def rows_of(claims):
    return [
        (claims.sources[s], claims.objects[o], claims.slots[k], claims.values[v])
        for s, o, k, v in zip(
            claims.source, claims.object, claims.slot, claims.value, strict=True
        )
    ]  # fmt: skip


def test_guesses_anywhere_are_not_errors_of_a_scale():
    rng = np.random.default_rng(0)
    rows = [
        (f"s{s}", f"o{n}", "code", str(n * 100 if rng.random() < 0.7 else rng.integers(20_000)))
        for n in range(200)
        for s in range(6)
    ]
    assert (
        fuse_slots(Claims.of(rows), FusionSettings(kinds=KINDS)).slots[0].parameters.scales is None
    )


@pytest.mark.parametrize("degrees", [1.0, 2.0, 4.0, 30.0])
def test_errors_have_the_density_of_students_t(degrees):
    residual = np.linspace(-9.0, 9.0, 19)
    expected = t.pdf(residual, degrees, scale=1.5)
    assert _density(residual, 1.5, degrees) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("degrees", DEGREES)
def test_the_distribution_of_errors_is_that_of_students_t(degrees):
    z = np.linspace(-40.0, 40.0, 161)
    assert student_t(z, degrees) == pytest.approx(t.cdf(z, degrees), abs=1e-12)


def test_windows_hold_every_claim_that_is_exact_or_near_a_candidate():
    """Every pair of a claim and a candidate of its object is compared, one by one."""
    claims, _ = numbers(3, sources=6, objects=30)
    parsed = parse_slot(claims, "number", FusionSettings().reading)
    scales = first_scales(parsed)
    frame = numeric_frame(parsed, scales)
    relations = numeric_problem(parsed, scales, np.ones(len(parsed.statements))).problem.relations
    found = set(zip(relations.claim.tolist(), relations.candidate.tolist(), strict=True))
    statements = parsed.statements
    line = scales.positions(np.array([float(v) for v in statements.values]))
    expected = set()
    for c in range(len(statements)):
        scale = scales.scales[statements.sources[statements.source[c]]]
        for k in np.flatnonzero(frame.candidates.item[: -len(statements.objects)]
                                == statements.object[c]).tolist():  # fmt: skip
            z = (line[statements.value[c]] - frame.position[k]) / scale
            width = frame.density[c] * scales.spread
            near = t.pdf(z, scales.degrees) * width / scale > 1.2 * LEAST_FACTOR * frame.density[c]
            if frame.value[k] == statements.value[c] or (near and width < scale / 10):
                expected.add((c, k))
    assert expected <= found


def damaged_rows(damage, share=0.04, seed=5):
    claims, truths = numbers(seed, objects=60)
    rng = np.random.default_rng(seed)
    rows = [(*row[:3], rng.choice(damage) if rng.random() < share else row[3])
            for row in rows_of(claims)]  # fmt: skip
    return rows, truths


def test_damaged_values_are_set_aside_and_the_slot_stays_one_of_numbers():
    rows, truths = damaged_rows(["12-oct", "#REF!", "4O", "n/a"])
    [belief] = fuse_slots(Claims.of(rows)).slots
    bad = [(n, row) for n, row in enumerate(rows, 1) if row[3] in ("12-oct", "#REF!", "4O", "n/a")]
    assert belief.parsed.kind == "number"
    assert [(one.line, (one.source, one.object, "value", one.value))
            for one in belief.parsed.damaged] == bad  # fmt: skip
    whole = [row for row in rows if (row[3],) not in [(b[1][3],) for b in bad]]
    undamaged = fuse_slots(Claims.of(whole)).slots[0]
    assert belief.best() == undamaged.best()
    assert measure_fusion(belief, truths, None).intervals is not None


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (damaged_rows(["12-oct", "4O"], 0.3)[0], "open"),  # too many
        (damaged_rows(["0123"], 0.05)[0], "open"),  # a code
        ([(s, f"o{n}", "gate", "B7" if n % 12 == 0 else str(n)) for n in range(99) for s in "ab"],
         "open"),  # sources agree on it
        ([(s, f"o{n}", "day", f"19{n:02}-03-{m}0 or so") for n in range(10, 60)
          for m, s in enumerate("abc", 1)], "open"),  # no days at all
        ([(s, f"o{n}", "day", f"19{n:02}-03-0{m + 1}" if (n, m) != (20, 1) else "March?")
          for n in range(10, 60) for m, s in enumerate("abc")], "date"),
    ],
)  # fmt: skip
def test_what_is_too_frequent_readable_or_confirmed_is_no_damage(rows, kind):
    assert fuse_slots(Claims.of(rows)).slots[0].parsed.kind == kind


def test_a_set_kind_accepts_some_damage_and_names_the_first_claim_of_too_much():
    rows = [(s, f"o{n}", "n", str(n)) for n in range(20) for s in "abc"]
    settings_ = FusionSettings(kinds={"": "number"})
    [belief] = fuse_slots(Claims.of([*rows, ("a", "o1", "n", "1?")]), settings_).slots
    assert [one.value for one in belief.parsed.damaged] == ["1?"]
    bad = [("a", f"o{n}", "n", f"{n}?") for n in range(20)]
    with pytest.raises(InputError, match=r"a on n of o0: '0\?' is not a number"):
        fuse_slots(Claims.of([*rows, *bad]), settings_)
    known = FusionSettings(kinds={"": "number"}, truths={("o1", "n"): "one"})
    with pytest.raises(InputError, match="'one' is not a number"):
        fuse_slots(Claims.of(rows), known)


def test_an_interval_of_one_day_states_the_probability_of_that_day():
    claims, truths = days(3, objects=120)
    [belief] = fuse_slots(claims).slots
    certain = [
        one for one in answers(belief) if one.estimate and one.estimate.low == one.estimate.high
    ]
    assert len(certain) > 20
    for one in certain:
        by_value = {value.value: value.probability for value in one.values}
        assert one.estimate.probability == pytest.approx(by_value[one.estimate.low], abs=1e-9)
    stated, observed = measure_fusion(belief, truths, None).intervals
    assert abs(stated - observed) < 0.04


def test_a_source_of_small_numbers_does_not_round_to_large_steps():
    rows = [(f"s{s}", f"o{n}", "price", f"{3 + n * 1.37:.2f}") for n in range(40) for s in range(4)]
    rows += [("hundreds", f"o{n}", "price", f"{100 * (3 + n * 1.37):.2f}") for n in range(40)]
    claims = Claims.of(rows)
    parsed = parse_slot(claims, "number", Reading())
    values = positions(parsed.statements.values, "number")
    assert _steps(parsed.statements, values, "number") == {"hundreds": 1.0}
    best = fuse_slots(claims).slots[0].best()
    assert all(float(best[f"o{n}"][0]) == pytest.approx(3 + n * 1.37, abs=0.01) for n in range(40))


def test_equal_prices_are_no_shared_errors_of_sources_that_all_guess():
    claims, truths = quotes(4, objects=300)
    [belief] = fuse_slots(claims).slots
    right = [float(value) == float(truths[thing]) for thing, (value, _) in belief.best().items()]
    assert np.mean(right) > 0.95
    assert all(one.reliability > 0.5 for one in belief.trust)
