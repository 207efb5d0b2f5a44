"""A tagger's scoring in plain Python: features as text and sums of weights, word by word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from zlib import crc32

from partita.text.tagger_models import FEATURES, Tagger

MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
STEPS = {1: 0x9E3779B1, 2: 0x85EBCA77}
WAYS = ("neither", "lower", "capitalised", "upper", "mixed")


def _code(kind: str, text: str) -> int:
    return crc32(f"{kind}:{text}".encode("utf-8", "surrogatepass"))


def _way(word: str) -> str:
    letters = [c for c in word if c.isalpha()]
    big = [c for c in word if c.isupper()]
    small = [c for c in word if c.islower()]
    if big and not small and not [c for c in word if c.istitle() and not c.isupper()]:
        return "upper" if len(letters) > 1 else "neither"
    if small and not big and not [c for c in word if c.istitle()]:
        return "lower"
    if not letters:
        return "neither"
    return "capitalised" if word[0].isupper() and word[1:] == word[1:].lower() else "mixed"


def _shape(word: str) -> str:
    signs = ""
    for c in word:
        sign = ("X" if c.isupper() else "x") if c.isalpha() else "d" if c.isdigit() else c
        if signs[-2:] != sign * 2:
            signs += sign
    return signs[:12]


def _columns(word: str, tagger: Tagger) -> dict[str, int | str]:
    word = word if len(word) <= 64 else word[:32] + word[-32:]
    text = re.sub(r"\d", "0", word.lower())
    found: dict[str, int | str] = {"word": 1, "form": 1, "class": 0, "fixed": 255}
    if text in tagger.lexicon:
        number, fixed = tagger.lexicon[text]
        found = {
            "word": _code("w", text),
            "form": _code("f", word),
            "class": number,
            "fixed": fixed,
        }
    for n in range(1, 6):
        found[f"suffix{n}"] = _code(f"s{n}", text[-n:] if len(text) > n else "^" + text)
    for n in range(1, 4):
        found[f"prefix{n}"] = _code(f"p{n}", text[:n])
    return found | {
        "shape": _code("x", _shape(word)), "flat": _code("y", _shape(text)), "way": _way(word)
    }  # fmt: skip


def _kind(ways: Sequence[str]) -> int:
    count = {way: sum(each == way for each in ways) for way in WAYS}
    cased = len(ways) - count["neither"]
    if count["upper"] and count["upper"] >= 4 * (cased - count["upper"]):
        return 1
    if count["lower"] and count["lower"] == cased:
        return 2
    return 3 if count["capitalised"] >= 3 and count["capitalised"] >= 0.7 * cased - 1e-9 else 0


def plain_tags(tagger: Tagger, sentence: Sequence[str]) -> list[int]:
    """The tags of one sentence."""
    seen = [_columns(word, tagger) for word in sentence]
    kind = _kind([str(each["way"]) for each in seen])
    for place, each in enumerate(seen):
        if kind in (1, 2):
            each["shape"], each["form"] = each["flat"], each["word"]
        each["context"] = 2 * kind + (place == 0)
    tags: list[int] = []
    for place, each in enumerate(seen):
        fixed = int(each["fixed"])
        tags.append(fixed if fixed != 255 else _best(tagger, seen, place, tags))
    return tags


def _best(
    tagger: Tagger, seen: Sequence[dict[str, int | str]], place: int, before: list[int]
) -> int:
    sums = [0] * len(tagger.tags)
    bases = [_base(f, n, seen, place, before, tagger) for n, f in enumerate(FEATURES, 1)]
    for base in bases:
        for tag in range(len(sums)):
            sums[tag] += int(tagger.table[base + tag])
    return max(range(len(sums)), key=lambda tag: (sums[tag], -tag))


def _base(
    feature: str,
    number: int,
    seen: Sequence[dict[str, int | str]],
    place: int,
    before: list[int],
    tagger: Tagger,
) -> int:
    mixed, moved, joined = number * 0xD6E8FEB86659FD93, 0, 0
    for part in feature.split():
        name, sign, offset = re.fullmatch(r"([a-z]+\d?)(?:([-+])(\d))?", part).groups()  # type: ignore[union-attr]
        away = int(offset or 0) * (-1 if sign == "-" else 1)
        if name == "tag":
            tag = before[away] if len(before) >= -away else len(tagger.tags)
            moved += STEPS[-away] * tag
            continue
        value = int(seen[place + away][name]) if 0 <= place + away < len(seen) else 0
        mixed += value * MULTIPLIERS[joined]
        joined += 1
    mixed %= 1 << 64
    mixed ^= mixed >> 31
    code = (mixed * 0xBF58476D1CE4E5B9 % (1 << 64)) >> 32
    return (code + moved) % (len(tagger.table) - 64)
