"""Domains: what to extract from messages of a subject area, and which pair model fits it.

A domain is a folder of YAML (`RuleDomain`) or an object of a Python package (`Domain`). Packages
offer their domains through the entry-point group `partita.domains`.
"""

from __future__ import annotations

import hashlib
import sys
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from partita.errors import InputError, PartitaError
from partita.parameters import shipped_text
from partita.plugins import DOMAINS, EntryPoint, installed, load_plugin

if TYPE_CHECKING:
    from partita.antecedents.sets import Windows
    from partita.core import Message, Template
    from partita.files.text import HeldText, TextSource
    from partita.pairs.characteristics import Characteristic
    from partita.pairs.models import MaximumEntropy, PairModel
    from partita.pipeline import Stages
    from partita.rules.domain import RuleSet as Rules
    from partita.rules.extractor import Extractor
    from partita.rules.yaml import Map
    from partita.templates.schema import Schema
    from partita.text.annotations import Annotation
    from partita.text.expressions import PlacedSentence
    from partita.training.parameter_files import PairParameters

PAIRS = "pairs"  # the kind of parameters that `partita train` writes
HASH_DIGITS = 16
LEAST_UNDERSTOOD = 0.25  # share of a text's sentences with templates, below which a domain says so


@dataclass(frozen=True, slots=True)
class ParameterText:
    """The text of a parameter file, its kind, and what the parameters were learned from."""

    kind: str
    text: str
    learned_from: str

    @property
    def hash(self) -> str:
        return content_hash([self.text.encode()])


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """A format of a domain's own, which `run --to` writes.

    Existing files are replaced only if their first line matches `first_line`. `counted` is what the
    summary counts, and `model` the one that is used when none is asked for.
    """

    name: str
    description: str
    first_line: bytes
    counted: str
    model: str | None = None


@runtime_checkable
class Domain(Protocol):
    """A subject area: the templates to extract, their slots, and a pair model.

    Subclasses define `name`, `description`, `schema` and `extract`. Everything else has a default:
    without a `pair_model` of its own a domain uses the pair parameters that ship with Partita, or
    those of a file that `partita train` has written.
    """

    parameter_file: Path | HeldText | None = None
    computed_from_parameters: tuple[str, ...] = ("parameter_text", "pair_parameters")
    default_model: str = "evidential"
    unsupported_models: tuple[str, ...] = ()
    output_formats: tuple[OutputFormat, ...] = ()  # besides those of every domain
    windows: Windows | None = None  # for domains in which any two templates may corefer

    @property
    @abstractmethod
    def name(self) -> str:
        """The name by which commands select the domain."""
        raise NotImplementedError

    @property
    @abstractmethod
    def description(self) -> str:
        """What the domain covers, in one or two sentences."""
        raise NotImplementedError

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """The slots of templates, each with its type."""
        raise NotImplementedError

    @abstractmethod
    def extract(self, message: Message) -> Sequence[Template]:
        """Extract the templates of a message."""
        raise NotImplementedError

    def extract_annotated(self, message: Message, annotation: Annotation) -> Sequence[Template]:
        """Extract the templates of the mentions, or in the trees, that come with a message."""
        from partita.text.annotations import annotated_sentences

        placed = annotated_sentences(
            annotation, message.text, lambda: self.sentences(message), self.with_found_mentions
        )
        return self.placed_templates(placed, message.text)

    def placed_templates(
        self, sentences: Sequence[PlacedSentence], text: str
    ) -> Sequence[Template]:
        """Return the templates of mentions in trees; for domains that parse."""
        problem = f"domain {self.name} finds its mentions by rules"
        raise InputError(f"{problem} (expected --domain general for mentions of others)")

    def sentences(self, message: Message) -> Sequence[PlacedSentence]:
        """Return the sentences of a message with their trees and mentions."""
        from partita.text.analysis import shipped_analyser

        return shipped_analyser().analyse(message)

    def with_found_mentions(self, sentences: Sequence[PlacedSentence]) -> Sequence[PlacedSentence]:
        """Return the sentences with the mentions that are found in their trees."""
        from partita.text.analysis import shipped_analyser

        return shipped_analyser().find_in(sentences)

    def forced(self) -> Domain:
        """Return the domain that also reads texts which it sets aside, such as German ones."""
        return self

    def notes(self, message: Message, templates: Sequence[Template]) -> Iterable[str]:
        """Return what a user should know of a message, such as that it is not in English."""
        return ()

    @property
    def fingerprint(self) -> str:
        """Return a hash that changes when the domain does; by default that of its module."""
        source = sys.modules[type(self).__module__].__file__
        return content_hash([Path(source).read_bytes()] if source else [])

    @property
    def characteristics(self) -> tuple[Characteristic, ...]:
        """The characteristics that pair parameters of this domain may name."""
        from partita.pairs.characteristics import EXTENDED

        return EXTENDED

    @cached_property
    def parameter_text(self) -> str:
        """The text of the parameter file, or of the shipped one."""
        from partita.files.text import whole_text

        if self.parameter_file is not None:
            return whole_text(self.parameter_file)
        return shipped_text(PAIRS) or ""

    @cached_property
    def pair_parameters(self) -> PairParameters:
        """The parameters of all models over pairs."""
        from partita.training.parameter_files import parse_pair_parameters

        file = "shipped pair parameters" if self.parameter_file is None else self.parameter_file
        return parse_pair_parameters(self.parameter_text, str(file), self.characteristics)

    @property
    def parameters(self) -> ParameterText:
        """The parameters in use, as a file holds them."""
        return ParameterText(PAIRS, self.parameter_text, self.pair_parameters.learned_from)

    def pair_model(self, model: str) -> PairModel:
        """Return the pair model for a model of configurations, such as `evidential`."""
        from partita.training.parameter_files import training_of

        return self.pair_parameters.pair_model(training_of(model))

    def with_parameters(self, path: TextSource) -> Self:
        """Return this domain with the parameters of another file."""
        other = copy(self)
        for name in self.computed_from_parameters:
            vars(other).pop(name, None)
        other.parameter_file = Path(path) if isinstance(path, str) else path
        return other

    def with_gazetteer(self, path: str | Path) -> Self:
        """Return this domain with the places of a file added."""
        raise InputError(f"domain {self.name} does not take a gazetteer", file=str(path))

    def formatted(self, name: str, message: Message, stages: Stages) -> tuple[str, int]:
        """Return a message in one of the `output_formats`, and the number of things in it."""
        raise InputError(f"domain {self.name} has no format {name!r}")

    def additions(self, message: Message) -> Mapping[str, Sequence[object]]:
        """Return what the domain adds to the last line of a message's results, by field."""
        return {}


