"""Groups of sources that agree within and contradict each other: both explanations count."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from scipy.special import beta

from partita.fusion.blocs import (
    BETWEEN,
    CHANCE,
    KNOWING,
    KNOWN,
    TOGETHER,
    _log_joined,
    find_blocs,
)  # fmt: skip
from partita.fusion.claims import Claims
from partita.fusion.fuse import FusionSettings, answers_by_object, extend, fuse_slots
from partita.views.fusion import claims_text, fused_json

OPEN = {"": "open"}


def feeds(sizes, rates, seed=1, objects=150, informed=0.0):
    """Groups of sources, each of which repeats a feed of this rate in .85 of its claims.

    Otherwise they guess, or know the truth at a rate.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for n in range(objects):
        shown = [0 if rng.random() < rate else int(rng.integers(1, 20)) for rate in rates]
        for group, size in enumerate(sizes):
            for s in range(size):
                own = 0 if rng.random() < informed else int(rng.integers(1, 20))
                value = shown[group] if rng.random() < 0.85 else own
                rows.append((f"{group}.{s}", f"o{n}", "v", f"v{n}.{value}"))
    return rows


def fused(rows, **options):
    return fuse_slots(Claims.of(rows), FusionSettings(kinds=OPEN, **options))


def statements(rows):
    return fused(rows).slots[0].parsed.statements


@pytest.mark.parametrize(("sizes", "rates"), [((8, 5), (0.6, 1.0)), ((5, 4, 4), (0.6, 0.7, 0.8))])
def test_groups_are_found_in_any_order_of_the_claims(sizes, rates):
    rows = feeds(sizes, rates)
    found = find_blocs(statements(rows))
    assert found.sizes == sizes
    for a, b in [*found.dependence, *found.rival]:
        assert a.split(".")[0] == b.split(".")[0]
    assert find_blocs(statements(random.Random(1).sample(rows, len(rows)))) == found


def test_sources_that_err_alone_form_no_groups():
    assert find_blocs(statements(feeds((1,) * 12, (0.8,) * 12))) is None


def test_of_two_groups_the_smaller_one_may_be_right():
    both = answers_by_object(fused(feeds((8, 5), (0.6, 1.0))))
    [belief] = fused(feeds((8, 5), (0.6, 1.0))).slots
    assert 0.2 < belief.parameters.doubt < 0.45  # the claims do not tell, the sizes hardly
    wrong = [one for one in both.values() if not one.values[0].value.endswith(".0")]
    assert len(wrong) > 40
    for one in wrong:
        stated = {value.value: value.probability for value in one.values}
        assert sum(stated.values()) + one.unknown == pytest.approx(1)
        assert stated.get(f"v{one.object[1:]}.0", 0) < one.values[0].probability < 0.9
    loss = [-np.log(max(v.probability, 0.01)) for one in wrong for v in one.values
            if v.value.endswith(".0")]  # fmt: skip
    assert np.mean(loss) < 2.2


@pytest.mark.parametrize("sizes", [(8, 5), (5, 8)])
def test_sources_that_leave_their_feed_and_know_something_tell_which_group_is_right(sizes):
    [belief] = fused(feeds(sizes, (0.6, 1.0), informed=0.7)).slots
    assert belief.parameters.doubt < 0.1
    best = belief.best()
    assert np.mean([value.endswith(".0") for value, _ in best.values()]) > 0.95


def test_which_group_is_joined_is_counted_object_by_object():
    """Against a count by hand: in a contested object, a claim for neither or for the other."""
    rows = feeds((6, 5), (0.6, 1.0), objects=80, informed=0.5)
    bloc = np.array([int(name[0]) for name in statements(rows).sources])
    counts = np.zeros((2, 2))
    for thing in {row[1] for row in rows}:
        stated = [[r[3] for r in rows if r[1] == thing and r[0][0] == g] for g in "01"]
        most = [Counter(values).most_common(2) for values in stated]
        if any(m[0][1] < 2 or (len(m) > 1 and m[1][1] == m[0][1]) for m in most):
            continue
        top = [m[0][0] for m in most]
        if top[0] == top[1]:
            continue
        for group, values in enumerate(stated):
            left = [value for value in values if value != top[group]]
            counts[1 - group] += [left.count(top[1 - group]), len(left)]
    odds = []
    for joins, left in (TOGETHER * counts).tolist():
        ways = (beta(a + joins, b + left - joins) / beta(a, b) for a, b in (CHANCE, KNOWN, BETWEEN))
        chance, known, between = ways
        odds.append((known / chance, between / chance))
    wanted = np.array([odds[0][0], odds[1][0], odds[0][1] * odds[1][1]])
    found = np.exp(_log_joined(statements(rows), bloc, 2))
    assert found == pytest.approx(KNOWING * wanted + 1 - KNOWING)


def test_known_truths_say_which_group_errs():
    rows = feeds((8, 5), (0.6, 1.0))
    truths = {(f"o{n}", "v"): f"v{n}.0" for n in range(15)}
    result = fused(rows, truths=truths)
    answers = answers_by_object(result)
    right = [one.values[0].value.endswith(".0") for one in answers.values()]
    assert np.mean(right) > 0.95
    trust = {one.source: one.reliability for one in result.slots[0].trust}
    assert trust["1.0"] > trust["0.0"]


def test_a_new_object_is_judged_as_before():
    rows = feeds((8, 5), (0.6, 1.0))
    more = [(s, "new", "v", "a" if s.startswith("0") else "b") for s in {row[0] for row in rows}]
    before = fused(rows)
    values = extend(before, Claims.of(more))["new", "v"].values
    assert values[0].value == "a"
    doubt = before.slots[0].parameters.doubt
    assert values[1].probability == pytest.approx(doubt, abs=0.05)


def test_reports_say_which_groups_there_are():
    result = fused(feeds((8, 5), (0.6, 1.0)))
    doubt = result.slots[0].parameters.doubt
    expected = "groups of 8 and 5 sources contradict each other; another explanation has "
    assert f"{expected}{doubt:.2f}" in "".join(claims_text(result))
    [slot] = fused_json(result)["slots"].values()
    assert slot["dependence"]["blocs"] == [8, 5]
