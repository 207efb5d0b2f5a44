"""The commands train, evaluate, experiment, and explain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from partita.cli import options
from partita.cli.console import error_boundary

Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="F", help="Save a reliability diagram: F.svg, F.html or F.png."),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    for command in (train, evaluate, experiment, explain):
        app.command()(command)


def train(
    keys: options.Keys,
    out: options.Learned,
    source: options.Source = None,
    model: options.Taught = "evidential",
    characteristics: options.Characteristics = None,
    selecting: options.Select = False,
    fit: options.Fit = "auto",
    start: options.Start = None,
    domain: options.Domain = None,
    about: options.About = "",
    json: options.JsonReport = False,
    seed: options.Seed = 0,
) -> None:
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
    with error_boundary() as console:
        from partita.app.train import check_folder, train
        from partita.files.writing import refuse_inputs

        check_folder(out)
        refuse_inputs(out, keys)
        trained = train(
            keys,
            model=model,
            characteristics=characteristics,
            select=selecting,
            fit=fit,
            start=start,
            domain=domain,
            source=source,
            about=about,
            seed=seed,
            progress=console.progress,
        )
        trained.save(out)
        report = {"file": str(out)} | trained.to_dict()
        console.say(_json(report) if json else f"{trained}\nWritten to {out}\n")
        console.flush()


def _json(report: dict[str, Any]) -> str:
    from json import dumps

    return dumps(report, ensure_ascii=False, allow_nan=False) + "\n"


def evaluate(
    results: options.Results,
    keys: options.AnswerKeys,
    parameters: options.PairsFile = None,
    chart: Plot = None,
    json: options.JsonReport = False,
    seed: options.Seed = 0,
) -> None:
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
    with error_boundary() as console:
        from partita.app.evaluate import evaluate

        found = evaluate(results, keys, parameters=parameters, seed=seed, progress=console.progress)
        if chart is not None:
            found.save_chart(chart)
        if found.matching:
            console.note(found.matching)
        console.say(_json(found.to_dict()) if json else str(found))
        console.flush()


def explain(
    results: options.Results,
    name: options.SetName,
    left: options.Left,
    right: options.Right,
    parameters: options.PairsFile = None,
    domain: options.Domain = None,
    chart: options.Chart = None,
    json: options.JsonReport = False,
) -> None:
    """Explain why two templates were merged or kept apart.

    The first part explains the pair on its own: the weights of its features add up
    to the log-odds of its probability. The second part shows how the rest of the
    set changed that probability.

    \b
    Examples:
      partita explain results.jsonl 1 A B
      partita explain results.jsonl 1 A B --chart why.svg
    """
    with error_boundary() as console:
        from partita.app.explain import explain

        found = explain(results, left, right, set_name=name, parameters=parameters, domain=domain)
        if chart is not None:
            found.save_chart(chart)
        console.say(_json(found.to_dict()) if json else str(found))
        console.flush()


def experiment(
    corpora: options.Corpora,
    source: options.Studied = None,
    test: options.Test = None,
    splits: options.Splits = 5,
    largest: options.Largest = None,
    shipped: options.Shipped = False,
    domain: options.Domain = None,
    gazetteer: options.Gazetteer = None,
    charts: options.Charts = None,
    json: options.JsonReport = False,
    seed: options.Seed = 0,
) -> None:
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
    with error_boundary() as console:
        from partita.app.experiment import Design, Study, save_charts, study
        from partita.plugins import EXPERIMENTS, format_of

        found: Study
        if source not in (None, *options.SOURCES):
            study_format = format_of(EXPERIMENTS, source, options.SOURCES)
            found = study_format(corpora, test or (), console.progress, seed, gazetteer, splits)
        else:
            design = Design(corpora, test or (), source, splits, largest, shipped, seed, domain)
            found = study(design, console.progress)
        if charts is not None:
            save_charts(found.experiments, charts)
        console.say(found.json() if json else found.markdown())
        console.flush()
