"""The commands for people who learn, measure and ask why: train, evaluate, experiment, explain."""

from __future__ import annotations

import typer

from partita import options
from partita.shell import edge


def add_to(app: typer.Typer) -> None:
    """Make them commands of the application."""
    for command in (train, experiment):
        app.command()(command)


def train(
    keys: options.Keys,
    out: options.Learned,
    source: options.Source = None,
    model: options.Taught = "evidential",
    characteristics: options.Characteristics = "extended",
    selecting: options.Select = False,
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
    """
    with edge() as console:
        from partita.teaching import Lesson, train

        lesson = Lesson(keys, source, model, characteristics, selecting, seed, about)
        found = train(lesson, out, console.progress)
        console.say(found.json() if json else found.text())
        console.flush()


def experiment(
    corpora: options.Corpora,
    source: options.Source = None,
    test: options.Test = None,
    json: options.JsonReport = False,
    seed: options.Seed = 0,
) -> None:
    """Learns all models from a corpus and measures them: the paper's table.

    CORPUS is a CoNLL-U file with CorefUD entities, or a folder of them. With
    --test the models learn from all of CORPUS and are measured there; without
    it, on the three divisions of the paper. Documents are never split.

    \b
    Examples:
      partita experiment train --test dev
      partita experiment corpus --json > rows.json
    """
    with edge() as console:
        from partita.research import study

        found = study(corpora, test or [], source, seed, console.progress)
        console.say(found.json() if json else found.markdown())
        console.flush()
