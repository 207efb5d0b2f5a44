"""Parse values: numbers, measures, sums of money, dates and coordinates."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from math import prod

from partita.templates.quantities import decimal, standard_units
from partita.templates.slots import symbol

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
_MANY: dict[str, int | str] = {"BOTH": 2}
_MANY |= {word + "S": f"{2 * n}.." for word, n in {**_COUNTS, **_POWERS}.items()}
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


def parse_number(text: str) -> int | str | None:
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


def parse_money(text: str) -> str | None:
    """Return an amount of money with the code of its currency ("40000000 USD"), or None."""
    normalised = normalise(text).replace("U.S.", "US")
    currency = _CURRENCY.search(normalised)
    if currency is None:
        return None
    figures = _CURRENCY.sub(" ", normalised).replace(" US ", " ")
    figures = _SHORT.sub(lambda short: f" {_SHORT_MULTIPLES[short[1]]}", " ".join(figures.split()))
    value = amount(figures)
    return None if value is None else f"{decimal(value)} {_CURRENCY_NAMES[currency[0]]}"


def parse_measure(text: str) -> str | None:
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
    match = _RANGE.fullmatch(normalised)
    ends = [amount(_without_unit(end, unit)) for end in match.groups()] if match else []
    low, high = ends or (None, None)
    if low is None or high is None or not low < high:
        return None
    return f"{decimal(low)}..{decimal(high)} {unit}"


MONTHS = "JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER"
_MONTH = {
    **{month: n for n, month in enumerate(MONTHS.split(), 1)},
    **{month[:3]: n for n, month in enumerate(MONTHS.split(), 1)},
    "SEPT": 9,
}
_DATE_PART = re.compile(r"\d+|[A-Z]+")
_GROUP = re.compile(r"(\d{2})\d{4}[A-Z]? ?([A-Z]{3}) ?(\d{4}|\d{2})")
_DECADE = re.compile(r"(?:THE )?(?:(EARLY|MID|LATE)[ -])?(\d{3})0'?S")
_ALLOWED = re.compile(r"[A-Z0-9 ,./'’-]*")
_IGNORED = re.compile(
    r"THE|O[FN]|IN|AT|BY|ST|ND|RD|TH|EARLY|MID|LATE|SINCE|DURING|FROM|BETWEEN|TO|AND|AD"
    r"|(?:MON|TUES?|WED(?:NES)?|THU(?:RS?)?|FRI|SAT(?:UR)?|SUN)(?:DAY)?"
)
# Patterns of two dates: the pattern of each, with the positions of its parts.
_RANGES = {
    "nnmy": (("nmy", (0, 2, 3)), ("nmy", (1, 2, 3))),
    "mnny": (("mny", (0, 1, 3)), ("mny", (0, 2, 3))),
    "mmy": (("my", (0, 2)), ("my", (1, 2))),
    "nmnmy": (("nmy", (0, 1, 4)), ("nmy", (2, 3, 4))),
    "mnmny": (("mny", (0, 1, 4)), ("mny", (2, 3, 4))),
    "nmynmy": (("nmy", (0, 1, 2)), ("nmy", (3, 4, 5))),
    "mymy": (("my", (0, 1)), ("my", (2, 3))),
    "ynnynn": (("ynn", (0, 1, 2)), ("ynn", (3, 4, 5))),
    "ynyn": (("yn", (0, 1)), ("yn", (2, 3))),
    "yy": (("y", (0,)), ("y", (1,))),
}
# Two-digit years from 50 on are 19.., the others 20...
_CENTURY_TURN = 50


def parse_date(text: str) -> str | None:
    """Return the date in a text, in the form of date slots, or None."""
    normalised = normalise(text)
    if match := _GROUP.fullmatch(normalised):
        month = _MONTH.get(match[2])
        return _day(_year(match[3]), month, int(match[1])) if month else None
    if match := _DECADE.fullmatch(normalised):
        return None if match[2] < "100" else f"{match[2]}0..{match[2]}9"
    if not _ALLOWED.fullmatch(normalised):
        return None
    parts = [part for part in _DATE_PART.findall(normalised) if not _IGNORED.fullmatch(part)]
    row = "".join(map(_part_kind, parts))
    return _read(row, parts, normalised)


def _part_kind(part: str) -> str:
    if part in _MONTH:
        return "m"
    if part.isdigit() and part.isascii():
        return {1: "n", 2: "n", 4: "y"}.get(len(part), "?")
    return "?"


def _read(row: str, parts: Sequence[str], normalised: str) -> str | None:
    if row in ("nmy", "nmn", "mny", "mnn", "ynn", "nny", "nnn", "ymn"):
        return _full_date(row, parts, normalised)
    if row in ("my", "yn", "y"):
        return _month_or_year(row, parts)
    if row == "mn" and int(parts[1]) > 31:
        return _month_of(_year(parts[1]), _MONTH[parts[0]])
    return _span(row, parts)


def _full_date(row: str, parts: Sequence[str], normalised: str) -> str | None:
    """Return a day with month and year."""
    first, second, third = parts
    if row in ("nmy", "nmn"):
        return _day(_year(third), _MONTH[second], int(first))
    if row in ("mny", "mnn"):
        return _day(_year(third), _MONTH[first], int(second))
    if row == "ymn":
        return _day(int(first), _MONTH[second], int(third))
    if row == "ynn":
        return _day(int(first), int(second), int(third))
    if not re.search(r"\d[/.-]\d{1,2}[/.-]\d", normalised):
        return None
    return _by_figures(int(first), int(second), _year(third))


def _by_figures(first: int, second: int, year: int) -> str | None:
    """Return month before day, as in American English, unless only the reverse is a date."""
    return _day(year, first, second) or _day(year, second, first)


def _month_or_year(row: str, parts: Sequence[str]) -> str | None:
    if row == "y":
        return parts[0] if int(parts[0]) >= 1000 else None
    if row == "my":
        return _month_of(int(parts[1]), _MONTH[parts[0]])
    return _month_of(int(parts[0]), int(parts[1]))


def _span(row: str, parts: Sequence[str]) -> str | None:
    """Return ranges such as 10-15 March 1996, March to May 1996, 10 March to 3 May 1996."""
    orders = _RANGES.get(row)
    if orders is None:
        return None
    first, last = (_read(kind, [parts[n] for n in places], "") for kind, places in orders)
    return f"{first}..{last}" if first and last and first < last else None


def _year(figures: str) -> int:
    if len(figures) == 4:
        return int(figures)
    return int(figures) + (1900 if int(figures) >= _CENTURY_TURN else 2000)


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return datetime.date(year, month, day).isoformat()
    except ValueError:
        return None


def _month_of(year: int, month: int) -> str | None:
    day = _day(year, month, 1)
    return day[:7] if day else None


_GRID = re.compile(r"(?:MGRS |GRID |UTM )?(\d{1,2})([C-HJ-NP-X]) ?([A-HJ-NP-Z]{2}) ?(\d+(?: \d+)?)")
_DEGREE_WORDS = (
    (re.compile(r" ?(?:DEGREES?|DEG|[º˚])\.?,? ?"), "°"),
    (re.compile(r" ?(?:MINUTES?|MIN)\.?,? ?|[’′´`]"), "'"),
    (re.compile(r" ?(?:SECONDS?|SEC)\.? ?|[”″“]|''"), '"'),
    (re.compile(r"\b(NORTH|SOUTH|EAST|WEST)\b"), lambda found: found[1][0]),
    (re.compile(r"\b(?:LATITUDE|LONGITUDE|LAT|LONG?)\b[.:]? ?"), ""),
)
_SPACED = re.compile(r" ?([°'\"-]) ?")
_ANGLE = r"\d{1,7}(?:\.\d{1,8})?(?:[ °'\":-]{1,2}\d{1,2}(?:\.\d{1,8})?){0,2}[°'\"]?"
_SIDE_AFTER = re.compile(rf"({_ANGLE}) ?([NS])(?:[ ,/;-]*({_ANGLE}) ?([EW]))?")
_SIDE_BEFORE = re.compile(rf"([NS]) ?({_ANGLE})(?:[ ,/;-]*([EW]) ?({_ANGLE}))?")
_ALONE = re.compile(rf"({_ANGLE}) ?([EW])|([EW]) ?({_ANGLE})")
_DEGREE_FIGURES = re.compile(r"\d+(?:\.\d+)?")


def parse_coordinate(text: str) -> str | None:
    """Return the coordinate in a text, in decimal degrees or as a grid, or None."""
    normalised = normalise(text.replace("´", "'"))
    return _grid(normalised) or _degrees(normalised)


def _grid(normalised: str) -> str | None:
    """Return a military grid: zone, band, 100 km square, and two numbers of equal length."""
    match = _GRID.fullmatch(normalised)
    if match is None or not 1 <= int(match[1]) <= 60:
        return None
    halves = match[4].split()
    digits = "".join(halves)
    if len(digits) % 2 or len(digits) > 10 or (halves[1:] and len(halves[0]) != len(halves[1])):
        return None
    return f"{int(match[1])}{match[2]}{match[3]}{digits}"


def _degrees(normalised: str) -> str | None:
    for pattern, plain in _DEGREE_WORDS:
        normalised = pattern.sub(plain, normalised)
    normalised = _SPACED.sub(r"\1", normalised)
    angles = [(_decimal(angle, side), side) for angle, side in _sides(normalised.strip())]
    if not angles or any(value is None for value, _ in angles):
        return None
    return " ".join(f"{value}{side}" for value, side in angles)


def _sides(normalised: str) -> list[tuple[str, str]]:
    """Return each angle with its hemisphere."""
    if match := _SIDE_AFTER.fullmatch(normalised):
        pairs = [(match[1], match[2]), (match[3], match[4])]
    elif match := _SIDE_BEFORE.fullmatch(normalised):
        pairs = [(match[2], match[1]), (match[4], match[3])]
    elif match := _ALONE.fullmatch(normalised):
        pairs = [(match[1] or match[4], match[2] or match[3])]
    else:
        return []
    return [(angle, side) for angle, side in pairs if angle]


def _decimal(angle: str, side: str) -> str | None:
    """Return degrees with five decimals, or None for an impossible angle."""
    parts = _unpack(_DEGREE_FIGURES.findall(angle), side)
    if any(part >= 60 for part in parts[1:]):
        return None
    degrees = sum((part / 60**n for n, part in enumerate(parts)), Fraction(0))
    if degrees > (90 if side in "NS" else 180):
        return None
    return f"{float(round(degrees, 5)):.5f}"


def _unpack(figures: Sequence[str], side: str) -> list[Fraction]:
    """Split one long number into degrees, minutes and seconds: 351400 is 35 14 00."""
    whole, dot, rest = figures[0].partition(".")
    width = 2 if side in "NS" else 3
    if len(figures) > 1 or len(whole) <= width:
        return [Fraction(part) for part in figures]
    cut = len(whole) % 2 + 2
    ends = [whole[:cut], *(whole[n : n + 2] for n in range(cut, len(whole), 2))]
    ends[-1] += dot + rest
    return [Fraction(part) for part in ends[:4]]


# The functions that a rule may call on a text, by their names in rule files.
PARSERS: dict[str, Callable[[str], int | str | None]] = {
    "coordinate": parse_coordinate,
    "date": parse_date,
    "measure": parse_measure,
    "money": parse_money,
    "number": parse_number,
}
