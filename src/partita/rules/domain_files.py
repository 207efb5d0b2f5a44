"""Read domains from folders of YAML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from partita.errors import InputError
from partita.files.strict import shortened
from partita.plugins import DOMAINS, EntryPoint, installed, where_from
from partita.rules.domain import At, LexiconEntry, RuleProblem, RuleSet, TemplateType
from partita.rules.phase_files import PhaseFile, read_lexicon, read_phase
from partita.rules.yaml import (
    List,
    Map,
    RuleError,
    Text,
    Tree,
    is_empty,
    map_of,
    read_tree,
    record_of,
    refuse,
    scalar_of,
    sequence_of,
    texts_of,
)
from partita.templates.entity_types import Hierarchy, HierarchyType
from partita.templates.name import NameType, PlaceType
from partita.templates.quantities import DateType, MeasureType, MoneyType, NumberType
from partita.templates.schema import Schema
from partita.templates.slots import (
    Aliases,
    SlotType,
    StateGroup,
    StringsType,
    checked_groups,
    symbol,
)

_FIELDS = (
    *(
        "domain",
        "about",
        "extends",
        "sorts",
        "below",
        "disjoint",
        "overlapping",
        "slots",
        "aliases",
    ),
    *("places", "inside", "templates", "phases", "assertions", "retags"),
)

# Fields that a domain adds to those of the domain it extends; others it takes over or replaces.
_ADDED = ("sorts", "disjoint", "overlapping", "slots", "places")
T = TypeVar("T")


def read_sheet(path: Path) -> Map:
    """Return the fields of one `domain.yaml`."""
    at = At(str(path), 1, 1)
    sheet = record_of(read_tree(path), "a domain", at, _FIELDS)
    sheet = _with_members(_with_members(sheet, "sorts", "below"), "places", "inside")
    scalar_of(sheet.get("domain"), "the name of the domain", at)
    for what in ("sorts", "slots", "places"):
        names = set[str]()
        for key, _ in sheet.map(what).pairs:
            if symbol(key.value) in names:
                refuse(f"{symbol(key.value)} stands twice among the {what}", key.at)
            names.add(symbol(key.value))
    return sheet


def _with_members(sheet: Map, names: str, by_parent: str) -> Map:
    """Return the fields with what stands by its parent, in one field, among the names."""
    listed = sheet.map(by_parent).pairs
    if not listed:
        return sheet
    members = ((one, key) for key, value in listed for one in texts_of(value, key.value))
    every = Map((*sheet.map(names).pairs, *members), listed[0][0].at)
    others = (pair for pair in sheet.pairs if pair[0].value not in (names, by_parent))
    return Map((*others, (Text(names, every.at), every)), sheet.at)


def _extended(sheet: Map, parent: Map) -> Map:
    """Return the fields of a domain with what it does not say itself taken from another."""
    fields = {key.value: (key, value) for key, value in parent.pairs}
    for key, value in sheet.pairs:
        if key.value in _ADDED and key.value in fields:
            value = _added(value, fields[key.value][1], key.value)
        if key.value not in fields or not is_empty(value):
            fields[key.value] = (key, value)
    return Map(tuple(fields.values()), sheet.at)


def _added(own: Tree, more: Tree, what: str) -> Tree:
    """Return the pairs or items of two fields, the own ones last; of equal names these count."""
    if what in ("disjoint", "overlapping"):
        return List((*sequence_of(more, what), *sequence_of(own, what)), own.at)
    pairs = (*map_of(more, what, more.at).pairs, *map_of(own, what, own.at).pairs)
    return Map(tuple({symbol(key.value): (key, value) for key, value in pairs}.values()), own.at)


def _hierarchy(sheet: Map, what: str, *pairs: str) -> Hierarchy:
    """Return a hierarchy of names with their parents, and pairs that are apart or overlap."""
    parents = {symbol(key.value): _names(value, key.value) for key, value in sheet.map(what).pairs}
    return _made(sheet, what, lambda: Hierarchy.of(parents, *(_pairs(sheet, one) for one in pairs)))


def _schema(sheet: Map, types: Hierarchy) -> Schema:
    """Return the type of each slot, in the order of the file."""
    groups = [_names(one, "aliases") for one in sheet.items("aliases")]
    aliases = _made(sheet, "aliases", lambda: Aliases.of(groups))
    gazetteer = _hierarchy(sheet, "places")
    allowed = ("type", "under", "unit", "groups", "absorbing", "implied", "lasts")
    slots = {
        symbol(key.value): _slot(
            record_of(value, f"slot {key.value}", key.at, allowed), key, types, gazetteer, aliases
        )
        for key, value in sheet.map("slots").pairs
    }
    return Schema(slots, types)


def _made(sheet: Map, part: str, make: Callable[[], T]) -> T:
    try:
        return make()
    except InputError as error:
        given = sheet.get(part)
        refuse(f"{part}: {error.problem}", sheet.at if given is None else given.at)


def _pairs(sheet: Map, what: str) -> list[tuple[str, str]]:
    pairs = []
    for one in sheet.items(what):
        names = _names(one, what)
        if len(names) != 2:
            refuse(f"{what} is a list of pairs: [[A, B], [C, D]]", one.at)
        pairs.append((names[0], names[1]))
    return pairs


def _names(tree: Tree | None, what: str) -> tuple[str, ...]:
    return tuple(symbol(text.value) for text in texts_of(tree, what))


def _templates(sheet: Map) -> dict[str, TemplateType]:
    made = {}
    for key, value in sheet.map("templates").pairs:
        fields = record_of(value, f"template {key.value}", key.at, ("needs", "event"))
        name = symbol(key.value)
        made[name] = TemplateType(
            name, _names(fields.get("needs"), "needs"), bool(fields.flag("event"))
        )
    return made


def _slot(
    given: Map, name: Text, types: Hierarchy, gazetteer: Hierarchy, aliases: Aliases
) -> SlotType[Any]:
    kind = given.text("type", f"the type of slot {name.value}")
    makers: Mapping[str, Callable[[], SlotType[Any]]] = {
        "sort": lambda: HierarchyType(types, given.optional("under")),
        "number": NumberType,
        "place": lambda: PlaceType(gazetteer, aliases),
        "measure": lambda: MeasureType(given.text("unit", "the unit of a measure").value),
        "money": MoneyType,
        "date": DateType,
        "name": lambda: NameType(aliases),
        "string": lambda: StringsType(several=False),
        "strings": StringsType,
        "state": lambda: StringsType(groups=_state_groups(given)),
    }
    if kind.value not in makers:
        refuse(f"{kind.value!r} is no type of slots; expected {', '.join(makers)}", kind.at)
    try:
        return makers[kind.value]()
    except InputError as error:
        if error.file:
            raise
        refuse(f"slot {symbol(name.value)}: {error.problem}", given.at)


def _state_groups(given: Map) -> tuple[StateGroup, ...]:
    """Read the exclusive groups of a slot of states: {condition: [A, B], occupancy: [C, D]}."""
    absorbing, implied = (
        frozenset(_names(given.get(name), name)) for name in ("absorbing", "implied")
    )
    groups = [(key.value, _names(value, "values")) for key, value in given.map("groups").pairs]
    known = {value for _, values in groups for value in values}
    if not groups or ((absorbing | implied) - known):
        refuse("a state has groups of values, absorbing and implied values among them", given.at)
    lasts = given.optional("lasts")
    if lasts and not (lasts.isdecimal() and int(lasts)):
        refuse("lasts is a number of days: lasts: 365", given.at)
    return checked_groups(
        StateGroup(name, values, absorbing & {*values}, implied & {*values}, float(lasts or 0))
        for name, values in groups
    )


PAIRS_FILE = "pairs.json"  # the pair parameters of a domain, in its folder
MOST_DOMAINS = 8  # that extend one another


@dataclass(slots=True)
class Loaded:
    """A domain as far as it could be read, and everything that was wrong."""

    domain: RuleSet | None
    problems: list[RuleProblem] = field(default_factory=list)
    files: list[PhaseFile] = field(default_factory=list)

    @property
    def errors(self) -> list[RuleProblem]:
        return [problem for problem in self.problems if problem.error]


def read_domain(name: str | Path) -> RuleSet:
    """Read a domain by the name of an installed one, or by its folder; raise its first error."""
    folder = folder_of(name)
    return _installed(folder) if str(name) in installed(DOMAINS) else _read(folder)


def folder_of(name: str | Path, beside: Path | None = None) -> Path:
    """Return the folder of a domain: beside another one, installed, or a path."""
    path = Path(name)
    if beside and _is_folder(beside / path) and (beside / path / "domain.yaml").is_file():
        return beside / path
    domains = installed(DOMAINS)
    if (entry := domains.get(str(name))) is not None:
        return _folder_of_entry(entry)
    if _is_folder(path):
        if (path / "domain.yaml").is_file():
            return path
        raise InputError("has no domain.yaml", file=str(path))
    problem = f"unknown domain {shortened(str(name))!r}"
    expected = f"(expected {', '.join(domains)} or a folder)"
    raise InputError(f"{problem} {expected}{where_from(str(name))}")


def _is_folder(path: Path) -> bool:
    """Return whether a path is a folder; one that is too long for a file is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _folder_of_entry(entry: EntryPoint) -> Path:
    """Return the folder of the package or module that an entry point names, without loading it."""
    from importlib.util import find_spec

    try:
        spec = find_spec(entry.module)
    except ImportError:
        spec = None
    if spec is None:
        raise InputError(f"domain {entry.name}: no module {entry.module} is installed")
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations)))
    return Path(spec.origin or "").parent


