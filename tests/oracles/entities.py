"""Slot values of an entity by brute force: every partition of a set, one after another."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from oracles.instances import log_odds
from oracles.partitions import distribution as every
from partita.antecedents.sets import coreference_sets
from partita.core import CoreferenceSet, PairProbabilities, Template
from partita.templates.schema import Schema, merge

Shares = dict[str, dict[str, float]]


def pairs_of(given: CoreferenceSet, rng: np.random.Generator) -> PairProbabilities:
    """Random pair probabilities of a set, 0 where its templates are incompatible."""
    n = len(given)
    p = np.triu(rng.uniform(0.05, 0.95, (n, n)), 1)
    p += p.T
    for left, right in given.incompatible:
        i, j = given.ids.index(left), given.ids.index(right)
        p[i, j] = p[j, i] = 0.0
    np.fill_diagonal(p, 1.0)
    return PairProbabilities(given, p)


def slot_shares(pairs: PairProbabilities, anchor: str, schema: Schema) -> Shares:
    """For every slot the probability of every merged value of the anchor's cell; '' is nil."""
    templates, place = pairs.set.templates, pairs.set.ids.index(anchor)
    found: Shares = {name: defaultdict(float) for name in schema.slots}
    for labels, p in every(log_odds(pairs.matrix)).items():
        members = [t for t, label in zip(templates, labels, strict=True) if label == labels[place]]
        values = merge(members, schema).values
        for name in schema.slots:
            found[name][str(values.get(name, ""))] += p
    return {name: dict(shares) for name, shares in found.items() if set(shares) != {""}}


def random_templates(size: int, rng: np.random.Generator) -> list[Template]:
    """Depots of which little is said: most are compatible."""
    some = {
        "FACILITY": ["DEPOT", "FACILITY"],
        "NUMBER": [1, 2, "PLURAL"],
        "LOCATION": ["KINSTON", "FAIRVIEW"],
        "TYPE": ["RAIL", "AMMUNITION"],
    }
    return [
        Template(
            f"t{n}",
            text=f"depot {n}",
            start=n,
            slots={
                name: values[rng.integers(len(values))]
                for name, values in some.items()
                if rng.random() < 0.3
            },
        )
        for n in range(size)
    ]


def random_set(size: int, schema: Schema, rng: np.random.Generator) -> CoreferenceSet:
    """A coreference set of at most so many templates."""
    while True:
        found = coreference_sets(random_templates(size, rng), schema)
        if found:
            return max(found, key=len)
