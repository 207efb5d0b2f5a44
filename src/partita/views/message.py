"""A resolved message as text: its entities, sets and uncertain pairs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from partita.core import Distribution, Entity, FloatArray, SlotValue, Template
from partita.entities.answer import entity_shares
from partita.pipeline import Resolved
from partita.views.distribution import configuration_rows, heading, partial_rows
from partita.views.layout import (
    bold,
    clean,
    columns,
    count_text,
    cut_text,
    cyan,
    figure_text,
    indent,
    method_reason,
    one_line,
    pad,
    probability_of,
    probability_text,
    remainder_text,
    text_bar,
)

CERTAIN = 0.99995  # shown without a number
UNCERTAIN = 0.1  # least distance from 0 and 1 of an uncertain pair
MAX_UNCERTAIN = 6  # pairs shown
INDENT = 4


def message_report(resolved: Resolved, width: int = 80, colour: bool = False) -> str:
    """Return the report on a message."""
    if resolved.whole:
        return document_report(resolved, width, colour)
    texts = {template.id: one_line(template.text) for template in resolved.templates}
    parts = [bold(cut_text(_title(resolved), width), colour), _sizes(resolved)]
    for entity in resolved.entities:
        parts += _entity(entity, texts, width, colour)
    for distribution in resolved.distributions:
        parts += ["", *_set(distribution, width, colour)]
        parts += _uncertain(distribution, texts, width)
    return "\n".join(parts) + "\n"


def message_line(resolved: Resolved, width: int = 80) -> str:
    """Return a message in one line."""
    if resolved.whole:
        return document_line(resolved, width)
    text = f"{one_line(resolved.message.id)}: {_sizes(resolved)}"
    merged = [entity for entity in resolved.entities if len(entity.templates) > 1]
    if merged:
        least = min(merged, key=lambda entity: entity.probability)
        cell = f"({' '.join(map(clean, least.templates))})"
        text += f"; least sure {cell} {probability_text(least.probability)}"
    return cut_text(text, width)


def _title(resolved: Resolved) -> str:
    name, file = one_line(resolved.message.id), one_line(resolved.message.file)
    return f"{name} ({file})" if file else name


def _sizes(resolved: Resolved) -> str:
    return counted(len(resolved.templates), len(resolved.distributions), len(resolved.entities))


def counted(templates: int, sets: int, entities: int) -> str:
    """Return the numbers of templates, sets and entities."""
    sizes = {"template": templates, "set": sets, "entity": entities}
    return ", ".join(count_text(count, noun) for noun, count in sizes.items())


def _entity(entity: Entity, texts: Mapping[str, str], width: int, colour: bool) -> Iterator[str]:
    """Yield the name, probability, templates and slots of an entity."""
    yield ""
    yield _head(entity, texts, width, colour)
    if not _alone(entity):
        wide = max(columns(clean(name)) for name in entity.templates)
        for name in entity.templates:
            text = f"{' ' * INDENT}{pad(clean(name), wide)}  {texts.get(name, '')}"
            yield cut_text(text.rstrip(), width)
    yield from _slots(entity, width)


def _head(entity: Entity, texts: Mapping[str, str], width: int, colour: bool) -> str:
    """Return the heading; a single template has no probability."""
    name = entity.name or next(iter(entity.descriptions), texts.get(entity.anchor, ""))
    text = "  ".join(filter(None, (entity.id, entity.type, one_line(name))))
    if _alone(entity):
        return bold(cut_text(text, width), colour)
    probability = probability_of(entity.figure)
    room = width - len(probability) - 20
    bar_text = cyan(text_bar(entity.probability), colour)
    return f"{bold(pad(cut_text(text, room), room), colour)}  {probability}  {bar_text}".rstrip()


def _alone(entity: Entity) -> bool:
    return len(entity.templates) == 1 and entity.probability == 1.0


def _slots(entity: Entity, width: int) -> Iterator[str]:
    wide = max(map(len, entity.slots), default=0)
    for name, values in entity.slots.items():
        start = f"{' ' * INDENT}{name:{wide}}  "
        further = " " * len(start)
        yield from textwrap.wrap(
            ", ".join(map(_value, values)), width, initial_indent=start, subsequent_indent=further
        )

    for denial in entity.denied:
        said = ", ".join(f"{name} {_plain(value)}" for name, value in denial.slots.items())
        yield from textwrap.wrap(
            f"not {said}", width, initial_indent=" " * INDENT, subsequent_indent=" " * INDENT
        )


def _value(value: SlotValue) -> str:
    text = "unknown" if value.value is None else _plain(value.value)
    if value.value is not None and value.status != "asserted":
        text = f"{text} ({value.status})"
    certain = value.probability >= CERTAIN
    return text if certain else f"{text} {probability_of(value.figure)}"


def _plain(value: object, between: str = " & ") -> str:
    """Return the text of a slot's value; values that hold together are joined."""
    return between.join(map(one_line, value)) if isinstance(value, list) else one_line(str(value))


