"""Build the values and slot contributions of a match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from partita.errors import InputError
from partita.rules.compile import CompiledPattern, Span, Spans, compared_text
from partita.rules.domain import (
    Call,
    Constant,
    Reference,
    Rule,
    SlotMapping,
    TemplateRule,
    Value,
    labels_used,
)
from partita.rules.phrases import Phrase, SharedPhrase
from partita.rules.syntax import SINGLE_VALUED
from partita.rules.values import PARSERS
from partita.templates.schema import Schema
from partita.templates.slots import symbol

LONGEST = 2_000  # characters of a text that is parsed as a value
SPECIAL = SINGLE_VALUED | {"sort", "says"}


@dataclass(slots=True)
class MatchContext:
    """A match and the sequence of phrases in which it occurs."""

    items: list[SharedPhrase]
    firsts: list[int]
    pieces: list[str]
    characters: str
    spans: Spans = ()
    phrases: dict[int, Phrase] = field(default_factory=dict)

    def phrase(self, n: int) -> Phrase:
        """Return the phrase at a position, always as the same object."""
        if n not in self.phrases:
            self.phrases[n] = self.items[n].phrase(self.firsts[n], self.firsts[n + 1] - 1)
        return self.phrases[n]

    def text(self, span: Span) -> str:
        """Return the text of a span with single spaces."""
        start, end = span
        if end - start == 1:
            return str(self.items[start].attributes["text"])
        first, last = self.firsts[start], self.firsts[end]
        return "".join(self.pieces[first:last]).rstrip()


ValueFunction = Callable[[MatchContext], Any]
SpanFunction = Callable[[MatchContext], Span | None]


def label_finder(expression: CompiledPattern, label: str) -> SpanFunction:
    """Return a function that finds the span of a label, its last round if it is repeated."""
    groups = expression.groups.get(label, [])
    if len(groups) != 1:
        return lambda scene: expression.spans(scene.spans, label)
    group = groups[0]

    def alone(scene: MatchContext) -> Span | None:
        span = scene.spans[group]
        return span if span[1] > span[0] else None

    return alone


def compile_value(value: Value, expression: CompiledPattern) -> ValueFunction:
    """Return a function that computes the value for a match; None means no value."""
    if isinstance(value, Constant):
        return lambda scene: value.value
    if isinstance(value, Call):
        return _compile_call(value, [compile_value(part, expression) for part in value.arguments])
    if isinstance(value, SlotMapping):
        return _compile_slots(
            {slot: compile_value(part, expression) for slot, part in value.slots.items()}
        )
    if value.which in ("all", "count"):
        return _compile_all(value, expression)
    groups = expression.groups.get(value.label, [])
    if value.which == "last" and len(groups) == 1:
        return _compile_last(groups[0], value.attribute)
    return _compile_reference(value, label_finder(expression, value.label))


def _compile_last(group: int, attribute: str) -> ValueFunction:
    """Handle the most frequent kind of value: an attribute of the last phrase of one group."""

    def last(scene: MatchContext) -> Any:
        start, end = scene.spans[group]
        return scene.items[end - 1].attributes.get(attribute) if end > start else None

    return last


def _compile_reference(value: Reference, find: SpanFunction) -> ValueFunction:
    attribute = value.attribute

    def whole(scene: MatchContext) -> Any:
        span = find(scene)
        return scene.text(span) if span else None

    def last(scene: MatchContext) -> Any:
        span = find(scene)
        return scene.items[span[1] - 1].attributes.get(attribute) if span else None

    def first(scene: MatchContext) -> Any:
        span = find(scene)
        return scene.items[span[0]].attributes.get(attribute) if span else None

    return {"text": whole, "last": last}.get(value.which, first)


def _compile_all(value: Reference, expression: CompiledPattern) -> ValueFunction:
    def all_of(scene: MatchContext) -> list[SharedPhrase]:
        spans = expression.all_spans(scene.characters, scene.spans, value.label)
        return [item for start, end in spans for item in scene.items[start:end]]

    def every(scene: MatchContext) -> Any:
        attribute_values = [item.attributes.get(value.attribute) for item in all_of(scene)]
        return _flatten(each for each in attribute_values if each is not None) or None

    return every if value.which == "all" else lambda scene: len(all_of(scene))


def _compile_call(call: Call, arguments: list[ValueFunction]) -> ValueFunction:
    if call.function == "first":
        return lambda scene: next(
            (value for argument in arguments if (value := argument(scene)) is not None), None
        )
    if call.function == "join":
        return lambda scene: join_words(argument(scene) for argument in arguments) or None
    if call.function in ("upper", "lower"):
        change = str.upper if call.function == "upper" else str.lower
        return lambda scene: _map_texts(arguments[0](scene), change)
    read = PARSERS[call.function]

    def reading(scene: MatchContext) -> Any:
        text = join_words(argument(scene) for argument in arguments)
        return read(text) if text and len(text) <= LONGEST else None

    return reading


def _compile_slots(slots: Mapping[str, ValueFunction]) -> ValueFunction:
    def filled(scene: MatchContext) -> Any:
        filled_slots = {slot: function(scene) for slot, function in slots.items()}
        return {slot: value for slot, value in filled_slots.items() if value is not None}

    return filled


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    if value is None:
        return None
    if isinstance(value, tuple):
        return tuple(change(compared_text(member)) for member in value)
    return change(compared_text(value))


def _flatten(parts: Iterable[Any]) -> tuple[Any, ...]:
    """Flatten single values and lists into one list without duplicates."""
    flat: dict[Any, Any] = {}
    for part in parts:
        for member in part if isinstance(part, tuple) else (part,):
            flat.setdefault(str(member), member)
    return tuple(flat.values())


def join_words(parts: Iterable[Any]) -> str:
    """Join the texts of values with spaces."""
    return " ".join(map(compared_text, _flatten(part for part in parts if part is not None)))


def attribute_value(name: str, value: Any) -> Any:
    """Return a value in the form of its attribute: a list of types, slots, or a single value."""
    if name == "sort":
        return tuple(map(symbol, value if isinstance(value, tuple) else (str(value),)))
    if name == "says":
        return merge_slots(value)
    return join_words(value) if name in SINGLE_VALUED and isinstance(value, tuple) else value


def merge_slots(value: Any) -> dict[str, Any]:
    """Merge the slots of several phrases; the later phrase wins."""
    parts = value if isinstance(value, tuple) else (value,)
    return {
        slot: content for part in parts if isinstance(part, dict) for slot, content in part.items()
    }


@dataclass(slots=True)
class Builder:
    """A rule's compiled `build`: constant values, and values computed from a match."""

    same: dict[str, Any]
    # attribute, value, whether the attribute is special
    makers: list[tuple[str, ValueFunction, bool]]
    rule: str

    @classmethod
    def of(cls, rule: str, build: Mapping[str, Value], expression: CompiledPattern) -> Builder:
        same = {
            name: attribute_value(name, value.value)
            for name, value in build.items()
            if isinstance(value, Constant) and value.value is not None
        }
        makers = [
            (name, compile_value(value, expression), name in SPECIAL)
            for name, value in build.items()
            if not isinstance(value, Constant)
        ]
        return cls(same, makers, rule)

    def attributes(self, scene: MatchContext, text: str) -> dict[str, Any]:
        """Return the attributes of the phrase built from the match."""
        start, end = scene.spans[0]
        begins = scene.items[start].attributes
        attributes: dict[str, Any] = {"kind": "", "text": text, "region": begins["region"]}
        if "column" in begins:
            attributes["column"] = begins["column"]
        for item in scene.items[start:end]:
            if "says" in item.attributes:
                attributes["says"] = {**attributes.get("says", {}), **item.attributes["says"]}
        attributes.update(self.same)
        for name, make, special in self.makers:
            value = make(scene)
            if value is not None:
                attributes[name] = attribute_value(name, value) if special else value
        return attributes


