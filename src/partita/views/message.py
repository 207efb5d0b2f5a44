"""A resolved message as text: its entities, sets and uncertain pairs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from partita.core import Distribution, Entity, Figure, SlotValue, Template
from partita.pipeline import Resolved
from partita.views.distribution import configuration_rows, heading, partial_rows
from partita.views.document import document_line, document_report
from partita.views.layout import (
    bold,
    clean,
    columns,
    count_text,
    cut_text,
    cyan,
    figure_text,
    indent,
    interval_of,
    method_reason,
    one_line,
    pad,
    probability_text,
    remainder_text,
    text_bar,
    with_interval,
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
    probability = _probability(entity.figure)
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
    return text if certain else f"{text} {_probability(value.figure)}"


def _plain(value: str | int | list[str]) -> str:
    return " & ".join(map(one_line, value)) if isinstance(value, list) else one_line(str(value))


def _probability(figure: Figure) -> str:
    return with_interval(*interval_of(figure))


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
