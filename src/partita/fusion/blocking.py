"""Which accounts are worth comparing: those that share a word of a name, a place or a label.

Every account stands under its keys, and only accounts under one key whose sorts are compatible
are compared, so that a thousand reports do not mean a million pairs. A place stands under itself
and looks under all that contain it; keys that very many accounts hold tell nothing and are left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from partita.fusion.accounts import Account
from partita.templates.name import Name, words
from partita.templates.number import Number
from partita.templates.place import Place, PlaceType
from partita.templates.schema import SORT, Schema
from partita.templates.sort import Sort
from partita.templates.strings import Strings, StringsType

COMMON = 100  # accounts under one key; more are not compared by that key alone
SHORT = 6  # letters of an acronym at most

Key = tuple[str, str]
Two = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Keys:
    """What an account stands under, and what it looks under."""

    own: frozenset[Key]
    wanted: frozenset[Key]


class Index:
    """Accounts by key; `look` finds those that an account may be the same as."""

    def __init__(self, schema: Schema, common: frozenset[Key] = frozenset()) -> None:
        self.schema, self.common = schema, common
        self._own: dict[Key, list[str]] = defaultdict(list)
        self._wanted: dict[Key, list[str]] = defaultdict(list)
        self._generic = _generic(schema)

    def add(self, account: Account) -> None:
        keys = self.keys(account)
        for key in keys.own:
            self._own[key].append(account.id)
        for key in keys.wanted:
            self._wanted[key].append(account.id)

    def look(self, account: Account) -> set[str]:
        """Those under a key of this account, and those that look under one."""
        keys = self.keys(account)
        found: set[str] = set()
        for key in keys.wanted - self.common:
            found.update(self._own.get(key, ()))
        for key in keys.own - self.common:
            found.update(self._wanted.get(key, ()))
        return found - {account.id}

    def crowded(self) -> frozenset[Key]:
        """Keys that too many accounts hold or look under."""
        both = self._own.keys() | self._wanted.keys()
        return frozenset(
            key
            for key in both
            if len(self._own.get(key, ())) > COMMON or len(self._wanted.get(key, ())) > COMMON
        )

    def keys(self, account: Account) -> Keys:
        own: set[Key] = set()
        above: set[Key] = set()
        for name, value in account.values.items():
            if isinstance(value, Name):
                own.update(("name", word) for word in _name_words(value, self._generic))
            elif isinstance(value, Place):
                self._place(name, value, account, own, above)
            elif isinstance(value, Strings) and _single(self.schema.slot(name)):
                own.update((name, text.upper()) for text in value.members)
        if account.object:
            own.add(("object", account.object))
        return Keys(frozenset(own), frozenset(own | above))

    def _place(
        self, name: str, place: Place, account: Account, own: set[Key], above: set[Key]
    ) -> None:
        """The place, alone and with the sort: where very many things are, sorts part them."""
        own.update((name, one) for one in place.names)
        above.update(_containing(name, place, self.schema.slot(name)))
        sort, sorts = account.values.get(SORT), self.schema.sorts
        if not isinstance(sort, Sort) or sorts is None:
            return
        for one, kind in product(place.names, sort.names):
            own.add((f"{name} of {kind}", one))
            above.update((f"{name} of {over}", one) for over in sorts.above[kind])


def candidates(
    accounts: Iterable[Account],
    index: Index,
    schema: Schema,
    touched: frozenset[str] | None = None,
) -> Iterator[Two]:
    """Every pair that is worth comparing once, as ids in order; the accounts are added.

    With `touched`, only pairs of which one is touched.
    """
    known: dict[str, Account] = {}
    late = touched or frozenset()
    ordered = sorted(accounts, key=lambda one: (one.id in late, one.id))  # the touched look last
    for account in ordered:
        if touched is None or account.id in late:
            for other in sorted(index.look(account)):
                if not told_apart(account, known[other], schema):
                    yield (other, account.id) if other < account.id else (account.id, other)
        index.add(account)
        known[account.id] = account


def told_apart(left: Account, right: Account, schema: Schema) -> bool:
    """Two that cannot be one thing: of sorts that exclude each other, one and several, two of one
    message, or two that a source gives different names."""
    if left.object and left.object == right.object:
        return False
    if left.source == right.source and (
        left.message == right.message or (left.object and right.object)
    ):
        return True
    return not alike(left, right, schema)


def alike(left: Account, right: Account, schema: Schema) -> bool:
    """Sorts that are compatible, and not one thing and several."""
    for name in left.values.keys() & right.values.keys():
        a, b = left.values[name], right.values[name]
        if name == SORT or (isinstance(a, Sort) and a == left.values.get(SORT)):
            if schema.slot(name).unify(a, b) is None:
                return False
        elif isinstance(a, Number) and isinstance(b, Number) and _one_and_several(a, b):
            return False
    return True


def everything(accounts: Iterable[Account]) -> int:
    """How many pairs of accounts of different messages there are."""
    sizes: dict[tuple[str, str], int] = defaultdict(int)
    for account in accounts:
        sizes[account.source, account.message] += 1
    whole = sum(sizes.values())
    return (whole * whole - sum(size * size for size in sizes.values())) // 2


def _one_and_several(left: Number, right: Number) -> bool:
    return any(a.high == 1 and b.low >= 2 for a, b in ((left, right), (right, left)))


def _name_words(name: Name, generic: frozenset[str]) -> Iterator[str]:
    """Words that are no sorts (all, if there are no others), and the initials of long names."""
    for variant in name.variants:
        found = words(variant)
        yield from ([word for word in found if word not in generic] or found)
        if 1 < len(found) <= SHORT:
            yield "".join(word[0] for word in found)


def _containing(name: str, place: Place, slot: Any) -> Iterator[Key]:
    if isinstance(slot, PlaceType):
        for one in place.names:
            yield from ((name, above) for above in slot.gazetteer.above.get(one, ()))


def _single(slot: Any) -> bool:
    return isinstance(slot, StringsType) and not slot.several


def _generic(schema: Schema) -> frozenset[str]:
    """The words of which the names of sorts are made."""
    sorts: Mapping[str, Any] = {} if schema.sorts is None else schema.sorts.parents
    return frozenset(word for sort in sorts for word in words(sort))
