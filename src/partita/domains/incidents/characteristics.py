"""Characteristics of pairs of events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from partita.pairs.characteristics import Characteristic, Pairs
from partita.records import Template

Values = NDArray[np.uint8]

_KINDS = ("ATTACK", "BOMBING", "KIDNAPPING", "ARSON")
_CUES = (
    ("another", "another other second third fourth similar new different"),
    ("also", "also addition additionally moreover furthermore likewise besides too"),
    ("meanwhile", "meanwhile elsewhere simultaneously while"),
    ("earlier", "earlier previously recently ago last before"),
    ("later", "later then after afterward afterwards following"),
    ("however", "however although despite nevertheless but"),
)
_CUE = {word: n for n, (_, words) in enumerate(_CUES, 1) for word in words.split()}
_STEPS = 5
_SLOTS = ("INCIDENT", "DATE", "LOCATION")
_CLASHES = tuple((1 << n, slot) for n, slot in enumerate(_SLOTS))


def _for_each_pair(pairs: Pairs, observe: Callable[[Template, Template], int]) -> Values:
    known = pairs.columns.templates
    found = [
        observe(known[s], known[t]) for s, t in zip(pairs.s.tolist(), pairs.t.tolist(), strict=True)
    ]
    return np.array(found, dtype=np.uint8)


def any_events(pairs: Pairs) -> Values:
    """Any two events at all."""
    return np.zeros(len(pairs.s), dtype=np.uint8)


def incident_types(pairs: Pairs) -> Values:
    """The likeliest types of both: the same one, or which two."""
    return _for_each_pair(pairs, lambda s, t: _TYPE_PAIRS[_kind(s), _kind(t)])


def common_types(pairs: Pairs) -> Values:
    """How much of the types' chances both have in common, in steps."""
    return _for_each_pair(
        pairs, lambda s, t: _step(_common(s.context["TYPES"], t.context["TYPES"]))
    )


def sentences_apart(pairs: Pairs) -> Values:
    """How many sentences lie from S to T, and whether both stand in one paragraph."""
    return _for_each_pair(pairs, _apart)


def events_between(pairs: Pairs) -> Values:
    """How many events stand between S and T, by how many there are in all."""
    between = np.minimum(pairs.t - pairs.s - 1, 3)
    among = np.searchsorted(_AMONG, len(pairs.columns), side="right")
    found: Values = (among * 4 + between).astype(np.uint8)
    return found


def certainty(pairs: Pairs) -> Values:
    """How likely the less certain of both is to tell of an incident at all."""
    return _for_each_pair(pairs, lambda s, t: _step(min(s.context["CHANCE"], t.context["CHANCE"])))


def victims(pairs: Pairs) -> Values:
    """Whether the two name a victim in common, others, or only one of them names any."""
    return _for_each_pair(pairs, _sharing("VICTIM"))


def targets(pairs: Pairs) -> Values:
    """The same of things that were attacked."""
    return _for_each_pair(pairs, _sharing("TARGET"))


def perpetrators(pairs: Pairs) -> Values:
    """The same of people who did it."""
    return _for_each_pair(pairs, _sharing("PERPETRATOR"))


def organisations(pairs: Pairs) -> Values:
    """The same of organisations that did it."""
    return _for_each_pair(pairs, _sharing("ORGANISATION"))


def instruments(pairs: Pairs) -> Values:
    """The same of weapons."""
    return _for_each_pair(pairs, _sharing("INSTRUMENT"))


def harmed(pairs: Pairs) -> Values:
    """Whether whoever or whatever was hit is shared, across victims and targets, by types."""
    return _for_each_pair(
        pairs,
        lambda s, t: 4 * _same_type(s, t) + _compare_either(_harmed_heads(s), _harmed_heads(t)),
    )


def days(pairs: Pairs) -> Values:
    """The days that both tell: the same, others, or told by one only; by whether types agree."""
    return _for_each_pair(
        pairs, lambda s, t: 5 * _same_type(s, t) + _compare(_fills(s, "DATE"), _fills(t, "DATE"))
    )


def places(pairs: Pairs) -> Values:
    """The places that both tell: the same, others, or told by one only; by whether types agree."""
    return _for_each_pair(
        pairs,
        lambda s, t: 5 * _same_type(s, t) + _compare(_fills(s, "LOCATION"), _fills(t, "LOCATION")),
    )


def agreement(pairs: Pairs) -> Values:
    """In which of types, days and places the two clash, as a greedy merger would see it."""
    return _for_each_pair(
        pairs, lambda s, t: sum(n * (not _agree(s, t, slot)) for n, slot in _CLASHES)
    )


def words_shared(pairs: Pairs) -> Values:
    """Which share of the words of the shorter sentence the longer one has too, in steps."""
    return _for_each_pair(pairs, _words_shared)


def cue(pairs: Pairs) -> Values:
    """The first word of T's sentence that says how it goes on: another, also, meanwhile, …"""
    return _for_each_pair(pairs, lambda s, t: next(_cues(t), 0))


def event_noun(pairs: Pairs) -> Values:
    """How T's sentence speaks of events: "the attack", "an attack", "attacks", or not at all; and
    whether S's sentence has the same word."""
    return _for_each_pair(pairs, _event_noun)


def lead(pairs: Pairs) -> Values:
    """Whether S is in the first sentence, and T in the one behind it."""
    return _for_each_pair(
        pairs, lambda s, t: (s.sentence == 0) + (s.sentence == 0 and t.sentence == 1)
    )


def opening(pairs: Pairs) -> Values:
    """How T's sentence begins."""
    return _for_each_pair(pairs, lambda s, t: _OPENINGS.get(_first(t), 0))


