"""Templates as columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from oracles.described import documents, drawn
from partita.core import Template
from partita.errors import InputError
from partita.pairs.columns import NIL, template_columns, template_number


def test_no_templates() -> None:
    assert len(template_columns(())) == 0


def test_two_templates_of_one_name() -> None:
    with pytest.raises(InputError, match="duplicate template id A"):
        template_columns([Template("A"), Template("A")])


@settings(max_examples=60, deadline=None)
@given(drawn())
def test_rivals_and_the_nearest_one_by_hand(templates: list[Template]) -> None:
    found = template_columns(templates)
    kinds = [(t.type, template_number(t)) for t in templates]
    for t in range(len(templates)):
        before = [s for s in range(t) if kinds[s] == kinds[t]]
        assert found.previous[t] == max(before, default=NIL)
        for s in range(t):
            row = found.rivals[found.kind[t]]
            assert row[t] - row[s + 1] == sum(s < u for u in before)


def test_rivals_by_compatibility_where_it_is_known() -> None:
    rng = np.random.default_rng(1)
    templates = documents(rng, 12)
    compatible = rng.random((12, 12)) < 0.4
    compatible |= compatible.T
    found = template_columns(templates, compatible=compatible)
    for t in range(12):
        before = [s for s in range(t) if compatible[s, t]]
        assert found.previous[t] == max(before, default=NIL)
        row = found.rivals[found.kind[t]]
        assert [row[t] - row[s + 1] for s in range(t)] == [
            sum(s < u for u in before) for s in range(t)
        ]


def test_the_nearest_with_the_same_head_and_how_many_have_it() -> None:
    found = template_columns([Template(str(n), head=head) for n, head in enumerate("abacba")])
    assert found.previous_head.tolist() == [NIL, NIL, 0, NIL, 1, 2]
    assert found.frequency.tolist() == [3, 2, 3, 1, 2, 3]
