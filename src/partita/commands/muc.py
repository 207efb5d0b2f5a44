"""The command that marks an exam: partita score-muc."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partita.commands import options
from partita.commands.shell import edge

Keys = Annotated[Path, typer.Argument(metavar="KEY", help="The answer key, in the MUC-4 format.")]
Response = Annotated[
    Path, typer.Argument(metavar="RESPONSE", help="A system's answers, in the same format.")
]
More = Annotated[
    list[Path] | None,
    typer.Option("--key", metavar="F", help="A further file of keys; may be given often."),
]
Each = Annotated[bool, typer.Option("--messages", help="The scores of every message as well.")]


def add_to(app: typer.Typer) -> None:
    app.command("score-muc")(score_muc)


def score_muc(
    key: Keys,
    response: Response,
    more: More = None,
    messages: Each = False,
    json: options.JsonReport = False,
) -> None:
    """Mark answers by the rules of the MUC-4 exam, and by CEAF-REE.

    Example: partita score-muc key-tst3.v2 answers.txt
    """
    with edge() as console:
        from json import dumps

        from partita.views.muc import exam_json, report
        from partita.workspace.exam import mark

        marked = mark([key, *(more or ())], response)
        for problem in marked.problems:
            console.note(f"{problem}; taken as it stands")
        if marked.unanswered:
            count = len(marked.unanswered)
            console.note(
                f"{response}: no answer for {count} messages of the key, such as "
                f"{marked.unanswered[0]}; taken as without incidents"
            )
        if json:
            console.say(dumps(exam_json(marked.score, marked.entities)) + "\n")
        else:
            for piece in report(marked.score, marked.entities, messages):
                console.say(piece)
        console.flush()
