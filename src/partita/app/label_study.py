"""Study which sets to label first."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from partita.corpora.documents import read_documents
from partita.domains import schema_of
from partita.errors import InputError
from partita.evaluation.label_study import (
    BY,
    CHANCE,
    MODELS,
    Design,
    RuleComparison,
    compare_rules,
    run_study,
    small_sets,
    untrained_parameters,
)
from partita.evaluation.rows import table
from partita.evaluation.splits import cut
from partita.training.parameter_files import shipped_pair_parameters
from partita.views.charts import choice_chart, save

Progress = Callable[[str], None]
LARGEST = 10  # templates that a person can place at a time


@dataclass(frozen=True, slots=True)
class Plan:
    """A corpus with keys, the largest set to key, and whether to start from shipped parameters."""

    corpora: Sequence[Path]
    source: str | None = None
    largest: int = LARGEST
    shipped: bool = False
    domain: str | None = None
    design: Design = field(default_factory=Design)


@dataclass(frozen=True, slots=True, eq=False)
class KeyingStudy:
    """The figures of a study, and the size of its corpus."""

    rows: list[RuleComparison]
    design: Design
    documents: int
    sets: int
    templates: int
    start: str

    def json(self) -> str:
        report = {
            "documents": self.documents,
            "sets": self.sets,
            "templates": self.templates,
            "start": self.start,
            "design": asdict(self.design),
            "rows": [asdict(one) for one in self.rows],
        }
        return json.dumps(report, ensure_ascii=False, allow_nan=False) + "\n"

    def markdown(self) -> str:
        """Return a table for each model, by number of keys and by number of templates."""
        mean = self.templates / self.sets
        summary = (
            f"{self.documents} documents, {self.sets:,} sets of {mean:.1f} templates on average; "
            f"{self.design.runs} runs, pools of {self.design.pool} sets, "
            f"{self.design.held} sets of other documents held out; start: {self.start}\n"
        )
        return "\n".join([summary, *(self._table(model, by) for model in MODELS for by in BY)])

    def _table(self, model: str, by: str) -> str:
        rows = [one for one in self.rows if (one.model, one.by) == (model, by)]
        numbers = list(dict.fromkeys(one.number for one in rows))
        words = {"keys": "{} keys", "templates": "as many templates as {} keys have"}[by]
        lines = [
            [rule, *(_cell(one) for one in rows if one.rule == rule)]
            for rule in dict.fromkeys(one.rule for one in rows)
        ]
        head = ["rule", *(words.format(n) for n in numbers)]
        return f"### Bits per template, {model}, by {by}\n\n{table(head, lines)}\n"

    def save_chart(self, path: Path) -> None:
        save(choice_chart(self.rows), path)


def _cell(one: RuleComparison) -> str:
    if one.rule == CHANCE:
        return f"{one.bits:.3f}"
    return f"{one.bits:.3f} ({one.difference:+.3f}, {one.low:+.3f} to {one.high:+.3f})"


def study(plan: Plan, progress: Progress) -> KeyingStudy:
    """Compare the rules that choose the next set to key on a corpus with keys."""
    if plan.largest < 2:
        raise InputError(f"largest set has {plan.largest} templates (expected at least 2)")
    schema, cuts = schema_of(plan.domain, plan.corpora), []
    for document in read_documents(plan.corpora, plan.source):
        progress(f"reading {document.name}")
        cuts.append(cut(document, schema))
    sets = list(small_sets(cuts, plan.largest))
    start = shipped_pair_parameters() if plan.shipped else untrained_parameters(sets)
    rows = compare_rules(run_study(sets, start, plan.design, progress))
    templates = sum(len(one.labels) for one in sets)
    start_text = "the parameters that come with Partita" if plan.shipped else "no parameters"
    return KeyingStudy(rows, plan.design, len(cuts), len(sets), templates, start_text)
