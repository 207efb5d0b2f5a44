"""Write the tables of measured figures in the documentation. Run by `make figures`.

    PYTHONPATH=. python scripts/figures.py [--slow] [--only NAME]

A page has a table between `<!-- figures: NAME -->` and `<!-- /figures -->`. FIGURES maps each name
to the function that makes the table, mostly from what a command of Partita prints. Quick figures
take a few seconds, and a test compares them with the pages; slow ones take up to an hour. A figure
whose data are not in `../shared/data` (or the folder that PARTITA_DATA names) stays as it is.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, combinations, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import partita
from partita.antecedents.sets import coreference_sets
from partita.app.authoring import measure_corpus
from partita.core import CoreferenceSet, Document, Message, Region
from partita.corpora.documents import corefud_files, corpus_path, read_keyed_messages
from partita.domains import find_domain
from partita.evaluation.extraction import ExtractionFigures
from partita.evaluation.rows import table
from partita.evaluation.scores import ScoreTally
from partita.text.conllu import layout_text, sentences
from partita.text.tokens import tokenize
from research.label_curve import label_curve
from research.reading_models import assess_tagger

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("PARTITA_DATA", ROOT.parent / "shared" / "data"))
BLOCK = re.compile(
    r"^(<!-- figures: (\S+) -->\n)(.*?)^(<!-- /figures -->)$", re.DOTALL | re.MULTILINE
)

OF_RESEARCH = ("raw",)
RAW = "raw --from corefud --test {data}/gum/dev"
RAW_LEARNED = "raw --from corefud {data}/gum/train {data}/ewt/train.conllu --test {data}/gum/dev"
EXAM = "{data}/muc4/tst3/key-tst3.v2"

PARTS = {"dev": "seen by rule authors", "msg": "not seen", "new": "written after the rules"}
FORMS = ("indefinite", "definite", "bare", "pronoun", "name")
FEWEST = 5  # values that a slot has in the keys if the table lists it
# The paper's Table 1 and the probabilities that it prints for its two models.
PAIRS = {
    ("A", "B"): 0.671, ("A", "C"): 0.0, ("A", "D"): 0.505,
    ("B", "C"): 0.0, ("B", "D"): 0.752, ("C", "D"): 0.504,
}  # fmt: skip
PRINTED = {
    "(A B D) (C)": (0.383, 0.250), "(A B) (C D)": (0.184, 0.338), "(A B) (C) (D)": (0.123, 0.083),
    "(A D) (B) (C)": (0.062, 0.020), "(B D) (A) (C)": (0.125, 0.123),
    "(C D) (A) (B)": (0.061, 0.166), "(A) (B) (C) (D)": (0.061, 0.020),
}  # fmt: skip


class Unavailable(Exception):
    """Data that a figure needs are missing."""


@dataclass(frozen=True, slots=True)
class Figure:
    """How a table is made, whether in a few seconds, and the folders of data that it needs."""

    make: Callable[[], str]
    quick: bool = False
    needs: tuple[str, ...] = ()

    def markdown(self) -> str:
        for folder in self.needs:
            if not (DATA / folder).exists():
                raise Unavailable(f"needs {DATA / folder}")
        return self.make()


@cache
def printed(command: str) -> str:
    """Return what a command of Partita prints, or one of `python -m research`."""
    words = [word.format(data=DATA, corpus=corpus_path()) for word in shlex.split(command)]
    return _output(["-m", "research" if words[0] in OF_RESEARCH else "partita", *words])


@cache
def benchmark(name: str) -> str:
    """Return what a benchmark prints."""
    return _output([str(ROOT / "benchmarks" / f"{name}.py")])


@cache
def script(command: str) -> str:
    """Return the table that a module of research prints."""
    name, *words = (word.format(data=DATA) for word in shlex.split(command))
    return tables(_output(["-m", f"research.{name}", *words]))[0]


def _output(arguments: Sequence[str]) -> str:
    folders = ("src", "tests", "packages/partita-incidents/src")
    paths = os.pathsep.join(str(ROOT / folder) for folder in folders)
    settings = {"PYTHONPATH": paths, "PYTHONUTF8": "1", "COLUMNS": "80", "PARTITA_DATA": str(DATA)}
    run = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return run.stdout


def tables(markdown: str) -> list[str]:
    return [found.rstrip("\n") for found in re.findall(r"(?:^\|.*\n?)+", markdown, re.MULTILINE)]


def rows(markdown: str) -> list[list[str]]:
    """Return the cells of a table, its header first."""
    lines = [line.strip("|").split("|") for line in markdown.splitlines()]
    return [[cell.strip() for cell in line] for line in lines if set("".join(line)) - set("- ")]


def table_of(command: str, number: int) -> str:
    """Return one of the tables that a command prints."""
    return tables(printed(command))[number]


def share(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}f}".removeprefix("0")


def percent(*values: float) -> list[str]:
    return [f"{100 * value:.1f}" for value in values]


# The corpus of depots


@cache
def corpus() -> dict[str, list[tuple[Document, tuple[CoreferenceSet, ...]]]]:
    """Return the documents of each part with their coreference sets."""
    schema = find_domain("depots").schema
    parts: dict[str, list[tuple[Document, tuple[CoreferenceSet, ...]]]] = {n: [] for n in PARTS}
    for document in read_keyed_messages(corpus_path()):
        sets = coreference_sets(document.templates, schema)
        parts[document.name.partition("-")[0]].append((document, sets))
    return parts


def corpus_counts() -> str:
    columns = {name: _counts(part) for name, part in corpus().items()}
    total = [sum(numbers) for numbers in zip(*columns.values(), strict=True)]
    names = ("messages", "templates", "coreference sets", "compatible pairs", "of them coreferring")
    paper = ("", "", "132", "647", "")
    lines = zip(
        names, *(map(str, c) for c in columns.values()), map(str, total), paper, strict=True
    )
    return _blank(["", *columns, "all", "the paper's"], [list(line) for line in lines])


def _counts(part: Sequence[tuple[Document, tuple[CoreferenceSet, ...]]]) -> list[int]:
    sets = [found for _, of_document in part for found in of_document]
    return [
        len(part),
        sum(len(document.templates) for document, _ in part),
        len(sets),
        sum(len(found) * (len(found) - 1) // 2 - len(found.incompatible) for found in sets),
        sum(_coreferring(document, of_document) for document, of_document in part),
    ]


def _coreferring(document: Document, sets: Iterable[CoreferenceSet]) -> int:
    """Count the pairs of sets that are compatible and in one cell of the key."""
    same = {frozenset(pair) for cell in document.key for pair in combinations(cell, 2)}
    apart = {frozenset(pair) for found in sets for pair in found.incompatible}
    pairs = {frozenset(pair) for found in sets for pair in combinations(found.ids, 2)}
    return len((pairs & same) - apart)


def corpus_sizes() -> str:
    sizes = {
        name: Counter(min(len(found), 10) for _, sets in part for found in sets)
        for name, part in corpus().items()
    }
    lines = []
    largest = max(len(found) for part in corpus().values() for _, sets in part for found in sets)
    for size in range(2, 11):
        counts = [of_part[size] for of_part in sizes.values()]
        name = f"10 to {largest}" if size == 10 else str(size)
        lines.append([name, *map(str, counts), str(sum(counts))])
    return table(["members", *sizes, "all"], lines)


@cache
def extraction(only: str = "") -> ExtractionFigures:
    return measure_corpus(corpus_path(), "depots", only)


def corpus_extraction() -> str:
    parts = extraction().group("part")
    lines = []
    for name, who in PARTS.items():
        templates, slots = parts[name].templates, parts[name].slots
        lines.append([f"{name} ({who})", *_tally(templates), *_tally(slots)])
    measures = ("recall", "precision", "F")
    return _blank(["", "templates", *measures, "slots", *measures], lines)


def _tally(tally: ScoreTally) -> list[str]:
    return [f"{tally.wanted:.0f}", *percent(tally.recall, tally.precision, tally.f)]


def corpus_forms() -> str:
    forms = extraction("new-").group("form")
    lines = [[name, *_tally(forms[name].templates)[:3]] for name in FORMS]
    return table(["form", "templates", "recall", "precision"], lines)


def corpus_slots() -> str:
    slots = {name: counted.slots for name, counted in extraction("new-").group("slot").items()}
    lines = [[f"`{n}`", *_tally(slot)[:3]] for n, slot in slots.items() if slot.wanted >= FEWEST]
    return table(["slot", "in keys", "recall", "precision"], lines)


def statements() -> str:
    folder = Path(__file__).parents[1] / "tests" / "domains" / "statements"
    measured = measure_corpus(folder, "depots")
    statuses, everything = measured.statuses, measured.of("all")
    assert statuses is not None
    lines = [
        ["denied values stated as facts", f"{statuses.stated}"],
        ["denied values found", f"{statuses.denials.found:.0f} of {statuses.denials.wanted:.0f}"],
        ["possible or reported values, status right", f"{statuses.weak_right} of {statuses.weak}"],
        ["all values, status right", f"{statuses.right} of {statuses.values}"],
        ["templates, recall", percent(everything.templates.recall)[0]],
        ["templates, precision", percent(everything.templates.precision)[0]],
        ["slots, recall", percent(everything.slots.recall)[0]],
        ["slots, precision", percent(everything.slots.precision)[0]],
    ]
    return _blank(["60 messages", ""], lines)


def events() -> str:
    measured = measure_corpus(Path(__file__).parents[1] / "tests" / "domains" / "events", "depots")
    lines = []
    for part, name in (("event", "20 before the rules"), ("later", "10 after them")):
        counts = measured.of("part", part)
        scores = [counts.templates.recall, counts.templates.precision]
        scores += [counts.slots.recall, counts.slots.precision]
        lines.append([name, *(percent(score)[0] for score in scores)])
    header = ["messages", "templates, recall", "precision", "slots, recall", "precision"]
    return table(header, lines)


def _blank(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Make a table in which an empty cell has one space."""
    return re.sub(r"\|  (?=\|)", "| ", table(header, lines))


