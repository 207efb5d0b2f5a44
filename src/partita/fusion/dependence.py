"""Sources that err together: shared wrong values, and pairs that agree more than they should."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.core import BoolArray, FloatArray, IntArray, Pair

if TYPE_CHECKING:
    from partita.fusion.estimation import Candidates, CodedClaims, ValueRelations
    from partita.fusion.value_reading import ClaimStatements

CONCENTRATIONS = np.geomspace(0.02, 1e5, 120)
PRIOR_PAIRS = 1.0  # pairs of wrong claims that agree, and that differ, before any are seen


@dataclass(frozen=True, slots=True, eq=False)
class SharedErrors:
    """Wrong claims about one object follow a Dirichlet–multinomial distribution over its values.

    `size` is the number of claims of each pair of an object and a value, in units of evidence;
    `part` is 1 / the number of its claims; `wrong` is the size of all claims unrelated to each
    candidate. `sizes` and `totals` are the distinct sizes of both, `scores` their log factors by
    concentration. With concentration α two wrong claims agree with a probability of about
    1/(1 + α).
    """

    value: IntArray
    item: IntArray
    size: FloatArray
    part: FloatArray
    wrong: FloatArray
    values: float
    sizes: tuple[FloatArray, IntArray]
    totals: tuple[FloatArray, IntArray]
    scores: tuple[FloatArray, FloatArray]

    @classmethod
    def of(
        cls, claims: CodedClaims, candidates: Candidates, relations: ValueRelations
    ) -> SharedErrors:
        """Return the groups of equal claims of a problem."""
        amount = claims.weight * claims.confidence
        size: FloatArray = np.round(np.bincount(claims.value, amount), 6).astype(np.float64)
        count = np.bincount(claims.value)
        item = np.zeros(len(count), dtype=np.int64)
        item[claims.value] = claims.item
        total = np.bincount(claims.item, amount, minlength=int(candidates.item.max()) + 1)
        related = np.bincount(relations.candidate, amount[relations.claim], len(candidates))
        wrong = np.round(np.maximum(total[candidates.item] - related, 0.0), 6)
        sizes, totals = (np.unique(array, return_inverse=True) for array in (size, wrong))
        values = 1.0 / claims.flat
        scores = (
            _log_sizes(sizes[0], CONCENTRATIONS[:, None], values),
            _log_totals(totals[0], CONCENTRATIONS[:, None]),
        )
        part = 1.0 / np.maximum(count, 1)
        return cls(claims.value, item, size, part, wrong, values, sizes, totals, scores)

    def correction(
        self, candidates: Candidates, relations: ValueRelations, concentration: float
    ) -> FloatArray:
        """Return log P(wrong claims | candidate) beyond that of independent uniform errors."""
        log_sizes = _log_sizes(self.sizes[0], concentration, self.values)[self.sizes[1]]
        sums = np.bincount(self.item, log_sizes, minlength=int(candidates.item.max()) + 1)
        group = self.value[relations.claim]
        related = np.bincount(
            relations.candidate, (log_sizes * self.part)[group], minlength=len(candidates)
        )
        totals = _log_totals(self.totals[0], concentration)[self.totals[1]]
        correction: FloatArray = sums[candidates.item] - related + totals
        return np.where(self.wrong > 0, correction, 0.0)

    def concentration(self, relations: ValueRelations, probability: FloatArray) -> float:
        """Return the most probable concentration, given probabilities of the candidates."""
        group = self.value[relations.claim]
        right = self.part * np.bincount(
            group, probability[relations.candidate], minlength=len(self.size)
        )
        wrong_groups = np.bincount(self.sizes[1], np.clip(1.0 - right, 0.0, 1.0))
        mass = np.bincount(self.totals[1], probability)
        prior = PRIOR_PAIRS * (np.log(CONCENTRATIONS) - 2 * np.log1p(CONCENTRATIONS))
        score = self.scores[0] @ wrong_groups + self.scores[1] @ mass + prior
        return float(CONCENTRATIONS[int(np.argmax(score))])


def _log_sizes(size: FloatArray, concentration: float | FloatArray, values: float) -> FloatArray:
    """Return the factor of a group of equal wrong claims, for a uniform base over the values."""
    from scipy.special import gammaln

    share = concentration / values
    logs: FloatArray = gammaln(size + share) - gammaln(share) + size * np.log(values)
    return logs


def _log_totals(total: FloatArray, concentration: float | FloatArray) -> FloatArray:
    from scipy.special import gammaln

    logs: FloatArray = gammaln(concentration) - gammaln(concentration + total)
    return logs


MIN_COMMON = 10  # objects of two sources whose agreement is tested
ALWAYS = 0.97  # agreement of two sources that seem to be one
MIN_EXCESS = 0.1  # agreement beyond the expected one that counts as dependence
SIGNIFICANCE = 1e-3  # of so few disagreements, times the number of pairs
MAX_SOURCES = 2000
ROUNDS = 60
CONVERGED = 1e-5  # change of a rate after which the fit ends
TYPICAL_EXCESS = 0.03  # larger ones have less influence on the fit


def agreeing_pairs(statements: ClaimStatements, apart: str = "") -> dict[Pair, float]:
    """Return pairs of sources that agree more than their agreement with others explains.

    If source s is right at the rate q_s, two independent sources agree at about q_s·q_t (more by
    chance, if values are few). The rates are fitted to all pairs; pairs that nearly always agree,
    and those with a large excess, have little or no influence. The source `apart` is left out.
    """
    from scipy.special import gammaincc

    compared = agreement_of_sources(statements, {apart})
    if compared is None:
        return {}
    agreement, common, chance = compared
    tested, same = common > 0, agreement * common
    fitted = tested & (agreement < ALWAYS)
    if fitted.sum() < 6:
        return {}
    expected = _expected(agreement, np.where(fitted, common, 0.0), chance)
    excess = agreement - expected
    few = gammaincc(common - same + 1, np.maximum(common * (1 - expected), 1e-9))
    unusual = few * tested.sum() / 2 < SIGNIFICANCE
    first, second = np.nonzero(np.triu(tested & (excess > MIN_EXCESS) & unusual, 1))
    rho = np.clip(excess / np.maximum(1 - expected, 1e-9), 0.0, 1.0)
    names = statements.sources
    return {
        (names[a], names[b]): float(rho[a, b])
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    }


def agreement_of_sources(
    statements: ClaimStatements, apart: Collection[str] = ()
) -> tuple[FloatArray, FloatArray, float] | None:
    """Return how often each two sources agree, on how many objects, and that of chance.

    The number is 0 where they have few objects in common; sources `apart` are left out.
    """
    sources = len(statements.sources)
    if not 3 <= sources <= MAX_SOURCES:
        return None
    pair = statements.object * max(len(statements.values), 1) + statements.value
    common = count_common(statements.source, statements.object, sources)
    same = count_common(statements.source, pair, sources)
    tested = (common >= MIN_COMMON) & ~np.eye(sources, dtype=bool)
    left_out = [n for n, name in enumerate(statements.sources) if name in apart]
    tested[left_out] = tested[:, left_out] = False
    agreement = np.minimum(same / np.maximum(common, 1.0), 1.0)
    return agreement, np.where(tested, common, 0.0), _chance(statements)


def _chance(statements: ClaimStatements) -> float:
    """Return the probability that two claims about different objects agree."""
    shares = np.bincount(statements.value) / max(len(statements), 1)
    return float((shares**2).sum())


def _expected(agreement: FloatArray, weight: FloatArray, chance: float) -> FloatArray:
    """Return the agreement of independent sources, from a robust fit of the rate of each."""
    known = np.clip((agreement - chance) / max(1 - chance, 1e-9), 0.0, 1.0)
    start = np.sqrt((weight * known).sum() / max(weight.sum(), 1e-9))
    rate = np.full(len(known), start)
    influence, work = weight.copy(), np.empty_like(known)
    scaled = weight * TYPICAL_EXCESS
    for _ in range(ROUNDS):
        below = np.einsum("ij,j->i", influence, rate**2) + 1e-9
        before = rate
        above = np.einsum("ij,ij,j->i", influence, known, rate)
        rate = 0.5 * np.clip(above / below, 0.0, 1.0) + 0.5 * rate
        if np.abs(rate - before).max() < CONVERGED:
            break
        np.subtract(known, np.outer(rate, rate, out=work), out=work)
        np.divide(scaled, np.maximum(work, TYPICAL_EXCESS, out=work), out=influence)
    expected: FloatArray = chance + (1 - chance) * np.outer(rate, rate)
    some = weight.sum(axis=1) > 0
    return np.where(np.outer(some, some), expected, 1.0)


def count_common(source: IntArray, thing: IntArray, sources: int) -> FloatArray:
    """Count the distinct things that each two sources share."""
    from scipy.sparse import csr_array

    names, column = np.unique(thing, return_inverse=True)
    shape = (sources, len(names))
    ones: Any = csr_array((np.ones(len(source)), (source, column)), shape=shape)
    ones.data[:] = 1.0
    counts: FloatArray = (ones @ ones.T).toarray()
    return counts


def _dependence_matrix(statements: ClaimStatements, dependence: Mapping[Pair, float]) -> Any:
    """Return ρ of every two sources as a sparse matrix, None if no pair is listed."""
    from scipy.sparse import csr_array

    place = {name: n for n, name in enumerate(statements.sources)}
    listed = [(place[a], place[b], rho) for (a, b), rho in dependence.items()
              if a in place and b in place]  # fmt: skip
    if not listed:
        return None
    left, right, rho = (np.array(column) for column in zip(*listed, strict=True))
    ends = (np.concatenate([left, right]), np.concatenate([right, left]))
    return csr_array((np.tile(rho, 2), ends), shape=(len(place), len(place)))


def dependent_claims(
    statements: ClaimStatements, held: BoolArray, dependence: Mapping[Pair, float]
) -> BoolArray:
    """Return the held statements, at most one per object, and those of dependent sources."""
    matrix = _dependence_matrix(statements, dependence)
    if matrix is None:
        return held
    source = np.full(len(statements.objects), -1)
    source[statements.object[held]] = statements.source[held]
    about = source[statements.object]
    both = np.asarray(matrix[np.maximum(about, 0), statements.source]).reshape(-1)
    return held | ((about >= 0) & (both > 0))


def claim_weights(statements: ClaimStatements, dependence: Mapping[Pair, float]) -> FloatArray:
    """Return the weight of every statement: 1 / (1 + Σ ρ c) over those that say the same.

    ρ is the dependence of the two sources; it is 0 for pairs that are not listed. c is the other
    statement's confidence: one that hardly counts is no reason to count less.
    """
    from scipy.sparse import csr_array

    weights = np.ones(len(statements))
    matrix = _dependence_matrix(statements, dependence)
    if matrix is None:
        return weights
    sources = len(statements.sources)
    dependent = np.flatnonzero((np.diff(matrix.indptr) > 0)[statements.source])
    key = statements.object[dependent] * max(len(statements.values), 1)
    _, group = np.unique(key + statements.value[dependent], return_inverse=True)
    source = statements.source[dependent]
    confidence = statements.confidence[dependent]
    stated: Any = csr_array((confidence, (source, group)), shape=(sources, group.max() + 1))
    others = np.asarray((matrix @ stated)[source, group]).reshape(-1)
    weights[dependent] = 1.0 / (1.0 + others)
    return weights


def effective_sources(statements: ClaimStatements, weights: FloatArray, apart: str = "") -> float:
    """Return the number of sources, each counted with the mean weight of its claims."""
    claims = np.bincount(statements.source, minlength=len(statements.sources))
    sums = np.bincount(statements.source, weights, minlength=len(statements.sources))
    return float((sums / np.maximum(claims, 1)).sum()) - (apart in statements.sources)
