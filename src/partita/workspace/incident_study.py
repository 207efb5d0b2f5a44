"""The paper's table for events, and the exam's score under each way of merging them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from partita.errors import InputError
from partita.evaluation.experiment import Effort, Experiment, run
from partita.evaluation.markdown import markdown, sizes_markdown, table
from partita.evaluation.set_models import Counts
from partita.incidents.event_models import event_models
from partita.incidents.merging import MODEL
from partita.incidents.readings import read
from partita.incidents.training import Told, event_sets, learn_pairs, schooled
from partita.incidents.ways import Marked, behind, marked
from partita.workspace.answering import keyed_stories
from partita.workspace.research import Design, Study


@dataclass(frozen=True, slots=True, eq=False)
class IncidentStudy:
    """Bits of the event sets under each model, and F under each way of merging."""

    sets: Experiment
    ways: Sequence[Marked]
    train: int
    test: int
    seed: int = 0

    def json(self) -> str:
        told = {"sets": self.sets.json(), "exam": [self._way(one) for one in self.ways]}
        return json.dumps(told, ensure_ascii=False, allow_nan=False) + "\n"

    def markdown(self) -> str:
        learned = f"{self.train} messages to learn from, {self.test} to test on"
        return "\n\n".join(
            (
                f"## Event sets: {learned}",
                markdown(self.sets.rows),
                sizes_markdown(self.sets.rows),
                "## The exam, all templates",
                self._exam(),
                "",
            )
        )

    def save_charts(self, folder: Path) -> None:
        Study({"": self.sets}).save_charts(folder)

    def _exam(self) -> str:
        header = (
            "events merged",
            "incidents",
            "recall",
            "precision",
            "F",
            f"behind {MODEL} (95 %)",
        )
        return table(header, [self._line(self._way(one)) for one in self.ways])

    def _line(self, one: dict[str, Any]) -> list[str]:
        gap = one["behind"]
        told = f"{gap['points']:.2f} ({gap['low']:.2f} to {gap['high']:.2f})" if gap else ""
        shares = [f"{one[name]:.2f}" for name in ("recall", "precision", "f")]
        return [one["way"], str(one["incidents"]), *shares, told]

    def _way(self, one: Marked) -> dict[str, Any]:
        total = one.total
        return {
            "way": one.way,
            "incidents": one.incidents,
            "recall": 100 * total.recall,
            "precision": 100 * total.precision,
            "f": 100 * total.f(),
            "behind": self._behind(one),
        }

    def _behind(self, one: Marked) -> dict[str, float] | None:
        best = next(way for way in self.ways if way.way == MODEL)
        if one is best:
            return None
        points = 100 * (best.total.f() - one.total.f())
        return {"points": points, **asdict(behind(one, best, self.seed))}


def study_incidents(design: Design, told: Told) -> IncidentStudy:
    """Everything learned from some messages of the exam, measured on others."""
    if not design.test:
        raise InputError("events are learned from one corpus and measured on another: give --test")
    school = schooled(keyed_stories(design.corpora, told), told)
    told("reading what to test on")
    asked = [(read(story, school.readers), key) for story, key in keyed_stories(design.test, told)]
    learned_from, tested_on = school.sets(), event_sets(asked, school.readers)
    effort = Effort(seed=design.seed)
    models = event_models(effort, Counts(effort.budget, design.seed))
    sets = run(learned_from, tested_on, models, effort=effort, progress=told, paper=False)
    ways = tuple(marked(school, learn_pairs(learned_from, seed=design.seed), asked, told))
    return IncidentStudy(sets, ways, len(school.held_out), len(asked), design.seed)
