"""Extract templates from messages with a domain's rules, or trace the matches of each phase."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from partita.core import Assertion, Message, Template
from partita.core.templates import ASSERTIONS, EVENT, KIND, ROLES
from partita.errors import InputError
from partita.rules.build import Contribution, Refusal, fit_value
from partita.rules.cascade import Analysis, Cascade, CascadeStep, TokenColumns
from partita.rules.domain import At, Rule, RuleSet
from partita.rules.drafts import (
    NUMBER,
    Draft,
    EventDraft,
    SlotFills,
    ValueCache,
    contribution_scope,
    event_draft,
    group_by_phrase,
    is_complete,
    is_former,
    join_rows,
    make_draft,
    with_antecedent,
    without_events,
)
from partita.rules.phrases import Phrase, SharedPhrase
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
from partita.templates.schema import Schema, plain_slots
from partita.text.assertions import Scope, Statuses
from partita.text.tagger_models import Tagger
from partita.text.tokens import Tokens, tokenize


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
        return _finished_templates(self.built(message), message)

    def built(self, message: Message) -> ExtractedTemplates:
        """Return the templates, refused values and unfinished phases of a message."""
        return next(self._batch([message]))

    def templates_of(self, messages: Iterable[Message]) -> Iterator[tuple[Template, ...]]:
        """Yield the templates of each message, tagging messages in batches."""
        remaining = iter(messages)
        while batch := list(islice(remaining, BATCH)):
            for message, built in zip(batch, self._batch(batch), strict=True):
                yield _finished_templates(built, message)

    def _batch(self, messages: Sequence[Message]) -> Iterator[ExtractedTemplates]:
        tokenized = [tokenize(message) for message in messages]
        for message, tokens, tags in zip(messages, tokenized, self._tags(tokenized), strict=True):
            if not tokens.texts:
                yield ExtractedTemplates(())
                continue
            analysis = self.cascade.run(tokens, tags, message.regions)
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


def _finished_templates(built: ExtractedTemplates, message: Message) -> tuple[Template, ...]:
    if built.unfinished:
        phases = ", ".join(built.unfinished)
        problem = f"phase {phases} exceeds the work limit on this text"
        raise InputError(f"message {message.id}: {problem} (split the text or simplify the rules)")
    return built.templates


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
