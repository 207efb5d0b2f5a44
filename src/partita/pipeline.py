"""Read first: the stages from a message to its entities, in order.

message → templates → antecedents → coreference sets → pair probabilities → distributions → entities
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from partita.antecedents.antecedents import with_antecedents
from partita.antecedents.sets import Chains, Windows, coreference_sets, unifiable, unlinked
from partita.core import (
    CoreferenceSet,
    Distribution,
    Entity,
    Message,
    Template,
)
from partita.core.templates import KIND
from partita.entities.answer import answer
from partita.entities.entities import entities_of, join_entities, number_entities, single_entity
from partita.errors import PartitaError
from partita.templates.schema import Schema

if TYPE_CHECKING:
    from partita.pairs.models import PairModel

MOST = 2000  # templates that are all compared with all; a message with more has windows
LONG = Windows(most=1000, last=100, names=100)

Extract = Callable[[Message], Sequence[Template]]
Solve = Callable[[Sequence[Any]], Iterable[Distribution | PartitaError]]
Notes = Callable[[Message, Sequence[Template]], Iterable[str]]
Keep = Callable[[Distribution], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Stages:
    """What the stages need: an extractor of templates with the schema of its domain, a pair model
    and a model of configurations, `solve`, for sets with their pair probabilities.

    Without a pair model `solve` takes the sets alone: the joint model weighs cells, not pairs.
    With `windows` all templates may corefer, and a message is one set, or several windows if it is
    long; without, coreference sets follow from the values of the slots, in a very long message
    window by window. `notes` says what a user should know of a message, such as that it is not in
    English. `keep` returns what is kept of the distribution of each of several windows.
    """

    extract: Extract
    schema: Schema
    pairs: PairModel | None
    solve: Solve
    windows: Windows | None = None
    notes: Notes = lambda message, templates: ()
    keep: Keep = lambda distribution: distribution

    def distributions(self, sets: Sequence[CoreferenceSet]) -> list[Distribution]:
        """Solve the sets, or raise the first error: with a set unsolved no entity is certain."""
        unsolved: Sequence[Any] = sets
        if self.pairs is not None:
            from partita.pairs.models import set_probabilities

            unsolved = [set_probabilities(self.pairs, one, self.schema) for one in sets]
        solved = []
        for one in self.solve(unsolved):
            if isinstance(one, PartitaError):
                raise one
            solved.append(one)
        return solved


@dataclass(frozen=True, slots=True, eq=False)
class Resolved:
    """A message with its templates, distributions and entities; `singletons` are in no set.

    `whole` says that a message is one set, or its windows are, and not its compatible templates.
    """

    message: Message
    templates: tuple[Template, ...]
    distributions: tuple[Distribution, ...]
    singletons: tuple[Template, ...]
    entities: tuple[Entity, ...]
    notes: tuple[str, ...] = ()
    whole: bool = False

    @property
    def sets(self) -> tuple[CoreferenceSet, ...]:
        return tuple(distribution.set for distribution in self.distributions)


def resolve(message: Message, stages: Stages) -> Resolved:
    """Run all stages on one message."""
    extracted = sorted(stages.extract(message), key=lambda template: (template.start, template.end))
    notes = tuple(stages.notes(message, extracted))
    if stages.windows is not None:
        return _resolve_windows(message, extracted, stages, stages.windows, notes)
    if len(extracted) > MOST:
        return _resolve_long(message, extracted, stages, notes)
    templates, sets = compatible_sets(message, extracted, stages.schema)
    distributions = tuple(stages.distributions(sets))
    singletons = unlinked(templates, sets)
    entities = entities_among(templates, distributions, singletons, stages.schema)
    return Resolved(message, templates, distributions, singletons, entities, notes)


def compatible_sets(
    message: Message, templates: Sequence[Template], schema: Schema
) -> tuple[tuple[Template, ...], tuple[CoreferenceSet, ...]]:
    """Return the templates with their antecedents, and the sets of those whose values unify."""
    compatible = unifiable(templates, schema)
    linked = with_antecedents(templates, types=schema.types, compatible=compatible)
    sets = coreference_sets(linked, schema, compatible=compatible)
    return linked, named_sets(sets, message.id)


def _resolve_long(
    message: Message, templates: Sequence[Template], stages: Stages, notes: tuple[str, ...]
) -> Resolved:
    """Find and resolve the sets of one window after another, in time linear in the length."""
    linked, distributions = list[Template](), list[Distribution]()
    chains = Chains()
    entities = _WindowEntities(chains, stages.schema)
    cuts = LONG.cuts(templates)
    for first, last in pairwise(cuts):
        again = chains.read_again(templates[:first], LONG) if first else []
        window, sets = compatible_sets(message, [*again, *templates[first:last]], stages.schema)
        linked += (template for template in window if template.id not in chains.home)
        new = [one for one in sets if not chains.home.keys() >= set(one.ids)]
        named = named_sets(new, message.id, len(distributions) + 1)
        for one in stages.distributions(named):
            entities.add(one)
            distributions.append(one)
        for template in templates[first:last]:
            chains.add_single(template)
    linked.sort(key=lambda template: (template.start, template.end))
    in_sets = {name for one in distributions for name in one.set.ids}
    singletons = tuple(template for template in linked if template.id not in in_sets)
    notes = (*notes, windows_note(len(linked), len(cuts) - 1, LONG))
    found = entities.joined(linked)
    return Resolved(message, tuple(linked), tuple(distributions), singletons, found, notes)


def _resolve_windows(
    message: Message,
    templates: Sequence[Template],
    stages: Stages,
    sizes: Windows,
    notes: tuple[str, ...],
) -> Resolved:
    """Resolve window after window, so that memory and time are linear in the length."""
    if len(templates) < 2:
        alone = entities_among(templates, (), templates, stages.schema)
        return Resolved(message, tuple(templates), (), tuple(templates), alone, notes, True)
    chains, distributions, cuts = Chains(), list[Distribution](), sizes.cuts(templates)
    entities = _WindowEntities(chains, stages.schema)
    for number, (first, last) in enumerate(pairwise(cuts), 1):
        again = chains.read_again(templates[:first], sizes) if first else []
        window = CoreferenceSet((*again, *templates[first:last]), name=f"{message.id}.{number}")
        (distribution,) = stages.distributions([window])
        entities.add(distribution)
        distributions.append(stages.keep(distribution) if len(cuts) > 2 else distribution)
    if len(cuts) > 2:
        notes = (*notes, windows_note(len(templates), len(cuts) - 1, sizes))
    found = entities.joined(templates)
    return Resolved(message, tuple(templates), tuple(distributions), (), found, notes, True)


def windows_note(templates: int, windows: int, sizes: Windows) -> str:
    """Return the rule by which a long message was cut."""
    rule = f"at most {sizes.most} new templates, the last {sizes.last} and {sizes.names} names"
    return f"{templates:,} templates in {windows} windows ({rule} of earlier windows read again)"


@dataclass(slots=True, eq=False)
class _WindowEntities:
    """The entities of the windows so far, as parts by the number of their chain."""

    chains: Chains
    schema: Schema
    parts: dict[int, list[Entity]] = field(default_factory=dict)
    earlier: set[str] = field(default_factory=set)
    windows: int = 0

    def add(self, distribution: Distribution) -> None:
        """Add the answer of a window to the chains, and its entities."""
        grouping = answer(distribution)
        self.chains.add(grouping, distribution.set)
        for entity in entities_of(distribution, self.schema, grouping, self.earlier):
            new = next(name for name in entity.templates if name not in self.earlier)
            self.parts.setdefault(self.chains.home[new], []).append(entity)
        self.earlier |= set(distribution.set.ids)
        self.windows += 1

    def joined(self, templates: Sequence[Template]) -> tuple[Entity, ...]:
        """Return the entities of all windows, parts of the same entity joined."""
        place, chains, schema = _places(templates), self.chains, self.schema
        if self.windows == 1 and len(self.earlier) == len(templates):
            return number_entities([one for (one,) in self.parts.values()], place)
        for home, members in enumerate(chains.members):  # those that are in no set
            if home not in self.parts:
                self.parts[home] = [single_entity(member, schema) for member in members]
        joined = [
            join_entities(some, chains.members[home], schema) for home, some in self.parts.items()
        ]
        return number_entities(joined, place)


def named_sets(
    sets: Iterable[CoreferenceSet], message: str, first: int = 1
) -> tuple[CoreferenceSet, ...]:
    """Name the coreference sets of a message, so that no other message has the same names."""
    return tuple(replace(one, name=f"{message}.{n}") for n, one in enumerate(sets, first))


def entities_among(
    templates: Sequence[Template],
    distributions: Iterable[Distribution],
    singletons: Iterable[Template],
    schema: Schema,
) -> tuple[Entity, ...]:
    """Return the entities of all sets and of every singleton, in text order, events last."""
    entities = [entity for one in distributions for entity in entities_of(one, schema)]
    entities += [single_entity(template, schema) for template in singletons]
    return number_entities(entities, _places(templates))


def _places(templates: Sequence[Template]) -> dict[str, int]:
    """Return the place of each template, events after all things."""
    ordered = sorted(templates, key=lambda template: KIND in template.context)
    return {template.id: n for n, template in enumerate(ordered)}
