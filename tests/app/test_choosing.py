"""Keys of a run: the next set, what keys teach, the curve."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from partita.antecedents.sets import coreference_sets
from partita.app.train import train
from partita.core import Configuration, CoreferenceSet
from partita.core.templates import Key
from partita.corpora.keys import read_keys
from partita.domains import __file__ as domains
from partita.domains import find_domain, schema_of
from partita.training import label_choice as choosing
from partita.training.few_keys import teach
from partita.training.label_choice import set_gains
from partita.training.parameter_files import (
    PairParameters,
    shipped_pair_parameters,
)

GUM = Path(__file__).parents[2] / "research" / "gum_pairs.json"
START = shipped_pair_parameters()
SCHEMA = schema_of("depots")
MESSAGES = 12


@pytest.fixture(scope="module")
def run() -> list[tuple[CoreferenceSet, Key]]:
    """The sets of some messages of the corpus of depots, each with its key."""
    found = []
    assert SCHEMA is not None
    for key in read_keys(Path(domains).parent / "depots" / "corpus" / "keys.jsonl")[:MESSAGES]:
        for n, one in enumerate(coreference_sets(key.templates, SCHEMA)):
            cells = [[m for m in cell if m in one.ids] for cell in key.configuration]
            configuration = Configuration([cell for cell in cells if cell])
            mine = replace(key, templates=one.templates, configuration=configuration)
            found.append((replace(one, name=f"{key.message}.{n}"), mine))
    return found


def test_the_next_sets_are_the_ones_without_keys_by_their_gain(
    run: list[tuple[CoreferenceSet, Key]],
) -> None:
    sets = [one for one, _ in run]
    found = set_gains(sets, START, schema=SCHEMA, limit=5)
    assert len(found) == 5
    first = found[0][0]
    after = set_gains(sets, START, {first}, schema=SCHEMA, limit=5)
    assert first not in dict(after)
    assert after[0][0] == found[1][0]
    assert after[0][1] == pytest.approx(found[1][1])
    assert len(set_gains(sets, START, schema=SCHEMA, limit=10**6)) <= len(sets)
    assert set_gains(sets, START, [one.name for one in sets], schema=SCHEMA) == []
    assert set_gains([], START) == []


def test_a_set_that_leaves_nothing_to_decide_is_not_offered(
    run: list[tuple[CoreferenceSet, Key]],
) -> None:
    one = run[0][0]
    every = frozenset(
        (a, b) if a <= b else (b, a) for n, a in enumerate(one.ids) for b in one.ids[n + 1 :]
    )
    decided = replace(one, incompatible=frozenset(), must=every, name="decided")
    assert set_gains([decided], START, schema=SCHEMA) == []


def test_of_a_long_run_a_sample_is_compared(
    run: list[tuple[CoreferenceSet, Key]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "SAMPLE_SIZE", 3)
    sets = [one for one, _ in run]
    assert {name for name, _ in set_gains(sets, START, schema=SCHEMA, limit=9)} <= {
        sets[0].name,
        sets[(len(sets) - 1) // 2].name,
        sets[-1].name,
    }


def test_one_key_teaches(run: list[tuple[CoreferenceSet, Key]]) -> None:
    key = run[0][1]
    start = find_domain("depots").pair_parameters
    found = train([key], domain="depots", about="one key").parameters
    assert isinstance(found, PairParameters)
    assert found.learned_from == "one key, starting from the domain depots"
    assert not np.array_equal(found.every_pair.weights, start.every_pair.weights)
    assert teach(START, [], model="evidential").parameters is START
