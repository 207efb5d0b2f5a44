"""Figures from raw text: matching, scores over differing mentions, bits, types."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.configurations.joint.model import shipped_joint_model
from partita.configurations.joint.posterior import joint_posterior
from partita.core import Configuration, Document, Posterior, Template
from partita.corpora.keys import match_mentions
from partita.evaluation.scores import b_cubed, ceaf_entity, lea, muc
from research.raw import FIGURES, keyed_document, measure_raw, raw_figures, raw_json, raw_markdown


def cells(labels: list[int]) -> list[frozenset[int]]:
    """Return the cells of a row of labels, without the templates that it lacks."""
    present = sorted({label for label in labels if label >= 0})
    return [frozenset(n for n, label in enumerate(labels) if label == one) for one in present]


def plain_muc(key: list[frozenset[int]], response: list[frozenset[int]]) -> tuple[float, float]:
    """Return links found and links wanted, as Vilain et al. define them."""
    found = wanted = 0
    for cell in key:
        parts = {next((n for n, other in enumerate(response) if m in other), -1 - m) for m in cell}
        found += len(cell) - len(parts)
        wanted += len(cell) - 1
    return found, wanted


def plain_b_cubed(key: list[frozenset[int]], response: list[frozenset[int]]) -> tuple[float, float]:
    total, count = 0.0, 0
    for cell in key:
        for mention in cell:
            other = next((one for one in response if mention in one), frozenset[int]())
            total += len(cell & other) / len(cell)
            count += 1
    return total, count


def plain_ceaf(key: list[frozenset[int]], response: list[frozenset[int]]) -> float:
    """Return the best similarity over all alignments."""
    few, many = sorted((key, response), key=len)
    return max(
        sum(2 * len(a & b) / (len(a) + len(b)) for a, b in zip(few, order, strict=False))
        for order in permutations(many, len(few))
    )


LABELS = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=7)


@given(LABELS)
def test_scores_of_differing_mentions_follow_their_definitions(rows: list[tuple[int, int]]) -> None:
    key, response = ([row[side] for row in rows] for side in (0, 1))
    sides = cells(key), cells(response)
    links = muc(np.array(key), np.array(response))
    assert (links.found, links.wanted) == plain_muc(*sides)
    assert (links.right, links.said) == plain_muc(*reversed(sides))
    cubed = b_cubed(np.array(key), np.array(response))
    assert (cubed.found, cubed.wanted) == pytest.approx(plain_b_cubed(*sides))
    assert (cubed.right, cubed.said) == pytest.approx(plain_b_cubed(*reversed(sides)))
    aligned = ceaf_entity(np.array(key), np.array(response))
    assert aligned.found == pytest.approx(plain_ceaf(*sides))
    assert (aligned.wanted, aligned.said) == tuple(map(len, sides))
    weighted = lea(np.array(key), np.array(response))
    assert (weighted.wanted, weighted.said) == (cubed.wanted, cubed.said)


def mention(name: str, start: int, end: int, head: int, entity_type: str = "person") -> Template:
    context = {"HEAD_SPAN": [head, head + 3], "MENTION_PROBABILITY": 0.9}
    return Template(name, "x" * (end - start), start, end, type=entity_type, context=context)


GOLD = (mention("a", 0, 20, 0), mention("b", 0, 3, 0), mention("c", 30, 40, 35, "place"))


def test_mentions_with_one_head_are_matched_by_their_spans() -> None:
    found = [mention("x", 0, 3, 0), mention("y", 0, 19, 0), mention("z", 50, 60, 50)]
    assert match_mentions(GOLD, found).tolist() == [1, 0, -1]
    assert match_mentions(GOLD, [mention("y", 0, 19, 0)]).tolist() == [0]


@given(st.lists(st.integers(0, 40), max_size=8), st.lists(st.integers(0, 40), max_size=8))
def test_no_mention_is_matched_twice(gold: list[int], found: list[int]) -> None:
    left = [mention(f"g{n}", start, start + 5, start) for n, start in enumerate(gold)]
    right = [mention(f"f{n}", start, start + 6, start) for n, start in enumerate(found)]
    matched = match_mentions(left, right)
    used = matched[matched >= 0].tolist()
    assert len(used) == len(set(used))
    for n, g in enumerate(matched.tolist()):
        assert g < 0 or abs(left[g].start - right[n].start) < 3


def document() -> Document:
    return Document("d", "news", GOLD, Configuration([["a", "c"], ["b"]]), "x" * 60)


def test_mentions_that_match_nothing_are_alone_in_the_key() -> None:
    found = [mention("x", 0, 20, 0), mention("y", 30, 40, 35), mention("z", 50, 60, 50)]
    assert str(keyed_document(document(), found).key) == "(x y) (z)"


def resolve(templates: tuple[Template, ...] | list[Template]) -> Posterior:
    return joint_posterior(templates, shipped_joint_model())


def right(posterior: Posterior) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Answer with the key of `document`: the first and the last mention of three are one."""
    return np.array([0, 1, 0] if posterior.size == 3 else range(posterior.size))


def test_the_gold_mentions_and_key_score_one() -> None:
    measured = measure_raw(document(), GOLD, resolve, right)
    figures = raw_figures("x", [measured], times=10)
    for name in ("mention_head_f1", "mention_span_f1", "type_accuracy", "conll_singletons"):
        assert getattr(figures, name) == 1
    assert figures.conll == 1
    assert figures.bits_per_mention_found == figures.gold_bits_per_mention_found > 0
    assert figures.mention_reliability_error == pytest.approx(0.1)


def test_spurious_and_missed_mentions_and_wrong_types_cost() -> None:
    found = [mention("x", 0, 19, 0), mention("y", 30, 40, 35), mention("z", 50, 60, 50)]
    figures = raw_figures("x", [measure_raw(document(), found, resolve, right)], times=0)
    assert figures.mention_head_f1 == pytest.approx(2 / 3)
    assert figures.mention_span_f1 == pytest.approx(1 / 3)
    assert figures.type_accuracy == 1 / 2
    assert figures.muc == 0  # the answer joins x with z, the key a with c
    assert figures.conll == 0.25


def test_a_text_without_mentions_found_is_measured() -> None:
    figures = raw_figures("x", [measure_raw(document(), [], resolve, right)], times=0)
    assert figures.mention_head_f1 == figures.conll == figures.bits_per_mention_found == 0


def test_all_figures_are_in_the_report() -> None:
    rows = [raw_figures("learned", [measure_raw(document(), GOLD, resolve, right)], times=10)]
    told = raw_json(rows)
    assert all(name in told for name in FIGURES)
    assert told["by_genre"]["news"]["conll"] == 1
    assert "| CoNLL, without singletons | 1.000 (1.000–1.000) |" in raw_markdown(rows)
