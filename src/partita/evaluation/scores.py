"""Coreference scores of a response against the key, added up over documents.

CoNLL = (F of MUC + F of B³ + F of CEAFe) / 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from partita.evaluation.b_cubed import b_cubed
from partita.evaluation.ceaf import ceaf_entity
from partita.evaluation.lea import lea
from partita.evaluation.muc_links import muc
from partita.evaluation.tally import Tally
from partita.records import IntArray

NOTHING = Tally()


@dataclass(frozen=True, slots=True)
class Scores:
    """All scores of some documents."""

    muc: Tally = NOTHING
    b_cubed: Tally = NOTHING
    ceaf: Tally = NOTHING
    lea: Tally = NOTHING

    def __add__(self, other: Scores) -> Scores:
        return Scores(
            self.muc + other.muc,
            self.b_cubed + other.b_cubed,
            self.ceaf + other.ceaf,
            self.lea + other.lea,
        )

    @property
    def conll(self) -> float:
        return (self.muc.f + self.b_cubed.f + self.ceaf.f) / 3


def scores(key: IntArray, response: IntArray) -> Scores:
    """Of one document, both configurations as labels of the same templates."""
    if not len(key):
        return Scores()
    return Scores(
        muc(key, response), b_cubed(key, response), ceaf_entity(key, response), lea(key, response)
    )


def all_scores(pairs: Iterable[tuple[IntArray, IntArray]]) -> Scores:
    """Of several documents, each with its key and its response."""
    return sum((scores(key, response) for key, response in pairs), Scores())
