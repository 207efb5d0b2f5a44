"""Build coreference sets: connected components of compatible templates.

A long message is cut into windows, each one coreference set. A window reads some templates of
earlier windows again: the last ones, and one name of every named entity. These link what is new to
the entities so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from partita.antecedents.antecedents import (
    NIL,
    PRONOUN,
    BoolArray,
    ReferenceColumns,
    reference_columns,
)
from partita.core import Configuration, CoreferenceSet, IntArray, Template, components, pair
from partita.core.templates import KIND, ROLES
from partita.errors import InputError
from partita.templates.schema import Schema, Values
from partita.templates.slots import Value


def possible_pairs(templates: Sequence[Template]) -> BoolArray:
    """Return for every two templates, given in text order, whether they may corefer."""
    columns = reference_columns(templates)
    clash = _differ(columns.type) | _differ(columns.gender) | _differ(columns.count)
    allowed: BoolArray = ~(clash | _excluded_parts(columns))
    np.fill_diagonal(allowed, True)
    return allowed


def _differ(values: IntArray) -> BoolArray:
    """Return for every two entries whether both are known and different."""
    known = values != NIL
    differ: BoolArray = (values[:, None] != values[None, :]) & known[:, None] & known[None, :]
    return differ


def _excluded_parts(columns: ReferenceColumns) -> BoolArray:
    """Return for every two templates whether one is a part of the other that cannot corefer.

    These parts begin the whole (her in "her mother") or lie more than one level deep. A part
    directly inside may name the whole ("a body calling itself Congress"), and a pronoun at any
    depth may refer to it ("a man who lost his hat").
    """
    start, end, length = columns.start, columns.end, columns.end - columns.start
    longer = length[:, None] > length[None, :]
    inside = (start[:, None] <= start[None, :]) & (end[:, None] >= end[None, :]) & longer
    begins = inside & (start[:, None] == start[None, :])
    shortest = np.min(
        np.broadcast_to(length[:, None], inside.shape),
        axis=0,
        where=inside,
        initial=np.iinfo(np.int64).max,
    )
    deeper = inside & (length[:, None] > shortest[None, :]) & (columns.form != PRONOUN)[None, :]
    part: BoolArray = begins | deeper
    return part | part.T


def coreference_sets(
    templates: Iterable[Template],
    schema: Schema,
    compatible: BoolArray | None = None,
) -> tuple[CoreferenceSet, ...]:
    """Return the sets in text order, events last, with their incompatible pairs.

    `compatible`, if known, is the compatibility of the templates in text order.
    """
    ordered = sorted(templates, key=lambda template: template.start)
    _refuse_duplicates(ordered)
    allowed = unifiable(ordered, schema) if compatible is None else compatible
    home = components(allowed)
    every = (np.flatnonzero(home == number).tolist() for number in range(home.max(initial=-1) + 1))
    sets = [_coreference_set(ordered, members, allowed) for members in every if len(members) > 1]
    return tuple(sorted(sets, key=lambda one: KIND in one.templates[0].context))


def unifiable(templates: Sequence[Template], schema: Schema) -> BoolArray:
    """Return for every two templates whether their values unify.

    Values that are only possible or reported tell nothing apart. What a template is denied to be,
    and what it is a part of, it is not. An event is no thing, and none that did not happen.
    """
    described = [schema.firm(template) for template in templates]
    allowed = _compatibility(described, schema)
    place = {template.id: n for n, template in enumerate(templates)}
    for n, template in enumerate(templates):
        apart = [place[whole] for whole in template.context.get("PART_OF", ()) if whole in place]
        if any(one.status == "denied" for one in template.assertions):
            apart += [m for m, values in enumerate(described) if schema.denies(template, values)]
        for m in apart:
            allowed[n, m] = allowed[m, n] = n == m
    if any(KIND in template.context for template in templates):
        allowed &= _same_kind(templates)
        _compare_roles(allowed, templates, place)
    return allowed


def _same_kind(templates: Sequence[Template]) -> BoolArray:
    """Return for every two templates whether both are things, or events of which both happened."""
    kinds = [
        (template.context.get(KIND, ""), KIND in template.context and template.status == "denied")
        for template in templates
    ]
    numbers = {kind: n for n, kind in enumerate(dict.fromkeys(kinds))}
    kind = np.array([numbers[one] for one in kinds])
    same: BoolArray = kind[:, None] == kind[None, :]
    return same


def _compare_roles(
    allowed: BoolArray, templates: Sequence[Template], place: Mapping[str, int]
) -> None:
    """Keep events apart if no participants of a role that both have can be the same."""
    roles = {
        n: {slot: [place[i] for i in ids if i in place] for slot, ids in found.items()}
        for n, template in enumerate(templates)
        if (found := template.context.get(ROLES))
    }
    for (n, first), (m, second) in combinations(roles.items(), 2):
        for slot in first.keys() & second.keys():
            if allowed[n, m] and first[slot] and second[slot]:
                fit = bool(allowed[np.ix_(first[slot], second[slot])].any())
                allowed[n, m] = allowed[m, n] = fit


def unlinked(templates: Iterable[Template], sets: Iterable[CoreferenceSet]) -> tuple[Template, ...]:
    """Return the templates that are in no set, in text order."""
    members = {name for group in sets for name in group.ids}
    ordered = sorted(templates, key=lambda template: template.start)
    return tuple(template for template in ordered if template.id not in members)


def _refuse_duplicates(templates: Sequence[Template]) -> None:
    place = {template.id: n for n, template in enumerate(templates)}
    if len(place) < len(templates):
        duplicate = next(t.id for n, t in enumerate(templates) if place[t.id] != n)
        raise InputError(f"duplicate template id {duplicate}")


def _compatibility(described: Sequence[Values], schema: Schema) -> BoolArray:
    """Return for every two templates whether their values unify.

    Slots with few distinct values come first: the values of the other slots are then compared only
    for pairs that are still compatible.
    """
    allowed = np.ones((len(described), len(described)), dtype=np.bool_)
    slots = {
        name: _numbered_values(name, described)
        for name in dict.fromkeys(n for d in described for n in d)
    }
    for name, (numbers, values) in sorted(slots.items(), key=lambda item: len(item[1][1])):
        holders = np.flatnonzero(numbers >= 0)
        block = allowed[np.ix_(holders, holders)]
        table = _unification_table(values, numbers[holders], block, name, schema)
        held = numbers[holders]
        allowed[np.ix_(holders, holders)] = block & table[np.ix_(held, held)]
    return allowed


def _numbered_values(name: str, described: Sequence[Values]) -> tuple[IntArray, list[Value]]:
    """Return the number of each template's value in a slot (-1: nil), and the distinct values."""
    values: dict[Value, int] = {}
    numbers = [values.setdefault(d[name], len(values)) if name in d else -1 for d in described]
    return np.array(numbers, dtype=np.int64), list(values)


