"""A distribution as one line of results JSONL; results.schema.json describes it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

import numpy as np

from partita.records import (
    Configuration,
    Distribution,
    Figure,
    FloatArray,
    Listed,
    Pair,
    Remainder,
    Template,
)

VERSION = 1
SCHEMA = "results.schema.json"
SMALL = 16
PLAIN_BITS = 10_000
SAYING = tuple(f.name for f in fields(Template) if f.name not in ("id", "slots", "antecedents"))

Unlisted = tuple[int, float]  # how many pairs the input does not list, and what they were taken as
Positions = list[tuple[int, int]]

_said = attrgetter(*SAYING, "slots", "antecedents")
_bare = _said(Template(""))
_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def schema() -> dict[str, Any]:
    """The JSON Schema of a line of results."""
    from importlib.resources import files

    text = files("partita.formats").joinpath(SCHEMA).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def result_line(
    distribution: Distribution, message: str = "", unlisted: Unlisted | None = None
) -> str:
    """One set as one line, without its line end: full precision, counts as text.

    Pairs and configurations are most of it and are written directly: files hold many sets.
    """
    group = distribution.set
    ids = group.ids
    quoted = {name: _text(name) for name in ids}
    apart, must = _positions(ids, group.incompatible), _positions(ids, group.must)
    parts = [
        f'"version":{VERSION},"message":{_text(message)},"set":{_text(group.name)}',
        f'"templates":{_templates(group.templates, quoted)}',
        f'"incompatible":{_text([[ids[a], ids[b]] for a, b in apart])}',
    ]
    if must:
        parts.append(f'"must":{_text([[ids[a], ids[b]] for a, b in must])}')
    if unlisted is not None:
        parts.append(f'"unlisted":{{"count":{unlisted[0]},"probability":{unlisted[1]!r}}}')
    parts.append(f'"pairs":{_pairs(distribution, list(quoted.values()), apart + must)}')
    parts.append(f'"configurations":{_configurations(distribution.configurations, ids, quoted)}')
    return f"{{{','.join([*parts, *_rest(distribution)])}}}"


def singletons_line(templates: Iterable[Template], message: str = "") -> str:
    """What is alone, as one line."""
    alone = [template_object(template) for template in templates]
    return _text({"version": VERSION, "message": message, "singletons": alone})


def template_object(template: Template) -> dict[str, Any]:
    """The id, and of the other fields those that say something."""
    written: dict[str, Any] = {"id": template.id}
    for name, value, nothing in zip(SAYING, _said(template), _bare, strict=False):
        if value != nothing:
            written[name] = value
    if template.slots:
        written["slots"] = dict(template.slots)
    if template.antecedents:
        written["antecedents"] = [
            {"id": one.id, "preferred": one.preferred} for one in template.antecedents
        ]
    return written


def in_text_order(configuration: Configuration, place: Mapping[str, int]) -> list[list[str]]:
    """Cells by their first template, and each cell's templates, as they stand in the text."""
    cells = [sorted(cell, key=place.__getitem__) for cell in configuration]
    return sorted(cells, key=lambda cell: place[cell[0]])


def _positions(ids: Sequence[str], pairs: frozenset[Pair]) -> Positions:
    if not pairs:
        return []
    place = {name: n for n, name in enumerate(ids)}
    ends = ((place[left], place[right]) for left, right in pairs)
    return sorted((min(both), max(both)) for both in ends)


def _templates(templates: Iterable[Template], quoted: Mapping[str, str]) -> str:
    written = [
        f'{{"id":{quoted[t.id]}}}' if _said(t) == _bare else _text(template_object(t))
        for t in templates
    ]
    return f"[{','.join(written)}]"


def _pairs(distribution: Distribution, quoted: Sequence[str], known: Positions) -> str:
    """Every pair that may corefer or of which something is known, as given and as it came out."""
    marginals = distribution.marginals
    form = '{{"left":{},"right":{},"probability":{!r},"marginal":{!r}}}'.format
    if marginals.kind != "exact":
        form = '{{"left":{},"right":{},"probability":{!r},"marginal":{!r},"interval":{!r}}}'.format
    columns = _small if len(quoted) <= SMALL else _large
    left, right, *numbers = columns(distribution, known)
    if not math.isfinite(sum(map(sum, numbers))):
        raise ValueError("a probability is not a finite number")
    if marginals.kind != "exact":
        numbers[2:] = [list(map(list, zip(*numbers[2:], strict=True)))]
    names = ([quoted[n] for n in end] for end in (left, right))
    return f"[{','.join(map(form, *names, *numbers))}]"


