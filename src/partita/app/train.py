"""Train parameters from keys."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from partita.configurations.joint.model import JointModel, joint_model_text, write_joint_model
from partita.core import Document
from partita.core.tabular import Columns, Tabular
from partita.core.templates import Key
from partita.corpora.documents import read_corpora
from partita.domains import domain_folders, find_domain, schema_of
from partita.errors import InputError
from partita.evaluation.splits import Cut, cut_document
from partita.options import TrainOptions, described
from partita.training.few_keys import Taught, teach
from partita.training.joint import train_joint
from partita.training.lessons import Lesson, lesson
from partita.training.parameter_files import (
    PairParameters,
    pair_parameters_text,
    read_pair_parameters,
    shipped_pair_parameters,
    write_pair_parameters,
)

Progress = Callable[[str], None]
MODELS = "greedy, merging, evidential, scaled"
_Start = tuple[PairParameters, str]


@dataclass(frozen=True, slots=True, eq=False)
class TrainedModel(Tabular):
    """Trained parameters: pass them to `run`, `solve` or `cluster`, or save them.

    `models` names the models that they are for, and `figures` holds what was measured in
    training. The tables are `figures` and, where whole keys were learned from, `keys`: the bits
    and the probability of each before and after.
    """

    models: str
    figures: Mapping[str, float]
    parameters: PairParameters | JointModel
    taught: Taught | None = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the parameters as the JSON file that `--parameters` reads."""
        if isinstance(self.parameters, JointModel):
            write_joint_model(Path(path), self.parameters)
        else:
            write_pair_parameters(Path(path), self.parameters)

    def json(self) -> str:
        """Return the text of the file of parameters."""
        if isinstance(self.parameters, JointModel):
            return joint_model_text(self.parameters)
        return pair_parameters_text(self.parameters)

    def to_dict(self) -> dict[str, Any]:
        """Return what was learned as `partita train --json` writes it."""
        return {
            "model": self.models,
            "figures": dict(self.figures),
            "keys": None if self.taught is None else key_rows(self.taught),
            "note": None if self.taught is None else self.taught.note,
        }

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        return {"figures": self._figure_columns, "keys": self._key_columns}

    def _key_columns(self) -> Columns:
        rows = [] if self.taught is None else key_rows(self.taught)
        names = ("bits", "probability")
        columns = {
            f"{name}_{side}": [row[name][side] for row in rows]
            for name in names
            for side in ("before", "after")
        }
        return {"message": [row["message"] for row in rows], **columns}

    def _figure_columns(self) -> Columns:
        return {"figure": list(self.figures), "value": [float(v) for v in self.figures.values()]}

    def __str__(self) -> str:
        lines = [f"Learned {self.models}"]
        for name, value in self.figures.items():
            shown = f"{value:,.0f}" if value == int(value) else f"{value:.4f}"
            lines.append(f"  {name.replace('_', ' ')}: {shown}")
        if self.taught is not None and self.taught.note:
            lines.append(self.taught.note)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"TrainedModel({self.models})"


@described(TrainOptions)
def train(
    keys: str | os.PathLike[str] | Key | Iterable[str | os.PathLike[str] | Key],
    *,
    model: str = "evidential",
    start: str | os.PathLike[str] | TrainedModel | None = None,
    domain: str | None = None,
    source: str | None = None,
    about: str = "",
    seed: int = 0,
    progress: Progress | None = None,
) -> TrainedModel:
    """Train parameters from keys (gold labels).

    `keys` are `Key` records, files of keys (JSONL), CoNLL-U files with CorefUD entities, folders
    of these, or one of them. `model="joint"` trains the joint model, any other name the models
    over pairs.

    Models over pairs maximise the likelihood of whole keys under `model`, with a prior around the
    parameters of `start` (a file or a trained model; those of the domain, or the shipped ones, by
    default).
    """
    return train_model(keys, TrainOptions.of(locals()))


def train_model(keys: Any, options: TrainOptions) -> TrainedModel:
    """Train parameters from keys, as options ask for."""
    listed: list[Any] = [keys] if isinstance(keys, str | os.PathLike | Key) else list(keys)
    paths = [Path(one) for one in listed if isinstance(one, str | os.PathLike)]
    report = options.progress or (lambda _: None)
    documents = _documents(listed, options.source, report)
    learned_from = options.about or _description(paths, len(listed), documents)
    if options.model == "joint":
        return _joint(documents, options, learned_from, report)
    cuts = _cuts(documents, options.domain, paths, report)
    start = _start(options.start, options.domain or next(domain_folders(paths), None))
    return _from_keys(cuts, start, options.model, learned_from, report)


