"""The commands rules and tagger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partita.cli import options
from partita.cli.console import edge

rules = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="For people who write domains: check the rules, see what they do.",
)

Domains = Annotated[
    list[str], typer.Argument(metavar="DOMAIN...", help="A folder, or the name of a shipped one.")
]
File = Annotated[str, typer.Argument(metavar="FILE", help="A file of messages; - is stdin.")]
Domain = Annotated[str, typer.Option(metavar="D", help="A folder, or the name of a shipped one.")]
Html = Annotated[
    Path | None, typer.Option("--html", metavar="F", help="Write one HTML file instead.")
]
Phase = Annotated[str, typer.Option(metavar="NAME", help="Show this phase only.")]

Corpus = Annotated[
    Path, typer.Argument(metavar="CORPUS", help="A folder of messages, *.txt, with keys.jsonl.")
]
Only = Annotated[
    str, typer.Option(metavar="NAME", help="Messages whose names begin so, and no others.")
]
Errors = Annotated[int, typer.Option(metavar="N", min=0, help="List so many errors.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(rules, name="rules")


@rules.command()
def lint(domains: Domains) -> None:
    """Says what is wrong with domains, or might be, with file, line and column.

    Sorts and slots that nobody declares, attributes and kinds that no phase
    makes, rules that never win, macros that are not used, patterns that are
    slow, examples that do not match. The exit code is 1 if there is an error.

    \b
    Examples:
      partita rules lint depots
      partita rules lint my-domain
    """
    failed = False
    with edge() as console:
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
    """Shows what each phase saw in a file's messages, and which rule won.

    \b
    Examples:
      partita rules trace message.txt
      partita rules trace message.txt --domain my-domain --html trace.html
      echo "A depot was found in Kinston." | partita rules trace - --phase groups
    """
    with edge() as console:
        from partita.app.authoring import trace_file

        traced = trace_file(file, domain, phase)
        if html is None:
            from partita.views.rules import trace_text

            for one in traced:
                console.say(trace_text(one.message, one.seen, console.width))
        else:
            from partita.files.writing import write_atomically
            from partita.views.rules import trace_html

            told = [(one.message, one.seen) for one in traced]
            write_atomically(html, trace_html(told, f"{file} through {domain}"))
            console.note(f"{html} shows what each phase saw")
        console.flush()


@rules.command("test")
def measure(
    corpus: Corpus,
    domain: Domain = "depots",
    only: Only = "",
    errors: Errors = 0,
    json: options.JsonReport = False,
) -> None:
    """Recall and precision of templates and slots, against keys.

    A template is found if one has the same head word; a slot is right if
    it holds an equal value. Of the others, less and more count those whose
    value is compatible with the key's and says less or more than that.

    \b
    Examples:
      partita rules test corpus --domain my-domain
      partita rules test corpus --only new- --errors 40
    """
    with edge() as console:
        from partita.app.authoring import measure_corpus
        from partita.views.extraction import extraction_json, extraction_text

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
    help="The part-of-speech tagger: learn it, measure it.",
)

Out = Annotated[
    Path, typer.Option(metavar="F", help="Where the tagger is written, such as tagger.npz.")
]
Every = Annotated[
    bool,
    typer.Option(
        "--every-genre", help="Learn from all genres of GUM, also those whose texts are not free."
    ),
]
Parameters = Annotated[
    Path | None, typer.Option(metavar="F", help="The tagger to measure; without it, the shipped.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]


def add_tagger(app: typer.Typer) -> None:
    app.add_typer(tagger, name="tagger")


@tagger.command()
def train(
    corpora: options.Corpora,
    out: Out,
    test: options.Test = None,
    every_genre: Every = False,
    seed: options.Seed = 0,
) -> None:
    """Learns a tagger from CoNLL-U and writes it as one npz file.

    CORPUS is a file or a folder; words and their tags are the columns FORM and
    XPOS. Of GUM only the genres with free texts are taken, unless --every-genre.
    How much is right on the corpora to --test on is written into the file.

    \b
    Example:
      partita tagger train ewt/train.conllu gum/train --out tagger.npz
    """
    with edge() as console:
        from partita.app.authoring import learn_tagger

        found = learn_tagger(
            corpora, out, seed, console.progress, tests=test or (), every_genre=every_genre
        )
        size = out.stat().st_size / 1e6
        console.say(f"{out}: {size:.1f} MB, {len(found.tags)} tags, {len(found.lexicon):,} words\n")
        console.say(f"learned from {found.learned_from}\n")
        for name, share in found.figures.items():
            console.say(f"{share:.4f} right on {name}\n")
        console.flush()


@tagger.command("test")
def measure_tagger(
    corpora: options.Corpora, parameters: Parameters = None, json: Json = False
) -> None:
    """Measures a tagger: as the corpus is, in upper and in lower case.

    \b
    Examples:
      partita tagger test ewt/dev.conllu
      partita tagger test gum/dev --parameters tagger.npz --json
    """
    with edge() as console:
        from partita.app.authoring import assess_tagger

        found = assess_tagger(corpora, parameters, console.progress)
        console.say(found.json() if json else found.text())
        console.flush()
