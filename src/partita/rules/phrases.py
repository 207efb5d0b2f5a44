"""Phrases: runs of tokens with attributes and the rule that built them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partita.rules.lexicon import Longer

Attributes = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Phrase:
    """The tokens from `first` to `last`, both included; a word has no parts and no rule."""

    kind: str
    first: int
    last: int
    attributes: Attributes
    parts: tuple[Phrase, ...] = ()
    rule: str = ""

    @property
    def text(self) -> str:
        return str(self.attributes.get("text", ""))


@dataclass(slots=True, eq=False)
class Described:
    """What is said of a phrase, with the character that each phase reads for it.

    All occurrences of a word with the same tag in the same kind of region share one; what a
    rule has built also has the phrases that it was built of.
    """

    attributes: dict[str, Any]
    characters: list[str]
    rule: str = ""
    parts: tuple[Described, ...] = ()
    offsets: tuple[int, ...] = ()  # of the parts' first tokens, from the phrase's own
    longer: Mapping[str, Sequence[Longer]] | None = None  # that begin so, by their second word

    def phrase(self, first: int, last: int) -> Phrase:
        """The phrase at these tokens."""
        starts = [first + offset for offset in self.offsets]
        ends = [*(start - 1 for start in starts[1:]), last]
        parts = tuple(p.phrase(a, b) for p, a, b in zip(self.parts, starts, ends, strict=False))
        return Phrase(self.attributes["kind"], first, last, self.attributes, parts, self.rule)


def truth(value: object) -> bool:
    """Whether an attribute says something: not missing, not false, not empty."""
    return value is not None and value is not False and value != "" and value != ()
