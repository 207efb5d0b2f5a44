"""Phrases: spans of tokens with attributes and the rule that built them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partita.rules.lexicon import Multiword

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
class SharedPhrase:
    """The attributes of a phrase, with the character that each phase reads for it.

    All occurrences of a word with the same tag in the same kind of region share one. A phrase
    built by a rule also has its parts.
    """

    attributes: dict[str, Any]
    characters: list[str]
    rule: str = ""
    parts: tuple[SharedPhrase, ...] = ()
    offsets: tuple[int, ...] = ()  # first tokens of the parts, relative to the phrase
    longer: Mapping[str, Sequence[Multiword]] | None = (
        None  # multiwords that begin with it, by second word
    )

    def phrase(self, first: int, last: int) -> Phrase:
        """Return the phrase at these tokens."""
        starts = [first + offset for offset in self.offsets]
        ends = [*(start - 1 for start in starts[1:]), last]
        parts = tuple(p.phrase(a, b) for p, a, b in zip(self.parts, starts, ends, strict=False))
        return Phrase(self.attributes["kind"], first, last, self.attributes, parts, self.rule)


def has_value(value: object) -> bool:
    """Return whether an attribute has a value: not missing, false or empty."""
    return value is not None and value is not False and value != "" and value != ()
