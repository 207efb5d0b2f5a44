"""The commands about the tagger: partita tagger train, partita tagger test."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partita.commands import options
from partita.commands.shell import edge

tagger = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="The part-of-speech tagger: learn it, measure it.",
)

Out = Annotated[
    Path, typer.Option(metavar="F", help="Where the tagger is written, such as tagger.npz.")
]
Every = Annotated[
    bool,
    typer.Option(
        "--every-genre", help="Learn from all genres of GUM, also those whose texts are not free."
    ),
]
Parameters = Annotated[
    Path | None, typer.Option(metavar="F", help="The tagger to measure; without it, the shipped.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]


def add_to(app: typer.Typer) -> None:
    app.add_typer(tagger, name="tagger")


@tagger.command()
def train(
    corpora: options.Corpora,
    out: Out,
    test: options.Test = None,
    every_genre: Every = False,
    seed: options.Seed = 0,
) -> None:
    """Learns a tagger from CoNLL-U and writes it as one npz file.

    CORPUS is a file or a folder; words and their tags are the columns FORM and
    XPOS. Of GUM only the genres with free texts are taken, unless --every-genre.
    How much is right on the corpora to --test on is written into the file.

    \b
    Example:
      partita tagger train ewt/train.conllu gum/train --out tagger.npz
    """
    with edge() as console:
        from partita.workspace.tagger import learn_tagger

        found = learn_tagger(
            corpora, out, seed, console.progress, tests=test or (), every_genre=every_genre
        )
        size = out.stat().st_size / 1e6
        console.say(f"{out}: {size:.1f} MB, {len(found.tags)} tags, {len(found.lexicon):,} words\n")
        console.say(f"learned from {found.learned_from}\n")
        for name, share in found.figures.items():
            console.say(f"{share:.4f} right on {name}\n")
        console.flush()


@tagger.command("test")
def measure(corpora: options.Corpora, parameters: Parameters = None, json: Json = False) -> None:
    """Measures a tagger: as the corpus is, in upper and in lower case.

    \b
    Examples:
      partita tagger test ewt/dev.conllu
      partita tagger test gum/dev --parameters tagger.npz --json
    """
    with edge() as console:
        from partita.workspace.tagger import assess_tagger

        found = assess_tagger(corpora, parameters, console.progress)
        console.say(found.json() if json else found.text())
        console.flush()
