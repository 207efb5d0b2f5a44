"""One run: its settings, and everything that it needs, loaded once."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from traceback import format_exc
from typing import IO, TYPE_CHECKING, Any
from weakref import finalize

import numpy as np

from partita.app.batch import Outcome, OutputForms, WorkPiece, gc_paused, process
from partita.app.solve import Solver
from partita.configurations import MODELS
from partita.core import (
    Budget,
    CoreferenceSet,
    Distribution,
    Marginals,
    Message,
)
from partita.domains import Domain, ParameterText, content_hash, find_domain
from partita.errors import InputError, PartitaError
from partita.files.text import HeldText, whole_text
from partita.options import default_memory
from partita.parameters import shipped_text
from partita.pipeline import Keep, Resolved, Stages, resolve
from partita.results.result_lines import entities_end, entity_json, line_head, singletons_line
from partita.text.messages import parse_message
from partita.text.raw_messages import RawMessage

if TYPE_CHECKING:
    from partita.app.solve import Solver
    from partita.configurations.joint.model import JointModel
    from partita.text.annotations import Annotation
    from partita.text.encoder import Encoder


DOMAIN = "general"
JOINT = "joint"
DATE_FIELDS = ("date", "dtg", "report_date", "sent")  # of a header, the first that is there
SECONDS = 2.0  # that an exact answer may be expected to take
STEPS = {"merging": 3_000_000, "joint": 0}  # joint: draws, 0 for the usual number
STEP = 30_000
COMMON = 60  # templates: sets of more are rare


@dataclass(frozen=True, slots=True)
class Settings:
    """What is the same for all messages of a run.

    Without `parameters` the domain's own are used, or those that ship with Partita; `gazetteer` is
    a list of places to add, for domains that take one; `force` reads other languages than English;
    `encoder` is the folder of an encoder for the joint model.
    """

    domain: str = DOMAIN
    model: str = JOINT
    parameters: str | HeldText = ""
    top: int | None = None
    threshold: float | None = None
    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    gazetteer: str = ""
    force: bool = False
    encoder: str = ""

    @classmethod
    def of(
        cls,
        domain: str | os.PathLike[str],
        model: str | None = None,
        parameters: str | os.PathLike[str] | HeldText | None = None,
        *,
        budget: Budget | None = None,
        gazetteer: str | os.PathLike[str] | None = None,
        encoder: str | os.PathLike[str] | None = None,
        **others: Any,
    ) -> Settings:
        """Return settings, by default with the domain's own model and the usual budget."""
        domain = os.fspath(domain)
        model = model_for(domain, model)
        return cls(
            domain,
            model,
            parameters if isinstance(parameters, HeldText) else os.fspath(parameters or ""),
            budget=budget or usual_budget(model),
            gazetteer=os.fspath(gazetteer or ""),
            encoder=os.fspath(encoder or ""),
            **others,
        )


