"""Commands that train the shipped models and make the tables of the documentation.

    python -m research --help

research/README.md says which command makes which file or table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partita.cli.command import callback_of
from partita.cli.console import error_boundary
from partita.options import REPORT_JSON, SEED, SLOT_DOMAIN, SOURCE, one_of

Corpora = Annotated[
    list[Path],
    typer.Argument(
        metavar="CORPUS...",
        help="Folders of messages with keys, key files, or CoNLL-U files or folders.",
    ),
]
Test = Annotated[
    list[Path] | None,
    typer.Option("--test", metavar="CORPUS", help="Corpus to evaluate on; repeatable."),
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help=SEED.help)]
Source = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="NAME",
        callback=callback_of(SOURCE.check),
        show_default="detected",
        help=SOURCE.help,
    ),
]
Domain = Annotated[str | None, typer.Option(metavar="NAME", help=SLOT_DOMAIN.help)]
JsonReport = Annotated[bool, typer.Option("--json", help=REPORT_JSON.help)]

app = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Train the shipped models and make the tables of the documentation.",
)

tagger = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Train and test the part-of-speech tagger.",
)

Out = Annotated[Path, typer.Option(metavar="F", help="Output file, such as tagger.npz.")]
Every = Annotated[
    bool,
    typer.Option(
        "--every-genre", help="Train on all genres of GUM, including those with non-free texts."
    ),
]
Parameters = Annotated[
    Path | None, typer.Option(metavar="F", show_default="the shipped one", help="Tagger to test.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]


@tagger.command("train")
def train_the_tagger(
    corpora: Corpora,
    out: Out,
    test: Test = None,
    every_genre: Every = False,
    seed: Seed = 0,
) -> None:
    """Train a tagger from CoNLL-U and write it as one npz file.

    CORPUS is a file or a folder. Words and tags are read from the columns FORM and
    XPOS. Only the genres of GUM with free texts are used, unless --every-genre is
    given. The accuracy on the --test corpora is stored in the file.

    \b
    Example:
      python -m research tagger train ewt/train.conllu gum/train --out tagger.npz
    """
    with error_boundary() as console:
        from partita.files.writing import refuse_inputs
        from research.reading_models import learn_tagger

        refuse_inputs(out, [*corpora, *(test or ())])
        found = learn_tagger(
            corpora, out, seed, console.progress, tests=test or (), every_genre=every_genre
        )
        size = out.stat().st_size / 1e6
        console.say(f"{out}: {size:.1f} MB, {len(found.tags)} tags, {len(found.lexicon):,} words\n")
        console.say(f"trained on {found.learned_from}\n")
        for name, share in found.figures.items():
            console.say(f"{share:.4f} accuracy on {name}\n")
        console.flush()


@tagger.command("test")
def measure_tagger(corpora: Corpora, parameters: Parameters = None, json: Json = False) -> None:
    """Measure the accuracy of a tagger, also in upper and lower case.

    \b
    Examples:
      python -m research tagger test ewt/dev.conllu
      python -m research tagger test gum/dev --parameters tagger.npz --json
    """
    with error_boundary() as console:
        from research.reading_models import assess_tagger

        found = assess_tagger(corpora, parameters, console.progress)
        console.say(found.json() if json else found.text())
        console.flush()


analyser = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Train and test the analyser of English text.",
)

AnalyserOut = Annotated[Path, typer.Option("--out", metavar="F", help="Output file (npz).")]
Folds = Annotated[
    int,
    typer.Option(min=2, metavar="K", help="Parts of the data that models in training leave out."),
]
AnalyserFile = Annotated[
    Path | None, typer.Option(metavar="F", show_default="the shipped one", help="Analyser to test.")
]
Threshold = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="P",
        show_default="the analyser's",
        help="Least probability of mentions.",
    ),
]


@analyser.command("train")
def train_the_analyser(
    corpora: Corpora,
    out: AnalyserOut,
    every_genre: Every = False,
    folds: Folds = 4,
    seed: Seed = 0,
) -> None:
    """Train the tagger, parser and mention models from CoNLL-U and write them as one file.

    Trees are learned from all documents, mentions from those with CorefUD entities.
    Only the genres of GUM with free texts are used, unless --every-genre is given.

    \b
    Example:
      python -m research analyser train gum/train ewt/train.conllu --out analyser.npz
    """
    with error_boundary() as console:
        from research.reading_models import learn_analyser

        learn_analyser(corpora, out, seed, console.progress, every_genre=every_genre, folds=folds)
        console.say(f"{out}: {out.stat().st_size / 1e6:.1f} MB\n")
        console.flush()


@analyser.command("test")
def measure_the_analyser(
    corpora: Corpora,
    parameters: AnalyserFile = None,
    threshold: Threshold = None,
    json: Json = False,
) -> None:
    """Measure the analysis of raw text, also in upper and lower case.

    \b
    Examples:
      python -m research analyser test gum/dev --threshold 0.45
      python -m research analyser test gum/dev --parameters analyser.npz --json
    """
    with error_boundary() as console:
        from research.reading_models import assess_analyser

        report = assess_analyser(corpora, parameters, console.progress, threshold=threshold)
        console.say(report.json() if json else report.text())
        console.flush()


app.add_typer(tagger, name="tagger")
app.add_typer(analyser, name="analyser")

Case = Annotated[
    str,
    typer.Option(
        "--case",
        metavar="NAME",
        callback=callback_of(one_of(("as written", "upper", "lower"))),
        help="Case of the test texts: as written, upper or lower.",
    ),
]
TestCorpora = Annotated[
    list[Path], typer.Option("--test", metavar="CORPUS", help="Corpus to evaluate on; repeatable.")
]
TrainingCorpora = Annotated[
    list[Path] | None,
    typer.Argument(metavar="CORPUS...", show_default=False, help="CoNLL-U files or folders."),
]
AlsoShipped = Annotated[bool, typer.Option("--shipped", help="Also measure the shipped models.")]


@app.command()
def raw(
    test: TestCorpora,
    corpora: TrainingCorpora = None,
    source: Source = None,
    shipped: AlsoShipped = False,
    case: Case = "as written",
    json: Json = False,
    seed: Seed = 0,
) -> None:
    """Measure entities from the raw text of test corpora.

    Mentions, trees and types are predicted by an analyser trained on CORPUS and
    resolved by a joint model trained on what it finds; without CORPUS the shipped
    models are measured.

    \b
    Examples:
      python -m research raw train ewt.conllu --test dev --shipped
      python -m research raw --test dev --case upper
    """
    with error_boundary() as console:
        from research.raw import RawDesign, study_raw

        design = RawDesign(corpora or [], test, source, shipped, seed, case)
        found = study_raw(design, console.progress)
        console.say(found.json() if json else found.markdown())
        console.flush()


@app.command("panel-claims")
def panel_claims(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the claim sets.")],
) -> None:
    """Measure fused claims on the panel: public sets and simulated families.

    Prints accuracy, log loss and reliability error beside vote shares, Dawid-Skene
    and ACCU, the worst set first. Constants are chosen leaving families out.

    \b
    Example:
      python -m research panel-claims ../shared/data/claims
    """
    with error_boundary() as console:
        from research.panel_claims import panel_table

        console.say(panel_table(folder, console.progress))
        console.flush()


if __name__ == "__main__":
    app(prog_name="python -m research")
