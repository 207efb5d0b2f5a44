"""Tools for domain authors: lint, trace, rule tests and the tagger."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from pathlib import Path

from partita.core import Message, Region
from partita.corpora.corefud import read_placed
from partita.corpora.documents import read_keyed_messages
from partita.domains import domain_folders
from partita.errors import InputError, PartitaError
from partita.evaluation.analysis import AnalysisFigures, measure_analysis
from partita.evaluation.extraction import Extraction, Tagging, measure_extraction, measure_tagging
from partita.files.writing import write_atomically
from partita.rules.cascade import Cascade, TokenColumns
from partita.rules.domain import Problem
from partita.rules.domain_files import load_domain, read_domain
from partita.rules.extractor import Extractor
from partita.rules.lint import failing_examples, lint
from partita.rules.trace import PhaseTrace, Tracer
from partita.text.analysis import Analyser, shipped_analyser
from partita.text.analysis_models import analyser_bytes, read_analyser
from partita.text.conllu import PlacedDocument
from partita.text.layout import parse_layout
from partita.text.messages import read_messages
from partita.text.tagger import Tagger
from partita.text.tagger_models import read_tagger, shipped_tagger, write_tagger
from partita.text.tokens import tokenize
from partita.training.analyser import train_analyser
from partita.training.tagger import (
    FREE_GENRES,
    TaggedSentence,
    TaggerSettings,
    lower_case,
    read_tagged,
    train_tagger,
    upper_case,
)


@dataclass(frozen=True, slots=True)
class Traced:
    """A message, and the output of each phase."""

    message: str
    seen: tuple[PhaseTrace, ...]


def lint_domain(name: str | Path) -> list[Problem]:
    """Return the errors and warnings of a domain, including examples that fail."""
    loaded = load_domain(name)
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
    messages = []
    for message in read_messages(path):
        if isinstance(message, PartitaError):
            raise message
        messages.append(message)
    return trace_messages(messages, domain, phase)


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
) -> Extraction:
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


def _example_message(text: str) -> Message:
    """Return an example as a message of running text."""
    return Message("example", text, (Region("text", 0, len(text)),))


def _tokenise(tagger: Tagger, message: Message) -> tuple[TokenColumns, list[str], Sequence[Region]]:
    tokens = tokenize(message)
    return tokens, tagger.names(tokens.texts, tokens.ends_of_sentences), message.regions


Progress = Callable[[str], None]

CASES = ("as it is", "upper case", "lower case")
CONFUSIONS = 10


@dataclass(frozen=True, slots=True)
class TaggerReport:
    """Accuracy on a corpus in three kinds of case, and words tagged per second."""

    cases: dict[str, Tagging]
    speed: float

    def json(self) -> str:
        figures = {
            name.replace(" ", "_"): _figures(tagging) for name, tagging in self.cases.items()
        }
        return json.dumps({**figures, "words_per_second": round(self.speed)}) + "\n"

    def text(self) -> str:
        words = self.cases[CASES[0]].words
        lines = [f"{words:,} words, {self.speed:,.0f} tagged in a second", ""]
        lines.append(f"{'':12}{'right':>8}{'unknown words':>15}{'right':>8}")
        for name, each in self.cases.items():
            share = each.unknown / each.words if each.words else 0.0
            lines.append(f"{name:12}{each.accuracy:8.4f}{share:15.2%}{each.unknown_accuracy:8.4f}")
        return "\n".join([*lines, "", *self._confusions()]) + "\n"

    def _confusions(self) -> list[str]:
        confusions = self.cases[CASES[0]].confusions[:CONFUSIONS]
        pairs = [f"{right:>8} {given:>8} {count:6}" for (right, given), count in confusions]
        return ["   right    given  times", *pairs] if pairs else ["Nothing was confused."]


def _figures(tagging: Tagging) -> dict[str, object]:
    confusions = tagging.confusions[:CONFUSIONS]
    return {
        "words": tagging.words,
        "accuracy": tagging.accuracy,
        "unknown": tagging.unknown,
        "unknown_accuracy": tagging.unknown_accuracy,
        "confusions": [{"right": r, "given": g, "times": n} for (r, g), n in confusions],
    }


def learn_tagger(
    corpora: Sequence[Path],
    out: Path,
    seed: int,
    progress: Progress | None = None,
    *,
    tests: Sequence[Path] = (),
    every_genre: bool = False,
    settings: TaggerSettings | None = None,
) -> Tagger:
    """Train a tagger on CoNLL-U files and write it with its accuracy on the test corpora.

    A corpus that is listed twice counts twice. Only free genres of GUM are used unless
    `every_genre` is set.
    """
    genres = None if every_genre else FREE_GENRES
    sentences = _read(corpora, genres, progress)
    measured = {corpus: _read([corpus], None, progress) for corpus in tests}
    description = _description(corpora, sentences, genres)
    tagger = train_tagger(sentences, seed, settings, learned_from=description, progress=progress)
    figures = {
        f"{_name(corpus)}, {case}": tagging.accuracy
        for corpus, held in measured.items()
        for case, tagging in _measure_cases(tagger, held).items()
    }
    tagger = replace(tagger, figures=figures)
    write_tagger(out, tagger)
    return tagger


def _description(
    corpora: Sequence[Path], sentences: Sequence[TaggedSentence], genres: Sequence[str] | None
) -> str:
    """Describe the training data of a tagger."""
    words = sum(len(sentence.words) for sentence in sentences)
    times = Counter(map(_name, corpora))
    names = ", ".join(f"{n} times {name}" if n > 1 else name for name, n in times.items())
    kept = f" (of GUM the genres {', '.join(genres)})" if genres else ""
    return f"{len(sentences)} sentences, {words} words: {names}{kept}"


def _name(corpus: Path) -> str:
    """Return the last two parts of a path, without the folders of this machine."""
    return "/".join(corpus.parts[-2:])


def assess_tagger(
    corpora: Sequence[Path], parameters: Path | None = None, progress: Progress | None = None
) -> TaggerReport:
    """Measure a tagger (without parameters, the shipped one) on CoNLL-U as it is and recased."""
    tagger = shipped_tagger() if parameters is None else read_tagger(parameters)
    sentences = _read(corpora, None, progress)
    return TaggerReport(_measure_cases(tagger, sentences), _speed(tagger, sentences))


def _measure_cases(tagger: Tagger, sentences: Sequence[TaggedSentence]) -> dict[str, Tagging]:
    copies = (
        sentences,
        [upper_case(sentence) for sentence in sentences],
        [lower_case(sentence) for sentence in sentences],
    )
    return {name: measure_tagging(tagger, copy) for name, copy in zip(CASES, copies, strict=True)}


def _speed(tagger: Tagger, sentences: Sequence[TaggedSentence]) -> float:
    """Return the words tagged per second, after compilation and a first pass."""
    words = [word for sentence in sentences for word in sentence.words]
    ends = list(accumulate(len(sentence.words) for sentence in sentences))
    start = time.perf_counter()
    tagger.tag(words, ends)
    return len(words) / max(time.perf_counter() - start, 1e-9)


def _read(
    corpora: Sequence[Path], genres: Sequence[str] | None, progress: Progress | None
) -> list[TaggedSentence]:
    sentences: list[TaggedSentence] = []
    for corpus in corpora:
        if progress:
            progress(f"reading {corpus}")
        sentences += read_tagged(corpus, genres)
    if not sentences:
        raise InputError(f"no tagged sentences in {', '.join(map(str, corpora))}")
    return sentences


@dataclass(frozen=True, slots=True)
class AnalyserReport:
    """Figures of an analyser on a corpus in three kinds of case."""

    cases: dict[str, AnalysisFigures]

    def json(self) -> str:
        figures = {name.replace(" ", "_"): asdict(each) for name, each in self.cases.items()}
        return json.dumps(figures) + "\n"

    def text(self) -> str:
        names = list(asdict(self.cases[CASES[0]]))
        lines = [" " * 28 + "".join(f"{case:>14}" for case in self.cases)]
        for name in names:
            values = [getattr(each, name) for each in self.cases.values()]
            cells = (f"{value:14,.0f}" if value > 1 else f"{value:14.4f}" for value in values)
            lines.append(f"{name.replace('_', ' '):28}{''.join(cells)}")
        return "\n".join(lines) + "\n"


def learn_analyser(
    corpora: Sequence[Path],
    out: Path,
    seed: int,
    progress: Progress | None = None,
    *,
    every_genre: bool = False,
    folds: int = 5,
) -> Analyser:
    """Train an analyser on CoNLL-U files and write it.

    Only free genres of GUM are used unless `every_genre` is set; mentions are learned from the
    documents that have them.
    """
    documents = _documents(corpora, None if every_genre else FREE_GENRES, progress)
    about = {"learned_from": _described(corpora, documents, every_genre), "seed": seed}
    analyser = train_analyser(documents, seed, folds=folds, progress=progress)
    analyser = replace(analyser, about=about)
    write_atomically(out, analyser_bytes(analyser))
    return analyser


def assess_analyser(
    corpora: Sequence[Path],
    parameters: Path | None = None,
    progress: Progress | None = None,
    *,
    threshold: float | None = None,
) -> AnalyserReport:
    """Measure an analyser (without parameters, the shipped one) on the text of documents."""
    analyser = shipped_analyser() if parameters is None else read_analyser(parameters)
    if threshold is not None:
        analyser = replace(analyser, threshold=threshold)
    documents = _documents(corpora, None, progress)
    changes: tuple[Callable[[str], str], ...] = (str, str.upper, str.lower)
    measure_analysis(analyser, documents[:1])  # compiles
    return AnalyserReport(
        {
            name: measure_analysis(analyser, documents, case)
            for name, case in zip(CASES, changes, strict=True)
        }
    )


def _documents(
    corpora: Sequence[Path], genres: Sequence[str] | None, progress: Progress | None
) -> list[PlacedDocument]:
    documents: list[PlacedDocument] = []
    for corpus in corpora:
        if progress:
            progress(f"reading {corpus}")
        read = read_placed(corpus)
        documents += (d for d in read if genres is None or not d.genre or d.genre in genres)
    if not documents:
        raise InputError(f"no documents in {', '.join(map(str, corpora))}")
    return documents


def _described(
    corpora: Sequence[Path], documents: Sequence[PlacedDocument], every_genre: bool
) -> dict[str, object]:
    """Describe the training data of an analyser, with a hash of the texts."""
    words = sum(len(sentence.tree.words) for d in documents for sentence in d.sentences)
    names = ", ".join(map(_name, corpora))
    kept = "" if every_genre else f" (of GUM the genres {', '.join(FREE_GENRES)})"
    digest = hashlib.sha256("\0".join(document.text for document in documents).encode())
    return {
        "description": f"{len(documents)} documents, {words} words: {names}{kept}",
        "sha256": digest.hexdigest(),
    }