def _set(distribution: Distribution, width: int, colour: bool) -> Iterator[str]:
    yield bold(heading(distribution, width), colour)
    yield from configuration_rows(distribution, width, colour)
    yield from indent(remainder_text(distribution), width)
    yield from partial_rows(distribution, width)
    entropy = figure_text(distribution.figures.entropy_bits)
    yield from indent(f"entropy {entropy} bits; {method_reason(distribution)}", width)


def _uncertain(distribution: Distribution, texts: Mapping[str, str], width: int) -> Iterator[str]:
    """Yield the most uncertain pairs."""
    p = distribution.marginals.value
    left, right = np.nonzero(np.triu((p >= UNCERTAIN) & (p <= 1 - UNCERTAIN), 1))
    doubtful = np.argsort(np.abs(p[left, right] - 0.5), kind="stable").tolist()
    if not doubtful:
        return
    yield "  uncertain:"
    members = distribution.set.templates
    for n in doubtful[:MAX_UNCERTAIN]:
        pair = (members[left[n]], members[right[n]])
        yield _pair(float(p[left[n], right[n]]), pair, texts, width)
    if len(doubtful) > MAX_UNCERTAIN:
        yield f"    and {len(doubtful) - MAX_UNCERTAIN:,} more pairs"


def _pair(p: float, pair: Sequence[Template], texts: Mapping[str, str], width: int) -> str:
    start = f"    {probability_text(p)}  {clean(pair[0].id)} = {clean(pair[1].id)}  "
    room = max((width - columns(start) - 3) // 2, 8)
    texts_ = " = ".join(cut_text(texts[one.id], room) for one in pair)
    return cut_text((start + texts_).rstrip(), width)


MAX_ENTITIES = 15  # shown, of those with two or more mentions
MAX_ONCE = 12  # named entities with one mention
MAX_EXPRESSIONS = 5
MAX_DECISIONS = 5
MATTERS = 1.0  # least consequence of a decision that is shown
MAX_CHOICES = 3
DOUBTFUL = 0.75  # an uncertain decision has no choice above this
BELONGS = 0.5  # least probability of a mention that belongs to its entity without a doubt
LIKELY = 0.5  # least probability of a slot value that is shown
MIN_SHOWN_CHOICE = 0.02  # least probability of a choice that is shown
LABEL, CHOICE, NARROW = 34, 28, 8  # columns
HIDDEN = ("NAME", "TYPE", "GENDER")  # slots that the heading shows, or that follow from it


def document_report(resolved: Resolved, width: int = 80, colour: bool = False) -> str:
    """Return the report on a text."""
    view = DocumentView.of(resolved)
    parts = [bold(cut_text(_title(resolved), width), colour), document_sizes(resolved)]
    parts += _entities(view, width, colour)
    parts += _decisions(view, width, colour)
    return "\n".join(parts) + "\n"


def document_line(resolved: Resolved, width: int = 80) -> str:
    """Return a text in one line."""
    labels = [
        label(entity) for entity in by_mentions(resolved.entities) if len(entity.templates) > 1
    ]
    most = f"; {', '.join(labels[:3])}" if labels else ""
    return cut_text(f"{one_line(resolved.message.id)}: {document_sizes(resolved)}{most}", width)


def document_sizes(resolved: Resolved) -> str:
    """Return the numbers of mentions and entities."""
    if not resolved.templates:
        return "no mentions found"
    several = sum(len(entity.templates) > 1 for entity in resolved.entities)
    counts = (
        count_text(len(resolved.templates), "mention"),
        count_text(len(resolved.entities), "entity"),
    )
    return f"{', '.join(counts)}, {several:,} of them mentioned more than once"


def by_mentions(entities: Iterable[Entity]) -> list[Entity]:
    """Return the entities, those with the most mentions first."""
    return sorted(entities, key=lambda entity: -len(entity.templates))


def label(entity: Entity) -> str:
    """Return the name of an entity, or the first description that looks like one, or the first."""
    like_names = (t for t in entity.descriptions if " " in t and t.istitle() and t[0].isalpha())
    first = next(iter(entity.descriptions), entity.anchor)
    shown = one_line(entity.name or next(like_names, first))
    return shown.removesuffix("'s").removesuffix("’s")


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """A mention, and the entities it may belong to, most probable first; None is a new entity."""

    template: Template
    choices: tuple[tuple[Entity | None, float], ...]

    @property
    def bits(self) -> float:
        return -sum(p * math.log2(p) for _, p in self.choices if p > 0.0)

    @property
    def consequence(self) -> float:
        """The expected number of other mentions that the wrong choice puts it apart from, or with.

        If it belongs elsewhere, it is wrong with every mention of the entity that it was given.
        """
        sizes = [(p, len(entity.templates) if entity else 0) for entity, p in self.choices]
        given = sizes[0][1]
        return sum(p * (given + size) for p, size in sizes[1:])


@dataclass(frozen=True, slots=True, eq=False)
class DocumentView:
    """A resolved text with the entity of each template, and its pair probabilities."""

    resolved: Resolved
    home: Mapping[str, Entity]
    templates: Mapping[str, Template]

    @classmethod
    def of(cls, resolved: Resolved) -> DocumentView:
        home = {name: entity for entity in resolved.entities for name in entity.templates}
        return cls(resolved, home, {template.id: template for template in resolved.templates})

    def belonging(self) -> dict[str, float]:
        """Return for each mention of several the probability that it belongs to its entity.

        That is the probability that it corefers with the entity's most central mention, the one
        with the greatest sum of such probabilities, by the first set that holds both.
        """
        found: dict[str, float] = {}
        for distribution in self.resolved.distributions:
            value, ids = distribution.marginals.value, distribution.set.ids
            for places in self._cells(distribution).values():
                if len(places) > 1:
                    block = np.minimum(value[np.ix_(places, places)], 1.0)
                    np.fill_diagonal(block, 1.0)
                    row = block[int(block.sum(axis=0).argmax())]
                    for place, share in zip(places, row.tolist(), strict=True):
                        found.setdefault(ids[place], share)
        return found

    def decisions(self, below: float = math.inf) -> Iterator[Decision]:
        """Yield for each mention what it may belong to, by the first set that holds it.

        Only if the probability of each choice is below this.
        """
        done: set[str] = set()
        for distribution in self.resolved.distributions:
            homes = [self.home[name] for name in distribution.set.ids]
            names = list(dict.fromkeys(home.id for home in homes))
            places = {name: n for n, name in enumerate(names)}
            labels = np.array([places[home.id] for home in homes])
            entities = {home.id: home for home in homes}
            ordered = [entities[name] for name in names]
            value = distribution.marginals.value
            for place, template in enumerate(distribution.set.templates):
                if template.id not in done and place:
                    shares = entity_shares(value[place, :place], labels[:place])
                    if max(float(shares.max()), 1.0 - float(shares.sum())) < below:
                        yield _decision(template, shares, ordered)
            done |= set(distribution.set.ids)

    def _cells(self, distribution: Distribution) -> dict[str, list[int]]:
        """Return the places of each entity's templates in a set."""
        cells: dict[str, list[int]] = {}
        for place, name in enumerate(distribution.set.ids):
            cells.setdefault(self.home[name].id, []).append(place)
        return cells


def _decision(template: Template, shares: FloatArray, entities: Sequence[Entity]) -> Decision:
    choices: list[tuple[Entity | None, float]] = [
        (entities[n], float(shares[n])) for n in np.flatnonzero(shares).tolist()
    ]
    choices.append((None, max(0.0, 1.0 - float(shares.sum()))))
    return Decision(template, tuple(sorted(choices, key=lambda choice: -choice[1])))


def _entities(view: DocumentView, width: int, colour: bool) -> Iterator[str]:
    several = [e for e in by_mentions(view.resolved.entities) if len(e.templates) > 1]
    if several:
        yield ""
        yield bold(f"{'Entities':{LABEL}}  {'type':22}mentions  right share", colour)
    belonging = view.belonging()
    for entity in several[:MAX_ENTITIES]:
        yield _heading(entity, right_share(entity, belonging), colour)
        yield from _expressions(entity, view.templates, belonging, width)
        yield from _likely_slots(entity, width)
    if len(several) > MAX_ENTITIES:
        yield f"and {len(several) - MAX_ENTITIES:,} more with two or more mentions"
    yield from _once(view.resolved.entities, width)


def right_share(entity: Entity, belonging: Mapping[str, float]) -> float:
    """Return the expected share of an entity's mentions that belong to it."""
    return sum(belonging.get(name, 1.0) for name in entity.templates) / len(entity.templates)


def _heading(entity: Entity, probability: float, colour: bool) -> str:
    name = bold(pad(cut_text(label(entity), LABEL), LABEL), colour)
    kind = pad(cut_text(_kind(entity), 22), 22)
    return f"{name}  {kind}{len(entity.templates):8,}  {probability:11.2f}"


def _kind(entity: Entity) -> str:
    """Return the type, with a narrower one if there is a likely one."""
    narrower = _likely(entity, "TYPE")
    return f"{entity.type}: {narrower}" if narrower else entity.type


def _likely(entity: Entity, slot: str) -> str:
    """Return the value of a slot if it is likely, with its probability unless that is near 1."""
    best = next((v for v in entity.slots.get(slot, ()) if v.value is not None), None)
    if best is None or best.probability < LIKELY:
        return ""
    return _plain(best.value, " / ")


def _expressions(
    entity: Entity, templates: Mapping[str, Template], belonging: Mapping[str, float], width: int
) -> Iterator[str]:
    """Yield the different expressions of an entity, the most frequent first.

    Those that belong to it less probably than not have a question mark, and come last.
    """
    counts: dict[tuple[bool, str], int] = {}
    for name in entity.templates:
        key = (belonging.get(name, 1.0) < BELONGS, one_line(templates[name].text))
        counts[key] = counts.get(key, 0) + 1
    shown = sorted(counts, key=lambda key: (key[0], -counts[key]))
    texts = [
        cut_text(text, 40) + " ?" * doubtful + (f" ×{times}" if times > 1 else "")
        for (doubtful, text), times in ((key, counts[key]) for key in shown)
    ]
    more = f", … {len(texts) - MAX_EXPRESSIONS} more" if len(texts) > MAX_EXPRESSIONS else ""
    yield from _wrapped(", ".join(texts[:MAX_EXPRESSIONS]) + more, width)


def _likely_slots(entity: Entity, width: int) -> Iterator[str]:
    for slot, values in entity.slots.items():
        best = next((value for value in values if value.value is not None), None)
        if slot in HIDDEN or best is None or best.probability < LIKELY:
            continue
        share = "" if best.probability >= 0.995 else f" ({best.probability:.2f})"
        status = "" if best.status == "asserted" else f", {best.status}"
        yield from _wrapped(f"{slot.lower()}: {_plain(best.value, ' / ')}{share}{status}", width)
    for denial in entity.denied:
        said = ", ".join(
            f"{slot.lower()} {_plain(value, ' / ')}" for slot, value in denial.slots.items()
        )
        yield from _wrapped(f"not {said}", width)


def _wrapped(text: str, width: int) -> list[str]:
    lines = textwrap.wrap(text, width - 4) or [""]
    return [
        f"    {lines[0]}",
        *(f"      {line}" for line in textwrap.wrap(" ".join(lines[1:]), width - 6)),
    ]


def _once(entities: Sequence[Entity], width: int) -> Iterator[str]:
    """Yield the entities with one mention: their names, and how many others there are."""
    once = [entity for entity in entities if len(entity.templates) == 1]
    if not once:
        return
    names = list(dict.fromkeys(one_line(entity.name) for entity in once if entity.name))
    shown = [cut_text(name, 30) for name in names[:MAX_ONCE]]
    others = len(once) - len(shown)
    listed = ", ".join(shown)
    rest = f"{others:,} more" if shown else count_text(others, "entity")
    text = ", ".join(filter(None, (listed, rest if others else "")))
    yield ""
    yield from textwrap.wrap(f"Mentioned once: {text}", width, subsequent_indent="  ")


def _decisions(view: DocumentView, width: int, colour: bool) -> Iterator[str]:
    """Yield the open decisions that matter most: those between entities with many mentions."""
    doubtful = [one for one in view.decisions(DOUBTFUL) if one.consequence >= MATTERS]
    if not doubtful:
        return
    by_text: dict[str, Decision] = {}  # the one of each text with the greatest consequence
    for one in sorted(doubtful, key=lambda one: (-one.consequence, one.template.start)):
        by_text.setdefault(one_line(one.template.text).lower(), one)
    most = list(by_text.values())[:MAX_DECISIONS]
    yield ""
    yield bold("Uncertain, what matters most first", colour)
    for one in most:
        yield _decision_line(one, width)
    if len(by_text) > len(most):
        yield f"  and {count_text(len(by_text) - len(most), 'more decision')}"


def _decision_line(decision: Decision, width: int) -> str:
    template = decision.template
    start = f'  "{cut_text(one_line(template.text), CHOICE)}" in sentence {template.sentence + 1}: '
    fitting = min(MAX_CHOICES, max(1, (width - columns(start)) // (NARROW + 7)))
    shown = [choice for choice in decision.choices if choice[1] >= MIN_SHOWN_CHOICE][:fitting]
    room = max(NARROW, (width - columns(start)) // len(shown) - 7)
    return start + ", ".join(
        f"{cut_text(label(entity), room) if entity else 'new'} {share:.2f}"
        for entity, share in shown
    )
