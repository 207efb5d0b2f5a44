"""Write entities as standoff annotation of brat, beside the unchanged text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from partita.core import Entity, Template
from partita.results.corefud import spans_of
from partita.text.expressions import Span

MENTION = "Mention"  # the type of a mention without one
FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]+")
LINE = re.compile(r"[\S \xa0]*\S")  # up to the last visible character before a line end or tab
TYPE = re.compile(r"^T\d+\t([A-Za-z0-9_-]+) ", re.MULTILINE)


def brat_annotation(text: str, templates: Sequence[Template], entities: Sequence[Entity]) -> str:
    """Return the contents of an .ann file: mentions, and for each entity the mentions of it.

    Mentions are T1, T2 and so on in text order. An entity of several mentions is a relation Coref
    among them with a note that gives its name and probability. A mention that covers a line end is
    written as fragments, as brat wants it; an empty one is left out.
    """
    homes = {one: entity for entity in entities for one in entity.templates}
    names: dict[str, str] = {}
    lines = []
    for template in templates:
        if fragments := [part for span in spans_of(template) for part in _fragments(text, span)]:
            names[template.id] = f"T{len(names) + 1}"
            kind = _type(homes[template.id].type or template.type)
            lines.append(_mention(names[template.id], kind, fragments, text))
    return "".join([*lines, *_entities(entities, names)])


def _fragments(text: str, span: Span) -> Iterator[Span]:
    """Yield the parts of a span on each line, without white space around them."""
    for match in LINE.finditer(text, *span):
        skipped = len(match[0]) - len(match[0].lstrip())
        yield match.start() + skipped, match.end()


def _type(entity_type: str) -> str:
    return FORBIDDEN.sub("_", entity_type).strip("_") or MENTION


def _mention(name: str, kind: str, fragments: Sequence[Span], text: str) -> str:
    places = ";".join(f"{start} {end}" for start, end in fragments)
    words = " ".join(text[start:end] for start, end in fragments)
    return f"{name}\t{kind} {places}\t{words}\n"


def _entities(entities: Sequence[Entity], names: dict[str, str]) -> Iterator[str]:
    number = 0
    for entity in entities:
        members = [names[one] for one in entity.templates if one in names]
        if len(members) > 1:
            number += 1
            called = " ".join(f"{entity.id} {entity.name}".split())
            yield f"*\tCoref {' '.join(members)}\n"
            yield (
                f"#{number}\tAnnotatorNotes {members[0]}\t{called}: "
                f"probability {entity.probability:.4f}\n"
            )


def brat_configuration(annotations: Iterable[str]) -> str:
    """Return the contents of annotation.conf: the types of all mentions and the relation Coref."""
    types = sorted({kind for one in annotations for kind in TYPE.findall(one)}) or [MENTION]
    relation = "Coref\tArg1:<ENTITY>, Arg2:<ENTITY>, <REL-TYPE>:symmetric-transitive"
    return "\n".join(
        ["[entities]", *types, "[relations]", relation, "[events]", "[attributes]", ""]
    )
