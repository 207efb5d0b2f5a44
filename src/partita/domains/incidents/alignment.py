"""Align events with the templates of the key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from partita.corpora.muc_templates import Incident, compare_dates
from partita.domains.incidents.cases import MessageContext
from partita.domains.incidents.event_templates import event_templates
from partita.domains.incidents.readings import Event
from partita.domains.incidents.training_data import incident_type, label_mentions
from partita.records import Configuration, Document

MARGIN = 0.25  # by which a template must be ahead of the next: else nobody knows which is meant


def keyed_document(
    case: MessageContext, key: Sequence[Incident], found: Sequence[Event]
) -> Document:
    """The events that tell of one of the key's templates for certain, one cell for each."""
    home = template_indices(case, key, found)
    known = [n for n, place in enumerate(home) if place is not None]
    templates = [event_templates(case, found)[n] for n in known]
    ids = [template.id for template in templates]
    labels = [place for place in home if place is not None]
    key_of = Configuration.from_labels(ids, labels)
    return Document(case.story.message.id, "", tuple(templates), key_of)


def template_indices(
    case: MessageContext, key: Sequence[Incident], found: Sequence[Event]
) -> list[int | None]:
    """For each event the key's template of which it tells; None where none or several may be."""
    votes = _votes(case, key)
    return [_template_index(case, key, event, votes.get(event.sentence, {})) for event in found]


def _votes(case: MessageContext, key: Sequence[Incident]) -> dict[int, dict[int, float]]:
    """For each sentence how many fills of each template it has; a fill of several is shared."""
    found: dict[int, dict[int, float]] = defaultdict(dict)
    labels = label_mentions(case.story, case.reading.mentions, key)
    for mention, some in zip(case.reading.mentions, labels, strict=True):
        meant = {one.incident for one in some}
        for place in meant:
            here = found[mention.sentence]
            here[place] = here.get(place, 0.0) + 1 / len(meant)
    return found


def _template_index(
    case: MessageContext, key: Sequence[Incident], event: Event, votes: Mapping[int, float]
) -> int | None:
    scores = sorted((votes[n] + _agreement(case, key[n], event), -n) for n in votes)[::-1]
    if not scores or (len(scores) > 1 and scores[0][0] - scores[1][0] < MARGIN):
        return None
    return -scores[0][1]


def _agreement(case: MessageContext, incident: Incident, event: Event) -> float:
    """How well type, day and place of a template go with what the sentence says."""
    there = " ".join(_values(incident, 3))
    same_place = any(p.kind and p.name in there for p in case.places[event.sentence])
    days = [when.fill for when in case.days[event.sentence]]
    same_day = any(compare_dates(day, told) == 1.0 for day in days for told in _values(incident, 2))
    return event.types.get(incident_type(incident), 0.0) + same_place + same_day


def _values(incident: Incident, slot: int) -> Iterator[str]:
    return (value for fill in incident.of(slot) for value in fill.values)
