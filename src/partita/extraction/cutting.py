"""A text of a rule or of the lexicon, cut into words as a message is."""

from __future__ import annotations

import re

from partita.extraction.tokens_scanner import scan

_PLAIN = re.compile(r"[a-z]+(?: [a-z]+)*")
_CLITICS = ("cannot", "gonna", "wanna", "gotta")


def cut_words(text: str) -> tuple[str, ...]:
    """The words in lower case."""
    low = text.lower()
    if _PLAIN.fullmatch(low) and not any(word in low for word in _CLITICS):
        return tuple(low.split())
    return tuple(word.lower() for word in scan(text, 0, len(text))[0])