def compatible_events(events: Sequence[Template]) -> NDArray[np.bool_]:
    """For every two events whether types, days and places agree wherever both tell them."""
    table = [[all(_agree(s, t, slot) for slot in _SLOTS) for t in events] for s in events]
    return np.array(table, dtype=np.bool_)


def _agree(s: Template, t: Template, slot: str) -> bool:
    one, other = _fills(s, slot), _fills(t, slot)
    return not one or not other or bool(one & other)


def _kind(event: Template) -> int:
    told = event.slots.get("INCIDENT", [""])[0]
    return _KINDS.index(told) if told in _KINDS else len(_KINDS)


def _same_type(s: Template, t: Template) -> int:
    return int(_kind(s) == _kind(t))


def _common(one: dict[str, float], other: dict[str, float]) -> float:
    return sum(min(chance, other.get(name, 0.0)) for name, chance in one.items())


def _step(chance: float) -> int:
    return min(int(chance * _STEPS), _STEPS - 1)


def _apart(s: Template, t: Template) -> int:
    near = int(s.context["PARAGRAPH"] == t.context["PARAGRAPH"])
    apart = int(np.searchsorted(_APART, t.sentence - s.sentence, side="left"))
    return apart + len(_APARTS) * near


def _fills(event: Template, slot: str) -> set[str]:
    return set(event.slots.get(slot, ()))


def _harmed_heads(event: Template) -> set[str]:
    return _fills(event, "VICTIM") | _fills(event, "TARGET")


def _compare_either(one: set[str], other: set[str]) -> int:
    """Nobody, one side only, others, shared."""
    if not one and not other:
        return 0
    return 1 if not one or not other else 3 if one & other else 2


def _compare(one: set[str], other: set[str]) -> int:
    if one and other:
        return 4 if one & other else 3
    return 1 if one else 2 if other else 0


def _sharing(role: str) -> Callable[[Template, Template], int]:
    def observe(s: Template, t: Template) -> int:
        one, other = _fills(s, role), _fills(t, role)
        named = any(name.isupper() for name in one & other)
        return 5 if named else _compare(one, other)

    return observe


def _words_shared(s: Template, t: Template) -> int:
    one, other = set(s.context["WORDS"]), set(t.context["WORDS"])
    shorter = min(len(one), len(other))
    return min(int(10 * len(one & other) / shorter), _STEPS - 1) if shorter else 0


def _cues(event: Template) -> Iterator[int]:
    return (_CUE[word] for word in event.context["ADVERBS"] if word in _CUE)


def _event_noun(s: Template, t: Template) -> int:
    if not (nouns := t.context["NOUNS"]):
        return 0
    det, lemma, number = nouns[0]
    known = {noun[1] for noun in s.context["NOUNS"]}
    kind = 2 if number != "1" else 0 if det in ("the", "this", "that") else 1
    return 1 + 2 * kind + (lemma in known)


def _first(event: Template) -> str:
    return next(iter(event.context["OPENING"]), "")


_TYPE_PAIRS = {
    (a, b): a if a == b else 5 + {(0, 1): 0, (0, 2): 1, (1, 2): 2}.get((min(a, b), max(a, b)), 3)
    for a in range(5)
    for b in range(5)
}
_TYPES = (
    *(f"both {kind.lower()}" for kind in _KINDS),
    "both another",
    "attack and bombing",
    "attack and kidnapping",
    "bombing and kidnapping",
    "others",
)
_APART = np.array([1, 2, 3, 6, 10])
_APARTS = ("1", "2", "3", "4 to 6", "7 to 10", "more")
_AMONG = np.array([3, 4, 6])
_OPENINGS = {
    word: n
    for n, words in enumerate(
        (
            "on in at",
            "according",
            "when date number",
            "meanwhile however",
            "after before during",
            "as",
        ),
        1,
    )
    for word in words.split()
}
_SHARES = tuple(f"{20 * n} to {20 * n + 20} %" for n in range(_STEPS))
_COMPARED = ("by neither", "by S only", "by T only", "others", "shared")
_ROLES = (*_COMPARED, "shared, by name")
_COMPARED_EITHER = ("nobody", "one only", "others", "shared")


def _by_type(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{told}, {value}" for told in ("other types", "one type") for value in values)


EVENTS: tuple[Characteristic, ...] = (
    Characteristic(any_events, ("any",)),
    Characteristic(incident_types, _TYPES),
    Characteristic(common_types, _SHARES),
    Characteristic(
        sentences_apart,
        tuple(f"{n}, {told}" for told in ("paragraphs", "one paragraph") for n in _APARTS),
    ),
    Characteristic(
        events_between,
        tuple(f"{n} of {total}" for total in ("2", "3", "4 or 5", "more") for n in "0123"),
    ),
    Characteristic(certainty, _SHARES),
    Characteristic(victims, _ROLES),
    Characteristic(targets, _ROLES),
    Characteristic(perpetrators, _ROLES),
    Characteristic(organisations, _ROLES),
    Characteristic(instruments, _ROLES),
    Characteristic(harmed, _by_type(_COMPARED_EITHER)),
    Characteristic(days, _by_type(_COMPARED)),
    Characteristic(places, _by_type(_COMPARED)),
    Characteristic(
        agreement,
        ("none", "type", "day", "type, day", "place", "type, place", "day, place", "all"),
    ),
    Characteristic(words_shared, ("0 to 10 %", "to 20 %", "to 30 %", "to 40 %", "more")),
    Characteristic(cue, ("none", *(name for name, _ in _CUES))),
    Characteristic(
        event_noun,
        (
            "none",
            *(f"{how}{same}" for how in ("the", "a", "several") for same in (" new", " known")),
        ),
    ),
    Characteristic(lead, ("no", "S", "both")),
    Characteristic(opening, ("otherwise", "in", "according", "when", "however", "after", "as")),
)
