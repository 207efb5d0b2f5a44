"""Reports made by hand from distributions by brute force."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from oracles.answers import brute
from partita.core import (
    Configuration,
    CoreferenceSet,
    Distribution,
    Entity,
    Figure,
    SlotValue,
    Template,
)
from partita.files.strict import Place
from partita.results.result_lines import result_line
from partita.views.report import MessageRow, Report, ReportKey, ReportMessage, set_of

WORDS = ("x<1>", "depot", "place", "ana", "run", "model")


def distribution(ids: Sequence[str], words: Sequence[str] = WORDS, name: str = "1") -> Distribution:
    """All pairs at .6; every template says what the words say."""
    found = brute(list(ids), {(a, b): 0.6 for a in ids for b in ids if a < b}, name=name)
    places = range(0, 4 * len(ids), 4)
    templates = tuple(
        Template(
            one, words[0], at, at + 4, type=words[1], rule=words[2], slots={words[1]: [words[2]]}
        )
        for one, at in zip(ids, places, strict=True)
    )
    return replace(found, set=CoreferenceSet(templates, name=name), reason=words[4])


def line(ids: Sequence[str], message: str, words: Sequence[str] = WORDS, name: str = "1") -> str:
    """A set as a line of results, with its first cell as an entity."""
    found = distribution(ids, words, name)
    value = SlotValue(words[2], Figure.exact(0.7), tuple(ids[:1]))
    unknown = SlotValue(None, Figure.exact(0.3))
    cell = found.most_probable.cells[0]
    entity = Entity(
        f"E{words[0]}", words[1], cell, cell[0], Figure.exact(0.4), {words[2]: (value, unknown)},
        words[3], (words[0],),
    )  # fmt: skip
    return result_line(found, message, entities=[entity])


def message(
    ids: Sequence[str], name: str, text: str | None, words: Sequence[str] = WORDS
) -> ReportMessage:
    """One set that somebody has keyed, and one template beside it."""
    keys = [
        ReportKey(words[3], Configuration([ids])),
        ReportKey(words[4], Configuration([[one] for one in ids])),
    ]
    found = set_of(json.loads(line(ids, name, words)), Place("test"), keys)
    alone = Template(f"alone{words[0]}", words[0], 0, 3, type=words[2], slots={words[0]: words[1]})
    return ReportMessage(name, (found,), (alone,), text)


def report(messages: Sequence[ReportMessage], words: Sequence[str] = WORDS) -> Report:
    rows = tuple(
        MessageRow(one.id, len(one.templates), 1, 2, one.sets[0].result.entropy.value)
        for one in messages
    )
    failed = MessageRow("failed", 0, 0, 0, 0.0, words[0])
    settings = {words[5]: words[0], "inputs": [words[1]], "versions": {words[2]: words[3]}}
    return Report(words[4], settings, (*rows, failed), tuple(messages), {words[1]: 2})
