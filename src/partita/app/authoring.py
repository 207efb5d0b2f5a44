"""Tools for domain authors: lint, trace, rule tests and the tagger."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from partita.corpora.documents import read_keyed_messages
from partita.errors import InputError, PartitaError
from partita.evaluation.extraction import Extraction, Tagging, measure_extraction, measure_tagging
from partita.records import Message, Region
from partita.rules.cascade import Cascade, Columns
from partita.rules.domain import Problem
from partita.rules.domain_files import load_domain, read_domain
from partita.rules.extractor import Extractor
from partita.rules.lint import failing, linted
from partita.rules.trace import Seen, Tracer
from partita.text.layout import parse_layout
from partita.text.messages import read_messages
from partita.text.tagger import Tagger
from partita.text.tagger_models import read_tagger, shipped_tagger, write_tagger
from partita.text.tokens import tokenize
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
    """A message, and what each phase made of it."""

    message: str
    seen: tuple[Seen, ...]


def lint_domain(name: str | Path) -> list[Problem]:
    """Everything that is wrong with a domain or might be, its examples tried."""
    loaded = load_domain(name)
    found = list(loaded.problems)
    if loaded.domain is None:
        return found
    found += linted(loaded.domain)
    if loaded.domain.phases:
        cascade, tagger = Cascade(loaded.domain), shipped_tagger()
        found += failing(cascade, lambda text: _cut(tagger, _plain(text)))
    return list(dict.fromkeys(found))


def trace_file(path: str | Path, domain: str | Path, phase: str = "") -> list[Traced]:
    """The messages of a file through a domain's phases, or through one that is named."""
    messages = []
    for message in read_messages(path):
        if isinstance(message, PartitaError):
            raise message
        messages.append(message)
    return trace_messages(messages, domain, phase)


def trace_messages(
    messages: Sequence[Message], domain: str | Path, phase: str = ""
) -> list[Traced]:
    read = read_domain(domain)
    names = [one.name for one in read.phases]
    if phase and phase not in names:
        raise InputError(f"domain {read.name} has no phase {phase!r}; expected {', '.join(names)}")
    cascade, tagger = Cascade(read), shipped_tagger()
    traced = []
    for message in messages:
        tracer = Tracer(read.schema)
        cascade.run(*_cut(tagger, message), tracer)
        seen = tuple(one for one in tracer.seen if not phase or one.phase == phase)
        traced.append(Traced(message.id, seen))
    return traced


def measure_corpus(corpus: str | Path, domain: str | Path, only: str = "") -> Extraction:
    """What a domain finds in a folder of messages, beside their keys; of those alone whose names
    begin as wanted."""
    read = read_domain(domain)
    documents = [one for one in read_keyed_messages(corpus) if one.name.startswith(only)]
    if not documents:
        which = f" whose name begins with {only!r}" if only else ""
        raise InputError(f"holds no key of a message{which}", file=str(corpus))
    messages = [parse_layout(one.name, one.text) for one in documents]
    found = Extractor(read, shipped_tagger()).templates_of(messages)
    return measure_extraction(zip(documents, found, strict=True), read.schema)


def _plain(text: str) -> Message:
    """An example is a piece of running text, however it looks."""
    return Message("example", text, (Region("text", 0, len(text)),))


def _cut(tagger: Tagger, message: Message) -> tuple[Columns, list[str], Sequence[Region]]:
    tokens = tokenize(message)
    return tokens, tagger.names(tokens.texts, tokens.ends_of_sentences), message.regions


Progress = Callable[[str], None]

CASES = ("as it is", "upper case", "lower case")
CONFUSIONS = 10


