"""The paper's worked example: its message, four templates, Table 1 and the seven configurations."""

from __future__ import annotations

from collections.abc import Iterator

from partita.records import Distribution, Template
from partita.workspace import solve

MESSAGE = """\
Subj: Kinston Military Rail Depot

A rail depot was found 100 km southwest of the capitol of Raleigh, consisting
of extensive admin and support areas (similar to the ammunition depot in
Fairview), two material storage areas, extensive transshipment facilities
(some of which are under construction immediately east of the depot), and
several training areas.
"""

TEMPLATES = (
    Template("A", "Kinston Military Rail Depot"),
    Template("B", "A rail depot"),
    Template("C", "the ammunition depot in Fairview"),
    Template("D", "the depot"),
)

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
    """The example from the message to the distribution, piece by piece."""
    from partita.views.terminal import text

    yield "The message of Kehler (1997), and the four depots it speaks of\n\n"
    yield MESSAGE + "\n"
    for template in TEMPLATES:
        yield f"  {template.id}  {template.text}\n"
    yield "\nHow probable is it that two of them are the same (Table 1)?\n\n"
    for (left, right), p in TABLE_1.items():
        yield f"  {left} = {right}  {p:.3f}{'' if p else '  rail and ammunition: impossible'}\n"
    yield "\nBy Dempster's rule, each pair being evidence\n\n"
    evidential, merging = solve(TABLE_1), solve(TABLE_1, "merging")
    yield text(evidential, width, colour)
    yield f"\n{MISPRINT}\nBy merging decisions, template after template\n\n"
    yield from _side_by_side(evidential, merging)


def _side_by_side(evidential: Distribution, merging: Distribution) -> Iterator[str]:
    """Both models' probabilities, in the order of the first."""
    other = {one.configuration: one.probability for one in merging.configurations}
    yield f"  {'':24}evidential   merging\n"
    for one in evidential.configurations:
        name = str(one.configuration)
        yield f"  {name:24}{one.probability:10.4f}{other[one.configuration]:10.4f}\n"
