"""The commands for people who write domains: partita rules lint, trace, test."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partita.commands import options
from partita.commands.shell import edge

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
        from partita.views.lint import lint_text
        from partita.workspace.rules import lint_domain

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
        from partita.workspace.rules import trace_file

        traced = trace_file(file, domain, phase)
        if html is None:
            from partita.views.trace import trace_text

            for one in traced:
                console.say(trace_text(one.message, one.seen, console.width))
        else:
            from partita.formats.atomic import write_atomically
            from partita.views.trace_html import trace_html

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
        from partita.views.extraction import extraction_json, extraction_text
        from partita.workspace.rules import measure_corpus

        measured = measure_corpus(corpus, domain, only)
        if json:
            from json import dumps

            console.say(dumps(extraction_json(measured, errors), ensure_ascii=False) + "\n")
        else:
            console.say(extraction_text(measured, errors, console.width))
        console.flush()
