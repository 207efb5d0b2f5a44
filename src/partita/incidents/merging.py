"""Which events are one incident: the most probable configuration of the events of a message."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from partita.configurations.solve import solve
from partita.incidents.cases import Case
from partita.incidents.drafts import Draft
from partita.incidents.events import Event
from partita.incidents.models import Choice
from partita.incidents.pairing import together
from partita.records import Budget, CoreferenceSet, Distribution, PairProbabilities

NEVER, ALWAYS = 1e-4, 1.0 - 1e-4


def matrix(case: Case, found: Sequence[Event], pairs: Choice) -> PairProbabilities:
    """For every two events the probability that they are one."""
    n = len(found)
    table = np.eye(n)
    for i in range(n):
        for j in range(i + 1, n):
            chance = pairs.chance("yes", together(case, found[i], found[j], n))
            table[i, j] = table[j, i] = min(max(chance, NEVER), ALWAYS)
    ids = [f"E{event.sentence + 1}" for event in found]
    return PairProbabilities(CoreferenceSet.of(ids, case.story.message.id), table)


def configured(case: Case, found: Sequence[Event], pairs: Choice, top: int = 5) -> Distribution:
    """The distribution over the ways in which events may be one."""
    return solve(matrix(case, found, pairs), "evidential", top=top, budget=Budget())


def merged(case: Case, found: Sequence[Event], pairs: Choice) -> list[Draft]:
    """The drafts of the most probable configuration, in text order."""
    if len(found) < 2:
        return [Draft(tuple(found))] if found else []
    best = configured(case, found, pairs, top=1).configurations[0].configuration
    home = {f"E{event.sentence + 1}": event for event in found}
    cells = [tuple(home[name] for name in cell) for cell in best]
    drafts = [Draft(tuple(sorted(cell, key=lambda e: e.sentence))) for cell in cells]
    return sorted(drafts, key=lambda draft: draft.events[0].sentence)
