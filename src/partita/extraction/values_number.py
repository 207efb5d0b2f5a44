"""Numbers in figures and words: twenty three → 23, 10-15 → 10..15, more than 20 → 21.., several.

A word below a hundred adds, hundred multiplies what stands before it, thousand and its powers
multiply and close a part: 2 million, three hundred thousand and five.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from partita.extraction.values_text import spelled

_WORDS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen"""
_TENFOLD = "twenty thirty forty fifty sixty seventy eighty ninety"
_RANKS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"""
_TENS = {word: 10 * n for n, word in enumerate(_TENFOLD.upper().split(), 2)}

_SMALL = {
    **{word: n for n, word in enumerate(_WORDS.upper().split())},
    **{word: n for n, word in enumerate(_RANKS.upper().split(), 1)},
    **_TENS,
    **{word[:-1] + "IETH": n for word, n in _TENS.items()},
    "NONE": 0,
}
_GREAT = {"THOUSAND": 10**3, "MILLION": 10**6, "BILLION": 10**9, "TRILLION": 10**12}
_TIMES = {"HUNDRED": 100, "DOZEN": 12, "SCORE": 20}
_MULTIPLES = {
    **_TIMES,
    **_GREAT,
    **{word + "TH": n for word, n in {"HUNDRED": 100, **_GREAT}.items()},
}
_GREATEST = {word + end for word in _GREAT for end in ("", "TH")}
_ANY = Fraction(10**31)
# What may be added behind a multiple: two hundred and five, not a dozen and five.
_ROOM = {word: Fraction(n) for word, n in _MULTIPLES.items() if word not in ("DOZEN", "SCORE")}
# "dozens" are at least two of them.
_MANY = {word + "S": f"{2 * n}.." for word, n in {**_TIMES, **_GREAT}.items()}
_VAGUE = re.compile(
    r"PLURAL|SEVERAL(?: OF)?|(?:A )?FEW|MANY|NUMEROUS|MULTIPLE|VARIOUS|(?:A )?COUPLE(?: OF)?"
    r"|A NUMBER OF"
)

_ABOUT = re.compile(
    r"(?:(?:APPROXIMATELY|APPROX|APPROX\.|ABOUT|AROUND|ROUGHLY|NEARLY|ALMOST|SOME|CIRCA|CA\.?"
    r"|ONLY|EXACTLY|JUST|AN ESTIMATED|ESTIMATED|AN?|THE|~) ?)(?=.)"
)
_BOUNDS = (
    (re.compile(r"(?=\d{1,30}\.\.$)"), "{}..", 0),
    (re.compile(r"(?=\.\.\d{1,30}$)"), "..{}", 0),
    (re.compile(r"(?:AT LEAST|NO (?:FEWER|LESS) THAN|MINIMUM OF|A MINIMUM OF) "), "{}..", 0),
    (re.compile(r"(?:MORE THAN|OVER|IN EXCESS OF|UPWARDS? OF|ABOVE|GREATER THAN) "), "{}..", 1),
    (re.compile(r"(?:AT MOST|UP TO|NO MORE THAN|AS MANY AS|A MAXIMUM OF) "), "..{}", 0),
    (re.compile(r"(?:FEWER THAN|LESS THAN|UNDER|BELOW) "), "..{}", -1),
)
_RANGE = re.compile(r"(?:BETWEEN |FROM )?(.+?)(?: ?- ?| TO | OR | AND |\.\.)(.+)")
_FIGURES = re.compile(r"(\d{1,3}(?:,\d{3})+|\d{1,30})(?:\.(\d{1,30}))?(?:ST|ND|RD|TH)?")


def number(text: str) -> int | str | None:
    """The number that a text gives, a range of numbers, PLURAL for "several", or None."""
    said = spelled(text)
    if _VAGUE.fullmatch(said):
        return "PLURAL"
    if (many := said.removesuffix(" OF")) in _MANY:
        return _MANY[many]
    for pattern, bound, step in _BOUNDS:
        if found := pattern.match(said):
            value = _exact(said[found.end() :].strip("."))
            return None if value is None or value + step < 0 else bound.format(value + step)
    value = _exact(said)
    return _range(said) if value is None else value


def amount(said: str) -> Fraction | None:
    """An exact number in figures or words, fractions included; in the spelling of `spelled`."""
    while said not in _MULTIPLES and (found := _ABOUT.match(said)):
        said = said[found.end() :]
    words = re.sub(r"(?<=[A-Z])-(?=[A-Z])|(?<=\d)-(?=[A-Z])", " ", said).split()
    if words[:1] == ["HALF"] and len(words) > 1:
        rest = amount(" ".join(words[1:]))
        return None if rest is None else rest / 2
    return _summed(words)


def _exact(said: str) -> int | None:
    value = amount(said)
    return int(value) if value is not None and value.denominator == 1 else None


def _range(said: str) -> str | None:
    found = _RANGE.fullmatch(said)
    if found is None:
        return None
    high, great = _exact(found[2]), found[2].split()[-1]
    low = _exact(f"{found[1]} {great}" if _shared(found[1], great) else found[1])
    return f"{low}..{high}" if low is not None and high is not None and low < high else None


def _shared(low: str, great: str) -> bool:
    """2 to 3 million are two million at least."""
    return great in _GREATEST and low.split()[-1:] != [great]


def _summed(words: Sequence[str]) -> Fraction | None:
    """Σ parts · thousands; None where a word is no number or stands where none can."""
    total, part, room = Fraction(0), None, _ANY
    for place, word in enumerate(words):
        if word == "AND" and 0 < place < len(words) - 1:
            continue
        value = _word(word)
        if word in _MULTIPLES:
            part = (Fraction(1) if part is None else part) * _MULTIPLES[word]
            room = _ROOM.get(word, Fraction(0))
        elif value is not None and value < room:
            part, room = (part or 0) + value, Fraction(10 if word in _TENS else 0)
        else:
            return None
        if word in _GREATEST:
            total, part = total + part, None
    return total + (part or 0) if words and words != ["AND"] else None


def _word(word: str) -> Fraction | None:
    if word in _SMALL:
        return Fraction(_SMALL[word])
    found = _FIGURES.fullmatch(word)
    if found is None or not word.isascii():
        return None
    return Fraction(f"{found[1].replace(',', '')}.{found[2] or 0}")
