"""Result lines of many small sets, from arrays.

The text around names and numbers is cut out of a line that `result_line` writes, so that there is
one description of the format.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, islice
from json.encoder import encode_basestring

import numpy as np
from numpy.typing import NDArray

from partita.core import (
    BoolArray,
    CoreferenceSet,
    Distribution,
    Figure,
    Figures,
    FloatArray,
    IntArray,
    Listing,
    Marginals,
    Remainder,
    Template,
    pair,
)
from partita.results.result_lines import cells_format, result_line

# places of the text before, between and after names and numbers in the line of `_specimen`
SET, FIRST_ID, NEXT_ID, APART, UNLISTED, PAIR, RIGHT, GIVEN, MARGINAL, NEXT_PAIR = (
    0, 1, 2, 4, 6, 7, 8, 9, 10, 11)  # fmt: skip
CELLS, SHARE, NEXT_CELLS, REST, PIECES = 15, 18, 19, 23, 32


@dataclass(frozen=True, slots=True, eq=False)
class SmallSets:
    """What is to be written of many sets, one row for each; all of one number of columns.

    `ids` are those of all sets, one set after the other. `given`, `marginals` and `listed` are
    rows over the pairs of a set, in order. `figures` are log₂ of the number of unlisted
    configurations and their mass, log₂ of the number of all, entropy, log-normaliser, conflict.
    """

    names: Sequence[str]
    ids: Sequence[str]
    sizes: IntArray
    unlisted: IntArray
    counts: IntArray
    given: FloatArray
    marginals: FloatArray
    listed: BoolArray
    labels: NDArray[np.uint8]
    shares: FloatArray
    figures: FloatArray


def small_set_lines(sets: SmallSets, model: str, source: str, missing: float, seed: int,
                    reason: str) -> list[str]:  # fmt: skip
    """Return the line of every set, as `result_line` writes it."""
    if not np.isfinite(sets.figures[:, 1:]).all() or not np.isfinite(sets.marginals).all():
        raise ValueError("a probability is not a finite number")
    pieces = _pieces(model, source, missing, seed, reason)
    ids = map(encode_basestring, sets.ids)
    numbers = zip(
        map(encode_basestring, sets.names), sets.sizes.tolist(), sets.unlisted.tolist(),
        sets.counts.tolist(), sets.given.tolist(), sets.marginals.tolist(), sets.listed.tolist(),
        sets.labels.tolist(), sets.shares.tolist(), sets.figures.tolist(), strict=True,
    )  # fmt: skip
    lines = []
    for name, size, unlisted, count, given, marginals, listed, labels, shares, figures in numbers:
        members = list(islice(ids, size))
        pairs = [
            (left, right, given[x], marginals[x])
            for x, (left, right) in enumerate(combinations(members, 2))
            if listed[x]
        ]
        apart = ",".join(f"[{left},{right}]" for left, right, p, _ in pairs if p == 0.0)
        top = min(count, len(shares))
        lines.append(
            f"{pieces[SET]}{name}{pieces[FIRST_ID]}{pieces[NEXT_ID].join(members)}"
            f"{pieces[APART]}{apart}{pieces[UNLISTED]}{unlisted}"
            f"{_pairs(pairs, pieces)}{_configurations(members, labels[:top], shares, pieces)}"
            f"{_figures(count, count - top, figures, pieces)}"
        )
    return lines


def _pairs(pairs: Sequence[tuple[str, str, float, float]], pieces: Sequence[str]) -> str:
    right, given, marginal = pieces[RIGHT], pieces[GIVEN], pieces[MARGINAL]
    written = [f"{a}{right}{b}{given}{p!r}{marginal}{m!r}" for a, b, p, m in pairs]
    return pieces[PAIR] + pieces[NEXT_PAIR].join(written)


def _configurations(
    members: Sequence[str],
    labels: Sequence[Sequence[int]],
    shares: Sequence[float],
    pieces: Sequence[str],
) -> str:
    share, size = pieces[SHARE], len(members)
    written = [
        f"{cells_format(tuple(row[:size])).format(*members)[2:-2]}{share}{p!r}"
        for row, p in zip(labels, shares, strict=False)
    ]
    return pieces[CELLS] + pieces[NEXT_CELLS].join(written)


def _figures(count: int, left: int, figures: Sequence[float], pieces: Sequence[str]) -> str:
    """Return what is not listed, and the figures of the whole set."""
    bits, mass, *rest = figures
    numbers = [str(left), repr(bits) if left else "null", repr(mass), str(count), *map(repr, rest)]
    texts = zip(pieces[REST:], [*numbers, ""], strict=True)
    return "".join(text + number for text, number in texts)


MARK = re.compile(r'"\ue000"|"\ue001"|"\ue002"|"\ue003"|7777\.25|777725')


@cache
def _pieces(model: str, source: str, missing: float, seed: int, reason: str) -> list[str]:
    """Cut a line where names and numbers are."""
    line = result_line(_specimen(model, seed, reason), "", (777725, missing))
    pieces = MARK.split(line)
    assert len(pieces) == PIECES
    pieces[SET] = pieces[SET].replace('"message":""', f'"message":{encode_basestring(source)}')
    pieces[APART], pieces[UNLISTED] = pieces[APART][:-1], pieces[UNLISTED][1:]  # of one pair
    return pieces


def _specimen(model: str, seed: int, reason: str) -> Distribution:
    """Return a set of three templates, two pairs and two configurations, all numbers alike."""
    ids, number = ("\ue000", "\ue001", "\ue002"), 7777.25
    p = np.zeros((3, 3))
    p[0, 1:] = p[1:, 0] = number
    labels = np.array([[0, 0, 1], [0, 1, 2]])
    figure = Figure.exact(number)
    templates = tuple(Template(name) for name in ids)
    return Distribution(
        set=CoreferenceSet(templates, frozenset([pair(*ids[:2])]), name="\ue003"),
        model=model,
        method="exact",
        reason=reason,
        probabilities=p,
        marginals=Marginals.exact(p),
        configurations=Listing(ids, labels, [number, number]),
        remainder=Remainder(777725, number, number),
        figures=Figures(figure, figure, figure),
        conflict=number,
        count=777725,
        seed=seed,
        posterior=None,  # type: ignore[arg-type]
    )
