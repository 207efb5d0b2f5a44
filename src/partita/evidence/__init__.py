"""Mass functions over any finite frame, and what can be done with them."""

from partita.evidence.belief import belief, pignistic, plausibility
from partita.evidence.combination import Combination, combine, combine_all, conflicting
from partita.evidence.discounting import discount
from partita.evidence.masses import MassFunction
from partita.evidence.pairwise import pair_mass

__all__ = [
    "Combination",
    "MassFunction",
    "belief",
    "combine",
    "combine_all",
    "conflicting",
    "discount",
    "pair_mass",
    "pignistic",
    "plausibility",
]