@runtime_checkable
class PairModelByTemplates(Protocol):
    """A pair model that uses different models for different kinds of templates."""

    def model_for(self, templates: Sequence[Template]) -> PairModel:
        """Return the model for the templates of one coreference set."""
        raise NotImplementedError


def maximum_entropy(model: PairModel, templates: Sequence[Template] = ()) -> MaximumEntropy | None:
    """Return the maximum entropy model behind a pair model, if there is one."""
    from partita.pairs.models import MaximumEntropy

    chosen = model.model_for(templates) if isinstance(model, PairModelByTemplates) else model
    return chosen if isinstance(chosen, MaximumEntropy) else None


class RuleDomain(Domain):
    """A domain as a folder of YAML: types, slots, a lexicon and rules."""

    def __init__(self, folder: str | Path) -> None:
        from partita.rules.domain_files import PAIRS_FILE

        self.folder = Path(folder)
        own = self.folder / PAIRS_FILE
        self.parameter_file = own if own.is_file() else None

    @cached_property
    def sheet(self) -> Map:
        """The contents of `domain.yaml`."""
        from partita.rules.domain_files import read_sheet

        return read_sheet(self.folder / "domain.yaml")

    @cached_property
    def rules(self) -> Rules:
        """The rules, with those of the domains that this one extends.

        What lint calls an error is refused, before any message is read.
        """
        from partita.rules.domain_files import read_domain

        rules = read_domain(self.folder)
        if Path(__file__).parent not in self.folder.resolve().parents:  # ours pass in CI
            _refuse_errors(rules)
        return rules

    @cached_property
    def extractor(self) -> Extractor:
        """The rules with the shipped tagger."""
        from partita.rules.extractor import Extractor
        from partita.text.tagger_models import shipped_tagger

        return Extractor(self.rules, shipped_tagger())

    @property
    def name(self) -> str:
        return self.sheet.text("domain").value

    @property
    def description(self) -> str:
        return self.sheet.optional("about")

    @property
    def schema(self) -> Schema:
        return self.rules.schema

    @property
    def fingerprint(self) -> str:
        """Return the hash of all YAML files, with those of the domains that this one extends."""
        from partita.rules.domain_files import rule_files

        return content_hash(path.read_bytes() for path in rule_files(self.folder))

    @property
    def type_slots(self) -> tuple[str, ...]:
        """The slots that hold the type of a template, among those that it needs."""
        from partita.templates.entity_types import HierarchyType

        slots = [
            slot
            for wanted in self.rules.templates.values()
            for slot in wanted.needs
            if isinstance(kind := self.schema.slots.get(slot), HierarchyType)
            and kind.under == wanted.type
        ]
        return tuple(dict.fromkeys(slots))

    def pair_model(self, model: str) -> PairModel:
        from partita.pairs.models import ThingsAndEvents, event_model

        things = super().pair_model(model)
        has_events = any(one.event for one in self.rules.templates.values())
        return ThingsAndEvents(things, event_model()) if has_events else things

    def extract(self, message: Message) -> Sequence[Template]:
        return self.extractor.templates(message)

    def notes(self, message: Message, templates: Sequence[Template]) -> Iterable[str]:
        """Say how much of a text the rules understood, if that is little; tables do not count."""
        from partita.text.tokens import tokenize

        tokens = tokenize(message)
        regions = [message.regions[tokens.region[end - 1]] for end in tokens.ends_of_sentences]
        sentences = {n for n, region in enumerate(regions) if region.table < 0}
        total = len(sentences)
        covered = len(sentences & {template.sentence for template in templates})
        if total and covered < LEAST_UNDERSTOOD * total:
            share = f"{covered} of {total} sentences ({covered / total:.0%})"
            yield f"domain {self.name} understood {share}; --domain general is for any English text"


