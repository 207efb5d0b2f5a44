"""Training examples for the models that read text and fill slots."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from partita.core import Configuration, Document
from partita.text.tokens import scan
from partita_incidents.cases import MessageContext
from partita_incidents.entities import Entity, entities
from partita_incidents.event_templates import event_templates
from partita_incidents.exam_templates import Incident, compare_dates
from partita_incidents.features import (
    mention_features,
    message_features,
    sentence_features,
    words_by_sentence,
)
from partita_incidents.incident_models import (
    FillModels,
    entity_context_features,
    entity_type_features,
    incident_features,
    perpetrator_features,
)
from partita_incidents.mentions import Mention, find_mentions
from partita_incidents.models import NONE, Examples, Features, train_classifier
from partita_incidents.readings import Event, Reading, ReadingModels, RolePart
from partita_incidents.stories import Story

# The slots with string fills, and their roles.
ROLES: Mapping[int, str] = {
    6: "INSTRUMENT",
    9: "PERPETRATOR",
    10: "ORGANISATION",
    12: "TARGET",
    18: "VICTIM",
    19: "VICTIM",
}


@dataclass(frozen=True, slots=True)
class FillLabel:
    """The fill that a mention expresses: indices of the key's template, the slot, and the fill in
    it."""

    incident: int
    slot: int
    fill: int


def label_mentions(
    story: Story, mentions: Sequence[Mention], key: Sequence[Incident]
) -> list[tuple[FillLabel, ...]]:
    """Return for each mention the fills that it expresses."""
    positions: dict[str, list[int]] = defaultdict(list)
    for n, word in enumerate(story.words):
        positions[word].append(n)
    index_of = {(mention.item.first, mention.item.last): n for n, mention in enumerate(mentions)}
    labels: list[dict[FillLabel, None]] = [{} for _ in mentions]
    for label, words in _key_strings(key):
        for first in positions.get(words[0], ()):
            if story.words[first : first + len(words)] == words:
                for n in _mentions_of_string(mentions, index_of, first, first + len(words) - 1):
                    labels[n][label] = None
    return [tuple(label_set) for label_set in labels]


def _key_strings(key: Sequence[Incident]) -> Iterator[tuple[FillLabel, tuple[str, ...]]]:
    for n, incident in enumerate(key):
        for slot in ROLES:
            for place, fill in enumerate(incident.of(slot)):
                for value in fill.values:
                    if words := _words(value):
                        yield FillLabel(n, slot, place), words


def _words(text: str) -> tuple[str, ...]:
    texts, _, _ = scan(text, 0, len(text))
    return tuple(word.upper() for word in texts)


def _mentions_of_string(
    mentions: Sequence[Mention], index_of: Mapping[tuple[int, int], int], first: int, last: int
) -> Iterable[int]:
    """Return the first mention that ends inside the string, or the one whose name contains it."""
    overlapping = [
        n
        for n, mention in enumerate(mentions)
        if mention.item.first <= last and mention.item.last >= first
    ]
    inner = [n for n in overlapping if mentions[n].inner and _within(mentions[n], first, last)]
    ending = [n for n in overlapping if not mentions[n].inner and mentions[n].item.last <= last][:1]
    if ending and (not inner or mentions[inner[0]].item.first >= mentions[ending[0]].item.first):
        return ending
    if inner:
        return inner[:1]
    return [
        n for n in overlapping if not mentions[n].inner and _has_name_or_title(mentions[n], first)
    ][:1]


def _within(mention: Mention, first: int, last: int) -> bool:
    return first <= mention.item.first and mention.item.last <= last


def _has_name_or_title(mention: Mention, first: int) -> bool:
    """Whether a mention has a name or a title, so that strings inside it mean the person."""
    return "title" in mention.item.attributes or "name" in mention.item.attributes


def role_of(labels: Sequence[FillLabel]) -> str:
    """Return the role of a mention, that of the first slot if it has several."""
    return ROLES[min(label.slot for label in labels)] if labels else NONE


KeyedStory = tuple[Story, Sequence[Incident]]
_SPECIFIC_TYPES = ("BOMBING", "KIDNAPPING", "ARSON", "ROBBERY", "HIJACKING", "FORCED WORK STOPPAGE")


class ReadingExamples:
    """Training examples of the reading models, of all messages.

    Roles are learned from messages with incidents alone: in the others nobody plays a role,
    whatever the sentence says, and whether a message has incidents is for screening to say.
    """

    def __init__(self, stories: Sequence[KeyedStory]) -> None:
        self.keyed = frozenset(n for n, (_, key) in enumerate(stories) if key)
        self.roles, self.types, self.relevance = Examples(), Examples(), Examples()
        for n, (story, key) in enumerate(stories):
            self._add(n, story, key)

    def _add(self, n: int, story: Story, key: Sequence[Incident]) -> None:
        mentions, words = list(find_mentions(story)), words_by_sentence(story)
        labels = label_mentions(story, mentions, key)
        features = mention_features(story, mentions, words)
        by_sentence: list[list[Sequence[FillLabel]]] = [[] for _ in story.sentences]
        for mention, names, fills in zip(mentions, features, labels, strict=True):
            self.roles.add(names, role_of(fills), n)
            by_sentence[mention.sentence].append(fills)
        for sentence, fills_of in zip(story.sentences, by_sentence, strict=True):
            self.types.add(sentence_features(story, sentence, words), type_of(fills_of, key), n)
        self.relevance.add(message_features(story, words), "yes" if key else "no", n)

    def train(self, messages: Collection[int]) -> ReadingModels:
        """Train the reading models on some of the messages."""
        return ReadingModels(
            self.roles.train(self.keyed.intersection(messages), least=3, rate=0.02, passes=5),
            self.types.train(messages, least=3, rate=0.02, passes=4),
            self.relevance.train(messages, least=3, rate=0.01, passes=4),
        )


def type_of(labels: Iterable[Sequence[FillLabel]], key: Sequence[Incident]) -> str:
    """Return the type of the incident of which a sentence has most fills."""
    best = template_of(labels, key)
    return NONE if best is None else incident_type(key[best])


def template_of(labels: Iterable[Sequence[FillLabel]], key: Sequence[Incident]) -> int | None:
    """Return the index of the key's template with most fills; of equal ones the more specific."""
    counts = Counter(
        n for mention_labels in labels for n in {label.incident for label in mention_labels}
    )
    if not counts:
        return None
    return max(counts, key=lambda n: (counts[n], incident_type(key[n]) in _SPECIFIC_TYPES, -n))


