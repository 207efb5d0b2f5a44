"""The command that learns for the exam: partita train-muc."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partita.commands.shell import edge

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...", help="Files or folders of the exam's messages and of their keys."
    ),
]
Out = Annotated[Path, typer.Option(metavar="F", help="Where the models are written.")]


def add_to(app: typer.Typer) -> None:
    app.command("train-muc")(train_muc)


def train_muc(files: Files, out: Out) -> None:
    """Learn the incidents' models from messages and their keys.

    \b
    Examples:
      partita train-muc dev-muc3-0001-0100 key-dev-0001.muc4 --out incidents.json
      partita train-muc dev tst1 --out incidents.json
    """
    with edge() as console:
        from partita.workspace.answering import learn_incidents

        experts = learn_incidents(files, out, console.progress)
        size = out.stat().st_size / 1e6
        console.say(f"{out}: {size:.1f} MB, learned from {experts.learned_from}\n")
        console.flush()
