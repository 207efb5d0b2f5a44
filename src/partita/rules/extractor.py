"""Extract templates from messages with a domain's rules, or trace the matches of each phase."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, cast

from partita.core import Assertion, Message, Region, Status, Template
from partita.core.templates import ASSERTIONS, EVENT, FORMER, KIND, ROLES
from partita.errors import InputError
from partita.rules.build import Contribution, fit_value
from partita.rules.cascade import Analysis, Cascade, CascadeStep, TokenColumns
from partita.rules.domain import At, Rule, RuleSet
from partita.rules.phrases import (
    Phrase,
    PhraseRelations,
    SharedPhrase,
    context_of,
    described_by,
    phrase_form,
    phrase_head,
    phrase_number,
    phrase_relations,
    subject_of,
)
from partita.templates.entity_types import Hierarchy, HierarchyType
from partita.templates.name import PlaceType
from partita.templates.schema import Schema, plain_slots
from partita.templates.slots import Value
from partita.text.assertions import Scope, Statuses, strongest
from partita.text.tagger_models import Tagger
from partita.text.tokens import Tokens, tokenize

NUMBER = "NUMBER"
CACHE_SIZE = 50_000  # values, over all messages


@dataclass(slots=True)
class ValueCache:
    """A cache of values converted to the slot types of a schema."""

    schema: Schema
    cache: dict[tuple[str, Hashable], Value | None] = field(default_factory=dict)

    def value(self, slot: str, value: Any) -> Value | None:
        """Return the part of a value that fits the slot's type, or None if nothing does."""
        key = (slot, value)
        if key not in self.cache:
            if len(self.cache) >= CACHE_SIZE:
                self.cache.clear()
            fits, _ = fit_value(self.schema, slot, value)
            self.cache[key] = None if fits is None else self.schema.slots[slot].read(fits)
        return self.cache[key]


@dataclass(slots=True)
class SlotFills:
    """Values of slots, and the scopes of those not asserted.

    `denied` holds what is denied, which is no value; `absent` is the scope that denies that there
    is such a thing.
    """

    values: dict[str, Value] = field(default_factory=dict)
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
                _add(filled, slot, value, reading, weak)
                if former and slot in main and (general := _most_general(reading, slot)):
                    _add(filled, slot, general, reading)
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
    slot: str,
    plain_value: Any,
    reading: ValueCache,
    scope: Scope | None = None,
) -> None:
    """Add a value, unless it does not fit the slot or what is there already."""
    value = reading.value(slot, plain_value)
    if value is None:
        return
    if scope is not None and scope.status == "denied":
        filled.denied.append((slot, value, scope))
        return
    previous = filled.values.get(slot)
    unified = value if previous is None else reading.schema.slots[slot].unify(previous, value)
    if unified is None:
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


def extract(
    message: Message,
    tokens: TokenColumns,
    analysis: Analysis,
    domain: RuleSet,
    read: ValueCache,
) -> tuple[Template, ...]:
    """Return the templates T1, T2, … of a message in text order."""
    groups, event_groups = without_events(group_by_phrase(analysis.contributions), domain)
    rows = join_rows(groups, tokens, message.regions, domain, read)
    drafts = [make_draft(group, domain, read, analysis.statuses) for group in rows]
    candidates = [
        draft
        for draft in drafts
        if (is_complete(draft, domain) or draft.pronoun)
        and not _is_column_heading(draft, message, tokens)
    ]
    if analysis.statuses is not None and analysis.statuses.by_sentence:
        _deny_predicates(drafts, candidates, analysis, analysis.statuses)
    present = [draft for draft in candidates if draft.slots.absent is None]
    kept = with_antecedent(present, [_sentence(draft, tokens) for draft in present])
    relations = _relations(kept, analysis)
    templates = (
        _template(n, draft, context, message, tokens, domain)
        for n, (draft, context) in enumerate(zip(kept, relations, strict=True), 1)
    )
    things = tuple(with_places(templates, domain.schema))
    if event_groups:
        ids = {draft.phrase.first: one.id for draft, one in zip(kept, things, strict=True)}
        found = [event_draft(group, domain, read, analysis.statuses) for group in event_groups]
        numbered = enumerate((event for event in found if event.draft.type), 1)
        things += tuple(_event(n, event, ids, message, tokens, domain) for n, event in numbered)
        things = tuple(sorted(things, key=lambda template: (template.start, template.end)))
    return things


