"""Claims that are held out, what predicts them, and how far a posterior is believed then."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.fusion import slot
from partita.fusion.belief import Tempering
from partita.fusion.claims import Claims, join_claims
from partita.fusion.dependence import dependent_claims
from partita.fusion.fuse import FusionSettings, answers_by_object, fuse_slots
from partita.fusion.held_out import (
    CORRELATIONS,
    SHARES,
    HeldOutClaims,
    HeldOutPrior,
    agreement_shares,
    fit_held_out,
    log_likelihoods,
)
from partita.fusion.hierarchy import Nesting, flat_order, nested_order
from partita.fusion.tempering import tempered
from partita.fusion.value_reading import claim_statements
from partita.views.fusion import claims_text, fused_json

OPEN = {"": "open"}


def sources(rng: np.random.Generator, objects: int, lure: float, count: int = 8) -> Claims:
    """Sources right in .75; a share of the objects has a lure that most of them fall for."""
    rows = []
    for n in range(objects):
        lured = rng.random() < lure
        for s in range(count):
            wrong = f"lure {n}" if lured and rng.random() < 0.9 else f"wrong {n} {rng.integers(20)}"
            right = rng.random() < (0.35 if lured else 0.75)
            rows.append((f"s{s}", f"o{n}", "v", f"true {n}" if right else wrong))
    return Claims.of(rows)


@pytest.fixture
def captured(monkeypatch):
    """Return the held-out claims of every slot that is fused."""
    seen: list[HeldOutClaims | None] = []

    def hold_out(task):
        seen.append(original(task))
        return seen[-1]

    original = slot.hold_out
    monkeypatch.setattr(slot, "hold_out", hold_out)
    return seen


def test_a_held_out_claim_is_compared_with_a_belief_that_never_saw_it(captured):
    rng = np.random.default_rng(1)
    given_ = {f"s{n}": 0.6 + 0.05 * n for n in range(4)}
    rows = [(s, f"o{n}", "v", f"{n} {rng.integers(2)}") for n in range(12) for s in given_]
    fuse_slots(Claims.of(rows), FusionSettings(OPEN, reliabilities=given_))
    [held] = captured
    assert held is not None
    assert len(held) == 4 * 12
    pairs = {(round(p, 6), round(q, 6)) for p, q in _posteriors(rows, given_)}
    for n in range(len(held)):
        mine = np.sort(held.probability[held.owner == n])[::-1]
        second = float(mine[1]) if len(mine) > 1 else 0.0
        assert (round(float(mine[0]), 6), round(second, 6)) in pairs


def _posteriors(rows, given_):
    """Yield the two best probabilities of an object without each of its claims in turn."""
    size = {value for *_, value in rows}
    for left_out in rows:
        rest = [row for row in rows if row[1] == left_out[1] and row != left_out]
        others = [row for row in rows if row[1] != left_out[1]]
        with patch.object(slot, "temper", lambda belief: belief):
            belief = fuse_slots(
                Claims.of([*rest, *others]), FusionSettings(OPEN, reliabilities=given_)
            )
        assert len({value for *_, value in [*rest, *others]}) <= len(size)
        values = answers_by_object(belief)[left_out[1], "v"].values
        yield (values[0].probability, values[1].probability if len(values) > 1 else 0.0)


def test_the_likelihood_of_a_held_out_claim_is_that_of_a_mixture():
    held = HeldOutClaims(
        owner=np.array([0, 0, 1]),
        probability=np.array([0.7, 0.2, 0.9]),
        share=np.array([0.5, 0.5, 1.0]),
        likelihood=np.array([0.0, 1.0, 0.0]),
        unknown=np.array([0.1, 0.1]),
        evidence=np.array([2.0, 1.0]),
        outside=np.array([0.0, 1.0]),
        guess=np.array([0.5, 0.0]),
        elsewhere=np.array([0.0, 1.0]),
        reliability=np.array([0.8, 0.8]),
        source=np.array([0, 0]),
        object=np.array([0, 1]),
    )
    logs = log_likelihoods(held)
    tau = 1 / (1 + CORRELATIONS[3])
    tempered = np.array([0.7, 0.2, 0.1]) ** tau / (np.array([0.7, 0.2, 0.1]) ** tau).sum()
    mixed = (1 - SHARES[4]) * tempered[:2] + SHARES[4] * (1 - tempered[2]) * 0.5
    first = (1 - SHARES[4]) * tempered[1] + SHARES[4] * 0.5
    repeated = mixed[0] + 0.5 * tempered[2]  # the other value is true, or none of the two
    second = (1 - SHARES[4]) * 0.1
    weights = np.random.default_rng(0).dirichlet(np.ones(4), 50_000)
    found = np.log(weights @ [first, 0.5, 0.0, repeated]) + np.log(weights @ [second, 0, 1, 0])
    assert logs[3, 4] == pytest.approx(found.max(), abs=0.02)


def test_wrong_claims_that_repeat_wrong_claims_are_no_reason_for_doubt():
    """Many sources are out of date alike, but the others agree whatever the share of these is."""
    rng = np.random.default_rng(7)
    stale, rows = rng.beta(0.5, 2.0, 20), []
    for n in range(300):
        for s in np.flatnonzero(rng.random(20) < 0.6).tolist():
            text = f"before {n}" if rng.random() < stale[s] else f"now {n}"
            text = text if rng.random() < 0.85 else f"wrong {rng.integers(1000)}"
            rows.append((f"s{s}", f"o{n}", "v", text))
    [belief] = fuse_slots(Claims.of(rows), FusionSettings(OPEN)).slots
    assert belief.held_out is not None
    assert belief.held_out.share < 0.1
    best = belief.best()
    assert np.mean([p for _, p in best.values()]) > 0.95
    assert np.mean([v == f"now {o[1:]}" for o, (v, _) in best.items()]) > 0.98


def test_independent_sources_are_believed_and_sources_with_lures_are_not():
    rng = np.random.default_rng(3)
    plain, lured = (
        fuse_slots(sources(rng, 250, share), FusionSettings(kinds=OPEN)).slots[0].held_out
        for share in (0.0, 0.5)
    )
    assert plain is not None
    assert lured is not None
    assert plain.share < 0.06
    assert plain.correlation < 0.06
    assert lured.correlation > 2 * plain.correlation or lured.share > plain.share + 0.1
    assert [one.stated for one in lured.bins] == sorted(one.stated for one in lured.bins)
    assert sum(one.count for one in plain.bins) == plain.claims


def test_without_held_out_claims_the_prior_is_the_answer():
    fit = fit_held_out(None, 0.1, prior=HeldOutPrior(default=1.0 - 1e-12))
    assert (fit.claims, fit.bins) == (0, ())
    assert fit.correlation == pytest.approx(0.1)
    assert fit.share == pytest.approx(0.0, abs=1e-9)


def test_claims_of_dependent_sources_are_held_out_together():
    rows = [("p", "x", "a"), ("q", "x", "b"), ("r", "x", "a"), ("p", "y", "b"), ("q", "y", "b")]
    claims = Claims.of([(s, o, "v", v) for s, o, v in rows])
    codes = (claims.object, claims.source, claims.value)
    read = claim_statements(claims, list(claims.values), codes, claims.confidence)
    names = [
        (read.sources[s], read.objects[o]) for s, o in zip(read.source, read.object, strict=True)
    ]
    held = np.array([name == ("p", "x") for name in names])
    out = dependent_claims(read, held, {("p", "q"): 0.4})
    assert {name for name, one in zip(names, out, strict=True) if one} == {("p", "x"), ("q", "x")}
    assert dependent_claims(read, held, {}).tolist() == held.tolist()


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.data())
def test_shares_are_those_of_the_claims(counts, data):
    values = np.arange(len(counts))
    probability = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.2, 0.7]),
                           min_size=len(counts), max_size=len(counts))))  # fmt: skip
    found = agreement_shares(
        (0 * values, values, probability), np.array(counts, float), flat_order(len(counts), 50)
    )
    possible = np.array(counts) * (probability > 0)
    expected = possible / possible.sum() if possible.any() else probability
    assert found == pytest.approx(expected)


def test_a_more_general_claim_agrees_with_what_is_within_it():
    names = {name: name for name in ("berlin", "germany", "paris")}
    values = sorted(names)
    order = nested_order(values, Nesting.of(names, {"berlin": "germany"}))
    probability = np.array([0.6, 0.2, 0.2])
    found = agreement_shares((np.zeros(3, int), np.arange(3), probability),
                             np.array([0.0, 2.0, 1.0]), order)  # fmt: skip
    assert found == pytest.approx([0.5, 2 * 0.25 / 3, 1 / 3], abs=1e-9)


@pytest.mark.parametrize("lure", [0.0, 0.4])
def test_a_copy_whose_claims_are_discounted_moves_nothing(lure):
    claims = sources(np.random.default_rng(8), 150, lure)
    of_s0 = zip(claims.object.tolist(), claims.value.tolist(), claims.source.tolist(), strict=True)
    rows = [("copy", claims.objects[o], "v", claims.values[v]) for o, v, s in of_s0
            if claims.sources[s] == "s0"]  # fmt: skip
    more = join_claims(claims, Claims.of(rows))
    before, after = (fuse_slots(one, FusionSettings(OPEN, discount=True)) for one in (claims, more))
    named = [
        {copy.original, copy.copier} for copy in fuse_slots(more, FusionSettings(OPEN)).copying
    ]
    assert {"copy", "s0"} in named
    for key, answer in answers_by_object(before).items():
        later = {one.value: one.probability for one in answers_by_object(after)[key].values}
        for one in answer.values:
            assert later[one.value] == pytest.approx(one.probability, abs=0.02)


def test_reports_say_how_far_to_believe():
    fused = fuse_slots(sources(np.random.default_rng(4), 60, 0.2), FusionSettings(kinds=OPEN))
    text = "".join(claims_text(fused))
    assert "8.0 claims about an object count like" in text
    assert "how far to believe this table:" in text
    facts = fused_json(fused)["slots"]["v"]
    assert facts["held_out"]["claims"] == sum(one["count"] for one in facts["held_out"]["bins"])
    low, high = facts["dependence"]["effective_claims_interval"]
    assert 1 <= low <= facts["dependence"]["effective_claims"] <= high <= 8
    assert max(len(line) for line in text.splitlines()) <= 80


def held(outside: int, inside: int, unknown: float) -> HeldOutClaims:
    """Claims of reliable sources: some lie outside of what the others state, others agree."""
    count = outside + inside
    out = np.arange(count) < outside
    return HeldOutClaims(
        owner=np.arange(count),
        probability=np.full(count, 1.0 - unknown),
        share=np.ones(count),
        likelihood=(~out).astype(float),
        unknown=np.where(out, unknown, unknown / 4),
        evidence=np.full(count, 3.0),
        outside=out.astype(float),
        guess=(~out).astype(float),
        elsewhere=out.astype(float),
        reliability=np.full(count, 0.9),
        source=np.arange(count) % 5,
        object=np.arange(count),
    )


def test_claims_outside_the_others_raise_unknown_and_agreement_lowers_it():
    rare, usual = (fit_held_out(held(n, 400 - n, 0.1), 0.1).unknown for n in (2, 160))
    assert rare < usual
    nothing = fit_held_out(held(0, 100, 0.0), 0.1)
    assert nothing.unknown == 1.0


def test_no_value_overtakes_the_best_on_a_line_through_the_odds():
    rows = [(f"s{k}", f"o{n}", "v", f"{n} {k}") for n in range(40) for k in range(2)]
    rows += [("s0", f"p{n}", "v", "same") for n in range(20)]
    [belief] = fuse_slots(Claims.of(rows), FusionSettings(kinds=OPEN)).slots
    line = Tempering(0.1, 0.4, level=-2.0, slope=1.3)
    belief = replace(belief, parameters=replace(belief.parameters, tempering=line))
    values, unknown = tempered(belief)
    best = values[belief.starts[:-1]][belief.object]
    assert (values <= best + 1e-12).all()
    np.testing.assert_allclose(np.bincount(belief.object, values) + unknown, 1.0, atol=1e-9)


def test_a_notebook_shows_how_far_to_believe_claims():
    import pandas as pd

    import partita

    rng = np.random.default_rng(0)
    claims = sources(rng, 30, 0.2, 4)
    columns = (claims.sources, claims.objects, claims.values)
    numbers = (claims.source, claims.object, claims.value)
    texts = [[names[n] for n in of] for names, of in zip(columns, numbers, strict=True)]
    frame = pd.DataFrame(dict(zip(("source", "object", "value"), texts, strict=True)))
    shown = partita.fuse(frame)._repr_html_()
    assert "How far to believe value" in shown
    assert "agreed" in shown.split("How far to believe value")[1]


def test_known_truths_correct_the_odds_of_a_feed_that_most_sources_show():
    """Where the feed errs, all that show it agree: only truths can tell."""
    rng = np.random.default_rng(5)
    rows, truths = [], {}
    for n in range(300):
        feed = f"right {n}" if rng.random() < 0.6 else f"wrong {n}"
        truths[f"o{n}", "v"] = f"right {n}"
        for s in range(12):
            known = feed if s < 8 else f"right {n}"
            said = known if rng.random() < 0.85 else f"other {rng.integers(1000)}"
            rows.append((f"s{s}", f"o{n}", "v", said))
    claims = Claims.of(rows)
    given = {pair: truths[pair] for pair in list(truths)[:100]}
    [slot] = fuse_slots(claims, FusionSettings(kinds=OPEN, truths=given)).slots
    tempering = slot.parameters.tempering
    assert tempering.level != 0.0
    best = {o: v for o, v in slot.best().items() if (o, "v") not in given}
    stated = np.mean([p for _, p in best.values()])
    right = np.mean([v == truths[o, "v"] for o, (v, _) in best.items()])
    assert abs(stated - right) < 0.1
    certain = [p for o, (_, p) in slot.best().items() if (o, "v") in given]
    assert min(certain) == pytest.approx(1.0)
    sums = np.bincount(slot.object, slot.probability) + slot.unknown
    np.testing.assert_allclose(sums, 1.0, atol=1e-9)
