"""A fused belief as text of 80 columns, and as JSON."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from partita.evaluation.fusion import Measured, calibration
from partita.fusion.answers import Answer, ValueProbability, answers
from partita.fusion.belief import SlotBelief, Trust
from partita.fusion.claims import Claims
from partita.fusion.conflict import conflicts
from partita.fusion.fuse import Change, Fused
from partita.fusion.mass_functions import CombinedMasses, SourceMasses, ValueMasses

OBJECTS = 20
SOURCES = 15
VALUES = 4
WIDTH = 80


def report(fused: Fused, measured: tuple[Measured, ...] = (), width: int = WIDTH) -> Iterator[str]:
    """Values of the first objects, trust in the sources that say most, copies, figures."""
    for belief in fused.slots:
        yield from _slot(belief, width)
    yield from _copies(fused)
    for one in measured:
        yield from _measured(one)


def _slot(belief: SlotBelief, width: int) -> Iterator[str]:
    said = belief.parsed.statements
    yield (
        f"{belief.name}: {len(said):,} claims by {len(said.sources):,} sources about "
        f"{len(said.objects):,} objects ({belief.parsed.kind})\n"
    )
    for n, answer in enumerate(answers(belief)):
        if n == OBJECTS:
            yield f"  … {len(said.objects) - OBJECTS:,} more objects (--json has all)\n"
            break
        yield from _answer(answer, width)
    yield "\n"
    yield from _trust(belief)
    if belief.method != "exact":
        yield f"{belief.method}\n"
    yield "\n"


def _answer(answer: Answer, width: int) -> Iterator[str]:
    yield _cut(f"  {answer.object}", width) + "\n"
    shown = [one for one in answer.values if one.sources or one.probability >= 0.0005][:VALUES]
    for one in shown:
        yield _cut(f"    {one.probability:.4f}  {_clean(one.value)}{_by(one)}", width) + "\n"
    if answer.unknown >= 0.00005:
        yield f"    {answer.unknown:.4f}  unknown\n"


def _by(one: ValueProbability | ValueMasses) -> str:
    if not one.sources:
        return ""
    named = ", ".join(one.sources[:4])
    more = f" and {len(one.sources) - 4} more" if len(one.sources) > 4 else ""
    return f"  ({named}{more})"


def _trust(belief: SlotBelief) -> Iterator[str]:
    counts = f"{'claims':>7} {'right':>7} {'rough':>6} {'wrong':>7}"
    yield f"  {'source':24}  {'reliability':20}  {counts}\n"
    ranked = sorted(belief.trust, key=lambda one: (-one.claims, one.source))
    for one in ranked[:SOURCES]:
        yield _trusted(one) + "\n"
    if len(ranked) > SOURCES:
        yield f"  … {len(ranked) - SOURCES:,} more sources (--json has all)\n"


def _trusted(one: Trust) -> str:
    spread = "given" if one.given else f"{one.low:.3f} to {one.high:.3f}"
    return (
        f"  {_cut(_clean(one.source), 24):24}  {one.reliability:.3f} {spread:14}"
        f"  {one.claims:>7,} {one.right:>7.1f} {one.rough:>6.1f} {one.wrong:>7.1f}"
    )


def _copies(fused: Fused) -> Iterator[str]:
    for one in fused.copying[:10]:
        told = (
            f"{one.copier} may copy {one.original} ({one.slot}): {one.shared} wrong values in "
            f"common, {one.expected:.1f} expected (p = {one.significance:.1g})"
        )
        yield "\n".join(textwrap.wrap(told, WIDTH, subsequent_indent="  ")) + "\n"
    if len(fused.copying) > 10:
        yield f"… {len(fused.copying) - 10:,} more pairs (--json has all)\n"


def _measured(one: Measured) -> Iterator[str]:
    f_same = "" if one.f_same is None else f"{one.f_same:>9.4f}"
    vote_f = "" if one.vote_f_same is None else f"{one.vote_f_same:>9.4f}"
    head = "" if one.f_same is None else f"{'F same':>9}"
    yield f"\n{one.slot}: {one.truths:,} truths\n"
    yield f"  {'':28}{'accuracy':>9}{head}\n"
    yield f"  {'fused':28}{one.accuracy:>9.4f}{f_same}\n"
    yield f"  {'vote':28}{one.vote:>9.4f}{vote_f}\n"
    yield f"  {_cut(f'best source, {one.best_source}', 28):28}{one.best:>9.4f}\n"
    yield f"  {'a source is right':28}{one.possible:>9.4f}\n"
    yield f"  {'reliability error':28}{one.error:>9.4f}\n"
    yield f"  {'… without unknown':28}{one.values_error:>9.4f}\n"
    yield f"  {'Brier score':28}{one.brier:>9.4f}\n"


def changes_text(changes: tuple[Change, ...], source: str) -> Iterator[str]:
    """What is believed otherwise without a source."""
    told = "1 value changes" if len(changes) == 1 else f"{len(changes):,} values change"
    yield f"\nwithout {source}, {told}\n"
    for one in changes[:OBJECTS]:
        after = f"{_clean(one.after)} {one.after_probability:.4f}" if one.after else "nothing"
        before = f"{_clean(one.before)} {one.before_probability:.4f}"
        yield _cut(f"  {_clean(one.object)}, {one.slot}: {before} → {after}", WIDTH) + "\n"
    if len(changes) > OBJECTS:
        yield f"  … {len(changes) - OBJECTS:,} more (--json has all)\n"


def fused_json(
    fused: Fused,
    measured: tuple[Measured, ...] = (),
    changes: tuple[Change, ...] = (),
    without: str | None = None,
) -> dict[str, Any]:
    """Everything: objects with values and who said what, sources, copies, figures."""
    said = _said(fused.claims)
    objects: dict[str, dict[str, Any]] = {}
    for belief in fused.slots:
        for answer, kappa in zip(answers(belief), conflicts(belief), strict=True):
            entry = objects.setdefault(
                answer.object, {"object": answer.object, "slots": {}, "said": []}
            )
            entry["slots"][answer.slot] = _answer_json(answer) | {"conflict": kappa}
    for name, entry in objects.items():
        entry["said"] = said.get(name, [])
    made: dict[str, Any] = {
        "version": 1,
        "objects": list(objects.values()),
        "sources": [
            {**asdict(one), "rates": _rates(belief, one.source)}
            for belief in fused.slots
            for one in belief.trust
        ],
        "copying": [{**asdict(one), "share": one.share} for one in fused.copying],
        "slots": {belief.name: _how(belief) for belief in fused.slots},
    }
    if without is not None:
        made["without"] = {"source": without, "changes": [asdict(one) for one in changes]}
    return made | _figures(measured)


def _answer_json(answer: Answer) -> dict[str, Any]:
    told: dict[str, Any] = {
        "values": [
            {"value": v.value, "probability": v.probability, "sources": list(v.sources)}
            for v in answer.values
        ],
        "unknown": answer.unknown,
    }
    if answer.members:
        told["members"] = [
            {"value": v.value, "probability": v.probability, "sources": list(v.sources)}
            for v in answer.members
        ]
    return told


def _how(belief: SlotBelief) -> dict[str, Any]:
    return {
        "kind": belief.parsed.kind,
        "rounds": belief.rounds,
        "converged": belief.converged,
        "method": belief.method,
    }


def _rates(belief: SlotBelief, source: str) -> dict[str, Any]:
    """Why a source is trusted as it is: P(it says v | t is true), or how it knows and guesses."""
    rates = belief.parameters.rates.get(source, belief.parameters.pooled).tolist()
    if belief.parsed.kind != "closed":
        return dict(zip(("exact", "general", "guess"), rates[0], strict=True))
    labels = belief.parsed.labels
    return {t: dict(zip(labels, row, strict=True)) for t, row in zip(labels, rates, strict=True)}


def _said(claims: Claims) -> dict[str, list[dict[str, Any]]]:
    """Every claim as it was written, by object, with where it stands."""
    order = np.lexsort((claims.line, claims.file))
    columns = (claims.object, claims.source, claims.slot, claims.value, claims.file, claims.line)
    files = claims.files or ("",)
    found: dict[str, list[dict[str, Any]]] = {}
    for thing, source, slot, value, file, line in zip(
        *(column[order].tolist() for column in columns), strict=True
    ):
        found.setdefault(claims.objects[thing], []).append(
            {
                "source": claims.sources[source],
                "slot": claims.slots[slot],
                "value": claims.values[value],
                "file": files[file],
                "line": line,
            }
        )
    return found


def _figures(measured: tuple[Measured, ...]) -> dict[str, Any]:
    """Return the figures of every slot, and at the top those of all slots together."""
    if not measured:
        return {}
    slots = {one.slot: _measured_json(one) for one in measured}
    return (
        slots[measured[0].slot] | {"measured": slots}
        if len(slots) == 1
        else {
            "accuracy": sum(m.accuracy * m.truths for m in measured)
            / sum(m.truths for m in measured),
            "calibration": asdict(calibration(measured)),
            "measured": slots,
        }
    )


def _measured_json(one: Measured) -> dict[str, Any]:
    return {
        "accuracy": one.accuracy,
        "f_same": one.f_same,
        "truths": one.truths,
        "silent": one.silent,
        "vote": {"accuracy": one.vote, "f_same": one.vote_f_same},
        "best_source": {"source": one.best_source, "accuracy": one.best},
        "possible": one.possible,
        "calibration": {
            "error": one.error,
            "values_error": one.values_error,
            "brier": one.brier,
            "bins": [asdict(b) for b in one.bins],
        },
    }


def masses_text(
    combined: Sequence[CombinedMasses],
    masses: Sequence[SourceMasses],
    reliabilities: Mapping[str, float],
) -> Iterator[str]:
    """Yield the combined mass functions slot by slot, and the reliabilities of the sources."""
    for slot in sorted({one.slot for one in combined}):
        chosen = [one for one in combined if one.slot == slot]
        count = sum(one.slot == slot for one in masses)
        counts = f"{_plural(count, 'mass function')} about {_plural(len(chosen), 'object')}"
        yield _cut(f"{_clean(slot)}: {counts}", WIDTH) + "\n"
        yield "  probability  belief  plausibility\n"
        for one in chosen[:OBJECTS]:
            yield from _combined_text(one)
        if len(chosen) > OBJECTS:
            yield f"  … {len(chosen) - OBJECTS:,} more objects (--json has all)\n"
        yield "\n"
    yield f"  {'source':24}  {'reliability':11}  {'mass functions':>14}\n"
    counted = Counter(one.source for one in masses)
    for source in sorted(counted)[:SOURCES]:
        reliability = f"{reliabilities.get(source, 1.0):.3f}"
        yield f"  {_cut(_clean(source), 24):24}  {reliability:11}  {counted[source]:>14,}\n"
    if len(counted) > SOURCES:
        yield f"  … {len(counted) - SOURCES:,} more sources (--json has all)\n"


def _combined_text(one: CombinedMasses) -> Iterator[str]:
    yield _cut(f"  {_clean(one.object)}", WIDTH) + "\n"
    for value in one.values[:VALUES]:
        figures = f"{value.probability:13.4f}  {value.belief:.4f}  {value.plausibility:12.4f}"
        yield _cut(f"{figures}  {_clean(value.value)}{_clean(_by(value))}", WIDTH) + "\n"
    if len(one.values) > VALUES:
        yield f"{'':37}… {len(one.values) - VALUES:,} more values (--json has all)\n"
    if one.unknown >= 0.00005:
        yield f"{one.unknown:13.4f}  {0:.4f}  {one.unknown:12.4f}  unknown\n"
    if one.conflict >= 0.00005:
        yield f"{one.conflict:13.4f}{'':24}conflict between sources\n"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def masses_json(
    combined: Sequence[CombinedMasses],
    masses: Sequence[SourceMasses],
    reliabilities: Mapping[str, float],
    changes: Sequence[Change] = (),
    without: str | None = None,
) -> dict[str, Any]:
    """Return the combined mass functions by object, what each source gave, and the sources."""
    objects: dict[str, dict[str, Any]] = {}
    for one in combined:
        entry = objects.setdefault(one.object, {"object": one.object, "slots": {}, "said": []})
        values = [{**asdict(value), "sources": list(value.sources)} for value in one.values]
        entry["slots"][one.slot] = {
            "values": values, "unknown": one.unknown, "conflict": one.conflict
        }  # fmt: skip
    for given in masses:
        objects[given.object]["said"].append({
            "source": given.source,
            "slot": given.slot,
            "masses": [asdict(focal_set) for focal_set in given.masses],
            "file": given.place.file,
            "line": given.place.line,
        })  # fmt: skip
    counted = Counter(one.source for one in masses)
    sources = []
    for source in sorted(counted):
        r = reliabilities.get(source, 1.0)
        figures = {"reliability": r, "low": r, "high": r, "given": source in reliabilities}
        sources.append({"source": source, **figures, "claims": counted[source]})
    return {
        "version": 1,
        "objects": list(objects.values()),
        "sources": sources,
        "without": None
        if without is None
        else {"source": without, "changes": [asdict(one) for one in changes]},
    }


def _clean(words: str) -> str:
    """Nothing from a file may steer the terminal."""
    return "".join(c if c.isprintable() else "·" for c in words)


def _cut(words: str, width: int) -> str:
    return words if len(words) <= width else f"{words[: width - 1]}…"
