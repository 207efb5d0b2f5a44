"""The settings of a run, as a store keeps them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISDIR
from tempfile import gettempdir
from typing import Any

from partita.app.runner import DIGITS, Settings, usual_budget
from partita.errors import InputError
from partita.files.writing import write_atomically
from partita.rules.domain_files import SHIPPED, folder_of, own_parameters, read_domain

PAIRS, INCIDENTS = "pairs", "incidents"


def asked(settings: Settings) -> dict[str, Any]:
    """Without the parameters, which are in the store themselves."""
    folder, budget = folder_of(settings.domain), settings.budget
    return {
        "domain": folder.name if folder.parent == SHIPPED else str(folder.resolve()),
        "model": settings.model,
        "top": settings.top,
        "threshold": settings.threshold,
        "seconds": budget.seconds if budget.work is None else None,
        "work": budget.work,
        "seed": settings.seed,
        "gazetteer": str(Path(settings.gazetteer).resolve()) if settings.gazetteer else "",
    }


def settings_of(row: Mapping[str, Any], parameters: str | None) -> Settings:
    """The same settings with the text of parameters, if the run has any."""
    kept = row["asked"]
    budget = usual_budget(kept["model"], kept["seconds"], kept["work"])
    file = "" if parameters is None else str(parameters_file(parameters))
    return Settings(
        kept["domain"],
        kept["model"],
        file,
        kept["top"],
        kept["threshold"],
        budget,
        kept["seed"],
        kept.get("gazetteer", ""),
    )


def parameters_of(settings: Settings) -> tuple[str, str]:
    """The kind of the parameters that settings name, and their text as a file of them has it."""
    given = settings.parameters
    if read_domain(settings.domain).name == INCIDENTS:
        from partita.domains.incidents import incident_models as incidents

        experts = incidents.read_experts(given) if given else incidents.shipped_experts()
        return INCIDENTS, incidents.experts_text(experts)
    if settings.model == "joint":
        from partita.configurations.joint import model as joint

        model = joint.read_joint_model(given) if given else joint.shipped_joint_model()
        return "joint", joint.joint_model_text(model)
    from partita.training import parameter_files as pairs

    path = given or own_parameters(settings.domain)
    learned = pairs.read_pair_parameters(path) if path else pairs.shipped_pair_parameters()
    return PAIRS, pairs.pair_parameters_text(learned)


def parameters_file(text: str) -> Path:
    """A file for processes that read parameters from one; the same text has the same file, so that
    processes that are killed leave no more than one."""
    path = _folder() / f"{hashlib.sha256(text.encode()).hexdigest()[:DIGITS]}.json"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_atomically(path, text)
    return path


def _folder() -> Path:
    """Among temporary files, and nobody else's: who may write there could change parameters."""
    user = getattr(os, "getuid", int)()
    path = Path(gettempdir()) / f"partita-parameters-{user}"
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not S_ISDIR(found.st_mode) or found.st_uid != user or found.st_mode & 0o022:
        raise InputError("is not yours alone; remove it", file=str(path))
    return path
