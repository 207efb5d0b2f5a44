"""Train the models that screen drafts, entities and fills, and choose days and places.

Trees observe the probabilities of models that were trained on other messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from partita.core import FloatArray
from partita_incidents import slot_choice
from partita_incidents.answers import CandidateIncident, candidate_incidents, fill_numbers
from partita_incidents.cases import MessageContext
from partita_incidents.entities import Entity
from partita_incidents.exam_templates import CORRECT, SLOTS, Incident, compare_dates
from partita_incidents.filling import (
    Filling,
    ProbableEntities,
    ProbableFill,
    incident_of,
)
from partita_incidents.fills import compare, compare_locations, compare_strings
from partita_incidents.incident_models import FillModels, ScreeningModels
from partita_incidents.models import (
    BoostedTrees,
    Classifier,
    Examples,
    Features,
    log_odds,
    train_classifier,
    train_trees,
)
from partita_incidents.readings import Draft
from partita_incidents.score import map_templates
from partita_incidents.screening import (
    DraftedMessage,
    ParticipantsByRole,
    draft_features,
    draft_numbers,
    entity_features,
    entity_numbers,
)
from partita_incidents.slot_choice import Candidate
from partita_incidents.training_data import ROLES

FOLDS = 3
MIN_PROBABILITY = 0.25  # of entities and fills used to match drafts to the key's templates

KeyedDrafts = tuple[DraftedMessage, Sequence[Incident]]
Drafted = tuple[int, DraftedMessage, int, Incident | None]  # a draft, and its template in the key


def train_screening_models(
    messages: Sequence[KeyedDrafts], fill_models: Sequence[FillModels]
) -> ScreeningModels:
    """Train the screening models on drafts and keys.

    The fill models of each fold were trained without its messages (every third).
    """
    drafts = [
        (m, drafted, n, key_templates.get(str(n)))
        for m, (drafted, key) in enumerate(messages)
        for key_templates in [_key_templates(drafted, key, fill_models[m % FOLDS])]
        for n in range(len(drafted.drafts))
    ]
    rows: list[FloatArray] = []
    labels: list[bool] = []
    for fold, unseen in enumerate(fill_models):
        known = [row for row in drafts if row[0] % FOLDS != fold]
        others = _train_without_fills(known, fill_models)
        for drafted, key in messages[fold::FOLDS]:
            for candidate, template in _keyed_candidates(drafted, key, others, unseen):
                rows.append(fill_numbers(candidate))
                labels += _are_in_key(candidate.fills, template)
    trees = train_trees(_stacked(rows), labels)
    return replace(_train_without_fills(drafts, fill_models), fill_trees=trees)


def _train_without_fills(
    drafts: Sequence[Drafted], fill_models: Sequence[FillModels]
) -> ScreeningModels:
    """Train all screening models but the trees of fills."""
    matched = [row for row in drafts if row[3] is not None]
    draft_model, draft_trees = _draft_models(drafts, fill_models)
    entity_model, entity_trees = _entity_models(matched)
    days, day_trees = _choice_models(matched, slot_choice.day_candidates, 2, compare_dates)
    places, place_trees = _choice_models(
        matched, slot_choice.place_candidates, 3, compare_locations
    )
    return ScreeningModels(
        draft_model,
        entity_model,
        draft_trees,
        entity_trees,
        days,
        places,
        day_trees,
        place_trees,
        train_trees(_stacked([]), []),
    )


def _keyed_candidates(
    drafted: DraftedMessage,
    key: Sequence[Incident],
    screening: ScreeningModels,
    fill_models: FillModels,
) -> list[tuple[CandidateIncident, Incident | None]]:
    """Return the candidates of a message that may be answered, each with its template."""
    candidates = candidate_incidents(drafted, screening, fill_models)
    likely = [each.choose(each.products, MIN_PROBABILITY) for each in candidates]
    rough = {
        n: incident_of(drafted.context.story.message.id, n, incident.fills)
        for n, incident in enumerate(likely)
        if incident.is_answered
    }
    templates = {answer.number: one for answer, one in map_templates([*rough.values()], list(key))}
    return [(candidates[n], templates.get(answer.number)) for n, answer in rough.items()]


def _are_in_key(fills: Sequence[ProbableFill], template: Incident | None) -> list[bool]:
    """Return whether each fill is right, at least in part; likelier ones are compared first."""
    labels = [False] * len(fills)
    free = {} if template is None else {slot: list(template.of(slot)) for slot in template.fills}
    for n in sorted(range(len(fills)), key=lambda n: -fills[n].probability):
        slot, own = fills[n].slot, fills[n].fill
        verdicts = [compare(SLOTS[slot], own, other) for other in free.get(slot, ())]
        if max(verdicts, default=0.0) > 0:
            free[slot].pop(verdicts.index(max(verdicts)))
            labels[n] = True
    return labels


def _stacked(tables: Sequence[FloatArray]) -> FloatArray:
    """Return all rows in one table, one without columns if there are none."""
    return np.concatenate(tables) if tables else np.zeros((0, 0))


Candidates = Callable[[MessageContext, Draft], list[Candidate]]
Compare = Callable[[str, str], float]


def _choice_models(
    drafts: Sequence[Drafted], find: Candidates, slot: int, compare: Compare
) -> tuple[Classifier, BoostedTrees]:
    """Train the models that choose the day or the place of a draft; the trees learn points."""
    keyed = [
        (m, candidates, [max(compare(each.fill, value) for value in values) for each in candidates])
        for m, drafted, n, template in drafts
        if template is not None
        and (values := [value for fill in template.of(slot) for value in fill.values])
        and (candidates := find(drafted.context, drafted.drafts[n]))
    ]
    rows: list[FloatArray] = []
    points: list[float] = []
    for fold in range(FOLDS):
        words = _words_model(row for row in keyed if row[0] % FOLDS != fold)
        for m, candidates, verdicts in keyed:
            if m % FOLDS == fold:
                rows.append(slot_choice.candidate_numbers(candidates, words))
                points += verdicts
    return _words_model(keyed), train_trees(_stacked(rows), points)


def _words_model(
    keyed: Iterable[tuple[int, Sequence[Candidate], Sequence[float]]],
) -> Classifier:
    examples = [
        (candidate.features, "yes" if verdict == CORRECT else "no")
        for _, candidates, verdicts in keyed
        for candidate, verdict in zip(candidates, verdicts, strict=True)
    ]
    return train_classifier(examples, least=2, precision=3.0)


def _draft_models(
    drafts: Sequence[Drafted], fill_models: Sequence[FillModels]
) -> tuple[Classifier, BoostedTrees]:
    examples, features = Examples(), []
    for m, drafted, n, template in drafts:
        features.append(
            draft_features(
                drafted.context, drafted.drafts[n], drafted.participants[n], drafted.drafts
            )
        )
        examples.add(features[-1], "no" if template is None else "yes", m)
    lexical = _held_out_log_odds(examples, features, least=5, rate=0.01, passes=4)
    rows = [
        draft_numbers(drafted, n, odds, fill_models[m % FOLDS])
        for (m, drafted, n, _), odds in zip(drafts, lexical, strict=True)
    ]
    labels = [template is not None for _, _, _, template in drafts]
    model = examples.train(examples.messages, least=5, rate=0.01, passes=4)
    return model, train_trees(np.array(rows).reshape(len(rows), -1), labels)


def _entity_models(drafts: Sequence[Drafted]) -> tuple[Classifier, BoostedTrees]:
    examples, features, observed = Examples(), [], []
    for m, drafted, n, template in drafts:
        for found in drafted.participants[n].values():
            for each in found:
                features.append(entity_features(drafted.context, drafted.drafts[n], each, found))
                right = template is not None and _is_fill(each.entity, template)
                examples.add(features[-1], "yes" if right else "no", m)
                observed.append((drafted, n, each, found))
    lexical = _held_out_log_odds(examples, features, least=5, rate=0.02, passes=4)
    rows = [entity_numbers(*row, odds) for row, odds in zip(observed, lexical, strict=True)]
    labels = [outcome == "yes" for outcome in examples.outcomes]
    model = examples.train(examples.messages, least=5, rate=0.02, passes=4)
    return model, train_trees(np.array(rows).reshape(len(rows), -1), labels)


def _held_out_log_odds(
    examples: Examples, features: Sequence[Features], least: int, rate: float, passes: int
) -> list[float]:
    """Return the log odds of each example by a model that was not trained on its message."""
    odds = [0.0] * len(features)
    for fold in range(FOLDS):
        model = examples.train(
            [m for m in set(examples.messages) if m % FOLDS != fold], least, rate, passes
        )
        for n, message in enumerate(examples.messages):
            if message % FOLDS == fold:
                odds[n] = log_odds(model.probability("yes", features[n]))
    return odds


def _key_templates(
    drafted: DraftedMessage, key: Sequence[Incident], fill_models: FillModels
) -> dict[str, Incident]:
    """Return the key's template of each draft, by the draft's index."""
    rough = []
    for n, (draft, by_role) in enumerate(zip(drafted.drafts, drafted.participants, strict=True)):
        filling = Filling(drafted.context, draft, _probable_entities(by_role), fill_models)
        rough.append(incident_of(drafted.context.story.message.id, n, filling.fills()))
    return {answer.number: incident for answer, incident in map_templates(rough, list(key))}


def _probable_entities(by_role: ParticipantsByRole) -> ProbableEntities:
    return {
        role: [
            (each.entity, each.probability)
            for each in participants
            if each.probability >= MIN_PROBABILITY
        ]
        for role, participants in by_role.items()
    }


def _is_fill(entity: Entity, key: Incident) -> bool:
    slots = [slot for slot, role in ROLES.items() if role == entity.role]
    values = [value for slot in slots for fill in key.of(slot) for value in fill.values]
    texts = (*entity.names, *entity.descriptions)
    return any(compare_strings(text, value) > 0 for text in texts for value in values)
