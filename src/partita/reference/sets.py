"""Build coreference sets: connected components of compatible templates."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from partita.errors import Contradiction, InputError
from partita.records import CoreferenceSet, IntArray, Pair, Template, components, pair
from partita.reference.kinds import NIL, PRONOUN, BoolArray, Kinds, kinds
from partita.templates.schema import Schema, Values
from partita.templates.slots import Value


def compatible(templates: Sequence[Template]) -> BoolArray:
    """For every two templates, which are in text order, whether they may corefer."""
    known = kinds(templates)
    clash = _differ(known.sort) | _differ(known.gender) | _differ(known.counted)
    allowed: BoolArray = ~(clash | _within(known))
    np.fill_diagonal(allowed, True)
    return allowed


def _differ(values: IntArray) -> BoolArray:
    """Both are known and not the same."""
    known = values != NIL
    differ: BoolArray = (values[:, None] != values[None, :]) & known[:, None] & known[None, :]
    return differ


def _within(known: Kinds) -> BoolArray:
    """A part that begins its whole (her in "her mother"), or that lies deeper than one level.

    What follows directly inside may say what the whole is: "a body calling itself Congress", and
    a pronoun at any depth may refer to the whole: "a man who lost his hat".
    """
    start, end, length = known.start, known.end, known.end - known.start
    longer = length[:, None] > length[None, :]
    inside = (start[:, None] <= start[None, :]) & (end[:, None] >= end[None, :]) & longer
    begins = inside & (start[:, None] == start[None, :])
    shortest = np.min(
        np.broadcast_to(length[:, None], inside.shape),
        axis=0,
        where=inside,
        initial=np.iinfo(np.int64).max,
    )
    deeper = inside & (length[:, None] > shortest[None, :]) & (known.form != PRONOUN)[None, :]
    part: BoolArray = begins | deeper
    return part | part.T


Links = Mapping[int, list[int]]


def coreference_sets(
    templates: Iterable[Template],
    schema: Schema,
    cannot: Iterable[tuple[str, str]] = (),
    must: Iterable[tuple[str, str]] = (),
    compatible: BoolArray | None = None,
) -> tuple[CoreferenceSet, ...]:
    """The sets in text order, each with its incompatible pairs and its must-links.

    A pair is also incompatible if a must-link ties one of the two to what excludes the other.
    `compatible`, if it is known already, is the compatibility of the templates in text order.
    """
    ordered = sorted(templates, key=lambda template: template.start)
    place = _places(ordered)
    must = [pair(*link) for link in must]
    links = _linked(must, place)
    allowed = compatible_by(ordered, schema) if compatible is None else compatible.copy()
    for i, j in _positions(cannot, place):
        allowed[i, j] = allowed[j, i] = False
    _contract(allowed, links, [template.id for template in ordered])
    home = components(allowed)
    every = (np.flatnonzero(home == number).tolist() for number in range(home.max(initial=-1) + 1))
    return tuple(_set(ordered, members, allowed, must) for members in every if len(members) > 1)


def compatible_by(templates: Sequence[Template], schema: Schema) -> BoolArray:
    """For every two templates whether nothing that they say tells them apart."""
    return _compatibility([schema.values(template) for template in templates], schema)


def alone(templates: Iterable[Template], sets: Iterable[CoreferenceSet]) -> tuple[Template, ...]:
    """The templates that are in no set, in text order."""
    taken = {name for found in sets for name in found.ids}
    ordered = sorted(templates, key=lambda template: template.start)
    return tuple(template for template in ordered if template.id not in taken)


def _places(templates: Sequence[Template]) -> dict[str, int]:
    place = {template.id: n for n, template in enumerate(templates)}
    if len(place) < len(templates):
        twice = next(t.id for n, t in enumerate(templates) if place[t.id] != n)
        raise InputError(f"two templates are called {twice}")
    return place


def _positions(pairs: Iterable[tuple[str, str]], place: Mapping[str, int]) -> Iterator[list[int]]:
    for link in pairs:
        if unknown := [name for name in link if name not in place]:
            raise InputError(f"no template {unknown[0]} for the pair {' and '.join(link)}")
        if link[0] == link[1]:
            raise InputError(f"template {link[0]} is paired with itself")
        yield [place[name] for name in link]


def _linked(must: Iterable[tuple[str, str]], place: Mapping[str, int]) -> Links:
    """For each template with must-links its partners."""
    links: dict[int, list[int]] = {}
    for i, j in _positions(must, place):
        links.setdefault(i, []).append(j)
        links.setdefault(j, []).append(i)
    return links


def _compatibility(described: Sequence[Values], schema: Schema) -> BoolArray:
    """For every two templates whether their values unify.

    Slots with few different values come first: they part the templates into blocks, and the
    values of the other slots are compared only inside these.
    """
    allowed = np.ones((len(described), len(described)), dtype=np.bool_)
    slots = {
        name: _numbered(name, described) for name in dict.fromkeys(n for d in described for n in d)
    }
    for name, (numbers, values) in sorted(slots.items(), key=lambda item: len(item[1][1])):
        holders = np.flatnonzero(numbers >= 0)
        block = allowed[np.ix_(holders, holders)]
        table = _table(values, numbers[holders], block, name, schema)
        of = numbers[holders]
        allowed[np.ix_(holders, holders)] = block & table[np.ix_(of, of)]
    return allowed


def _numbered(name: str, described: Sequence[Values]) -> tuple[IntArray, list[Value]]:
    """A slot's different values, and for each template the number of its own (-1 for nil)."""
    seen: dict[Value, int] = {}
    numbers = [seen.setdefault(d[name], len(seen)) if name in d else -1 for d in described]
    return np.array(numbers, dtype=np.int64), list(seen)


