"""Turn slot contributions into templates."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from partita.records import Message, Region, Template
from partita.rules.build import Contribution, Refusal, fitting
from partita.rules.cascade import Analysis, Columns
from partita.rules.domain import Domain
from partita.rules.phrases import Phrase
from partita.rules.template_context import Ties, described, form_of, head_of, number_of, ties
from partita.templates.schema import Schema, plain_slots
from partita.templates.slots import Value
from partita.templates.sorts import Hierarchy

REMEMBERED = 50_000  # values, over all messages

Read = tuple[Value | None, str]


@dataclass(slots=True)
class Reading:
    """Values brought to the types of a schema's slots; the same ones come again and again."""

    schema: Schema
    known: dict[tuple[str, Hashable], Read] = field(default_factory=dict)

    def value(self, slot: str, given: Any) -> Read:
        """The value as far as the slot's type takes it, or why it does not."""
        key = (slot, given)
        if key not in self.known:
            if len(self.known) >= REMEMBERED:
                self.known.clear()
            fits, reason = fitting(self.schema, slot, given)
            self.known[key] = None if fits is None else self.schema.slots[slot].read(fits), reason
        return self.known[key]


@dataclass(slots=True)
class Said:
    """Values of slots, and what could not be one of them."""

    values: dict[str, Value] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)

    def plain(self, schema: Schema) -> dict[str, Any]:
        """As files hold them, in the schema's order."""
        found = plain_slots(self.values)
        return {slot: found[slot] for slot in schema.slots if slot in found}


def said(ranked: Iterable[Contribution], reading: Reading) -> Said:
    """The value of the best contribution to each slot, and of others what agrees with it.

    "The Kinston depot in North Carolina" is in Kinston, though the second match is longer. A
    slot that a rule sets to an empty text stays empty, whatever ranks below.
    """
    found = Said()
    empty: set[str] = set()
    for one in ranked:
        for slot, value in one.slots.items():
            if value == "":
                empty.add(slot)
            elif slot not in empty:
                _add(found, one, slot, value, reading)
    return found


def _add(found: Said, one: Contribution, slot: str, given: Any, reading: Reading) -> None:
    value, reason = reading.value(slot, given)
    if value is None:
        found.refusals.append(Refusal(one, slot, given, reason))
        return
    known = found.values.get(slot)
    both = value if known is None else reading.schema.slots[slot].unify(known, value)
    if both is None:
        found.refusals.append(Refusal(one, slot, given, f"it is {known} already"))
    else:
        found.values[slot] = both


def main_sort(ranked: Iterable[Contribution], wanted: Iterable[str], sorts: Hierarchy) -> str:
    """The first sort of the best contribution that lies under one that templates come out of."""
    under = tuple(wanted)
    for one in ranked:
        for sort in one.sort:
            if sort in sorts and any(sorts.subsumes(general, sort) for general in under):
                return sort
    return ""


Group = Sequence[Contribution]


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    phrase: Phrase
    sort: str
    said: Said
    rule: str

    @property
    def pronoun(self) -> bool:
        """A pronoun of which a rule says something, if only its number."""
        return self.phrase.attributes.get("form") == "pronoun" and bool(self.said.values)


def drafted(group: Group, domain: Domain, reading: Reading) -> Draft:
    """What contributions to one phrase say together, with the names of their rules."""
    ranked = sorted(group, key=lambda one: one.rank)
    wanted = [one.sort for one in domain.templates.values()]
    sort = main_sort(ranked, wanted, domain.sorts)
    rule = ", ".join(dict.fromkeys(one.rule for one in ranked))
    return Draft(group[0].about, sort, said(ranked, reading), rule)


def complete(draft: Draft, domain: Domain) -> bool:
    """Whether it has a sort that templates come out of, with the slots that these need."""
    return bool(draft.sort) and any(
        domain.sorts.subsumes(one.sort, draft.sort)
        and all(slot in draft.said.values for slot in one.needs)
        for one in domain.templates.values()
    )


def by_phrase(contributions: Iterable[Contribution]) -> list[list[Contribution]]:
    """Contributions to the same phrase together, phrases in text order."""
    groups: dict[tuple[int, int], list[Contribution]] = {}
    for one in contributions:
        groups.setdefault((one.about.first, one.about.last), []).append(one)
    return [groups[place] for place in sorted(groups)]


Row = tuple[int, int]


