"""Read first: the stages from a message to its entities, in order.

message → templates → antecedents → coreference sets → pair probabilities → distributions → entities
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from partita.entities.entities import entities_of, number_entities, single_entity
from partita.errors import InputError, PartitaError
from partita.pairs.models import PairModel, set_probabilities
from partita.records import (
    CoreferenceSet,
    Distribution,
    Entity,
    Message,
    PairProbabilities,
    Template,
)
from partita.reference.antecedents import with_antecedents
from partita.reference.sets import coreference_sets, unifiable, unlinked
from partita.templates.schema import Schema

MOST = 2000  # templates of one message: all of them are compared with all

Extract = Callable[[Message], Sequence[Template]]
Solve = Callable[[Sequence[PairProbabilities]], Iterable[Distribution | PartitaError]]


@dataclass(frozen=True, slots=True, eq=False)
class Stages:
    """What the stages need: an extractor of templates with the schema of its domain, a pair model
    and a model of configurations."""

    extract: Extract
    schema: Schema
    pairs: PairModel
    solve: Solve


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """A message with its templates, distributions and entities; `singletons` are in no set."""

    message: Message
    templates: tuple[Template, ...]
    distributions: tuple[Distribution, ...]
    singletons: tuple[Template, ...]
    entities: tuple[Entity, ...]

    @property
    def sets(self) -> tuple[CoreferenceSet, ...]:
        return tuple(distribution.set for distribution in self.distributions)


def resolve(message: Message, stages: Stages) -> Resolved:
    """Run all stages on one message."""
    schema = stages.schema
    extracted = in_order(stages.extract(message))
    compatible = unifiable(extracted, schema)
    templates = with_antecedents(extracted, sorts=schema.sorts, compatible=compatible)
    sets = named_sets(coreference_sets(templates, schema, compatible=compatible), message.id)
    pairs = [set_probabilities(stages.pairs, one, schema) for one in sets]
    distributions = tuple(map(_distribution, stages.solve(pairs)))
    singletons = unlinked(templates, sets)
    entities = entities_among(templates, distributions, singletons, schema)
    return Resolved(message, templates, distributions, singletons, entities)


def in_order(templates: Sequence[Template]) -> list[Template]:
    """Return the templates of a message in text order."""
    if len(templates) > MOST:
        problem = f"{len(templates):,} templates are too many (expected at most {MOST:,} in one)"
        raise InputError(f"{problem}: split it into messages")
    return sorted(templates, key=lambda template: (template.start, template.end))


def named_sets(sets: Iterable[CoreferenceSet], message: str) -> tuple[CoreferenceSet, ...]:
    """Name the coreference sets of a message, so that no other message has the same names."""
    return tuple(replace(one, name=f"{message}.{n}") for n, one in enumerate(sets, 1))


def entities_among(
    templates: Sequence[Template],
    distributions: Iterable[Distribution],
    singletons: Iterable[Template],
    schema: Schema,
) -> tuple[Entity, ...]:
    """Return the entities of all sets and of every singleton, in text order."""
    entities = [entity for one in distributions for entity in entities_of(one, schema)]
    entities += [single_entity(template, schema) for template in singletons]
    return number_entities(entities, {template.id: n for n, template in enumerate(templates)})


def _distribution(answer: Distribution | PartitaError) -> Distribution:
    """Return the distribution, or raise its error: with a set unsolved no entity can be trusted."""
    if isinstance(answer, PartitaError):
        raise answer
    return answer