def with_places(templates: Iterable[Template], schema: Schema) -> Iterator[Template]:
    """Yield the templates, those with a modifier in which another one is with that place.

    In upper case nothing else tells where "THE ROSTA DEPOT" is: "A DEPOT NEAR ROSTA".
    """
    listed = tuple(templates)
    slots = [name for name, kind in schema.slots.items() if isinstance(kind, PlaceType)]
    stated = ((slot, one.slots[slot]) for one in listed for slot in slots if slot in one.slots)
    known = {str(place).casefold(): (slot, place) for slot, place in stated}
    for one in listed:
        told = dict(known[word] for word in one.context.get("MODIFIERS", ()) if word in known)
        filled = {**told, **one.slots}
        yield replace(one, slots={slot: filled[slot] for slot in schema.slots if slot in filled})


def _event(
    number: int,
    event: EventDraft,
    ids: Mapping[int, str],
    message: Message,
    tokens: TokenColumns,
    domain: RuleSet,
) -> Template:
    """Return the template of an event: the slots of roles have the participants' words, and ROLES
    in the context the ids of their templates. What is denied is no value."""
    template = _template(number, event.draft, {}, message, tokens, domain)
    slots = dict(template.slots)
    for slot, phrases in event.roles.items():
        words = [_participant(phrase) for phrase in phrases]
        slots |= {slot: found} if (found := sorted({word for word in words if word})) else {}
    slots = {slot: slots[slot] for slot in domain.schema.slots if slot in slots}
    roles = {
        slot: known
        for slot, phrases in event.roles.items()
        if (known := [ids[phrase.first] for phrase in phrases if phrase.first in ids])
    }
    context = dict(template.context) | {KIND: EVENT} | ({ROLES: roles} if roles else {})
    if event.scope is not None:
        every, whole = (
            _assertion(some, event.scope, message, tokens).plain() for some in (slots, {})
        )
        context[ASSERTIONS] = [every, whole]
        slots = {} if event.scope.status == "denied" else slots
    return replace(template, id=f"V{number}", slots=slots, context=context)


def _participant(phrase: Phrase) -> str:
    """Return the words of a participant without determiner, or nothing for a pronoun."""
    attributes = phrase.attributes
    if attributes.get("form") == "pronoun":
        return ""
    determiner = str(attributes.get("det", "the"))  # "the town of Arden" has none
    text = phrase.text
    if determiner and text.lower().startswith(f"{determiner} "):
        text = text[len(determiner) :]
    return " ".join(text.upper().split())


def _is_column_heading(draft: Draft, message: Message, tokens: TokenColumns) -> bool:
    """Return whether a draft is the heading of a table column, which refers to nothing."""
    region = message.regions[tokens.region[draft.phrase.first]]
    return region.kind == "heading" and region.table >= 0


def _sentence(draft: Draft, tokens: TokenColumns) -> int:
    return bisect_right(tokens.ends_of_sentences, draft.phrase.first)


def _template(
    number: int,
    draft: Draft,
    relations: dict[str, Any],
    message: Message,
    tokens: TokenColumns,
    domain: RuleSet,
) -> Template:
    first, last = draft.phrase.first, draft.phrase.last
    start, end = tokens.starts[first], tokens.ends[last]
    region = message.regions[tokens.region[first]]
    words = [text.lower() for text in tokens.texts[first : last + 1]]
    context: dict[str, Any] = context_of(draft.phrase, words) | relations
    context["PARAGRAPH"] = region.paragraph
    if not_asserted := _assertions(draft.slots, message, tokens):
        context[ASSERTIONS] = [one.plain() for one in not_asserted]
    return Template(
        id=f"T{number}",
        text=" ".join(message.text[start:end].split()),
        start=start,
        end=end,
        region=region.kind,
        sentence=_sentence(draft, tokens),
        type=draft.type,
        head=phrase_head(draft.phrase),
        number=phrase_number(draft.phrase),
        form=phrase_form(draft.phrase),
        slots=draft.slots.plain(domain.schema),
        rule=draft.rule,
        context={name: value for name, value in context.items() if value not in ("", [])},
    )


def _deny_predicates(
    drafts: Iterable[Draft], candidates: Iterable[Draft], analysis: Analysis, statuses: Statuses
) -> None:
    """Deny of a subject what it is said not to be: "the building is not a warehouse".

    So is a predicate in a clause that is denied ("they denied that the building is a warehouse")
    and an apposition of the past ("the building, formerly a warehouse, …").
    """
    phrases = [item.attributes for item in analysis.items]
    subjects = {_place(each, analysis): each for each in candidates if not each.slots.absent}
    for draft in drafts:
        scope = statuses.at(draft.phrase.last)
        if not draft.type or scope is None or scope.status != "denied":
            continue
        place = _place(draft, analysis)
        subject = subjects.get(max(subject_of(phrases, place), described_by(phrases, place)))
        if subject is not None:
            said = {slot: value for slot, value, _ in draft.slots.denied}
            if not is_former(draft.phrase):
                said |= {slot: value for slot, value in draft.slots.firm if slot != NUMBER}
            subject.slots.predicates.append((said, scope))


