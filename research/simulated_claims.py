"""Simulated claims with known truths: sources that err alone, copy, or err together."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import numpy as np

from partita.core import IntArray
from partita.fusion.claims import Claims

Truths = dict[str, str]
Row = tuple[str, str, str, str]
RATES = (0.5, 0.9)  # reliabilities are uniform between these


def independent(seed: int, sources: int = 10, objects: int = 600) -> tuple[Claims, Truths]:
    """Sources that err alone; a wrong value is one of 20 of its object."""
    rng = np.random.default_rng(seed)
    rates = rng.uniform(*RATES, sources)
    rows = [
        (f"s{s}", f"o{n}", "value", _value(n, 0 if rng.random() < rates[s] else _wrong(rng)))
        for n in range(objects)
        for s in range(sources)
        if rng.random() < 0.6
    ]
    return Claims.of(rows), _truths(objects)


def copying(
    seed: int, sources: int = 10, copiers: int = 3, objects: int = 600
) -> tuple[Claims, Truths]:
    """As `independent`, but some sources repeat four fifths of what one mediocre source says."""
    rng = np.random.default_rng(seed)
    rates = rng.uniform(*RATES, sources)
    rates[0] = 0.5
    rows: list[Row] = []
    for n in range(objects):
        own = [0 if rng.random() < rates[s] else _wrong(rng) for s in range(sources)]
        for s in range(1, copiers + 1):
            own[s] = own[0] if rng.random() < 0.8 else own[s]
        rows += [
            (f"s{s}", f"o{n}", "value", _value(n, own[s]))
            for s in range(sources)
            if rng.random() < 0.6
        ]
    return Claims.of(rows), _truths(objects)


def correlated(seed: int, sources: int = 10, objects: int = 600) -> tuple[Claims, Truths]:
    """Some objects are harder than others, and six of ten errors are the popular error."""
    rng = np.random.default_rng(seed)
    rates = rng.uniform(*RATES, sources)
    rows: list[Row] = []
    for n in range(objects):
        logit = np.log(rates / (1 - rates)) + rng.normal(0, 1.0)
        for s in np.flatnonzero(rng.random(sources) < 0.6).tolist():
            right = rng.random() < 1 / (1 + np.exp(-logit[s]))
            wrong = 1 if rng.random() < 0.6 else _wrong(rng)
            rows.append((f"s{s}", f"o{n}", "value", _value(n, 0 if right else wrong)))
    return Claims.of(rows), _truths(objects)


def upstream(seed: int, sources: int = 12, objects: int = 600) -> tuple[Claims, Truths]:
    """Every source repeats one of three feeds in seven of ten claims, and has its own otherwise."""
    rng = np.random.default_rng(seed)
    feeds, feed = rng.uniform(0.5, 0.85, 3), rng.integers(0, 3, sources)
    rates = rng.uniform(*RATES, sources)
    rows: list[Row] = []
    for n in range(objects):
        stated = [0 if rng.random() < rate else _wrong(rng) for rate in feeds]
        for s in range(sources):
            own = 0 if rng.random() < rates[s] else _wrong(rng)
            value = stated[feed[s]] if rng.random() < 0.7 else own
            if rng.random() < 0.6:
                rows.append((f"s{s}", f"o{n}", "value", _value(n, value)))
    return Claims.of(rows), _truths(objects)


def numbers(seed: int, sources: int = 10, objects: int = 400) -> tuple[Claims, Truths]:
    """Numbers of many sizes with heavy-tailed relative errors; two sources round.

    Scales of errors go from .1 % to 10 %, and one claim in twenty is ten times too large or small.
    """
    rng = np.random.default_rng(seed)
    scales = np.geomspace(0.001, 0.1, sources)[rng.permutation(sources)]
    true = np.exp(rng.uniform(np.log(50), np.log(50_000), objects))
    rows: list[Row] = []
    for n, s in _described(rng, objects, sources):
        value = true[n] * (1 + scales[s] * rng.standard_t(2))
        value *= 10.0 ** rng.choice([0, -1, 1], p=[0.95, 0.025, 0.025])
        value = round(float(value), -1 if s < 2 else 2)
        rows.append((f"s{s}", f"o{n}", "value", f"{max(value, 0.01):g}"))
    return Claims.of(rows), {f"o{n}": f"{x:.6g}" for n, x in enumerate(true.tolist())}


def days(seed: int, sources: int = 10, objects: int = 400) -> tuple[Claims, Truths]:
    """Days of fifty years: often exact, else off by heavy-tailed errors of days to months."""
    rng = np.random.default_rng(seed)
    scales = np.geomspace(1, 60, sources)[rng.permutation(sources)]
    exact = rng.uniform(0.1, 0.6, sources)
    true = rng.integers(date(1950, 1, 1).toordinal(), date(2000, 1, 1).toordinal(), objects)
    rows: list[Row] = []
    for n, s in _described(rng, objects, sources):
        error = 0.0 if rng.random() < exact[s] else scales[s] * rng.standard_t(2)
        error = rng.uniform(-9000, 9000) if rng.random() < 0.05 else error
        day = date.fromordinal(int(true[n] + round(float(np.clip(error, -9000, 9000)))))
        rows.append((f"s{s}", f"o{n}", "value", day.isoformat()))
    return Claims.of(rows), {f"o{n}": date.fromordinal(int(x)).isoformat()
                             for n, x in enumerate(true.tolist())}  # fmt: skip


def places(
    seed: int, sources: int = 10, objects: int = 600
) -> tuple[Claims, Truths, dict[str, str]]:
    """Places of three levels, which each source states with a detail of its own.

    Of the truths 85 % are towns, others regions or countries. Half of the errors stay in the
    country. The third part of the answer is the parent of every place.
    """
    rng = np.random.default_rng(seed)
    regions, towns = 8 * rng.permutation(12), rng.integers(3, 13, 96)
    parents = {f"r{r}": f"c{r // 8}" for r in range(96)}
    parents |= {f"t{r}.{k}": f"r{r}" for r in range(96) for k in range(towns[r])}
    rates, details = rng.uniform(*RATES, sources), rng.dirichlet((1, 1, 1.5), sources)
    rows: list[Row] = []
    truths: Truths = {}
    for n in range(objects):
        path = _path(rng, int(rng.choice(regions)) + int(rng.integers(8)), towns)
        truth = path[int(rng.choice(3, p=(0.85, 0.1, 0.05))) :]
        truths[f"o{n}"] = truth[0]
        for s in np.flatnonzero(rng.random(sources) < 0.6).tolist():
            stated = truth
            if rng.random() > rates[s]:
                country = int(path[-1][1:]) if rng.random() < 0.5 else int(rng.integers(12))
                stated = _path(rng, 8 * country + int(rng.integers(8)), towns)
            level = min(int(rng.choice(3, p=details[s])), len(stated) - 1)
            rows.append((f"s{s}", f"o{n}", "place", stated[-1 - level]))
    return Claims.of(rows), truths, parents


def nobody_right(seed: int, sources: int = 12, objects: int = 600) -> tuple[Claims, Truths]:
    """Of half of the objects hardly any source knows the truth, and errors have a lure."""
    rng = np.random.default_rng(seed)
    rates = rng.uniform(*RATES, sources)
    rows: list[Row] = []
    for n in range(objects):
        hard, lure = rng.random() < 0.5, rng.uniform(0.2, 0.8)
        for s in np.flatnonzero(rng.random(sources) < 0.5).tolist():
            right = rng.random() < (0.05 if hard else rates[s])
            wrong = 1 if rng.random() < lure else _wrong(rng)
            rows.append((f"s{s}", f"o{n}", "value", _value(n, 0 if right else wrong)))
    return Claims.of(rows), _truths(objects)


def one_feed(seed: int, sources: int = 20, objects: int = 600) -> tuple[Claims, Truths]:
    """Two thirds of the sources show one feed, each with own errors; the others know better."""
    rng = np.random.default_rng(seed)
    rates, feed = rng.uniform(0.7, 0.95, sources), rng.uniform(0.6, 0.8)
    rows: list[Row] = []
    for n in range(objects):
        stated = 0 if rng.random() < feed else _wrong(rng)
        for s in np.flatnonzero(rng.random(sources) < 0.6).tolist():
            known = stated if 3 * s < 2 * sources else 0
            value = known if rng.random() < rates[s] else _wrong(rng)
            rows.append((f"s{s}", f"o{n}", "value", _value(n, value)))
    return Claims.of(rows), _truths(objects)


def two_sources(seed: int, objects: int = 600) -> tuple[Claims, Truths]:
    """Two sources, of which one is better."""
    return independent(seed, sources=2, objects=objects)


def long_tail(seed: int, sources: int = 500, objects: int = 600) -> tuple[Claims, Truths]:
    """Most sources make a few claims, and some objects have one claim only."""
    rng = np.random.default_rng(seed)
    rates, share = rng.uniform(0.3, 0.95, sources), 1.0 / np.arange(1, sources + 1)
    rows: list[Row] = []
    for n in range(objects):
        count = min(1 + rng.geometric(0.35), 12) if rng.random() < 0.8 else 1
        for s in rng.choice(sources, count, replace=False, p=share / share.sum()).tolist():
            value = 0 if rng.random() < rates[s] else 1 if rng.random() < 0.4 else _wrong(rng)
            rows.append((f"s{s}", f"o{n}", "value", _value(n, value)))
    return Claims.of(rows), _truths(objects)


def definitions(seed: int, sources: int = 12, objects: int = 600) -> tuple[Claims, Truths]:
    """Whole numbers of which sources use three definitions; the rarest is the true one."""
    rng = np.random.default_rng(seed)
    kind = np.array([0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2])[:sources]
    noise = rng.uniform(0.3, 2.0, sources)
    rows: list[Row] = []
    truths: Truths = {}
    for n in range(objects):
        base = rng.normal(60, 15) + np.array([0.0, rng.normal(3, 3), rng.normal(-2, 4)])
        truths[f"o{n}"] = str(round(float(base[0])))
        for s in np.flatnonzero(rng.random(sources) < 0.7).tolist():
            stated = round(float(base[kind[s]] + noise[s] * rng.standard_t(3)))
            rows.append((f"s{s}", f"o{n}", "value", str(stated)))
    return Claims.of(rows), truths


def quotes(seed: int, sources: int = 30, objects: int = 500) -> tuple[Claims, Truths]:
    """Prices: exact, of the day before, in another unit, or damaged in one claim of thirty."""
    rng = np.random.default_rng(seed)
    stale, rates = rng.beta(0.5, 2.0, sources), rng.uniform(0.6, 0.98, sources)
    rows: list[Row] = []
    truths: Truths = {}
    for n in range(objects):
        price = round(float(np.exp(rng.uniform(0, 7))), 2)
        before = round(price * (1 + 0.02 * float(rng.standard_t(2))), 2)
        truths[f"o{n}"] = f"{price:g}"
        for s in np.flatnonzero(rng.random(sources) < 0.5).tolist():
            value = before if rng.random() < stale[s] else price
            if rng.random() > rates[s]:
                value = value * rng.choice([100, 1.1, 0.9]) + rng.normal(0, 0.05)
            text = f"{max(value, 0.01):.2f}".rstrip("0").rstrip(".")
            rows.append((f"s{s}", f"o{n}", "value", text if rng.random() > 1 / 30 else f"{text}-x"))
    return Claims.of(rows), truths


def classes(seed: int, sources: int = 80, objects: int = 600) -> tuple[Claims, Truths]:
    """Five classes in a row by a crowd: neighbours are confused on hard objects, some guess."""
    rng = np.random.default_rng(seed)
    careless, skill = rng.random(sources) < 0.25, rng.normal(1.2, 0.6, sources)
    rows: list[Row] = []
    truths: Truths = {}
    for n in range(objects):
        true, ease, lure = rng.integers(5), rng.normal(0, 1.5), rng.choice([-1, 1])
        truths[f"o{n}"] = f"c{true}"
        for s in rng.choice(sources, 6, replace=False).tolist():
            right = rng.random() < 1 / (1 + np.exp(-skill[s] - ease))
            value = true if right else min(max(true + lure, 0), 4)
            value = rng.integers(5) if careless[s] else value
            rows.append((f"s{s}", f"o{n}", "value", f"c{value}"))
    return Claims.of(rows), truths


def _path(rng: np.random.Generator, region: int, towns: IntArray) -> tuple[str, str, str]:
    """Return a town of a region, the region and its country."""
    return f"t{region}.{rng.integers(towns[region])}", f"r{region}", f"c{region // 8}"


def _described(rng: np.random.Generator, objects: int, sources: int) -> list[tuple[int, int]]:
    return [(n, s) for n in range(objects) for s in range(sources) if rng.random() < 0.6]


FAMILIES: dict[str, Callable[[int], tuple[Claims, Truths]]] = {
    "independent": independent,
    "copiers": copying,
    "common upstream": upstream,
    "difficulty": correlated,
    "heavy-tailed numbers": numbers,
}
HARD: dict[str, Callable[[int], tuple[Claims, Truths]]] = {
    "nobody right": nobody_right,
    "one feed": one_feed,
    "two sources": two_sources,
    "long tail": long_tail,
    "definitions": definitions,
    "quotes": quotes,
    "classes": classes,
}


def _wrong(rng: np.random.Generator) -> int:
    return int(rng.integers(1, 21))


def _value(thing: int, code: int) -> str:
    """Return a text for the value of an object; 0 is its true value."""
    return f"v{(thing * 7919 + code * 104729) % 100_003}"


def _truths(objects: int) -> Truths:
    return {f"o{n}": _value(n, 0) for n in range(objects)}
