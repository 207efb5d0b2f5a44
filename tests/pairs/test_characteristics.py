"""The paper's characteristics of context."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from oracles.depots import SCHEMA, A, B, C, D
from oracles.described import documents, drawn
from oracles.laws import compatible
from partita.core import Antecedent, Template
from partita.pairs import characteristics
from partita.pairs.characteristics import (
    EXTENDED,
    PAPER,
    characteristics_of,
    characters,
    feature_names,
    feature_offsets,
    pair_log_odds,
    pairs_of,
    quintiles,
)
from partita.pairs.columns import TemplateColumns, template_columns
from partita.templates.schema import relation

CUTOFFS = (10.0, 50.0, 100.0, 200.0)


def _every(known: TemplateColumns) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(len(known), 1)


def _values(templates: list[Template], schema: object = None) -> list[dict[str, str]]:
    """For each pair in order the value of every characteristic, by name."""
    known = template_columns(templates, schema=schema)  # type: ignore[arg-type]
    codes = characteristics_of(known, *_every(known), PAPER, cutoffs=CUTOFFS)
    return [{c.name: c.values[k] for c, k in zip(PAPER, row, strict=True)} for row in codes]


@pytest.mark.parametrize("schema", [SCHEMA, None])
def test_the_papers_own_example(schema: object) -> None:
    found = _values([A, B, C, D], schema)
    for (s, t), values in zip(combinations((A, B, C, D), 2), found, strict=True):
        if compatible(s, t, SCHEMA):
            assert values["slot_relation"] == relation(s, t, SCHEMA)
            assert values["values_in_common"] == "yes"
    assert [v["slot_relation"] for v in found[:1]] == ["properly subsumed by"]
    assert [v["distance"] for v in found] == [
        "close", "far away", "very far away", "far away", "very far away", "mid-distance",
    ]  # fmt: skip


def test_values_in_common_needs_two_that_are_not_nil() -> None:
    one, two = Template("1", slots={"X": "a", "Y": "b"}), Template("2", slots={"X": "a", "Y": "c"})
    bare, full = Template("3"), Template("4", slots={"X": "a", "Y": "b", "Z": "c"})
    found = [v["values_in_common"] for v in _values([one, two, bare, full])]
    assert found == ["no", "no", "yes", "no", "no", "no"]


def test_a_name_must_be_the_same_and_have_several_words() -> None:
    names = ["Kinston Depot", "KINSTON  depot", "Kinston", "Kinston"]
    found = _values([Template(str(n), slots={"NAME": name}) for n, name in enumerate(names)])
    assert [v["same_long_name"] for v in found] == ["yes", "no", "no", "no", "no", "no"]


def test_form_of_t_and_what_is_said_of_its_antecedent() -> None:
    said = (Antecedent("S", preferred=True),)
    forms = ["indefinite", "definite", "pronoun", "name", "bare", ""]
    templates = [Template("S")]
    templates += [Template(f, form=f, antecedents=said) for f in forms]  # type: ignore[arg-type]
    found = _values(templates)[: len(forms)]
    assert [v["reference_of_t"] for v in found] == [
        "indefinite", "definite", "definite", "neither", "neither", "neither",
    ]  # fmt: skip
    assert [v["antecedent"] for v in found] == [
        "not definite", "preferred", "preferred", "not definite", "not definite", "not definite",
    ]  # fmt: skip


def test_quintiles_cut_into_equal_shares() -> None:
    distances = np.random.default_rng(0).permutation(1000).astype(np.int32)
    cutoffs = quintiles([distances[:400], distances[400:]])
    shares = np.bincount(np.searchsorted(np.array(cutoffs), distances, side="left"))
    assert shares.tolist() == pytest.approx([200] * 5, abs=1)
    assert quintiles([]) == (0.0, 0.0, 0.0, 0.0)


def test_distance_is_from_the_end_of_s_and_never_negative() -> None:
    templates = [Template("A", start=0, end=30), Template("B", start=5, end=9)]
    templates += [Template("C", start=50)]
    pairs = pairs_of(template_columns(templates), np.array([0, 2]), np.array([1, 0]), CUTOFFS)
    assert characters(pairs).tolist() == [0, 20]


def test_every_characteristic_is_named_once_and_documented() -> None:
    names = [one.name for one in EXTENDED]
    assert len(set(names)) == len(names)
    assert EXTENDED[: len(PAPER)] == PAPER
    assert all(len(one.documentation) > 20 for one in EXTENDED)
    features = feature_names(EXTENDED)
    assert len(set(features)) == len(features) == feature_offsets(EXTENDED)[-1]


@settings(max_examples=100, deadline=None)
@given(drawn(least=2))
def test_every_code_has_a_value(templates: list[Template]) -> None:
    known = template_columns(templates)
    codes = characteristics_of(known, *_every(known), EXTENDED, cutoffs=CUTOFFS)
    for n, one in enumerate(EXTENDED):
        raw = np.asarray(one.of(pairs_of(known, *_every(known), CUTOFFS))).astype(np.int64)
        assert raw.min() >= 0, one.name
        assert raw.max() < len(one.values), one.name
        assert raw.tolist() == codes[:, n].tolist()


def test_the_order_of_the_two_and_the_size_of_batches_make_no_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = template_columns(documents(np.random.default_rng(4), 20))
    left, right = _every(known)
    whole = characteristics_of(known, left, right, EXTENDED, cutoffs=CUTOFFS)
    monkeypatch.setattr(characteristics, "BATCH", 7)
    turned = characteristics_of(known, right, left, EXTENDED, cutoffs=CUTOFFS)
    assert np.array_equal(whole, turned)


def test_log_odds_sum_the_weights_of_the_features() -> None:
    rng = np.random.default_rng(2)
    known = template_columns(documents(rng, 9))
    codes = characteristics_of(known, *_every(known), EXTENDED, cutoffs=CUTOFFS)
    weights = rng.normal(size=len(feature_names(EXTENDED)))
    starts = feature_offsets(EXTENDED)[:-1]
    expected = [sum(weights[starts + row]) for row in codes.astype(int)]
    assert pair_log_odds(codes, EXTENDED, weights) == pytest.approx(expected)