def rule_files(folder: Path) -> Iterator[Path]:
    """Yield the YAML files of a domain, then those of the domain that it extends."""
    yield from sorted(folder.rglob("*.yaml"))
    if extends := read_sheet(folder / "domain.yaml").optional("extends"):
        yield from rule_files(folder_of(extends, folder.parent))


@lru_cache(maxsize=16)
def _installed(folder: Path) -> RuleSet:
    """Read an installed domain once: its files do not change while a program runs."""
    return _read(folder)


def _read(folder: Path) -> RuleSet:
    loaded = load_rule_set(folder)
    for first in loaded.errors:
        raise RuleError(first.said, first.at)
    assert loaded.domain is not None
    return loaded.domain


def load_rule_set(name: str | Path) -> Loaded:
    """A domain with all its problems, for those who mend them."""
    loaded = Loaded(None)
    try:
        _load(loaded, _folders(folder_of(name)))
    except RuleError as error:
        loaded.problems.append(RuleProblem(error.at, error.said))
    return loaded


def _folders(folder: Path) -> list[Path]:
    """The domain's folder and those that it extends, nearest first."""
    folders = [folder]
    while extends := read_sheet(folders[-1] / "domain.yaml").optional("extends"):
        at = At(str(folders[-1] / "domain.yaml"), 1, 1)
        try:
            folders.append(folder_of(extends, folders[-1].parent))
        except InputError as error:
            refuse(f"extends: {error.problem}", at)
        if folders[-1] in folders[:-1] or len(folders) > MOST_DOMAINS:
            refuse("domains extend each other in a circle", at)
    return folders