@dataclass(frozen=True, slots=True, eq=False)
class Contribution:
    """Slots that a match fills in the template of the phrase `about`.

    `first` and `last` are the tokens of the match, `size` is the number of phrases in it. For the
    same slot the larger match wins, then the higher `priority`, then the lower `order`.
    """

    about: Phrase
    slots: Mapping[str, Any]
    type: tuple[str, ...]
    rule: str
    first: int
    last: int
    size: int
    priority: int = 0
    order: int = 0
    status: str = ""  # that the rule gives to its values
    evidence: tuple[int, ...] = ()  # tokens whose status the values have
    clause: bool = False  # whether the match has a verb
    roles: Mapping[str, tuple[Phrase, ...]] = field(default_factory=dict)  # of an event

    @property
    def rank(self) -> tuple[int, int, int]:
        """Return the sort key; the smallest rank wins."""
        return -self.size, -self.priority, self.order


@dataclass(slots=True)
class Contributor:
    """A rule's compiled `template`."""

    rule: str
    about: SpanFunction
    slots: list[tuple[str, ValueFunction]]
    type: ValueFunction | None
    says: list[ValueFunction]
    priority: int = 0
    order: int = 0
    status: str = ""
    evidence: tuple[SpanFunction, ...] = ()  # of the phrases that the values come from
    roles: tuple[tuple[str, SpanFunction], ...] = ()

    @classmethod
    def of(
        cls, rule: Rule, template: TemplateRule, order: int, expression: CompiledPattern
    ) -> Contributor:
        return cls(
            rule.name,
            label_finder(expression, template.about),
            [(slot, compile_value(value, expression)) for slot, value in template.slots.items()],
            compile_value(template.type, expression) if template.type is not None else None,
            [compile_value(value, expression) for value in template.says],
            rule.priority,
            order,
            template.status,
            tuple(label_finder(expression, label) for label in _evidence(template)),
            tuple(
                (slot, label_finder(expression, label)) for slot, label in template.roles.items()
            ),
        )

    def contribution(self, scene: MatchContext) -> Contribution | None:
        """Return the contribution of a match, or None if the phrase it is about is absent."""
        about = self.about(scene)
        if about is None:
            return None
        n, (start, end) = about[1] - 1, scene.spans[0]
        slots: dict[str, Any] = {}
        for make in self.says:
            slots.update(merge_slots(make(scene)))
        for slot, make in self.slots:
            value = make(scene)
            if value is not None:
                slots[slot] = value
        entity_type = self.type(scene) if self.type else None
        phrase = scene.phrase(n)
        first, last = scene.firsts[start], scene.firsts[end] - 1
        types = attribute_value("sort", entity_type) if entity_type is not None else ()
        spans = [span for find in self.evidence if (span := find(scene)) is not None]
        return Contribution(
            *(phrase, slots, types, self.rule, first, last, end - start),
            *(self.priority, self.order, self.status),
            tuple([_told_by(scene, span[1] - 1) for span in spans]),
            any(item.attributes.get("kind") == "vg" for item in scene.items[start:end]),
            {
                slot: tuple(groups)
                for slot, find in self.roles
                if (groups := _noun_groups(scene, find(scene)))
            },
        )


