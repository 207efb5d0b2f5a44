"""Places of incidents: a country, then ever smaller places with their kinds in brackets."""

from __future__ import annotations

import re
from functools import lru_cache

from partita.evaluation.muc.verdicts import CORRECT, INCORRECT, PARTIAL, Verdict

_KIND = re.compile(r"\([^()]*\)")
Location = tuple[str, tuple[tuple[str, ...], ...]]


@lru_cache(maxsize=1 << 14)
def location(text: str) -> Location:
    """The country and the places below it; a range between two places holds both."""
    country, *below = (part.strip() for part in _KIND.sub(" ", text.upper()).split(":"))
    places = (tuple(filter(None, (p.strip() for p in part.split(" - ")))) for part in below)
    return _tidy(country), tuple(tuple(map(_tidy, names)) for names in places if names)


def _tidy(name: str) -> str:
    return " ".join(re.sub(r"[^A-Z0-9 ]", " ", name).split())


def judge(response: str, key: str) -> Verdict:
    (land, given), (wanted, places) = location(response), location(key)
    if given == places:
        return CORRECT if land == wanted else PARTIAL if given else INCORRECT
    return PARTIAL if land == wanted else INCORRECT
