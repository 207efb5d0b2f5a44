"""Recall and precision of extraction and tagging."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from partita.core import Document, Template
from partita.core.templates import EVENT, KIND
from partita.errors import InputError
from partita.evaluation.scores import ScoreTally, Summable
from partita.templates.schema import OWN_TYPE, Schema, Values

NOTHING = ScoreTally()
WORD = re.compile(r"\w[\w'’-]*")
PART = re.compile(r"(.*?)[-_]?\d+")  # dev-007 is of the part dev

Group = Literal["all", "part", "form", "region", "matched", "slot"]
Place = tuple[int, int]
Met = tuple[Template | None, Template | None]  # of the key, of the extractor


@dataclass(frozen=True, slots=True)
class ExtractionCounts(Summable):
    """Counts of templates and slots.

    `less` and `more` count slots with a compatible value that says less or more than the key's.
    """

    templates: ScoreTally = NOTHING
    slots: ScoreTally = NOTHING
    less: int = 0
    more: int = 0


@dataclass(frozen=True, slots=True)
class StatusCounts(Summable):
    """Statuses of values against the key.

    `stated` counts values that the key denies and the extractor states. `denials` are the key's
    and the extractor's denied values; `right` of `values` that both have with equal content have
    the key's status, and `weak_right` of those `weak` that the key does not assert.
    """

    stated: int = 0
    denials: ScoreTally = NOTHING
    right: int = 0
    values: int = 0
    weak_right: int = 0
    weak: int = 0


@dataclass(frozen=True, slots=True)
class Slip:
    """A template that was missed or is not in the key, or a slot that differs from the key."""

    message: str
    kind: Literal["missed", "spurious", "slot"]
    text: str
    slot: str = ""
    wanted: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class ExtractionFigures:
    """Counts by group and name, and all differences from the key, in text order."""

    messages: int
    counts: Mapping[tuple[Group, str], ExtractionCounts]
    slips: tuple[Slip, ...]
    statuses: StatusCounts | None = None  # where the keys have statuses

    def of(self, group: Group, name: str = "") -> ExtractionCounts:
        return self.counts.get((group, name), ExtractionCounts())

    def group(self, group: Group) -> dict[str, ExtractionCounts]:
        return {name: counted for (of, name), counted in self.counts.items() if of == group}


def measure_extraction(
    pairs: Iterable[tuple[Document, Sequence[Template]]], schema: Schema
) -> ExtractionFigures:
    """Compare the templates of the extractor with the keys of messages.

    Keys without statuses tell what is asserted: values that are only possible or reported do not
    count against them. Nor do events count against keys that have none.
    """
    pairs, messages, slips, statuses = list(pairs), 0, list[Slip](), StatusCounts()
    if not any(_is_event(key) for document, _ in pairs for key in document.templates):
        pairs = [
            (document, [one for one in templates if not _is_event(one)])
            for document, templates in pairs
        ]
    graded = any(key.assertions for document, _ in pairs for key in document.templates)
    counts: defaultdict[tuple[Group, str], ExtractionCounts] = defaultdict(ExtractionCounts)
    for slot in schema.slots:
        counts["slot", slot] = ExtractionCounts()
    for document, templates in pairs:
        messages += 1
        for key, extracted in pair_templates(document.templates, templates):
            values = _values(document, key, schema), _values(document, extracted, schema)
            if graded:
                statuses += _statuses(key, extracted, values, schema)
            elif extracted is not None:
                values = values[0], _asserted(extracted, values, schema)
            for group, counted in _counts(part_of(document.name), (key, extracted), values, schema):
                counts[group] += counted
            slips += _slips(document.name, (key, extracted), values)
    return ExtractionFigures(messages, dict(counts), tuple(slips), statuses if graded else None)


def _is_event(template: Template) -> bool:
    return template.context.get(KIND) == EVENT


def _asserted(extracted: Template, values: tuple[Values, Values], schema: Schema) -> Values:
    """Return the asserted values, and others as far as the key has them."""
    firm = schema.firm(extracted)
    key, said = values
    return {
        name: value if value == key.get(name) else firm[name]
        for name, value in said.items()
        if value == key.get(name) or name in firm
    }


def _statuses(
    key: Template | None,
    extracted: Template | None,
    values: tuple[Values, Values],
    schema: Schema,
) -> StatusCounts:
    """Compare the statuses of one template's values, string by string."""
    wanted, said = (_by_value(template, schema) for template in (key, extracted))
    denied, found = ({v for v, s in some.items() if s == "denied"} for some in (wanted, said))
    both = [value for value in wanted if value in said and wanted[value] != "denied"]
    weak = [value for value in both if wanted[value] != "asserted"]
    return StatusCounts(
        sum(said.get(value, "denied") != "denied" for value in denied),
        ScoreTally(len(found & denied), len(denied), len(found & denied), len(found)),
        sum(wanted[value] == said[value] for value in both),
        len(both),
        sum(wanted[value] == said[value] for value in weak),
        len(weak),
    )


