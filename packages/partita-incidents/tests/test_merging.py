"""Events of a message put together: by probability, greedily, not at all."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracles.partitions import partitions
from partita.core import restricted_growth
from partita_incidents.cases import MessageContext, message_context
from partita_incidents.domain import domain
from partita_incidents.event_templates import event_templates, participants
from partita_incidents.merging import (
    exam_merge,
    merge_by_model,
    merge_compatible,
)
from partita_incidents.readings import Event, find_events, read_story
from partita_incidents.training_data import keyed_document, template_indices
from small_exam import answer_story, examples, experts


def found(number: int) -> tuple[MessageContext, list[Event]]:
    """The case of an example and its events."""
    reading = read_story(examples()[number][0], experts().reading)
    return message_context(reading), find_events(reading, experts().reading)


TWO = next(n for n, (_, key) in enumerate(examples()) if len(key) == 2)


def test_events_are_aligned_with_the_key() -> None:
    known, seen = found(TWO)
    places = template_indices(known, examples()[TWO][1], seen)
    home = dict(zip((event.sentence for event in seen), places, strict=True))
    assert home[0] == 0
    assert 1 in home.values()
    keyed = keyed_document(known, examples()[TWO][1], seen)
    assert len(keyed.key) == 2
    assert len(keyed) == sum(place is not None for place in home.values())


def test_an_event_that_tells_of_no_template_is_in_no_set() -> None:
    known, seen = found(TWO)
    assert template_indices(known, (), seen) == [None] * len(seen)
    assert len(keyed_document(known, (), seen)) == 0


def test_two_incidents_of_one_message_are_told_apart() -> None:
    story, key = examples()[TWO]
    assert len(answer_story(story, experts())) == len(key)


@pytest.mark.parametrize("model", ["evidential", "merging", "scaled", "greedy", "uniform"])
def test_a_distribution_over_the_ways_to_merge(model: str) -> None:
    known, seen = found(TWO)
    given = merge_by_model(experts().pairs, model).distribution(known, seen)
    whole = sum(one.probability for one in given.configurations) + given.remainder.probability
    assert whole == pytest.approx(1.0)


def test_the_most_probable_configuration_is_the_one_that_enumeration_finds() -> None:
    """The evidential weight: Π p/(1−p) over all pairs that share a cell."""
    known, seen = found(TWO)
    given = merge_by_model(experts().pairs, "evidential").distribution(known, seen)
    chance = np.where(np.eye(len(seen)), 0.5, given.probabilities)
    theta = np.log(chance) - np.log1p(-chance)
    best = max(
        partitions(len(seen)),
        key=lambda labels: math.fsum(
            theta[i, j]
            for i in range(len(seen))
            for j in range(i + 1, len(seen))
            if labels[i] == labels[j]
        ),
    )
    made = given.most_probable.labels(given.set.ids)
    assert made.tolist() == restricted_growth(best).tolist()


def test_every_event_is_in_one_draft_whoever_merges() -> None:
    known, seen = found(TWO)
    pairs = experts().pairs
    for merge in (merge_compatible, merge_by_model(pairs), exam_merge(pairs)):
        drafts = merge(known, seen)
        assert sorted(e.sentence for d in drafts for e in d.events) == [e.sentence for e in seen]
        assert merge(known, []) == []


def test_templates_stand_where_their_text_does() -> None:
    known, seen = found(TWO)
    types = domain.extractor.domain.schema.types
    assert types is not None
    told = [*event_templates(known, seen), *participants(known.reading, seen, types)]
    text = known.story.message.text
    assert all(text[one.start : one.end] == one.text for one in told)
    assert len({one.id for one in told}) == len(told)
    roles = {role for one in told for role in one.slots.get("ROLE", ())}
    assert {"TARGET", "VICTIM"} <= roles
