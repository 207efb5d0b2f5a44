"""Fuse the claims about one slot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from partita.core import FloatArray, IntArray, Pair
from partita.errors import InputError, TotalConflict
from partita.fusion import open_slots
from partita.fusion.belief import HeldOutFit, Parameters, SecondMode, SlotBelief, Tempering
from partita.fusion.blocs import SourceBlocs, find_blocs, fixed_blocs
from partita.fusion.claims import TRUTHS, Claims, distinct, join_claims
from partita.fusion.dependence import (
    SharedErrors,
    agreeing_pairs,
    claim_weights,
    effective_sources,
)
from partita.fusion.estimation import (
    Candidates,
    CodedClaims,
    EstimationProblem,
    Rates,
    SlotEstimate,
    estimate_rates,
    expect,
    no_relations,
    soundness,
)
from partita.fusion.held_out import (
    HELD_CLAIMS,
    UNTEMPERED,
    HeldOutPrior,
    HeldOutTask,
    fit_held_out,
    hold_out,
)
from partita.fusion.hierarchy import Nesting, deepest
from partita.fusion.kinds import SETS, TYPED, Kind, Reading
from partita.fusion.levels import most_detailed
from partita.fusion.numeric_slots import (
    ErrorScales,
    NumericProblem,
    first_scales,
    learn_scales,
    merge_windows,
    numeric_problem,
)
from partita.fusion.parsed_claims import name_lexicon
from partita.fusion.people import NameLexicon
from partita.fusion.tempering import default_correlation, fit_tempering, temper
from partita.fusion.trust import trust
from partita.fusion.value_reading import ClaimStatements, ParsedSlot, parse_slot
from partita.pairs.models import probability
from partita.templates.slots import symbol

SHRINKAGE = 0.1  # weak: with few values, a source's habits show soon
START_RELIABILITY = 0.7  # starting reliability
MIN_TRUTH = 0.02  # of a known truth: no single one decides which bloc errs
TRUTH_FOLDS = 4  # of known truths, each predicted without it


def closed_problem(
    statements: ClaimStatements, weights: FloatArray | None = None
) -> EstimationProblem:
    """Return the problem in which every value is a candidate for every object."""
    values, objects = len(statements.values), len(statements.objects)
    item = np.repeat(np.arange(objects), values)
    value = np.tile(np.arange(values), objects)
    return EstimationProblem(
        CodedClaims(
            statements.source,
            statements.object,
            statements.value,
            np.ones(len(statements)),
            statements.confidence,
            1.0 / values,
            statements.value,
            np.ones(len(statements)) if weights is None else weights,
        ),
        Candidates(item, value, value, np.zeros(len(item))),
        no_relations(),
        sources=len(statements.sources),
        items=objects,
        kinds=values,
        start=closed_rates(START_RELIABILITY, values),
        shrinkage=SHRINKAGE,
    )


def closed_rates(reliability: float, values: int) -> FloatArray:
    """Return the confusion matrix of a source that knows with this probability or guesses."""
    rates: FloatArray = reliability * np.eye(values) + (1 - reliability) / values
    return rates


@dataclass(frozen=True, slots=True, eq=False)
class SlotTask:
    """A slot's name and kind, how its values are parsed, and the reliabilities of its sources.

    `condition` is applied to the belief before it is tempered.
    """

    name: str
    kind: Kind
    reading: Reading = field(default_factory=Reading)
    reliabilities: Mapping[str, float] = field(default_factory=dict)
    fixed: Parameters | None = None
    condition: Callable[[SlotBelief], SlotBelief] = lambda belief: belief


def fuse_slot(claims: Claims, slot: SlotTask) -> SlotBelief:
    """Fuse the claims about one slot into probabilities of values."""
    lexicon = slot.fixed.lexicon if slot.fixed else None
    if slot.kind == "people" and lexicon is None:
        lexicon = name_lexicon(claims)
    parsed = _parse(claims, replace(slot, reading=replace(slot.reading, lexicon=lexicon)))
    if slot.fixed is not None:
        blocs = fixed_blocs(slot.fixed)
        belief = temper(slot.condition(_believe_blocs(parsed, slot, blocs, lexicon)))
        return most_detailed(belief) if slot.reading.most_detailed else belief
    belief = _believe_blocs(parsed, slot, _dependence(parsed, slot, lexicon), lexicon)
    tempering, held_out = _tempering(parsed, slot, belief)
    parameters = replace(belief.parameters, tempering=tempering)
    belief = replace(belief, parameters=parameters, held_out=held_out)
    belief = temper(slot.condition(belief))
    return most_detailed(belief) if slot.reading.most_detailed else belief


def _dependence(parsed: ParsedSlot, slot: SlotTask, lexicon: NameLexicon | None) -> SourceBlocs:
    """Return which sources depend on each other; known truths say which of two blocs errs."""
    if len(parsed.order.above):
        return SourceBlocs()
    blocs = None
    if parsed.kind == "open":
        blocs = find_blocs(parsed.statements, {TRUTHS, *slot.reliabilities})
    if blocs is None:
        return SourceBlocs(dependence=agreeing_pairs(parsed.statements, TRUTHS))
    if not blocs.doubt or TRUTHS not in parsed.statements.sources:
        return blocs
    likely = [_log_truths(parsed, slot, dependence, lexicon)
              for dependence in (blocs.dependence, blocs.rival)]  # fmt: skip
    odds = np.log(blocs.doubt / (1.0 - blocs.doubt)) + likely[1] - likely[0]
    return blocs.doubted(float(probability(odds)))


def _log_truths(
    parsed: ParsedSlot, slot: SlotTask, dependence: Mapping[Pair, float],
    lexicon: NameLexicon | None,
) -> float:  # fmt: skip
    """Return log P(known truths), all of them predicted from the other claims."""
    statements = parsed.statements
    known = np.flatnonzero(statements.source == statements.sources.index(TRUTHS))
    belief = _believe(_ignorant(parsed, known), slot, dependence, lexicon)
    count = len(statements.values)
    true = np.isin(belief.object * count + belief.value,
                   statements.object[known] * count + statements.value[known])  # fmt: skip
    return float(np.log(np.maximum(belief.probability[true], MIN_TRUTH)).sum())


def _ignorant(parsed: ParsedSlot, held: IntArray) -> ParsedSlot:
    """Return the slot as if some of the claims were not known."""
    confidence = parsed.statements.confidence.copy()
    confidence[held] = 0.0
    return replace(parsed, statements=replace(parsed.statements, confidence=confidence))


def _believe_blocs(
    parsed: ParsedSlot, slot: SlotTask, blocs: SourceBlocs, lexicon: NameLexicon | None
) -> SlotBelief:
    """Return the mean of the beliefs by both explanations of what the blocs of sources say."""
    first = _believe(parsed, slot, blocs.dependence, lexicon)
    if slot.fixed is None:
        first = replace(first, parameters=replace(first.parameters, blocs=blocs.sizes))
    if not blocs.doubt:
        return first
    fixed = slot.fixed and slot.fixed.rival
    second = _believe(parsed, replace(slot, fixed=fixed), blocs.rival, lexicon)
    order = np.lexsort((first.value, first.object))
    probability = first.probability.copy()
    probability[order] = second.probability[np.lexsort((second.value, second.object))]
    parameters = slot.fixed or replace(first.parameters, rival=second.parameters, doubt=blocs.doubt)
    return replace(
        first,
        probability=_mean(first.probability, probability, blocs.doubt),
        unknown=_mean(first.unknown, second.unknown, blocs.doubt),
        sound=_mean(first.sound, second.sound, blocs.doubt),
        parameters=parameters,
        second=_rival_mode(first, second, blocs),
    )


def _rival_mode(first: SlotBelief, second: SlotBelief, blocs: SourceBlocs) -> SecondMode | None:
    """Return the rival explanation as a second solution, if it changes much."""
    places = first.starts[:-1][np.diff(first.starts) > 1]
    if not blocs.trusted or blocs.doubt < MIN_DOUBT or not len(places):
        return None
    changed = float(np.mean(first.value[places] != second.value[places]))
    if changed < MIN_CHANGED:
        return None
    gap = np.log(1.0 / blocs.doubt - 1.0) / len(places)
    return SecondMode(float(gap), changed, len(places), blocs.trusted)


def _mean(first: FloatArray, second: FloatArray, doubt: float) -> FloatArray:
    return (1.0 - doubt) * first + doubt * second


MIN_CHANGED = 0.3  # of the contested objects
MIN_DOUBT = 0.05  # of a second solution by blocs of sources


def _renumbered(statements: ClaimStatements) -> ClaimStatements:
    """Return statements with the objects that they are about, without gaps."""
    used, numbers = np.unique(statements.object, return_inverse=True)
    return replace(
        statements, object=numbers, objects=[statements.objects[n] for n in used.tolist()]
    )


def _tempering(
    parsed: ParsedSlot, slot: SlotTask, belief: SlotBelief
) -> tuple[Tempering, HeldOutFit]:
    """Return the tempering that held-out claims suggest, or one fitted to known truths."""
    fit = _fit_held_out(parsed, slot, belief)
    default = Tempering(fit.correlation, fit.share, fit.unknown)
    statements = parsed.statements
    if TRUTHS not in statements.sources:
        return default, fit
    known = np.flatnonzero(statements.source == statements.sources.index(TRUTHS))
    folds = (known[fold::TRUTH_FOLDS] for fold in range(min(TRUTH_FOLDS, len(known))))
    return fit_tempering([_without(parsed, slot, belief, fold) for fold in folds], default), fit


def _without(
    parsed: ParsedSlot, slot: SlotTask, belief: SlotBelief, held: IntArray
) -> tuple[SlotBelief, dict[int, int]]:
    """Return the belief without some of the known truths, and these as values by object."""
    statements, parameters = parsed.statements, belief.parameters
    ignorant = _ignorant(parsed, held)
    without = _believe_blocs(ignorant, slot, fixed_blocs(parameters), parameters.lexicon)
    without = slot.condition(without)
    merged = without.parsed.statements
    known = merged.source == merged.sources.index(TRUTHS)
    asked = np.flatnonzero(known & np.isin(merged.object, statements.object[held]))
    truths = zip(merged.object[asked].tolist(), merged.value[asked].tolist(), strict=True)
    parsed = replace(ignorant, statements=merged.only(~known))
    return replace(without, parsed=parsed), dict(truths)


def _fit_held_out(parsed: ParsedSlot, slot: SlotTask, belief: SlotBelief) -> HeldOutFit:
    """Return what predicts claims that are held out of some of the objects.

    In a hierarchy a general claim agrees with unknown values too, which looks like repetition, so
    that the default stays. So it does for a few claims some of which are parts of others.
    """
    parameters = belief.parameters
    default = default_correlation(parameters.concentration)
    untried = HeldOutFit(0, default, (default, default), 0.0, ())
    if parsed.order.inner:
        return untried
    sampled = _sampled(parsed, HELD_CLAIMS)
    statements = sampled.statements
    weights = claim_weights(statements, parameters.dependence)
    problem, value, _, numeric = _problem(sampled, weights, parameters.scales, parameters.detail)
    stated, margin = value, 0.0
    theta = np.stack([parameters.rates[source] for source in statements.sources])
    rates = Rates(theta, parameters.prior, parameters.concentration)
    if numeric is not None and parameters.scales is not None:
        margin = parameters.scales.margin
        probability = expect(_with_shared_errors(problem, sampled, slot), rates).probability
        value = merge_windows(sampled, numeric, probability, margin).value
    sources = len(statements.sources)
    outside = np.bincount(parsed.statements.source, minlength=sources)
    outside = outside - np.bincount(statements.source, minlength=sources)
    groups = parameters.prior if parsed.kind == "closed" else np.ones(1)
    task = HeldOutTask(
        statements,
        sampled.order,
        problem,
        value,
        stated,
        margin > 0,
        rates,
        _fixed_rates(problem.shape, sampled, slot),
        theta * outside[:, None, None] * groups[None, :, None],
        parameters.dependence,
        partial(_with_shared_errors, parsed=sampled, slot=slot),
        TRUTHS,
    )
    held = hold_out(task)
    if held is None and len(sampled.order.above):
        return untried
    if parameters.blocs:
        return fit_held_out(held, 0.0, UNTEMPERED)
    return fit_held_out(held, default, HeldOutPrior().of_kind(parsed.kind))


def _sampled(parsed: ParsedSlot, claims: int) -> ParsedSlot:
    """Return the slot with every n-th object, such that it has about so many claims."""
    statements = parsed.statements
    step = -(-len(statements) // claims)
    chosen = statements.only(statements.object % step == 0)
    return replace(parsed, statements=_renumbered(chosen)) if step > 1 else parsed


def _with_shared_errors(
    problem: EstimationProblem, parsed: ParsedSlot, slot: SlotTask
) -> EstimationProblem:
    """Return the problem with the shared errors of its claims, where wrong claims may share any."""
    if slot.kind in SETS:  # parts of a set that differ may all be true
        return replace(problem, spread=None)
    if problem.spread is None:
        return problem
    return replace(problem, spread=_shared_errors(problem, parsed, slot))


def _believe(
    parsed: ParsedSlot,
    slot: SlotTask,
    dependence: Mapping[Pair, float],
    lexicon: NameLexicon | None,
) -> SlotBelief:
    """Return the belief about a slot, for the dependence of pairs of sources."""
    weights = claim_weights(parsed.statements, dependence)
    scales, start = _scales(parsed, slot, weights)
    detail = _detail(parsed, slot, weights)
    problem, value, under, numeric = _problem(parsed, weights, scales, detail)
    problem = _with_shared_errors(problem, parsed, slot)
    estimate = _estimate(problem, parsed, slot, start)
    _check_conflict(estimate.expected.probability, problem, parsed, slot.reliabilities)
    parameters = Parameters(
        slot.kind,
        dict(zip(parsed.statements.sources, estimate.rates.theta, strict=True)),
        estimate.pooled,
        estimate.rates.prior,
        parsed.order.size,
        parsed.statements.values if slot.kind == "closed" else (),
        dict(zip(parsed.statements.values, parsed.labels, strict=True)),
        lexicon,
        estimate.rates.concentration,
        dependence,
        scales=scales,
        detail=detail,
    )
    trusted = trust(slot.name, parsed, estimate.expected.counts, slot.reliabilities)
    sound, cells = _soundness(problem, parsed, estimate), None
    if numeric is not None and scales is not None:
        merged = merge_windows(parsed, numeric, estimate.expected.probability, scales.margin)
        parsed, value, cells, sound = merged.parsed, merged.value, merged.cells, sound[merged.order]
    pairs, unknown = _pairs(problem, value, estimate.expected.probability)
    nested = parsed.order.inner > 0
    return SlotBelief(
        slot.name,
        parsed,
        *pairs,
        unknown,
        sound,
        slot.fixed or parameters,
        tuple(source_trust for source_trust in trusted if source_trust.source != TRUTHS),
        estimate.rounds,
        estimate.converged,
        effective=effective_sources(parsed.statements, weights, TRUTHS),
        cells=cells,
        inside=_inside(problem, under, estimate.expected.probability, pairs) if nested else None,
    )


def _scales(
    parsed: ParsedSlot, slot: SlotTask, weights: FloatArray
) -> tuple[ErrorScales | None, Rates | None]:
    """Return the errors of numbers and days, and rates to start from.

    There are none with a tolerance, which says what is equal.
    """
    sources = parsed.statements.sources
    if slot.fixed is not None:
        return slot.fixed.scales, None
    if parsed.kind not in ("number", "date") or slot.reading.tolerance:
        return None, None
    scales = first_scales(parsed)
    if scales is None:
        return None, None
    fixed = _fixed_rates((len(sources), *open_slots.START.shape), parsed, slot)
    return learn_scales(parsed, weights, fixed, scales)


def _detail(parsed: ParsedSlot, slot: SlotTask, weights: FloatArray) -> Mapping[str, FloatArray]:
    """Return the levels of a hierarchy at which sources are general; none without one."""
    if slot.fixed is not None or not parsed.order.inner:
        return {} if slot.fixed is None else slot.fixed.detail
    one = open_slots.open_problem(parsed.statements, parsed.order, parsed.more, weights)
    detail = open_slots.learn_detail(one, _fixed_rates(one.problem.shape, parsed, slot))
    named = dict(zip(parsed.statements.sources, detail, strict=True))
    return {**named, "": detail.mean(axis=0)}


def _shared_errors(problem: EstimationProblem, parsed: ParsedSlot, slot: SlotTask) -> SharedErrors:
    """Return the shared errors; sources whose reliability is set guess independently."""
    learned = np.array([
        source != TRUTHS and source not in slot.reliabilities
        for source in parsed.statements.sources
    ])  # fmt: skip
    claims = problem.claims
    claims = replace(claims, weight=claims.weight * learned[claims.source])
    return SharedErrors.of(claims, problem.candidates, problem.relations)


def add_truths(
    claims: Claims,
    slot: str,
    truths: Mapping[tuple[str, str], str],
    kind: Kind,
    nesting: Nesting | None,
) -> Claims:
    """Add truths about the claimed objects, as claims of a source of their own."""
    objects = {claims.objects[n] for n in distinct(claims.object).tolist()}
    chosen = [
        (thing, value)
        for (thing, truth_slot), value in sorted(truths.items())
        if truth_slot == slot and thing in objects
    ]
    if kind == "open" and chosen:
        values = frozenset(symbol(claims.values[n]) for n in distinct(claims.value).tolist())
        paths = {value: deepest(value, values, nesting) for _, value in chosen}
        chosen = [
            (thing, value if paths[value] == symbol(value) else paths[value])
            for thing, value in chosen
        ]
    rows = [(TRUTHS, thing, slot, value) for thing, value in chosen]
    return join_claims(claims, Claims.of(rows)) if rows else claims


def _parse(claims: Claims, slot: SlotTask) -> ParsedSlot:
    fixed = slot.fixed
    if fixed is None:
        return parse_slot(claims, slot.kind, slot.reading)
    parsed = parse_slot(claims, slot.kind, slot.reading, fixed.size, fixed.values)
    if slot.kind == "closed" and (new := set(parsed.statements.values) - set(fixed.values)):
        existing = ", ".join(fixed.values)
        raise InputError(
            f"{min(new)} is no value of {slot.name}, which has {existing}: learn again"
        )
    labels = zip(parsed.statements.values, parsed.labels, strict=True)
    return replace(parsed, labels=[fixed.labels.get(value, label) for value, label in labels])


def _problem(
    parsed: ParsedSlot,
    weights: FloatArray,
    scales: ErrorScales | None,
    detail: Mapping[str, FloatArray],
) -> tuple[EstimationProblem, IntArray, IntArray, NumericProblem | None]:
    """Return the problem, every candidate's value, what it is below, and what numbers have."""
    if parsed.kind == "closed":
        problem = closed_problem(parsed.statements, weights)
        return problem, problem.candidates.group, problem.candidates.group, None
    if scales is not None:
        numeric = numeric_problem(parsed, scales, weights)
        return numeric.problem, numeric.value, numeric.value, numeric
    one = open_slots.open_problem(parsed.statements, parsed.order, parsed.more, weights)
    if detail:
        one = one.with_detail(open_slots.detail_of(detail, parsed.statements.sources))
    return one.problem, one.value, one.under, None


