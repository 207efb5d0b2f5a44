"""The command demo: three small answers, or with --paper the example of Kehler (1997)."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator

from partita.app.cluster import cluster
from partita.app.fuse import fuse
from partita.app.runner import Runner, Settings
from partita.app.solve import solve
from partita.core import Distribution, Template
from partita.errors import PartitaError
from partita.pipeline import Resolved, resolve
from partita.text.layout import parse_layout
from partita.text.raw_messages import RawMessage
from partita.views.distribution import distribution_text
from partita.views.layout import bold, cut_text
from partita.views.message import DocumentView, by_mentions, label, right_share

ARTICLE = """\
Mayor Ruth Okafor said on Tuesday that Port Ellery would open a ferry line.
Bayline Shipping, a family firm, will run the service. The company has ordered
three boats from a yard in Norway. Its director, Tomas Lind, told the council
that the first of them would arrive in June. Okafor said that she was pleased.
"""

SCORES = (
    ("J. Smith, Leeds", "John Smith, Leeds", 0.92),
    ("John Smith, Leeds", "Jon Smith, York", 0.55),
    ("J. Smith, Leeds", "Jon Smith, York", 0.40),
)

CLAIMS = (
    ("ferry", "council", "three"),
    ("ferry", "press", "three"),
    ("ferry", "forum", "five"),
    ("bridge", "council", "two"),
    ("bridge", "press", "two"),
    ("bridge", "forum", "two"),
)

MESSAGE = """\
Subj: Kinston Military Rail Depot

A rail depot was found 100 km southwest of the capitol of Raleigh, consisting
of extensive admin and support areas (similar to the ammunition depot in
Fairview), two material storage areas, extensive transshipment facilities
(some of which are under construction immediately east of the depot), and
several training areas.
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
    """Yield a text, a cluster and a contradiction with their probabilities, and what to type."""
    yield from _article(Runner(Settings()), width, colour)
    yield from _cluster(colour)
    yield from _contradiction(colour)
    yield from next_step(colour)


def paper(width: int = 80, colour: bool = False) -> Iterator[str]:
    """Yield the paper's message from the text to the distribution, then the paper's table."""
    runner = Runner(Settings.of("depots", "evidential"))
    yield f"The message of {PAPER}\n\n{MESSAGE}"
    yield from _message(runner, width, colour)
    yield _stored(runner, "paper", "kinston", MESSAGE, width)
    yield from _table()


# --- three small answers ---


def _heading(text: str, colour: bool) -> str:
    return f"{bold(text, colour)}\n\n"


def _article(runner: Runner, width: int, colour: bool) -> Iterator[str]:
    """Yield the text, its entities with several mentions, and its least certain pronoun."""
    resolved = runner.resolve(parse_layout("ferry", ARTICLE))
    yield _heading("A text: who is who", colour)
    yield f"{textwrap.indent(ARTICLE, '  ')}\n"
    yield from _several_mentions(resolved, width)
    yield _stored(runner, RUN, "ferry", ARTICLE, width)


def _several_mentions(resolved: Resolved, width: int) -> Iterator[str]:
    view = DocumentView.of(resolved)
    belonging = view.belonging()
    for entity in by_mentions(resolved.entities):
        if len(entity.templates) > 1:
            texts = ", ".join(view.templates[name].text for name in entity.templates)
            line = f"{label(entity)} {right_share(entity, belonging):.2f}: {texts}"
            yield f"  {cut_text(line, width - 2)}\n"
    pronouns = [one for one in view.decisions() if one.template.form == "pronoun"]
    if pronouns:
        least = max(pronouns, key=lambda one: one.bits)
        names = [(label(one) if one else "new", p) for one, p in least.choices[:2]]
        may_be = " or ".join(f"{cut_text(name, 20)} ({p:.2f})" for name, p in names)
        line = f"Least certain pronoun: “{least.template.text}” is {may_be}"
        yield f"  {cut_text(line, width - 2)}\n"


def _cluster(colour: bool) -> Iterator[str]:
    """Yield three records, their cluster and its best alternative."""
    clusters = cluster(SCORES)
    found = clusters.to_dict()
    first = found["clusters"][0]
    (other,) = found["alternatives"]
    yield f"\n{_heading('Records: pair scores that disagree, one answer', colour)}"
    for left, right, score in SCORES:
        yield f"  {score:.2f}  {left} = {right}\n"
    yield f"  All {len(found['clusters'])} are one person: probability {first['exact']:.2f}\n"
    apart = " and ".join(other["records"])
    yield f"  The best alternative: {apart} is somebody else: {other['probability']:.2f}\n"


