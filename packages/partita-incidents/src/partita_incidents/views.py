"""MUC-4 scores as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

from partita.evaluation.rows import table
from partita_incidents.score import Marked, Score, Tally

HEAD = f"{'':19}" + "".join(
    f"{name:>6}" for name in ("POS", "ACT", "COR", "PAR", "INC", "SPU", "MIS", "REC", "PRE", "F")
)
RULE = "-" * len(HEAD)


NOTE = """
This scorer compares strings by their words. On the answers of 1992 it gives 1.1 to 1.3 points more
than the original scorer on average.
"""


def report(marked: Marked, messages: bool = False) -> Iterator[str]:
    """Yield the report: messages if wanted, slots, groups, summary rows, roles."""
    score = marked.score
    for message, tallies in score.messages.items() if messages else ():
        yield f"{message}\n{HEAD}\n"
        yield from (_row(name, tally) for name, tally in tallies.items() if _is_filled(tally))
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
    yield f"\nCEAF-REE (Du et al. 2021)\n{HEAD}\n"
    yield from _role_rows(marked.ceaf_ree)
    yield f"\nEntities by role, aligned one to one by the exam's rules for strings\n{HEAD}\n"
    yield from _role_rows(marked.entities)
    yield NOTE


def _role_rows(tallies: Mapping[str, Tally]) -> Iterator[str]:
    yield from (_row(role, tally) for role, tally in tallies.items())
    yield _row("all roles", _total(tallies))


def _is_filled(tally: Tally) -> bool:
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


def exam_json(marked: Marked) -> dict[str, Any]:
    """Return recall, precision and F in percent, as in MUC-4."""
    score = marked.score
    rows = {
        name.lower().replace(" ", "_").replace("/", "_"): t for name, t in summary(score).items()
    }
    return {
        "all_templates": _numbers(score.all_templates),
        "slots": {name: _numbers(tally) for name, tally in score.slots.items()},
        "groups": {name: _numbers(tally) for name, tally in score.groups.items()},
        "rows": {name: _numbers(tally) for name, tally in rows.items()},
        "messages": {
            message: {name: _numbers(tally) for name, tally in tallies.items() if _is_filled(tally)}
            for message, tallies in score.messages.items()
        },
        "ceaf_ree": _by_role(marked.ceaf_ree),
        "entities_by_role": _by_role(marked.entities),
    }


def _by_role(tallies: Mapping[str, Tally]) -> dict[str, Any]:
    roles = {role: _numbers(tally) for role, tally in tallies.items()}
    return {**_numbers(_total(tallies)), "roles": roles}


def _total(entities: Mapping[str, Tally]) -> Tally:
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
    """Return tables of all systems by F, and of each slot beside the other systems."""
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
        f_of_others = sorted((100 * score.slots[slot].f(), name) for name, score in others)
        best, name = f_of_others[-1]
        middle_f = median(f for f, _ in f_of_others)
        lines.append([slot, *_shares(tally), f"{best:.1f} ({name})", f"{middle_f:.1f}"])
    header = ["slot", *(f"{first}: {what}" for what in ("recall", "precision", "F"))]
    return table([*header, "best F of the others", "their median"], lines)


def _shares(tally: Tally) -> list[str]:
    return [f"{100 * tally.recall:.1f}", f"{100 * tally.precision:.1f}", _f(tally)]


def _f(tally: Tally) -> str:
    return f"{100 * tally.f():.1f}"
