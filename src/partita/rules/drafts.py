"""What the matches of a message say of each phrase: drafts of templates."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from partita.core import Region, Status
from partita.core.templates import FORMER
from partita.rules.build import Contribution, Refusal, fit_value
from partita.rules.cascade import TokenColumns
from partita.rules.domain import RuleSet
from partita.rules.phrases import Phrase
from partita.rules.template_context import phrase_number
from partita.templates.entity_types import Hierarchy, HierarchyType
from partita.templates.schema import Schema, plain_slots
from partita.templates.slots import Value
from partita.text.assertions import Scope, Statuses, strongest

NUMBER = "NUMBER"
CACHE_SIZE = 50_000  # values, over all messages

Read = tuple[Value | None, str]


@dataclass(slots=True)
class ValueCache:
    """A cache of values converted to the slot types of a schema."""

    schema: Schema
    cache: dict[tuple[str, Hashable], Read] = field(default_factory=dict)

    def value(self, slot: str, value: Any) -> Read:
        """Return the part of a value that fits the slot's type, and the problem with the rest."""
        key = (slot, value)
        if key not in self.cache:
            if len(self.cache) >= CACHE_SIZE:
                self.cache.clear()
            fits, reason = fit_value(self.schema, slot, value)
            self.cache[key] = None if fits is None else self.schema.slots[slot].read(fits), reason
        return self.cache[key]


@dataclass(slots=True)
class SlotFills:
    """Values of slots, the values that did not fit, and the scopes of those not asserted.

    `denied` holds what is denied, which is no value; `absent` is the scope that denies that there
    is such a thing.
    """

    values: dict[str, Value] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)
    weak: list[tuple[str, Value, Scope]] = field(default_factory=list)
    firm: list[tuple[str, Value]] = field(default_factory=list)
    denied: list[tuple[str, Value, Scope]] = field(default_factory=list)
    predicates: list[tuple[dict[str, Value], Scope]] = field(default_factory=list)
    absent: Scope | None = None

    def plain(self, schema: Schema) -> dict[str, Any]:
        """Return the plain values in the order of the schema."""
        values = plain_slots(self.values)
        return {slot: values[slot] for slot in schema.slots if slot in values}


def fill_slots(
    ranked: Iterable[Contribution],
    reading: ValueCache,
    statuses: Statuses | None = None,
    main: frozenset[str] = frozenset(),
) -> SlotFills:
    """Return for each slot the best contribution unified with the others that agree with it.

    "The Kinston depot in North Carolina" is in Kinston, though the second match is longer. A slot
    that a rule sets to an empty text stays empty for all lower ranks. What the text denies is no
    value. What a group says by itself is only possible or reported in its `main` slots: a possible
    fuel depot is perhaps a depot, but of fuel if it is one. A former school is some facility.
    """
    filled = SlotFills()
    empty: set[str] = set()
    for contribution in ranked:
        scope = contribution_scope(contribution, statuses) if statuses else None
        alone = contribution.size == 1 and not contribution.evidence
        denied = alone and scope is not None and scope.status == "denied"
        former = denied and is_former(contribution.about)
        if denied and not former:
            filled.absent = scope
        for slot, value in contribution.slots.items():
            if value == "":
                empty.add(slot)
            elif slot not in empty:
                weak = scope if not alone or slot in main else None
                _add(filled, contribution, slot, value, reading, weak)
                if former and slot in main and (general := _most_general(reading, slot)):
                    _add(filled, contribution, slot, general, reading)
    return filled


def is_former(phrase: Phrase) -> bool:
    """Return whether a group names what something was: a former school."""
    mods = phrase.attributes.get("mods", ())
    return not FORMER.isdisjoint([mods] if isinstance(mods, str) else mods)


def _most_general(reading: ValueCache, slot: str) -> str:
    """Return the most general type of a slot, or nothing for slots of other types."""
    kind = reading.schema.slots[slot]
    return kind.under if isinstance(kind, HierarchyType) else ""