# The worked example, the tagger, the groups of english


def worked_example() -> str:
    models = [_configurations(model) for model in ("evidential", "merging")]
    lines = []
    for name, paper in PRINTED.items():
        line = [name]
        for model, value in zip(models, paper, strict=True):
            mark = "**" if abs(model[_cells(name)] - value) > 0.01 else ""
            line += [
                f"{mark}{share(n, d)}{mark}" for n, d in ((model[_cells(name)], 4), (value, 3))
            ]
        lines.append(line)
    heads = ("evidential", "the paper prints", "merging decision", "the paper prints")
    return table(["configuration", *heads], lines)


def _configurations(model: str) -> dict[frozenset[str], float]:
    distribution = partita.solve([(*pair, p) for pair, p in PAIRS.items()], model=model)
    return {_cells(str(c.configuration)): c.probability for c in distribution.configurations}


def _cells(configuration: str) -> frozenset[str]:
    return frozenset(re.findall(r"\((.*?)\)", configuration))


def token_scores(path: Path, upper: bool = False) -> tuple[float, float]:
    """Return F1 of tokens and of sentence ends against a treebank; a paragraph is a region."""
    gold: set[tuple[int, int]] = set()
    ends, starts, pieces, length = set(), [0], [], 0
    for sentence in chain.from_iterable(map(sentences, corefud_files(path))):
        if any(name.startswith(("newpar", "newdoc")) for name in sentence.comments):
            starts.append(length)
        text, spans = layout_text(sentence, length)
        gold.update(span for span in spans if span[0] < span[1])
        pieces.append(_same_length_upper(text) if upper else text)
        ends.add(length + len(text))
        length += len(text) + 1
    places = [pair for pair in pairwise([*starts, length]) if pair[0] < pair[1]]
    regions = tuple(Region("text", start, end - 1) for start, end in places)
    found = tokenize(Message("m", " ".join(pieces), regions))
    spans_found = set(zip(found.starts, found.ends, strict=True))
    return _f1(spans_found, gold), _f1({found.ends[n - 1] for n in found.ends_of_sentences}, ends)