@dataclass(frozen=True, slots=True)
class TaggerReport:
    """What was measured on a corpus in three kinds of case, and words tagged in a second."""

    cases: dict[str, Tagging]
    speed: float

    def json(self) -> str:
        told = {name.replace(" ", "_"): _figures(found) for name, found in self.cases.items()}
        return json.dumps({**told, "words_per_second": round(self.speed)}) + "\n"

    def text(self) -> str:
        words = self.cases[CASES[0]].words
        lines = [f"{words:,} words, {self.speed:,.0f} tagged in a second", ""]
        lines.append(f"{'':12}{'right':>8}{'unknown words':>15}{'right':>8}")
        for name, each in self.cases.items():
            share = each.unknown / each.words if each.words else 0.0
            lines.append(f"{name:12}{each.accuracy:8.4f}{share:15.2%}{each.unknown_accuracy:8.4f}")
        return "\n".join([*lines, "", *self._confusions()]) + "\n"

    def _confusions(self) -> list[str]:
        found = self.cases[CASES[0]].confusions[:CONFUSIONS]
        pairs = [f"{right:>8} {given:>8} {count:6}" for (right, given), count in found]
        return ["   right    given  times", *pairs] if pairs else ["Nothing was confused."]


def _figures(found: Tagging) -> dict[str, object]:
    confusions = found.confusions[:CONFUSIONS]
    return {
        "words": found.words,
        "accuracy": found.accuracy,
        "unknown": found.unknown,
        "unknown_accuracy": found.unknown_accuracy,
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
    """Learn from CoNLL-U and write the tagger with its figures on the corpora to test on.

    A corpus that is given twice counts twice. Of GUM the free genres, unless all are asked for.
    """
    genres = None if every_genre else FREE_GENRES
    sentences = _read(corpora, genres, progress)
    measured = {corpus: _read([corpus], None, progress) for corpus in tests}
    about = _about(corpora, sentences, genres)
    tagger = train_tagger(sentences, seed, settings, learned_from=about, progress=progress)
    figures = {
        f"{_name(corpus)}, {case}": found.accuracy
        for corpus, held in measured.items()
        for case, found in _cases(tagger, held).items()
    }
    tagger = replace(tagger, figures=figures)
    write_tagger(out, tagger)
    return tagger


def _about(
    corpora: Sequence[Path], sentences: Sequence[TaggedSentence], genres: Sequence[str] | None
) -> str:
    """What a tagger is learned from, in words."""
    words = sum(len(sentence.words) for sentence in sentences)
    times = Counter(map(_name, corpora))
    names = ", ".join(f"{n} times {name}" if n > 1 else name for name, n in times.items())
    kept = f" (of GUM the genres {', '.join(genres)})" if genres else ""
    return f"{len(sentences)} sentences, {words} words: {names}{kept}"


def _name(corpus: Path) -> str:
    """The last two parts of a path: where it stands on a machine is nobody's business."""
    return "/".join(corpus.parts[-2:])


def assess_tagger(
    corpora: Sequence[Path], parameters: Path | None = None, progress: Progress | None = None
) -> TaggerReport:
    """Measure a tagger (without parameters, the shipped one) on CoNLL-U as it is and recased."""
    tagger = shipped_tagger() if parameters is None else read_tagger(parameters)
    sentences = _read(corpora, None, progress)
    return TaggerReport(_cases(tagger, sentences), _speed(tagger, sentences))


def _cases(tagger: Tagger, sentences: Sequence[TaggedSentence]) -> dict[str, Tagging]:
    copies = (
        sentences,
        [upper_case(sentence) for sentence in sentences],
        [lower_case(sentence) for sentence in sentences],
    )
    return {name: measure_tagging(tagger, copy) for name, copy in zip(CASES, copies, strict=True)}


def _speed(tagger: Tagger, sentences: Sequence[TaggedSentence]) -> float:
    """Words tagged in a second, when everything is compiled and all words have been met."""
    words = [word for sentence in sentences for word in sentence.words]
    ends = list(accumulate(len(sentence.words) for sentence in sentences))
    start = time.perf_counter()
    tagger.tag(words, ends)
    return len(words) / max(time.perf_counter() - start, 1e-9)


def _read(
    corpora: Sequence[Path], genres: Sequence[str] | None, progress: Progress | None
) -> list[TaggedSentence]:
    found: list[TaggedSentence] = []
    for corpus in corpora:
        if progress:
            progress(f"reading {corpus}")
        found += read_tagged(corpus, genres)
    if not found:
        raise InputError(f"no tagged sentences in {', '.join(map(str, corpora))}")
    return found
