"""Characteristics of pairs of events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from partita.core import Template
from partita.pairs.characteristics import Characteristic, TemplatePairs

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


def _for_each_pair(pairs: TemplatePairs, observe: Callable[[Template, Template], int]) -> Values:
    templates = pairs.columns.templates
    values = [
        observe(templates[s], templates[t])
        for s, t in zip(pairs.s.tolist(), pairs.t.tolist(), strict=True)
    ]
    return np.array(values, dtype=np.uint8)


def any_events(pairs: TemplatePairs) -> Values:
    """Any two events."""
    return np.zeros(len(pairs.s), dtype=np.uint8)


def incident_types(pairs: TemplatePairs) -> Values:
    """The likeliest types of both events: the same type, or which two."""
    return _for_each_pair(pairs, lambda s, t: _TYPE_PAIRS[_kind(s), _kind(t)])


def common_types(pairs: TemplatePairs) -> Values:
    """The overlap of the two type distributions, in steps."""
    return _for_each_pair(
        pairs, lambda s, t: _step(_common(s.context["TYPES"], t.context["TYPES"]))
    )


def sentences_apart(pairs: TemplatePairs) -> Values:
    """The number of sentences from S to T, and whether both are in one paragraph."""
    return _for_each_pair(pairs, _apart)


def events_between(pairs: TemplatePairs) -> Values:
    """The number of events between S and T, by the number of all events."""
    between = np.minimum(pairs.t - pairs.s - 1, 3)
    among = np.searchsorted(_AMONG, len(pairs.columns), side="right")
    values: Values = (among * 4 + between).astype(np.uint8)
    return values


def certainty(pairs: TemplatePairs) -> Values:
    """The probability that the less certain of both reports an incident, in steps."""
    return _for_each_pair(pairs, lambda s, t: _step(min(s.context["CHANCE"], t.context["CHANCE"])))


def victims(pairs: TemplatePairs) -> Values:
    """Whether both events name a common victim, different ones, or only one names any."""
    return _for_each_pair(pairs, _sharing("VICTIM"))


def targets(pairs: TemplatePairs) -> Values:
    """The same for attacked things."""
    return _for_each_pair(pairs, _sharing("TARGET"))


def perpetrators(pairs: TemplatePairs) -> Values:
    """The same for perpetrators."""
    return _for_each_pair(pairs, _sharing("PERPETRATOR"))


def organisations(pairs: TemplatePairs) -> Values:
    """The same for organisations of perpetrators."""
    return _for_each_pair(pairs, _sharing("ORGANISATION"))


def instruments(pairs: TemplatePairs) -> Values:
    """The same for weapons."""
    return _for_each_pair(pairs, _sharing("INSTRUMENT"))


def harmed(pairs: TemplatePairs) -> Values:
    """Whether victims and targets together overlap, by whether the types agree."""
    return _for_each_pair(
        pairs,
        lambda s, t: 4 * _same_type(s, t) + _compare_either(_harmed_heads(s), _harmed_heads(t)),
    )


def days(pairs: TemplatePairs) -> Values:
    """The days of both: the same, different, or given by one only; by whether the types agree."""
    return _for_each_pair(
        pairs, lambda s, t: 5 * _same_type(s, t) + _compare(_fills(s, "DATE"), _fills(t, "DATE"))
    )


def places(pairs: TemplatePairs) -> Values:
    """The places of both: the same, different, or given by one only; by whether the types agree."""
    return _for_each_pair(
        pairs,
        lambda s, t: 5 * _same_type(s, t) + _compare(_fills(s, "LOCATION"), _fills(t, "LOCATION")),
    )


def agreement(pairs: TemplatePairs) -> Values:
    """Which of type, day and place conflict, as in greedy merging."""
    return _for_each_pair(
        pairs, lambda s, t: sum(n * (not _agree(s, t, slot)) for n, slot in _CLASHES)
    )


def words_shared(pairs: TemplatePairs) -> Values:
    """The share of the words of the shorter sentence that the longer one contains, in steps."""
    return _for_each_pair(pairs, _words_shared)


def cue(pairs: TemplatePairs) -> Values:
    """The first discourse cue in T's sentence: another, also, meanwhile, …"""
    return _for_each_pair(pairs, lambda s, t: next(_cues(t), 0))


