"""The commands train, evaluate, experiment and explain."""

from dataclasses import dataclass, replace
from pathlib import Path

from partita.cli.command import command
from partita.cli.console import Console
from partita.options import (
    CHART,
    GAZETTEER,
    REPORT_JSON,
    SEED,
    SLOT_DOMAIN,
    SOURCES,
    EvaluateOptions,
    ExplainOptions,
    Option,
    Options,
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
    sum. --fit pairs trains from scratch, pair by pair, as the paper does.

    \b
    Examples:
      partita train keys.jsonl --out parameters.json
      partita train gum/train --model joint --out joint.json
      partita train keys.jsonl --characteristics paper --select --out m.json
      partita train keys.jsonl --start parameters.json --out better.json
      partita train keys.jsonl --fit calibration --out calibrated.json
      partita train keys.jsonl --fit iis --out parameters.json
    """
    from partita.app.train import check_folder, train_model
    from partita.files.writing import refuse_inputs

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
    plot: Path | None = option("Save a reliability diagram: F.svg, F.html or F.png")
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
      partita evaluate results.jsonl keys.jsonl --plot reliability.svg
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
    if options.plot is not None:
        found.save_chart(options.plot)
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
    chart: Path | None = option(CHART)
    json: bool = option(REPORT_JSON, False)


@command(ExplainCommand)
def explain(options: ExplainCommand, console: Console) -> None:
    """Explain why two templates were merged or kept apart.

    The first part explains the pair on its own: the weights of its features add up
    to the log-odds of its probability. The second part shows how the rest of the
    set changed that probability.

    \b
    Examples:
      partita explain results.jsonl 1 A B
      partita explain results.jsonl 1 A B --chart why.svg
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
    if options.chart is not None:
        found.save_chart(options.chart)
    console.report(found, options.json)


@dataclass(frozen=True, kw_only=True)
class ExperimentCommand(Options):
    """Options of the command experiment."""

    corpora: tuple[Path, ...] = argument(
        "Folders of messages with keys, key files, or CoNLL-U files or folders", "CORPUS..."
    )
    source: str | None = option(
        "Input format: messages, keys, corefud, or one that a package adds",
        flag="--from",
        metavar="NAME",
        shown="detected",
    )
    test: tuple[Path, ...] = option("Corpus to evaluate on; repeatable", (), metavar="CORPUS")
    splits: int = option("Without --test: number of random splits", 5, metavar="N", min=0)
    largest: int | None = option("Use only sets of at most N templates", metavar="N", min=2)
    shipped: bool = option("Add a row for the shipped models", False)
    domain: str | None = option(SLOT_DOMAIN)
    gazetteer: Path | None = option(GAZETTEER)
    charts: Path | None = option(
        "Save charts of reliability and bits by size to a folder (SVG)", metavar="DIR"
    )
    json: bool = option(REPORT_JSON, False)
    seed: int = option(SEED, 0)


@command(ExperimentCommand)
def experiment(options: ExperimentCommand, console: Console) -> None:
    """Train and evaluate all models on a corpus.

    CORPUS is a file or folder of CoNLL-U with CorefUD entities, or a key file. With
    --test, all models are trained on CORPUS and evaluated on the test corpora.
    Without it, the paper's three splits and --splits random ones are used.
    Documents are never split.

    \b
    Examples:
      partita experiment train --test dev --json > rows.json
      partita experiment corpus --largest 9 --splits 20
      partita experiment keys.jsonl --charts pictures
    """
    from partita.app.experiment import Design, Study, save_charts, study
    from partita.plugins import EXPERIMENTS, format_of

    corpora, test, source, seed = options.corpora, options.test, options.source, options.seed
    found: Study
    if source not in (None, *SOURCES):
        study_format = format_of(EXPERIMENTS, source, SOURCES)
        found = study_format(
            corpora, test, console.progress, seed, options.gazetteer, options.splits
        )
    else:
        design = Design(
            corpora,
            test,
            source,
            options.splits,
            options.largest,
            options.shipped,
            seed,
            options.domain,
        )
        found = study(design, console.progress)
    if options.charts is not None:
        save_charts(found.experiments, options.charts)
    console.say(found.json() if options.json else found.markdown())
