"""Discounting by reliability:  m'(A) = r m(A),  m'(frame) = r m(frame) + 1 − r."""

from __future__ import annotations

from partita.errors import InputError
from partita.evidence.masses import MassFunction, Outcome


def discount(mass: MassFunction[Outcome], reliability: float) -> MassFunction[Outcome]:
    """What remains of a source's word when it is right only with this probability."""
    if not 0 <= reliability <= 1:
        named = " and ".join(mass.sources) or "a source"
        raise InputError(f"reliability {reliability} of {named} is not a number from 0 to 1")
    masses = {subset: reliability * value for subset, value in mass.masses.items()}
    masses[mass.whole] = masses.get(mass.whole, 0.0) + (1 - reliability)
    return MassFunction(mass.frame, masses, mass.sources)
