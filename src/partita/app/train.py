"""Train parameters from keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from partita.configurations.joint.model import write_joint_model
from partita.corpora.documents import read_documents, schema_of
from partita.errors import InputError
from partita.evaluation.splits import Cut, cut
from partita.evaluation.training import Plan, Selections, train_pairs
from partita.pairs.characteristics import PAPER
from partita.pairs.extended import EXTENDED
from partita.records import Document
from partita.training.joint import train_joint
from partita.training.pair_parameters import TRAININGS, PairParameters
from partita.training.parameter_files import write_pair_parameters
from partita.views import evaluation as selections_view

Progress = Callable[[str], None]
CHARACTERISTICS = {"paper": PAPER, "extended": EXTENDED}


@dataclass(frozen=True, slots=True)
class Lesson:
    """What to learn, from what, and how."""

    keys: Sequence[Path]
    source: str | None = None
    model: str = "evidential"
    characteristics: str = "extended"
    selecting: bool = False
    seed: int = 0
    about: str = ""
    domain: str | None = None
    fit: str = "auto"

    @property
    def words(self) -> str:
        """What the parameters say that they come from."""
        names = [path.name for path in self.keys]
        shown = ", ".join(names) if len(names) <= 4 else f"{names[0]} and {len(names) - 1} more"
        return self.about or shown


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """What was learned, for a person and for a machine."""

    file: str
    model: str
    figures: dict[str, Any]
    selections: Selections = field(default_factory=dict)

    def json(self) -> str:
        told = {"file": self.file, "model": self.model, "figures": self.figures}
        chosen = {name: selections_view.records(one) for name, one in self.selections.items()}
        return json.dumps(told | {"selections": chosen}, ensure_ascii=False) + "\n"

    def text(self) -> str:
        parts = [f"{name}\n{selections_view.text(one)}" for name, one in self.selections.items()]
        lines = [f"Learned {self.model}"]
        lines += [f"  {name.replace('_', ' ')}: {_told(v)}" for name, v in self.figures.items()]
        return "\n".join([*parts, "\n".join([*lines, f"Written to {self.file}"])]) + "\n"


def train(lesson: Lesson, out: Path, progress: Progress) -> Report:
    """Learn, and write the file when all is learned: an interruption leaves what was there."""
    if not out.resolve().parent.is_dir():
        raise InputError("cannot be written: there is no such folder", file=str(out))
    documents = _documents(lesson, progress)
    if lesson.model == "joint":
        return _joint(lesson, documents, out, progress)
    plan = Plan(
        CHARACTERISTICS[lesson.characteristics],
        lesson.selecting,
        lesson.seed,
        lesson.words,
        method=lesson.fit,
    )
    learned, selected = train_pairs(_cuts(documents, lesson, progress), plan, progress)
    write_pair_parameters(out, learned)
    return Report(str(out), "greedy, merging, evidential, scaled", _figures(learned), selected)


def _documents(lesson: Lesson, progress: Progress) -> list[Document]:
    found = []
    for document in read_documents(lesson.keys, lesson.source):
        progress(f"reading {document.name}")
        found.append(document)
    if not any(map(len, found)):
        raise InputError(f"no mentions in {', '.join(map(str, lesson.keys))}")
    return found


def _cuts(documents: Sequence[Document], lesson: Lesson, progress: Progress) -> list[Cut]:
    found, schema = [], schema_of(lesson.domain, lesson.keys)
    for document in documents:
        progress(f"cutting {document.name} into sets")
        found.append(cut(document, schema))
    return found


def _joint(lesson: Lesson, documents: list[Document], out: Path, progress: Progress) -> Report:
    if lesson.selecting:
        raise InputError("--select is for models over pairs; the joint model uses all it observes")
    if lesson.fit != "auto":
        raise InputError("--fit is for models over pairs; the joint model has its own training")

    def told(done: int, of: int, bits: float) -> None:
        progress(f"epoch {done} of {of}: {bits:.3f} bits per mention")

    kept = [document for document in documents if len(document)]
    model = train_joint(kept, seed=lesson.seed, learned_from=lesson.words, progress=told)
    write_joint_model(out, model)
    return Report(str(out), "joint", dict(model.figures))


def _figures(learned: PairParameters) -> dict[str, Any]:
    told: dict[str, Any] = dict(learned.figures)
    for name in TRAININGS:
        model = learned.pair_model(name)
        told[f"pairs of {name}"] = model.figures["pairs"]
        told[f"bits per pair of {name}"] = model.figures["bits_per_pair"]
    told |= {"scale": learned.scaled.scale, "bias": learned.scaled.bias}
    return told | {"excluded": learned.excluded, "crossing": learned.crossing}


def _told(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.4f}"
