"""Folders of YAML to domains: what is wrong is told with file, line and column."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from partita.errors import InputError
from partita.extraction.domain import At, Domain, Entry
from partita.extraction.problems import Problem
from partita.formats.rules_domain import Sheet, read_sheet
from partita.formats.rules_lexicon import read_lexicon
from partita.formats.rules_phases import PhaseFile, read_phase
from partita.formats.rules_yaml import RuleError, refuse

PAIRS = "pairs.json"
SHIPPED = Path(__file__).parent.parent / "domains"
MOST_DOMAINS = 8  # that extend one another


@dataclass(slots=True)
class Loaded:
    """A domain as far as it could be read, and everything that was wrong."""

    domain: Domain | None
    problems: list[Problem] = field(default_factory=list)
    files: list[PhaseFile] = field(default_factory=list)

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.error]


def shipped() -> list[str]:
    """The names of the domains that come with Partita."""
    return sorted(path.parent.name for path in SHIPPED.glob("*/domain.yaml"))


def read_domain(name: str | Path) -> Domain:
    """A domain by the name of a shipped one, or by its folder; the first error is raised."""
    folder = folder_of(name)
    return _shipped(folder) if folder.parent == SHIPPED else _read(folder)


def own_parameters(name: str) -> Path | None:
    """The pair parameters that a domain has beside its rules or, if it comes with Partita, among
    the learned ones under its name."""
    folder = folder_of(name)
    places = [folder / PAIRS]
    if folder.parent == SHIPPED:
        places.append(SHIPPED.parent / "parameters" / f"{folder.name}.json")
    return next((path for path in places if path.is_file()), None)


def folder_of(name: str | Path, beside: Path | None = None) -> Path:
    """The folder of a domain: beside another one, shipped, or a path."""
    given = Path(name)
    alone = len(given.parts) == 1
    for parent in ([beside] if beside else []) + ([SHIPPED] if alone else []):
        if (parent / given / "domain.yaml").is_file():
            return parent / given
    if (given / "domain.yaml").is_file():
        return given
    if given.is_dir():
        raise InputError("has no domain.yaml", file=str(given))
    raise InputError(f"unknown domain {str(name)!r}; expected {', '.join(shipped())} or a folder")


@lru_cache(maxsize=16)
def _shipped(folder: Path) -> Domain:
    return _read(folder)


def _read(folder: Path) -> Domain:
    loaded = load_domain(folder)
    for first in loaded.errors:
        raise RuleError(first.said, first.at)
    assert loaded.domain is not None
    return loaded.domain


def load_domain(name: str | Path) -> Loaded:
    """A domain with all its problems, for those who mend them."""
    loaded = Loaded(None)
    try:
        folders = _folders(folder_of(name))
        sheet = _sheet(folders)
        _load(loaded, folders, sheet)
    except RuleError as error:
        loaded.problems.append(Problem(error.at, error.said))
    return loaded


def _folders(folder: Path) -> list[Path]:
    """The domain's folder and those that it extends, nearest first."""
    folders = [folder]
    while extends := read_sheet(folders[-1] / "domain.yaml").extends:
        at = At(str(folders[-1] / "domain.yaml"), 1, 1)
        try:
            folders.append(folder_of(extends, folders[-1].parent))
        except InputError as error:
            refuse(f"extends: {error.problem}", at)
        if folders[-1] in folders[:-1] or len(folders) > MOST_DOMAINS:
            refuse("domains extend each other in a circle", at)
    return folders


def _sheet(folders: list[Path]) -> Sheet:
    whole = read_sheet(folders[0] / "domain.yaml")
    for folder in folders[1:]:
        whole = whole.under(read_sheet(folder / "domain.yaml"))
    return whole


def _load(loaded: Loaded, folders: list[Path], sheet: Sheet) -> None:
    sorts = sheet.hierarchy()
    schema = sheet.schema(sorts)
    entries: list[Entry] = []
    for folder in folders:
        found, problems = read_lexicon(folder / "lexicon")
        entries += found
        loaded.problems += problems
    for name in sheet.phases:
        try:
            loaded.files.append(read_phase(_phase_path(name, folders, sheet), name))
            loaded.problems += loaded.files[-1].problems
        except RuleError as error:
            loaded.problems.append(Problem(error.at, error.said))
    loaded.domain = Domain(
        sheet.name,
        schema,
        sorts,
        tuple(entries),
        tuple(file.phase for file in loaded.files),
        sheet.templates,
        frozenset(verb for file in loaded.files for verb in file.verbs),
        sheet.about,
        sheet.at,
    )


def _phase_path(name: str, folders: list[Path], sheet: Sheet) -> Path:
    paths = [folder / "rules" / f"{name}.yaml" for folder in folders]
    found = [path for path in paths if path.is_file()]
    if not found or Path(name).name != name:
        at = sheet.places_of.get("phases", sheet.at)
        refuse(f"phase {name!r} has no file rules/{name}.yaml", at)
    return found[0]