def event_noun(pairs: TemplatePairs) -> Values:
    """How T's sentence refers to events ("the attack", "an attack", "attacks", or not at all), and
    whether S's sentence has the same word."""
    return _for_each_pair(pairs, _event_noun)


def lead(pairs: TemplatePairs) -> Values:
    """Whether S is in the first sentence, and T in the second."""
    return _for_each_pair(
        pairs, lambda s, t: (s.sentence == 0) + (s.sentence == 0 and t.sentence == 1)
    )


def opening(pairs: TemplatePairs) -> Values:
    """The first word of T's sentence."""
    return _for_each_pair(pairs, lambda s, t: _OPENINGS.get(_first(t), 0))


def compatible_events(events: Sequence[Template]) -> NDArray[np.bool_]:
    """Return for every two events whether types, days and places agree where both have them."""
    table = [[all(_agree(s, t, slot) for slot in _SLOTS) for t in events] for s in events]
    return np.array(table, dtype=np.bool_)


def _agree(s: Template, t: Template, slot: str) -> bool:
    left, right = _fills(s, slot), _fills(t, slot)
    return not left or not right or bool(left & right)


def _kind(event: Template) -> int:
    type_ = event.slots.get("INCIDENT", [""])[0]
    return _KINDS.index(type_) if type_ in _KINDS else len(_KINDS)


def _same_type(s: Template, t: Template) -> int:
    return int(_kind(s) == _kind(t))


def _common(left: dict[str, float], right: dict[str, float]) -> float:
    return sum(min(probability, right.get(name, 0.0)) for name, probability in left.items())


def _step(probability: float) -> int:
    return min(int(probability * _STEPS), _STEPS - 1)


def _apart(s: Template, t: Template) -> int:
    near = int(s.context["PARAGRAPH"] == t.context["PARAGRAPH"])
    apart = int(np.searchsorted(_APART, t.sentence - s.sentence, side="left"))
    return apart + len(_APARTS) * near


def _fills(event: Template, slot: str) -> set[str]:
    return set(event.slots.get(slot, ()))


def _harmed_heads(event: Template) -> set[str]:
    return _fills(event, "VICTIM") | _fills(event, "TARGET")


def _compare_either(left: set[str], right: set[str]) -> int:
    """Compare two sets: both empty, one empty, disjoint, overlapping."""
    if not left and not right:
        return 0
    return 1 if not left or not right else 3 if left & right else 2


def _compare(left: set[str], right: set[str]) -> int:
    if left and right:
        return 4 if left & right else 3
    return 1 if left else 2 if right else 0


def _sharing(role: str) -> Callable[[Template, Template], int]:
    def observe(s: Template, t: Template) -> int:
        left, right = _fills(s, role), _fills(t, role)
        named = any(name.isupper() for name in left & right)
        return 5 if named else _compare(left, right)

    return observe


def _words_shared(s: Template, t: Template) -> int:
    left, right = set(s.context["WORDS"]), set(t.context["WORDS"])
    shorter = min(len(left), len(right))
    return min(int(10 * len(left & right) / shorter), _STEPS - 1) if shorter else 0


def _cues(event: Template) -> Iterator[int]:
    return (_CUE[word] for word in event.context["ADVERBS"] if word in _CUE)


def _event_noun(s: Template, t: Template) -> int:
    if not (nouns := t.context["NOUNS"]):
        return 0
    det, lemma, number = nouns[0]
    lemmas = {noun[1] for noun in s.context["NOUNS"]}
    kind = 2 if number != "1" else 0 if det in ("the", "this", "that") else 1
    return 1 + 2 * kind + (lemma in lemmas)


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
    return tuple(f"{types}, {value}" for types in ("other types", "one type") for value in values)


EVENTS: tuple[Characteristic, ...] = (
    Characteristic(any_events, ("any",)),
    Characteristic(incident_types, _TYPES),
    Characteristic(common_types, _SHARES),
    Characteristic(
        sentences_apart,
        tuple(f"{n}, {where}" for where in ("paragraphs", "one paragraph") for n in _APARTS),
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
