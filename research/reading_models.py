"""Train and measure the shipped tagger and analyser: files in, files and reports out."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from pathlib import Path

from partita.corpora.documents import read_placed
from partita.errors import InputError
from partita.files.writing import write_atomically
from partita.text.analysis import Analyser, analyser_bytes, read_analyser, shipped_analyser
from partita.text.conllu import PlacedDocument
from partita.text.tagger_models import (
    Tagger,
    normalise_word,
    read_tagger,
    shipped_tagger,
    write_tagger,
)
from research.analyser import train_analyser
from research.analysis_figures import AnalysisFigures, measure_analysis
from research.tagger import (
    FREE_GENRES,
    TaggedSentence,
    TaggerSettings,
    lower_case,
    read_tagged,
    train_tagger,
    upper_case,
)

Progress = Callable[[str], None]

CASES = ("as it is", "upper case", "lower case")
CONFUSIONS = 10


@dataclass(frozen=True, slots=True)
class Tagging:
    """Words and those tagged right; confusions ((right, assigned), count), most frequent first."""

    words: int
    right: int
    unknown: int
    unknown_right: int
    confusions: tuple[tuple[tuple[str, str], int], ...]

    @property
    def accuracy(self) -> float:
        return self.right / self.words if self.words else 0.0

    @property
    def unknown_accuracy(self) -> float:
        return self.unknown_right / self.unknown if self.unknown else 0.0


def measure_tagging(tagger: Tagger, sentences: Sequence[TaggedSentence]) -> Tagging:
    """Compare the tagger's tags with the right ones."""
    words = [word for sentence in sentences for word in sentence.words]
    right = [tag for sentence in sentences for tag in sentence.tags]
    tags = tagger.names(words, list(accumulate(len(sentence.words) for sentence in sentences)))
    unknown = [normalise_word(word) not in tagger.lexicon for word in words]
    confused = Counter((r, f) for r, f in zip(right, tags, strict=True) if r != f)
    hits = [r == f for r, f in zip(right, tags, strict=True)]
    return Tagging(
        len(words),
        sum(hits),
        sum(unknown),
        sum(hit and strange for hit, strange in zip(hits, unknown, strict=True)),
        tuple(sorted(confused.items(), key=lambda item: (-item[1], item[0]))),
    )


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