def _load(loaded: Loaded, folders: list[Path]) -> None:
    sheet, *parents = (read_sheet(folder / "domain.yaml") for folder in folders)
    for parent in parents:
        sheet = _extended(sheet, parent)
    types = _hierarchy(sheet, "sorts", "disjoint", "overlapping")
    schema = _schema(sheet, types)
    entries: list[LexiconEntry] = []
    for folder in folders:
        found, problems = read_lexicon(folder / "lexicon")
        entries += found
        loaded.problems += problems
    for name in (text.value for text in sheet.texts("phases")):
        try:
            loaded.files.append(read_phase(_phase_path(name, folders, sheet), name))
            loaded.problems += loaded.files[-1].problems
        except RuleError as error:
            loaded.problems.append(RuleProblem(error.at, error.said))
    loaded.domain = RuleSet(
        sheet.text("domain").value,
        schema,
        types,
        tuple(entries),
        tuple(file.phase for file in loaded.files),
        _templates(sheet),
        frozenset(verb for file in loaded.files for verb in file.verbs),
        sheet.optional("about"),
        At(str(folders[0] / "domain.yaml"), 1, 1),
        bool(sheet.flag("assertions")),
        bool(sheet.flag("retags")),
    )


def _phase_path(name: str, folders: list[Path], sheet: Map) -> Path:
    file = f"{name}.yaml"
    files = (path for folder in folders for path in (folder / "rules").glob("*.yaml"))
    found = [path for path in files if path.name == file]
    if not found:
        listed = sheet.get("phases") or sheet
        refuse(f"phase {shortened(name)!r} has no file rules/{shortened(file)}", listed.at)
    return found[0]
