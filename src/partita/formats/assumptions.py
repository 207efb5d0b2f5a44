"""`A=B` and `A!=B`: what is known beyond the file, as pairs of the sets it concerns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from partita.errors import InputError
from partita.formats.sets import Assumed, Sets
from partita.records import pair

APART, SAME = "!=", "="


@dataclass(frozen=True, slots=True)
class Assumption:
    """Two templates that are the same, or not."""

    left: str
    right: str
    same: bool


def parse(text: str, known: set[str]) -> Assumption:
    """Ids may hold = and ! themselves: of all readings the one about known ids is meant."""
    readings = list(_readings(text))
    if not readings:
        raise InputError(f"--assume {text!r} is not of the form A=B or A!=B")
    fitting = [r for r in readings if r.left in known and r.right in known]
    if len(fitting) > 1:
        raise InputError(f"--assume {text!r} can be read in {len(fitting)} ways")
    if not fitting:
        first = readings[0]
        unknown = first.left if first.left not in known else first.right
        raise InputError(f"--assume {text!r}: there is no template {unknown!r}")
    if fitting[0].left == fitting[0].right:
        raise InputError(f"--assume {text!r} compares {fitting[0].left} with itself")
    return fitting[0]


def _readings(text: str) -> Iterator[Assumption]:
    """Those with != first: that is what a person who writes it means."""
    for sign in (APART, SAME):
        at = text.find(sign)
        while at >= 0:
            left, right = text[:at].strip(), text[at + len(sign) :].strip()
            if left and right:
                yield Assumption(left, right, sign == SAME)
            at = text.find(sign, at + 1)


def conditioned(sets: Sets, assume: Sequence[str]) -> Sets:
    """The same sets, given what is assumed; the probabilities stay as they were."""
    if not assume:
        return sets
    known = {*sets.ids, *(template.id for template in sets.singletons)}
    assumed = dict(sets.assumed)
    for one in (parse(text, known) for text in assume):
        homes = list(_holding(sets, one))
        if one.same and not homes:
            raise InputError(
                f"{one.left} and {one.right} are in different sets, so they cannot be the same; "
                f"the file lists no chance of it",
                file=sets.file,
            )
        for home in homes:
            assumed[home] = _added(assumed.get(home, Assumed()), one)
    return replace(sets, assumed=assumed)


def _holding(sets: Sets, one: Assumption) -> Iterator[int]:
    """The sets that hold both templates."""
    for k in range(len(sets)):
        ids = sets.ids[sets.starts[k] : sets.starts[k + 1]]
        if one.left in ids and one.right in ids:
            yield k


def _added(assumed: Assumed, one: Assumption) -> Assumed:
    both = frozenset({pair(one.left, one.right)})
    if one.same:
        return Assumed(assumed.must | both, assumed.apart)
    return Assumed(assumed.must, assumed.apart | both)
