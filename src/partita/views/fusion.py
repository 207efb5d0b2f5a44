"""Fused beliefs as text of 80 columns and as JSON: values of objects, and entities."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.evaluation.fusion import SlotMeasure, calibration
from partita.fusion.answers import SlotAnswer, ValueProbability, answers
from partita.fusion.belief import SlotBelief
from partita.fusion.claims import Claims
from partita.fusion.fuse import Fused, ValueChange
from partita.fusion.tempering import effective_claims
from partita.fusion.warnings import belief_warnings, conflicts
from partita.results.result_lines import figure_json, result_line
from partita.views.layout import WIDTH, cell, clean, count_text, cut_text, text_bar

if TYPE_CHECKING:  # claims are shown without what links records
    from partita.fusion.entities import FusedEntity, FusedRecords, ResolvedSet
    from partita.fusion.entity_values import EntitySlot
    from partita.fusion.source_records import SourceRecord

MAX_OBJECTS = 20
MAX_SOURCES = 15
MAX_VALUES = 4
MAX_COPIES = 10
MIN_SHOWN = 0.0005  # the least probability of a value that no source states
MIN_CONFLICT = 0.005


def claims_text(
    fused: Fused, measured: Sequence[SlotMeasure] = (), width: int = WIDTH
) -> Iterator[str]:
    """Yield the values of the first objects, the sources with most claims, copying and figures."""
    for belief in fused.slots:
        yield from _slot(belief, width)
    yield from _copying(fused)
    for figures in measured:
        yield from _measured(figures)


def _slot(belief: SlotBelief, width: int) -> Iterator[str]:
    statements = belief.parsed.statements
    yield (
        f"{belief.name}: {count_text(len(statements), 'claim')} by "
        f"{count_text(len(statements.sources), 'source')} about "
        f"{count_text(len(statements.objects), 'object')} ({belief.parsed.kind})\n"
    )
    yield from _errors_text(belief)
    for n, answer in enumerate(answers(belief)):
        if n == MAX_OBJECTS:
            hidden = len(statements.objects) - MAX_OBJECTS
            yield f"  … {count_text(hidden, 'more object')} (--json has all)\n"
            break
        yield from _answer(answer, width)
    yield "\n"
    yield f"{_source_line('source', 'reliability', ('claims', 'right', 'rough', 'wrong'))}\n"
    ranked = sorted(belief.trust, key=lambda trust: (-trust.claims, trust.source))
    for trust in ranked[:MAX_SOURCES]:
        interval = "given" if trust.given else f"{trust.low:.3f} to {trust.high:.3f}"
        counts = (
            f"{trust.claims:,}",
            *(f"{n:.1f}" for n in (trust.right, trust.rough, trust.wrong)),
        )
        yield f"{_source_line(trust.source, f'{trust.reliability:.3f} {interval}', counts)}\n"
    yield from _more_sources(len(ranked))
    yield from _dependence_text(belief)
    if belief.method != "exact":
        yield f"{belief.method}\n"
    yield "\n"


def _errors_text(belief: SlotBelief) -> Iterator[str]:
    """Yield what was learned about the errors of numbers and days."""
    scales = belief.parameters.scales
    if belief.state is not None and (belief.state.changed > 0).any():
        yield f"  changes {365.25 * belief.state.rate:.2g} times a year (learned)\n"
    if scales is None:
        return
    unit = " days" if belief.parsed.kind == "date" else ""
    sizes = [f"{100 * x:.2g} %" if scales.relative else f"{x:.2g}{unit}"
             for x in (scales.pooled, scales.margin)]  # fmt: skip
    margin = f"; values within {sizes[1]} count as one" if scales.margin else ""
    yield f"  typical error {sizes[0]} (learned){margin}\n"


def _dependence_text(belief: SlotBelief) -> Iterator[str]:
    """Yield how far the sources err together, and how well they predict held-out claims."""
    tempering, fit = belief.parameters.tempering, belief.held_out
    claims, effective, interval = effective_claims(belief)
    sources = len(belief.trust)
    if belief.effective < sources - 0.05:
        yield f"  {sources:,} sources count like {belief.effective:,.1f} independent ones\n"
    if blocs := belief.parameters.blocs:
        doubt = belief.parameters.doubt
        other = f"; another explanation has {doubt:.2f}" if doubt >= MIN_CONFLICT else ""
        sizes = " and ".join(map(str, blocs))
        yield f"  groups of {sizes} sources contradict each other{other}\n"
    between = "" if interval is None else f" ({interval[0]:.1f} to {interval[1]:.1f})"
    count = f"{claims:.1f} claims" if claims > 1 else "1 claim"
    verb = "count" if claims > 1 else "counts"
    yield f"  {count} about an object {verb} like {effective:.1f} independent ones{between}\n"
    truths = count_text(tempering.fitted, "known truth")
    fitted = f" (fitted to {truths})" if tempering.fitted else ""
    yield f"  the shares of claims weigh {tempering.share:.0%}{fitted}\n"
    if fit is not None and fit.bins:
        yield f"  how far to believe this table: {count_text(fit.claims, 'held-out claim')}\n"
        yield "  stated  agreed\n"
        for one in fit.bins:
            yield f"  {one.stated:6.2f}  {one.agreed:6.2f}  {text_bar(one.agreed)}\n"


def held_out_tables(beliefs: Iterable[SlotBelief]) -> str:
    """Show what is stated of the best values beside how often held-out claims agree, as HTML."""
    from partita.views.markup import element
    from partita.views.notebook import table_html

    parts: list[str] = []
    for fit, name in ((one.held_out, one.name) for one in beliefs):
        if fit is not None and fit.bins:
            label = f"How far to believe {clean(name)}: {count_text(fit.claims, 'held-out claim')}"
            bins = {end: [getattr(one, end) for one in fit.bins] for end in ("stated", "agreed")}
            bins |= {"claims": [one.count for one in fit.bins]}
            parts += [element("p", label), table_html(bins)]
    return "".join(parts)


def _answer(answer: SlotAnswer, width: int) -> Iterator[str]:
    yield f"{cut_text(f'  {clean(answer.object)}', width)}\n"
    best = max((one.probability for one in answer.values), default=0.0)
    leads = [one for one in answer.levels if answer.values[0].probability < best
             and one.value == answer.values[0].value]  # fmt: skip
    yield from (_level_line(level, width) for level in leads)
    shown = [v for v in answer.values if v.sources or v.probability >= MIN_SHOWN][:MAX_VALUES]
    for value in shown:
        text = f"    {value.probability:.4f}  {clean(value.value)}{_sources_of_value(value)}"
        yield f"{cut_text(text, width)}\n"
    if answer.unknown >= 0.00005:
        yield f"    {answer.unknown:.4f}  unknown\n"
    if answer.changed is not None and max(answer.changed, answer.contradicted or 0) >= MIN_CONFLICT:
        yield f"    changed {answer.changed:.4f}, a report is wrong {answer.contradicted:.4f}\n"
    if not leads:
        yield from (_level_line(level, width) for level in _wider_levels(answer))
    if answer.estimate is not None and answer.estimate.low != answer.estimate.high:
        between = answer.estimate
        yield f"    {between.probability:.4f}  between {between.low} and {between.high}\n"


def _level_line(level: ValueProbability, width: int) -> str:
    text = f"    {level.probability:.4f}  within {clean(level.value)}{_sources_of_value(level)}"
    return f"{cut_text(text, width)}\n"


def _wider_levels(answer: SlotAnswer) -> Iterator[ValueProbability]:
    """Yield levels that are likelier than the best value; of equally likely ones the narrowest."""
    before = max((one.probability for one in answer.values), default=0.0)
    for level in reversed(answer.levels):
        narrowest = next(one for one in answer.levels if one.probability == level.probability)
        if level is narrowest and level.probability > before + MIN_CONFLICT:
            yield level
            before = level.probability


def _sources_of_value(value: ValueProbability) -> str:
    if not value.sources:
        return ""
    hidden = len(value.sources) - 4
    more = f" and {hidden} more" if hidden > 0 else ""
    return f"  ({clean(', '.join(value.sources[:4]))}{more})"


def _source_line(
    source: str, reliability: str, counts: Iterable[str], widths: Sequence[int] = (7, 7, 6, 7)
) -> str:
    """Return a row of the table of sources."""
    cells = (f"{count:>{width}}" for count, width in zip(counts, widths, strict=True))
    return f"  {cell(source, 24)}  {reliability:20}  {' '.join(cells)}"


def _more_sources(count: int) -> Iterator[str]:
    if count > MAX_SOURCES:
        yield f"  … {count_text(count - MAX_SOURCES, 'more source')} (--json has all)\n"


def _copying(fused: Fused) -> Iterator[str]:
    for copy in fused.copying[:MAX_COPIES]:
        text = (
            f"{clean(copy.copier)} may copy {clean(copy.original)} ({copy.slot}): {copy.shared} "
            f"wrong values in common, {copy.expected:.1f} expected (p = {copy.significance:.1g})"
        )
        yield "\n".join(textwrap.wrap(text, WIDTH, subsequent_indent="  ")) + "\n"
    if len(fused.copying) > MAX_COPIES:
        hidden = count_text(len(fused.copying) - MAX_COPIES, "more pair")
        yield f"… {hidden} (--json has all)\n"


def _measured(figures: SlotMeasure) -> Iterator[str]:
    f_same = "" if figures.f_same is None else f"{figures.f_same:>9.4f}"
    vote_f = "" if figures.vote_f_same is None else f"{figures.vote_f_same:>9.4f}"
    head = "" if figures.f_same is None else f"{'F same':>9}"
    yield f"\n{figures.slot}: {count_text(figures.truths, 'truth')}\n"
    yield f"  {'':28}{'accuracy':>9}{head}\n"
    for name, value, f in (
        ("fused", figures.accuracy, f_same),
        ("vote", figures.vote, vote_f),
        (f"best source, {figures.best_source}", figures.best, ""),
        ("a source is right", figures.possible, ""),
        ("reliability error", figures.calibration.error, ""),
        ("… without unknown", figures.calibration.values_error, ""),
        ("Brier score", figures.calibration.brier, ""),
    ):
        yield f"  {cell(name, 28)}{value:>9.4f}{f}\n"
    if figures.levels_error is not None:
        yield f"  {cell('… of levels', 28)}{figures.levels_error:>9.4f}\n"
    if figures.intervals is not None:
        stated, inside = figures.intervals
        yield f"  {cell('truths in their intervals', 28)}{inside:>9.4f} (stated {stated:.4f})\n"


def changes_text(changes: Sequence[ValueChange], source: str, unit: str = "value") -> Iterator[str]:
    """Yield the values that change without a source; without a slot, the records of an entity."""
    verb = "changes" if len(changes) == 1 else "change"
    yield f"\nwithout {clean(source)}, {count_text(len(changes), unit)} {verb}\n"
    for change in changes[:MAX_OBJECTS]:
        subject = ", ".join(filter(None, (clean(change.object), change.slot)))
        before = f"{clean(change.before)} {change.before_probability:.4f}"
        after = (
            f"{clean(change.after)} {change.after_probability:.4f}" if change.after else "nothing"
        )
        yield cut_text(f"  {subject}: {before} → {after}", WIDTH) + "\n"
    if len(changes) > MAX_OBJECTS:
        yield f"  … {len(changes) - MAX_OBJECTS:,} more (--json has all)\n"


def fused_json(
    fused: Fused,
    measured: tuple[SlotMeasure, ...] = (),
    changes: tuple[ValueChange, ...] = (),
    without: str | None = None,
) -> dict[str, Any]:
    """Return all objects with values and claims, the sources, copying and figures."""
    claims = _claims_by_object(fused.claims)
    objects: dict[str, dict[str, Any]] = {}
    for belief in fused.slots:
        for answer, kappa in zip(answers(belief), conflicts(belief), strict=True):
            entry = objects.setdefault(
                answer.object, {"object": answer.object, "slots": {}, "said": []}
            )
            conflict = kappa if answer.contradicted is None else answer.contradicted
            entry["slots"][answer.slot] = _answer_json(answer) | {"conflict": conflict}
    for name, entry in objects.items():
        entry["said"] = claims.get(name, [])
    document: dict[str, Any] = {
        "version": 1,
        "objects": list(objects.values()),
        "sources": [
            {**_flat(one), "rates": _rates(belief, one.source)}
            for belief in fused.slots
            for one in belief.trust
        ],
        "copying": [{**asdict(one), "share": one.share} for one in fused.copying],
        "slots": {belief.name: _slot_facts(belief) for belief in fused.slots},
        "warnings": [asdict(one) for belief in fused.slots for one in belief_warnings(belief)],
    }
    if without is not None:
        document["without"] = {"source": without, "changes": [asdict(one) for one in changes]}
    return document | _figures(measured)


def _answer_json(answer: SlotAnswer) -> dict[str, Any]:
    document: dict[str, Any] = {
        "values": _values_json(answer.values),
        "unknown": answer.unknown,
        "estimate": None if answer.estimate is None else _flat(answer.estimate),
    }
    if answer.changed is not None:
        document |= {"changed": answer.changed, "contradicted": answer.contradicted}
    if answer.levels:
        document["levels"] = _values_json(answer.levels)
    if answer.members:
        document["members"] = _values_json(answer.members)
    return document


def _values_json(values: Iterable[ValueProbability]) -> list[dict[str, Any]]:
    return [
        {"value": one.value, "probability": one.probability, "sources": list(one.sources)}
        for one in values
    ]


def _flat(record: Any) -> dict[str, Any]:
    """Return the fields of a flat record; `asdict` copies each of them, which takes much longer."""
    return {one.name: getattr(record, one.name) for one in fields(record)}


def _slot_facts(belief: SlotBelief) -> dict[str, Any]:
    return {
        "kind": belief.parsed.kind,
        "rounds": belief.rounds,
        "converged": belief.converged,
        "method": belief.method,
        "dependence": _dependence(belief),
        "held_out": _held_out_json(belief),
        "errors": _errors_json(belief),
        "changes_per_day": None if belief.state is None else belief.state.rate,
        "set_aside": [_flat(one) for one in belief.parsed.damaged],
    }


def _held_out_json(belief: SlotBelief) -> dict[str, Any] | None:
    """Return stated against held-out agreement, with lists as JSON has them."""
    if belief.held_out is None:
        return None
    figures = asdict(belief.held_out)
    return figures | {name: list(figures[name]) for name in ("bins", "interval")}


def _errors_json(belief: SlotBelief) -> dict[str, Any] | None:
    """Return the learned errors of numbers and days: their scale by source and the margin."""
    scales = belief.parameters.scales
    if scales is None:
        return None
    names = ("relative", "margin", "pooled", "degrees")
    return {name: getattr(scales, name) for name in names} | {
        "scales": dict(sorted(scales.scales.items())),
        "rounded_to": dict(sorted(scales.steps.items())),
    }


def _dependence(belief: SlotBelief) -> dict[str, Any]:
    """Return how far the sources of a slot err together, and how probabilities are tempered."""
    parameters = belief.parameters
    claims, effective, interval = effective_claims(belief)
    return {
        "sources": len(belief.trust),
        "effective_sources": belief.effective,
        "claims_per_object": claims,
        "effective_claims": effective,
        "effective_claims_interval": None if interval is None else list(interval),
        "tau": belief.temper,
        "correlation": parameters.tempering.correlation,
        "weight_of_shares": parameters.tempering.share,
        "unknown_factor": parameters.tempering.unknown,
        "known_truths": parameters.tempering.fitted,
        "wrong_claims_agree": None
        if parameters.concentration is None
        else 1.0 / (1.0 + parameters.concentration),
        "blocs": list(parameters.blocs),
        "doubt": parameters.doubt,
        "pairs": [
            {"left": a, "right": b, "dependence": rho}
            for (a, b), rho in parameters.dependence.items()
        ],
    }


def _rates(belief: SlotBelief, source: str) -> dict[str, Any]:
    """Return θ of a source: P(it states v | t is true), or its rates of knowing and guessing."""
    rates = belief.parameters.rates.get(source, belief.parameters.pooled).tolist()
    if belief.parsed.kind != "closed":
        return dict(zip(("exact", "general", "guess"), rates[0], strict=True))
    labels = belief.parsed.labels
    return {t: dict(zip(labels, row, strict=True)) for t, row in zip(labels, rates, strict=True)}


def _claims_by_object(claims: Claims) -> dict[str, list[dict[str, Any]]]:
    """Return every claim as written, by object, with its file and line."""
    order = np.lexsort((claims.line, claims.file))
    columns = (claims.object, claims.source, claims.slot, claims.value, claims.file, claims.line)
    files = claims.files or ("",)
    by_object: dict[str, list[dict[str, Any]]] = {name: [] for name in claims.objects}
    lists = list(by_object.values())
    for entity, source, slot, value, file, line in zip(
        *(column[order].tolist() for column in columns), strict=True
    ):
        lists[entity].append(
            {
                "source": claims.sources[source],
                "slot": claims.slots[slot],
                "value": claims.values[value],
                "file": files[file],
                "line": line,
            }
        )
    return by_object


def _figures(measured: tuple[SlotMeasure, ...]) -> dict[str, Any]:
    """Return the figures of every slot, and at the top those of all slots together."""
    if not measured:
        return {}
    slots = {figures.slot: _measured_json(figures) for figures in measured}
    return (
        slots[measured[0].slot] | {"measured": slots}
        if len(slots) == 1
        else {
            "accuracy": sum(m.accuracy * m.truths for m in measured)
            / sum(m.truths for m in measured),
            "calibration": asdict(calibration([m.statements for m in measured])),
            "measured": slots,
        }
    )


def _measured_json(figures: SlotMeasure) -> dict[str, Any]:
    return {
        "accuracy": figures.accuracy,
        "f_same": figures.f_same,
        "truths": figures.truths,
        "silent": figures.silent,
        "vote": {"accuracy": figures.vote, "f_same": figures.vote_f_same},
        "best_source": {"source": figures.best_source, "accuracy": figures.best},
        "possible": figures.possible,
        "calibration": {
            "error": figures.calibration.error,
            "values_error": figures.calibration.values_error,
            "levels_error": figures.levels_error,
            "brier": figures.calibration.brier,
            "bins": [asdict(b) for b in figures.calibration.bins],
        },
        "intervals": None
        if figures.intervals is None
        else dict(zip(("stated", "observed"), figures.intervals, strict=True)),
    }


def entities_text(fused: FusedRecords, width: int = WIDTH) -> Iterator[str]:
    """Yield the entities with most sources, the sources, and how many pairs were compared."""
    entities = sorted(
        fused.entities, key=lambda entity: (-len(entity.sources), -len(entity.records))
    )
    records = count_text(len(fused.records), "account")
    sources = count_text(len(fused.records.sources), "source")
    yield f"{count_text(len(entities), 'thing')} in {records} by {sources}\n"
    for entity in entities[:MAX_OBJECTS]:
        yield from _entity(entity, width)
    if len(entities) > MAX_OBJECTS:
        yield f"… {count_text(len(entities) - MAX_OBJECTS, 'more thing')} (--json has all)\n"
    yield "\n"
    yield from _entity_sources(fused)
    key = "no key" if fused.task.of_tables else "no name and no place"
    yield (
        f"\n{fused.pairs:,} pairs of accounts, {fused.compared:,} compared, "
        f"{fused.pairs - fused.compared:,} share {key}\n"
    )


def _entity(entity: FusedEntity, width: int) -> Iterator[str]:
    name = ", ".join(filter(None, (entity.name, entity.type))) or "thing"
    heading = f"{entity.id}  {name}; described by {', '.join(entity.sources)}"
    yield cut_text(f"{clean(heading)}  ({entity.probability.value:.4f})", width) + "\n"
    for slot_name, slot in entity.slots.items():
        yield from _entity_slot(slot_name, slot, entity, width)


def _entity_slot(name: str, slot: EntitySlot, entity: FusedEntity, width: int) -> Iterator[str]:
    lines = [
        f"{value.probability.value:.4f}  {clean(value.text)}{_sources_of(value.records, entity)}"
        for value in slot.values[:MAX_VALUES]
        if value.records or value.probability.value >= MIN_SHOWN
    ]
    if slot.unknown >= 0.00005:
        lines.append(f"{slot.unknown:.4f}  unknown")
    if slot.conflict >= MIN_CONFLICT:
        lines.append(f"{slot.conflict:.4f}  conflict between sources")
    for n, line in enumerate(lines):
        yield cut_text(f"    {name if not n else '':12} {line}", width) + "\n"


def _sources_of(records: Sequence[str], entity: FusedEntity) -> str:
    sources = entity.sources_of(records)
    return f"  ({', '.join(map(clean, sources))})" if sources else ""


def _entity_sources(fused: FusedRecords) -> Iterator[str]:
    from partita.fusion.entities import find_copying_sources

    widths = (7, 7, 7)
    yield f"{_source_line('source', 'reliability', ('claims', 'right', 'wrong'), widths)}\n"
    sources = fused.source_trusts()
    for one in sources[:MAX_SOURCES]:
        interval = "given" if one.given else f"{one.low:.3f} to {one.high:.3f}"
        counts = (f"{one.claims:,}", f"{one.right:.1f}", f"{one.wrong:.1f}")
        yield f"{_source_line(one.source, f'{one.reliability:.3f} {interval}', counts, widths)}\n"
    yield from _more_sources(len(sources))
    for copy in find_copying_sources(fused)[:5]:
        yield f"{clean(copy.copier)} may copy {clean(copy.original)} ({copy.slot or 'sort'})\n"


def entities_json(
    fused: FusedRecords,
    domain: str = "",
    changes: Sequence[ValueChange] = (),
    without: str | None = None,
) -> dict[str, Any]:
    """Return entities with values and records, sets, sources, copying and comparisons."""
    from partita.fusion.entities import find_copying_sources

    compared = fused.compared
    set_of_record = {
        record.id: n for n, item in enumerate(fused.sets) for record in item.set.records
    }
    document: dict[str, Any] = {
        "version": 1,
        "domain": domain,
        "entities": [_entity_json(item, fused, set_of_record) for item in fused.entities],
        "sets": [_set_json(item) for item in fused.sets if item.set.distribution is not None],
        "sources": [_renamed(asdict(one), "records", "accounts") for one in fused.source_trusts()],
        "copying": [{**asdict(item), "share": item.share} for item in find_copying_sources(fused)],
        "compared": {
            "pairs": compared,
            "of": fused.pairs,
            "excluded": fused.pairs - compared,
            "sets_solved": len(fused.sets),
        },
    }
    if without is not None:
        listed = [_renamed(asdict(item), "object", "thing") for item in changes]
        document["without"] = {"source": without, "changes": listed}
    return document


def _renamed(document: dict[str, Any], field: str, key: str) -> dict[str, Any]:
    """Return a document with the former name of a field, which files keep."""
    return {key if name == field else name: value for name, value in document.items()}


def _entity_json(
    entity: FusedEntity, fused: FusedRecords, set_of_record: dict[str, int]
) -> dict[str, Any]:
    group = fused.sets[set_of_record[entity.anchor]].set
    document: dict[str, Any] = {"id": entity.id, "sort": entity.type}
    if entity.name:
        document["name"] = entity.name
    return document | {
        **figure_json(entity.probability),
        "sources": list(entity.sources),
        "anchor": entity.anchor,
        "set": group.ids[0],
        "slots": {name: _slot_json(slot, entity) for name, slot in entity.slots.items()},
        "accounts": [_record_json(record) for record in entity.records],
    }


def _slot_json(slot: EntitySlot, entity: FusedEntity) -> dict[str, Any]:
    values = [
        {
            "value": value.value,
            **figure_json(value.probability),
            "sources": list(entity.sources_of(value.records)),
            "accounts": list(value.records),
        }
        for value in slot.values
    ]
    return {"values": values, "unknown": slot.unknown, "conflict": slot.conflict}


def _record_json(record: SourceRecord) -> dict[str, Any]:
    """Return the values of a record with their probabilities, and where they are stated."""
    slots = {
        name: {"value": value, "probability": record.slot_confidence(name)}
        for name, value in record.template.slots.items()
    }
    document: dict[str, Any] = {
        "id": record.id,
        "source": record.source,
        "message": record.message,
        "said": slots,
        "templates": [asdict(origin) for origin in record.origins],
    }
    return document | ({"object": record.object} if record.object else {})


def _set_json(resolved: ResolvedSet) -> dict[str, Any]:
    """Return a set as in result lines, with the pairs on which sources contradict each other."""
    assert resolved.set.distribution is not None
    document: dict[str, Any] = json.loads(result_line(resolved.set.distribution))
    document["contradicted"] = [
        {"left": left, "right": right, "conflict": conflict}
        for (left, right), conflict in resolved.set.conflicts.items()
        if conflict > MIN_CONFLICT
    ]
    return document
