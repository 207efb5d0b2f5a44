"""Preferred, possible, unlisted."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from oracles.described import drawn
from partita.core import Antecedent, Template
from partita.pairs.columns import POSSIBLE, PREFERRED, UNLISTED, antecedent_table


def _chain(name: str, *listed_ones: str) -> Template:
    found = tuple(Antecedent(one, preferred=n == 0) for n, one in enumerate(listed_ones))
    return Template(name, antecedents=found)


def test_preferred_is_transitive_and_possible_is_not() -> None:
    templates = [_chain("A"), _chain("B", "A"), _chain("C", "B"), _chain("D", "C", "A")]
    found = antecedent_table(templates)
    codes = {(s, t): int(found[s, t]) for t in range(4) for s in range(t)}
    assert set(codes.values()) == {PREFERRED}
    templates[2] = _chain("C", "A", "B")
    found = antecedent_table(templates)
    assert found[[1, 0], [2, 2]].tolist() == [POSSIBLE, PREFERRED]
    assert found[[1], [3]].tolist() == [UNLISTED]


def test_a_heading_that_prefers_what_stands_below_it() -> None:
    templates = [_chain("A", "C"), _chain("B"), _chain("C", "B")]
    found = antecedent_table(templates)
    codes = found[[0, 0, 1], [1, 2, 2]].tolist()
    assert codes == [PREFERRED, PREFERRED, PREFERRED]


def test_an_antecedent_outside_the_document_and_a_circle_do_no_harm() -> None:
    templates = [_chain("A", "B"), _chain("B", "A"), _chain("C", "elsewhere")]
    found = antecedent_table(templates)
    assert found[[0, 0], [1, 2]].tolist() == [PREFERRED, UNLISTED]


@settings(max_examples=60, deadline=None)
@given(drawn())
def test_against_the_closure_by_hand(templates: list[Template]) -> None:
    n = len(templates)
    place = {template.id: k for k, template in enumerate(templates)}
    possible, preferred = np.zeros((2, n, n), dtype=bool)
    for t, template in enumerate(templates):
        for one in template.antecedents:
            possible[place[one.id], t] = True
            preferred[place[one.id], t] |= one.preferred
    for _ in range(n):
        preferred |= (preferred.astype(int) @ preferred.astype(int)) > 0
    s, t = np.triu_indices(n, 1)
    expected = np.where(preferred, PREFERRED, np.where(possible, POSSIBLE, UNLISTED))[s, t]
    assert antecedent_table(templates)[s, t].tolist() == expected.tolist()
