"""The scores of an exam as its report has them, in 80 columns, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from partita.evaluation.muc.score import Score
from partita.evaluation.muc.tally import Tally

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
    yield f"\nCEAF-REE, entities by role\n{HEAD}\n"
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
        "ceaf_ree": {
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
