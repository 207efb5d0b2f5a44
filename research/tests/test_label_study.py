"""The study of what to key: what is compared with what, and that its figures are the models'."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from partita.configurations.merging.model import merger
from partita.core import Configuration, Document, Template
from partita.errors import InputError
from partita.evaluation.splits import Cut, cut_document
from partita.pairs.models import MaximumEntropy
from partita.training.few_keys import (
    PRECISION,
    key_answer,
    lesson,
    open_pair_matrix,
    sizes_of,
)
from partita.training.maxent import Codes, contexts
from research.label_study import (
    BY,
    MODELS,
    RULES,
    KeyingDesign,
    RuleMeasure,
    adapt,
    compare_rules,
    held_out_bits,
    paired_interval,
    run_study,
    small_sets,
    untrained_parameters,
)

DESIGN = KeyingDesign(pool=8, held=3, first=1, numbers=(2, 4), runs=2)


def document(seed: int, size: int = 12) -> Cut:
    """Persons of one head mostly corefer."""
    rng = np.random.default_rng(seed)
    heads = rng.choice(list("abcd"), size)
    templates = tuple(
        Template(f"m{n}", f"the {head}", 10 * n, 10 * n + 5, "text", n, "person", str(head),
                 form="definite")
        for n, head in enumerate(heads)
    )  # fmt: skip
    labels = np.where(
        rng.random(size) < 0.2, np.arange(size) + 9, np.unique(heads, return_inverse=True)[1]
    )
    key = Configuration.from_labels([one.id for one in templates], labels)
    return cut_document(Document(f"d{seed}", "", templates, key))


@pytest.fixture(scope="module")
def sets() -> list[Cut]:
    return list(small_sets([document(seed) for seed in range(9)], 5))


def test_long_sets_are_parted_into_stretches(sets: list[Cut]) -> None:
    first = [one for one in sets if one.document.name == "d0"]
    assert [len(one.labels) for one in first] == [4, 4, 4]
    assert [t.id for one in first for t in one.document.templates] == [f"m{n}" for n in range(12)]
    whole = list(small_sets([document(0)], 12))
    assert len(whole) == 1


def test_what_a_key_denies_of_what_is_known_is_left_out() -> None:
    """He and she are not one, whatever a key says; somebody may be either."""
    given = document(1, 3).document
    genders = ("masc", "", "fem")
    templates = tuple(
        replace(t, context={"GENDER": gender} if gender else {})
        for t, gender in zip(given.templates, genders, strict=True)
    )
    for cells, kept in (([["m0", "m1", "m2"]], 0), ([["m0", "m1"], ["m2"]], 1)):
        one = cut_document(replace(given, templates=templates, key=Configuration(cells)))
        assert len(list(small_sets([one], 9))) == kept


def by_pairs(model: MaximumEntropy, seen: list[tuple[Codes, NDArray[np.bool_]]]) -> MaximumEntropy:
    codes, yes = (np.concatenate(side) for side in zip(*seen, strict=True))
    weights = adapt(contexts(codes, yes, sizes_of(model)), model.weights, PRECISION)
    return replace(model, weights=weights)


def test_bits_are_those_of_the_models(sets: list[Cut]) -> None:
    start = untrained_parameters(sets)
    lessons = [lesson(one, start) for one in sets]
    keys, held = lessons[:4], lessons[6:9]
    found = held_out_bits(keys, held, start)
    every = [(one.pairs, one.open.yes) for one in keys]
    questions = [one.questions for one in keys]
    learned = replace(
        start,
        every_pair=by_pairs(start.every_pair, every),
        questions=by_pairs(start.questions, questions),
    )
    templates = sum(len(one.cut.labels) for one in held)
    evidential = sum(key_answer(one, learned, "evidential").bits for one in held)
    assert found["evidential"] == pytest.approx(evidential / templates, abs=1e-4)
    bits = 0.0
    for one in held:
        p = open_pair_matrix(one, learned.questions, one.by_merger)
        n = len(one.cut.labels)
        model = merger(p, one.cut.compatible, np.eye(n, dtype=np.bool_))
        bits -= model.log_weight(one.cut.labels) / np.log(2)
    assert found["merging"] == pytest.approx(bits / templates, abs=1e-4)


def test_every_rule_begins_with_the_same_keys_and_is_measured_alike(sets: list[Cut]) -> None:
    start = untrained_parameters(sets)
    told: list[str] = []
    found = run_study(sets, start, DESIGN, told.append)
    assert len(found) == DESIGN.runs * len(RULES) * len(BY) * len(DESIGN.numbers)
    assert len(told) == DESIGN.runs * len(RULES)
    assert all(one.keys == one.number for one in found if one.by == "keys")
    assert run_study(sets, start, DESIGN, told.append) == found
    assert run_study(sets, start, replace(DESIGN, seed=1), told.append) != found
    rows = compare_rules(found)
    assert len(rows) == len(MODELS) * len(RULES) * len(BY) * len(DESIGN.numbers)
    assert all(row.difference == 0 for row in rows if row.rule == "random")
    some = next(row for row in rows if row.rule == "longest" and row.model == "merging")
    mine, other = (
        [
            m.bits["merging"]
            for m in found
            if (m.rule, m.by, m.number) == (rule, some.by, some.number)
        ]
        for rule in ("longest", "random")
    )
    assert some.bits == pytest.approx(np.mean(mine))
    assert some.difference == pytest.approx(np.mean(mine) - np.mean(other))


def test_templates_keyed_stay_within_the_budget(sets: list[Cut]) -> None:
    found = run_study(
        sets, untrained_parameters(sets), replace(DESIGN, numbers=(4,)), lambda _: None
    )
    within = [one for one in found if one.by == "templates"]
    assert all(one.templates <= 17 for one in within)


def test_too_few_sets_are_refused(sets: list[Cut]) -> None:
    with pytest.raises(InputError, match="sets to key; expected more than 40"):
        run_study(sets, untrained_parameters(sets), replace(DESIGN, numbers=(40,)), lambda _: None)


def test_intervals_are_student_s() -> None:
    """Of 1, 2, 3, 4, 5: 3 ± 2.776·√2.5/√5."""
    low, high = paired_interval(np.arange(1.0, 6.0))
    assert (low, high) == pytest.approx((3 - 1.9632, 3 + 1.9632), abs=1e-3)
    assert paired_interval(np.array([2.0])) == (2.0, 2.0)


def test_a_rule_that_is_always_better_is_seen_to_be() -> None:
    found = [
        RuleMeasure(run, rule, "keys", 5, 5, 20, {"merging": 1.0 + run - lead, "evidential": 1.0})
        for run in range(6)
        for rule, lead in (("random", 0.0), ("saved", 0.1))
    ]
    row = next(
        one for one in compare_rules(found) if one.rule == "saved" and one.model == "merging"
    )
    assert row.difference == pytest.approx(-0.1)
    assert row.high < 0