def _start(
    start: str | os.PathLike[str] | TrainedModel | None, domain: str | Path | None
) -> _Start:
    """Return the parameters at hand, and what they are called."""
    if isinstance(start, TrainedModel):
        if not isinstance(start.parameters, PairParameters):
            raise InputError("start holds a joint model; expected parameters of pairs")
        return start.parameters, "a trained model"
    if start is not None:
        return read_pair_parameters(Path(start)), Path(start).name
    if domain is not None:
        return find_domain(domain).pair_parameters, f"the domain {Path(domain).name}"
    return shipped_pair_parameters(), "shipped parameters"


def _from_keys(
    cuts: Sequence[Cut], start: _Start, model: str, learned_from: str, progress: Progress
) -> TrainedModel:
    """Learn from whole keys, starting from parameters."""
    parameters, name = start
    lessons = _lessons(cuts, parameters, progress)
    progress(f"learning from {len(lessons):,} keys")
    source = f"{learned_from}, starting from {name}"
    taught = teach(parameters, lessons, model=model, learned_from=source)
    before, after = taught.bits
    figures = dict(taught.parameters.figures)
    figures |= {"bits before": before, "bits after": after}
    figures |= {"scale": taught.parameters.scaled.scale, "bias": taught.parameters.scaled.bias}
    figures |= {"excluded": taught.parameters.excluded}
    return TrainedModel(MODELS, figures, taught.parameters, taught=taught)


def _lessons(cuts: Sequence[Cut], parameters: PairParameters, progress: Progress) -> list[Lesson]:
    progress("observing characteristics")
    lessons = [lesson(cut, parameters) for cut in cuts if cut.sets]
    if not lessons:
        raise InputError("no key leaves anything to decide (expected sets with compatible pairs)")
    return lessons


def key_rows(taught: Taught) -> list[dict[str, Any]]:
    """Return the bits and the probability of every key before and after training."""
    return [
        {
            "message": one.message,
            "bits": {"before": one.bits, "after": other.bits},
            "probability": {"before": one.probability, "after": other.probability},
        }
        for one, other in zip(taught.before, taught.after, strict=True)
    ]


def check_folder(out: Path) -> None:
    """Refuse a file that could not be written, before anything is learned."""
    if not out.resolve().parent.is_dir():
        raise InputError("cannot be written: there is no such folder", file=str(out))


MOST_NAMES = 4  # of files that a description lists


def _description(paths: Sequence[Path], keys: int, documents: Sequence[Document]) -> str:
    """Return what the parameters say that they come from."""
    names = [path.name for path in paths]
    if len(names) < keys:
        return f"{keys - len(names)} keys"
    if len(names) <= MOST_NAMES:
        return ", ".join(names)
    genres = ", ".join(sorted({document.genre for document in documents} - {""}))
    of = f" of the genres {genres}" if genres else ""
    return f"{len(documents)} documents{of}: {names[0]} to {names[-1]}"


def _documents(keys: Sequence[Any], source: str | None, progress: Progress) -> list[Document]:
    documents = []
    for document in read_corpora(keys, source):
        progress(f"reading {document.name}")
        documents.append(document)
    if not any(map(len, documents)):
        files = ", ".join(str(one) for one in keys if not isinstance(one, Key))
        raise InputError(f"no mentions in {files or 'the keys'}")
    return documents


def _cuts(
    documents: Sequence[Document], domain: str | None, paths: Sequence[Path], progress: Progress
) -> list[Cut]:
    cuts, schema = [], schema_of(domain, paths)
    for document in documents:
        progress(f"cutting {document.name} into sets")
        cuts.append(cut_document(document, schema))
    return cuts


def _joint(
    documents: list[Document], options: TrainOptions, learned_from: str, progress: Progress
) -> TrainedModel:
    if options.start is not None:
        raise InputError("--start is for models over pairs; the joint model starts from scratch")

    def epoch(done: int, of: int, bits: float) -> None:
        progress(f"epoch {done} of {of}: {bits:.3f} bits per mention")

    kept = [document for document in documents if len(document)]
    model = train_joint(kept, seed=options.seed, learned_from=learned_from, progress=epoch)
    return TrainedModel("joint", dict(model.figures), model)
