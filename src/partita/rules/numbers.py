"""Parse numbers and measures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import prod

from partita.templates.measure import decimal, standard_units
from partita.templates.words import symbol

# No number, date, measure or coordinate is longer: what is, is not looked at.
LONGEST = 200

_DASHES = re.compile(r"[‐‑‒–—−]")


def spelled(text: str) -> str:
    """Upper case, single spaces, one kind of dash; nothing of what is too long to be a value."""
    if len(text) > LONGEST:
        return ""
    plain = symbol(_DASHES.sub("-", text))
    return plain if len(plain) <= LONGEST else ""


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


_PHRASES = (
    (re.compile(r"\b(?:SQUARE|SQ\.?) (?:KILOMET(?:ER|RE)S?|KMS?)$"), "km2"),
    (re.compile(r"\b(?:SQUARE|SQ\.?) (?:MET(?:ER|RE)S?|M)$"), "m2"),
    (re.compile(r"\bCUBIC (?:MET(?:ER|RE)S?|M)$"), "m3"),
    (re.compile(r"\bNAUTICAL MILES?$"), "nm"),
    (re.compile(r"\bMETRIC TONS?$"), "t"),
    (re.compile(r"(?:\bKILOMET(?:ER|RE)S?|KM) (?:PER|AN) HOUR$"), "km/h"),
    (re.compile(r"\bMILES (?:PER|AN) HOUR$"), "mph"),
    (re.compile(r"(?:\bMET(?:ER|RE)S?|\bM) PER SECOND$"), "m/s"),
)
_UNIT = re.compile(r"(?<=[\d .-])([A-Z/]{1,12}[23²³]?)\.?$")
_BY = re.compile(r" ?[X×] ?| BY ")
_BETWEEN = re.compile(r"(?:BETWEEN |FROM )?(.+?)(?: ?- ?| TO | OR | AND |\.\.)(.+)")
_OPEN = (
    (re.compile(r"(?=[0-9./]+\.\.$)"), "{}.."),
    (re.compile(r"(?=\.\.[0-9./]+$)"), "..{}"),
    (re.compile(r"(?:AT LEAST|NO LESS THAN|MORE THAN|OVER|IN EXCESS OF|ABOVE) "), "{}.."),
    (re.compile(r"(?:AT MOST|UP TO|NO MORE THAN|LESS THAN|UNDER|BELOW|WITHIN) "), "..{}"),
)
_PART = re.compile(r"([0-9]{1,4}) ?/ ?([0-9]{1,4})")
_ONE = {"A": Fraction(1), "AN": Fraction(1), "HALF A": Fraction(1, 2), "HALF AN": Fraction(1, 2)}
_ODD = {"KMS": "km", "MTRS": "m", "MTR": "m", "KLICKS": "km", "KLICK": "km", "KGS": "kg"}


def measure(text: str) -> str | None:
    """The measure that a text gives, as slots of type measure read it, or None."""
    said = spelled(text)
    read = _unit(said)
    if read is None:
        return None
    unit, rest = read
    for pattern, bound in _OPEN:
        if found := pattern.match(rest):
            value = _size(rest[found.end() :].strip("."))
            return None if value is None else f"{bound.format(value)} {unit}"
    if (value := _size(rest)) is not None:
        return f"{value} {unit}"
    return _area(rest, unit) or _between(rest, unit)


def _unit(said: str) -> tuple[str, str] | None:
    """The unit at the end, in one spelling, and what stands before it."""
    for pattern, unit in _PHRASES:
        if found := pattern.search(said):
            return unit, said[: found.start()].rstrip(" -")
    found = _UNIT.search(said)
    if found is None or found[1] not in _spellings():
        return None
    return _spellings()[found[1]], said[: found.start()].rstrip(" -")


@cache
def _spellings() -> dict[str, str]:
    """Each way of writing a unit with the first one; upper case, as messages have it."""
    first: dict[tuple[str, Fraction], str] = {}
    for name, unit in standard_units().items():
        first.setdefault((unit.dimension, unit.size), name)
    units = standard_units().items()
    return {name.upper(): first[unit.dimension, unit.size] for name, unit in units} | _ODD


def _size(said: str) -> str | None:
    value = _ONE.get(said) or _fraction(said) or amount(said)
    return None if value is None else decimal(value)


def _fraction(said: str) -> Fraction | None:
    found = _PART.fullmatch(said)
    return Fraction(int(found[1]), int(found[2])) if found and int(found[2]) else None


def _area(said: str, unit: str) -> str | None:
    """Two lengths by each other are an area, three a volume; only metres have both."""
    sides = [amount(_bare(side, unit)) for side in _BY.split(said)]
    if unit not in ("m", "km") or len(sides) not in (2, 3):
        return None
    known = [side for side in sides if side is not None]
    power = f"{unit}{len(sides)}"
    if len(known) < len(sides) or power == "km3":
        return None
    return f"{decimal(prod(known, start=Fraction(1)))} {power}"


def _bare(said: str, unit: str) -> str:
    """A side without its unit, where that is the same: 5 m x 10 m."""
    read = _unit(said)
    return read[1] if read and read[0] == unit else said


def _between(said: str, unit: str) -> str | None:
    found = _BETWEEN.fullmatch(said)
    ends = [amount(_bare(end, unit)) for end in found.groups()] if found else []
    low, high = ends or (None, None)
    if low is None or high is None or not low < high:
        return None
    return f"{decimal(low)}..{decimal(high)} {unit}"
