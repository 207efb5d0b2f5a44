"""Tools that are made before messages are read, as the shells call them: the tagger."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from partita.errors import InputError
from partita.evaluation.tagging import Tagging, measure_tagging
from partita.extraction.tagging import Tagger
from partita.formats.tagged_sentences import read_tagged
from partita.formats.tagger_models import read_tagger, shipped_tagger, write_tagger
from partita.learning.tagger import Schooling, train_tagger
from partita.learning.tagger_lessons import FREE, Tagged, lower_case, upper_case

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
    schooling: Schooling | None = None,
) -> Tagger:
    """Learn from CoNLL-U and write the tagger with its figures on the corpora to test on.

    A corpus that is given twice counts twice. Of GUM the free genres, unless all are asked for.
    """
    genres = None if every_genre else FREE
    sentences = _read(corpora, genres, progress)
    measured = {corpus: _read([corpus], None, progress) for corpus in tests}
    about = _about(corpora, sentences, genres)
    tagger = train_tagger(sentences, seed, schooling, learned_from=about, progress=progress)
    figures = {
        f"{_name(corpus)}, {case}": found.accuracy
        for corpus, held in measured.items()
        for case, found in _cases(tagger, held).items()
    }
    tagger = replace(tagger, figures=figures)
    write_tagger(out, tagger)
    return tagger


def _about(
    corpora: Sequence[Path], sentences: Sequence[Tagged], genres: Sequence[str] | None
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


def _cases(tagger: Tagger, sentences: Sequence[Tagged]) -> dict[str, Tagging]:
    copies = (
        sentences,
        [upper_case(sentence) for sentence in sentences],
        [lower_case(sentence) for sentence in sentences],
    )
    return {name: measure_tagging(tagger, copy) for name, copy in zip(CASES, copies, strict=True)}


def _speed(tagger: Tagger, sentences: Sequence[Tagged]) -> float:
    """Words tagged in a second, when everything is compiled and all words have been met."""
    words = [word for sentence in sentences for word in sentence.words]
    ends = list(accumulate(len(sentence.words) for sentence in sentences))
    start = time.perf_counter()
    tagger.tag(words, ends)
    return len(words) / max(time.perf_counter() - start, 1e-9)


def _read(
    corpora: Sequence[Path], genres: Sequence[str] | None, progress: Progress | None
) -> list[Tagged]:
    found: list[Tagged] = []
    for corpus in corpora:
        if progress:
            progress(f"reading {corpus}")
        found += read_tagged(corpus, genres)
    if not found:
        raise InputError(f"no tagged sentences in {', '.join(map(str, corpora))}")
    return found