def contribution_scope(contribution: Contribution, statuses: Statuses) -> Scope | None:
    """Return the scope that decides the status of a contribution, or None if it is asserted.

    A group by itself is not asserted if a modifier says so ("a suspected depot"), or if it
    introduces something in a clause that is not: "villagers saw a depot", not "the depot". What
    tells which thing is meant is asserted: who denies that the depot in Arden was hit does not
    deny that it is in Arden.
    """
    if contribution.status:
        return None if contribution.status == "asserted" else _whole(contribution)
    about = contribution.about
    if contribution.size > 1 or contribution.evidence:
        scope = strongest(
            scope
            for token in contribution.evidence or (contribution.last,)
            if not about.first <= token <= about.last and (scope := statuses.at(token)) is not None
        )
        return None if scope is not None and _identifies(contribution, scope) else scope
    scope = statuses.at(about.last)
    if scope is None or about.first <= scope.cue[0] <= about.last:
        return scope
    introduces = about.attributes.get("form") in ("indefinite", "bare")
    return (
        scope if introduces or (scope.cue[1] == about.first and _of_group(scope, about)) else None
    )


def _identifies(contribution: Contribution, scope: Scope) -> bool:
    """Return whether a match without a verb tells which of several things is meant."""
    known = contribution.about.attributes.get("form") in ("definite", "name")
    inside = contribution.first <= scope.cue[0] <= contribution.last
    return known and not contribution.clause and not inside


def _of_group(scope: Scope, about: Phrase) -> bool:
    """Return whether a scope covers the words of one group only."""
    return scope.last == about.last + 1 and scope.status != "denied"


def _whole(contribution: Contribution) -> Scope:
    """Return the match as a scope without a cue, of a status that the rule itself gives."""
    first, last = contribution.first, contribution.last + 1
    return Scope(cast(Status, contribution.status), (first, first), first, last)


def _add(
    filled: SlotFills,
    contribution: Contribution,
    slot: str,
    plain_value: Any,
    reading: ValueCache,
    scope: Scope | None = None,
) -> None:
    value, reason = reading.value(slot, plain_value)
    if value is None:
        filled.refusals.append(Refusal(contribution, slot, plain_value, reason))
        return
    if scope is not None and scope.status == "denied":
        filled.denied.append((slot, value, scope))
        return
    previous = filled.values.get(slot)
    unified = value if previous is None else reading.schema.slots[slot].unify(previous, value)
    if unified is None:
        filled.refusals.append(
            Refusal(contribution, slot, plain_value, f"conflicts with {previous}")
        )
        return
    filled.values[slot] = unified
    if scope is None:
        filled.firm.append((slot, value))
    else:
        filled.weak.append((slot, value, scope))


def main_type(
    ranked: Iterable[Contribution], template_types: Iterable[str], types: Hierarchy
) -> str:
    """Return the first type of the best contribution that is below a template type."""
    under = tuple(template_types)
    for contribution in ranked:
        for entity_type in contribution.type:
            if entity_type in types and any(
                types.subsumes(general, entity_type) for general in under
            ):
                return entity_type
    return ""


Group = Sequence[Contribution]


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    phrase: Phrase
    type: str
    slots: SlotFills
    rule: str

    @property
    def pronoun(self) -> bool:
        """Return whether this is a pronoun with at least one slot value."""
        return self.phrase.attributes.get("form") == "pronoun" and bool(self.slots.values)


def make_draft(
    group: Group, domain: RuleSet, reading: ValueCache, statuses: Statuses | None = None
) -> Draft:
    """Return the draft of a group of contributions to one phrase."""
    ranked = sorted(group, key=lambda each: each.rank)
    template_types = [each.type for each in domain.templates.values()]
    entity_type = main_type(ranked, template_types, domain.types)
    if statuses and is_former(group[0].about):
        entity_type = next(
            (top for top in template_types if domain.types.subsumes(top, entity_type)), entity_type
        )
    rule = ", ".join(dict.fromkeys(each.rule for each in ranked))
    needed = frozenset(slot for each in domain.templates.values() for slot in each.needs)
    return Draft(group[0].about, entity_type, fill_slots(ranked, reading, statuses, needed), rule)


def is_complete(draft: Draft, domain: RuleSet) -> bool:
    """Return whether a draft has a template type and the slots that it needs."""
    return bool(draft.type) and any(
        domain.types.subsumes(template.type, draft.type)
        and all(slot in draft.slots.values for slot in template.needs)
        for template in domain.templates.values()
    )


def group_by_phrase(contributions: Iterable[Contribution]) -> list[list[Contribution]]:
    """Group contributions by phrase, in text order."""
    groups: dict[tuple[int, int], list[Contribution]] = {}
    for contribution in contributions:
        groups.setdefault((contribution.about.first, contribution.about.last), []).append(
            contribution
        )
    return [groups[place] for place in sorted(groups)]


Row = tuple[int, int]