def _place(draft: Draft, analysis: Analysis) -> int:
    """Return the position of a draft's phrase in the sequence."""
    return bisect_right(analysis.starts, draft.phrase.first) - 1


def _assertions(fills: SlotFills, message: Message, tokens: TokenColumns) -> list[Assertion]:
    """Return what is not asserted of a template, denials first."""
    said = [({slot: value}, scope) for slot, value, scope in fills.denied]
    said += fills.predicates
    said += [
        ({slot: value}, scope)
        for slot, value, scope in fills.weak
        if slot in fills.values and (slot, value) not in fills.firm
    ]
    found: dict[str, Assertion] = {}
    for values, scope in said:
        one = _assertion(plain_slots(values), scope, message, tokens)
        found.setdefault(repr((one.status, sorted(one.slots.items()))), one)
    return list(found.values())


def _assertion(
    slots: dict[str, Any], scope: Scope, message: Message, tokens: TokenColumns
) -> Assertion:
    span, covered = (_characters(some, tokens) for some in (scope.cue, (scope.first, scope.last)))
    cue = " ".join(message.text[slice(*span)].split())
    return Assertion(scope.status, slots, cue, span, covered)


def _characters(places: tuple[int, int], tokens: TokenColumns) -> tuple[int, int]:
    """Return the characters from the first token to before the last."""
    first, last = places
    start = tokens.starts[first] if first < len(tokens.starts) else tokens.ends[-1]
    return start, tokens.ends[last - 1] if last > first else start


def _relations(drafts: Sequence[Draft], analysis: Analysis) -> list[dict[str, Any]]:
    """Return the role of each draft, and the templates it is in apposition to or a predicate of."""
    phrases = [item.attributes for item in analysis.items]
    places = [_place(draft, analysis) for draft in drafts]
    names = {place: f"T{n}" for n, place in enumerate(places, 1)}
    return [
        _relations_by_id(phrase_relations(phrases, place), names, _may_link(draft, analysis))
        for draft, place in zip(drafts, places, strict=True)
    ]


def _may_link(draft: Draft, analysis: Analysis) -> bool:
    """Return whether a predicate is of its subject: a denied one is not, a former one is."""
    scope = analysis.statuses.at(draft.phrase.last) if analysis.statuses else None
    return scope is None or scope.status != "denied" or is_former(draft.phrase)


def _relations_by_id(
    relations: PhraseRelations, names: Mapping[int, str], linked: bool
) -> dict[str, Any]:
    """Return role and relations by template id; apposition to no template is no apposition."""
    apposition = names.get(relations.apposition, "")
    role = "other" if relations.role == "apposition" and not apposition else relations.role
    return {
        "ROLE": role,
        "APPOSITION_OF": apposition,
        "COPULA_OF": names.get(relations.copula, "") if linked else "",
        "PART_OF": [names[relations.whole]] if relations.whole in names else [],
    }


BATCH = 64  # messages tagged in one call


class Extractor:
    """Extract templates with a domain's rules and a tagger; results are deterministic."""

    def __init__(self, domain: RuleSet, tagger: Tagger) -> None:
        self.domain = domain
        self.tagger = tagger
        self.cascade = Cascade(domain)
        self.reading = ValueCache(domain.schema)

    def templates(self, message: Message) -> tuple[Template, ...]:
        """Return the templates of a message; raise InputError if a phase is unfinished."""
        return next(self._batch([message]))

    def templates_of(self, messages: Iterable[Message]) -> Iterator[tuple[Template, ...]]:
        """Yield the templates of each message, tagging messages in batches."""
        remaining = iter(messages)
        while batch := list(islice(remaining, BATCH)):
            yield from self._batch(batch)

    def _batch(self, messages: Sequence[Message]) -> Iterator[tuple[Template, ...]]:
        tokenized = [tokenize(message) for message in messages]
        for message, tokens, tags in zip(messages, tokenized, self._tags(tokenized), strict=True):
            if not tokens.texts:
                yield ()
                continue
            analysis = self.cascade.run(tokens, tags, message.regions)
            _refuse_unfinished(analysis, message)
            yield extract(message, tokens, analysis, self.domain, self.reading)

    def _tags(self, tokenized: Sequence[Tokens]) -> Iterator[list[str]]:
        """Yield the tags of each message's tokens."""
        words = [text for tokens in tokenized for text in tokens.texts]
        ends, first = [], 0
        for tokens in tokenized:
            ends += [first + end for end in tokens.ends_of_sentences]
            first += len(tokens.texts)
        tags, first = self.tagger.names(words, ends), 0
        for tokens in tokenized:
            yield tags[first : first + len(tokens.texts)]
            first += len(tokens.texts)


