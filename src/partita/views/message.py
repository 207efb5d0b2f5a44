"""A message as a person reads it in a terminal: its entities, its sets, and what is uncertain."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from partita.pipeline import Resolved
from partita.records import Distribution, Entity, Figure, SlotValue, Template
from partita.views.distribution import configuration_rows, heading
from partita.views.layout import (
    bar,
    bold,
    clean,
    coloured,
    columns,
    cut,
    figure,
    how,
    indented,
    left_out,
    number,
    padded,
    ranged,
)

SURE = 0.99995  # what rounds to 1 needs no number
OPEN = 0.1  # a pair whose probability is this far from 0 and from 1 is uncertain
MOST = 6  # uncertain pairs shown
INDENT = 4


def report(found: Resolved, width: int = 80, colour: bool = False) -> str:
    """The whole message, at most `width` columns wide."""
    texts = {template.id: _said(template.text) for template in found.templates}
    parts = [bold(cut(_title(found), width), colour), _counted(found)]
    for entity in found.entities:
        parts += _entity(entity, texts, width, colour)
    for distribution in found.distributions:
        parts += ["", *_set(distribution, width, colour)]
        parts += _uncertain(distribution, texts, width)
    return "\n".join(parts) + "\n"


def line(found: Resolved, width: int = 80) -> str:
    """The message in one line."""
    told = f"{_said(found.message.id)}: {_counted(found)}"
    merged = [entity for entity in found.entities if len(entity.templates) > 1]
    if merged:
        least = min(merged, key=lambda entity: entity.probability)
        cell = f"({' '.join(map(clean, least.templates))})"
        told += f"; least sure {cell} {number(least.probability)}"
    return cut(told, width)


def _title(found: Resolved) -> str:
    name, file = _said(found.message.id), _said(found.message.file)
    return f"{name} ({file})" if file else name


def _counted(found: Resolved) -> str:
    return counted(len(found.templates), len(found.distributions), len(found.entities))


def counted(templates: int, sets: int, entities: int) -> str:
    """How much there is, in words."""
    sizes = {"template": templates, "set": sets, "entity": entities}
    return ", ".join(_many(count, noun) for noun, count in sizes.items())


def _many(count: int, noun: str) -> str:
    plural = "entities" if noun == "entity" else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def _entity(entity: Entity, texts: Mapping[str, str], width: int, colour: bool) -> Iterator[str]:
    """How it is called, how sure its cell is, what it is made of, and what is said of it."""
    yield ""
    yield _head(entity, texts, width, colour)
    if not _alone(entity):
        wide = max(columns(clean(name)) for name in entity.templates)
        for name in entity.templates:
            told = f"{' ' * INDENT}{padded(clean(name), wide)}  {texts.get(name, '')}"
            yield cut(told.rstrip(), width)
    yield from _slots(entity, width)


def _head(entity: Entity, texts: Mapping[str, str], width: int, colour: bool) -> str:
    """A template that is alone is what it is: no probability is told."""
    called = entity.name or next(iter(entity.descriptions), texts.get(entity.anchor, ""))
    told = "  ".join(filter(None, (entity.id, entity.sort, _said(called))))
    if _alone(entity):
        return bold(cut(told, width), colour)
    share = _probability(entity.figure)
    room = width - len(share) - 20
    drawn = coloured(bar(entity.probability), colour)
    return f"{bold(padded(cut(told, room), room), colour)}  {share}  {drawn}".rstrip()


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


def _value(value: SlotValue) -> str:
    told = "unknown" if value.value is None else _plain(value.value)
    sure = value.probability >= SURE
    return told if sure else f"{told} {_probability(value.figure)}"


def _plain(value: str | int | list[str]) -> str:
    return " & ".join(map(_said, value)) if isinstance(value, list) else _said(str(value))


def _probability(given: Figure) -> str:
    return ranged(given.value, None if given.kind == "exact" else (given.low, given.high))


def _set(distribution: Distribution, width: int, colour: bool) -> Iterator[str]:
    yield bold(heading(distribution, width), colour)
    yield from configuration_rows(distribution, width, colour)
    yield from indented(left_out(distribution), width)
    told = f"entropy {figure(distribution.figures.entropy_bits)} bits; {how(distribution)}"
    yield from indented(told, width)


def _uncertain(distribution: Distribution, texts: Mapping[str, str], width: int) -> Iterator[str]:
    """The pairs of which neither yes nor no is nearly sure, the most doubtful first."""
    p = distribution.marginals.value
    left, right = np.nonzero(np.triu((p >= OPEN) & (p <= 1 - OPEN), 1))
    doubtful = np.argsort(np.abs(p[left, right] - 0.5), kind="stable").tolist()
    if not doubtful:
        return
    yield "  uncertain:"
    members = distribution.set.templates
    for n in doubtful[:MOST]:
        pair = (members[left[n]], members[right[n]])
        yield _pair(float(p[left[n], right[n]]), pair, texts, width)
    if len(doubtful) > MOST:
        yield f"    and {len(doubtful) - MOST:,} more pairs"


def _pair(p: float, pair: Sequence[Template], texts: Mapping[str, str], width: int) -> str:
    start = f"    {number(p)}  {clean(pair[0].id)} = {clean(pair[1].id)}  "
    room = max((width - columns(start) - 3) // 2, 8)
    said = " = ".join(cut(texts[one.id], room) for one in pair)
    return cut((start + said).rstrip(), width)


def _said(words: str) -> str:
    """On one line, whatever white space it had in the message."""
    return clean(" ".join(words.split()))
