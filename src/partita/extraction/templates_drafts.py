"""Drafts: a phrase with all that is said about it; what is complete enough becomes a template."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from partita.extraction.contributions import Contribution
from partita.extraction.domain import Domain
from partita.extraction.phrases import Phrase
from partita.extraction.templates_slots import Reading, Said, main_sort, said

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
