"""What a match builds: the values of a rule, made into functions of the match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from partita.extraction import values
from partita.extraction.ambiguity import SINGLE
from partita.extraction.compiling import Expression, Span, Spans
from partita.extraction.domain import Call, Filled, Literally, Reference, Value
from partita.extraction.phrases import Described, Phrase
from partita.extraction.tests import shown
from partita.templates.words import symbol

LONGEST = 2_000  # characters of a text that a value is read from


@dataclass(slots=True)
class Scene:
    """A match, and the phrases among which it stands."""

    items: list[Described]
    firsts: list[int]
    pieces: list[str]
    characters: str
    expression: Expression
    spans: Spans = ()
    phrases: dict[int, Phrase] = field(default_factory=dict)

    def span(self, label: str) -> Span | None:
        """The phrases that a label covers; the last round's, if it is repeated."""
        groups = self.expression.groups.get(label, ())
        if len(groups) == 1:
            span = self.spans[groups[0]]
            return span if span[1] > span[0] >= 0 else None
        return self.expression.spans(self.spans, label)

    def all(self, label: str) -> list[Described]:
        """The phrases that a label covers, in all rounds."""
        spans = self.expression.all_spans(self.characters, self.spans, label)
        return [item for start, end in spans for item in self.items[start:end]]

    def phrase(self, n: int) -> Phrase:
        """The phrase at a place of the sequence: always the same object."""
        if n not in self.phrases:
            self.phrases[n] = self.items[n].phrase(self.firsts[n], self.firsts[n + 1] - 1)
        return self.phrases[n]

    def text(self, span: Span) -> str:
        """As it stands in the message, white space made single."""
        first, last = self.firsts[span[0]], self.firsts[span[1]]
        return "".join(self.pieces[first:last]).rstrip()


Maker = Callable[[Scene], Any]


def maker(value: Value) -> Maker:
    """The function that gives the value of a match; None is nothing."""
    if isinstance(value, Literally):
        return lambda scene: value.value
    if isinstance(value, Call):
        return _calling(value)
    if isinstance(value, Filled):
        return _filling({slot: maker(one) for slot, one in value.slots.items()})
    return _referring(value)


def _referring(value: Reference) -> Maker:
    label, attribute = value.label, value.attribute

    def whole(scene: Scene) -> Any:
        span = scene.span(label)
        return scene.text(span) if span else None

    def last(scene: Scene) -> Any:
        span = scene.span(label)
        return scene.items[span[1] - 1].attributes.get(attribute) if span else None

    def first(scene: Scene) -> Any:
        span = scene.span(label)
        return scene.items[span[0]].attributes.get(attribute) if span else None

    def every(scene: Scene) -> Any:
        found = (item.attributes.get(attribute) for item in scene.all(label))
        return _flat(one for one in found if one is not None) or None

    def count(scene: Scene) -> Any:
        return len(scene.all(label))

    return {"text": whole, "last": last, "first": first, "all": every, "count": count}[value.which]


def _calling(call: Call) -> Maker:
    arguments = [maker(one) for one in call.arguments]
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
    """A rule's `build`, made ready."""

    kind: str
    makers: list[tuple[str, Maker]]
    rule: str

    @classmethod
    def of(cls, rule: str, build: Mapping[str, Value]) -> Builder:
        kind = build["kind"]
        assert isinstance(kind, Literally)
        made = [(name, maker(value)) for name, value in build.items() if name != "kind"]
        return cls(str(kind.value), made, rule)

    def attributes(self, scene: Scene) -> dict[str, Any]:
        """Of the phrase that the match becomes."""
        start, end = scene.spans[0]
        begins = scene.items[start].attributes
        made: dict[str, Any] = {"kind": self.kind, "text": scene.text((start, end))}
        made["region"] = begins.get("region", "")
        if "column" in begins:
            made["column"] = begins["column"]
        says = [
            item.attributes["says"] for item in scene.items[start:end] if "says" in item.attributes
        ]
        if says:
            made["says"] = together(tuple(says))
        for name, make in self.makers:
            value = make(scene)
            if value is not None:
                made[name] = one_value(name, value)
        return made
