"""Score the entities of each role: F over entities, key and response aligned one to one.

A response's entity is found when each of its strings matches a string of the key's entity. This
is not the published metric CEAF-REE.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from partita.corpora.muc_templates import CORRECT, Fill, Incident
from partita.evaluation.muc.fills import compare_strings
from partita.evaluation.muc.score import Tally
from partita.records import FloatArray

ROLES: Mapping[str, tuple[int, ...]] = {
    "perpetrator individual": (9,),
    "perpetrator organisation": (10,),
    "target": (12,),
    "victim": (18, 19),
    "weapon": (6,),
}

Entity = tuple[frozenset[str], bool]  # its strings, and whether it may be missing


def score_entities(response: Iterable[Incident], key: Iterable[Incident]) -> dict[str, Tally]:
    """Return, for each role, how many entities are found, spurious and missing."""
    responses, keys = _by_message(response), _by_message(key)
    return {
        role: sum(
            (
                _compare_entities(responses.get(m, ()), keys.get(m, ()), slots)
                for m in {*responses, *keys}
            ),
            Tally(),
        )
        for role, slots in ROLES.items()
    }


def _by_message(incidents: Iterable[Incident]) -> dict[str, list[Incident]]:
    by_message: dict[str, list[Incident]] = defaultdict(list)
    for incident in incidents:
        by_message[incident.message].append(incident)
    return by_message


def _compare_entities(
    response: Sequence[Incident], key: Sequence[Incident], slots: tuple[int, ...]
) -> Tally:
    response_entities, key_entities = _entities(response, slots), _entities(key, slots)
    hits = _matched_keys([strings for strings, _ in response_entities], key_entities)
    required = sum(not optional for n, (_, optional) in enumerate(key_entities) if n not in hits)
    return Tally(len(hits), 0, 0, len(response_entities) - len(hits), required)


def _entities(incidents: Sequence[Incident], slots: tuple[int, ...]) -> list[Entity]:
    """Merge the fills of all templates that share a string into entities."""
    entities: list[Entity] = []
    for incident in incidents:
        for slot in slots:
            for fill in incident.of(slot):
                entities = _merge_entity(entities, _entity(fill, incident.optional))
    return entities


def _entity(fill: Fill, optional: bool) -> Entity:
    strings = (*fill.values, *fill.tags)
    return frozenset(" ".join(text.upper().split()) for text in strings), optional or fill.optional


def _merge_entity(entities: list[Entity], new: Entity) -> list[Entity]:
    apart = [entity for entity in entities if entity[0].isdisjoint(new[0])]
    same = [entity for entity in entities if not entity[0].isdisjoint(new[0])]
    strings = new[0].union(*(entity[0] for entity in same))
    return [*apart, (strings, new[1] and all(entity[1] for entity in same))]


def _matched_keys(response: Sequence[frozenset[str]], key: Sequence[Entity]) -> set[int]:
    """Return the places of the key's entities that are found."""
    if not response or not key:
        return set()
    from scipy.optimize import linear_sum_assignment

    table: FloatArray = np.array([[_inside(s, g) for g, _ in key] for s in response], dtype=float)
    required = np.array([not optional for _, optional in key])
    rows, columns = linear_sum_assignment(table * (1 + 1e-3 * required), maximize=True)
    return {k for r, k in zip(rows.tolist(), columns.tolist(), strict=True) if table[r, k]}


def _inside(strings: frozenset[str], entity: frozenset[str]) -> bool:
    return all(
        any(compare_strings(string, other) == CORRECT for other in entity) for string in strings
    )