class Runner:
    """A domain with its models and a budget, loaded once and used for all messages of a run.

    A pickled runner holds its settings only: a worker process loads the rest itself.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()

    def __reduce__(self) -> tuple[type[Runner], tuple[Settings]]:
        return Runner, (self.settings,)

    @cached_property
    def domain(self) -> Domain:
        """The domain, with the parameters and places that settings add."""
        settings, domain = self.settings, find_domain(self.settings.domain)
        if settings.model in domain.unsupported_models:
            supported = ", ".join(name for name in MODELS if name not in domain.unsupported_models)
            problem = f"domain {domain.name} does not support the model {settings.model}"
            raise InputError(f"{problem} (expected --model {supported})")
        if settings.parameters and settings.model != JOINT:
            domain = domain.with_parameters(settings.parameters)
        if settings.force:
            domain = domain.forced()
        return domain.with_gazetteer(settings.gazetteer) if settings.gazetteer else domain

    @cached_property
    def joint(self) -> tuple[ParameterText, JointModel]:
        """The joint model and its parameters."""
        from partita.configurations.joint.model import parse_joint_model

        file = self.settings.parameters
        text = whole_text(file) if file else shipped_text(JOINT) or ""
        model = parse_joint_model(text, str(file) or f"shipped parameters of {JOINT}")
        if self.encoder is not None:
            model = replace(model, encoder=self.encoder)
        return ParameterText(JOINT, text, model.learned_from), model

    @property
    def encoder(self) -> Encoder | None:
        """The encoder of the settings."""
        from partita.text.encoder import read_encoder

        folder = self.settings.encoder
        if folder and self.settings.model != JOINT:
            raise InputError("--encoder needs the model joint", file=folder)
        return read_encoder(folder) if folder else None

    @property
    def parameters(self) -> ParameterText:
        """The parameters in use."""
        return self.joint[0] if self.settings.model == JOINT else self.domain.parameters

    @property
    def cautious(self) -> bool:
        """Whether the pair model was learned from other domains alone."""
        uses_pairs = self.settings.model not in (JOINT, "uniform")
        return uses_pairs and self.domain.parameter_file is None

    @cached_property
    def stages(self) -> Stages:
        """The stages of the pipeline."""
        domain, model = self.domain, self.settings.model
        pairs = None if model == JOINT else domain.pair_model(model)
        return Stages(
            domain.extract, domain.schema, pairs, self.solve, domain.windows, domain.notes
        )

    def load(self) -> Runner:
        """Load everything now, so that errors are raised before any message is read."""
        _ = self.encoder, self.stages, self.parameters
        return self

    def resolve(
        self, message: Message, annotation: Annotation | None = None, keep: Keep | None = None
    ) -> Resolved:
        """Extract the templates of a message and resolve coreference among them.

        With an annotation, mentions or trees are taken from there. `keep` returns what is kept of
        the distribution of each window of a long message.
        """
        stages = self.stages if keep is None else replace(self.stages, keep=keep)
        if annotation is None:
            return resolve(message, stages)
        extract = partial(self.domain.extract_annotated, annotation=annotation)
        return resolve(message, replace(stages, extract=extract))

    def corefud(self, resolved: Resolved, annotation: Annotation | None = None) -> str:
        """Return a resolved message as CoNLL-U with the entities in CorefUD's brackets."""
        from partita.results.exports import corefud_text

        message, given = resolved.message, None if annotation is None else annotation.sentences
        sentences = self.domain.sentences(message) if given is None else given
        return corefud_text(message, resolved.templates, resolved.entities, sentences)

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """What decides about the results; a run that differs in any of it makes others."""
        from importlib.metadata import version

        settings, budget = self.settings, self.settings.budget
        return {
            "partita": version("partita"),
            "domain": Path(settings.domain).name,
            "rules": self.domain.fingerprint,
            "model": settings.model,
            "parameters": self.parameters.hash,
            "top": settings.top,
            "threshold": settings.threshold,
            "seconds" if budget.work is None else "work": (
                budget.seconds if budget.work is None else budget.work
            ),
            "seed": settings.seed,
            **({} if self.encoder is None else {"encoder": self.encoder.digest}),
        }

    def solve(self, sets: Sequence[Any]) -> Iterator[Distribution | PartitaError]:
        """Yield the distribution of each set, or the error that it has instead.

        The sets have pair probabilities, except those for the joint model. They are solved one by
        one: the last bit of a sum depends on what is summed beside it.
        """
        settings = self.settings
        if settings.model == JOINT:
            from partita.configurations.joint.posterior import solve_joint

            yield from solve_joint(
                sets,
                self.joint[1],
                top=settings.top,
                threshold=settings.threshold,
                seed=settings.seed,
                draws=settings.budget.work or None,
            )
            return
        for pairs in sets:
            budget = budget_for(len(pairs.set), settings.budget)
            yield from replace(self.solver, budget=budget).solve([pairs])

    @cached_property
    def solver(self) -> Solver:
        """The model of configurations over pairs."""
        settings = self.settings
        of_model = settings.model in ("greedy", "scaled", "forest")
        return Solver(
            settings.model,
            getattr(self.domain.pair_parameters, settings.model) if of_model else None,
            settings.top,
            settings.threshold,
            settings.budget,
            settings.seed,
        )


def model_for(domain: str, model: str | None = None) -> str:
    """Return the model, by default the one that fits the domain."""
    return model or find_domain(domain).default_model


