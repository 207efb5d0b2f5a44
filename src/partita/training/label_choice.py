"""Choose which sets to label next."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from partita.core import CoreferenceSet, FloatArray, IntArray, compatible_pairs
from partita.pairs.columns import template_columns
from partita.pairs.models import MaximumEntropy
from partita.templates.schema import Schema
from partita.training.maxent import Codes, logistic_probability
from partita.training.parameter_files import PairParameters

LOG2 = math.log(2.0)
BATCH = 4096  # pairs in one dense block


@dataclass(frozen=True, slots=True, eq=False)
class OpenPairs:
    """The undecided pairs of a set: codes, positions of both templates, the number of templates."""

    codes: Codes
    left: IntArray
    right: IntArray
    templates: int


@dataclass(frozen=True, slots=True, eq=False)
class KeyInformation:
    """The expected information of one set's key as rows R with B = RᵀR, and its number of
    templates."""

    rows: FloatArray
    templates: int = 1

    @property
    def information(self) -> FloatArray:
        information: FloatArray = self.rows.T @ self.rows
        return information


def question_probabilities(pairs: OpenPairs, p: FloatArray) -> FloatArray:
    """Return the probability that the merger asks about each pair S, T.

    No template between them may join S or T; answers are treated as independent.
    """
    separate = np.ones((pairs.templates, pairs.templates))
    separate[pairs.left, pairs.right] = 1 - p
    s_free, t_free = np.ones_like(separate), np.ones_like(separate)
    s_free[:, 1:] = np.cumprod(separate, axis=1)[:, :-1]
    t_free[:-1] = np.cumprod(separate[::-1], axis=0)[::-1][1:]
    probabilities: FloatArray = (s_free * t_free)[pairs.left, pairs.right]
    return probabilities


def probabilities(pairs: OpenPairs, weights: FloatArray, sizes: Sequence[int]) -> FloatArray:
    """Return the probability of every open pair under the weights."""
    scores: FloatArray = weights[feature_indices(pairs.codes, sizes)].sum(axis=1)
    return logistic_probability(scores)


def feature_indices(codes: Codes, sizes: Sequence[int]) -> IntArray:
    """Return the indices of the features of each pair."""
    starts = np.cumsum([0, *sizes])[:-1].astype(np.int64)
    indices: IntArray = codes + starts[None, :]
    return indices


def key_information(
    sets: Sequence[OpenPairs], weights: FloatArray, sizes: Sequence[int]
) -> list[KeyInformation]:
    """Return the expected information of each set's key about the features of all sets."""
    seen = np.zeros(sum(sizes), dtype=np.bool_)
    for pairs in sets:
        seen[feature_indices(pairs.codes, sizes)] = True
    column, features = np.cumsum(seen) - 1, int(seen.sum())
    found = []
    for pairs in sets:
        p = probabilities(pairs, weights, sizes)
        variance = question_probabilities(pairs, p) * p * (1 - p)
        rows = _rows(column[feature_indices(pairs.codes, sizes)], variance, features)
        found.append(KeyInformation(rows, pairs.templates))
    return found


def _rows(indices: IntArray, variance: FloatArray, features: int) -> FloatArray:
    """Return a row for each pair, but never more rows than features."""
    if len(indices) <= features:
        return _dense_rows(indices, variance, features)
    information = np.zeros((features, features))
    for first in range(0, len(indices), BATCH):
        part = slice(first, first + BATCH)
        rows = _dense_rows(indices[part], variance[part], features)
        information += rows.T @ rows
    values, vectors = np.linalg.eigh(information)
    root: FloatArray = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return root


def _dense_rows(indices: IntArray, variance: FloatArray, features: int) -> FloatArray:
    rows = np.zeros((len(indices), features))
    rows[np.arange(len(indices))[:, None], indices] = np.sqrt(variance)[:, None]
    return rows


def update_inverse(inverse: FloatArray, key: KeyInformation) -> FloatArray:
    """Update A⁻¹ by one more key: (A + RᵀR)⁻¹ = A⁻¹ − A⁻¹Rᵀ (I + R A⁻¹ Rᵀ)⁻¹ R A⁻¹."""
    across = key.rows @ inverse
    root = np.linalg.cholesky(_innovation(across, key))
    part = np.linalg.solve(root, across)
    updated: FloatArray = inverse - part.T @ part
    return updated


def expected_saving(inverse: FloatArray, key: KeyInformation, spread: FloatArray) -> float:
    """Return the bits that the keys behind M are expected to save; `spread` is A⁻¹ M A⁻¹."""
    inner = key.rows @ spread @ key.rows.T
    surprise = _innovation(key.rows @ inverse, key)
    return max(0.0, float(np.trace(np.linalg.solve(surprise, inner)))) / 2 / LOG2


