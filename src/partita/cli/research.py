"""The commands keys, train, evaluate, paper, explain, domain and rules."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from partita.cli.command import command, root
from partita.cli.console import Console
from partita.files.writing import refuse_inputs
from partita.options import (
    DOMAIN,
    REPORT_JSON,
    EvaluateOptions,
    ExplainOptions,
    Option,
    Options,
    PaperOptions,
    TrainOptions,
    argument,
    option,
)

KEYS = Option("Key files, or CoNLL-U files or folders", metavar="KEYS...", argument=True)


@dataclass(frozen=True, kw_only=True)
class TrainCommand(TrainOptions):
    """Options of the command train."""

    keys: tuple[Path, ...] = option(KEYS, ...)
    out: Path = option("Output file", ...)
    json: bool = option(REPORT_JSON, False)


@command(TrainCommand)
def train(options: TrainCommand, console: Console) -> None:
    """Train parameters from keys (gold labels).

    KEYS are key files (JSONL, one coreference set per line), CoNLL-U files with
    CorefUD entities, or folders of these. Other commands take the output as
    --parameters. One file serves greedy, merging, evidential and scaled; joint has
    a file of its own.

    Training starts from existing parameters and maximises the likelihood of whole
    keys, so that few keys change little. The keys never become less probable in
    sum.

    \b
    Examples:
      partita train keys.jsonl --out parameters.json
      partita train gum/train --model joint --out joint.json
      partita train keys.jsonl --start parameters.json --out better.json
    """
    from partita.app.train import check_folder, train_model

    check_folder(options.out)
    refuse_inputs(options.out, options.keys)
    trained = train_model(options.keys, replace(options, progress=console.progress))
    trained.save(options.out)
    if options.json:
        console.json({"file": str(options.out)} | trained.to_dict())
    else:
        console.say(f"{trained}\nWritten to {options.out}\n")


@dataclass(frozen=True, kw_only=True)
class EvaluateCommand(EvaluateOptions):
    """Options of the command evaluate."""

    results: Path = argument("Results (JSONL), or clusters (CSV)", "RESULTS")
    keys: tuple[Path, ...] = option(KEYS, ...)
    json: bool = option(REPORT_JSON, False)


@command(EvaluateCommand)
def evaluate(options: EvaluateCommand, console: Console) -> None:
    """Evaluate results against keys (gold labels).

    RESULTS is a JSONL file as written by run or solve, or a CSV file of clusters
    from any tool with the columns id,cluster (and message). Messages are matched
    by name or, if no key has that name, by their templates; templates by id or,
    if ids differ, by their place in the text. Intervals cover 95 % and are
    computed over messages. The reliability of pairs, cells and reported
    configurations is measured over all, by size of the set and by genre.

    \b
    Examples:
      partita evaluate results.jsonl keys.jsonl
      partita evaluate clusters.csv keys.jsonl --json
    """
    from partita.app.evaluate import evaluate

    found = evaluate(
        options.results,
        options.keys,
        parameters=options.parameters,
        seed=options.seed,
        progress=console.progress,
    )
    if found.matching:
        console.note(found.matching)
    console.report(found, options.json)


@dataclass(frozen=True, kw_only=True)
class ExplainCommand(ExplainOptions):
    """Options of the command explain."""

    results: Path = argument("Results (JSONL)", "RESULTS")
    set_name: str = argument("Name of the coreference set", "SET")
    left: str = argument("Id of a template in the set", "LEFT")
    right: str = argument("Id of another template", "RIGHT")
    json: bool = option(REPORT_JSON, False)


@command(ExplainCommand)
def explain(options: ExplainCommand, console: Console) -> None:
    """Explain why two templates were merged or kept apart.

    The first part explains the pair on its own: the weights of its features add up
    to the log-odds of its probability. The second part shows how the rest of the
    set changed that probability.

    \b
    Example:
      partita explain results.jsonl 1 A B
    """
    from partita.app.explain import explain

    found = explain(
        options.results,
        options.left,
        options.right,
        set_name=options.set_name,
        parameters=options.parameters,
        domain=options.domain,
    )
    console.report(found, options.json)


@dataclass(frozen=True, kw_only=True)
class PaperCommand(PaperOptions):
    """Options of the command paper."""

    json: bool = option(REPORT_JSON, False)


@command(PaperCommand)
def paper(options: PaperCommand, console: Console) -> None:
    """Repeat the experiment of Kehler (1997, section 5).

    Three splits of the bundled messages: how many pairs are learned from, which
    features are selected and their weights, how often greedy merging is right, and
    bits per set with the number right of four models, beside the paper's figures.

    \b
    Examples:
      partita paper
      partita paper --keys corpus --characteristics extended
    """
    from partita.app.paper import paper_experiment

    found = paper_experiment(options, console.progress)
    console.say(found.json() if options.json else str(found))


@dataclass(frozen=True, kw_only=True)
class KeysCommand(Options):
    """Options of the command keys."""

    messages: tuple[Path, ...] = argument("Files or folders of messages", "MESSAGES...")
    domain: str = option(DOMAIN, "depots")
    out: Path = option("File of keys; those already in it are kept", Path("keys.jsonl"))


@command(KeysCommand)
def keys(options: KeysCommand, console: Console) -> None:
    """Write keys (gold labels) in the terminal.

    The most informative set comes first, with its most probable answer: a letter for
    each mention, the same letter for the same thing. Return accepts the answer; other
    letters replace it (aab). - skips the set, u undoes the last key, q quits. Every
    key is saved at once; run the command again to continue.

    \b
    Examples:
      partita keys messages --domain my-domain --out keys.jsonl
      partita train keys.jsonl --domain my-domain --out pairs.json
    """
    from partita.app.authoring import Labelling

    labelling = Labelling.of(options.messages, options.domain, options.out)
    name, shown = labelling.most_useful(), ""
    while name is not None:
        suggested, (message, one) = labelling.suggestion(name), labelling.sets[name]
        width = max(len(template.id) for template in one.set.templates)
        if message.id != shown:
            console.say(f"\n{message.text.strip()}\n")
        shown = message.id
        console.say(f"\n{name}\n")
        for letter, template in zip(suggested, one.set.templates, strict=True):
            where = f"sentence {template.sentence}" if template.sentence else template.region
            console.say(f"  {letter}  {template.id:{width}}  {template.text}  ({where})\n")
        console.say(f"key [{suggested}]: ")
        console.flush()
        line = sys.stdin.readline()
        typed = line.strip()
        if not line or typed == "q":
            break
        if typed == "u":
            name = labelling.undo() or name
            continue
        if typed == "-":
            labelling.skipped.add(name)
        elif problem := labelling.answer(name, typed or suggested):
            console.note(problem)
            continue
        name = labelling.most_useful()
    console.say(f"\n{len(labelling.keys)} keys in {options.out}\n")


domain = typer.Typer(
    rich_markup_mode=None, no_args_is_help=True, help="Create a domain of your own."
)
root.add_typer(domain, name="domain")


@dataclass(frozen=True, kw_only=True)
class NewDomainCommand(Options):
    """Options of domain new."""

    folder: Path = argument("The new folder, which names the domain", "DIR")


@command(NewDomainCommand, "new", domain)
def new(options: NewDomainCommand, console: Console) -> None:
    """Write a small working domain, with comments.

    \b
    Examples:
      partita domain new harbour
      partita rules lint harbour
      partita run harbour/messages --domain harbour
    """
    from partita.app.authoring import new_domain

    console.say("".join(f"{path}\n" for path in new_domain(options.folder)))


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
    produces, unused macros, slow patterns, and examples that
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
    """Show what each phase saw, and which rule won.

    \b
    Examples:
      partita rules trace message.txt
      partita rules trace message.txt --domain my-domain
      echo "A depot was found in Kinston." | partita rules trace - --phase groups
    """
    from partita.app.authoring import trace_file
    from partita.views.rules import trace_text

    for one in trace_file(options.file, options.domain, options.phase):
        console.say(trace_text(one.message, one.seen, console.width))


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
