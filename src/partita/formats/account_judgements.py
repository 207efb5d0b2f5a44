"""Judgements on pairs: which accounts sources hold for the same, with how much confidence."""

from __future__ import annotations

from pathlib import Path

from partita.formats.claim_rows import rows_of
from partita.formats.claims import read_claims
from partita.fusion.accounts import Accounts
from partita.fusion.beliefs import PairBelief
from partita.records import Pair, pair
from partita.templates.words import symbol


def judgement_accounts(path: str | Path) -> Accounts:
    """What sources say of pairs, by the names of objects or of templates."""
    claims = read_claims(path)
    by_source: dict[str, dict[Pair, float]] = {}
    ends = _pairs_of(path)
    for n in range(len(claims)):
        source = claims.sources[claims.source[n]]
        p = _same(claims.values[claims.value[n]], float(claims.confidence[n]))
        if p is None:
            said = claims.values[claims.value[n]]
            raise claims.located(n, f"judgement {said!r} is neither same nor different")
        by_source.setdefault(source, {})[pair(*ends[int(claims.line[n])])] = p
    judgements = tuple(PairBelief(source, pairs) for source, pairs in sorted(by_source.items()))
    return Accounts((), judgements=judgements, reliabilities=dict(claims.reliabilities))


def _pairs_of(path: str | Path) -> dict[int, Pair]:
    found: dict[int, Pair] = {}
    for rows in rows_of(path):
        lower = {name.lower(): name for name in rows.columns}
        sides = [rows.column(lower[side]) for side in ("left", "right")]
        for line, left, right in zip(rows.lines, *sides, strict=True):
            found[line] = (str(left).strip(), str(right).strip())
    return found


def _same(said: str, confidence: float) -> float | None:
    """The probability of "same": a judgement that is not sure leaves as much to the contrary."""
    word = symbol(said)
    if word in ("SAME", "1", "YES", "TRUE", "MATCH"):
        return (1.0 + confidence) / 2
    if word in ("DIFFERENT", "0", "NO", "FALSE", "NON-MATCH"):
        return (1.0 - confidence) / 2
    return None