def _by_value(template: Template | None, schema: Schema) -> dict[tuple[str, str], str]:
    """Return the status of each value of a template, of each string where a slot has several."""
    if template is None:
        return {}
    found = dict.fromkeys(_single(schema.values(template)), "asserted")
    for slots, status in schema.not_asserted(template, "possible", "reported", "denied"):
        found |= dict.fromkeys(_single(slots), str(status))
    return found


def _single(values: Values) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        plain = value.json()
        members = plain if isinstance(plain, list) else [str(plain)]
        yield from ((name, member) for member in members if name != OWN_TYPE)


def part_of(name: str) -> str:
    """Return the part of a corpus that a message's name starts with, if any."""
    match = PART.fullmatch(name)
    return match[1] if match else ""


def pair_templates(key: Sequence[Template], extracted: Sequence[Template]) -> list[Met]:
    """Pair templates one to one, in text order; without a counterpart, with None."""
    met: dict[str, Template] = {}
    left = list(extracted)
    for place in (head_place, _span):
        met |= _matches([template for template in key if template.id not in met], left, place)
        matched = {template.id for template in met.values()}
        left = [template for template in extracted if template.id not in matched]
    both: list[Met] = [(template, met.get(template.id)) for template in key]
    return sorted([*both, *((None, template) for template in left)], key=_order)


def head_place(template: Template) -> Place:
    """Return the head word: the last that begins like the head without its y, or the last."""
    stem = template.head.casefold().removesuffix("y")
    words = list(WORD.finditer(template.text))
    heads = [word for word in words if word[0].casefold().startswith(stem)]
    if not words:
        return _span(template)
    start, end = (heads or words)[-1].span()
    return template.start + start, template.start + end


def _span(template: Template) -> Place:
    return template.start, template.end


def _matches(
    key: Iterable[Template], extracted: Iterable[Template], place: Callable[[Template], Place]
) -> dict[str, Template]:
    waiting: dict[Place, Template] = {}
    for template in extracted:
        waiting.setdefault(place(template), template)
    places = {template.id: place(template) for template in key}
    return {name: waiting.pop(at) for name, at in places.items() if at in waiting}


def _order(met: Met) -> Place:
    key, extracted = met
    template = key or extracted
    assert template is not None
    return _span(template)


def _values(document: Document, template: Template | None, schema: Schema) -> Values:
    """Return the template's slots; its type counts as a slot."""
    if template is None:
        return {}
    try:
        values = schema.values(template)
    except InputError as error:
        raise InputError(f"message {document.name!r}: {error.problem}") from None
    return {name: value for name, value in values.items() if name != OWN_TYPE}


def _counts(
    part: str, met: Met, values: tuple[Values, Values], schema: Schema
) -> Iterator[tuple[tuple[Group, str], ExtractionCounts]]:
    """Return the counts of a pair by group; each is counted by its own form and region."""
    alike = {name: _alike(name, values, schema) for name in values[0].keys() & values[1].keys()}
    both = met[0] is not None and met[1] is not None
    for side, template in enumerate(met):
        if template is not None:
            counted = _count(side, both, values[side], alike)
            yield ("all", ""), counted
            yield ("part", part), counted
            yield ("form", template.form), counted
            yield ("region", template.region), counted
            if both:
                yield ("matched", ""), counted
            for name in values[side]:
                yield ("slot", name), replace(_count(side, both, [name], alike), templates=NOTHING)


def _count(
    side: int, both: bool, names: Iterable[str], alike: Mapping[str, str]
) -> ExtractionCounts:
    """Return the counts of a template of the key (side 0) or of the extractor."""
    verdicts = [alike.get(name, "") for name in names]
    right, all_of = verdicts.count("equal"), len(verdicts)
    if side:
        return ExtractionCounts(
            ScoreTally(right=both, said=1), ScoreTally(right=right, said=all_of)
        )
    return ExtractionCounts(
        ScoreTally(found=both, wanted=1),
        ScoreTally(found=right, wanted=all_of),
        verdicts.count("less"),
        verdicts.count("more"),
    )


def _alike(name: str, values: tuple[Values, Values], schema: Schema) -> str:
    """Compare the extractor's value with the key's: equal, less, more or other."""
    expected, extracted = values[0][name], values[1][name]
    if expected == extracted:
        return "equal"
    together = schema.slot(name).unify(expected, extracted)
    if together == expected:
        return "less"
    return "more" if together == extracted else "other"


def _slips(message: str, met: Met, values: tuple[Values, Values]) -> Iterator[Slip]:
    key, extracted = met
    if key is None or extracted is None:
        template = key or extracted
        assert template is not None
        yield Slip(message, "missed" if extracted is None else "spurious", _text(template))
        return
    for name in dict.fromkeys([*values[0], *values[1]]):
        expected, value = values[0].get(name), values[1].get(name)
        if expected != value:
            yield Slip(message, "slot", _text(key), name, str(expected or ""), str(value or ""))


def _text(template: Template) -> str:
    return " ".join(template.text.split())
