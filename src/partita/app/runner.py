"""Load everything a run needs: domain, tagger, model and parameters."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.app.solve import default_memory
from partita.errors import InputError, PartitaError
from partita.pipeline import Solve, Stages
from partita.records import Budget, Distribution, Message, PairProbabilities

if TYPE_CHECKING:
    from partita.configurations.greedy import GreedyParameters
    from partita.configurations.odds import ScaledParameters
    from partita.rules.domain import Domain
    from partita.training.pair_parameters import PairParameters

DOMAIN = "depots"
INCIDENTS = "incidents"
SECONDS = 2.0  # that an exact answer may be expected to take
STEPS = {"merging": 3_000_000}  # a second or two for a set of forty templates
STEP = 30_000
COMMON = 60  # templates: sets of more are rare
DIGITS = 16  # of a hash: enough to tell files apart


def usual_budget(model: str, seconds: float | None = None, work: int | None = None) -> Budget:
    """Without seconds no clock is looked at, so that the same messages give the same bytes; nor
    does it matter how many processes there are."""
    memory = default_memory() // (os.cpu_count() or 1)
    if seconds is not None:
        return Budget(seconds, memory, work)
    return Budget(SECONDS, memory, STEPS.get(model, STEP) if work is None else work)


@dataclass(frozen=True, slots=True)
class Settings:
    """What is the same for all messages of a run; an empty `parameters` are the domain's own, or
    those that come with Partita."""

    domain: str = DOMAIN
    model: str = "evidential"
    parameters: str = ""
    top: int | None = None
    threshold: float | None = None
    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    gazetteer: str = ""  # a list of places to add, in the domain incidents


@dataclass(frozen=True, slots=True, eq=False)
class Ready:
    """The stages, what results say about how they were made, and where the parameters are from; in
    the domain of the MUC-4 exam also what answers a message as the exam asks."""

    stages: Stages
    told: dict[str, Any]
    learned_from: str
    answers: Callable[[Message], str] | None = None


@lru_cache(maxsize=2)
def ready(settings: Settings) -> Ready:
    """Everything loaded; every process does this once."""
    from partita.rules.domain_files import folder_of, own_parameters, read_domain
    from partita.rules.extractor import Extractor
    from partita.text.tagger_models import shipped_tagger

    domain = read_domain(settings.domain)
    if domain.name == INCIDENTS:
        return _incidents(settings, domain)
    if settings.gazetteer:
        raise InputError("--gazetteer adds places to the domain incidents (expected that domain)")
    folder = folder_of(settings.domain)
    extract = Extractor(domain, shipped_tagger()).templates
    learned, source, digest = _parameters(settings, own_parameters(settings.domain))
    stages = Stages(extract, domain.schema, *_models(settings, learned))
    return Ready(stages, _told(settings, _digest_of(folder), digest), source)


def _incidents(settings: Settings, domain: Domain) -> Ready:
    """Events and those who take part in them, found by models of their own."""
    from partita.domains.incidents.gazetteer import read_gazetteer
    from partita.domains.incidents.incident_models import (
        experts_text,
        read_experts,
        shipped_experts,
    )
    from partita.domains.incidents.merging import ByProbability
    from partita.domains.incidents.pipeline import EventsAndOthers, Sitting
    from partita.rules.domain_files import folder_of
    from partita.rules.extractor import Extractor
    from partita.text.tagger_models import shipped_tagger
    from partita.training.pair_parameters import training_of
    from partita.training.parameter_files import shipped_pair_parameters

    if settings.model == "joint":
        raise InputError("the joint model knows no events; expected another --model")
    file = settings.parameters
    experts = read_experts(file) if file else shipped_experts()
    pairs, solve = _pair_models(settings, experts.pairs)
    others = shipped_pair_parameters().pair_model(training_of(settings.model))
    places = read_gazetteer(settings.gazetteer) if settings.gazetteer else None
    extractor = Extractor(domain, shipped_tagger())
    sitting = Sitting(extractor, experts, ByProbability(pairs, solve), places)
    stages = Stages(sitting.templates, domain.schema, EventsAndOthers(pairs, others), solve)
    digest = _digest([experts_text(experts).encode()])
    own = [Path(settings.gazetteer)] if settings.gazetteer else []
    rules = (*_files(folder_of(settings.domain)), *own)
    told = _told(settings, _digest(path.read_bytes() for path in rules), digest)
    return Ready(stages, told, experts.learned_from, sitting.answers)


def _parameters(settings: Settings, own: Path | None) -> tuple[Any, str, str]:
    """The learned parameters, what they were learned from, and their hash."""
    if settings.model == "joint":
        from partita.configurations.joint import model as joint

        read, shipped, written = (
            joint.read_joint_model, joint.shipped_joint_model, joint.joint_model_text
        )  # fmt: skip
        given = read(settings.parameters) if settings.parameters else shipped()
        return given, given.learned_from, _digest([written(given).encode()])
    from partita.training import parameter_files as pairs

    path = settings.parameters or own
    learned = pairs.read_pair_parameters(path) if path else pairs.shipped_pair_parameters()
    text = pairs.pair_parameters_text(learned)
    return learned, learned.learned_from, _digest([text.encode()])


def _models(settings: Settings, learned: Any) -> tuple[Any, Solve]:
    """The pair model and the model of configurations."""
    if settings.model == "joint":
        from partita.training.joint import Even, solve_joint

        return Even(), partial(
            solve_joint,
            model=learned,
            top=settings.top,
            threshold=settings.threshold,
            seed=settings.seed,
        )
    return _pair_models(settings, learned)


def _pair_models(settings: Settings, learned: PairParameters) -> tuple[Any, Solve]:
    from partita.configurations.solve_batch import solve_many
    from partita.training.pair_parameters import training_of

    of_model: dict[str, GreedyParameters | ScaledParameters] = {
        "greedy": learned.greedy,
        "scaled": learned.scaled,
    }
    answer = partial(
        solve_many,
        model=settings.model,
        parameters=of_model.get(settings.model),
        top=settings.top,
        threshold=settings.threshold,
        seed=settings.seed,
    )

    def solve(sets: Sequence[PairProbabilities]) -> Iterator[Distribution | PartitaError]:
        for one in sets:
            yield from answer([one], budget=budget_for(len(one.set), settings.budget))

    return learned.pair_model(training_of(settings.model)), solve


def budget_for(templates: int, budget: Budget) -> Budget:
    """Of a large set every step takes longer, so it gets fewer."""
    if budget.work is None or templates <= COMMON:
        return budget
    return replace(budget, work=max(1, int(budget.work * (COMMON / templates) ** 2)))


def _told(settings: Settings, rules: str, parameters: str) -> dict[str, Any]:
    """What decides about the results; a run that differs in any of it makes others."""
    from importlib.metadata import version

    budget = settings.budget
    return {
        "partita": version("partita"),
        "domain": Path(settings.domain).name,
        "rules": rules,
        "model": settings.model,
        "parameters": parameters,
        "top": settings.top,
        "threshold": settings.threshold,
        "seconds" if budget.work is None else "work": budget.work or budget.seconds,
        "seed": settings.seed,
    }


def _digest_of(folder: Path) -> str:
    """A hash of all files of a domain and of those that it extends."""
    return _digest(path.read_bytes() for path in _files(folder))


def _files(folder: Path) -> Iterator[Path]:
    from partita.rules.domain_files import folder_of, read_sheet

    yield from sorted(folder.rglob("*.yaml"))
    if extends := read_sheet(folder / "domain.yaml").extends:
        yield from _files(folder_of(extends, folder.parent))


def _digest(parts: Iterable[bytes]) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()[:DIGITS]