def _unification_table(
    values: Sequence[Value], numbers: IntArray, block: BoolArray, name: str, schema: Schema
) -> BoolArray:
    """Return which values unify, for values of pairs that are still compatible."""
    unify = schema.slot(name).unify
    table = np.zeros((len(values), len(values)), dtype=np.bool_)
    for number, value in enumerate(values):
        partners = numbers[block[numbers == number].any(axis=0)]
        for other in np.unique(partners[partners >= number]).tolist():
            unifies = unify(value, values[other]) is not None
            table[number, other] = table[other, number] = unifies
    return table


def _coreference_set(
    ordered: Sequence[Template], members: list[int], allowed: BoolArray
) -> CoreferenceSet:
    templates = tuple(ordered[n] for n in members)
    above = np.argwhere(np.triu(~allowed[np.ix_(members, members)]))
    incompatible = frozenset(pair(templates[i].id, templates[j].id) for i, j in above.tolist())
    return CoreferenceSet(templates, incompatible)


@dataclass(frozen=True, slots=True)
class Windows:
    """The size of windows, in templates: new ones, and of those read again the last and names."""

    most: int = 300
    last: int = 60
    names: int = 60

    def cuts(self, templates: Sequence[Template]) -> list[int]:
        """Return where windows begin, and the number of templates: at paragraphs if possible."""
        cuts = [0]
        while cuts[-1] + self.most < len(templates):
            cuts.append(_cut(templates, cuts[-1] + self.most // 2, cuts[-1] + self.most))
        return [*cuts, len(templates)]


def _cut(templates: Sequence[Template], low: int, high: int) -> int:
    """Return the last place from `low` to `high` that begins a paragraph, or else a sentence."""
    for key in (_paragraph, _sentence):
        for place in range(high, low, -1):
            if key(templates[place]) != key(templates[place - 1]):
                return place
    return high


def _paragraph(template: Template) -> object:
    return template.context.get("PARAGRAPH")


def _sentence(template: Template) -> object:
    return template.sentence


@dataclass(slots=True, eq=False)
class Chains:
    """The entities so far, as lists of templates, and the entity of each template."""

    members: list[list[Template]] = field(default_factory=list)
    home: dict[str, int] = field(default_factory=dict)

    def read_again(self, earlier: Sequence[Template], sizes: Windows) -> list[Template]:
        """Return the templates of earlier windows that the next window reads again."""
        last = list(earlier[-sizes.last :])
        there = {self.home[template.id] for template in last}
        names = (
            max(named, key=lambda template: len(template.text))
            for entity in self._recent()
            if entity not in there
            and (named := [one for one in self.members[entity] if one.form == "name"])
        )
        chosen = [template for template, _ in zip(names, range(sizes.names), strict=False)]
        return sorted([*last, *chosen], key=lambda template: (template.start, template.end))

    def _recent(self) -> list[int]:
        """Return the entities, the one with the latest template first."""
        last = [members[-1].start for members in self.members]
        return sorted(range(len(last)), key=lambda entity: -last[entity])

    def add(self, cells: Configuration, window: CoreferenceSet) -> None:
        """Add the cells of a window; each joins the entity of most of its earlier templates."""
        by_id = {template.id: template for template in window.templates}
        place = {name: n for n, name in enumerate(window.ids)}
        for cell in sorted(cells, key=lambda cell: min(place[name] for name in cell)):
            entity = self._entity(cell)
            for name in sorted(cell, key=place.__getitem__):
                if name not in self.home:
                    self.home[name] = entity
                    self.members[entity].append(by_id[name])

    def add_single(self, template: Template) -> None:
        """Add a template that is in no set, as an entity of its own."""
        if template.id not in self.home:
            self.home[template.id] = self._entity(())
            self.members[self.home[template.id]].append(template)

    def _entity(self, names: Iterable[str]) -> int:
        votes = Counter(self.home[name] for name in names if name in self.home)
        if votes:
            return max(votes, key=lambda entity: (votes[entity], -entity))
        self.members.append([])
        return len(self.members) - 1