def _contradiction(colour: bool) -> Iterator[str]:
    """Yield what three sources claim, and what to believe."""
    claims = [dict(zip(("object", "source", "boats"), claim, strict=True)) for claim in CLAIMS]
    belief = fuse(claims)
    yield f"\n{_heading('Sources that contradict each other: what to believe', colour)}"
    yield "  How many boats? The council and the press say three, a forum says five.\n"
    for value in belief.values:
        if value.object == "ferry":
            by = f" ({', '.join(value.sources)})" if value.sources else ""
            yield f"  {value.probability:.2f}  {value.value or 'something else'}{by}\n"


def next_step(colour: bool) -> Iterator[str]:
    """Yield the commands to type next; `make demo` leaves them outside the search path."""
    yield f"\n{_heading('Next', colour)}"
    if shutil.which("partita") is None:
        yield "  source .venv/bin/activate    makes the command partita available\n"
    yield "  partita serve                opens the page: this text, and your own files\n"
    yield "  partita run FILE.txt         reads a text of yours\n"
    yield "  partita demo --paper         the example of Kehler (1997)\n"


def _stored(runner: Runner, run: str, name: str, text: str, width: int) -> str:
    """Store a text for the page; a folder that cannot be written to is no reason to stop."""
    try:
        line = f"Stored in {_ingest(runner, run, name, text)} as run {run}; partita serve shows it"
    except PartitaError as error:
        line = f"Not stored: {error}"
    return (
        textwrap.fill(
            line, width, initial_indent="  ", subsequent_indent="  ", break_long_words=False
        )
        + "\n"
    )


def _ingest(runner: Runner, run: str, name: str, text: str) -> str:
    from partita.app.workspace import open_workspace

    workspace = open_workspace()
    try:
        workspace.runners[runner.settings] = runner
        workspace.ingest([RawMessage(name, text, run)], runner.settings, run, workers=1)
        return workspace.store.name
    finally:
        workspace.close()


# --- the paper ---


def _message(runner: Runner, width: int, colour: bool) -> Iterator[str]:
    """Yield what is extracted from it, and who is who by the domain's own pair model."""
    resolved = resolve(parse_layout("kinston", MESSAGE), runner.stages)
    yield "\nWhat its rules extract: a template for every expression\n\n"
    for template in resolved.templates:
        yield from _template(template, width)
    for distribution in resolved.distributions:
        learned = f"Who is who, by pairs learned from {runner.parameters.learned_from}"
        yield f"\n{textwrap.fill(learned, width)}\n\n"
        yield distribution_text(distribution, width, colour)
    yield "\n"


def _template(template: Template, width: int) -> Iterator[str]:
    """Yield the expression, its slots, and what it may refer back to."""
    yield f"  {template.id:3} {template.text}\n"
    slots = ", ".join(f"{name} {_plain(value)}" for name, value in template.slots.items())
    back = ", ".join(one.id for one in template.antecedents)
    for row in textwrap.wrap(f"{slots}; may refer to {back}" if back else slots, width - 6):
        yield f"      {row}\n"


def _plain(value: object) -> str:
    return " & ".join(map(str, value)) if isinstance(value, list) else str(value)


def _table() -> Iterator[str]:
    """Yield the paper's own pair probabilities, and both of its models."""
    yield "\nThe paper's own pair probabilities (Table 1), A to D being its four depots\n\n"
    for (left, right), p in TABLE_1.items():
        yield f"  {left} = {right}  {p:.3f}{'' if p else '  rail and ammunition: impossible'}\n"
    yield "\nBy Dempster's rule, each pair being evidence, and by merging decisions\n\n"
    yield from _side_by_side(solve(TABLE_1), solve(TABLE_1, "merging"))
    yield f"\n{MISPRINT}"


def _side_by_side(evidential: Distribution, merging: Distribution) -> Iterator[str]:
    """Yield both models' probabilities, in the order of the first."""
    other = {one.configuration: one.probability for one in merging.configurations}
    yield f"  {'':24}evidential   merging\n"
    for one in evidential.configurations:
        name = str(one.configuration)
        yield f"  {name:24}{one.probability:10.4f}{other[one.configuration]:10.4f}\n"