def _table(
    values: Sequence[Value], of: IntArray, block: BoolArray, name: str, schema: Schema
) -> BoolArray:
    """Which values unify, for those that two templates still in question hold."""
    unify = schema.slot(name).unify
    table = np.zeros((len(values), len(values)), dtype=np.bool_)
    for number, value in enumerate(values):
        met = of[block[of == number].any(axis=0)]
        for other in np.unique(met[met >= number]).tolist():
            fits = unify(value, values[other]) is not None
            table[number, other] = table[other, number] = fits
    return table


def _contract(allowed: BoolArray, links: Links, ids: Sequence[str]) -> None:
    """Let what must be the same be compatible with the same templates."""
    for members in _groups(links):
        if not allowed[np.ix_(members, members)].all():
            raise _contradiction(members, allowed, links, ids)
        shared: BoolArray = np.all(allowed[members], axis=0)
        allowed[members] = shared
        allowed[:, members] = shared[:, None]


def _groups(links: Links) -> Iterator[list[int]]:
    """The templates that must-links tie together, directly or by a chain."""
    seen: set[int] = set()
    for start in sorted(links):
        if start not in seen:
            group = sorted(_routes(start, links))
            seen.update(group)
            yield group


def _routes(start: int, links: Links) -> dict[int, int]:
    """For everything linked to the start the step before it on a shortest chain."""
    before = {start: start}
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        for there in links[here]:
            if there not in before:
                before[there] = here
                waiting.append(there)
    return before


def _contradiction(
    members: Sequence[int], allowed: BoolArray, links: Links, ids: Sequence[str]
) -> Contradiction:
    left, right = next((i, j) for i in members for j in members if i < j and not allowed[i, j])
    before, chain = _routes(left, links), [right]
    while chain[-1] != left:
        chain.append(before[chain[-1]])
    return Contradiction(ids[left], ids[right], [ids[n] for n in reversed(chain)])


def _set(
    ordered: Sequence[Template], members: list[int], allowed: BoolArray, must: Iterable[Pair]
) -> CoreferenceSet:
    templates = tuple(ordered[n] for n in members)
    ids = {template.id for template in templates}
    above = np.argwhere(np.triu(~allowed[np.ix_(members, members)]))
    incompatible = frozenset(pair(templates[i].id, templates[j].id) for i, j in above.tolist())
    return CoreferenceSet(templates, incompatible, frozenset(m for m in must if m[0] in ids))
