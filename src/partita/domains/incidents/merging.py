"""Merge events into incidents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from partita.configurations.greedy import greedy_labels
from partita.configurations.solve_batch import solve_many
from partita.domains.incidents.cases import MessageContext
from partita.domains.incidents.characteristics import compatible_events
from partita.domains.incidents.drafts import Draft
from partita.domains.incidents.event_templates import event_templates
from partita.domains.incidents.readings import Event
from partita.errors import PartitaError
from partita.pairs.models import PairModel, set_probabilities
from partita.pipeline import Solve
from partita.records import CoreferenceSet, Distribution, IntArray
from partita.training.pair_parameters import PairParameters, training_of

if TYPE_CHECKING:
    from partita.configurations.solve import Parameters

MODEL = "scaled"  # its bias against merging is learned, and pays in the exam

Merge = Callable[[MessageContext, Sequence[Event]], list[Draft]]


@dataclass(frozen=True, slots=True, eq=False)
class ProbabilisticMerge:
    """A pair model for events and a model of configurations."""

    pairs: PairModel
    solve: Solve

    def __call__(self, case: MessageContext, found: Sequence[Event]) -> list[Draft]:
        """The drafts of the most probable configuration, in text order."""
        if len(found) < 2:
            return [Draft(tuple(found))] if found else []
        answer = self.distribution(case, found)
        return _drafts(found, answer.most_probable.labels(answer.set.ids))

    def distribution(self, case: MessageContext, found: Sequence[Event]) -> Distribution:
        """Over the ways in which events may be one."""
        given = CoreferenceSet(tuple(event_templates(case, found)), name=case.story.message.id)
        (answer,) = self.solve([set_probabilities(self.pairs, given)])
        if isinstance(answer, PartitaError):
            raise answer
        return answer


def merge_by_model(learned: PairParameters, model: str = MODEL) -> ProbabilisticMerge:
    """Merging by one of the models over pairs."""
    of_model: dict[str, Parameters] = {"greedy": learned.greedy, "scaled": learned.scaled}
    solve = partial(solve_many, model=model, parameters=of_model.get(model), top=1)
    return ProbabilisticMerge(learned.pair_model(training_of(model)), solve)


def keep_separate(case: MessageContext, found: Sequence[Event]) -> list[Draft]:
    """Nothing is merged."""
    return [Draft((event,)) for event in found]


def merge_all(case: MessageContext, found: Sequence[Event]) -> list[Draft]:
    """A greedy merger that is told nothing a priori merges whatever there is."""
    return [Draft(tuple(found))] if found else []


def merge_compatible(case: MessageContext, found: Sequence[Event]) -> list[Draft]:
    """A greedy merger for which events that tell other types, days or places are incompatible."""
    return (
        _drafts(found, greedy_labels(compatible_events(event_templates(case, found))))
        if found
        else []
    )


def _drafts(found: Sequence[Event], labels: IntArray) -> list[Draft]:
    cells = labels.tolist()
    return [
        Draft(tuple(event for event, cell in zip(found, cells, strict=True) if cell == n))
        for n in range(max(cells) + 1)
    ]
