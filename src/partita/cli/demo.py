"""The command demo."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from partita.core import Distribution, Template
from partita.errors import PartitaError

if TYPE_CHECKING:
    from partita.app.runner import Runner
    from partita.pipeline import Resolved, Stages

MESSAGE = """\
Subj: Kinston Military Rail Depot

A rail depot was found 100 km southwest of the capitol of Raleigh, consisting
of extensive admin and support areas (similar to the ammunition depot in
Fairview), two material storage areas, extensive transshipment facilities
(some of which are under construction immediately east of the depot), and
several training areas.
"""

ARTICLE = """\
Mayor Ruth Okafor said on Tuesday that Port Ellery would open a ferry line.
Bayline Shipping, a family firm, will run the service. The company has ordered
three boats from a yard in Norway. Its director, Tomas Lind, told the council
that the first of them would arrive in June. Okafor said that she was pleased.
"""

RUN = "demo"
PAPER = "Kehler (1997)"

TABLE_1 = {
    ("A", "B"): 0.671,
    ("A", "C"): 0.0,
    ("A", "D"): 0.505,
    ("B", "C"): 0.0,
    ("B", "D"): 0.752,
    ("C", "D"): 0.504,
}

MISPRINT = """\
The paper prints .184 for (A B) (C D) and .125 for (B D) (A) (C): these two are
swapped, and so its P(C = D) of .245 should be .187. All its other figures agree
with these, but for the last digit of some.
"""


def demo(width: int = 80, colour: bool = False) -> Iterator[str]:
    """The example from the message to the distribution, piece by piece; then the corpus."""
    from partita.app.runner import Runner, Settings

    runner = Runner(Settings.of("depots", "evidential"))
    yield "The message of Kehler (1997)\n\n"
    yield MESSAGE
    yield from _message(runner, width, colour)
    yield from _kept(runner, width)
    yield from _paper()
    yield from _article(width, colour)
    yield from _corpus(runner.stages, width)


def _message(runner: Runner, width: int, colour: bool) -> Iterator[str]:
    """What is extracted from it, and who is who by the domain's own pair model."""
    from partita.pipeline import resolve
    from partita.text.layout import parse_layout
    from partita.views.distribution import distribution_text

    found = resolve(parse_layout("kinston", MESSAGE), runner.stages)
    yield "\nWhat its rules extract: a template for every expression\n\n"
    for template in found.templates:
        yield from _template(template, width)
    for distribution in found.distributions:
        learned = textwrap.fill(
            f"Who is who, by pairs learned from {runner.parameters.learned_from}", width
        )
        yield f"\n{learned}\n\n"
        yield distribution_text(distribution, width, colour)


def _kept(runner: Runner, width: int) -> Iterator[str]:
    """The same in the store, for the page; a folder that cannot be written to is no reason to
    stop."""
    try:
        told = f"In the store {_stored(runner)} as run {RUN}; partita serve shows it"
    except PartitaError as error:
        told = f"Not kept in a store: {error}"
    yield f"\n{textwrap.fill(told, width, break_long_words=False)}\n"


def _stored(runner: Runner) -> str:
    from partita.app.workspace import open_workspace
    from partita.text.raw_messages import RawMessage

    workspace = open_workspace()
    try:
        workspace.runners[runner.settings] = runner
        message = RawMessage("kinston", MESSAGE, PAPER)
        workspace.ingest([message], runner.settings, RUN, workers=1)
        return workspace.store.name
    finally:
        workspace.close()


def _template(template: Template, width: int) -> Iterator[str]:
    """The expression, its slots, and what it may refer back to."""
    yield f"  {template.id:3} {template.text}\n"
    slots = ", ".join(f"{name} {_plain(value)}" for name, value in template.slots.items())
    back = ", ".join(one.id for one in template.antecedents)
    told = f"{slots}; may refer to {back}" if back else slots
    for row in textwrap.wrap(told, width - 6):
        yield f"      {row}\n"


def _plain(value: object) -> str:
    return " & ".join(map(str, value)) if isinstance(value, list) else str(value)


def _paper() -> Iterator[str]:
    """The paper's own pair probabilities, and both of its models."""
    from partita.app.solve import solve

    yield "\nThe paper's own pair probabilities (Table 1), A to D being its four depots\n\n"
    for (left, right), p in TABLE_1.items():
        yield f"  {left} = {right}  {p:.3f}{'' if p else '  rail and ammunition: impossible'}\n"
    yield "\nBy Dempster's rule, each pair being evidence, and by merging decisions\n\n"
    yield from _side_by_side(solve(TABLE_1), solve(TABLE_1, "merging"))
    yield f"\n{MISPRINT}"


def _article(width: int, colour: bool) -> Iterator[str]:
    """Return an ordinary text and its entities, by the domain general."""
    from partita.app.runner import Runner, Settings
    from partita.text.layout import parse_layout
    from partita.views.message import message_report

    yield f"\nAn ordinary text\n\n{ARTICLE}\nIts entities, and what is uncertain\n\n"
    yield message_report(
        Runner(Settings()).resolve(parse_layout("article", ARTICLE)), width, colour
    )


def _side_by_side(evidential: Distribution, merging: Distribution) -> Iterator[str]:
    """Both models' probabilities, in the order of the first."""
    other = {one.configuration: one.probability for one in merging.configurations}
    yield f"  {'':24}evidential   merging\n"
    for one in evidential.configurations:
        name = str(one.configuration)
        yield f"  {name:24}{one.probability:10.4f}{other[one.configuration]:10.4f}\n"


def _corpus(stages: Stages, width: int) -> Iterator[str]:
    """Every message of the corpus that comes with Partita, and what came of all."""
    from partita.core import Message
    from partita.corpora.documents import corpus_path
    from partita.pipeline import resolve
    from partita.text.messages import read_messages

    paths: list[str | Path] = [*sorted(corpus_path().glob("*.txt"))]
    read = (one for one in read_messages(paths) if isinstance(one, Message))
    messages = [replace(message, file="") for message in read]
    yield f"\nThe corpus that comes with Partita: {len(messages)} messages\n\n"
    yield from _summary([resolve(message, stages) for message in messages], width)


def _summary(found: Iterable[Resolved], width: int) -> Iterator[str]:
    """How much there is, how sure it is, and the message that is least sure."""
    from partita.views.message import counted, message_report

    all_ = list(found)
    sets = [one for message in all_ for one in message.distributions]
    parts = ("templates", "distributions", "entities")
    sizes = [sum(len(getattr(message, name)) for message in all_) for name in parts]
    yield f"  {counted(*sizes)}\n"
    bits = sum(one.entropy_bits for one in sets)
    sure = sum(one.configurations[0].probability >= 0.9 for one in sets)
    yield f"  {sure} of {len(sets)} sets have a configuration of probability .9 or more;\n"
    yield f"  {bits:.0f} bits would tell the rest\n"
    least = max(all_, key=lambda message: sum(d.entropy_bits for d in message.distributions))
    yield "\nThe least certain of these messages\n\n"
    yield f"{textwrap.indent(least.message.text.strip(), '  ')}\n\n"
    yield message_report(least, width)
