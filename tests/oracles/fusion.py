"""Truth from claims the slow way: all values of the domain, all matchings, claim by claim."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from partita.fusion.hierarchy import Nesting


def open_posterior(said, rates, prior, tree, values):
    """P(value | claims) of one object by summing over all values there could be.

    `said` are (source, value), `rates` (exact, general, guess) by source, `prior` the probability
    of leaves and of inner values, `tree` the parent of each value of a tree.
    """
    above = {v: _above(v, tree) for v in values}
    inner = {a for v in values for a in above[v]}
    kinds = {v: int(v in inner) for v in values}
    sizes = Counter(kinds.values())
    weights = {}
    for t in values:
        weight = prior[kinds[t]] / sizes[kinds[t]]
        for source, v in said:
            exact, general, guess = rates[source]
            weight *= (
                exact * (v == t)
                + (general / len(above[t]) if v in above[t] else 0.0)
                + guess / len(values)
            )
        weights[t] = weight
    total = sum(weights.values())
    return {t: weight / total for t, weight in weights.items()}


def _above(value, tree):
    found = []
    while value in tree:
        value = tree[value]
        found.append(value)
    return found


def dawid_skene(answers, start, shrinkage, rounds):
    """Posteriors by loops: `answers` are (source, object, value), values 0 … K−1."""
    sources = sorted({s for s, _, _ in answers})
    objects = sorted({o for _, o, _ in answers})
    size = len(start)
    theta = {s: [row[:] for row in start] for s in sources}
    prior = [1 / size] * size
    post = _posterior(answers, objects, theta, prior)
    for _ in range(rounds):
        counts = {s: [[0.0] * size for _ in range(size)] for s in sources}
        for s, o, v in answers:
            for t in range(size):
                counts[s][t][v] += post[o][t]
        pooled = [
            [start[t][v] + sum(counts[s][t][v] for s in sources) for v in range(size)]
            for t in range(size)
        ]
        pooled = [[x / sum(row) for x in row] for row in pooled]
        theta = {
            s: [
                [
                    (counts[s][t][v] + shrinkage * pooled[t][v]) / (sum(counts[s][t]) + shrinkage)
                    for v in range(size)
                ]
                for t in range(size)
            ]
            for s in sources
        }
        sums = [1 + sum(post[o][t] for o in objects) for t in range(size)]
        prior = [x / sum(sums) for x in sums]
        post = _posterior(answers, objects, theta, prior)
    return post


def _posterior(answers, objects, theta, prior):
    post = {}
    for o in objects:
        weights = list(prior)
        for s, thing, v in answers:
            if thing == o:
                weights = [w * theta[s][t][v] for t, w in enumerate(weights)]
        post[o] = [w / sum(weights) for w in weights]
    return post


def matching_marginals(pairs, odds):
    """The probability of every pair over all partial matchings."""
    total, sums = 0.0, [0.0] * len(pairs)
    for size in range(len(pairs) + 1):
        for chosen in combinations(range(len(pairs)), size):
            if any(len({pairs[n][side] for n in chosen}) < size for side in (0, 1)):
                continue
            weight = 1.0
            for n in chosen:
                weight *= odds[n]
            total += weight
            for n in chosen:
                sums[n] += weight
    return [x / total for x in sums]


def simple_nesting(parents):
    """From names that each stand for one thing."""
    names = {name: name for pair in parents.items() for name in pair}
    return Nesting.of(names, parents)