def join_rows(
    groups: Sequence[Group],
    tokens: TokenColumns,
    regions: Sequence[Region],
    domain: RuleSet,
    reading: ValueCache,
) -> list[Group]:
    """Join the contributions in a table row to those of its first template.

    Contributions join if they make no template of their own ("INTACT") or a compatible one: the row
    "DEPOT A | AMMO DEPOT | KINSTON" is about one depot.
    """
    rows: dict[Row, list[int]] = {}
    for n, group in enumerate(groups):
        region = regions[tokens.region[group[0].about.first]]
        if region.kind == "table" and region.row >= 0:
            rows.setdefault((region.table, region.row), []).append(n)
    joined = [list(group) for group in groups]
    for members in rows.values():
        _join(members, joined, domain, reading)
    return [group for group in joined if group]


def _join(
    members: Sequence[int],
    joined: list[list[Contribution]],
    domain: RuleSet,
    reading: ValueCache,
) -> None:
    drafts = {n: make_draft(joined[n], domain, reading) for n in members}
    first = next((n for n in members if is_complete(drafts[n], domain)), None)
    for n in members:
        if first is not None and n != first and _joins(drafts[n], drafts[first], domain):
            joined[first] += joined[n]
            joined[n] = []
            drafts[first] = make_draft(joined[first], domain, reading)


def _joins(draft: Draft, first: Draft, domain: RuleSet) -> bool:
    """Return whether a draft makes no template, or one compatible with the row's first."""
    if not is_complete(draft, domain):
        return True
    own, others = draft.slots.values, first.slots.values
    return domain.types.compatible(draft.type, first.type) and all(
        domain.schema.slots[slot].unify(own[slot], others[slot]) is not None
        for slot in own.keys() & others.keys()
    )


WINDOW = 3  # sentences, as for pronouns in partita.antecedents


def with_antecedent(drafts: Sequence[Draft], sentences: Sequence[int]) -> list[Draft]:
    """Return the drafts, in text order, without pronouns that have no possible antecedent.

    A pronoun has only a number, so it is compatible with every template: without an antecedent it
    would only connect coreference sets.
    """
    return [
        draft
        for n, draft in enumerate(drafts)
        if not draft.pronoun
        or any(_pronoun_agrees(draft, drafts[m]) for m in _before(n, sentences))
    ]


def _before(n: int, sentences: Sequence[int]) -> Iterator[int]:
    """Yield the earlier positions within the window of sentences."""
    for m in range(n - 1, -1, -1):
        if sentences[n] - sentences[m] > WINDOW:
            return
        yield m


def _pronoun_agrees(pronoun: Draft, other: Draft) -> bool:
    return not other.pronoun and _plural(pronoun) == _plural(other)


def _plural(draft: Draft) -> bool:
    return phrase_number(draft.phrase) not in ("singular", None)


def without_events(
    groups: Sequence[Group], domain: RuleSet
) -> tuple[list[Group], list[list[Contribution]]]:
    """Return the groups that are about things, and those about events."""
    types = [each.type for each in domain.templates.values() if each.event]
    if not types:
        return list(groups), []
    events = [bool(main_type(group, types, domain.types)) for group in groups]
    return (
        [
            group
            for group, event in zip(groups, events, strict=True)
            if not event and (group[0].about.kind != "vg" or _in_table(group[0].about))
        ],
        [list(group) for group, event in zip(groups, events, strict=True) if event],
    )


def _in_table(phrase: Phrase) -> bool:
    return phrase.attributes.get("region") == "table"  # "DAMAGED" in a column of states


@dataclass(frozen=True, slots=True, eq=False)
class EventDraft:
    """An event, who takes part in it in each role, and the scope that decides its status."""

    draft: Draft
    roles: Mapping[str, tuple[Phrase, ...]]
    scope: Scope | None


def event_draft(
    group: Sequence[Contribution], domain: RuleSet, reading: ValueCache, statuses: Statuses | None
) -> EventDraft:
    """Return the draft of an event; for each role the best match counts."""
    ranked = sorted(group, key=lambda each: each.rank)
    roles: dict[str, tuple[Phrase, ...]] = {}
    for each in ranked:
        roles = {**each.roles, **roles}
    scope = next((_whole(each) for each in ranked if each.status not in ("", "asserted")), None)
    if scope is None and statuses is not None and not any(each.status for each in ranked):
        scope = statuses.at(group[0].about.last)
    return EventDraft(make_draft(group, domain, reading), roles, scope)
