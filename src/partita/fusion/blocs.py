"""Blocs of sources: groups whose members agree with each other more than with other groups.

Sources s and t agree at the rate q_s q_t, times Ω of their blocs if these differ. One bloc may be
sources that know the truth alone, the others each show one feed. Which one that is can be seen
where blocs contradict each other: a source that leaves its own bloc there, and knows something,
states what the bloc that knows the truth states.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from partita.core import BoolArray, FloatArray, IntArray, Pair
from partita.fusion.belief import Parameters
from partita.fusion.dependence import ALWAYS, agreement_of_sources
from partita.fusion.value_reading import ClaimStatements

HALF = 0.5  # confidence of a claim that is compared; above it an explanation is the first
MAX_SOURCES = 200  # those with the most claims
MAX_BLOCS = 3
MIN_MEMBERS = 3  # of the larger of two blocs
MISFIT = 1.3  # of fewer blocs, over that of chance alone
GAIN = 0.4  # part of the misfit that another bloc takes away
MAX_AGREEMENT = 0.88  # of two blocs; if they agree more, little depends on them
NOBODY_KNOWS = 0.1  # probability that both of two blocs show a feed
KNOWING = 0.5  # probability that sources that leave a feed know something
TOGETHER = 0.5  # weight of a claim that leaves a bloc: some leave it together
CHANCE = 1.0, 6.0  # beta distributions of the share of leaving claims that join another bloc:
KNOWN, BETWEEN = (6.0, 2.0), (5.0, 7.0)  # by chance, if it knows and they do, if none does
ROUNDS, MOVES = 25, 10


@dataclass(frozen=True, slots=True)
class SourceBlocs:
    """Two explanations of what blocs of sources say, the more probable first.

    `dependence` is ρ of the pairs of sources in blocs that show one feed, `rival` the same of the
    other explanation, which has the probability `doubt` and by which the sources `trusted` know the
    truth. `sizes` are numbers of sources.
    """

    sizes: tuple[int, ...] = ()
    dependence: Mapping[Pair, float] = field(default_factory=dict)
    rival: Mapping[Pair, float] = field(default_factory=dict)
    doubt: float = 0.0
    trusted: tuple[str, ...] = ()

    def doubted(self, doubt: float) -> SourceBlocs:
        """Return the explanations with another probability of the rival, the probable one first."""
        if doubt <= HALF:
            return replace(self, doubt=doubt)
        return SourceBlocs(self.sizes, self.rival, self.dependence, 1.0 - doubt)


def fixed_blocs(parameters: Parameters) -> SourceBlocs:
    """Return the explanations that parameters have."""
    rival = parameters.rival.dependence if parameters.rival else {}
    return SourceBlocs(parameters.blocs, parameters.dependence, rival, parameters.doubt)


def find_blocs(statements: ClaimStatements, apart: Collection[str] = ()) -> SourceBlocs | None:
    """Return the blocs of the sources of a slot, if there are any; those `apart` are in none."""
    compared = agreement_of_sources(statements.only(statements.confidence >= HALF), apart)
    if compared is None:
        return None
    agreement, common, chance = compared
    tested = np.flatnonzero(common.sum(axis=1) > 0)
    tested = tested[np.argsort(-common[tested].sum(axis=1), kind="stable")][:MAX_SOURCES]
    chosen = np.ix_(tested, tested)
    known = np.clip((agreement[chosen] - chance) / max(1.0 - chance, 1e-9), 0.0, 1.0)
    weight = common[chosen]
    noise = float((known * (1.0 - known))[weight > 0].sum()) / max(1.0 - chance, 1e-9)
    found = _split(known, weight, noise)
    if found is None:
        return None
    bloc = np.full(len(statements.sources), -1)
    bloc[tested] = found.bloc
    sizes, claims = np.bincount(found.bloc), np.bincount(bloc[statements.source] + 1)[1:]
    always = [found.rate[found.bloc == n].mean() ** 2 > ALWAYS for n in range(len(sizes))]
    names, several = np.array(statements.sources), np.flatnonzero(sizes > 1).tolist()
    several.sort(key=lambda n: (always[n], -sizes[n], -claims[n], min(names[bloc == n])))
    if len(several) < 2:
        return None
    place = np.full(len(sizes) + 1, -1)
    place[several] = np.arange(len(several))
    members = [tuple(names[bloc == n].tolist()) for n in several]
    copies = [always[n] for n in several]
    return _explained(members, copies, _log_joined(statements, place[bloc], len(several)))


def _explained(
    members: Sequence[tuple[str, ...]], copies: Sequence[bool], joined: FloatArray
) -> SourceBlocs:
    """Return the two likeliest explanations: that one bloc knows the truth, or that none does.

    Without evidence every source is as likely to be among those who know as any other; a bloc of
    `copies` is one source. Where there are feeds of about one size, there may be feeds only.
    """
    sizes = np.array([1 if copy else len(bloc) for bloc, copy in zip(members, copies, strict=True)])
    alike = min((sizes[1] / sizes[0]) ** 2, 1.0 - NOBODY_KNOWS)
    nobody = NOBODY_KNOWS if len(sizes) == 2 else alike
    prior = np.append((1.0 - nobody) * sizes / sizes.sum(), nobody)
    weight = prior * np.exp(joined - joined.max())
    first, second = np.argsort(-weight, kind="stable")[:2].tolist()
    dependence, rival = (_all_pairs([one for n, one in enumerate(members) if n != knows])
                         for knows in (first, second))  # fmt: skip
    doubt = float(weight[second] / (weight[first] + weight[second]))
    trusted = members[second] if second < len(members) else ()
    return SourceBlocs(tuple(map(len, members)), dependence, rival, doubt, trusted)


def _log_joined(statements: ClaimStatements, bloc: IntArray, count: int) -> FloatArray:
    """Return log P(which blocs are joined by sources that leave theirs | one bloc, or none, knows).

    Where two blocs state different values, each at least twice and more often than any other
    value, a source leaves its bloc if it states another value than that. `bloc` is that of every
    source, −1 for none.
    """
    from scipy.special import betaln

    mine, values = bloc[statements.source], len(statements.values)
    stated = (statements.object * count + mine) * values + statements.value
    keys, times = np.unique(stated[mine >= 0], return_counts=True)
    order = np.lexsort((-times, keys // values))
    where, times = (keys // values)[order], times[order]
    first = np.diff(where, prepend=-1) > 0
    rival = np.where(np.append(~first[1:], False), np.append(times[1:], 0), 1)
    clear = first & (times > rival)
    shown = np.full(len(statements.objects) * count, -1)
    shown[where[clear]] = (keys % values)[order][clear]
    shown = shown.reshape(-1, count)[statements.object]
    own = np.where(mine >= 0, shown[np.arange(len(mine)), mine], -1)
    leaving = (own >= 0) & (statements.value != own)
    logs = np.zeros(count + 1)
    for n in range(count):
        left = leaving & (mine != n) & (shown[:, n] >= 0) & (shown[:, n] != own)
        joins = TOGETHER * int((left & (statements.value == shown[:, n])).sum())
        stays = TOGETHER * int(left.sum()) - joins
        chance, known, between = (betaln(a + joins, b + stays) - betaln(a, b)
                                  for a, b in (CHANCE, KNOWN, BETWEEN))  # fmt: skip
        logs[n] = known - chance
        logs[-1] += between - chance
    informed: FloatArray = np.logaddexp(np.log(KNOWING) + logs, np.log1p(-KNOWING))
    return informed


def _all_pairs(blocs: Iterable[Sequence[str]]) -> dict[Pair, float]:
    return {pair: 1.0 for bloc in blocs for pair in combinations(sorted(bloc), 2)}


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """Blocs of sources with the rate of each source, Ω of blocs, and the weighted misfit."""

    bloc: IntArray
    rate: FloatArray
    agreement: FloatArray
    misfit: float


def _split(known: FloatArray, weight: FloatArray, noise: float) -> _Fit | None:
    """Return the blocs that explain the agreement, None if there is one only."""
    if len(known) < 2 * MIN_MEMBERS - 1:
        return None
    fit = _fitted(known, weight, np.zeros(len(known), dtype=np.int64))
    if fit.misfit < MISFIT * noise:
        return None
    for count in range(2, MAX_BLOCS + 1):
        more = [_moved(known, weight, start) for start in _halved(known, weight, fit)]
        better = min(more, key=lambda one: one.misfit, default=fit)
        if better.misfit > (1.0 - GAIN) * fit.misfit:
            break
        if count == 2 and better.agreement[0, 1] > MAX_AGREEMENT:
            return None
        fit = better
        if fit.misfit < noise:
            break
    return fit if fit.bloc.any() else None


def _halved(known: FloatArray, weight: FloatArray, fit: _Fit) -> Iterable[IntArray]:
    """Yield blocs of which one is divided, by the first eigenvector of what is not explained."""
    expected = fit.agreement[np.ix_(fit.bloc, fit.bloc)] * np.outer(fit.rate, fit.rate)
    rest = weight * (known - expected)
    for bloc in range(len(fit.agreement)):
        inside = np.flatnonzero(fit.bloc == bloc)
        _, vectors = np.linalg.eigh(rest[np.ix_(inside, inside)])
        side = vectors[:, -1] > 0
        if 0 < side.sum() < len(side):
            halves = fit.bloc.copy()
            halves[inside[side]] = len(fit.agreement)
            yield halves


def _moved(known: FloatArray, weight: FloatArray, bloc: IntArray) -> _Fit:
    """Fit blocs, and move sources to the bloc that explains them best, until none moves."""
    fit = _fitted(known, weight, bloc)
    for _ in range(MOVES):
        rates = np.outer(fit.rate, fit.rate)
        misfits = [(weight * (known - row[fit.bloc] * rates) ** 2).sum(axis=1)
                   for row in fit.agreement]  # fmt: skip
        best = np.argmin(misfits, axis=0)
        if (best == fit.bloc).all() or len(np.unique(best)) < len(misfits):
            break
        fit = _fitted(known, weight, best)
    return fit


def _fitted(known: FloatArray, weight: FloatArray, bloc: IntArray) -> _Fit:
    """Fit rates and the agreement of blocs by least squares, in turn."""
    count = int(bloc.max()) + 1
    member: BoolArray = bloc == np.arange(count)[:, None]
    sides = member.astype(np.float64)
    agreement = np.where(np.eye(count, dtype=bool), 1.0, 0.7)
    rate = np.full(len(known), np.sqrt((weight * known).sum() / max(weight.sum(), 1e-9)))
    for _ in range(ROUNDS):
        between = agreement[np.ix_(bloc, bloc)]
        above = (weight * known * between) @ rate
        below = (weight * between * between) @ rate**2
        rate = 0.5 * rate + 0.5 * np.clip(above / np.maximum(below, 1e-9), 0.02, 1.0)
        rates = np.outer(rate, rate)
        above = sides @ (weight * known * rates) @ sides.T
        below = sides @ (weight * rates**2) @ sides.T
        agreement = np.clip(above / np.maximum(below, 1e-9), 0.0, 1.0)
        np.fill_diagonal(agreement, 1.0)
    misfit = weight * (known - agreement[np.ix_(bloc, bloc)] * np.outer(rate, rate)) ** 2
    return _Fit(bloc, rate, agreement, float(misfit.sum()))
