"""The command that learns for the exam: partita train-muc."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partita.commands.shell import edge

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE…", help="Files of messages, as the exam has them.")
]
Out = Annotated[Path, typer.Option(metavar="F", help="Where the models are written.")]
Keys = Annotated[
    list[Path], typer.Option("--key", metavar="F", help="The messages' keys; may be given often.")
]


def add_to(app: typer.Typer) -> None:
    app.command("train-muc")(train_muc)


def train_muc(files: Files, key: Keys, out: Out) -> None:
    """Learn the incidents' models from messages and their keys.

    Example: partita train-muc dev-muc3-0001-0100 --key key-dev-0001.muc4 --out incidents.json
    """
    with edge() as console:
        from partita.workspace.answering import learn_incidents

        experts = learn_incidents(files, key, out, console.progress)
        size = out.stat().st_size / 1e6
        console.say(f"{out}: {size:.1f} MB, learned from {experts.learned_from}\n")
        console.flush()