def _estimate(
    problem: EstimationProblem, parsed: ParsedSlot, slot: SlotTask, start: Rates | None
) -> SlotEstimate:
    fixed, sources = slot.fixed, parsed.statements.sources
    fixed_rates = _fixed_rates(problem.shape, parsed, slot)
    if fixed is None:
        expected = None if start is None else expect(problem, start)
        return estimate_rates(problem, fixed_rates, start=expected)
    theta = np.stack([fixed.rates.get(source, fixed.pooled) for source in sources])
    rates = Rates(
        np.where(np.isnan(fixed_rates), theta, fixed_rates), fixed.prior, fixed.concentration
    )
    return SlotEstimate(expect(problem, rates), rates, fixed.pooled, 0, True)


def _fixed_rates(shape: tuple[int, int, int], parsed: ParsedSlot, slot: SlotTask) -> FloatArray:
    """Return the rates of sources whose reliability is set, NaN for the others."""
    rates = np.full(shape, np.nan)
    for n, source in enumerate(parsed.statements.sources):
        reliability = 1.0 if source == TRUTHS else slot.reliabilities.get(source)
        if reliability is None:
            continue
        if parsed.kind == "closed":
            rates[n] = closed_rates(reliability, shape[1])
        else:
            ordered = parsed.kind == TYPED or len(parsed.order.above) > 0
            rates[n] = open_slots.open_rates(reliability, ordered and source != TRUTHS)
    return rates


