"""Tools for domain authors: a new domain, lint, trace, rule tests, and keys in the terminal."""

from __future__ import annotations

import getpass
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from string import ascii_lowercase

from partita.app.runner import Runner, Settings
from partita.core import Configuration, Distribution, Message, Region
from partita.core.templates import Key
from partita.corpora.documents import read_keyed_messages
from partita.corpora.keys import read_keys, write_keys
from partita.domains import domain_folders
from partita.errors import InputError, PartitaError
from partita.evaluation.extraction import ExtractionFigures, measure_extraction
from partita.rules.cascade import Cascade, TokenColumns
from partita.rules.domain import RuleProblem
from partita.rules.domain_files import load_rule_set, read_domain
from partita.rules.extractor import Extractor, PhaseTrace, Tracer
from partita.rules.lint import failing_examples, lint
from partita.text.layout import parse_layout
from partita.text.messages import read_messages
from partita.text.tagger_models import Tagger, shipped_tagger
from partita.text.tokens import tokenize
from partita.training.label_choice import set_gains


@dataclass(frozen=True, slots=True)
class Traced:
    """A message, and the output of each phase."""

    message: str
    seen: tuple[PhaseTrace, ...]


def lint_domain(name: str | Path) -> list[RuleProblem]:
    """Return the errors and warnings of a domain, including examples that fail."""
    loaded = load_rule_set(name)
    problems = list(loaded.problems)
    if loaded.domain is None:
        return problems
    problems += lint(loaded.domain)
    if loaded.domain.phases:
        cascade, tagger = Cascade(loaded.domain), shipped_tagger()
        problems += failing_examples(
            cascade, lambda text: _tokenise(tagger, _example_message(text))
        )
    return list(dict.fromkeys(problems))


def trace_file(path: str | Path, domain: str | Path, phase: str = "") -> list[Traced]:
    """Trace the messages of a file through all phases of a domain, or through one phase."""
    return trace_messages(list(_readable(path)), domain, phase)


def _readable(path: str | Path) -> Iterator[Message]:
    """Yield the messages of a file or folder, or raise what is wrong with one."""
    for message in read_messages(path):
        if isinstance(message, PartitaError):
            raise message
        yield message


def trace_messages(
    messages: Sequence[Message], domain: str | Path, phase: str = ""
) -> list[Traced]:
    rules = read_domain(domain)
    names = [one.name for one in rules.phases]
    if phase and phase not in names:
        raise InputError(f"domain {rules.name} has no phase {phase!r}; expected {', '.join(names)}")
    cascade, tagger = Cascade(rules), shipped_tagger()
    traced = []
    for message in messages:
        tracer = Tracer(rules.schema)
        cascade.run(*_tokenise(tagger, message), tracer)
        seen = tuple(one for one in tracer.seen if not phase or one.phase == phase)
        traced.append(Traced(message.id, seen))
    return traced


def measure_corpus(
    corpus: str | Path, domain: str | Path | None = None, only: str = ""
) -> ExtractionFigures:
    """Evaluate the extraction of a domain against the keys of a folder of messages.

    Without a domain, a corpus in the folder of a domain belongs to that domain, any other to
    depots. `only` is a prefix of the names of the messages to use.
    """
    rules = read_domain(domain or next(domain_folders([Path(corpus)]), "depots"))
    documents = [one for one in read_keyed_messages(corpus) if one.name.startswith(only)]
    if not documents:
        which = f" whose name begins with {only!r}" if only else ""
        raise InputError(f"has no keyed message{which} (expected at least one)", file=str(corpus))
    messages = [parse_layout(one.name, one.text) for one in documents]
    templates = Extractor(rules, shipped_tagger()).templates_of(messages)
    return measure_extraction(zip(documents, templates, strict=True), rules.schema)


SKELETON = Path(__file__).parents[1] / "domains" / "skeleton"
LETTERS = ascii_lowercase + ascii_lowercase.upper()