def incident_type(incident: Incident) -> str:
    """Return the type of an incident of the key."""
    fills = incident.of(4)
    return fills[0].values[0] if fills else "ATTACK"


Example = tuple[Features, str]


FillExamples = dict[str, list[Example]]  # by the name of the model

# Of each model: how often a feature must occur, and the precision of the prior.
FILL_TRAINING: Mapping[str, tuple[int, float]] = {
    "victim_type": (2, 2.0),
    "victim_effect": (2, 5.0),
    "target_type": (2, 2.0),
    "target_effect": (2, 5.0),
    "confidence": (2, 5.0),
    "stage": (3, 5.0),
    "category": (3, 5.0),
    "instrument": (3, 5.0),
}


def train_fill_models(examples: Iterable[tuple[Reading, Sequence[Incident]]]) -> FillModels:
    """Train the models that choose fills from readings and their keys."""
    collected: FillExamples = {name: [] for name in FILL_TRAINING}
    for reading, key in examples:
        if key:
            _add_fill_examples(collected, reading, key)
    trained = {
        name: train_classifier(collected[name], least, precision)
        for name, (least, precision) in FILL_TRAINING.items()
    }
    return FillModels(**trained)


def _add_fill_examples(examples: FillExamples, reading: Reading, key: Sequence[Incident]) -> None:
    labels = label_mentions(reading.story, reading.mentions, key)
    words = words_by_sentence(reading.story)
    for n, incident in enumerate(key):
        kind = incident_type(incident)
        keyed_entities = list(_keyed_entities(reading, labels, n, incident))
        for slot, entity, strings in keyed_entities:
            _add_entity_examples(examples, reading, incident, slot, entity, strings)
        perpetrators = [entity for slot, entity, _ in keyed_entities if slot in (9, 10)]
        sentences = sorted(
            {
                mention.sentence
                for mention, mention_labels in zip(reading.mentions, labels, strict=True)
                if any(label.incident == n for label in mention_labels)
            }
        )
        if sentences:
            features = incident_features(reading.story, sentences, words, kind)
            examples["stage"].append((features, _single(incident, 5) or "ACCOMPLISHED"))
            named = perpetrator_features(reading, perpetrators)
            examples["category"].append(([*features, *named], _single(incident, 8) or NONE))
            if not incident.of(6):
                examples["instrument"].append((features, _single(incident, 7) or NONE))


