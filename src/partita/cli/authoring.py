"""The command rules."""

from dataclasses import dataclass
from pathlib import Path

import typer

from partita.cli.command import command, root
from partita.cli.console import Console
from partita.options import DOMAIN, REPORT_JSON, Options, argument, option

rules = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Check, trace and test the rules of a domain.",
)
root.add_typer(rules, name="rules")


@dataclass(frozen=True, kw_only=True)
class LintCommand(Options):
    """Options of rules lint."""

    domains: tuple[str, ...] = argument("Name of a domain, or a folder of rules", "DOMAIN...")


@dataclass(frozen=True, kw_only=True)
class TraceCommand(Options):
    """Options of rules trace."""

    file: str = argument("File of messages; - reads standard input", "FILE")
    domain: str = option(DOMAIN, "depots")
    html: Path | None = option("Write the trace as one HTML file")
    phase: str = option("Show only this phase", "", metavar="NAME")


@dataclass(frozen=True, kw_only=True)
class RulesTestCommand(Options):
    """Options of rules test."""

    corpus: Path = argument("Folder of messages (*.txt) with keys.jsonl", "CORPUS")
    domain: str | None = option(
        "Name of a domain, or a folder of rules",
        metavar="D",
        shown="that of the corpus' folder, else depots",
    )
    only: str = option("Use only messages whose names start with NAME", "", metavar="NAME")
    errors: int = option("Number of errors to list", 0, metavar="N", min=0)
    json: bool = option(REPORT_JSON, False)


@command(LintCommand, app=rules)
def lint(options: LintCommand, console: Console) -> None:
    """Report problems in domains, with file, line and column.

    Problems are undeclared types and slots, attributes and kinds that no phase
    produces, rules that never win, unused macros, slow patterns, and examples that
    do not match. The exit code is 1 if there is an error.

    \b
    Examples:
      partita rules lint depots
      partita rules lint my-domain
    """
    from partita.app.authoring import lint_domain
    from partita.views.rules import lint_text

    failed = False
    for name in options.domains:
        problems = lint_domain(name)
        failed = failed or any(problem.error for problem in problems)
        console.say(lint_text(name, problems))
    if failed:
        console.flush()
        raise typer.Exit(1)


@command(TraceCommand, app=rules)
def trace(options: TraceCommand, console: Console) -> None:
    """Show what each phase saw in the messages of a file, and which rule won.

    \b
    Examples:
      partita rules trace message.txt
      partita rules trace message.txt --domain my-domain --html trace.html
      echo "A depot was found in Kinston." | partita rules trace - --phase groups
    """
    from partita.app.authoring import trace_file

    file, html = options.file, options.html
    traced = trace_file(file, options.domain, options.phase)
    if html is None:
        from partita.views.rules import trace_text

        for one in traced:
            console.say(trace_text(one.message, one.seen, console.width))
        return
    from partita.files.writing import refuse_inputs, write_atomically
    from partita.views.rules import trace_html

    refuse_inputs(html, [file])
    seen = [(one.message, one.seen) for one in traced]
    write_atomically(html, trace_html(seen, f"{file} through {options.domain}"))
    console.note(f"{html} shows what each phase saw")


@command(RulesTestCommand, "test", rules)
def measure(options: RulesTestCommand, console: Console) -> None:
    """Measure recall and precision of templates and slots against keys.

    A template matches if its head word is the same. A slot is correct if its value
    is equal. The columns less and more count values that are compatible with the
    key's but less or more specific.

    \b
    Examples:
      partita rules test corpus --domain my-domain
      partita rules test corpus --only new- --errors 40
    """
    from partita.app.authoring import measure_corpus
    from partita.views.evaluation import extraction_json, extraction_text

    measured = measure_corpus(options.corpus, options.domain, options.only)
    if options.json:
        console.json(extraction_json(measured, options.errors))
    else:
        console.say(extraction_text(measured, options.errors, console.width))
