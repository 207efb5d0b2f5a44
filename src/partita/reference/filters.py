"""Which candidates an anaphor may have: number, sort, person, gender, head and modifiers agree."""

from __future__ import annotations

import numpy as np

from partita.records import IntArray
from partita.reference.kinds import NAME, NIL, PLURAL, PRONOUN, BoolArray, Kinds
from partita.templates.name import NameType


def admitted(known: Kinds, anaphor: int, candidates: IntArray) -> IntArray:
    """Those of the candidates that nothing speaks against, in the order given."""
    form = known.form[anaphor]
    if form == NAME:
        return _aliases(known, anaphor, candidates)
    left = candidates[_agree(known, anaphor, candidates)]
    if form == PRONOUN:
        return left[_pronoun_agrees(known, anaphor, left)]
    return _described_alike(known, anaphor, left[_definite_agrees(known, anaphor, left)])


def _agree(known: Kinds, anaphor: int, candidates: IntArray) -> BoolArray:
    return _number(known, anaphor, candidates) & _sort(known, anaphor, candidates)


def _number(known: Kinds, anaphor: int, candidates: IntArray) -> BoolArray:
    """Equal or unknown; they and we may take an organisation; two counts must be the same."""
    mine, counted = known.number[anaphor], known.counted[anaphor]
    theirs, counts = known.number[candidates], known.counted[candidates]
    agree: BoolArray = (theirs == mine) | (theirs == NIL) | (mine == NIL)
    if mine == PLURAL and known.form[anaphor] == PRONOUN:
        agree |= known.collective[candidates]
    same: BoolArray = (counts == counted) | (counts == NIL) | (counted == NIL)
    return agree & same


def _sort(known: Kinds, anaphor: int, candidates: IntArray) -> BoolArray:
    """The anaphor's sort equals or subsumes the candidate's; without a sort it takes any."""
    mine, theirs = known.sort[anaphor], known.sort[candidates]
    if mine == NIL:
        return np.ones(len(candidates), dtype=np.bool_)
    return np.where(theirs == NIL, True, known.fits[mine, theirs])


def _pronoun_agrees(known: Kinds, anaphor: int, candidates: IntArray) -> BoolArray:
    """Person and gender; the first and the second person take only pronouns of one speaker."""
    person = known.person[anaphor]
    theirs = known.person[candidates]
    mine, genders = known.gender[anaphor], known.gender[candidates]
    agree: BoolArray = (genders == mine) | (genders == NIL) | (mine == NIL)
    if person in (1, 2):
        speakers, speaker = known.speaker[candidates], known.speaker[anaphor]
        same: BoolArray = (theirs == person) & (speakers == speaker)
    else:
        same = (theirs == 3) | (theirs == NIL)
    return agree & same


def _definite_agrees(known: Kinds, anaphor: int, candidates: IntArray) -> BoolArray:
    """The same head, or a candidate that shows none: a name or a pronoun of the third person."""
    heads, mine = known.head[candidates], known.head[anaphor]
    forms, persons = known.form[candidates], known.person[candidates]
    headless: BoolArray = (forms == NAME) | ((forms == PRONOUN) & (persons == 3))
    same: BoolArray = (heads == mine) | (heads == NIL) | (mine == NIL)
    return headless | same


def _described_alike(known: Kinds, anaphor: int, candidates: IntArray) -> IntArray:
    """Modifiers clash if each of the two has one that the other lacks."""
    mine = known.modifiers[anaphor]
    agree = [
        mine <= known.modifiers[n] or known.modifiers[n] <= mine or known.form[n] == NAME
        for n in candidates.tolist()
    ]
    return candidates[np.array(agree, dtype=np.bool_)]


def _aliases(known: Kinds, anaphor: int, candidates: IntArray) -> IntArray:
    """Names of the same sort that are the anaphor's, part of it, its initials, or the reverse."""
    mine, called = known.names[anaphor], NameType()
    if mine is None:
        return candidates[:0]
    found = [
        n
        for n in candidates[_sort_either(known, anaphor, candidates)].tolist()
        if (other := known.names[n]) is not None and called.unify(mine, other) is not None
    ]
    return np.array(found, dtype=np.int64)


def _sort_either(known: Kinds, anaphor: int, candidates: IntArray) -> BoolArray:
    """A name says of itself what it names: either sort may be the more general one."""
    mine, theirs = known.sort[anaphor], known.sort[candidates]
    if mine == NIL:
        return np.ones(len(candidates), dtype=np.bool_)
    either: BoolArray = known.fits[mine, theirs] | known.fits[theirs, mine] | (theirs == NIL)
    return either
