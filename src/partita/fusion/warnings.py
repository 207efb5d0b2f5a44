"""Warnings about fused claims: what the claims alone cannot decide, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from partita.fusion.belief import SecondMode, SlotBelief

BARE_MAJORITY = 0.6  # of the claims about contested objects that support the best value
MIN_CONTESTED = 5
ALWAYS_AGREE = 0.9  # dependence of two sources that count as one
MIN_CLIQUE = 3
FEW_CLAIMS = 2
FEW_SHARE = 0.5  # of the objects
ADVICE = "give some true values (--known) or reliabilities (--reliability)"


@dataclass(frozen=True, slots=True)
class BeliefWarning:
    """A reason to doubt the belief about a slot, and what to do."""

    slot: str
    kind: str
    text: str
    advice: str = ADVICE


def belief_warnings(belief: SlotBelief) -> Iterator[BeliefWarning]:
    """Yield the warnings about one slot."""
    support = _support(belief)
    if len(support) >= MIN_CONTESTED and support.mean() < BARE_MAJORITY:
        share = f"{support.mean():.0%} of the claims about {len(support):,} contested objects"
        yield BeliefWarning(belief.name, "majority", f"the best values have only {share}")
    for names in _cliques(belief):
        text = f"{_listed(names)} nearly always agree and count as about one source"
        yield BeliefWarning(belief.name, "clique", text)
    if belief.second is not None:
        yield BeliefWarning(belief.name, "second solution", _second_text(belief.second))
    few = _few(belief)
    if few > FEW_SHARE:
        text = f"{few:.0%} of the objects have at most {FEW_CLAIMS} claims"
        yield BeliefWarning(belief.name, "few claims", text)


def _second_text(second: SecondMode) -> str:
    names = _listed(second.sources)
    changed = f"{second.changed:.0%} of the {second.contested:,} contested objects"
    return f"another solution, which trusts {names} and changes {changed}, is nearly as likely"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _support(belief: SlotBelief) -> np.typing.NDArray[np.float64]:
    """Return the share of claims for the best value, of every object with several values."""
    statements = belief.parsed.statements
    objects, values = len(statements.objects), max(len(statements.values), 1)
    best = np.full(objects, -1)
    filled = np.diff(belief.starts) > 0
    best[filled] = belief.value[belief.starts[:-1][filled]]
    claims = np.bincount(statements.object, minlength=objects)
    pairs = np.unique(statements.object * values + statements.value)
    several = np.bincount(pairs // values, minlength=objects) > 1
    agree = statements.value == best[statements.object]
    right = np.bincount(statements.object[agree], minlength=objects)
    stated = several & (right > 0)
    return right[stated] / claims[stated]


def _cliques(belief: SlotBelief) -> Iterator[tuple[str, ...]]:
    """Yield groups of sources that are linked by a strong dependence."""
    links = [pair for pair, rho in belief.parameters.dependence.items() if rho >= ALWAYS_AGREE]
    if not links:
        return
    from partita.fusion.schema_comparison import component_names

    groups: dict[str, list[str]] = {}
    for name, first in component_names((n for pair in links for n in pair), links).items():
        groups.setdefault(first, []).append(name)
    for first in sorted(groups):
        if len(groups[first]) >= MIN_CLIQUE:
            yield tuple(sorted(groups[first]))


def _few(belief: SlotBelief) -> float:
    """Return the share of objects with at most two claims."""
    statements = belief.parsed.statements
    claims = np.bincount(statements.object, minlength=len(statements.objects))
    return float(np.mean(claims <= FEW_CLAIMS)) if len(claims) else 0.0
