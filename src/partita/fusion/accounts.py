"""Accounts: what one message or record of a source says of one thing, and where it says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from partita.errors import InputError
from partita.fusion.claims import checked_reliabilities
from partita.fusion.set_beliefs import PairBelief
from partita.records import Pair, Template
from partita.templates.schema import Schema, Values


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a template comes from; characters are those of the message."""

    source: str
    file: str
    line: int
    message: str
    template: str
    text: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Account:
    """A thing as one message or record speaks of it.

    `template` is the one that says most of it, with all that is said in its slots; `confidence` is
    of each slot how probable the source's own distribution holds the value. `object` is what the
    source itself calls the thing where it has names for things (records and claims).
    """

    source: str
    message: str
    template: Template
    values: Values
    origins: tuple[Origin, ...]
    confidence: Mapping[str, float] = field(default_factory=dict)
    object: str = ""

    @property
    def id(self) -> str:
        return self.template.id

    @classmethod
    def of(
        cls,
        source: str,
        message: str,
        template: Template,
        schema: Schema,
        origins: Sequence[Origin],
        confidence: Mapping[str, float] | None = None,
        object_: str = "",
    ) -> Account:
        """With an id that no other message has; what the schema cannot read is an error there."""
        named = replace(template, id=f"{source}/{message}/{template.id}", antecedents=())
        first = origins[0]
        try:
            values = schema.values(named)
        except InputError as error:
            raise InputError(error.problem, file=first.file, line=first.line) from None
        return cls(source, message, named, values, tuple(origins), confidence or {}, object_)

    def sure(self, slot: str) -> float:
        return self.confidence.get(slot, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Accounts:
    """All accounts, by source and message whatever order they came in.

    `mates` tells of two accounts of one message how probable it is that they are one thing after
    all; what is not there the message tells apart. `judgements` are what sources say of pairs.
    """

    accounts: tuple[Account, ...]
    mates: Mapping[Pair, float] = field(default_factory=dict)
    judgements: tuple[PairBelief, ...] = ()
    reliabilities: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.accounts)

    @property
    def sources(self) -> tuple[str, ...]:
        """Who gives accounts or judges pairs, in the order of their names."""
        judges = (judgement.source for judgement in self.judgements)
        return tuple(sorted({*(account.source for account in self.accounts), *judges}))

    def only(self, sources: Iterable[str]) -> Accounts:
        """What these sources say; judgements about accounts of others go with them."""
        kept = set(sources)
        accounts = tuple(one for one in self.accounts if one.source in kept)
        names = {one.id for one in accounts} | {one.object for one in accounts}
        judgements = [
            replace(one, pairs={two: p for two, p in one.pairs.items() if set(two) <= names})
            for one in self.judgements
            if one.source in kept
        ]
        return replace(self, accounts=accounts, judgements=tuple(j for j in judgements if j.pairs))

    def without(self, source: str) -> Accounts:
        if source not in self.sources:
            near = ", ".join(self.sources[:5])
            raise InputError(f"no source named {source!r}; sources are {near}")
        return self.only(set(self.sources) - {source})


def gathered(several: Iterable[Accounts]) -> Accounts:
    """Accounts of several files as one; a message that stands twice is an error."""
    parts = list(several)
    accounts = [account for part in parts for account in part.accounts]
    seen: dict[str, Account] = {}
    for account in accounts:
        if (before := seen.setdefault(account.id, account)) is not account:
            here, there = account.origins[0], before.origins[0]
            problem = f"{account.id} stands in {there.file}, line {there.line}, already"
            raise InputError(problem, file=here.file, line=here.line)
    _refuse_strangers(accounts, parts)
    return Accounts(
        tuple(sorted(accounts, key=_order)),
        {two: p for part in parts for two, p in part.mates.items()},
        tuple(sorted((j for part in parts for j in part.judgements), key=lambda j: j.source)),
        _agreed(parts),
        tuple(note for part in parts for note in part.notes),
    )


def _refuse_strangers(accounts: Sequence[Account], parts: Sequence[Accounts]) -> None:
    known = {one.id for one in accounts} | {one.object for one in accounts if one.object}
    for judgement in (j for part in parts for j in part.judgements):
        if unknown := [name for two in judgement.pairs for name in two if name not in known]:
            raise InputError(f"{judgement.source} refers to an unknown template {unknown[0]!r}")


def _order(account: Account) -> tuple[str, str, int, str]:
    return account.source, account.message, account.template.start, account.id


def _agreed(parts: Sequence[Accounts]) -> dict[str, float]:
    """Reliabilities that files give; two different ones of a source are an error."""
    found: dict[str, float] = {}
    for part in parts:
        for source, reliability in checked_reliabilities(part.reliabilities).items():
            before = found.setdefault(source, reliability)
            if before != reliability:
                told = f"reliability of {source} is {reliability:g} in one file"
                raise InputError(f"{told}, {before:g} in another")
    return found