def _soundness(
    problem: EstimationProblem, parsed: ParsedSlot, estimate: SlotEstimate
) -> FloatArray:
    probability, statements = estimate.expected.probability, parsed.statements
    if parsed.kind == "closed":
        soundness_: FloatArray = probability[statements.object * problem.groups + statements.value]
        return soundness_
    return soundness(problem, estimate.rates, probability)


def _check_conflict(
    probability: FloatArray,
    problem: EstimationProblem,
    parsed: ParsedSlot,
    reliabilities: Mapping[str, float],
) -> None:
    """Raise an error that names the certain sources that contradict each other."""
    totals = np.bincount(problem.candidates.item, probability, minlength=problem.items)
    if not (impossible := np.flatnonzero(totals == 0)).size:
        return
    statements, object_name = parsed.statements, parsed.statements.objects[impossible[0]]
    claims = [(statements.sources[statements.source[n]], parsed.labels[statements.value[n]])
            for n in np.flatnonzero(statements.object == impossible[0]).tolist()]  # fmt: skip
    certain = [
        (source, value)
        for source, value in claims
        if source == TRUTHS or reliabilities.get(source) == 1.0
    ]
    raise TotalConflict([f"{source} (says {value} of {object_name})" for source, value in certain])


def _pairs(
    problem: EstimationProblem, value: IntArray, probability: FloatArray
) -> tuple[tuple[IntArray, IntArray, FloatArray], FloatArray]:
    """Return named candidates by object, the most probable first, and P(unnamed) by object."""
    item = problem.candidates.item
    unnamed = value < 0
    unknown: FloatArray = np.bincount(
        item[unnamed], probability[unnamed], minlength=problem.items
    ).astype(np.float64)
    count = int(value.max(initial=0)) + 1
    key, place = np.unique(item[~unnamed] * count + value[~unnamed], return_inverse=True)
    sums = np.bincount(place, probability[~unnamed], minlength=len(key)).astype(np.float64)
    objects, values = key // count, key % count
    order = np.lexsort((values, -sums, objects))
    return (objects[order], values[order], sums[order]), unknown


def _inside(
    problem: EstimationProblem,
    under: IntArray,
    probability: FloatArray,
    pairs: tuple[IntArray, IntArray, FloatArray],
) -> FloatArray:
    """Return, for each pair, the share of unknown that is right below its value."""
    item = problem.candidates.item
    count = int(max(pairs[1].max(initial=0), under.max(initial=0))) + 1
    key = pairs[0] * count + pairs[1]
    order = np.argsort(key)
    below = under >= 0
    place = order[np.searchsorted(key[order], item[below] * count + under[below])]
    sums = np.bincount(place, probability[below], minlength=len(key))
    named = np.bincount(pairs[0], pairs[2], minlength=problem.items)
    inside: FloatArray = np.clip(sums / np.maximum(1.0 - named, 1e-12)[pairs[0]], 0.0, 1.0)
    return inside
