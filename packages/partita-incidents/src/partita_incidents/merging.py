"""Merge events into incidents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from partita.configurations.pair_models import greedy_labels
from partita.configurations.solve_batch import solve_many
from partita.core import CoreferenceSet, Distribution, IntArray
from partita.errors import PartitaError
from partita.pairs.models import PairModel, set_probabilities
from partita.pipeline import Solve
from partita.training.parameter_files import PairParameters, training_of
from partita_incidents.cases import MessageContext
from partita_incidents.characteristics import compatible_events
from partita_incidents.event_templates import event_templates
from partita_incidents.readings import Draft, Event

if TYPE_CHECKING:
    from partita.configurations.solve import Parameters

MODEL = "scaled"  # with the highest F in the exam over five folds
# Subtracted from the log-odds of every pair of events in the exam, chosen by F on two folds. The
# model merges too many events; sentences of several incidents are often left out of its keys.
SEPARATION = 0.5

Merge = Callable[[MessageContext, Sequence[Event]], list[Draft]]


@dataclass(frozen=True, slots=True, eq=False)
class ProbabilisticMerge:
    """A pair model for events and a model of configurations."""

    pairs: PairModel
    solve: Solve

    def __call__(self, context: MessageContext, events: Sequence[Event]) -> list[Draft]:
        """Return the drafts of the most probable configuration, in text order."""
        if len(events) < 2:
            return [Draft(tuple(events))] if events else []
        distribution = self.distribution(context, events)
        return _drafts(events, distribution.most_probable.labels(distribution.set.ids))

    def distribution(self, context: MessageContext, events: Sequence[Event]) -> Distribution:
        """Return the distribution over configurations of the events."""
        events_set = CoreferenceSet(
            tuple(event_templates(context, events)), name=context.story.message.id
        )
        (distribution,) = self.solve([set_probabilities(self.pairs, events_set)])
        if isinstance(distribution, PartitaError):
            raise distribution
        return distribution


def merge_by_model(
    trained: PairParameters, model: str = MODEL, separation: float = 0.0
) -> ProbabilisticMerge:
    """Return a merge by one of the models over pairs.

    `separation` is subtracted from the log-odds of every pair in the model scaled.
    """
    scaled = replace(trained.scaled, bias=trained.scaled.bias - separation)
    parameters: dict[str, Parameters] = {"greedy": trained.greedy, "scaled": scaled}
    solve = partial(solve_many, model=model, parameters=parameters.get(model), top=1)
    return ProbabilisticMerge(trained.pair_model(training_of(model)), solve)


def merge_compatible(context: MessageContext, events: Sequence[Event]) -> list[Draft]:
    """Merge greedily; events with different types, days or places are incompatible."""
    return (
        _drafts(events, greedy_labels(compatible_events(event_templates(context, events))))
        if events
        else []
    )


def exam_merge(trained: PairParameters) -> Merge:
    """Return the merge of the exam, on whose drafts screening is trained."""
    return merge_by_model(trained, MODEL, SEPARATION)


def _drafts(events: Sequence[Event], labels: IntArray) -> list[Draft]:
    cells = labels.tolist()
    return [
        Draft(tuple(event for event, cell in zip(events, cells, strict=True) if cell == n))
        for n in range(max(cells) + 1)
    ]