def new_domain(folder: Path) -> list[Path]:
    """Write a small domain that works, to be changed; its name is that of the folder."""
    name = re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
    if folder.exists() and any(folder.iterdir()):
        raise InputError("is there already (expected a new or empty folder)", file=str(folder))
    if not name:
        raise InputError("is no name for a domain (expected letters or digits)", file=str(folder))
    written = []
    for file in sorted(SKELETON.rglob("*.*")):
        target = folder / str(file.relative_to(SKELETON)).replace("skeleton", name)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text(encoding="utf-8").replace("skeleton", name)
        target.write_text(text, encoding="utf-8")
        written.append(target)
    return written


@dataclass(slots=True)
class Labelling:
    """Sets of messages that get keys one after the other, the most useful first.

    The file of keys is written after every key, and keys that it has already count.
    """

    out: Path
    runner: Runner
    sets: dict[str, tuple[Message, Distribution]] = field(default_factory=dict)
    keys: list[Key] = field(default_factory=list)
    keyed: list[str] = field(default_factory=list)
    skipped: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, paths: Sequence[Path], domain: str, out: Path) -> Labelling:
        """Resolve the messages, and read the keys that the file has."""
        made = cls(out, Runner(Settings.of(domain, "evidential")))
        for path in paths:
            for message in _readable(path):
                for one in made.runner.resolve(message).distributions:
                    made.sets[one.set.name] = message, one
        made.keys = read_keys(out) if out.exists() else []
        names = {(message.id, one.set.ids): name for name, (message, one) in made.sets.items()}
        found = (names.get((key.message, tuple(t.id for t in key.templates))) for key in made.keys)
        made.keyed = [name for name in found if name is not None]
        return made

    def most_useful(self) -> str | None:
        """Return the name of the set to key next, None if no other is of use."""
        domain, done = self.runner.domain, {*self.keyed, *self.skipped}
        sets = [one.set for _, one in self.sets.values()]
        gains = set_gains(sets, domain.pair_parameters, done, schema=domain.schema, limit=1)
        return gains[0][0] if gains else None

    def suggestion(self, name: str) -> str:
        """Return the most probable configuration: a letter for each template, that of its cell."""
        one = self.sets[name][1]
        cells = {member: n for n, cell in enumerate(one.most_probable) for member in cell}
        return "".join(LETTERS[cells[template] % len(LETTERS)] for template in one.set.ids)

    def answer(self, name: str, letters: str) -> str:
        """Save a key, a letter for each template; return what is wrong with it, "" if nothing."""
        message, one = self.sets[name]
        ids = one.set.ids
        if len(letters) != len(ids) or not letters.isalpha():
            return f"expected {len(ids)} letters, one for each line"
        cell_of = dict(zip(ids, letters, strict=True))
        for left, right in sorted(one.set.incompatible):
            if cell_of[left] == cell_of[right]:
                return f"{left} and {right} have values that cannot both be true"
        cells = [[t for t in ids if cell_of[t] == letter] for letter in dict.fromkeys(letters)]
        author, key = getpass.getuser(), Configuration(cells)
        made = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.keys.append(Key(message.id, tuple(one.set.templates), key, author, made))
        self.keyed.append(name)
        write_keys(self.out, self.keys)
        return ""

    def undo(self) -> str | None:
        """Take the last key back; return the name of its set, None if there is none."""
        if not self.keyed:
            return None
        self.keys.pop()
        write_keys(self.out, self.keys)
        return self.keyed.pop()


def _example_message(text: str) -> Message:
    """Return an example as a message of running text."""
    return Message("example", text, (Region("text", 0, len(text)),))


def _tokenise(tagger: Tagger, message: Message) -> tuple[TokenColumns, list[str], Sequence[Region]]:
    tokens = tokenize(message)
    return tokens, tagger.names(tokens.texts, tokens.ends_of_sentences), message.regions
