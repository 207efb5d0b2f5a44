"""Turn slot contributions into templates."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from partita.core import Assertion, Message, Template
from partita.core.templates import ASSERTIONS, EVENT, KIND, ROLES
from partita.rules.build import Refusal
from partita.rules.cascade import Analysis, TokenColumns
from partita.rules.domain import RuleSet
from partita.rules.drafts import (
    NUMBER,
    Draft,
    EventDraft,
    SlotFills,
    ValueCache,
    event_draft,
    group_by_phrase,
    is_complete,
    is_former,
    join_rows,
    make_draft,
    with_antecedent,
    without_events,
)
from partita.rules.phrases import Phrase
from partita.rules.template_context import (
    PhraseRelations,
    context_of,
    described_by,
    phrase_form,
    phrase_head,
    phrase_number,
    relations_of,
    subject_of,
)
from partita.templates.schema import plain_slots
from partita.text.assertions import Scope, Statuses


@dataclass(frozen=True, slots=True, eq=False)
class ExtractedTemplates:
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
    domain: RuleSet,
    reading: ValueCache | None = None,
) -> ExtractedTemplates:
    """Return the templates T1, T2, … of a message in text order.

    Pass the same `reading` for many messages, to reuse its cache of values.
    """
    read = reading or ValueCache(domain.schema)
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
    refusals = tuple(refused for draft in drafts for refused in draft.slots.refusals)
    things = tuple(templates)
    if event_groups:
        ids = {draft.phrase.first: one.id for draft, one in zip(kept, things, strict=True)}
        found = [event_draft(group, domain, read, analysis.statuses) for group in event_groups]
        numbered = enumerate((event for event in found if event.draft.type), 1)
        things += tuple(_event(n, event, ids, message, tokens, domain) for n, event in numbered)
        things = tuple(sorted(things, key=lambda template: (template.start, template.end)))
        refusals += tuple(refused for one in found for refused in one.draft.slots.refusals)
    return ExtractedTemplates(things, refusals, analysis.unfinished)


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
        _relations_by_id(relations_of(phrases, place), names, _may_link(draft, analysis))
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
