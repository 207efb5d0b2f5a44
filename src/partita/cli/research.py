"""The commands train, evaluate, experiment, explain and study-keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partita.cli import options
from partita.cli.console import edge


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
        from partita.app.train import Lesson, train

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
        from partita.app.evaluate import evaluate

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
        from partita.app.explain import explain

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
    gazetteer: options.Gazetteer = None,
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
        from partita.app.experiment import Design, study
        from partita.domains.incidents.study import study_incidents

        design = Design(
            corpora, test or (), source, splits, largest, shipped, seed, domain, gazetteer
        )
        asked = study_incidents if source == "muc" else study
        found = asked(design, console.progress)
        if charts is not None:
            found.save_charts(charts)
        console.say(found.json() if json else found.markdown())
        console.flush()


def _known(names: list[str] | None) -> list[str] | None:
    from partita.training.label_choice import RULES

    for name in names or ():
        if name not in RULES:
            raise typer.BadParameter(f"{name!r}; expected one of {', '.join(RULES)}")
    return names


Runs = Annotated[int, typer.Option(metavar="N", min=2, help="Paired runs; 20 if unsaid.")]
Largest = Annotated[
    int,
    typer.Option(metavar="N", min=2, max=14, help="Templates of the largest set; 10 if unsaid."),
]
Pool = Annotated[int, typer.Option(metavar="N", min=3, help="Sets to choose from; 120 if unsaid.")]
Held = Annotated[int, typer.Option(metavar="N", min=1, help="Sets held out; 150 if unsaid.")]
After = Annotated[
    list[int] | None,
    typer.Option("--after", metavar="N", min=2, help="Keys after which to measure; may be given "
                 "often; 5, 10, 20 and 40 if unsaid."),
]  # fmt: skip
Rules = Annotated[
    list[str] | None,
    typer.Option("--rule", metavar="NAME", callback=_known, help="A rule beside chance, e.g. "
                 "saved; may be given often; all if unsaid."),
]  # fmt: skip
Shipped = Annotated[
    bool, typer.Option("--shipped", help="Begin with the parameters that come with Partita.")
]
Chart = Annotated[
    Path | None, typer.Option("--chart", metavar="F", help="Draw it: F.svg, F.html or F.png.")
]


def add_study_keys(app: typer.Typer) -> None:
    app.command("study-keys")(study_keys)


def study_keys(
    corpora: options.Corpora,
    source: options.Source = None,
    largest: Largest = 10,
    pool: Pool = 120,
    held: Held = 150,
    after: After = None,
    runs: Runs = 20,
    rule: Rules = None,
    shipped: Shipped = False,
    domain: options.Domain = None,
    chart: Chart = None,
    json: options.JsonReport = False,
    seed: options.Seed = 0,
) -> None:
    """Measures whether it matters which sets are keyed first.

    CORPUS has keys already. From some of its documents sets are taken one by one
    as each rule says, beginning with the same two; bits are measured on the
    others. Longer sets are parted into stretches that a person can key.

    \b
    Examples:
      partita study-keys gum/train --chart choice.svg
      partita study-keys domains/depots/corpus --shipped --runs 20 --json
    """
    with edge() as console:
        from partita.app.label_study import Plan, study
        from partita.evaluation.label_study import Design
        from partita.training.label_choice import RULES

        numbers = tuple(sorted(set(after or (5, 10, 20, 40))))
        rules = tuple(one for one in RULES if one == RULES[0] or one in (rule or RULES))
        design = Design(pool, held, numbers=numbers, runs=runs, seed=seed, rules=rules)
        plan = Plan(corpora, source, largest, shipped, domain, design)
        found = study(plan, console.progress)
        if chart is not None:
            found.save_chart(chart)
        console.say(found.json() if json else found.markdown())
        console.flush()