def _noun_groups(scene: MatchContext, span: Span | None) -> list[Phrase]:
    """Return the noun groups of a label: "the depot and the bridge" has two.

    The last of several is the subject of the next clause if a verb follows it that is not of this
    match.
    """
    if span is None:
        return []
    places = [n for n in range(*span) if scene.items[n].attributes.get("kind") == "ng"]
    after = scene.items[span[1]].attributes if span[1] < len(scene.items) else {}
    verb = after.get("kind") == "vg" and after.get("form") == "finite"
    if len(places) > 1 and verb and span[1] >= scene.spans[0][1]:
        places.pop()
    return [scene.phrase(n) for n in places]


def _told_by(scene: MatchContext, n: int) -> int:
    """Return the token of a phrase whose status its value has: the head, of a multiword the first.

    "Not operational" is one word of the lexicon, and denies nothing.
    """
    word = scene.items[n].attributes["kind"] == "word"
    return scene.firsts[n] if word else scene.firsts[n + 1] - 1


def _evidence(template: TemplateRule) -> list[str]:
    """Return the labels of the phrases that a template's values come from."""
    used = (label for value in template.slots.values() for label in labels_used(value))
    said = (label for value in template.says for label in labels_used(value))
    return [label for label in dict.fromkeys([*used, *said]) if label != template.about]


def fit_value(schema: Schema, slot: str, value: Any) -> tuple[Any, str]:
    """Return the part of a value that fits the slot's type, and the problem with the rest."""
    if slot not in schema.slots:
        return None, f"unknown slot {slot}"
    if value == "":  # the rule clears the slot
        return None, ""
    read = schema.slots[slot].read
    try:
        return read(list(value) if isinstance(value, tuple) else value).json(), ""
    except InputError as error:
        reason = error.problem
    if not isinstance(value, tuple):
        return None, reason
    members = [member for member in value if _fits(schema, slot, member)]
    if not members:
        return None, reason
    if len(members) == len(value):
        return None, reason
    return fit_value(schema, slot, tuple(members))[0], reason


def _fits(schema: Schema, slot: str, value: Any) -> bool:
    try:
        schema.slots[slot].read(value)
    except InputError:
        return False
    return True