def _refuse_unfinished(analysis: Analysis, message: Message) -> None:
    if analysis.unfinished:
        phases = ", ".join(analysis.unfinished)
        problem = f"phase {phases} exceeds the work limit on this text"
        raise InputError(f"message {message.id}: {problem} (split the text or simplify the rules)")


@dataclass(frozen=True, slots=True)
class TracedPiece:
    """A phrase in a phase: its text, and its tag or kind."""

    text: str
    mark: str
    built: bool


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """A match: the rule, its text and result, and the rules that it beat.

    `status` tells what is not asserted, with the words that say so.
    """

    rule: str
    at: At
    text: str
    size: int
    kind: str = ""
    made: Mapping[str, Any] = field(default_factory=dict)
    beaten: tuple[tuple[str, int], ...] = ()
    about: str = ""
    refused: tuple[str, ...] = ()
    status: str = ""


@dataclass(frozen=True, slots=True)
class PhaseTrace:
    """A phase: its input by sentence, and its matches in each sentence."""

    phase: str
    starts: str
    rules: int
    sentences: tuple[tuple[TracedPiece, ...], ...]
    wins: tuple[tuple[RuleMatch, ...], ...]
    whole: bool = True

    @property
    def count(self) -> int:
        return sum(map(len, self.wins))


@dataclass(slots=True)
class Tracer:
    """An observer that records the phases of a cascade."""

    schema: Schema
    seen: list[PhaseTrace] = field(default_factory=list)

    def __call__(self, step: CascadeStep) -> None:
        bounds = list(_sentences(step.items))
        wins = list(self._wins(step))
        self.seen.append(
            PhaseTrace(
                step.stage.phase.name,
                step.stage.phase.starts,
                len(step.stage.phase.rules),
                tuple(tuple(map(_piece, step.items[a:b])) for a, b in bounds),
                tuple(tuple(win for at, win in wins if a <= at < b) for a, b in bounds),
                step.matches.complete,
            )
        )

    def _wins(self, step: CascadeStep) -> Iterator[tuple[int, RuleMatch]]:
        """Yield the matches with their starts."""
        rules = step.stage.phase.rules
        if step.stage.phase.starts == "cursor":
            for (number, spans), made in zip(step.matches.matches, step.made, strict=True):
                start, end = spans[0]
                beaten = tuple(_beaten(step, number, start))
                attributes = {
                    name: value for name, value in made.attributes.items() if name not in _HIDDEN
                }
                text, kind = made.attributes["text"], made.attributes["kind"]
                rule = rules[number]
                yield (
                    start,
                    RuleMatch(rule.name, rule.at, text, end - start, kind, attributes, beaten),
                )
            return
        for contribution, start in step.said:
            text = "".join(step.pieces[contribution.first : contribution.last + 1]).rstrip()
            status = _status(step, contribution)
            yield start, self._contribution(contribution, text, rules[contribution.order], status)

    def _contribution(
        self, contribution: Contribution, text: str, rule: Rule, status: str
    ) -> RuleMatch:
        accepted, refused = {}, []
        for slot, value in contribution.slots.items():
            fits, reason = fit_value(self.schema, slot, value)
            if reason:
                refused.append(f"{slot}: {reason}")
            if fits is not None:
                accepted[slot] = fits
        return RuleMatch(
            contribution.rule,
            rule.at,
            text,
            contribution.size,
            "",
            accepted,
            (),
            contribution.about.text,
            tuple(refused),
            status,
        )


def _status(step: CascadeStep, contribution: Contribution) -> str:
    """Return the status of what a match says, if it is not asserted, and the words of its cue."""
    if step.statuses is None:
        return ""
    if contribution.roles:  # an event, whose verb decides
        scope = step.statuses.at(contribution.about.last)
    else:
        scope = contribution_scope(contribution, step.statuses)
    if scope is None:
        return ""
    cue = "".join(step.pieces[slice(*scope.cue)]).strip()
    return f"{scope.status} ({cue})" if cue else scope.status


_HIDDEN = ("kind", "text", "region", "column")


def _sentences(items: list[SharedPhrase]) -> Iterator[tuple[int, int]]:
    begin = 0
    for n, item in enumerate(items):
        if not item.attributes:
            yield begin, n
            begin = n + 1


def _piece(item: SharedPhrase) -> TracedPiece:
    attributes = item.attributes
    built = attributes["kind"] != "word"
    return TracedPiece(
        attributes["text"], attributes["kind"] if built else attributes["tag"], built
    )


def _beaten(step: CascadeStep, winner: int, start: int) -> Iterator[tuple[str, int]]:
    """Yield the other rules that match at the same position, with their lengths."""
    for number, spans in step.stage.matching.contenders(step.characters, start):
        if number != winner:
            yield step.stage.phase.rules[number].name, spans[0][1] - start
