"""Several systems' answers to one exam side by side, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from partita.evaluation.markdown import table
from partita.evaluation.muc.score import Score
from partita.evaluation.muc.tally import Tally


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
