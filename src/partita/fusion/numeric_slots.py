"""Numbers and days: a source is exact, near the truth or guessing; the size of errors is learned.

A claim v about the truth t is exact (or rounds t), or differs from it by a Student t error with the
scale of its source, or has nothing to do with it. Errors are relative (a difference of logarithms)
where they grow with the values. The truth is a stated value or lies in a cell between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray
from partita.fusion.estimation import (
    Candidates,
    EstimationProblem,
    Expected,
    Rates,
    SlotEstimate,
    ValueRelations,
    estimate_rates,
    expect,
    likelihoods,
)
from partita.fusion.open_slots import EXACT, GENERAL, GUESS, UNNAMED, guessing_problem, ranges
from partita.fusion.parsed_claims import positions
from partita.fusion.value_reading import MIN_VALUES, ClaimStatements, ParsedSlot

DEGREES = (1.0, 2.0, 4.0, 8.0, 30.0)  # of freedom of Student's t
MIN_NEAR = 8  # claims near others before errors are learned
MIN_NEAR_SHARE = 0.1  # of the claims that do not agree exactly
MAX_SCALE = 0.1  # of the spread of all values, where many claims agree exactly
MIN_TIED = 0.2  # share of claims that agree exactly, below which any scale is accepted
SCALE_WEIGHT = 3.0  # of the scale of all sources, in claims
SCALE_ROUNDS = 4
FIRST_ROUNDS, QUICK_ROUNDS = 12, 6  # of the estimation of rates while scales are learned
SCALE_TOLERANCE = 0.02
FRAME_TOLERANCE = 0.2  # change of a scale (log) after which candidates are made anew
OFFSETS = np.array([-4.0, -1.5, -0.5, 0.5, 1.5, 4.0])  # of cells, in scales
MAX_CELLS = 36  # of one object
CELL_GAP = 0.5  # of the finest scale: a density is nearly even within it
MANY_CLAIMS, FEW_CELLS = 200_000, 8  # fewer cells save memory
LEAST_FACTOR = 0.01  # of the probability of a guess; nearness below it is none
MIN_STEP_CLAIMS = 10
STEP_SHARE = 0.97  # of a source's claims that are multiples of its step
MAX_GUESSED = 0.8  # of the claims, above which the rates are estimated from another start
KNOWING = np.array([[0.9, 0.05, 0.05]])
USUALLY = 0.5  # mean probability that the true value is stated, above which the margin is 0
LEVEL = 0.95  # of stated intervals


@dataclass(frozen=True, slots=True)
class ErrorScales:
    """The errors of numbers or days: their scale by source, and `pooled` for an unseen source.

    `relative` says that they are differences of logarithms, `spread` is the range of all values,
    `grain` the distance between two values that can be stated, `degrees` is that of Student's t,
    `steps` are those to which sources round. Values within the `margin` count as one; it is 0 where
    true values are usually stated exactly. An object has at most so many `cells`.
    """

    relative: bool
    spread: float
    grain: float
    pooled: float
    degrees: float
    scales: Mapping[str, float] = field(default_factory=dict)
    steps: Mapping[str, float] = field(default_factory=dict)
    margin: float = 0.0
    cells: int = MAX_CELLS

    def positions(self, values: FloatArray) -> FloatArray:
        """Return where values lie on the line on which errors are measured."""
        return np.log(np.maximum(values, 1e-300)) if self.relative else values

    def of(self, sources: list[str] | tuple[str, ...]) -> FloatArray:
        return np.array([self.scales.get(source, self.pooled) for source in sources])


@dataclass(frozen=True, slots=True, eq=False)
class NumericProblem:
    """The problem, the value of every candidate (UNNAMED: a cell), and its position and width.

    The last candidates, one for each object, lie anywhere else; their position is NaN.
    """

    problem: EstimationProblem
    value: IntArray
    position: FloatArray
    width: FloatArray


def first_scales(parsed: ParsedSlot) -> ErrorScales | None:
    """Return the scales that residuals from medians suggest; None without such errors."""
    statements = parsed.statements
    values = positions(statements.values, parsed.kind)
    used = np.unique(statements.value)
    if not len(used) or not np.isfinite(values[used]).all():
        return None
    relative = parsed.kind == "number" and _grows(statements, values)
    steps = _steps(statements, values, parsed.kind)
    scales = ErrorScales(relative, 0.0, 0.0, 0.0, 4.0, steps=steps)
    line = scales.positions(values)[statements.value]
    low, high = np.quantile(line, [0.05, 0.95])
    spread = float(high - low) / 0.9
    if spread <= 0:
        return None
    residual, tied = _residuals(statements, line)
    near = np.isfinite(residual) & ~tied & (residual != 0)
    if near.sum() < MIN_NEAR:
        return None
    share, pooled = _mixture(np.abs(residual[near]), spread)
    many_tied = tied.mean() > MIN_TIED
    if share < max(MIN_NEAR_SHARE, MIN_NEAR / near.sum()) or (
        many_tied and pooled > MAX_SCALE * spread
    ):
        return None
    by_source = _scales_by_source(statements, residual, near, pooled, spread)
    degrees = _degrees(residual[near] / by_source[statements.source[near]], spread / pooled)
    named = dict(zip(statements.sources, by_source.tolist(), strict=True))
    grain = _grain(values[used], relative, spread / max(len(used), MIN_VALUES[parsed.kind]))
    return replace(
        scales,
        spread=spread,
        grain=grain,
        pooled=pooled,
        degrees=degrees,
        scales=named,
        cells=MAX_CELLS if len(statements) <= MANY_CLAIMS else FEW_CELLS,
    )


def _grain(values: FloatArray, relative: bool, most: float) -> float:
    """Return the distance between two numbers that can be stated, at the median of all."""
    step = _step(values)
    step = step / float(np.median(np.abs(values))) if relative else step
    return min(step, most) if step > 0 else most


def _grows(statements: ClaimStatements, values: FloatArray) -> bool:
    """Return whether deviations within an object grow with the size of its values."""
    x = values[statements.value]
    if (x <= 0).any():
        return False
    residual, _ = _residuals(statements, x)
    some = np.isfinite(residual) & (residual != 0)
    size, deviation = np.log(x[some]), np.log(np.abs(residual[some]))
    if some.sum() < MIN_NEAR or size.std() < 0.2:
        return False
    return bool(np.cov(size, deviation)[0, 1] / size.var() > 0.5)


def _residuals(
    statements: ClaimStatements, line: FloatArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the distance of claims from their object's median, and which agree exactly."""
    objects = len(statements.objects)
    order = np.lexsort((line, statements.object))
    count = np.bincount(statements.object, minlength=objects)
    start = np.cumsum(count) - count
    ordered = line[order]
    last = max(len(line) - 1, 0)
    middle = (ordered[np.minimum(start + (count - 1) // 2, last)]
              + ordered[np.minimum(start + count // 2, last)]) / 2  # fmt: skip
    several = count[statements.object] > 1
    factor = np.sqrt(count / np.maximum(count - 1, 1))[statements.object]
    residual = np.where(several, (line - middle[statements.object]) * factor, np.nan)
    key = statements.object * max(len(statements.values), 1) + statements.value
    _, inverse, times = np.unique(key, return_inverse=True, return_counts=True)
    return residual, times[inverse] > 1


def _density(residual: FloatArray, scale: FloatArray | float, degrees: float) -> FloatArray:
    """Return the density of Student's t with a scale."""
    from scipy.special import gammaln

    top = gammaln((degrees + 1) / 2) - gammaln(degrees / 2) - np.log(degrees * np.pi) / 2
    z = residual / scale
    density: FloatArray = np.exp(top - (degrees + 1) / 2 * np.log1p(z * z / degrees)) / scale
    return density


def _mixture(residual: FloatArray, spread: float, degrees: float = 2.0) -> tuple[float, float]:
    """Return the share of residuals that are errors of a common scale, and the scale."""
    share, scale = 0.5, max(float(np.quantile(residual, 0.25)), 1e-12)
    for _ in range(50):
        near = share * _density(residual, scale, degrees)
        weight = near / (near + (1 - share) / spread)
        tail = (degrees + 1) / (degrees + (residual / scale) ** 2)
        share = float(np.clip(weight.mean(), 0.001, 0.999))
        scale = max(float(np.sqrt((weight * tail * residual**2).sum() / weight.sum())), 1e-12)
    return share, scale


def _scales_by_source(
    statements: ClaimStatements,
    residual: FloatArray,
    near: NDArray[np.bool_],
    pooled: float,
    spread: float,
) -> FloatArray:
    """Return the median residual of every source, drawn towards the scale of all."""
    scales = np.full(len(statements.sources), pooled)
    kept = near & (np.abs(np.where(near, residual, 0.0)) < spread)
    for n, mine in enumerate(_by_source(np.abs(residual), statements, kept)):
        if len(mine):
            known = float(np.median(mine))
            logs = len(mine) * np.log(max(known, 1e-12)) + SCALE_WEIGHT * np.log(pooled)
            scales[n] = np.exp(logs / (len(mine) + SCALE_WEIGHT))
    return scales


def _by_source(
    values: FloatArray, statements: ClaimStatements, kept: NDArray[np.bool_] | None = None
) -> list[FloatArray]:
    """Return the values of the statements of every source."""
    chosen = np.arange(len(values)) if kept is None else np.flatnonzero(kept)
    source = statements.source[chosen]
    order = np.argsort(source, kind="stable")
    ends = np.searchsorted(source[order], np.arange(1, len(statements.sources)))
    return np.split(values[chosen][order], ends)


def _degrees(standard: FloatArray, spread: float) -> float:
    """Return the degrees of freedom that fit standardised residuals best, beside guesses."""

    def score(degrees: float) -> float:
        share, scale = _mixture(np.abs(standard), spread, degrees)
        mixed = share * _density(standard, scale, degrees) + (1 - share) / spread
        return float(np.log(mixed).sum())

    return max(DEGREES, key=score)


def _steps(statements: ClaimStatements, values: FloatArray, kind: str) -> dict[str, float]:
    """Return the step of every source that rounds more than most claims do."""
    if kind != "number":
        return {}
    stated = _by_source(values[statements.value], statements)
    few = _step(values[statements.value])
    found = np.array([_step(mine) if len(mine) >= MIN_STEP_CLAIMS else few for mine in stated])
    usual = float(np.median(found[statements.source]))
    steps = zip(statements.sources, found.tolist(), strict=True)
    return {source: step for source, step in steps if step > usual}


def _step(values: FloatArray) -> float:
    """Return the largest power of ten of which nearly all values are multiples."""
    nonzero = np.abs(values[values != 0])
    for power in range(9, -9, -1):
        units = nonzero / 10.0**power
        whole = np.abs(units - np.round(units)) < 1e-6 * np.round(units)
        if len(units) and whole.mean() >= STEP_SHARE:
            return float(10.0**power)
    return 0.0


@dataclass(frozen=True, slots=True, eq=False)
class NumericFrame:
    """What does not change while scales are learned: candidates, and the claims around each.

    Pair n is a `claim` and a `candidate` in its window; `above` and `below` are the ends of the
    claim's interval, seen from the candidate, and `exact` says that it may state just this.
    """

    candidates: Candidates
    value: IntArray
    position: FloatArray
    width: FloatArray
    density: FloatArray
    claim: IntArray
    candidate: IntArray
    exact: NDArray[np.bool_]
    above: FloatArray
    below: FloatArray


def numeric_frame(parsed: ParsedSlot, scales: ErrorScales) -> NumericFrame:
    """Return the candidates (stated values, cells around them, anything else) and their claims."""
    statements, objects = parsed.statements, len(parsed.statements.objects)
    raw = positions(statements.values, parsed.kind)
    line = scales.positions(raw)
    grain = scales.grain
    pairs = np.unique(statements.object * len(statements.values) + statements.value)
    atom_object, atom = pairs // len(statements.values), pairs % len(statements.values)
    cell_object, cell, cell_width = _cells(statements, line, scales, grain)
    rest = np.arange(objects)
    item = np.concatenate([atom_object, cell_object, rest])
    position = np.concatenate([line[atom], cell, np.full(objects, np.nan)])
    width = np.concatenate([np.full(len(atom), grain), cell_width, np.zeros(objects)])
    share = width / scales.spread
    taken = np.bincount(item, share, minlength=objects)
    share[-objects:] = np.maximum(1.0 - taken, grain / scales.spread)
    value = np.concatenate([atom, np.full(len(cell) + objects, UNNAMED)])
    candidates = Candidates(item, 0 * item, 0 * item, np.log(share))
    low, high = _bounds(statements, raw, scales, grain)
    density = np.minimum((high - low) / scales.spread, 1.0)
    claim, candidate = _windows(
        statements, scales, (low, high), item[:-objects], position[:-objects]
    )
    above, below = high[claim] - position[candidate], low[claim] - position[candidate]
    rounds = np.array([source in scales.steps for source in statements.sources])
    exact = value[candidate] == statements.value[claim]
    exact |= (below <= 0) & (above >= 0) & rounds[statements.source[claim]]
    return NumericFrame(candidates, value, position, width, density, claim, candidate, exact,
                        above, below)  # fmt: skip


def numeric_problem(
    parsed: ParsedSlot, scales: ErrorScales, weights: FloatArray, frame: NumericFrame | None = None
) -> NumericProblem:
    """Return the problem of these scales; without a frame, in that of the scales."""
    frame = frame or numeric_frame(parsed, scales)
    relations = _relations(parsed.statements, scales, frame)
    problem = guessing_problem(
        parsed.statements,
        frame.candidates,
        relations,
        frame.density,
        scales.grain / scales.spread,
        weights,
    )
    return NumericProblem(problem, frame.value, frame.position, frame.width)


def _cells(
    statements: ClaimStatements, line: FloatArray, scales: ErrorScales, grain: float
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the cells around the stated values: object, position and width.

    Cells lie at multiples of the scale of each claim's source. Of those nearer to each other than
    the finest scale tells apart one is kept, and of too many those of the most exact claims.
    """
    scale = scales.of(list(statements.sources))[statements.source]
    owner = np.repeat(np.arange(len(statements)), len(OFFSETS))
    offset = np.tile(OFFSETS, len(statements))
    fine = scale[owner]
    where = line[statements.value[owner]] + offset * fine
    thing = statements.object[owner]
    finest = np.full(len(statements.objects), np.inf)
    np.minimum.at(finest, thing, fine)
    rank = np.lexsort((where, np.abs(offset), fine, thing))
    place = np.floor(where / (CELL_GAP * finest[thing]))[rank]
    again = np.lexsort((np.arange(len(rank)), place, thing[rank]))
    new = (np.diff(thing[rank][again], prepend=-1) != 0) | (np.diff(place[again], prepend=0) != 0)
    rank = rank[np.sort(again[new])]
    start = np.searchsorted(thing[rank], thing[rank], "left")
    kept = rank[np.arange(len(rank)) - start < scales.cells]
    kept = kept[np.lexsort((where[kept], thing[kept]))]
    thing, where, fine = thing[kept], where[kept], fine[kept]
    gap = np.diff(where)
    same = np.diff(thing) == 0
    left = np.minimum(np.append(np.inf, np.where(same, gap, np.inf)) / 2, 2 * fine)
    right = np.minimum(np.append(np.where(same, gap, np.inf), np.inf) / 2, 2 * fine)
    width = left + right
    some = width > grain * 1e-3
    return thing[some], where[some], width[some]


def _bounds(
    statements: ClaimStatements, raw: FloatArray, scales: ErrorScales, grain: float
) -> tuple[FloatArray, FloatArray]:
    """Return the interval of the line that each claim stands for, as far as its source rounds."""
    value = raw[statements.value]
    line = scales.positions(value)
    half = np.array([scales.steps.get(source, 0.0) / 2 for source in statements.sources])
    step = half[statements.source]
    low = np.minimum(line - grain / 2, scales.positions(value - step))
    high = np.maximum(line + grain / 2, scales.positions(value + step))
    return np.maximum(low, line - scales.spread / 2), np.minimum(high, line + scales.spread / 2)


def _windows(
    statements: ClaimStatements,
    scales: ErrorScales,
    bounds: tuple[FloatArray, FloatArray],
    item: IntArray,
    position: FloatArray,
) -> tuple[IntArray, IntArray]:
    """Return the claims and candidates of which the claim is near enough to matter.

    The candidates of an object are sorted, and a claim has those between two ends.
    """
    scale = scales.of(list(statements.sources))[statements.source]
    reach = _reach(scales) * scale
    order = np.lexsort((position, item))
    ends = [
        _places(item[order], position[order], statements.object, end, after)
        for end, after in ((bounds[0] - reach, 0), (bounds[1] + reach, 1))
    ]
    claim, at = ranges(ends[0], np.maximum(ends[1] - ends[0], 0))
    return claim, order[at]


def _places(
    item: IntArray, position: FloatArray, wanted: IntArray, end: FloatArray, after: int
) -> IntArray:
    """Return how many sorted candidates come before an end in an object (with it, if `after`)."""
    both = np.lexsort((
        np.concatenate([np.full(len(item), 1 - after), np.full(len(wanted), after)]),
        np.concatenate([position, end]),
        np.concatenate([item, wanted]),
    ))  # fmt: skip
    stated = both >= len(item)
    places = np.zeros(len(wanted), dtype=np.int64)
    places[both[stated] - len(item)] = np.cumsum(~stated)[stated]
    return places


def _reach(scales: ErrorScales) -> float:
    """Return how many scales away an error is hardly likelier than a guess, at twice the scale.

    Student's t falls with the power degrees + 1; the scale may double while it is learned.
    """
    least = LEAST_FACTOR * scales.pooled / scales.spread
    far = np.geomspace(0.1, 1e4, 2000)
    return 2.0 * float(
        far[np.flatnonzero(_density(far, 1.0, scales.degrees) > least).max(initial=0)]
    )


def _relations(
    statements: ClaimStatements, scales: ErrorScales, frame: NumericFrame
) -> ValueRelations:
    """Return which claims are exact or near for which candidates."""
    claim, exact = frame.claim, frame.exact
    scale = scales.of(list(statements.sources))[statements.source][claim]
    high, low = frame.above / scale, frame.below / scale
    factor = student_t(high, scales.degrees) - student_t(low, scales.degrees)
    kept = exact | (factor > LEAST_FACTOR * frame.density[claim])
    outcome = np.where(exact, EXACT, GENERAL)[kept]
    factor = np.where(exact, 1.0, factor)[kept]
    return ValueRelations(claim[kept], frame.candidate[kept], outcome, factor)


def student_t(z: FloatArray, degrees: float) -> FloatArray:
    """Return the distribution function of Student's t, for 1 or an even number of degrees.

    With even degrees it is a finite sum (Abramowitz and Stegun, 26.7.4), which is much quicker
    than the incomplete beta function.
    """
    if degrees == 1:
        return 0.5 + np.arctan(z) / np.pi
    square = degrees / (degrees + z * z)
    total = np.ones_like(z)
    for k in range(int(degrees) - 2, 0, -2):
        total = 1.0 + square * total * ((k - 1) / k)
    function: FloatArray = 0.5 + 0.5 * np.sign(z) * np.sqrt(1.0 - square) * total
    return function


def learn_scales(
    parsed: ParsedSlot, weights: FloatArray, fixed: FloatArray, scales: ErrorScales
) -> tuple[ErrorScales, Rates]:
    """Learn the scale of every source's errors together with the truths, and the margin.

    Also return the rates found on the way, from which an estimation may start. Candidates and
    their claims are kept until a scale has moved far from the one that they were made for.
    """
    framed, frame = scales, numeric_frame(parsed, scales)
    start: Rates | None = None
    for _ in range(SCALE_ROUNDS):
        if _moved(framed, scales, parsed) > FRAME_TOLERANCE:
            framed, frame = scales, numeric_frame(parsed, scales)
        numeric = numeric_problem(parsed, scales, weights, frame)
        expected = None if start is None else expect(numeric.problem, start)
        rounds = FIRST_ROUNDS if start is None else QUICK_ROUNDS
        estimate = estimate_rates(numeric.problem, fixed, rounds, expected)
        if start is None and estimate.pooled[0, GUESS] > MAX_GUESSED:
            estimate = estimate_rates(numeric.problem, fixed, rounds, _known(numeric.problem))
        before, scales = scales, _rescaled(parsed, numeric, estimate, scales)
        start = estimate.rates
        if _moved(before, scales, parsed) < SCALE_TOLERANCE:
            break
    return replace(scales, margin=_margin(numeric, estimate)), estimate.rates


def _known(problem: EstimationProblem) -> Expected:
    """Return the expectation if sources nearly always know: that nobody does explains any claims.

    Wrong claims may agree, so that sources that are always wrong are a solution as well.
    """
    theta = np.tile(KNOWING, (problem.sources, 1, 1))
    return expect(problem, Rates(theta, np.full(problem.kinds, 1.0 / problem.kinds), 1.0))


def _moved(before: ErrorScales, after: ErrorScales, parsed: ParsedSlot) -> float:
    """Return the largest change of the logarithm of a scale."""
    names = list(parsed.statements.sources)
    return float(np.abs(np.log(after.of(names) / before.of(names))).max())


def _rescaled(
    parsed: ParsedSlot, numeric: NumericProblem, estimate: SlotEstimate, scales: ErrorScales
) -> ErrorScales:
    """Return the most probable scales, given probabilities of candidates and outcomes."""
    problem, relations = numeric.problem, numeric.problem.relations
    statements = parsed.statements
    line = scales.positions(positions(statements.values, parsed.kind))
    share = likelihoods(problem, estimate.rates.theta).related_share
    weight = estimate.expected.probability[relations.candidate] * share
    weight = weight * (relations.outcome == GENERAL)
    residual = line[statements.value[relations.claim]] - numeric.position[relations.candidate]
    source = statements.source[relations.claim]
    each = scales.of(list(statements.sources))
    tail = (scales.degrees + 1) / (scales.degrees + (residual / each[source]) ** 2)
    squares = np.bincount(source, weight * tail * residual**2, minlength=len(each))
    counts = np.bincount(source, weight, minlength=len(each))
    logs = np.log(np.maximum(squares / np.maximum(counts, 1e-9), 1e-24)) / 2
    pooled = float(np.exp((logs * counts).sum() / max(counts.sum(), 1e-9)))
    drawn = (logs * counts + SCALE_WEIGHT * np.log(pooled)) / (counts + SCALE_WEIGHT)
    named = dict(zip(statements.sources, np.exp(drawn).tolist(), strict=True))
    return replace(scales, pooled=pooled, scales=named)


def _margin(numeric: NumericProblem, estimate: SlotEstimate) -> float:
    """Return twice the typical deviation of the truth, 0 if it is usually stated exactly."""
    stated = estimate.expected.probability[numeric.value >= 0].sum() / numeric.problem.items
    if stated > USUALLY:
        return 0.0
    item = numeric.problem.candidates.item
    near_ = np.isfinite(numeric.position)
    weight = np.where(near_, estimate.expected.probability, 0.0)
    position = np.where(near_, numeric.position, 0.0)
    total = np.bincount(item, weight)
    mean = np.bincount(item, weight * position) / np.maximum(total, 1e-12)
    deviation = np.abs(position - mean[item])
    typical = np.bincount(item, weight * deviation) / np.maximum(total, 1e-12)
    return _rounded(2.5 * float(np.median(typical[total > 0.5]))) if (total > 0.5).any() else 0.0


def _rounded(number: float) -> float:
    """Return a number with two significant digits."""
    return float(f"{number:.2g}")


@dataclass(frozen=True, slots=True, eq=False)
class NumberCells:
    """Where the true number of each object may lie, sorted by position; `far` is P(elsewhere).

    `owner` is the value that stands for a cell, UNNAMED if none does.
    """

    starts: IntArray
    position: FloatArray
    width: FloatArray
    probability: FloatArray
    owner: IntArray
    far: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class MergedWindows:
    """Statements in which values within the margin are one, and the value of every candidate.

    `order` is that of the statements.
    """

    parsed: ParsedSlot
    value: IntArray
    cells: NumberCells
    order: IntArray


def merge_windows(
    parsed: ParsedSlot, numeric: NumericProblem, probability: FloatArray, margin: float
) -> MergedWindows:
    """Replace values within the margin of a more probable one by it."""
    item, objects = numeric.problem.candidates.item, numeric.problem.items
    near = np.flatnonzero(np.isfinite(numeric.position))
    near = near[np.lexsort((numeric.position[near], item[near]))]
    starts = np.searchsorted(item[near], np.arange(objects + 1))
    columns = (starts, numeric.position[near], numeric.width[near], probability[near])
    far = probability[~np.isfinite(numeric.position)]
    stated = numeric.value[near]
    cells = NumberCells(*columns, stated, far)
    if not margin:
        return MergedWindows(parsed, numeric.value, cells, np.arange(len(parsed.statements)))
    from partita.fusion.numeric_kernels import window_owners

    owners = window_owners(starts, columns[1], columns[3], stated, margin)
    cells = replace(cells, owner=owners)
    value = np.full(len(item), UNNAMED)
    value[near] = owners
    statements = parsed.statements
    count = len(statements.values)
    atoms = np.flatnonzero(stated >= 0)
    key = item[near][atoms] * count + stated[atoms]
    sorted_ = np.argsort(key)
    place = np.searchsorted(key[sorted_], statements.object * count + statements.value)
    merged = owners[atoms][sorted_][place]
    order = np.lexsort((statements.source, merged, statements.object))
    statements = replace(statements, value=merged).only(order)
    return MergedWindows(replace(parsed, statements=statements), value, cells, order)
