"""Turn slot contributions into templates."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from partita.records import Message, Region, Template
from partita.rules.build import Contribution, Refusal, fit_value
from partita.rules.cascade import Analysis, TokenColumns
from partita.rules.domain import Domain
from partita.rules.phrases import Phrase
from partita.rules.template_context import (
    Relations,
    context_of,
    form_of,
    head_of,
    number_of,
    relations_of,
)
from partita.templates.schema import Schema, plain_slots
from partita.templates.slots import Value
from partita.templates.sorts import Hierarchy

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
    """Values of slots, and the values that did not fit."""

    values: dict[str, Value] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)

    def plain(self, schema: Schema) -> dict[str, Any]:
        """Return the plain values in the order of the schema."""
        values = plain_slots(self.values)
        return {slot: values[slot] for slot in schema.slots if slot in values}


def fill_slots(ranked: Iterable[Contribution], reading: ValueCache) -> SlotFills:
    """Return for each slot the best contribution unified with the others that agree with it.

    "The Kinston depot in North Carolina" is in Kinston, though the second match is longer. A slot
    that a rule sets to an empty text stays empty for all lower ranks.
    """
    filled = SlotFills()
    empty: set[str] = set()
    for contribution in ranked:
        for slot, value in contribution.slots.items():
            if value == "":
                empty.add(slot)
            elif slot not in empty:
                _add(filled, contribution, slot, value, reading)
    return filled


def _add(
    filled: SlotFills, contribution: Contribution, slot: str, plain_value: Any, reading: ValueCache
) -> None:
    value, reason = reading.value(slot, plain_value)
    if value is None:
        filled.refusals.append(Refusal(contribution, slot, plain_value, reason))
        return
    previous = filled.values.get(slot)
    unified = value if previous is None else reading.schema.slots[slot].unify(previous, value)
    if unified is None:
        filled.refusals.append(
            Refusal(contribution, slot, plain_value, f"conflicts with {previous}")
        )
    else:
        filled.values[slot] = unified


def main_sort(
    ranked: Iterable[Contribution], template_sorts: Iterable[str], sorts: Hierarchy
) -> str:
    """Return the first sort of the best contribution that is below a template sort."""
    under = tuple(template_sorts)
    for contribution in ranked:
        for sort in contribution.sort:
            if sort in sorts and any(sorts.subsumes(general, sort) for general in under):
                return sort
    return ""


Group = Sequence[Contribution]


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    phrase: Phrase
    sort: str
    slots: SlotFills
    rule: str

    @property
    def pronoun(self) -> bool:
        """Return whether this is a pronoun with at least one slot value."""
        return self.phrase.attributes.get("form") == "pronoun" and bool(self.slots.values)


def make_draft(group: Group, domain: Domain, reading: ValueCache) -> Draft:
    """Return the draft of a group of contributions to one phrase."""
    ranked = sorted(group, key=lambda each: each.rank)
    template_sorts = [each.sort for each in domain.templates.values()]
    sort = main_sort(ranked, template_sorts, domain.sorts)
    rule = ", ".join(dict.fromkeys(each.rule for each in ranked))
    return Draft(group[0].about, sort, fill_slots(ranked, reading), rule)


def is_complete(draft: Draft, domain: Domain) -> bool:
    """Return whether a draft has a template sort and the slots that it needs."""
    return bool(draft.sort) and any(
        domain.sorts.subsumes(template.sort, draft.sort)
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
    domain: Domain,
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
    domain: Domain,
    reading: ValueCache,
) -> None:
    drafts = {n: make_draft(joined[n], domain, reading) for n in members}
    first = next((n for n in members if is_complete(drafts[n], domain)), None)
    for n in members:
        if first is not None and n != first and _joins(drafts[n], drafts[first], domain):
            joined[first] += joined[n]
            joined[n] = []
            drafts[first] = make_draft(joined[first], domain, reading)


def _joins(draft: Draft, first: Draft, domain: Domain) -> bool:
    """Return whether a draft makes no template, or one compatible with the row's first."""
    if not is_complete(draft, domain):
        return True
    own, others = draft.slots.values, first.slots.values
    return domain.sorts.compatible(draft.sort, first.sort) and all(
        domain.schema.slots[slot].unify(own[slot], others[slot]) is not None
        for slot in own.keys() & others.keys()
    )


