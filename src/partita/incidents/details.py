"""What the fills from a list are chosen by: the entity itself, its surroundings, the incident."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from partita.incidents.entities import Entity
from partita.incidents.evidence import of_sentence
from partita.incidents.features import observed, sentence_words
from partita.incidents.models import Choice
from partita.incidents.readings import Reading
from partita.incidents.stories import Story, sorts_of


@dataclass(frozen=True, slots=True, eq=False)
class Judges:
    """The models that choose among the exam's lists."""

    victim_type: Choice
    victim_effect: Choice
    target_type: Choice
    target_effect: Choice
    confidence: Choice
    stage: Choice
    category: Choice
    instrument: Choice


def of_kind(story: Story, entity: Entity, reading: Reading) -> list[str]:
    """What an entity is: its words, heads, sorts, titles."""
    found: dict[str, None] = {"any": None}
    for text in (*entity.names, *entity.descriptions):
        found |= {f"word {word}": None for word in text.split()}
    for text in entity.descriptions:
        found[f"description {text}"] = None
    for part in entity.parts:
        item = reading.mentions[part.place].item
        found[f"head {reading.mentions[part.place].lemma}"] = None
        found |= {f"sort {sort}": None for sort in sorts_of(item)}
        found |= {f"mod {word}": None for word in item.known.get("mods", ())}
    if entity.names:
        found["named"] = None
    return list(found)


def of_context(story: Story, entity: Entity, reading: Reading, type_: str) -> list[str]:
    """What happens to an entity: its verbs, clauses and sentences, and the type of incident."""
    found: dict[str, None] = {f"type {type_}": None, "any": None}
    for part in entity.parts:
        mention = reading.mentions[part.place]
        found |= dict.fromkeys(observed(story, mention))
        words = sentence_words(story.sentences[mention.sentence])
        found |= {f"bag {word}": None for word in words}
        found |= {f"bag {word} {type_}": None for word in words}
    return list(found)


def of_incident(
    story: Story, sentences: Sequence[int], bags: Sequence[Sequence[str]], type_: str
) -> list[str]:
    """All that is said in the sentences of an incident."""
    found: dict[str, None] = {f"type {type_}": None, "any": None}
    for n in sentences:
        found |= dict.fromkeys(of_sentence(story, story.sentences[n], bags))
    return list(found)


def of_perpetrators(reading: Reading, cast: Sequence[Entity]) -> list[str]:
    """Who did it, for the category of an incident."""
    found: dict[str, None] = {}
    for one in cast:
        found |= {f"perpetrator {name}": None for name in of_kind(reading.story, one, reading)}
    return list(found)
