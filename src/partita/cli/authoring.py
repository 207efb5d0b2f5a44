"""The command rules."""

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