def _same_length_upper(text: str) -> str:
    return "".join(char.upper() if len(char.upper()) == 1 else char for char in text)


def _f1(found: Set[object], gold: Set[object]) -> float:
    return 2 * len(found & gold) / (len(found) + len(gold))


def token_accuracy() -> str:
    lines = []
    for name, path in (("GUM dev", "gum/dev"), ("EWT dev", "ewt/dev.conllu")):
        scores = token_scores(DATA / path), token_scores(DATA / path, upper=True)
        (tokens, ends), (_, ends_in_upper) = scores
        lines.append([name, *map(share, (tokens, ends, ends_in_upper))])
    return table(["against", "tokens, F1", "sentence ends, F1", "in upper case"], lines)


def tagger_accuracy() -> str:
    lines = []
    for name, path in (("EWT dev", "ewt/dev.conllu"), ("GUM dev, all genres", "gum/dev")):
        as_is, upper, lower = assess_tagger([DATA / path]).cases.values()
        accuracies = [one.accuracy for one in (as_is, upper, lower)]
        unknown = [one.unknown_accuracy for one in (as_is, upper)]
        words = f"{as_is.words:,}"
        lines.append([name, words, *(share(value, 4) for value in (*accuracies, *unknown))])
    cases = ("as it is", "upper case", "lower case")
    return _blank(["", "words", *cases, "unknown, as it is", "unknown, upper case"], lines)


# Systems of the MUC-4 exam


def _responses() -> str:
    return shlex.join(map(str, sorted((DATA / "muc4/tst3-systems/responses").glob("*.txt"))))