def _keyed_entities(
    reading: Reading, labels: Sequence[Sequence[FillLabel]], n: int, incident: Incident
) -> Iterator[tuple[int, Entity, set[str]]]:
    """Yield for each mentioned fill its slot, the entity of its mentions, and its strings."""
    places: dict[tuple[int, int], list[RolePart]] = defaultdict(list)
    for place, mention_labels in enumerate(labels):
        for label in mention_labels:
            if label.incident == n:
                places[label.slot, label.fill].append(RolePart(place, ROLES[label.slot], 1.0))
    for (slot, fill), parts in places.items():
        values = set(incident.of(slot)[fill].values)
        for entity in entities(reading, parts, ROLES[slot])[:1]:
            yield slot, entity, values


def _add_entity_examples(
    examples: FillExamples,
    reading: Reading,
    incident: Incident,
    slot: int,
    entity: Entity,
    strings: set[str],
) -> None:
    kind = incident_type(incident)
    if slot in (18, 19):
        strings = strings | _names(incident, slot, strings)
        if (chosen := _tagged(incident, 20, strings)) is not None:
            examples["victim_type"].append((entity_type_features(entity, reading), chosen))
        effect = _tagged(incident, 23, strings) or NONE
        examples["victim_effect"].append((entity_context_features(entity, reading, kind), effect))
    elif slot == 12:
        if (chosen := _tagged(incident, 13, strings)) is not None:
            examples["target_type"].append((entity_type_features(entity, reading), chosen))
        effect = _tagged(incident, 16, strings) or NONE
        examples["target_effect"].append((entity_context_features(entity, reading, kind), effect))
    elif slot == 10 and (chosen := _tagged(incident, 11, strings)) is not None:
        examples["confidence"].append((entity_context_features(entity, reading, kind), chosen))


def _names(incident: Incident, slot: int, strings: set[str]) -> set[str]:
    """Return the names to which a description is tagged."""
    if slot == 18:
        return set()
    return {t for fill in incident.of(19) if strings & set(fill.values) for t in fill.tags}


def _tagged(incident: Incident, slot: int, strings: set[str]) -> str | None:
    for fill in incident.of(slot):
        if strings & set(fill.tags):
            return fill.values[0]
    return None


def _single(incident: Incident, slot: int) -> str:
    fills = incident.of(slot)
    return fills[0].values[0] if fills else ""


MARGIN = 0.25  # by which the best template must lead; otherwise it is unclear


def keyed_document(
    context: MessageContext, key: Sequence[Incident], events: Sequence[Event]
) -> Document:
    """Return the events that match one of the key's templates, one cell for each template."""
    indices = template_indices(context, key, events)
    matched = [n for n, index in enumerate(indices) if index is not None]
    templates = [event_templates(context, events)[n] for n in matched]
    ids = [template.id for template in templates]
    labels = [index for index in indices if index is not None]
    key_configuration = Configuration.from_labels(ids, labels)
    return Document(context.story.message.id, "", tuple(templates), key_configuration)


def template_indices(
    context: MessageContext, key: Sequence[Incident], events: Sequence[Event]
) -> list[int | None]:
    """Return for each event the index of its template in the key; None if it is unclear."""
    votes = _votes(context, key)
    return [_template_index(context, key, event, votes.get(event.sentence, {})) for event in events]


def _votes(context: MessageContext, key: Sequence[Incident]) -> dict[int, dict[int, float]]:
    """Return the number of fills of each template by sentence; a fill of several is shared."""
    votes: dict[int, dict[int, float]] = defaultdict(dict)
    labels = label_mentions(context.story, context.reading.mentions, key)
    for mention, mention_labels in zip(context.reading.mentions, labels, strict=True):
        indices = {label.incident for label in mention_labels}
        for index in indices:
            sentence_votes = votes[mention.sentence]
            sentence_votes[index] = sentence_votes.get(index, 0.0) + 1 / len(indices)
    return votes


def _template_index(
    context: MessageContext, key: Sequence[Incident], event: Event, votes: Mapping[int, float]
) -> int | None:
    scores = sorted((votes[n] + _agreement(context, key[n], event), -n) for n in votes)[::-1]
    if not scores or (len(scores) > 1 and scores[0][0] - scores[1][0] < MARGIN):
        return None
    return -scores[0][1]


def _agreement(context: MessageContext, incident: Incident, event: Event) -> float:
    """Score how well type, day and place of a template agree with the event's sentence."""
    locations = " ".join(_values(incident, 3))
    same_place = any(
        place.kind and place.name in locations for place in context.places[event.sentence]
    )
    days = [phrase.fill for phrase in context.days[event.sentence]]
    same_day = any(
        compare_dates(day, key_day) == 1.0 for day in days for key_day in _values(incident, 2)
    )
    return event.types.get(incident_type(incident), 0.0) + same_place + same_day


def _values(incident: Incident, slot: int) -> Iterator[str]:
    return (value for fill in incident.of(slot) for value in fill.values)
