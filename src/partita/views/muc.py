"""MUC-4 scores as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from partita.domains.incidents.fuse_muc import SystemTrust
from partita.evaluation.muc.score import Score, Tally
from partita.evaluation.rows import table

HEAD = f"{'':19}" + "".join(
    f"{name:>6}" for name in ("POS", "ACT", "COR", "PAR", "INC", "SPU", "MIS", "REC", "PRE", "F")
)
RULE = "-" * len(HEAD)


def report(score: Score, entities: Mapping[str, Tally], messages: bool = False) -> Iterator[str]:
    """Line by line: each message if wanted, each slot, groups, summary rows, roles."""
    for message, tallies in score.messages.items() if messages else ():
        yield f"{message}\n{HEAD}\n"
        yield from (_row(name, tally) for name, tally in tallies.items() if _told(tally))
        yield "\n"
    yield f"{HEAD}\n"
    yield from (_row(name, tally) for name, tally in score.slots.items())
    yield f"{RULE}\n"
    yield from (_row(f"{group}-total", tally) for group, tally in score.groups.items())
    yield f"{RULE}\n"
    yield from (_row(name, tally) for name, tally in summary(score).items())
    yield f"\nF of ALL TEMPLATES: {100 * score.all_templates.f():.2f}"
    yield f" (precision twice {100 * score.all_templates.f(0.5):.2f},"
    yield f" recall twice {100 * score.all_templates.f(2.0):.2f})\n"
    yield f"\nEntities by role, aligned one to one\n{HEAD}\n"
    yield from (_row(role, tally) for role, tally in entities.items())
    yield _row("all roles", _whole(entities))


def _told(tally: Tally) -> bool:
    return tally != Tally()


def _row(name: str, tally: Tally) -> str:
    short = name.replace("perpetrator", "perp.").replace("organisation", "org.")
    counts = (
        tally.possible,
        tally.actual,
        tally.correct,
        tally.partial,
        tally.incorrect,
        tally.spurious,
        tally.missing,
    )
    shares = (tally.recall, tally.precision, tally.f())
    numbers = "".join(f"{n:>6}" for n in counts) + "".join(f"{100 * s:>6.1f}" for s in shares)
    return f"{short:19}{numbers}\n"


def summary(score: Score) -> dict[str, Tally]:
    return {
        "MATCHED/MISSING": score.matched_missing,
        "MATCHED/SPURIOUS": score.matched_spurious,
        "MATCHED ONLY": score.matched_only,
        "ALL TEMPLATES": score.all_templates,
        "SET FILLS ONLY": score.set_fills,
        "STRING FILLS ONLY": score.string_fills,
    }


def exam_json(score: Score, entities: Mapping[str, Tally]) -> dict[str, Any]:
    """Recall, precision and F in percent, as the exam gives them."""
    rows = {
        name.lower().replace(" ", "_").replace("/", "_"): t for name, t in summary(score).items()
    }
    return {
        "all_templates": _numbers(score.all_templates),
        "slots": {name: _numbers(tally) for name, tally in score.slots.items()},
        "groups": {name: _numbers(tally) for name, tally in score.groups.items()},
        "rows": {name: _numbers(tally) for name, tally in rows.items()},
        "messages": {
            message: {name: _numbers(tally) for name, tally in tallies.items() if _told(tally)}
            for message, tallies in score.messages.items()
        },
        "entities_by_role": {
            **_numbers(_whole(entities)),
            "roles": {role: _numbers(tally) for role, tally in entities.items()},
        },
    }


def _whole(entities: Mapping[str, Tally]) -> Tally:
    return sum(entities.values(), Tally())


def _numbers(tally: Tally) -> dict[str, float]:
    return {
        "recall": 100 * tally.recall,
        "precision": 100 * tally.precision,
        "f": 100 * tally.f(),
        "possible": tally.possible,
        "actual": tally.actual,
        "correct": tally.correct,
        "partial": tally.partial,
        "incorrect": tally.incorrect,
        "spurious": tally.spurious,
        "missing": tally.missing,
    }


def systems_markdown(scores: Mapping[str, Score]) -> str:
    """All systems by F, then every slot: the first system beside the best and the middle one of
    the others."""
    return f"{_systems(scores)}\n\n{_slots(scores)}\n"


def _systems(scores: Mapping[str, Score]) -> str:
    groups = list(next(iter(scores.values())).groups)
    ordered = sorted(scores, key=lambda name: -scores[name].all_templates.f())
    lines = [
        [
            name,
            *_shares(scores[name].all_templates),
            *(_f(scores[name].groups[group]) for group in groups),
        ]
        for name in ordered
    ]
    return table(["system", "recall", "precision", "F", *(f"F {g}" for g in groups)], lines)


def _slots(scores: Mapping[str, Score]) -> str:
    (first, own), *others = scores.items()
    lines = []
    for slot, tally in own.slots.items():
        theirs = sorted((100 * score.slots[slot].f(), name) for name, score in others)
        best, name = theirs[-1]
        middle = median(f for f, _ in theirs)
        lines.append([slot, *_shares(tally), f"{best:.1f} ({name})", f"{middle:.1f}"])
    header = ["slot", *(f"{first}: {what}" for what in ("recall", "precision", "F"))]
    return table([*header, "best F of the others", "their median"], lines)


def _shares(tally: Tally) -> list[str]:
    return [f"{100 * tally.recall:.1f}", f"{100 * tally.precision:.1f}", _f(tally)]


def _f(tally: Tally) -> str:
    return f"{100 * tally.f():.1f}"


def trusted_text(trusted: Sequence[SystemTrust], templates: int, fills: int) -> str:
    """The most trusted first; all figures are expected ones, no key is known."""
    head = f"  {'system':<24}templates   fills  precision  recall      F  weight\n"
    rows = (
        f"  {_clean_name(one.source)[:23]:<24}{one.templates:9,}{one.fills:8,}{one.precision:11.3f}"
        f"{one.recall:8.3f}{one.f:7.3f}{one.weight:8.2f}\n"
        for one in sorted(trusted, key=lambda one: (-one.f, one.source))
    )
    return f"{templates:,} templates with {fills:,} fills\n\n{head}{''.join(rows)}"


def trusted_json(trusted: Sequence[SystemTrust], templates: int, fills: int) -> str:
    sources = [asdict(one) for one in trusted]
    return json.dumps({"templates": templates, "fills": fills, "sources": sources}) + "\n"


def _clean_name(words: str) -> str:
    """Nothing from a file's name may steer the terminal."""
    return "".join(c if c.isprintable() else "·" for c in words)
