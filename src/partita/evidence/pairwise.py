"""A pair probability as evidence about whole configurations, as in the paper:
m_ST({configurations in which S and T share a cell}) = p,  m_ST({the others}) = 1 − p.
"""

from __future__ import annotations

from collections.abc import Sequence

from partita.evidence.masses import MassFunction
from partita.records import Configuration


def pair_mass(
    configurations: Sequence[Configuration], left: str, right: str, probability: float
) -> MassFunction[Configuration]:
    """What an observer believes who has access to the two templates only."""
    frame = tuple(configurations)
    together = sum(1 << n for n, one in enumerate(frame) if one.together(left, right))
    apart = (1 << len(frame)) - 1 - together
    masses = {together: probability, apart: 1 - probability}
    return MassFunction(frame, masses, (f"{left}–{right}",))
