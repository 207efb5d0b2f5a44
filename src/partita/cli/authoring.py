"""The commands rules, tagger and analyser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partita.cli import options
from partita.cli.console import error_boundary

rules = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Check, trace and test the rules of a domain.",
)

Domains = Annotated[
    list[str], typer.Argument(metavar="DOMAIN...", help="Name of a domain, or a folder of rules.")
]
File = Annotated[
    str, typer.Argument(metavar="FILE", help="File of messages; - reads standard input.")
]
Domain = Annotated[str, typer.Option(metavar="D", help="Name of a domain, or a folder of rules.")]
CorpusDomain = Annotated[
    str | None,
    typer.Option(
        "--domain",
        metavar="D",
        show_default="that of the corpus' folder, else depots",
        help="Name of a domain, or a folder of rules.",
    ),
]
Html = Annotated[
    Path | None, typer.Option("--html", metavar="F", help="Write the trace as one HTML file.")
]
Phase = Annotated[str, typer.Option(metavar="NAME", help="Show only this phase.")]

Corpus = Annotated[
    Path, typer.Argument(metavar="CORPUS", help="Folder of messages (*.txt) with keys.jsonl.")
]
Only = Annotated[
    str, typer.Option(metavar="NAME", help="Use only messages whose names start with NAME.")
]
Errors = Annotated[int, typer.Option(metavar="N", min=0, help="Number of errors to list.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(rules, name="rules")
    app.add_typer(tagger, name="tagger")
    app.add_typer(analyser, name="analyser")


@rules.command()
def lint(domains: Domains) -> None:
    """Report problems in domains, with file, line and column.

    Problems are undeclared types and slots, attributes and kinds that no phase
    produces, rules that never win, unused macros, slow patterns, and examples that
    do not match. The exit code is 1 if there is an error.

    \b
    Examples:
      partita rules lint depots
      partita rules lint my-domain
    """
    failed = False
    with error_boundary() as console:
        from partita.app.authoring import lint_domain
        from partita.views.rules import lint_text

        for name in domains:
            problems = lint_domain(name)
            failed = failed or any(problem.error for problem in problems)
            console.say(lint_text(name, problems))
        console.flush()
    if failed:
        raise typer.Exit(1)


@rules.command()
def trace(file: File, domain: Domain = "depots", html: Html = None, phase: Phase = "") -> None:
    """Show what each phase saw in the messages of a file, and which rule won.

    \b
    Examples:
      partita rules trace message.txt
      partita rules trace message.txt --domain my-domain --html trace.html
      echo "A depot was found in Kinston." | partita rules trace - --phase groups
    """
    with error_boundary() as console:
        from partita.app.authoring import trace_file

        traced = trace_file(file, domain, phase)
        if html is None:
            from partita.views.rules import trace_text

            for one in traced:
                console.say(trace_text(one.message, one.seen, console.width))
        else:
            from partita.files.writing import refuse_inputs, write_atomically
            from partita.views.rules import trace_html

            refuse_inputs(html, [file])
            told = [(one.message, one.seen) for one in traced]
            write_atomically(html, trace_html(told, f"{file} through {domain}"))
            console.note(f"{html} shows what each phase saw")
        console.flush()


@rules.command("test")
def measure(
    corpus: Corpus,
    domain: CorpusDomain = None,
    only: Only = "",
    errors: Errors = 0,
    json: options.JsonReport = False,
) -> None:
    """Measure recall and precision of templates and slots against keys.

    A template matches if its head word is the same. A slot is correct if its value
    is equal. The columns less and more count values that are compatible with the
    key's but less or more specific.

    \b
    Examples:
      partita rules test corpus --domain my-domain
      partita rules test corpus --only new- --errors 40
    """
    with error_boundary() as console:
        from partita.app.authoring import measure_corpus
        from partita.views.evaluation import extraction_json, extraction_text

        measured = measure_corpus(corpus, domain, only)
        if json:
            from json import dumps

            console.say(dumps(extraction_json(measured, errors), ensure_ascii=False) + "\n")
        else:
            console.say(extraction_text(measured, errors, console.width))
        console.flush()


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


@tagger.command()
def train(
    corpora: options.Corpora,
    out: Out,
    test: options.Test = None,
    every_genre: Every = False,
    seed: options.Seed = 0,
) -> None:
    """Train a tagger from CoNLL-U and write it as one npz file.

    CORPUS is a file or a folder. Words and tags are read from the columns FORM and
    XPOS. Only the genres of GUM with free texts are used, unless --every-genre is
    given. The accuracy on the --test corpora is stored in the file.

    \b
    Example:
      partita tagger train ewt/train.conllu gum/train --out tagger.npz
    """
    with error_boundary() as console:
        from partita.app.authoring import learn_tagger
        from partita.files.writing import refuse_inputs

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
def measure_tagger(
    corpora: options.Corpora, parameters: Parameters = None, json: Json = False
) -> None:
    """Measure the accuracy of a tagger, also in upper and lower case.

    \b
    Examples:
      partita tagger test ewt/dev.conllu
      partita tagger test gum/dev --parameters tagger.npz --json
    """
    with error_boundary() as console:
        from partita.app.authoring import assess_tagger

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
    corpora: options.Corpora,
    out: AnalyserOut,
    every_genre: Every = False,
    folds: Folds = 4,
    seed: options.Seed = 0,
) -> None:
    """Train the tagger, parser and mention models from CoNLL-U and write them as one file.

    Trees are learned from all documents, mentions from those with CorefUD entities.
    Only the genres of GUM with free texts are used, unless --every-genre is given.

    \b
    Example:
      partita analyser train gum/train ewt/train.conllu --out analyser.npz
    """
    with error_boundary() as console:
        from partita.app.authoring import learn_analyser

        learn_analyser(corpora, out, seed, console.progress, every_genre=every_genre, folds=folds)
        console.say(f"{out}: {out.stat().st_size / 1e6:.1f} MB\n")
        console.flush()


@analyser.command("test")
def measure_the_analyser(
    corpora: options.Corpora,
    parameters: AnalyserFile = None,
    threshold: Threshold = None,
    json: Json = False,
) -> None:
    """Measure the analysis of raw text, also in upper and lower case.

    \b
    Examples:
      partita analyser test gum/dev --threshold 0.45
      partita analyser test gum/dev --parameters analyser.npz --json
    """
    with error_boundary() as console:
        from partita.app.authoring import assess_analyser

        report = assess_analyser(corpora, parameters, console.progress, threshold=threshold)
        console.say(report.json() if json else report.text())
        console.flush()
