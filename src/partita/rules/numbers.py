"""Parse numbers and measures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import prod

from partita.templates.measure import decimal, standard_units
from partita.templates.words import symbol

# Longer texts are not parsed as numbers, dates, measures or coordinates.
LONGEST = 200

_DASHES = re.compile(r"[‐‑‒–—−]")


def normalise(text: str) -> str:
    """Return a text in upper case with single spaces and plain dashes; empty if too long."""
    if len(text) > LONGEST:
        return ""
    plain = symbol(_DASHES.sub("-", text))
    return plain if len(plain) <= LONGEST else ""


_WORDS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen"""
BELOW_TWENTY = tuple(_WORDS.upper().split())
_TENFOLD = "twenty thirty forty fifty sixty seventy eighty ninety"
_RANKS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"""
TENS = {word: 10 * n for n, word in enumerate(_TENFOLD.upper().split(), 2)}

_SMALL = {
    **{word: n for n, word in enumerate(BELOW_TWENTY)},
    **{word: n for n, word in enumerate(_RANKS.upper().split(), 1)},
    **TENS,
    **{word[:-1] + "IETH": n for word, n in TENS.items()},
    "NONE": 0,
}
_POWERS = {"THOUSAND": 10**3, "MILLION": 10**6, "BILLION": 10**9, "TRILLION": 10**12}
_COUNTS = {"HUNDRED": 100, "DOZEN": 12, "SCORE": 20}
_MULTIPLES = {
    **_COUNTS,
    **_POWERS,
    **{word + "TH": n for word, n in {"HUNDRED": 100, **_POWERS}.items()},
}
_POWER_WORDS = {word + end for word in _POWERS for end in ("", "TH")}
_ANY = Fraction(10**31)
# Multiples after which a number may be added: two hundred and five, not a dozen and five.
_ADDABLE = {word: Fraction(n) for word, n in _MULTIPLES.items() if word not in ("DOZEN", "SCORE")}
# "dozens" are at least two of them.
_MANY = {word + "S": f"{2 * n}.." for word, n in {**_COUNTS, **_POWERS}.items()}
_VAGUE = re.compile(
    r"PLURAL|SEVERAL(?: OF)?|(?:A )?FEW|MANY|NUMEROUS|MULTIPLE|VARIOUS|(?:A )?COUPLE(?: OF)?"
    r"|A NUMBER OF"
)

_ABOUT = re.compile(
    r"(?:(?:APPROXIMATELY|APPROX|APPROX\.|APRX|ABT|ABOUT|AROUND|ROUGHLY|NEARLY|ALMOST|SOME|CIRCA|CA\.?"
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
    """Return the number in a text, a range, PLURAL for "several", or None."""
    normalised = normalise(text)
    if _VAGUE.fullmatch(normalised):
        return "PLURAL"
    if (word := normalised.removesuffix(" OF")) in _MANY:
        return _MANY[word]
    for pattern, bound, step in _BOUNDS:
        if match := pattern.match(normalised):
            value = _exact(normalised[match.end() :].strip("."))
            return None if value is None or value + step < 0 else bound.format(value + step)
    value = _exact(normalised)
    return _range(normalised) if value is None else value


def amount(normalised: str) -> Fraction | None:
    """Return an exact number from figures or words, fractions included, or None."""
    while normalised not in _MULTIPLES and (match := _ABOUT.match(normalised)):
        normalised = normalised[match.end() :]
    words = re.sub(r"(?<=[A-Z])-(?=[A-Z])|(?<=\d)-(?=[A-Z])", " ", normalised).split()
    if words[:1] == ["HALF"] and len(words) > 1:
        rest = amount(" ".join(words[1:]))
        return None if rest is None else rest / 2
    return _sum_words(words)


def _exact(normalised: str) -> int | None:
    value = amount(normalised)
    return int(value) if value is not None and value.denominator == 1 else None


def _range(normalised: str) -> str | None:
    match = _RANGE.fullmatch(normalised)
    if match is None:
        return None
    high, multiple = _exact(match[2]), match[2].split()[-1]
    low = _exact(f"{match[1]} {multiple}" if _shares_multiple(match[1], multiple) else match[1])
    return f"{low}..{high}" if low is not None and high is not None and low < high else None


def _shares_multiple(low: str, multiple: str) -> bool:
    """Return whether the low end shares the multiple: 2 to 3 million starts at two million."""
    return multiple in _POWER_WORDS and low.split()[-1:] != [multiple]


def _sum_words(words: Sequence[str]) -> Fraction | None:
    """Return Σ parts · thousands, or None if a word is no number or out of place."""
    total, part, room = Fraction(0), None, _ANY
    for place, word in enumerate(words):
        if word == "AND" and 0 < place < len(words) - 1:
            continue
        value = _word(word)
        if word in _MULTIPLES:
            part = (Fraction(1) if part is None else part) * _MULTIPLES[word]
            room = _ADDABLE.get(word, Fraction(0))
        elif value is not None and value < room:
            part, room = (part or 0) + value, Fraction(10 if word in TENS else 0)
        else:
            return None
        if word in _POWER_WORDS:
            total, part = total + part, None
    return total + (part or 0) if words and words != ["AND"] else None


def _word(word: str) -> Fraction | None:
    if word in _SMALL:
        return Fraction(_SMALL[word])
    match = _FIGURES.fullmatch(word)
    if match is None or not word.isascii():
        return None
    return Fraction(f"{match[1].replace(',', '')}.{match[2] or 0}")


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
_TIMES_SIGN = re.compile(r" ?[X×] ?| BY ")
_BETWEEN = re.compile(r"(?:BETWEEN |FROM )?(.+?)(?: ?- ?| TO | OR | AND |\.\.)(.+)")
_OPEN = (
    (re.compile(r"(?=[0-9./]+\.\.$)"), "{}.."),
    (re.compile(r"(?=\.\.[0-9./]+$)"), "..{}"),
    (re.compile(r"(?:AT LEAST|NO LESS THAN|MORE THAN|OVER|IN EXCESS OF|ABOVE) "), "{}.."),
    (re.compile(r"(?:AT MOST|UP TO|NO MORE THAN|LESS THAN|UNDER|BELOW|WITHIN) "), "..{}"),
)
_PART = re.compile(r"([0-9]{1,4}) ?/ ?([0-9]{1,4})")
_ONE = {"A": Fraction(1), "AN": Fraction(1), "HALF A": Fraction(1, 2), "HALF AN": Fraction(1, 2)}
_VARIANTS = {"KMS": "km", "MTRS": "m", "MTR": "m", "KLICKS": "km", "KLICK": "km", "KGS": "kg"}


_CURRENCIES = {
    "USD": "USD US$ $ DOLLAR DOLLARS BUCKS",
    "EUR": "EUR € EURO EUROS",
    "GBP": "GBP £ STERLING QUID",
    "JPY": "JPY ¥ YEN",
    "CNY": "CNY RMB YUAN RENMINBI",
    "CHF": "CHF FRANC FRANCS",
    "INR": "INR ₹ RUPEE RUPEES",
    "RUB": "RUB RUBLE RUBLES ROUBLE ROUBLES",
    "KRW": "KRW ₩ WON",
    "MXN": "MXN PESO PESOS",
}
_CURRENCY_NAMES = {name: code for code, names in _CURRENCIES.items() for name in names.split()}
_CURRENCY = re.compile("|".join(re.escape(n) for n in sorted(_CURRENCY_NAMES, key=len)[::-1]))
_SHORT_MULTIPLES = {
    "M": "MILLION",
    "MN": "MILLION",
    "BN": "BILLION",
    "B": "BILLION",
    "K": "THOUSAND",
}
_SHORT = re.compile(r"(?<=[0-9]) ?(MN|BN|M|B|K)\.?$")


def money(text: str) -> str | None:
    """Return an amount of money with the code of its currency ("40000000 USD"), or None."""
    normalised = normalise(text).replace("U.S.", "US")
    currency = _CURRENCY.search(normalised)
    if currency is None:
        return None
    figures = _CURRENCY.sub(" ", normalised).replace(" US ", " ")
    figures = _SHORT.sub(lambda short: f" {_SHORT_MULTIPLES[short[1]]}", " ".join(figures.split()))
    value = amount(figures)
    return None if value is None else f"{decimal(value)} {_CURRENCY_NAMES[currency[0]]}"


def measure(text: str) -> str | None:
    """Return the measure in a text, in the form of measure slots, or None."""
    normalised = normalise(text)
    parsed = _unit(normalised)
    if parsed is None:
        return None
    unit, rest = parsed
    for pattern, bound in _OPEN:
        if match := pattern.match(rest):
            value = _size(rest[match.end() :].strip("."))
            return None if value is None else f"{bound.format(value)} {unit}"
    if (value := _size(rest)) is not None:
        return f"{value} {unit}"
    return _area(rest, unit) or _between(rest, unit)


def _unit(normalised: str) -> tuple[str, str] | None:
    """Return the unit at the end, in one spelling, and the text before it."""
    for pattern, unit in _PHRASES:
        if match := pattern.search(normalised):
            return unit, normalised[: match.start()].rstrip(" -")
    match = _UNIT.search(normalised)
    if match is None or match[1] not in _spellings():
        return None
    return _spellings()[match[1]], normalised[: match.start()].rstrip(" -")


@cache
def _spellings() -> dict[str, str]:
    """Return the standard spelling of each unit, by upper-case spelling."""
    first: dict[tuple[str, Fraction], str] = {}
    for name, unit in standard_units().items():
        first.setdefault((unit.dimension, unit.size), name)
    units = standard_units().items()
    return {name.upper(): first[unit.dimension, unit.size] for name, unit in units} | _VARIANTS


def _size(normalised: str) -> str | None:
    value = _ONE.get(normalised) or _fraction(normalised) or amount(normalised)
    return None if value is None else decimal(value)


def _fraction(normalised: str) -> Fraction | None:
    match = _PART.fullmatch(normalised)
    return Fraction(int(match[1]), int(match[2])) if match and int(match[2]) else None


def _area(normalised: str, unit: str) -> str | None:
    """Return the product of two lengths as an area, of three as a volume; metres only."""
    sides = [amount(_without_unit(side, unit)) for side in _TIMES_SIGN.split(normalised)]
    if unit not in ("m", "km") or len(sides) not in (2, 3):
        return None
    known = [side for side in sides if side is not None]
    power = f"{unit}{len(sides)}"
    if len(known) < len(sides) or power == "km3":
        return None
    return f"{decimal(prod(known, start=Fraction(1)))} {power}"


def _without_unit(normalised: str, unit: str) -> str:
    """Return a side without its unit if that is the same: 5 m x 10 m."""
    parsed = _unit(normalised)
    return parsed[1] if parsed and parsed[0] == unit else normalised


def _between(normalised: str, unit: str) -> str | None:
    match = _BETWEEN.fullmatch(normalised)
    ends = [amount(_without_unit(end, unit)) for end in match.groups()] if match else []
    low, high = ends or (None, None)
    if low is None or high is None or not low < high:
        return None
    return f"{decimal(low)}..{decimal(high)} {unit}"
