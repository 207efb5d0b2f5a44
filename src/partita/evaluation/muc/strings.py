"""Whether a string of a response is the key's, part of it, or another: what a person was asked.

The words of both are compared without small words: equal, or the key's with further modifiers,
is correct; some of the key's words, its last one among them or all of a name's part, is partial.
"""

from __future__ import annotations

import re
from functools import lru_cache

from partita.evaluation.muc.verdicts import CORRECT, INCORRECT, PARTIAL, Verdict

_WORD = re.compile(r"[A-Z0-9ÁÉÍÓÚÑÜ]+(?:'(?!S\b)[A-Z]+)?")
_ASIDE = re.compile(r"[\[(][^\])]*[\])]")
_SMALL = frozenset(
    _WORD.findall(
        "THE A AN THIS THAT THESE THOSE HIS HER ITS THEIR OUR SOME SEVERAL MANY ANOTHER OTHER OF "
        "IN ON AT TO BY FOR FROM WITH AND OR S ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN "
        "ELEVEN TWELVE ABOUT APPROXIMATELY LEAST MORE THAN ALLEGED UNIDENTIFIED MR MRS DR"
    )
)
_NATIONS = frozenset(
    _WORD.findall(
        "SALVADORAN COLOMBIAN PERUVIAN GUATEMALAN HONDURAN CHILEAN BOLIVIAN ECUADORAN ECUADOREAN "
        "ARGENTINE ARGENTINIAN VENEZUELAN NICARAGUAN PANAMANIAN AMERICAN U SPANISH ITALIAN"
    )
)
_LINKS = frozenset(
    _WORD.findall("OF IN ON AT TO BY FOR FROM WITH WHO WHICH THAT WHILE DURING AFTER")
)


def judge(response: str, key: str) -> Verdict:
    """Of two strings; nothing that they share says that the response is correct."""
    given, wanted = _words(response), _words(key)
    if given == wanted or _words(_ASIDE.sub(" ", response)) == wanted:
        return CORRECT
    if not given or not wanted:
        return INCORRECT
    if _within(wanted, given):
        return CORRECT if _head(response) == _head(key) or wanted[-1] == given[-1] else PARTIAL
    if _within(given, wanted) or _head(response) == _head(key):
        return PARTIAL
    return INCORRECT


@lru_cache(maxsize=1 << 16)
def _words(text: str) -> tuple[str, ...]:
    """The words that tell something; all of them where none does."""
    found = tuple(_WORD.findall(text.upper()))
    return tuple(w for w in found if w not in _SMALL and w not in _NATIONS) or found


@lru_cache(maxsize=1 << 16)
def _head(text: str) -> str:
    """The last word before a preposition, a relative pronoun or a comma."""
    first = re.split(r"[,;]", _ASIDE.sub(" ", text.upper()))[0]
    head = ""
    for word in _WORD.findall(first):
        if word in _LINKS and head:
            break
        head = word
    return head


def _within(few: tuple[str, ...], many: tuple[str, ...]) -> bool:
    """One after another, without a gap."""
    return any(many[n : n + len(few)] == few for n in range(len(many) - len(few) + 1))
