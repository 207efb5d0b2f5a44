"""The merged template of every cell of a configuration, and how its templates call the thing.

Descriptions after the practice of MUC-4: a name, then precise descriptions, then vague ones, which
are the more general; of two that say the same the longer is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from partita.configurations.greedy import greedy_labels
from partita.records import Configuration, CoreferenceSet, Template
from partita.templates.algebra import Merged, merge, relation
from partita.templates.name import Name
from partita.templates.schema import Schema
from partita.templates.slots import Value

NAME = "NAME"


def merged_cells(
    configuration: Configuration, given: CoreferenceSet, schema: Schema
) -> tuple[Merged, ...]:
    """One merged template for every cell, by the first template of each in the text."""
    by_id = {template.id: template for template in given.templates}
    cells = [merge([by_id[name] for name in cell], schema) for cell in configuration]
    place = {name: n for n, name in enumerate(given.ids)}
    return tuple(sorted(cells, key=lambda cell: min(place[name] for name in cell.ids)))


def greedy_configuration(given: CoreferenceSet) -> Configuration:
    """The configuration of the paper's deterministic merger, which never looks back."""
    place = {name: n for n, name in enumerate(given.ids)}
    allowed = np.ones((len(given), len(given)), dtype=np.bool_)
    for left, right in given.incompatible:
        allowed[place[left], place[right]] = allowed[place[right], place[left]] = False
    return Configuration.from_labels(given.ids, greedy_labels(allowed))


def greedy_merged(given: CoreferenceSet, schema: Schema) -> tuple[Merged, ...]:
    """What the deterministic merger makes of a set: the baseline."""
    return merged_cells(greedy_configuration(given), given, schema)


def called(members: Sequence[Template], schema: Schema) -> str:
    """The longest name that any of them gives, or nothing."""
    names = [name for member in members for name in _names(member, schema)]
    return min(names, key=lambda name: (-len(name), name), default="")


def _names(template: Template, schema: Schema) -> frozenset[str]:
    given = schema.values(template).get(NAME)
    if isinstance(given, Name):
        return given.variants
    return frozenset({template.text} if template.form == "name" and template.text else ())


def descriptions(members: Sequence[Template], schema: Schema) -> tuple[str, ...]:
    """How a thing is described where it is not named: precise first, then vague, then pronouns.

    The members are those of a cell, so that any two are compatible.
    """
    texts = [m for m in members if m.form not in ("name", "pronoun") and m.text]
    groups: dict[frozenset[tuple[str, Value]], list[Template]] = {}
    for member in texts:  # those that say the same, by the first of them
        groups.setdefault(frozenset(schema.values(member).items()), []).append(member)
    said = [merge([group[0]], schema) for group in groups.values()]
    vague = [any(_more_general(one, other, schema) for other in said) for one in said]
    longest = [max(group, key=lambda one: len(one.text)).text for group in groups.values()]
    ordered = [text for _, text in sorted(zip(vague, longest, strict=True), key=lambda x: x[0])]
    pronouns = [member.text for member in members if member.form == "pronoun"]
    return tuple(dict.fromkeys([*ordered, *pronouns]))


def _more_general(one: Merged, other: Merged, schema: Schema) -> bool:
    return one is not other and relation(one, other, schema) == "properly subsumes"
