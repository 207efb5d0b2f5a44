"""The commands for people who learn, measure and ask why: train, evaluate, experiment, explain."""

from __future__ import annotations

import typer

from partita.commands import options
from partita.commands.shell import edge


def add_to(app: typer.Typer) -> None:
    """Make them commands of the application."""
    for command in (train, evaluate, experiment, explain):
        app.command()(command)


def train(
    keys: options.Keys,
    out: options.Learned,
    source: options.Source = None,
    model: options.Taught = "evidential",
    characteristics: options.Characteristics = "extended",
    selecting: options.Select = False,
    fit: options.Fit = "auto",
    domain: options.Domain = None,
    about: options.About = "",
    json: options.JsonReport = False,
    seed: options.Seed = 0,
) -> None:
    """Learns parameters from keys and writes them as one JSON file.

    KEYS are files of keys (JSONL, a coreference set a line) or CoNLL-U files with
    CorefUD entities, or folders of these. The file serves --parameters of the
    other commands: one kind is for greedy, merging, evidential and scaled
    together, the other for joint.

    \b
    Examples:
      partita train keys.jsonl --out parameters.json
      partita train gum/train --model joint --out joint.json
      partita train keys.jsonl --characteristics paper --select --out m.json
      partita train keys.jsonl --fit iis --out parameters.json
    """
    with edge() as console:
        from partita.workspace.teaching import Lesson, train

        lesson = Lesson(keys, source, model, characteristics, selecting, seed, about, domain, fit)
        found = train(lesson, out, console.progress)
        console.say(found.json() if json else found.text())
        console.flush()


def evaluate(
    results: options.Results,
    keys: options.AnswerKeys,
    parameters: options.PairsFile = None,
    json: options.JsonReport = False,
    seed: options.Seed = 0,
) -> None:
    """Measures results that are already there, ours or another tool's.

    RESULTS are results in JSONL, as solve --json writes them, or clusters in CSV
    with the columns id,cluster (and message). Messages are matched by name or, if
    no key has that name, by their templates. Intervals are of 95 %, over messages.

    \b
    Examples:
      partita evaluate results.jsonl keys.jsonl
      partita evaluate clusters.csv keys.jsonl --json
    """
    with edge() as console:
        from partita.workspace.judging import evaluate

        found = evaluate(results, keys, parameters, seed, console.progress)
        if found.by_ids:
            console.note(found.matching)
        console.say(found.json() if json else found.text())
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
    """Why two templates were (not) thought to be the same.

    First the pair alone: every feature with its weight, which add up to the
    log-odds of its probability. Then what the rest of the set did to it.

    \b
    Examples:
      partita explain results.jsonl 1 A B
      partita explain results.jsonl 1 A B --chart why.svg
    """
    with edge() as console:
        from partita.workspace.explaining import explain

        found = explain(results, name, left, right, parameters, domain)
        if chart is not None:
            found.save_chart(chart)
        console.say(found.json() if json else found.text())
        console.flush()


def experiment(
    corpora: options.Corpora,
    source: options.Studied = None,
    test: options.Test = None,
    splits: options.Splits = 5,
    largest: options.Largest = None,
    shipped: options.Shipped = False,
    domain: options.Domain = None,
    charts: options.Charts = None,
    json: options.JsonReport = False,
    seed: options.Seed = 0,
) -> None:
    """Learns all models from a corpus and measures them: the paper's table.

    CORPUS is a file or folder of CoNLL-U with CorefUD entities, or a file of keys.
    With --test the models learn from all of CORPUS and are measured there; without
    it, on the three divisions of the paper and on more at random. Documents are
    never split. --from muc measures events: the exam's messages and keys are read
    together, and the exam's score under each way of merging events stands below.

    \b
    Examples:
      partita experiment train --test dev --json > rows.json
      partita experiment corpus --largest 9 --splits 20
      partita experiment keys.jsonl --charts pictures
      partita experiment --from muc dev --test tst1 --test tst2
    """
    with edge() as console:
        from partita.workspace.incident_study import study_incidents
        from partita.workspace.research import Design, study

        design = Design(corpora, test or (), source, splits, largest, shipped, seed, domain)
        asked = study_incidents if source == "muc" else study
        found = asked(design, console.progress)
        if charts is not None:
            found.save_charts(charts)
        console.say(found.json() if json else found.markdown())
        console.flush()
