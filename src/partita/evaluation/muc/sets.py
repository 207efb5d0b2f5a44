"""Fills from a list: equal is correct, and for some lists something broader is partial."""

from __future__ import annotations

from partita.evaluation.muc.templates import BROADER, Slot
from partita.evaluation.muc.verdicts import CORRECT, INCORRECT, PARTIAL, Verdict

# (slot, response, key): what the guidelines name.
_NEARLY = frozenset(
    (
        ("perp-org-conf", "SUSPECTED OR ACCUSED", "SUSPECTED OR ACCUSED BY AUTHORITIES"),
        (
            "phys-tgt-type",
            "POLITICAL FIGURE OFFICE OR RESIDENCE",
            "GOVERNMENT OFFICE OR RESIDENCE",
        ),
        ("phys-tgt-effect", "DESTROYED", "SOME DAMAGE"),
        ("hum-tgt-type", "GOVERNMENT OFFICIAL", "FORMER GOVERNMENT OFFICIAL"),
        ("hum-tgt-type", "ACTIVE MILITARY", "FORMER ACTIVE MILITARY"),
        ("hum-tgt-type", "GOVERNMENT OFFICIAL", "FORMER ACTIVE MILITARY"),
        ("hum-tgt-type", "ACTIVE MILITARY", "FORMER GOVERNMENT OFFICIAL"),
        ("hum-tgt-type", "POLITICAL FIGURE", "GOVERNMENT OFFICIAL"),
        ("hum-tgt-effect", "NO INJURY", "NO INJURY OR DEATH"),
        ("hum-tgt-effect", "NO DEATH", "NO INJURY OR DEATH"),
    )
)


def judge(slot: Slot, response: str, key: str) -> Verdict:
    given, wanted = (" ".join(text.upper().split()) for text in (response, key))
    if given == wanted:
        return CORRECT
    if slot.name == "inc-type":
        return PARTIAL if given == "ATTACK" else INCORRECT
    if slot.name == "inc-instr-type":
        return PARTIAL if given in _broader(wanted) else INCORRECT
    return PARTIAL if (slot.name, given, wanted) in _NEARLY else INCORRECT


def _broader(name: str) -> list[str]:
    found = []
    while name in BROADER:
        name = BROADER[name]
        found.append(name)
    return found
