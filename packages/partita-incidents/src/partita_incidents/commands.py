"""The commands score-muc and train-muc."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli.console import error_boundary
from partita.options import GAZETTEER, REPORT_JSON

if TYPE_CHECKING:
    from partita.cli.console import Console
    from partita_incidents.score import Marked

Keys = Annotated[Path, typer.Argument(metavar="KEY", help="Answer key in the MUC-4 format")]
Responses = Annotated[
    list[Path],
    typer.Argument(
        metavar="RESPONSE...",
        help="Answers of a system in the same format; several systems give a table",
    ),
]
More = Annotated[
    list[Path] | None,
    typer.Option("--key", metavar="F", help="Further key file; repeatable"),
]
Json = Annotated[bool, typer.Option("--json", help=REPORT_JSON.help)]
Gazetteer = Annotated[Path | None, typer.Option(metavar="F", help=GAZETTEER.help)]
Each = Annotated[bool, typer.Option("--messages", help="Also print the scores of every message")]


def score_muc(
    key: Keys,
    responses: Responses,
    more: More = None,
    messages: Each = False,
    json: Json = False,
) -> None:
    """Score answers to the MUC-4 exam.

    Answers are scored by the rules of the exam. Entities are also scored by role:
    by CEAF-REE as published (Du et al. 2021), and more leniently by the exam's rules
    for strings.

    \b
    Examples:
      partita score-muc key-tst3.v2 answers.txt
      partita score-muc key-tst3.v2 answers.txt responses/*.txt
    """
    with error_boundary() as console:
        from json import dumps

        from partita_incidents.views import exam_json, report, systems_markdown

        same = len({one.stem for one in responses}) < len(responses)
        names = [str(one) if same else one.stem for one in responses]
        keys = [key, *(more or ())]
        marks = [_marked(console, keys, one) for one in responses]
        found = dict(zip(names, marks, strict=True))
        told = {name: exam_json(one) for name, one in found.items()}
        if json:
            console.say(dumps(told if len(told) > 1 else next(iter(told.values()))) + "\n")
        elif len(found) > 1:
            console.say(systems_markdown({name: one.score for name, one in found.items()}))
        else:
            (marked,) = found.values()
            for piece in report(marked, messages):
                console.say(piece)
        console.flush()


def _marked(console: Console, keys: list[Path], response: Path) -> Marked:
    """Score a response, and report problems in its file."""
    from partita_incidents.score import mark

    marked = mark(keys, response)
    for problem in marked.problems:
        console.note(f"{problem}; taken as it stands")
    if marked.unanswered:
        count = len(marked.unanswered)
        console.note(
            f"{response}: no answer for {count} messages of the key, such as "
            f"{marked.unanswered[0]}; taken as without incidents"
        )
    return marked


Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help="Files or folders of MUC-4 messages and their keys"),
]
Out = Annotated[Path, typer.Option(metavar="F", help="Output file")]


def train_muc(files: Files, out: Out, gazetteer: Gazetteer = None) -> None:
    """Train the models of the domain incidents.

    \b
    Examples:
      partita train-muc dev-muc3-0001-0100 key-dev-0001.muc4 --out incidents.json
      partita train-muc dev tst1 --out incidents.json
    """
    with error_boundary() as console:
        from partita.files.writing import refuse_inputs
        from partita_incidents.training import learn_incidents

        refuse_inputs(out, [*files, gazetteer])
        experts = learn_incidents(files, out, console.progress, gazetteer)
        size = out.stat().st_size / 1e6
        console.say(f"{out}: {size:.1f} MB, learned from {experts.learned_from}\n")
        console.flush()
