"""Read first: the stages from a message to its entities, in order.

message → templates → antecedents → coreference sets → pair probabilities → distributions → entities
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from partita.entities.entities import entities_of, entity_alone, in_text_order
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
from partita.reference.sets import alone, compatible_by, coreference_sets
from partita.templates.schema import Schema

MOST = 2000  # templates of one message: all of them are compared with all

Extract = Callable[[Message], Sequence[Template]]
Solve = Callable[[Sequence[PairProbabilities]], Iterable[Distribution | PartitaError]]


@dataclass(frozen=True, slots=True, eq=False)
class Stages:
    """What the stages need: an extractor of templates and the schema of its domain, a pair model,
    and a model of configurations."""

    extract: Extract
    schema: Schema
    pairs: PairModel
    solve: Solve


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """Everything that is known of a message in the end; `singletons` are in no set."""

    message: Message
    templates: tuple[Template, ...]
    distributions: tuple[Distribution, ...]
    singletons: tuple[Template, ...]
    entities: tuple[Entity, ...]

    @property
    def sets(self) -> tuple[CoreferenceSet, ...]:
        return tuple(found.set for found in self.distributions)


def resolve(message: Message, stages: Stages) -> Resolved:
    """All stages, one after another."""
    schema = stages.schema
    templates = referring(stages.extract(message), schema)
    sets = sets_of(templates, schema, message.id)
    pairs = [set_probabilities(stages.pairs, found, schema) for found in sets]
    distributions = tuple(map(_answered, stages.solve(pairs)))
    singletons = alone(templates, sets)
    entities = entities_among(templates, distributions, singletons, schema)
    return Resolved(message, templates, distributions, singletons, entities)


def referring(templates: Sequence[Template], schema: Schema) -> tuple[Template, ...]:
    """The templates in text order, each with the antecedents that it may have."""
    if len(templates) > MOST:
        problem = f"{len(templates):,} templates are too many; expected at most {MOST:,} in one"
        raise InputError(f"{problem}: split it into messages")
    ordered = sorted(templates, key=lambda template: (template.start, template.end))
    return with_antecedents(ordered, sorts=schema.sorts, compatible=compatible_by(ordered, schema))


def sets_of(
    templates: Sequence[Template], schema: Schema, message: str
) -> tuple[CoreferenceSet, ...]:
    """The coreference sets of a message, with names that no other message has."""
    found = coreference_sets(templates, schema)
    return tuple(replace(one, name=f"{message}.{n}") for n, one in enumerate(found, 1))


def entities_among(
    templates: Sequence[Template],
    distributions: Iterable[Distribution],
    singletons: Iterable[Template],
    schema: Schema,
) -> tuple[Entity, ...]:
    """The entities of all sets, and of every template that is alone, in text order."""
    found = [entity for one in distributions for entity in entities_of(one, schema)]
    found += [entity_alone(template, schema) for template in singletons]
    return in_text_order(found, {template.id: n for n, template in enumerate(templates)})


def _answered(answer: Distribution | PartitaError) -> Distribution:
    """A message whose sets are not all answered has no entities that could be trusted."""
    if isinstance(answer, PartitaError):
        raise answer
    return answer
