"""A text of a rule or of the lexicon, cut into words as a message is."""

from __future__ import annotations


def cut_words(text: str) -> tuple[str, ...]:
    """The words in lower case."""
    return tuple(text.lower().split())