def _refuse_errors(rules: Rules) -> None:
    from partita.rules.lint import lint
    from partita.rules.yaml import RuleError

    for problem in lint(rules):
        if problem.error:
            raise RuleError(problem.said, problem.at)


def find_domain(name: str | Path) -> Domain:
    """Return a domain by the name of an installed one, or by its folder."""
    if (entry := installed(DOMAINS).get(str(name))) is not None:
        return load_installed_domain(entry)
    from partita.rules.domain_files import folder_of

    return RuleDomain(folder_of(name))


@lru_cache
def load_installed_domain(entry: EntryPoint) -> Domain:
    """Load the domain of an entry point: an object, a class, or a package that holds YAML.

    Like a module, a domain is loaded once.
    """
    where = f"domain {entry.name}: {entry.value}"
    target = load_plugin(entry)
    if isinstance(target, ModuleType):
        return RuleDomain(next(iter(target.__path__)))
    try:
        domain: Domain = target() if isinstance(target, type) else target
    except InputError:
        raise
    except Exception as error:  # whatever the code of a third party raises
        raise InputError(f"{where} fails to load ({type(error).__name__}: {error})") from error
    # isinstance reads every property of a protocol, so that it would load parameters
    if Domain not in type(domain).__mro__ and not isinstance(domain, Domain):
        raise InputError(f"{where} is a {type(domain).__name__} (expected a partita.Domain)")
    return domain


def describe_domains() -> list[dict[str, str]]:
    """Return name, description and package of every installed domain.

    A domain that fails to load has an error and no description.
    """
    from importlib.metadata import distribution

    rows = []
    for name, entry in installed(DOMAINS).items():
        description = error = ""
        try:
            description = load_installed_domain(entry).description
        except PartitaError as failure:
            error = str(failure)
        package = distribution(entry.package)
        rows.append(
            {
                "name": name,
                "description": description,
                "package": package.name,
                "version": package.version,
                "error": error,
            }
        )
    return rows


def schema_of(domain: str | None, corpora: Iterable[Path] = ()) -> Schema | None:
    """Return the schema of a domain, or None where no domain is named.

    Without a name, a corpus in the folder of a domain belongs to that domain.
    """
    name = domain or next(map(str, domain_folders(corpora)), None)
    return None if name is None else find_domain(name).schema


def domain_folders(corpora: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders of domains that hold the corpora."""
    from partita.text.messages import KEYS_FILE

    for path in corpora:
        folder = path.resolve() if path.is_dir() else path.resolve().parent
        if (folder.parent / "domain.yaml").is_file() and (folder / KEYS_FILE).is_file():
            yield folder.parent


def content_hash(parts: Iterable[bytes]) -> str:
    """Return the start of the SHA-256 hash of some bytes: enough to tell files apart."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:HASH_DIGITS]