def usual_budget(model: str, seconds: float | None = None, work: int | None = None) -> Budget:
    """Return the budget for one set.

    Without seconds no clock is looked at, so that the same messages give the same bytes, whatever
    the number of processes.
    """
    memory = default_memory() // (os.cpu_count() or 1)
    if seconds is not None:
        return Budget(seconds, memory, work)
    return Budget(SECONDS, memory, STEPS.get(model, STEP) if work is None else work)


def budget_for(templates: int, budget: Budget) -> Budget:
    """Return the budget for a set of some size: with more templates each step takes longer."""
    if budget.work is None or templates <= COMMON:
        return budget
    return replace(budget, work=max(1, int(budget.work * (COMMON / templates) ** 2)))


def stored_settings(settings: Settings) -> dict[str, Any]:
    """Return settings as a store keeps them: without parameters, which are stored themselves."""
    from partita.plugins import DOMAINS, installed
    from partita.rules.domain_files import folder_of

    known, budget = settings.domain in installed(DOMAINS), settings.budget
    return {
        "domain": settings.domain if known else str(folder_of(settings.domain).resolve()),
        "model": settings.model,
        "top": settings.top,
        "threshold": settings.threshold,
        "seconds": budget.seconds if budget.work is None else None,
        "work": budget.work,
        "seed": settings.seed,
        "gazetteer": str(Path(settings.gazetteer).resolve()) if settings.gazetteer else "",
        "force": settings.force,
        "encoder": str(Path(settings.encoder).resolve()) if settings.encoder else "",
    }


def settings_of(row: Mapping[str, Any], parameters: str | None) -> Settings:
    """Return the settings of a stored run, with the text of its parameters if it has any."""
    stored = row["asked"]
    return Settings(
        stored["domain"],
        stored["model"],
        "" if parameters is None else HeldText("parameters of the run", parameters),
        stored["top"],
        stored["threshold"],
        usual_budget(stored["model"], stored["seconds"], stored["work"]),
        stored["seed"],
        stored.get("gazetteer", ""),
        stored.get("force", False),
        stored.get("encoder", ""),
    )


CHUNK = 16  # messages handed to a worker at a time
CHARACTERS = 60_000  # or so much text
PAYS = 48  # messages: fewer are done before other processes have started

Item = RawMessage | Outcome

_log = logging.getLogger(__name__)
if "PARTITA_DEBUG" not in os.environ:  # then tracebacks go to standard error
    _log.addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Earlier:
    """The messages of earlier runs by the hashes of their texts, and where they are."""

    hashes: Mapping[str, str] = field(default_factory=dict)
    where: str = "the file of results"
    option: str = "--out"
    longest_id: int = 1 << 20  # characters


def run_messages(
    messages: Iterable[RawMessage | PartitaError],
    runner: Runner,
    forms: OutputForms,
    earlier: Earlier | None = None,
    workers: int | None = None,
) -> Iterator[Outcome]:
    """Yield the outcome of every message in order."""
    items = (_item(message, earlier or Earlier()) for message in messages)
    return process(_pieces(items), partial(resolve_each, runner, forms), workers)


def text_hash(text: str) -> str:
    """Return the hash by which the text of a message is recognised."""
    return content_hash([text.encode("utf-8", "surrogatepass")])


def message_hash(message: RawMessage) -> str:
    """Return the hash by which a message is recognised: of its text and of its annotation."""
    if message.annotation is None:
        return text_hash(message.text)
    return f"{text_hash(message.text)}-{text_hash(message.annotation.fingerprint)}"


def _item(message: RawMessage | PartitaError, earlier: Earlier) -> Item:
    """Return the message, or its outcome if it need not or cannot be resolved."""
    if isinstance(message, PartitaError):
        return Outcome("", error=str(message))
    if not _is_utf8(message.place + message.id):
        problem = f"{message.place}: the name is not UTF-8 (expected a name that can be written)"
        return Outcome("", error=problem)
    if len(message.id) > earlier.longest_id:
        problem = f"{message.place}: the id has {len(message.id):,} characters"
        return Outcome("", error=f"{problem}; {earlier.where} takes {earlier.longest_id:,}")
    if message.id not in earlier.hashes:
        return message
    if earlier.hashes[message.id] == message_hash(message):
        return Outcome(message.id, skipped=True)
    problem = f"{message.place}: {earlier.where} holds another text called {message.id}"
    return Outcome(message.id, error=f"{problem}; use another {earlier.option}")