def rows_joined(
    groups: Sequence[Group],
    tokens: Columns,
    regions: Sequence[Region],
    domain: Domain,
    reading: Reading,
) -> list[Group]:
    """The groups of contributions, those of one row of a table joined to its first template.

    What makes no template of its own goes there ("INTACT"), and what may be the same thing: the
    row "DEPOT A | AMMO DEPOT | KINSTON" speaks of one depot.
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
    reading: Reading,
) -> None:
    drafts = {n: drafted(joined[n], domain, reading) for n in members}
    first = next((n for n in members if complete(drafts[n], domain)), None)
    for n in members:
        if first is not None and n != first and _belongs(drafts[n], drafts[first], domain):
            joined[first] += joined[n]
            joined[n] = []
            drafts[first] = drafted(joined[first], domain, reading)


def _belongs(draft: Draft, first: Draft, domain: Domain) -> bool:
    """Whether it makes no template, or one that is compatible with the row's first."""
    if not complete(draft, domain):
        return True
    mine, theirs = draft.said.values, first.said.values
    return domain.sorts.compatible(draft.sort, first.sort) and all(
        domain.schema.slots[slot].unify(mine[slot], theirs[slot]) is not None
        for slot in mine.keys() & theirs.keys()
    )


WINDOW = 3  # sentences, as the reference module looks back


def referring(drafts: Sequence[Draft], sentences: Sequence[int]) -> list[Draft]:
    """The drafts, in text order, without the pronouns that have nothing to refer to.

    A pronoun says nothing of what it refers to but its number, so it is compatible with every
    template: one that cannot refer to any would only tie sets together.
    """
    return [
        one
        for n, one in enumerate(drafts)
        if not one.pronoun or any(_pronoun_agrees(one, drafts[m]) for m in _before(n, sentences))
    ]


def _before(n: int, sentences: Sequence[int]) -> Iterator[int]:
    """Places back to the first that is too many sentences away."""
    for m in range(n - 1, -1, -1):
        if sentences[n] - sentences[m] > WINDOW:
            return
        yield m


def _pronoun_agrees(pronoun: Draft, other: Draft) -> bool:
    return not other.pronoun and _plural(pronoun) == _plural(other)


def _plural(draft: Draft) -> bool:
    return number_of(draft.phrase) not in ("singular", None)


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """The templates of a message in text order, the values that no slot took, and the phases that
    gave up, behind which templates may be missing."""

    templates: tuple[Template, ...]
    refusals: tuple[Refusal, ...] = ()
    unfinished: tuple[str, ...] = ()


def extract(
    message: Message,
    tokens: Columns,
    analysis: Analysis,
    domain: Domain,
    reading: Reading | None = None,
) -> Built:
    """What a domain's rules say of a message, as templates T1, T2, … in text order.

    Who has many messages gives the same `reading` for all, which remembers values.
    """
    read = reading or Reading(domain.schema)
    groups = by_phrase(analysis.contributions)
    rows = rows_joined(groups, tokens, message.regions, domain, read)
    drafts = [drafted(group, domain, read) for group in rows]
    taken = [
        one
        for one in drafts
        if (complete(one, domain) or one.pronoun) and not _label(one, message, tokens)
    ]
    kept = referring(taken, [_sentence(one, tokens) for one in taken])
    tied = _tied(kept, analysis)
    templates = (
        _template(n, one, context, message, tokens, domain)
        for n, (one, context) in enumerate(zip(kept, tied, strict=True), 1)
    )
    refusals = tuple(refused for one in drafts for refused in one.said.refusals)
    return Built(tuple(templates), refusals, analysis.unfinished)


def _label(draft: Draft, message: Message, tokens: Columns) -> bool:
    """The heading of a table's column speaks of nothing by itself."""
    region = message.regions[tokens.region[draft.phrase.first]]
    return region.kind == "heading" and region.table >= 0


def _sentence(draft: Draft, tokens: Columns) -> int:
    return bisect_right(tokens.ends_of_sentences, draft.phrase.first)


def _template(
    number: int,
    draft: Draft,
    tied: dict[str, str],
    message: Message,
    tokens: Columns,
    domain: Domain,
) -> Template:
    first, last = draft.phrase.first, draft.phrase.last
    start, end = tokens.starts[first], tokens.ends[last]
    region = message.regions[tokens.region[first]]
    words = [text.lower() for text in tokens.texts[first : last + 1]]
    context: dict[str, Any] = described(draft.phrase, words) | tied
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
        slots=draft.said.plain(domain.schema),
        rule=draft.rule,
        context={name: value for name, value in context.items() if value not in ("", [])},
    )


def _tied(drafts: Sequence[Draft], analysis: Analysis) -> list[dict[str, str]]:
    """The role of each draft, and the templates that it is in apposition to or says to be."""
    phrases = [item.attributes for item in analysis.items]
    places = [bisect_right(analysis.starts, one.phrase.first) - 1 for one in drafts]
    names = {place: f"T{n}" for n, place in enumerate(places, 1)}
    found = [ties(phrases, place) for place in places]
    return [_named_ties(one, names) for one in found]


def _named_ties(found: Ties, names: Mapping[int, str]) -> dict[str, str]:
    """What is in apposition to no template may as well follow a place: "at Lund, a depot"."""
    apposition = names.get(found.apposition, "")
    role = "other" if found.role == "apposition" and not apposition else found.role
    return {
        "ROLE": role,
        "APPOSITION_OF": apposition,
        "COPULA_OF": names.get(found.copula, ""),
    }
