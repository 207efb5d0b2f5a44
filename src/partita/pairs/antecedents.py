"""What the reference module recommends, by pairs: S is preferred, possible or unlisted for T.

Preferred is transitive: S is preferred for T if a chain of preferred antecedents leads from T to
S. Up to a few thousand templates the answers stand in a table, beyond that in a sorted list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.pairs.interning import Codes, Places
from partita.records import Template

UNLISTED, POSSIBLE, PREFERRED = range(3)
TABLE = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """Pairs that are listed, as S·n + T in order, with their codes; or all pairs in a table."""

    size: int
    keys: NDArray[np.int64]
    codes: Codes
    table: Codes | None

    def of(self, s: Places, t: Places) -> Codes:
        if self.table is not None:
            return self.table[s, t]
        if not len(self.keys):
            return np.zeros(len(s), dtype=np.uint8)
        wanted = s * self.size + t
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[at] == wanted, self.codes[at], UNLISTED).astype(np.uint8)


def listed(templates: Sequence[Template]) -> Listed:
    """All antecedents that the templates name among themselves, with the chains of preferred ones.

    A later template is S nowhere: what is said of two counts for the pair in text order.
    """
    n = len(templates)
    place = {template.id: k for k, template in enumerate(templates)}
    found: dict[int, int] = {}
    chains: list[set[int]] = [set() for _ in templates]
    for t in _backwards_last(templates, place):
        for one in templates[t].antecedents:
            if (s := place.get(one.id)) is None or s == t:
                continue
            key = min(s, t) * n + max(s, t)
            found[key] = max(found.get(key, UNLISTED), POSSIBLE)
            if one.preferred:
                chains[t] |= {s} | chains[s]
        for s in chains[t] - {t}:
            found[min(s, t) * n + max(s, t)] = PREFERRED
    return _listed(n, found)


def _backwards_last(templates: Sequence[Template], place: dict[str, int]) -> list[int]:
    """Templates after their own preferred antecedents, which a heading may have below it."""
    order: list[int] = []
    state = [0] * len(templates)
    for root in range(len(templates)):
        waiting = [root]
        while waiting:
            here = waiting[-1]
            if state[here] == 0:
                state[here] = 1
                waiting += [k for k in _preferred(templates[here], place) if state[k] == 0]
            else:
                waiting.pop()
                if state[here] == 1:
                    state[here] = 2
                    order.append(here)
    return order


def _preferred(template: Template, place: dict[str, int]) -> list[int]:
    return [place[one.id] for one in template.antecedents if one.preferred and one.id in place]


def _listed(n: int, found: dict[int, int]) -> Listed:
    keys = np.array(sorted(found), dtype=np.int64)
    codes = np.array([found[key] for key in keys.tolist()], dtype=np.uint8)
    table = None
    if n <= TABLE:
        table = np.zeros((n, n), dtype=np.uint8)
        table[keys // max(n, 1), keys % max(n, 1)] = codes
    return Listed(n, keys, codes, table)
