"""Windows of a long message, each one coreference set, and the entities that continue across them.

A window reads some templates of earlier windows again: the last ones, and one name of every named
entity. These link what is new to the entities so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from partita.core import Configuration, CoreferenceSet, Template


@dataclass(frozen=True, slots=True)
class Windows:
    """The size of windows, in templates: new ones, and of those read again the last and names."""

    most: int = 300
    last: int = 60
    names: int = 60

    def cuts(self, templates: Sequence[Template]) -> list[int]:
        """Return where windows begin, and the number of templates: at paragraphs if possible."""
        cuts = [0]
        while cuts[-1] + self.most < len(templates):
            cuts.append(_cut(templates, cuts[-1] + self.most // 2, cuts[-1] + self.most))
        return [*cuts, len(templates)]


def _cut(templates: Sequence[Template], low: int, high: int) -> int:
    """Return the last place from `low` to `high` that begins a paragraph, or else a sentence."""
    for key in (_paragraph, _sentence):
        for place in range(high, low, -1):
            if key(templates[place]) != key(templates[place - 1]):
                return place
    return high


def _paragraph(template: Template) -> object:
    return template.context.get("PARAGRAPH")


def _sentence(template: Template) -> object:
    return template.sentence


@dataclass(slots=True, eq=False)
class Chains:
    """The entities so far, as lists of templates, and the entity of each template."""

    members: list[list[Template]] = field(default_factory=list)
    home: dict[str, int] = field(default_factory=dict)

    def read_again(self, earlier: Sequence[Template], sizes: Windows) -> list[Template]:
        """Return the templates of earlier windows that the next window reads again."""
        last = list(earlier[-sizes.last :])
        there = {self.home[template.id] for template in last}
        names = (
            max(named, key=lambda template: len(template.text))
            for entity in self._recent()
            if entity not in there
            and (named := [one for one in self.members[entity] if one.form == "name"])
        )
        chosen = [template for template, _ in zip(names, range(sizes.names), strict=False)]
        return sorted([*last, *chosen], key=lambda template: (template.start, template.end))

    def _recent(self) -> list[int]:
        """Return the entities, the one with the latest template first."""
        last = [members[-1].start for members in self.members]
        return sorted(range(len(last)), key=lambda entity: -last[entity])

    def add(self, cells: Configuration, window: CoreferenceSet) -> None:
        """Add the cells of a window; each joins the entity of most of its earlier templates."""
        by_id = {template.id: template for template in window.templates}
        place = {name: n for n, name in enumerate(window.ids)}
        for cell in sorted(cells, key=lambda cell: min(place[name] for name in cell)):
            entity = self._entity(cell)
            for name in sorted(cell, key=place.__getitem__):
                if name not in self.home:
                    self.home[name] = entity
                    self.members[entity].append(by_id[name])

    def add_single(self, template: Template) -> None:
        """Add a template that is in no set, as an entity of its own."""
        if template.id not in self.home:
            self.home[template.id] = self._entity(())
            self.members[self.home[template.id]].append(template)

    def _entity(self, names: Iterable[str]) -> int:
        votes = Counter(self.home[name] for name in names if name in self.home)
        if votes:
            return max(votes, key=lambda entity: (votes[entity], -entity))
        self.members.append([])
        return len(self.members) - 1
