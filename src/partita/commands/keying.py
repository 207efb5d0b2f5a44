"""The command for people who have much to key and little time: study-keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partita.commands import options
from partita.commands.shell import edge


def _known(names: list[str] | None) -> list[str] | None:
    from partita.learning.choosing_rules import RULES

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


def add_to(app: typer.Typer) -> None:
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
        from partita.evaluation.keying import Design
        from partita.learning.choosing_rules import RULES
        from partita.workspace.keying_study import Plan, study

        numbers = tuple(sorted(set(after or (5, 10, 20, 40))))
        rules = tuple(one for one in RULES if one == RULES[0] or one in (rule or RULES))
        design = Design(pool, held, numbers=numbers, runs=runs, seed=seed, rules=rules)
        plan = Plan(corpora, source, largest, shipped, domain, design)
        found = study(plan, console.progress)
        if chart is not None:
            found.save_chart(chart)
        console.say(found.json() if json else found.markdown())
        console.flush()
