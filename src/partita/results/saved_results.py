"""Read results back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from partita.core import (
    Configuration,
    CoreferenceSet,
    Entity,
    Figure,
    FloatArray,
    Kind,
    Listed,
    Marginals,
    Method,
    Pair,
    Remainder,
    Template,
    pair,
)
from partita.errors import InputError
from partita.files.strict import Place, fields, json_lines, list_of, number_of, text_of
from partita.results.result_lines import VERSION, entity_of, template_of, whole

KINDS: dict[str, Kind] = {"exact": "exact", "certified": "interval", "sampled": "estimate"}
NEEDED = (
    *("version", "message", "set", "templates", "incompatible", "pairs", "configurations"),
    *("remainder", "entropy_bits", "conflict", "model", "method", "reason", "seed"),
)
ALLOWED = (
    *("must", "unlisted", "excluded", "count", "log2_count", "log2_count_interval", "converged"),
    *("entropy_bits_interval", "log_normaliser", "log_normaliser_interval", "optimal", "gap"),
    *("error", "entities", "partial"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """A distribution as read from a line of results; `cells` are those of `partial`.

    `entropy` has its interval, with infinite ends where it is open. `optimal` says that the first
    configuration is proven most probable; `excluded` is the pruning cost.
    """

    message: str
    set: CoreferenceSet
    model: str
    method: Method
    reason: str
    probabilities: FloatArray
    marginals: Marginals
    configurations: tuple[Listed, ...]
    remainder: Remainder
    entropy_bits: float | None
    conflict: float | None
    seed: int
    converged: bool | None = None
    entities: tuple[Entity, ...] = ()
    log_normaliser: float | None = None
    cells: Mapping[tuple[str, ...], float] | None = None
    entropy: Figure = field(default_factory=lambda: Figure.exact(0.0))
    optimal: bool = True
    excluded: float = 0.0

    @property
    def first_cells(self) -> tuple[tuple[str, ...], ...]:
        """The cells of the most probable configuration, if any is listed."""
        return tuple(self.configurations[0].configuration) if self.configurations else ()


@dataclass(frozen=True, slots=True)
class Alone:
    """The single templates of a message, the domain of the run, and the day of the message."""

    message: str
    templates: tuple[Template, ...]
    domain: str = ""
    date: str = ""


def read_results(path: str | Path) -> Iterator[Result | Alone]:
    """Yield the lines of a results file."""
    for place, value in json_lines(path):
        yield result_of(value, place)


def result_of(value: Any, place: Place) -> Result | Alone:
    """Parse one line of results."""
    if isinstance(value, dict) and value.get("version", VERSION) != VERSION:
        place.refuse(f"version is {value['version']!r}; this release reads version {VERSION}")
    if isinstance(value, dict) and "singletons" in value:
        needed = ("version", "message", "singletons")
        added = [name for name in value if isinstance(value[name], list)]  # by a domain
        line = fields(
            value, "the line", place, needed=needed, allowed=("notes", "run", "date", *added)
        )
        alone = tuple(
            template_of(one, place) for one in list_of(line["singletons"], "singletons", place)
        )
        message, day = (text_of(line.get(name, ""), name, place) for name in ("message", "date"))
        return Alone(message, alone, _domain(line), day)
    line = fields(value, "the line", place, needed=NEEDED, allowed=ALLOWED)
    try:
        return _result(line, place)
    except InputError as error:
        raise (
            error if error.file else InputError(error.problem, file=place.file, line=place.line)
        ) from error


def _domain(line: Mapping[str, Any]) -> str:
    """Return the domain of a resolved message, or ""."""
    run = line.get("run")
    return str(run.get("domain", "")) if isinstance(run, dict) else ""


def _result(line: Mapping[str, Any], place: Place) -> Result:
    templates = tuple(
        template_of(one, place) for one in list_of(line["templates"], "templates", place)
    )
    set_ = CoreferenceSet(
        templates,
        _pair_set(line["incompatible"], "incompatible", place),
        _pair_set(line.get("must", []), "must", place),
        text_of(line["set"], "set", place),
    )
    method = text_of(line["method"], "method", place)
    if method not in get_args(Method):
        place.refuse(f"method is {method!r}; expected {', '.join(get_args(Method))}")
    probabilities, marginals = _matrices(line["pairs"], set_.ids, KINDS[method], place)
    return Result(
        text_of(line["message"], "message", place),
        set_,
        text_of(line["model"], "model", place),
        cast(Method, method),
        text_of(line["reason"], "reason", place),
        probabilities,
        marginals,
        tuple(
            _listed(one, place) for one in list_of(line["configurations"], "configurations", place)
        ),
        _remainder(line["remainder"], place),
        _optional(line["entropy_bits"], "entropy_bits", place),
        _optional(line["conflict"], "conflict", place),
        int(number_of(line["seed"], "seed", place)),
        line.get("converged"),
        tuple(
            entity_of(one, place) for one in list_of(line.get("entities") or [], "entities", place)
        ),
        _optional(line.get("log_normaliser"), "log_normaliser", place),
        _partial_cells(line.get("partial"), place),
        _entropy(line, KINDS[method]),
        bool(line.get("optimal", True)),
        float(line.get("excluded", 0.0)),
    )


def _entropy(line: Mapping[str, Any], kind: Kind) -> Figure:
    """Return the entropy with its interval; unknown bounds are infinite."""
    value, ends = line["entropy_bits"] or 0.0, line.get("entropy_bits_interval")
    if not isinstance(ends, list) or len(ends) != 2:
        return Figure.exact(value)
    low, high = (float(end) if isinstance(end, int | float) else math.inf for end in ends)
    return Figure(value, low, high, "interval" if kind == "interval" else "estimate")


def _partial_cells(value: Any, place: Place) -> dict[tuple[str, ...], float] | None:
    """Return the probability of each part of a partial configuration as a cell."""
    if value is None:
        return None
    partial = fields(
        value, "partial", place, needed=("probability", "interval", "cells", "borders")
    )
    needed = ("templates", "settled", "probability", "interval", "together", "together_interval")
    cells = {}
    for one in list_of(partial["cells"], "cells", place):
        cell = fields(one, "a cell of partial", place, needed=needed)
        names = list_of(cell["templates"], "templates of a cell", place)
        members = tuple(text_of(name, "a template of a cell", place) for name in names)
        cells[members] = number_of(cell["probability"], "probability", place)
    return cells


def _pair_set(value: Any, what: str, place: Place) -> frozenset[Pair]:
    return frozenset(pair(*_ends(both, what, place)) for both in list_of(value, what, place))


def _ends(value: Any, what: str, place: Place) -> Pair:
    ends = list_of(value, f"a pair of {what}", place)
    if len(ends) != 2:
        place.refuse(f"a pair of {what} has {len(ends)} templates; expected 2")
    return text_of(ends[0], "a template", place), text_of(ends[1], "a template", place)


def _matrices(
    value: Any, ids: tuple[str, ...], kind: Kind, place: Place
) -> tuple[FloatArray, Marginals]:
    """Return probabilities and marginals; pairs that are not listed are incompatible."""
    position = {name: n for n, name in enumerate(ids)}
    probabilities, marginals, low, high = np.zeros((4, len(ids), len(ids)))
    for matrix in (marginals, low, high):
        np.fill_diagonal(matrix, 1.0)
    for pair_object in list_of(value, "pairs", place):
        pair_fields = fields(
            pair_object,
            "a pair",
            place,
            needed=("left", "right", "probability", "marginal"),
            allowed=("interval",),
        )
        left, right = (_position_of(pair_fields[end], position, place) for end in ("left", "right"))
        marginal = number_of(pair_fields["marginal"], "marginal", place)
        bounds = _interval(pair_fields, place) or (marginal, marginal)
        values = (number_of(pair_fields["probability"], "probability", place), marginal, *bounds)
        for matrix, number in zip((probabilities, marginals, low, high), values, strict=True):
            matrix[left, right] = matrix[right, left] = number
    return probabilities, Marginals(marginals, low, high, kind)


def _position_of(value: Any, position: Mapping[str, int], place: Place) -> int:
    name = text_of(value, "an end of a pair", place)
    if name not in position:
        place.refuse(f"a pair names {name}, which is not one of the templates")
    return position[name]


def _listed(value: Any, place: Place) -> Listed:
    configuration = fields(
        value, "a configuration", place, needed=("cells", "probability"), allowed=("interval",)
    )
    cells = [
        list_of(cell, "a cell", place) for cell in list_of(configuration["cells"], "cells", place)
    ]
    names = [[text_of(name, "a template of a cell", place) for name in cell] for cell in cells]
    probability = number_of(configuration["probability"], "probability", place)
    return Listed(Configuration(names), probability, _interval(configuration, place))


def _remainder(value: Any, place: Place) -> Remainder:
    remainder = fields(
        value,
        "remainder",
        place,
        needed=("count", "log2_count", "probability"),
        allowed=("interval",),
    )
    count, logarithm = remainder["count"], _optional(remainder["log2_count"], "log2_count", place)
    if count is not None and not text_of(count, "count", place).isdecimal():
        place.refuse(f"count is {count!r}; expected digits")
    return Remainder(
        None if count is None else whole(count),
        -np.inf if logarithm is None else logarithm,
        number_of(remainder["probability"], "probability", place),
        _interval(remainder, place),
    )


def _interval(fields_: Mapping[str, Any], place: Place) -> tuple[float, float] | None:
    if fields_.get("interval") is None:
        return None
    interval = list_of(fields_["interval"], "interval", place)
    if len(interval) != 2:
        place.refuse(f"interval has {len(interval)} numbers; expected 2")
    low, high = interval
    return number_of(low, "low", place), number_of(high, "high", place)


def _optional(value: Any, what: str, place: Place) -> float | None:
    return None if value is None else number_of(value, what, place)