def _is_utf8(name: str) -> bool:
    """Check a name: those of files may hold bytes that are no characters."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _pieces(items: Iterator[Item]) -> Iterator[WorkPiece[list[Item]]]:
    while piece := list(islice(items, 1)):
        size = _length(piece[0])
        while len(piece) < CHUNK and size < CHARACTERS and (item := next(items, None)):
            piece.append(item)
            size += _length(item)
        yield WorkPiece(piece, sum(isinstance(item, RawMessage) for item in piece) / PAYS)


def _length(item: Item) -> int:
    return len(item.text) if isinstance(item, RawMessage) else 0


def resolve_each(runner: Runner, forms: OutputForms, items: Sequence[Item]) -> Iterator[Outcome]:
    """Yield the outcome of each item; a message that fails does not stop the others."""
    for item in items:
        if isinstance(item, Outcome):
            yield item
            continue
        try:
            with gc_paused():
                outcome = _outcome(item, runner, forms)
        except PartitaError as error:
            outcome = _failure(item, str(error), forms)
        except Exception as error:
            problem = f"a fault of Partita ({type(error).__name__}: {error})"
            outcome = _failure(item, f"{problem}; fault {_log_fault(item, problem)}", forms)
        yield outcome


def _log_fault(message: RawMessage, problem: str) -> str:
    """Log the traceback of an unexpected exception; return the id by which it is found there.

    The same fault in the same message has the same id.
    """
    fault = content_hash([f"{message.id}\n{problem}".encode("utf-8", "replace")])[:12]
    _log.error("fault %s in message %s\n%s", fault, message.id, format_exc())
    return fault


def _failure(message: RawMessage, problem: str, forms: OutputForms) -> Outcome:
    error = f"{message.place}: message {message.id}: {problem}"
    stored = failed_object(message, error) if forms.stored else None
    return Outcome(message.id, error=error, stored=stored)


def _outcome(message: RawMessage, runner: Runner, forms: OutputForms) -> Outcome:
    if forms.own:
        text, count = runner.domain.formatted(forms.own, parse_message(message), runner.stages)
        written = tuple(text.removesuffix("\n").split("\n"))
        return Outcome(message.id, lines=written, sizes=(count, 0, 0))
    streamed = StreamedLines(message.id, forms)
    keep = None if forms.stored or forms.corefud else streamed.keep
    resolved = runner.resolve(parse_message(message), message.annotation, keep)
    run = {"text": message_hash(message), **runner.provenance}
    lines: Collection[str] = ()
    if forms.json:
        additions = runner.domain.additions(resolved.message)
        streamed.lines = partial(result_lines, resolved, run, additions)
        lines = streamed if streamed.heads else tuple(result_lines(resolved, run, additions))
    elif forms.corefud:
        text = runner.corefud(resolved, message.annotation)
        lines = tuple(text.removesuffix("\n").split("\n"))
    return Outcome(
        message.id,
        lines=lines,
        stored=message_object(message, resolved) if forms.stored else None,
        shown=_shown(resolved, forms),
        sizes=(len(resolved.templates), len(resolved.distributions), len(resolved.entities)),
        notes=resolved.notes,
    )


def message_object(message: RawMessage, resolved: Resolved) -> dict[str, Any]:
    """Return a resolved message as stores keep it and pages show it."""
    *sets, alone = map(json.loads, result_lines(resolved, {}))
    return _object(message, resolved.message.fields) | {
        "sets": sets,
        "singletons": alone["singletons"],
        "entities": [entity_json(entity) for entity in resolved.entities],
    }


def failed_object(message: RawMessage, error: str) -> dict[str, Any]:
    """Return a message of which only the text is known."""
    return _object(message, message.fields) | {"error": error}


def _object(message: RawMessage, fields: Mapping[str, str]) -> dict[str, Any]:
    return {
        "message": message.id,
        "place": message.place,
        "text": message.text,
        "text_hash": message_hash(message),
        "fields": dict(fields),
        "error": "",
        "sets": [],
        "singletons": [],
        "entities": [],
    }


@dataclass(frozen=True, slots=True, eq=False)
class WindowPairs:
    """What the report on a long message needs of the distribution of a window.

    The pair probabilities above the diagonal are in a file, from `start` on.
    """

    set: CoreferenceSet
    file: IO[bytes]
    start: int

    @property
    def marginals(self) -> Marginals:
        """The pair probabilities as a matrix, read for each call."""
        value = np.eye(len(self.set))
        above = np.triu_indices(len(value), 1)
        self.file.seek(self.start)
        value[above] = np.frombuffer(self.file.read(value.itemsize * len(above[0])))
        return Marginals.exact(value + np.triu(value, 1).T)


class StreamedLines(Collection[str]):
    """The lines of a long message, made when they are written.

    The line of a window waits in a file without its entities, which depend on later windows, and so
    do the pair probabilities: memory does not grow with the pairs of all windows.
    """

    def __init__(self, message: str, forms: OutputForms) -> None:
        self.message, self.forms = message, forms
        self.heads: list[tuple[int, int]] = []  # where they begin, and their sizes
        self.lines: Callable[[Iterable[str]], Iterator[str]] = iter

    @cached_property
    def file(self) -> IO[bytes]:
        """The file, open as long as these lines are in use."""
        from tempfile import TemporaryFile

        file = TemporaryFile()  # noqa: SIM115 (it has no end within a function)
        finalize(self, file.close)
        return file

    def keep(self, distribution: Distribution) -> WindowPairs:
        """Write the line of a window up to its entities, and what the report needs."""
        start, value = self.file.seek(0, os.SEEK_END), distribution.marginals.value
        if self.forms.view:
            self.file.write(value[np.triu_indices(len(value), 1)].tobytes())
        if self.forms.json:
            head = line_head(distribution, self.message).encode()
            self.heads.append((self.file.tell(), len(head)))
            self.file.write(head)
        return WindowPairs(distribution.set, self.file, start)

    def __iter__(self) -> Iterator[str]:
        return self.lines(map(self._head, self.heads))

    def _head(self, where: tuple[int, int]) -> str:
        self.file.seek(where[0])
        return self.file.read(where[1]).decode()

    def __len__(self) -> int:
        return len(self.heads) + 1

    def __contains__(self, line: object) -> bool:
        return any(line == one for one in self)

    def __reduce__(self) -> tuple[type[tuple[str, ...]], tuple[tuple[str, ...]]]:
        return tuple, (tuple(self),)


def result_lines(
    resolved: Resolved,
    run: Mapping[str, Any],
    additions: Mapping[str, Sequence[object]] | None = None,
    heads: Iterable[str] | None = None,
) -> Iterator[str]:
    """Yield a line for every set, and one for singletons, which also ends the message.

    `heads` are the lines up to their entities, if they are made already.
    """
    name, first = resolved.message.id, dict[str, list[int]]()
    for number, entity in enumerate(resolved.entities):
        first.setdefault(entity.templates[0], []).append(number)
    if heads is None:
        heads = (line_head(distribution, name) for distribution in resolved.distributions)
    for head, one in zip(heads, resolved.sets, strict=True):
        numbers = sorted(number for member in one.ids for number in first.pop(member, ()))
        yield head + entities_end([resolved.entities[number] for number in numbers])
    day = _day(resolved.message)
    yield singletons_line(resolved.singletons, name, run, resolved.notes, additions, day)


def _day(message: Message) -> str | None:
    """Return the day that the header of a message gives, None if it gives no whole date."""
    from partita.rules.values import parse_date

    given = (message.fields.get(name, "") for name in DATE_FIELDS)
    day = parse_date(next(filter(None, given), ""))
    return day if day and len(day) == len("1996-03-12") else None


def _shown(resolved: Resolved, forms: OutputForms) -> str:
    if not forms.view:
        return ""
    from partita.views.message import message_line, message_report

    if forms.view == "line":
        return message_line(resolved, forms.width) + "\n"
    return message_report(resolved, forms.width, forms.colour)
