"""One run: its settings, and everything that it needs, loaded once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.configurations import MODELS
from partita.core import Budget, Distribution, Message
from partita.domains import Domain, ParameterText, find_domain
from partita.errors import InputError, PartitaError
from partita.options import default_memory
from partita.pipeline import Resolved, Stages, resolve

if TYPE_CHECKING:
    from partita.app.solve import Solver
    from partita.configurations.joint.model import JointModel
    from partita.text.annotations import Annotation

DOMAIN = "general"
JOINT = "joint"
SECONDS = 2.0  # that an exact answer may be expected to take
STEPS = {"merging": 3_000_000, "joint": 0}  # joint: draws, 0 for the usual number
STEP = 30_000
COMMON = 60  # templates: sets of more are rare


@dataclass(frozen=True, slots=True)
class Settings:
    """What is the same for all messages of a run.

    Without `parameters` the domain's own are used, or those that ship with Partita; `gazetteer` is
    a list of places to add, for domains that take one.
    """

    domain: str = DOMAIN
    model: str = JOINT
    parameters: str = ""
    top: int | None = None
    threshold: float | None = None
    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    gazetteer: str = ""


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
        return domain.with_gazetteer(settings.gazetteer) if settings.gazetteer else domain

    @cached_property
    def joint(self) -> tuple[ParameterText, JointModel]:
        """The joint model and its parameters."""
        from partita.configurations.joint.model import parse_joint_model
        from partita.files.text import whole_text
        from partita.parameters import shipped_text

        file = self.settings.parameters
        text = whole_text(file) if file else shipped_text(JOINT) or ""
        model = parse_joint_model(text, file or f"shipped parameters of {JOINT}")
        return ParameterText(JOINT, text, model.learned_from), model

    @property
    def parameters(self) -> ParameterText:
        """The parameters in use."""
        return self.joint[0] if self.settings.model == JOINT else self.domain.parameters

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
        _ = self.stages, self.parameters
        return self

    def resolve(self, message: Message, annotation: Annotation | None = None) -> Resolved:
        """Extract the templates of a message and resolve coreference among them.

        With an annotation, mentions or trees are taken from there.
        """
        if annotation is None:
            return resolve(message, self.stages)
        extract = partial(self.domain.extract_annotated, annotation=annotation)
        return resolve(message, replace(self.stages, extract=extract))

    def exported(self, resolved: Resolved, form: str, annotation: Annotation | None = None) -> str:
        """Return a resolved message as CoNLL-U, standoff annotation or a part of a page."""
        message, templates, entities = resolved.message, resolved.templates, resolved.entities
        if form == "brat":
            from partita.results.brat import brat_annotation

            return brat_annotation(message.text, templates, entities)
        if form == "html":
            from partita.views.report import html_section

            return html_section(resolved)
        from partita.results.corefud import corefud_text

        given = None if annotation is None else annotation.sentences
        sentences = self.domain.sentences(message) if given is None else given
        return corefud_text(message, templates, entities, sentences)

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
        from partita.app.solve import Solver

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
    from partita.rules.domain_files import folder_of, installed_domains

    installed, budget = settings.domain in installed_domains(), settings.budget
    return {
        "domain": settings.domain if installed else str(folder_of(settings.domain).resolve()),
        "model": settings.model,
        "top": settings.top,
        "threshold": settings.threshold,
        "seconds": budget.seconds if budget.work is None else None,
        "work": budget.work,
        "seed": settings.seed,
        "gazetteer": str(Path(settings.gazetteer).resolve()) if settings.gazetteer else "",
    }


def settings_of(row: Mapping[str, Any], parameters: str | None) -> Settings:
    """Return the settings of a stored run, with the text of its parameters if it has any."""
    from partita.app.solve import parameters_file

    stored = row["asked"]
    return Settings(
        stored["domain"],
        stored["model"],
        "" if parameters is None else str(parameters_file(parameters)),
        stored["top"],
        stored["threshold"],
        usual_budget(stored["model"], stored["seconds"], stored["work"]),
        stored["seed"],
        stored.get("gazetteer", ""),
    )