@cache
def exam_tables() -> list[str]:
    """Return the scores of our answers to TST3 beside those of 1992: systems, slots."""
    with TemporaryDirectory() as folder:
        ours = shlex.quote(str(Path(folder) / "ours.txt"))
        printed(f"run {{data}}/muc4/tst3/tst3-muc4 --domain incidents --to muc --out {ours}")
        return tables(printed(f"score-muc {EXAM} {ours} {_responses()}"))


def exam_systems() -> str:
    return exam_tables()[0].replace("| ours |", "| **ours** |")


def exam_slots() -> str:
    """Return the slots in which at least one system scores."""
    header, *lines = rows(exam_tables()[1])
    return table(header, [line for line in lines if not line[4].startswith("0.0 ")])


# Sources that contradict each other


def fused_claims() -> str:
    (found,) = tables(benchmark("bench_fusion"))
    if "not installed" in found:
        raise Unavailable("needs crowd-kit: pip install 'partita[bench]'")
    header, *lines = rows(found)
    return _blank(header, lines)


def fused_things() -> str:
    """Return the second table: with coordinates and sizes."""
    header, *lines = rows(tables(benchmark("bench_across"))[1])
    return _blank(header, lines)


RESTAURANTS = DATA / "records" / "restaurant-nophone-training.csv"
FIGURES = {
    "corpus-counts": Figure(corpus_counts, quick=True),
    "corpus-sizes": Figure(corpus_sizes, quick=True),
    "corpus-extraction": Figure(corpus_extraction, quick=True),
    "corpus-forms": Figure(corpus_forms, quick=True),
    "statements": Figure(statements, quick=True),
    "events": Figure(events, quick=True),
    "corpus-slots": Figure(corpus_slots, quick=True),
    "worked-example": Figure(worked_example, quick=True),
    "token-accuracy": Figure(token_accuracy, quick=True, needs=("ewt", "gum")),
    "tagger-accuracy": Figure(tagger_accuracy, quick=True, needs=("ewt", "gum")),
    "gum-joint": Figure(
        partial(script, "measure_joint --train {data}/gum/train --gum {data}/gum/dev"),
        needs=("gum",),
    ),
    "raw-text": Figure(partial(table_of, RAW, 0), needs=("gum",)),
    "raw-text-learned": Figure(partial(table_of, RAW_LEARNED, 0), needs=("ewt", "gum")),
    "raw-text-by-genre": Figure(partial(table_of, RAW, 1), needs=("gum",)),
    "raw-text-upper": Figure(partial(table_of, f"{RAW} --case upper", 0), needs=("gum",)),
    "exam-systems": Figure(exam_systems, needs=("muc4",)),
    "exam-slots": Figure(exam_slots, needs=("muc4",)),
    "fused-claims": Figure(fused_claims, needs=("claims",)),
    "fused-things": Figure(fused_things),
    "label-curve": Figure(partial(label_curve, RESTAURANTS, "unique_id"), needs=("records",)),
    "records": Figure(partial(script, "measure_forest {data}/records"), needs=("records",)),
}


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks() -> dict[str, str]:
    """Return what the pages have between the marks, by the name of the figure."""
    texts = (page.read_text(encoding="utf-8") for page in pages())
    return {match[2]: match[3].strip("\n") for text in texts for match in BLOCK.finditer(text)}


def write(figures: Mapping[str, str]) -> None:
    """Replace the blocks of these figures on all pages."""

    def filled(match: re.Match[str]) -> str:
        name = match[2]
        return f"{match[1]}\n{figures[name]}\n\n{match[4]}" if name in figures else match[0]

    for page in pages():
        text = page.read_text(encoding="utf-8")
        new = BLOCK.sub(filled, text)
        if new != text:
            page.write_text(new, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--slow", action="store_true", help="also make the slow figures")
    parser.add_argument("--only", metavar="NAME", action="append", choices=FIGURES,
                        help="make only this figure; repeatable")  # fmt: skip
    options = parser.parse_args()
    for name, figure in FIGURES.items():
        if name in options.only if options.only else figure.quick or options.slow:
            _make(name, figure)


def _make(name: str, figure: Figure) -> None:
    """Write one figure, and print what was done."""
    print(f"{name}: ", end="", flush=True)
    try:
        write({name: figure.markdown()})
        print("written")
    except Unavailable as reason:
        print(f"left as it is ({reason})")
    except subprocess.CalledProcessError as error:
        sys.exit(f"{shlex.join(error.cmd)} failed:\n{error.stderr}")


if __name__ == "__main__":
    main()
