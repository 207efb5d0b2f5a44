"""Build the values and slot contributions of a match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from partita.errors import InputError
from partita.rules import values
from partita.rules.ambiguity import SINGLE
from partita.rules.compile import Expression, Span, Spans
from partita.rules.domain import Call, Contributing, Filled, Literally, Reference, Rule, Value
from partita.rules.phrases import Described, Phrase
from partita.rules.predicates import shown
from partita.templates.schema import Schema
from partita.templates.words import symbol

LONGEST = 2_000  # characters of a text that a value is read from
SPECIAL = SINGLE | {"sort", "says"}


@dataclass(slots=True)
class Scene:
    """A match, and the phrases among which it stands."""

    items: list[Described]
    firsts: list[int]
    pieces: list[str]
    characters: str
    spans: Spans = ()
    phrases: dict[int, Phrase] = field(default_factory=dict)

    def phrase(self, n: int) -> Phrase:
        """The phrase at a place of the sequence: always the same object."""
        if n not in self.phrases:
            self.phrases[n] = self.items[n].phrase(self.firsts[n], self.firsts[n + 1] - 1)
        return self.phrases[n]

    def text(self, span: Span) -> str:
        """As it stands in the message, white space made single."""
        start, end = span
        if end - start == 1:
            return str(self.items[start].attributes["text"])
        first, last = self.firsts[start], self.firsts[end]
        return "".join(self.pieces[first:last]).rstrip()


Maker = Callable[[Scene], Any]
Finder = Callable[[Scene], Span | None]


def finder(expression: Expression, label: str) -> Finder:
    """Where a label stands in a match: its last round, if it is repeated."""
    groups = expression.groups.get(label, [])
    if len(groups) != 1:
        return lambda scene: expression.spans(scene.spans, label)
    group = groups[0]

    def alone(scene: Scene) -> Span | None:
        span = scene.spans[group]
        return span if span[1] > span[0] else None

    return alone


def maker(value: Value, expression: Expression) -> Maker:
    """The function that gives the value of a match; None is nothing."""
    if isinstance(value, Literally):
        return lambda scene: value.value
    if isinstance(value, Call):
        return _calling(value, [maker(one, expression) for one in value.arguments])
    if isinstance(value, Filled):
        return _filling({slot: maker(one, expression) for slot, one in value.slots.items()})
    if value.which in ("all", "count"):
        return _gathering(value, expression)
    groups = expression.groups.get(value.label, [])
    if value.which == "last" and len(groups) == 1:
        return _plainly(groups[0], value.attribute)
    return _referring(value, finder(expression, value.label))


def _plainly(group: int, attribute: str) -> Maker:
    """The most frequent kind of value: an attribute of the phrase at the end of one group."""

    def last(scene: Scene) -> Any:
        start, end = scene.spans[group]
        return scene.items[end - 1].attributes.get(attribute) if end > start else None

    return last


def _referring(value: Reference, find: Finder) -> Maker:
    attribute = value.attribute

    def whole(scene: Scene) -> Any:
        span = find(scene)
        return scene.text(span) if span else None

    def last(scene: Scene) -> Any:
        span = find(scene)
        return scene.items[span[1] - 1].attributes.get(attribute) if span else None

    def first(scene: Scene) -> Any:
        span = find(scene)
        return scene.items[span[0]].attributes.get(attribute) if span else None

    return {"text": whole, "last": last}.get(value.which, first)


def _gathering(value: Reference, expression: Expression) -> Maker:
    def all_of(scene: Scene) -> list[Described]:
        spans = expression.all_spans(scene.characters, scene.spans, value.label)
        return [item for start, end in spans for item in scene.items[start:end]]

    def every(scene: Scene) -> Any:
        found = [item.attributes.get(value.attribute) for item in all_of(scene)]
        return _flat(one for one in found if one is not None) or None

    return every if value.which == "all" else lambda scene: len(all_of(scene))


def _calling(call: Call, arguments: list[Maker]) -> Maker:
    if call.function == "first":
        return lambda scene: next(
            (found for one in arguments if (found := one(scene)) is not None), None
        )
    if call.function == "join":
        return lambda scene: words(one(scene) for one in arguments) or None
    if call.function in ("upper", "lower"):
        change = str.upper if call.function == "upper" else str.lower
        return lambda scene: _mapped(arguments[0](scene), change)
    read: Callable[[str], Any] = getattr(values, call.function)

    def reading(scene: Scene) -> Any:
        text = words(one(scene) for one in arguments)
        return read(text) if text and len(text) <= LONGEST else None

    return reading


def _filling(slots: Mapping[str, Maker]) -> Maker:
    def filled(scene: Scene) -> Any:
        made = {slot: one(scene) for slot, one in slots.items()}
        return {slot: value for slot, value in made.items() if value is not None}

    return filled


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if value is None:
        return None
    if isinstance(value, tuple):
        return tuple(change(shown(one)) for one in value)
    return change(shown(value))


def _flat(found: Iterable[Any]) -> tuple[Any, ...]:
    """One list of what are single values and lists, each once."""
    flat: dict[Any, Any] = {}
    for one in found:
        for member in one if isinstance(one, tuple) else (one,):
            flat.setdefault(str(member), member)
    return tuple(flat.values())


def words(found: Iterable[Any]) -> str:
    """The texts of values, one after another."""
    return " ".join(shown(one) for one in _flat(one for one in found if one is not None))


def one_value(name: str, value: Any) -> Any:
    """A value as its attribute holds it: sorts are lists, what is tested as one value is one."""
    if name == "sort":
        return tuple(map(symbol, value if isinstance(value, tuple) else (str(value),)))
    if name == "says":
        return together(value)
    return words(value) if name in SINGLE and isinstance(value, tuple) else value


def together(value: Any) -> dict[str, Any]:
    """Slots of several phrases; of two that fill the same one the later."""
    each = value if isinstance(value, tuple) else (value,)
    return {slot: filled for one in each if isinstance(one, dict) for slot, filled in one.items()}


@dataclass(slots=True)
class Builder:
    """A rule's `build`, made ready: values that are always the same, and those of a match."""

    same: dict[str, Any]
    makers: list[tuple[str, Maker, bool]]  # attribute, value, whether the attribute is special
    rule: str

    @classmethod
    def of(cls, rule: str, build: Mapping[str, Value], expression: Expression) -> Builder:
        same = {
            name: one_value(name, value.value)
            for name, value in build.items()
            if isinstance(value, Literally) and value.value is not None
        }
        makers = [
            (name, maker(value, expression), name in SPECIAL)
            for name, value in build.items()
            if not isinstance(value, Literally)
        ]
        return cls(same, makers, rule)

    def attributes(self, scene: Scene, text: str) -> dict[str, Any]:
        """Of the phrase that the match becomes."""
        start, end = scene.spans[0]
        begins = scene.items[start].attributes
        made: dict[str, Any] = {"kind": "", "text": text, "region": begins["region"]}
        if "column" in begins:
            made["column"] = begins["column"]
        for item in scene.items[start:end]:
            if "says" in item.attributes:
                made["says"] = {**made.get("says", {}), **item.attributes["says"]}
        made.update(self.same)
        for name, make, special in self.makers:
            value = make(scene)
            if value is not None:
                made[name] = one_value(name, value) if special else value
        return made