def total_information(sets: Iterable[KeyInformation], features: int) -> FloatArray:
    """Return M, the information of all keys together."""
    information = np.zeros((features, features))
    for key in sets:
        information += key.information
    return information


def _innovation(across: FloatArray, key: KeyInformation) -> FloatArray:
    """Return I + R A⁻¹ Rᵀ."""
    innovation: FloatArray = np.eye(len(key.rows)) + across @ key.rows.T
    return innovation


EXACT_CHOICES = 10  # choices that account for the earlier ones; later ones are made at once
SHORTLIST = 40  # best sets among which these choices are made
TEMPLATES_PER_UNIT = 10  # sets with more templates are valued per ten of them
MIN_SAVING = 1e-12  # bits; smaller savings count as none


def choose(
    sets: Sequence[KeyInformation], keyed: Collection[int], precision: float, limit: int
) -> list[tuple[int, float]]:
    """Return at most `limit` sets without a key, each with its expected saving.

    The saving is in bits over the keys of all sets, per ten templates for sets of more than ten.
    """
    if not sets:
        return []
    target = total_information(sets, features := sets[0].rows.shape[1])
    held = total_information((sets[n] for n in keyed), features)
    inverse = np.linalg.inv(np.eye(features) * precision + held).astype(np.float64)
    candidates = [n for n in range(len(sets)) if n not in keyed]
    chosen: list[tuple[int, float]] = []
    ranked = _ranked(inverse, sets, candidates, target)
    while ranked and len(chosen) < min(limit, EXACT_CHOICES):
        chosen.append(ranked[0])
        inverse = update_inverse(inverse, sets[ranked[0][0]])
        shortlist = [index for index, _ in ranked[1 : SHORTLIST + 1]]
        ranked = _ranked(inverse, sets, shortlist, target) + ranked[SHORTLIST + 1 :]
    return chosen + sorted(ranked, key=_gain_order)[: max(0, limit - len(chosen))]


def _ranked(
    inverse: FloatArray, sets: Sequence[KeyInformation], among: Sequence[int], target: FloatArray
) -> list[tuple[int, float]]:
    """Return the sets that save something in descending order; equal ones in text order."""
    spread = inverse @ target @ inverse  # the cost of uncertain weights
    units = [max(1.0, sets[n].templates / TEMPLATES_PER_UNIT) for n in among]
    savings = [
        (n, expected_saving(inverse, sets[n], spread) / unit)
        for n, unit in zip(among, units, strict=True)
    ]
    return sorted((item for item in savings if item[1] > MIN_SAVING), key=_gain_order)


def _gain_order(item: tuple[int, float]) -> tuple[float, int]:
    return -item[1], item[0]


PRECISION = 5.0  # of the prior of pairs around what is there
SAMPLE_SIZE = 200  # sets compared at most: an even sample of a long run is as good and fast


def set_gains(
    sets: Sequence[CoreferenceSet],
    parameters: PairParameters,
    keyed: Collection[str] = (),
    *,
    schema: Schema | None = None,
    limit: int = 10,
) -> list[tuple[str, float]]:
    """Return the sets to key next, best first, each with its gain.

    The gain is the expected reduction in bits over all sets once the set has a key. For a set of
    more than ten templates it is per ten templates, as many as a person places at a time.

    `sets` are all sets of a run, `keyed` the names of those that have a key, `parameters` the
    latest there are. Sets without open pairs are left out. The ranking uses the model of
    merging questions whatever the model of the run: docs/keys.md has the study.
    """
    model = parameters.questions
    labelled = [one for one in sets if one.name in keyed]
    rest = _sample([one for one in sets if one.name not in keyed])
    pairs = [_open_pairs(one, model, schema) for one in (*labelled, *rest)]
    sizes = [len(one.values) for one in model.characteristics]
    described = key_information(pairs, model.weights, sizes)
    gains = choose(described, range(len(labelled)), PRECISION, limit)
    return [(rest[place - len(labelled)].name, gain) for place, gain in gains]


def _open_pairs(one: CoreferenceSet, model: MaximumEntropy, schema: Schema | None) -> OpenPairs:
    """Return the pairs of a set that a key decides: neither incompatible nor certain."""
    allowed, place = compatible_pairs(one), {name: n for n, name in enumerate(one.ids)}
    columns = template_columns(one.templates, schema=schema, compatible=allowed)
    undecided = np.triu(allowed, 1)
    for ends in one.must:
        undecided[tuple(sorted(place[name] for name in ends))] = False
    left, right = np.nonzero(undecided)
    return OpenPairs(model.codes(columns, left, right), left, right, len(one))


def _sample(sets: list[CoreferenceSet]) -> list[CoreferenceSet]:
    if len(sets) <= SAMPLE_SIZE:
        return sets
    return [sets[n] for n in np.linspace(0, len(sets) - 1, SAMPLE_SIZE).astype(int).tolist()]
