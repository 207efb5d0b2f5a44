"""One fill of a response beside one of the key, by the kind of the slot."""

from __future__ import annotations

from collections.abc import Sequence

from partita.evaluation.muc import dates, locations, numbers, sets, strings
from partita.evaluation.muc.templates import Fill, Slot
from partita.evaluation.muc.verdicts import CORRECT, INCORRECT, PARTIAL, Verdict


def compare(slot: Slot, response: Fill, key: Fill) -> Verdict:
    """The best over all alternatives of the key; a wrong tag makes what is correct partial."""
    value = max(_value(slot, given, wanted) for given in response.values for wanted in key.values)
    if not slot.tagged or value <= PARTIAL:
        return value
    return value if tag(response.tags, key.tags) > INCORRECT else PARTIAL


def tag(response: Sequence[str], key: Sequence[str]) -> Verdict:
    """Of the strings that a fill refers to; correct if neither refers to any."""
    if not response or not key:
        return CORRECT if not response and not key else INCORRECT
    return max(strings.judge(given, wanted) for given in response for wanted in key)


def _value(slot: Slot, given: str, wanted: str) -> Verdict:
    match slot.kind:
        case "date":
            return dates.judge(given, wanted)
        case "location":
            return locations.judge(given, wanted)
        case "number":
            return numbers.judge(given, wanted)
        case "set":
            return sets.judge(slot, given, wanted)
        case _:
            return strings.judge(given, wanted)
