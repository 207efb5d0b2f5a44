"""Numbers of targets: a number, PLURAL, a range (5 - 7, 6 -) or about a number (~7)."""

from __future__ import annotations

import re

from partita.evaluation.muc.verdicts import CORRECT, INCORRECT, PARTIAL, Verdict

_NUMBER = re.compile(r"[0-9]+")


def judge(response: str, key: str) -> Verdict:
    given, wanted = (re.sub(r"[\s,]", "", text.upper()) for text in (response, key))
    if given == wanted or (given.isdigit() and wanted.isdigit() and int(given) == int(wanted)):
        return CORRECT
    anchors = {int(number) for number in _NUMBER.findall(wanted)}
    single = given.isdigit() and not wanted.isdigit()
    return PARTIAL if single and int(given) in anchors else INCORRECT
