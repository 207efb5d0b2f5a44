"""From contributions to templates: all that is said about one phrase is one template."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from partita.extraction.cascade import Analysis, Columns
from partita.extraction.contributions import Refusal
from partita.extraction.domain import Domain
from partita.extraction.templates_drafts import Draft, by_phrase, complete, drafted
from partita.extraction.templates_pronouns import referring
from partita.extraction.templates_rows import rows_joined
from partita.extraction.templates_slots import Reading
from partita.extraction.templates_ties import Ties, ties
from partita.extraction.templates_words import described, form_of, head_of, number_of
from partita.records import Message, Template


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