def _matrices(distribution: Distribution) -> list[FloatArray]:
    marginals = distribution.marginals
    bounds = [] if marginals.kind == "exact" else [marginals.low, marginals.high]
    return [distribution.probabilities, marginals.value, *bounds]


def _small(distribution: Distribution, known: Positions) -> list[list[Any]]:
    """Columns of the pairs of a small set: plain loops start sooner than numpy."""
    given, *others = (matrix.tolist() for matrix in _matrices(distribution))
    n, also = len(given), set(known)
    at = [(a, b) for a in range(n) for b in range(a + 1, n) if given[a][b] > 0 or (a, b) in also]
    ends: list[list[Any]] = [[a for a, _ in at], [b for _, b in at]]
    return ends + [[matrix[a][b] for a, b in at] for matrix in (given, *others)]


def _large(distribution: Distribution, known: Positions) -> list[list[Any]]:
    said = distribution.probabilities > 0.0
    for a, b in known:
        said[a, b] = True
    at = np.nonzero(np.triu(said, 1))
    columns = [*at, *(matrix[at] for matrix in _matrices(distribution))]
    return [column.tolist() for column in columns]


def _configurations(listed: Sequence[Listed], ids: Sequence[str], quoted: Mapping[str, str]) -> str:
    """Most probable first; cells as their names sort, unless the text has another order."""
    place = {name: n for n, name in enumerate(ids)}
    alike = Configuration([ids]).cells[0] == tuple(ids)
    written = []
    for one in listed:
        cells = one.configuration if alike else in_text_order(one.configuration, place)
        told = "],[".join([",".join([quoted[name] for name in cell]) for cell in cells])
        interval = "" if one.interval is None else f',"interval":{_text(list(one.interval))}'
        written.append(f'{{"cells":[[{told}]],"probability":{_number(one.probability)}{interval}}}')
    return f"[{','.join(written)}]"


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else _text(value)  # which refuses it


def _rest(distribution: Distribution) -> Iterator[str]:
    """What remains, the figures of the whole, and how all of it was obtained."""
    yield f'"remainder":{{{_remainder(distribution.remainder)}}}'
    if distribution.pruned:
        yield f'"excluded":{_number(distribution.pruned)}'
    yield f'"count":{_count(distribution.count)}'
    yield _figure("log2_count", distribution.log2_count)
    yield _figure("entropy_bits", distribution.entropy_bits)
    yield _figure("log_normaliser", distribution.log_normaliser)
    yield f'"conflict":{"null" if (k := distribution.conflict) is None else _number(k)}'
    yield f'"model":{_text(distribution.model)},"method":{_text(distribution.method)}'
    yield from _trust(distribution)
    yield f'"reason":{_text(distribution.reason)},"seed":{distribution.seed}'


def _trust(distribution: Distribution) -> Iterator[str]:
    """How far the answer can be relied on."""
    marginals = distribution.marginals
    if distribution.converged is not None:
        yield f'"converged":{_text(distribution.converged)}'
    if marginals.kind == "estimate":
        yield f'"error":{_number(float((marginals.high - marginals.value).max()))}'
    yield f'"optimal":{_text(distribution.gap == 0.0)}'
    if distribution.gap:
        yield f'"gap":{_open(distribution.gap)}'


def _remainder(remainder: Remainder) -> str:
    written = (
        f'"count":{_count(remainder.count)},"log2_count":{_open(remainder.log2_count)},'
        f'"probability":{_number(remainder.probability)}'
    )
    if remainder.interval is not None:
        written += f',"interval":{_text(list(remainder.interval))}'
    return written


def _figure(name: str, figure: Figure) -> str:
    written = f'"{name}":{_open(figure.value)}'
    if figure.kind != "exact":
        written += f',"{name}_interval":[{_open(figure.low)},{_open(figure.high)}]'
    return written


def _count(count: int | None) -> str:
    """As text: it outgrows what many readers of JSON hold."""
    return "null" if count is None else f'"{digits(count)}"'


def digits(count: int) -> str:
    """A whole number of any length; Python itself refuses to write those of 4,300 digits."""
    if count.bit_length() < PLAIN_BITS:
        return str(count)
    from decimal import Decimal

    return format(Decimal(count), "f")


def whole(text: str) -> int:
    """The number that digits stand for."""
    if len(text) * 3 < PLAIN_BITS:
        return int(text)
    from decimal import Decimal

    return int(Decimal(text))


def _open(value: float) -> str:
    """JSON has no infinity: null says that nothing is known, or that there is nothing to count."""
    return repr(value) if math.isfinite(value) else "null"
