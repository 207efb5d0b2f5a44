"""Read domains from folders of YAML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from partita.errors import InputError
from partita.files.strict import shortened
from partita.plugins import DOMAINS, installed, where_from
from partita.rules.domain import At, LexiconEntry, RuleProblem, RuleSet, TemplateType
from partita.rules.phase_files import PhaseFile, read_lexicon, read_phase
from partita.rules.yaml import (
    Map,
    RuleError,
    Text,
    Tree,
    check_keys,
    map_of,
    read_tree,
    refuse,
    scalar_of,
    sequence_of,
    texts_of,
)
from partita.templates.entity_types import Hierarchy, HierarchyType
from partita.templates.name import NameType, PlaceType
from partita.templates.quantities import DateType, MeasureType, MoneyType, NumberType
from partita.templates.schema import Schema
from partita.templates.slots import Aliases, SlotType, StringsType, symbol

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

TYPES = ("sort", "number", "place", "measure", "money", "date", "name", "string", "strings")
_FIELDS = (
    *("domain", "about", "extends", "sorts", "disjoint", "overlapping", "slots", "aliases"),
    *("places", "templates", "phases", "assertions", "retags"),
)

Pair = tuple[str, str]
T = TypeVar("T")


@dataclass(slots=True)
class Sheet:
    """What `domain.yaml` says, before anything is made of it."""

    name: str
    at: At
    about: str = ""
    extends: str = ""
    types: dict[str, tuple[str, ...]] = field(default_factory=dict)
    disjoint: list[Pair] = field(default_factory=list)
    overlapping: list[Pair] = field(default_factory=list)
    slots: dict[str, Map] = field(default_factory=dict)
    aliases: list[tuple[str, ...]] = field(default_factory=list)
    places: dict[str, tuple[str, ...]] = field(default_factory=dict)
    templates: dict[str, TemplateType] = field(default_factory=dict)
    phases: tuple[str, ...] = ()
    places_of: dict[str, At] = field(default_factory=dict)  # where each part stands
    assertions: bool | None = None
    retags: bool | None = None

    def under(self, parent: Sheet) -> Sheet:
        """This sheet with what it does not say itself taken from another."""
        return Sheet(
            self.name,
            self.at,
            self.about or parent.about,
            self.extends,
            parent.types | self.types,
            parent.disjoint + self.disjoint,
            parent.overlapping + self.overlapping,
            parent.slots | self.slots,
            self.aliases or parent.aliases,
            parent.places | self.places,
            self.templates or parent.templates,
            self.phases or parent.phases,
            parent.places_of | self.places_of,
            parent.assertions if self.assertions is None else self.assertions,
            parent.retags if self.retags is None else self.retags,
        )

    def hierarchy(self) -> Hierarchy:
        return self._made(
            "sorts", lambda: Hierarchy.of(self.types, self.disjoint, self.overlapping)
        )

    def schema(self, types: Hierarchy) -> Schema:
        """The type of each slot, in the order of the file."""
        aliases = self._made("aliases", lambda: Aliases.of(self.aliases))
        gazetteer = self._made("places", lambda: Hierarchy.of(self.places))
        slots = {
            name: _slot(name, given, types, gazetteer, aliases)
            for name, given in self.slots.items()
        }
        return Schema(slots, types)

    def _made(self, part: str, make: Callable[[], T]) -> T:
        try:
            return make()
        except InputError as error:
            refuse(f"{part}: {error.problem}", self.places_of.get(part, self.at))


def read_sheet(path: Path) -> Sheet:
    """The sheet of one `domain.yaml`."""
    at = At(str(path), 1, 1)
    tree = map_of(read_tree(path), "a domain", at)
    check_keys(tree, "a domain", _FIELDS)
    extends = tree.get("extends")
    about = tree.get("about")
    slots = map_of(tree.get("slots"), "slots", at)
    return Sheet(
        scalar_of(tree.get("domain"), "the name of the domain", at).value,
        at,
        scalar_of(about, "about", at).value if about is not None else "",
        scalar_of(extends, "extends", at).value if extends is not None else "",
        _hierarchy(tree.get("sorts"), "sorts", at),
        _pairs(tree.get("disjoint"), "disjoint", at),
        _pairs(tree.get("overlapping"), "overlapping", at),
        {
            symbol(key.value): map_of(value, f"slot {key.value}", key.at)
            for key, value in slots.pairs
        },
        [_names(one, "aliases") for one in sequence_of(tree.get("aliases"), "aliases", at)],
        _hierarchy(tree.get("places"), "places", at),
        _templates(map_of(tree.get("templates"), "templates", at)),
        tuple(text.value for text in texts_of(tree.get("phases"), "phases", at)),
        {key.value: value.at for key, value in tree.pairs},
        _yes_or_no(tree.get("assertions"), "assertions", at),
        _yes_or_no(tree.get("retags"), "retags", at),
    )


def _yes_or_no(tree: Tree | None, what: str, at: At) -> bool | None:
    if tree is None:
        return None
    text = scalar_of(tree, what, at)
    if text.value not in ("true", "false"):
        refuse(f"{what} is {text.value!r} (expected true or false)", text.at)
    return text.value == "true"


def _hierarchy(tree: Tree | None, what: str, at: At) -> dict[str, tuple[str, ...]]:
    """Each name with its parents; nothing is none."""
    given = map_of(tree, what, at)
    made: dict[str, tuple[str, ...]] = {}
    for key, value in given.pairs:
        if (name := symbol(key.value)) in made:
            refuse(f"{name} stands twice among the {what}", key.at)
        made[name] = tuple(symbol(text.value) for text in texts_of(value, key.value, key.at))
    return made


def _pairs(tree: Tree | None, what: str, at: At) -> list[Pair]:
    pairs = []
    for one in sequence_of(tree, what, at):
        names = _names(one, what)
        if len(names) != 2:
            refuse(f"{what} is a list of pairs: [[A, B], [C, D]]", one.at)
        pairs.append((names[0], names[1]))
    return pairs


def _names(tree: Tree, what: str) -> tuple[str, ...]:
    return tuple(symbol(text.value) for text in texts_of(tree, what, tree.at))


def _templates(given: Map) -> dict[str, TemplateType]:
    made = {}
    for key, value in given.pairs:
        fields = map_of(value, f"template {key.value}", key.at)
        check_keys(fields, "a template", ("needs", "event"))
        needs = tuple(symbol(t.value) for t in texts_of(fields.get("needs"), "needs", key.at))
        event = bool(_yes_or_no(fields.get("event"), "event", key.at))
        made[symbol(key.value)] = TemplateType(symbol(key.value), needs, event)
    return made


def _slot(
    name: str, given: Map, types: Hierarchy, gazetteer: Hierarchy, aliases: Aliases
) -> SlotType[Any]:
    check_keys(given, f"slot {name}", ("type", "under", "unit"))
    kind = scalar_of(given.get("type"), f"the type of slot {name}", given.at)
    try:
        return _typed(kind, given, types, gazetteer, aliases)
    except InputError as error:
        if error.file:
            raise
        refuse(f"slot {name}: {error.problem}", given.at)


def _typed(
    kind: Text, given: Map, types: Hierarchy, gazetteer: Hierarchy, aliases: Aliases
) -> SlotType[Any]:
    under, unit = given.get("under"), given.get("unit")
    if kind.value == "sort":
        return HierarchyType(types, scalar_of(under, "under", given.at).value if under else "")
    if kind.value == "measure":
        return MeasureType(scalar_of(unit, "the unit of a measure", given.at).value)
    simple: Mapping[str, Callable[[], SlotType[Any]]] = {
        "number": NumberType,
        "date": DateType,
        "money": MoneyType,
        "place": lambda: PlaceType(gazetteer, aliases),
        "name": lambda: NameType(aliases),
        "string": lambda: StringsType(several=False),
        "strings": StringsType,
    }
    if kind.value not in simple:
        refuse(f"{kind.value!r} is no type of slots; expected {', '.join(TYPES)}", kind.at)
    return simple[kind.value]()


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


def installed_domains() -> dict[str, EntryPoint]:
    """Return the domains of all installed packages, by name."""
    return installed(DOMAINS)


def read_domain(name: str | Path) -> RuleSet:
    """Read a domain by the name of an installed one, or by its folder; raise its first error."""
    folder = folder_of(name)
    return _installed(folder) if str(name) in installed_domains() else _read(folder)


def folder_of(name: str | Path, beside: Path | None = None) -> Path:
    """Return the folder of a domain: beside another one, installed, or a path."""
    path = Path(name)
    if beside and _is_folder(beside / path) and (beside / path / "domain.yaml").is_file():
        return beside / path
    domains = installed_domains()
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
    if extends := read_sheet(folder / "domain.yaml").extends:
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
        folders = _folders(folder_of(name))
        sheet = _sheet(folders)
        _load(loaded, folders, sheet)
    except RuleError as error:
        loaded.problems.append(RuleProblem(error.at, error.said))
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
    types = sheet.hierarchy()
    schema = sheet.schema(types)
    entries: list[LexiconEntry] = []
    for folder in folders:
        found, problems = read_lexicon(folder / "lexicon")
        entries += found
        loaded.problems += problems
    for name in sheet.phases:
        try:
            loaded.files.append(read_phase(_phase_path(name, folders, sheet), name))
            loaded.problems += loaded.files[-1].problems
        except RuleError as error:
            loaded.problems.append(RuleProblem(error.at, error.said))
    loaded.domain = RuleSet(
        sheet.name,
        schema,
        types,
        tuple(entries),
        tuple(file.phase for file in loaded.files),
        sheet.templates,
        frozenset(verb for file in loaded.files for verb in file.verbs),
        sheet.about,
        sheet.at,
        bool(sheet.assertions),
        bool(sheet.retags),
    )


def _phase_path(name: str, folders: list[Path], sheet: Sheet) -> Path:
    file = f"{name}.yaml"
    files = (path for folder in folders for path in (folder / "rules").glob("*.yaml"))
    found = [path for path in files if path.name == file]
    if not found:
        at = sheet.places_of.get("phases", sheet.at)
        refuse(f"phase {shortened(name)!r} has no file rules/{shortened(file)}", at)
    return found[0]