@dataclass(frozen=True, slots=True, eq=False)
class Contribution:
    """Slots that a rule's match fills in the template of the phrase `about`.

    `first` and `last` are the tokens of the match, `size` the phrases that it covers; where two
    fill the same slot, the larger one counts, then the higher `priority`, then the lower `order`.
    """

    about: Phrase
    slots: Mapping[str, Any]
    sort: tuple[str, ...]
    rule: str
    first: int
    last: int
    size: int
    priority: int = 0
    order: int = 0

    @property
    def rank(self) -> tuple[int, int, int]:
        """The smallest of several goes first."""
        return -self.size, -self.priority, self.order


@dataclass(frozen=True, slots=True, eq=False)
class Refusal:
    """A value that the slot's type does not take."""

    contribution: Contribution
    slot: str
    value: Any
    reason: str


@dataclass(slots=True)
class Contributor:
    """A rule's `template`, made ready."""

    rule: str
    about: Finder
    slots: list[tuple[str, Maker]]
    sort: Maker | None
    says: list[Maker]
    priority: int = 0
    order: int = 0

    @classmethod
    def of(cls, rule: Rule, given: Contributing, order: int, found: Expression) -> Contributor:
        return cls(
            rule.name,
            finder(found, given.about),
            [(slot, maker(value, found)) for slot, value in given.slots.items()],
            maker(given.sort, found) if given.sort is not None else None,
            [maker(value, found) for value in given.says],
            rule.priority,
            order,
        )

    def contribution(self, scene: Scene) -> Contribution | None:
        """What this match says; nothing, if the phrase that it is about was left out."""
        about = self.about(scene)
        if about is None:
            return None
        n, (start, end) = about[1] - 1, scene.spans[0]
        slots: dict[str, Any] = {}
        for make in self.says:
            slots.update(together(make(scene)))
        for slot, make in self.slots:
            value = make(scene)
            if value is not None:
                slots[slot] = value
        sort = self.sort(scene) if self.sort else None
        phrase = scene.phrase(n)
        first, last = scene.firsts[start], scene.firsts[end] - 1
        sorts = one_value("sort", sort) if sort is not None else ()
        return Contribution(
            phrase, slots, sorts, self.rule, first, last, end - start, self.priority, self.order
        )


def fitting(schema: Schema, slot: str, value: Any) -> tuple[Any, str]:
    """The value as far as the slot's type takes it, and why not all of it."""
    if slot not in schema.slots:
        return None, f"there is no slot {slot}"
    if value == "":  # a rule says that there is nothing
        return None, ""
    read = schema.slots[slot].read
    try:
        return read(list(value) if isinstance(value, tuple) else value).json(), ""
    except InputError as error:
        reason = error.problem
    if not isinstance(value, tuple):
        return None, reason
    kept = [one for one in value if _takes(schema, slot, one)]
    if not kept:
        return None, reason
    fits, _ = fitting(schema, slot, tuple(kept)) if len(kept) < len(value) else (None, reason)
    return fits, reason


def _takes(schema: Schema, slot: str, value: Any) -> bool:
    try:
        schema.slots[slot].read(value)
    except InputError:
        return False
    return True
