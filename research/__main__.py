"""Commands that train the shipped models and make the tables of the documentation.

    python -m research --help

research/README.md says which command makes which file or table.
"""

from dataclasses import dataclass
from pathlib import Path

import typer

from partita.cli.command import command
from partita.cli.console import Console
from partita.files.writing import refuse_inputs
from partita.options import (
    REPORT_JSON,
    SEED,
    SOURCE,
    Option,
    Options,
    argument,
    one_of,
    option,
    optional_argument,
)

CORPORA = "Folders of messages with keys, key files, or CoNLL-U files or folders"
TEST = Option("Corpus to evaluate on; repeatable", metavar="CORPUS")
EVERY_GENRE = Option("Train on all genres of GUM, including those with non-free texts")


def group(text: str) -> typer.Typer:
    """Return a group of commands."""
    return typer.Typer(
        rich_markup_mode=None, no_args_is_help=True, pretty_exceptions_enable=False, help=text
    )


app = group("Train the shipped models and make the tables of the documentation.")
tagger = group("Train and test the part-of-speech tagger.")
analyser = group("Train and test the analyser of English text.")
app.add_typer(tagger, name="tagger")
app.add_typer(analyser, name="analyser")


@dataclass(frozen=True, kw_only=True)
class TrainTagger(Options):
    """Options of tagger train."""

    corpora: tuple[Path, ...] = argument(CORPORA, "CORPUS...")
    out: Path = option("Output file, such as tagger.npz", ...)
    test: tuple[Path, ...] = option(TEST, ())
    every_genre: bool = option(EVERY_GENRE, False)
    seed: int = option(SEED, 0)


@command(TrainTagger, "train", tagger)
def train_the_tagger(options: TrainTagger, console: Console) -> None:
    """Train a tagger from CoNLL-U and write it as one npz file.

    CORPUS is a file or a folder. Words and tags are read from the columns FORM and
    XPOS. Only the genres of GUM with free texts are used, unless --every-genre is
    given. The accuracy on the --test corpora is stored in the file.

    \b
    Example:
      python -m research tagger train ewt/train.conllu gum/train --out tagger.npz
    """
    from research.reading_models import learn_tagger

    out, tests, every = options.out, options.test, options.every_genre
    refuse_inputs(out, [*options.corpora, *tests])
    corpora, seed = options.corpora, options.seed
    found = learn_tagger(corpora, out, seed, console.progress, tests=tests, every_genre=every)
    size = out.stat().st_size / 1e6
    console.say(f"{out}: {size:.1f} MB, {len(found.tags)} tags, {len(found.lexicon):,} words\n")
    console.say(f"trained on {found.learned_from}\n")
    for name, share in found.figures.items():
        console.say(f"{share:.4f} accuracy on {name}\n")


@dataclass(frozen=True, kw_only=True)
class TestTagger(Options):
    """Options of tagger test."""

    corpora: tuple[Path, ...] = argument(CORPORA, "CORPUS...")
    parameters: Path | None = option("Tagger to test", shown="the shipped one")
    json: bool = option(REPORT_JSON, False)


@command(TestTagger, "test", tagger)
def measure_tagger(options: TestTagger, console: Console) -> None:
    """Measure the accuracy of a tagger, also in upper and lower case.

    \b
    Examples:
      python -m research tagger test ewt/dev.conllu
      python -m research tagger test gum/dev --parameters tagger.npz --json
    """
    from research.reading_models import assess_tagger

    found = assess_tagger(options.corpora, options.parameters, console.progress)
    console.say(found.json() if options.json else found.text())


@dataclass(frozen=True, kw_only=True)
class TrainAnalyser(Options):
    """Options of analyser train."""

    corpora: tuple[Path, ...] = argument(CORPORA, "CORPUS...")
    out: Path = option("Output file (npz)", ...)
    every_genre: bool = option(EVERY_GENRE, False)
    folds: int = option(
        "Parts of the data that models in training leave out", 4, metavar="K", min=2
    )
    seed: int = option(SEED, 0)


@command(TrainAnalyser, "train", analyser)
def train_the_analyser(options: TrainAnalyser, console: Console) -> None:
    """Train the tagger, parser and mention models from CoNLL-U and write them as one file.

    Trees are learned from all documents, mentions from those with CorefUD entities.
    Only the genres of GUM with free texts are used, unless --every-genre is given.

    \b
    Example:
      python -m research analyser train gum/train ewt/train.conllu --out analyser.npz
    """
    from research.reading_models import learn_analyser

    out, seed, every = options.out, options.seed, options.every_genre
    learn_analyser(
        options.corpora, out, seed, console.progress, every_genre=every, folds=options.folds
    )
    console.say(f"{out}: {out.stat().st_size / 1e6:.1f} MB\n")


@dataclass(frozen=True, kw_only=True)
class TestAnalyser(TestTagger):
    """Options of analyser test."""

    parameters: Path | None = option("Analyser to test", shown="the shipped one")
    threshold: float | None = option(
        "Least probability of mentions", metavar="P", min=0, max=1, shown="the analyser's"
    )


@command(TestAnalyser, "test", analyser)
def measure_the_analyser(options: TestAnalyser, console: Console) -> None:
    """Measure the analysis of raw text, also in upper and lower case.

    \b
    Examples:
      python -m research analyser test gum/dev --threshold 0.45
      python -m research analyser test gum/dev --parameters analyser.npz --json
    """
    from research.reading_models import assess_analyser

    given, least = options.parameters, options.threshold
    report = assess_analyser(options.corpora, given, console.progress, threshold=least)
    console.say(report.json() if options.json else report.text())


@dataclass(frozen=True, kw_only=True)
class RawCommand(Options):
    """Options of raw."""

    corpora: tuple[Path, ...] = optional_argument("CoNLL-U files or folders", "[CORPUS]...", ())
    test: tuple[Path, ...] = option(TEST, ...)
    source: str | None = option(SOURCE)
    shipped: bool = option("Also measure the shipped models", False)
    case: str = option(
        "Case of the test texts: as written, upper or lower",
        "as written",
        metavar="NAME",
        check=one_of(("as written", "upper", "lower")),
    )
    json: bool = option(REPORT_JSON, False)
    seed: int = option(SEED, 0)


@command(RawCommand, app=app)
def raw(options: RawCommand, console: Console) -> None:
    """Measure entities from the raw text of test corpora.

    Mentions, trees and types are predicted by an analyser trained on CORPUS and
    resolved by a joint model trained on what it finds; without CORPUS the shipped
    models are measured.

    \b
    Examples:
      python -m research raw train ewt.conllu --test dev --shipped
      python -m research raw --test dev --case upper
    """
    from research.raw import RawDesign, study_raw

    given = (options.corpora, options.test, options.source)
    design = RawDesign(*given, options.shipped, options.seed, options.case)
    found = study_raw(design, console.progress)
    console.say(found.json() if options.json else found.markdown())


@dataclass(frozen=True, kw_only=True)
class PanelClaims(Options):
    """Options of panel-claims."""

    folder: Path = argument("Folder of the claim sets", "FOLDER")


@command(PanelClaims, "panel-claims", app)
def panel_claims(options: PanelClaims, console: Console) -> None:
    """Measure fused claims on the panel: public sets and simulated families.

    Prints accuracy, log loss and reliability error beside vote shares, Dawid-Skene
    and ACCU, the worst set first. Constants are chosen leaving families out.

    \b
    Example:
      python -m research panel-claims ../shared/data/claims
    """
    from research.panel_claims import panel_table

    console.say(panel_table(options.folder, console.progress))


if __name__ == "__main__":
    app(prog_name="python -m research")
