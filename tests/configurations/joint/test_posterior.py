"""The joint model's distribution: against enumeration, draws, and an independent chain rule."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.joint_explained import decision, explain
from oracles.joint_mentions import random_model, random_templates
from partita.configurations.count import bell
from partita.configurations.exact.listed import partitions
from partita.configurations.joint import codes as code
from partita.configurations.joint.kernels import LONG_AGO
from partita.configurations.joint.network_kernels import BESIDES, DENIAL
from partita.configurations.joint.posterior import JointPosterior, joint_posterior, spread_uniforms
from partita.core import Template
from partita.errors import InputError, Unavailable


def posterior(n: int, seed: int, draws: int = 400) -> JointPosterior:
    rng = np.random.default_rng(seed)
    return joint_posterior(random_templates(n, rng), random_model(rng), draws=draws)


@given(st.integers(1, 6), st.integers(0, 10**6))
@settings(deadline=None, max_examples=25)
def test_probabilities_of_all_configurations_sum_to_one(n: int, seed: int) -> None:
    logs = posterior(n, seed).log_weights(partitions(n))
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-9)
    assert np.isfinite(logs).all()


@given(st.integers(2, 6), st.integers(0, 10**6))
@settings(deadline=None, max_examples=15)
def test_small_answers_are_those_of_the_enumeration(n: int, seed: int) -> None:
    found = posterior(n, seed)
    rows, shares = partitions(n), np.exp(found.log_weights(partitions(n)))
    together = (rows[:, :, None] == rows[:, None, :]).astype(float)
    np.testing.assert_allclose(found.pairs().value, np.tensordot(shares, together, 1), atol=1e-9)
    assert found.entropy().value == pytest.approx(-(shares @ np.log2(shares)), abs=1e-9)
    inside = np.zeros(n)
    for members, share in found.cells():
        inside[list(members)] += share
    np.testing.assert_allclose(inside, 1.0, atol=1e-9)
    top = found.best(3)
    np.testing.assert_allclose(np.exp(top.log_weights), np.sort(shares)[::-1][:3], atol=1e-9)
    assert top.gap == 0.0


@given(st.integers(2, 30), st.integers(0, 10**6))
@settings(deadline=None, max_examples=15)
def test_configurations_that_share_cells_have_the_probability_that_each_has_alone(
    n: int, seed: int
) -> None:
    found = posterior(n, seed)
    rows = found.draws(40, np.random.default_rng(seed))
    together = found.log_weights(rows)
    alone = [found.log_weight(row) for row in rows]
    assert (together == alone).all()


@pytest.mark.parametrize(("link", "less"), [("DENIED_OF", DENIAL), ("BESIDES", BESIDES)])
@given(n=st.integers(2, 6), seed=st.integers(0, 10**6))
@settings(deadline=None, max_examples=15)
def test_what_a_mention_is_denied_to_be_has_much_lower_odds(
    n: int, seed: int, link: str, less: float
) -> None:
    """Given where the earlier ones are; all keep a share, and the sum stays one."""
    rng = np.random.default_rng(seed)
    templates = [replace(one, type="") for one in random_templates(n, rng)]  # no cell is far
    for one in templates:
        one.context.pop("SORT_PROBABILITIES", None)
    model, last = random_model(rng), templates[-1]
    other = templates[-2].id
    said = {link: [other] if link == "BESIDES" else other}
    denied = replace(last, context=last.context | said)
    rows = partitions(n)
    same = (rows[:, :-1] == 0).all(axis=1)  # the earlier ones are one cell
    odds = []
    for one in (last, denied):
        shares = np.exp(joint_posterior([*templates[:-1], one], model).log_weights(rows))
        assert shares.sum() == pytest.approx(1.0, abs=1e-9)
        joined, alone = shares[same]
        odds.append(joined / alone)
    assert odds[1] == pytest.approx(odds[0] * math.exp(-less), rel=1e-6)


@given(st.integers(1, 30), st.integers(1, 8), st.integers(0, 99))
def test_spread_uniforms_have_one_draw_in_each_part(draws: int, decisions: int, seed: int) -> None:
    uniforms = spread_uniforms(draws, decisions, np.random.default_rng(seed))
    parts = np.sort((uniforms * draws).astype(int), axis=0)
    assert (parts == np.arange(draws)[:, None]).all()


def test_spread_uniforms_lower_the_error_of_pairs() -> None:
    """Mean square errors over 40 seeds, beside those of independent draws."""
    found, squares = posterior(9, 5), {}
    exact = np.tril(found.pairs().value[np.ix_(found.order, found.order)], -1)
    for name in ("spread", "independent"):
        squares[name] = 0.0
        for seed in range(40):
            rng, sums = np.random.default_rng(seed), np.zeros((9, 9))
            uniforms = spread_uniforms(32, 9, rng) if name == "spread" else rng.random((32, 9))
            found._draw_and_search(uniforms, 0, sums, np.zeros((9, 9)))
            squares[name] += float(((sums / 32 - exact) ** 2).sum())
    assert squares["spread"] < 0.8 * squares["independent"]


def test_draws_and_beam_search_of_one_pass_are_those_of_two() -> None:
    found = posterior(40, 9, draws=25)
    rows, best = found.drawn_rows(), found.best(3)
    uniforms = spread_uniforms(25, 40, np.random.default_rng(found.seed))
    drawn, entropies, none = found._draw_and_search(uniforms, 0)
    assert (found._in_text(drawn) == rows).all()
    assert len(none.labels) == 0
    searched = found._draw_and_search(found._no_uniforms, found._width)[2]
    np.testing.assert_array_equal(searched.log_weights[:3], best.log_weights)
    np.testing.assert_allclose(found.log_weights(best.labels), best.log_weights, atol=1e-9)
    assert found.entropy().value == pytest.approx(entropies.mean() / math.log(2))


def test_cells_out_of_sight_share_one_probability() -> None:
    """A cell of one mention that shares no word is far once LONG_AGO mentions have passed."""
    words = [f"the {a}{b}" for a in "bcdfghjklm" for b in "aeiouy"] + ["the zebra"]
    templates = [certain(n, text, "") for n, text in enumerate(words * 2)]
    assert len(words) == LONG_AGO + 1
    found = joint_posterior(templates, random_model(np.random.default_rng(0)))
    alone = np.arange(len(templates))
    classes = decision(found.mentions, found.network, alone, len(words)).classes
    assert (classes[1:] == -1).all()
    later = decision(found.mentions, found.network, alone, len(words) + 9)
    far = np.flatnonzero(later.classes == code.OTHER.index("long ago"))
    assert far.tolist() == list(range(9))  # 9 has the same words as this mention
    assert len(set(later.logs[far])) == 1


def test_draws_come_as_often_as_their_probability_says() -> None:
    found = posterior(5, 3)
    rows = found.draws(20_000, np.random.default_rng(1))
    shares = np.exp(found.log_weights(partitions(5)))
    for row, share in zip(partitions(5), shares, strict=True):
        met = float((rows == row).all(axis=1).mean())
        assert abs(met - share) < 5 * math.sqrt(share * (1 - share) / 20_000) + 1e-4


def test_pairs_and_entropy_from_draws_agree_with_the_enumeration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exact = posterior(7, 5)
    whole, bits = exact.pairs().value, exact.entropy().value
    monkeypatch.setattr("partita.configurations.joint.posterior.LARGEST", 2)
    drawn = posterior(7, 5, draws=4000)
    pairs, entropy = drawn.pairs(), drawn.entropy()
    assert pairs.kind == entropy.kind == "estimate"
    error = (pairs.high - pairs.low) / 2
    assert (np.abs(pairs.value - whole) <= 5 * error + 1e-3).all()
    assert abs(entropy.value - bits) <= 5 * (entropy.high - entropy.value)
    assert drawn.method == "sampled"
    assert 0.0 < drawn.error < 0.05


@pytest.mark.parametrize("width", [3, 1000])
def test_beam_search_lists_true_probabilities_and_bounds_what_it_missed(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr("partita.configurations.joint.posterior.LARGEST", 2)
    monkeypatch.setattr("partita.configurations.joint.posterior.WIDTH", width)
    found = posterior(7, 11)
    logs = np.sort(found.log_weights(partitions(7)))[::-1]
    top = found.best(3)
    np.testing.assert_allclose(found.log_weights(top.labels), top.log_weights, atol=1e-9)
    assert (np.diff(top.log_weights) <= 0).all()
    assert len({tuple(row) for row in top.labels.tolist()}) == 3
    listed = {tuple(row) for row in top.labels.tolist()}
    rest = [
        log
        for row, log in zip(partitions(7).tolist(), found.log_weights(partitions(7)), strict=True)
        if tuple(row) not in listed
    ]
    assert max(rest) <= top.log_weights[-1] + top.gap + 1e-9
    if width == 1000:
        np.testing.assert_allclose(top.log_weights, logs[:3], atol=1e-9)
        assert top.gap == 0.0


def test_larger_documents_answer_everything_but_cells() -> None:
    found = posterior(40, 2, draws=32)
    pairs = found.pairs().value
    assert pairs.shape == (40, 40)
    assert (pairs == pairs.T).all()
    assert (np.diag(pairs) == 1.0).all()
    assert found.count() == bell(40)
    assert found.log2_count().value == math.log2(bell(40))
    rows = found.draws(4, np.random.default_rng(0))
    assert np.isfinite(found.log_weights(rows)).all()
    assert found.best(5).labels.shape == (5, 40)
    with pytest.raises(Unavailable):
        found.cells()


def test_the_same_seed_gives_the_same_answers() -> None:
    first, second = posterior(30, 4, draws=16), posterior(30, 4, draws=16)
    assert (first.pairs().value == second.pairs().value).all()
    rows = [p.draws(3, np.random.default_rng(7)) for p in (first, second)]
    assert (rows[0] == rows[1]).all()


@given(st.integers(2, 12), st.integers(0, 10**6))
@settings(deadline=None, max_examples=20)
def test_explanations_add_up_to_the_probability_of_the_choice(n: int, seed: int) -> None:
    found = posterior(n, seed)
    row = found.draws(1, np.random.default_rng(seed))[0]
    total = 0.0
    for step in range(n):
        mention = int(found.order[step])
        earlier = {int(row[i]) for i in found.order[:step]}
        cell = int(row[mention]) if int(row[mention]) in earlier else None
        why = explain(found, row, mention, cell)
        shares = [explain(found, row, mention, c) for c in (*earlier, None)]
        total_share = sum(one.probability for one in shares)
        assert total_share == pytest.approx(1.0, abs=1e-9)
        scores = np.array([one.score for one in shares])  # computed here in double precision
        chosen = np.exp(why.score - np.logaddexp.reduce(scores))
        assert why.probability == pytest.approx(chosen, rel=1e-4)
        total += math.log(why.probability)
    assert total == pytest.approx(found.log_weight(row), abs=1e-8)


@pytest.mark.parametrize(
    ("said", "paragraphs", "turns"),
    [
        (("I", "you"), (0, 1), 5 * 2),  # who was I a paragraph ago
        (("you", "I"), (0, 2), 3),
        (("I", "you", "I"), (0, 1, 1), 5 * 2 + 1),
        (("I", "I"), (0, 7), 5 * 4),
        (("I", "it"), (0, 1), 0),  # only I and you ask
    ],
)
def test_turns_are_told_by_paragraphs(
    said: tuple[str, ...], paragraphs: tuple[int, ...], turns: int
) -> None:
    templates = [
        Template(f"m{n}", text, n, n + 1, head=text, form="pronoun", context={"PARAGRAPH": at})
        for n, (text, at) in enumerate(zip(said, paragraphs, strict=True))
    ]
    found = joint_posterior(templates, random_model(np.random.default_rng(0)))
    last, together = len(said) - 1, np.zeros(len(said), dtype=np.int64)
    codes = decision(found.mentions, found.network, together, last).codes
    assert codes[0, code.C_TURNS] == turns


def test_a_cell_that_is_not_there_yet_cannot_be_explained() -> None:
    found = posterior(3, 1)
    with pytest.raises(InputError, match="decided before"):
        explain(found, np.array([0, 1, 2]), int(found.order[0]), 2)


def test_no_templates_are_refused() -> None:
    with pytest.raises(InputError, match="without templates"):
        posterior(0, 1)


def test_the_reason_says_how_many_draws_were_made_and_their_error() -> None:
    rng = np.random.default_rng(5)
    few = joint_posterior(random_templates(40, rng), random_model(rng), draws=32)
    assert few.error > 0.03
    assert few.reason.endswith(f"from 32 draws, standard errors at most {few.error:.3f}")


def certain(n: int, text: str, entity_type: str, **context: object) -> Template:
    return Template(
        f"m{n}", text, 10 * n, 10 * n + len(text), type=entity_type, head=text.split()[-1].lower(),
        form="definite", context={"WORDS": text.lower().split(), **context},
    )  # fmt: skip


def agreement(earlier: Template, later: Template) -> tuple[int, int]:
    """The code of agreement and the class of a cell that is far, -1 if it is not."""
    found = joint_posterior([earlier, later], random_model(np.random.default_rng(0)))
    seen = decision(found.mentions, found.network, np.zeros(2, dtype=np.int64), 1)
    near = int(seen.codes[0, code.C_AGREEMENT]) if len(seen.codes) else 0
    return near, int(seen.classes[0])


def test_types_are_evidence_and_no_gate() -> None:
    person = certain(0, "the judge", "person")
    assert agreement(person, certain(1, "the man", "person")) == (8, -1)
    assert agreement(person, certain(1, "the man", "")) == (0, -1)
    assert agreement(person, certain(1, "the car", "object"))[1] >= 0
    assert agreement(person, certain(1, "the judge", "object")) == (1, -1)
    doubted = {"object": 0.6, "person": 0.4}
    doubtful = certain(1, "the car", "object", SORT_PROBABILITIES=doubted)
    assert agreement(person, doubtful) == (5, -1)
