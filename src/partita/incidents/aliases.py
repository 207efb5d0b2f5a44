"""Names of one organisation: what brackets and commas in the story say, and what is well known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from partita.incidents.stories import Item, Story

_OPENING = frozenset({"[", "(", ",", "--"})


@cache
def well_known() -> Mapping[str, str]:
    """Each name with the one that it stands for."""
    data = json.loads((files("partita.domains") / "incidents" / "facts.json").read_text("utf-8"))
    return {name: names[0] for names in data["aliases"] for name in names}


def aliases(story: Story) -> dict[str, str]:
    """Short names that the story explains, with the long ones."""
    found: dict[str, str] = {}
    for sentence in story.sentences:
        for place, item in enumerate(sentence.items):
            long = str(item.known.get("name") or "").upper()
            if long and (short := _short(sentence.items, place, item, long)):
                found[short] = long
    return found


def _short(items: Sequence[Item], place: int, item: Item, long: str) -> str:
    """ "Farabundo Marti National Liberation Front [FMLN]"."""
    if alias := item.known.get("alias"):
        return str(alias).upper()
    if place + 2 >= len(items) or items[place + 1].known.get("word") not in _OPENING:
        return ""
    name = str(items[place + 2].known.get("name") or items[place + 2].known.get("text", "")).upper()
    fits = len(long.split()) > 2 and " " not in name and name[:1] in {w[0] for w in long.split()}
    return name if fits and 2 <= len(name) <= 9 and name.isalpha() else ""


def standing_for(name: str, told: Mapping[str, str]) -> str:
    """The name under which an organisation is known."""
    long = told.get(name, name)
    return well_known().get(long, well_known().get(name, long))