WINDOW = 3  # sentences, as for pronouns in partita.reference


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
    return number_of(draft.phrase) not in ("singular", None)


@dataclass(frozen=True, slots=True, eq=False)
class Extraction:
    """The templates of a message in text order, refused values, and unfinished phases.

    Templates may be missing after an unfinished phase.
    """

    templates: tuple[Template, ...]
    refusals: tuple[Refusal, ...] = ()
    unfinished: tuple[str, ...] = ()


def extract(
    message: Message,
    tokens: TokenColumns,
    analysis: Analysis,
    domain: Domain,
    reading: ValueCache | None = None,
) -> Extraction:
    """Return the templates T1, T2, … of a message in text order.

    Pass the same `reading` for many messages, to reuse its cache of values.
    """
    read = reading or ValueCache(domain.schema)
    groups = group_by_phrase(analysis.contributions)
    rows = join_rows(groups, tokens, message.regions, domain, read)
    drafts = [make_draft(group, domain, read) for group in rows]
    candidates = [
        draft
        for draft in drafts
        if (is_complete(draft, domain) or draft.pronoun)
        and not _is_column_heading(draft, message, tokens)
    ]
    kept = with_antecedent(candidates, [_sentence(draft, tokens) for draft in candidates])
    relations = _relations(kept, analysis)
    templates = (
        _template(n, draft, context, message, tokens, domain)
        for n, (draft, context) in enumerate(zip(kept, relations, strict=True), 1)
    )
    refusals = tuple(refused for draft in drafts for refused in draft.slots.refusals)
    return Extraction(tuple(templates), refusals, analysis.unfinished)


def _is_column_heading(draft: Draft, message: Message, tokens: TokenColumns) -> bool:
    """Return whether a draft is the heading of a table column, which refers to nothing."""
    region = message.regions[tokens.region[draft.phrase.first]]
    return region.kind == "heading" and region.table >= 0


def _sentence(draft: Draft, tokens: TokenColumns) -> int:
    return bisect_right(tokens.ends_of_sentences, draft.phrase.first)


def _template(
    number: int,
    draft: Draft,
    relations: dict[str, str],
    message: Message,
    tokens: TokenColumns,
    domain: Domain,
) -> Template:
    first, last = draft.phrase.first, draft.phrase.last
    start, end = tokens.starts[first], tokens.ends[last]
    region = message.regions[tokens.region[first]]
    words = [text.lower() for text in tokens.texts[first : last + 1]]
    context: dict[str, Any] = context_of(draft.phrase, words) | relations
    context["PARAGRAPH"] = region.paragraph
    return Template(
        id=f"T{number}",
        text=" ".join(message.text[start:end].split()),
        start=start,
        end=end,
        region=region.kind,
        sentence=_sentence(draft, tokens),
        sort=draft.sort,
        head=head_of(draft.phrase),
        number=number_of(draft.phrase),
        form=form_of(draft.phrase),
        slots=draft.slots.plain(domain.schema),
        rule=draft.rule,
        context={name: value for name, value in context.items() if value not in ("", [])},
    )


def _relations(drafts: Sequence[Draft], analysis: Analysis) -> list[dict[str, str]]:
    """Return the role of each draft, and the templates it is in apposition to or a predicate of."""
    phrases = [item.attributes for item in analysis.items]
    places = [bisect_right(analysis.starts, draft.phrase.first) - 1 for draft in drafts]
    names = {place: f"T{n}" for n, place in enumerate(places, 1)}
    return [_relations_by_id(relations_of(phrases, place), names) for place in places]


def _relations_by_id(relations: Relations, names: Mapping[int, str]) -> dict[str, str]:
    """Return role and relations by template id; apposition to no template is no apposition."""
    apposition = names.get(relations.apposition, "")
    role = "other" if relations.role == "apposition" and not apposition else relations.role
    return {
        "ROLE": role,
        "APPOSITION_OF": apposition,
        "COPULA_OF": names.get(relations.copula, ""),
    }
