"""Text for a terminal: everything is there, fits, and cannot steer the terminal."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np

from oracles.answers import TABLE_1, brute
from partita.core import CoreferenceSet, Figure, Listing, Marginals, Remainder, Template
from partita.views.distribution import distribution_line, distribution_text, names_text


def test_table_1():
    shown = distribution_text(brute(list("ABCD"), TABLE_1)).splitlines()
    assert shown[0] == "Set 1: 4 templates, 7 configurations, evidential"
    assert shown[2].split()[:5] == ["(A", "B", "D)", "(C)", "0.3826"]
    assert shown[2].endswith("█▏")
    assert "  C = D  0.5040 → 0.1873" in shown
    assert "  all configurations listed" in shown
    assert any("conflict κ 0.50000" in row for row in shown)
    assert shown[-1] == "exact: brute force"


def test_remainder_and_left_out_pairs():
    ids = [f"T{n}" for n in range(1, 8)]
    given = dict.fromkeys(itertools.combinations(ids, 2), 0.5)
    shown = distribution_text(brute(ids, given))
    assert "867 more configurations, total probability 0.9886" in shown
    assert "6 more pairs changed less" in shown


def test_nothing_is_wider_than_asked():
    ids = [f"template number {n} with a long name" for n in range(4)]
    given = dict.fromkeys(itertools.combinations(ids, 2), 0.5)
    wide = brute(ids, given, name="a set with a name that goes on and on " * 3)
    for width in (60, 80):
        rows = [*distribution_text(wide, width).splitlines(), distribution_line(wide, width)]
        assert max(map(len, rows)) <= width
    assert max(map(len, names_text("Alone:", ids, 60).splitlines())) <= 60


def test_wide_characters_are_counted_twice():
    given = {("東京", "A"): 0.5, ("東京", "B"): 0.5, ("A", "B"): 0.5}
    shown = distribution_text(brute(["東京", "A", "B"], given)).splitlines()
    wide, narrow = (next(row for row in shown if name in row) for name in ("東京 = A", "A = B"))
    assert wide.index("→") + 2 == narrow.index("→")


def test_control_characters_are_not_passed_on():
    ids = ["a\x1b[31m", "b\nc"]
    evil = brute(ids, {(ids[0], ids[1]): 0.5}, name="\x07")
    for shown in (distribution_text(evil), distribution_line(evil) + "\n"):
        assert not {"\x1b", "\x07"} & set(shown)
    assert "(a·[31m b·c)" in distribution_text(evil)


def test_colour_only_if_asked():
    distribution = brute(list("AB"), {("A", "B"): 0.5})
    assert "\x1b[" not in distribution_text(distribution)
    assert "\x1b[36m" in distribution_text(distribution, colour=True)


def test_what_is_not_exact_says_so():
    exact = brute(list("ABC"), {("A", "B"): 0.5, ("B", "C"): 0.25})
    value = exact.marginals.value
    sampled = replace(
        exact,
        method="sampled",
        converged=False,
        marginals=Marginals(value, np.maximum(value - 0.01, 0), value + 0.01, "estimate"),
        configurations=Listing(tuple("ABC"), np.array([[0, 1, 2]]), [0.5], [(0.4, 0.6)]),
        remainder=Remainder(None, 70.0, 0.5, (0.4, 0.6)),
        count=None,
        figures=replace(
            exact.figures,
            log2_count=Figure.exact(70.5),
            entropy_bits=Figure.estimate(1.0, 0.25),
        ),
        gap=math.inf,
        pruned=0.125,
    )
    shown = distribution_text(sampled)
    assert "about 2^70.5 configurations" in shown
    assert "0.5000 [0.4000, 0.6000]" in shown
    assert "about 2^70.0 more configurations" in shown
    assert "entropy 1.0000 ± 0.2500 bits" in shown
    assert "sampled, NOT converged: brute force" in shown
    assert "not proven to be the most probable" in shown
    assert "pruning cost 0.125" in shown
    figures = replace(sampled.figures, entropy_bits=Figure.interval(0.5, 1.5))
    assert "between 0.5" in distribution_text(replace(sampled, figures=figures))
    narrow = replace(sampled.configurations, intervals=[(0.49999999, 0.50000001)])
    assert "0.5000  █" in distribution_text(replace(sampled, configurations=narrow))
    assert "by a factor of e^2" in distribution_text(replace(sampled, gap=2.0))
    assert "NOT converged" in distribution_line(sampled)


def test_expressions_are_shown():
    distribution = brute(list("AB"), {("A", "B"): 0.5})
    templates = (Template("A", "a rail depot"), Template("B"))
    shown = distribution_text(replace(distribution, set=CoreferenceSet(templates, name="x")))
    assert "  A  a rail depot\n" in shown


def test_tiny_probabilities_keep_their_size():
    shown = distribution_text(brute(list("AB"), {("A", "B"): 1e-9}))
    assert "1e-09" in shown


def test_nothing_may_corefer():
    shown = distribution_text(brute(list("AB"), {("A", "B"): 0.0}))
    assert "No pair can corefer" in shown
    assert "1 configuration," in shown


def test_large_configurations_are_cut():
    ids = [f"template{n:03d}" for n in range(3)]
    distribution = brute(ids, dict.fromkeys(itertools.combinations(ids, 2), 0.5))
    many = tuple(f"template{n:03d}" for n in range(200))
    big = replace(
        distribution,
        set=CoreferenceSet.of(many),
        probabilities=np.zeros((200, 200)),
        marginals=Marginals.exact(np.eye(200)),
        configurations=Listing(many, np.zeros((1, 200), np.int64), [1.0]),
    )
    assert "lines" in distribution_text(big)
    assert len(distribution_text(big).splitlines()) < 20
