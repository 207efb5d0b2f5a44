"""Choose the next set to label in a stored run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.core import CoreferenceSet, FloatArray, Pair
from partita.core.keys import Key
from partita.corpora.documents import keyed_document
from partita.evaluation import calibration
from partita.evaluation.splits import Cut, cut
from partita.pairs.columns import template_columns
from partita.pairs.models import MaximumEntropy
from partita.templates.schema import Schema
from partita.training.few_keys import (
    PRECISION,
    KeyAnswer,
    Lesson,
    Point,
    Taught,
    lesson,
    teach,
)
from partita.training.few_keys import learning_curve as points_of
from partita.training.label_choice import OpenPairs, choose, key_information
from partita.training.pair_parameters import PairParameters

SAMPLE_SIZE = 200  # sets compared at most: an even sample of a long run is as good and fast


def next_sets(
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


def taught(
    keys: Sequence[Key],
    start: PairParameters,
    *,
    schema: Schema | None = None,
    learned_from: str = "",
    model: str = "evidential",
    latest: PairParameters | None = None,
) -> Taught:
    """Return parameters adapted to keys, with the bits of every key before and after.

    One key is enough; without keys nothing changes. The keys are never less probable in sum than
    under `latest`, which is the start by default.
    """
    lessons = _lessons(keys, start, schema)
    return teach(start, lessons, model=model, learned_from=learned_from, latest=latest)


def curve(
    keys: Sequence[Key],
    start: PairParameters,
    *,
    model: str = "evidential",
    schema: Schema | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the learning curve of a run and the reliability of its pair marginals:
    {"points": [{"keys", "bits", "low", "high"}], "reliability": {"before": [{"predicted",
    "observed", "count"}], "after": […]}}; both sides of reliability are of keys held out.
    """
    points = points_of(_lessons(keys, start, schema), start, model, seed)
    sides = {"before": points[:1], "after": points[1:][-1:]}
    return {
        "points": [_point(one) for one in points],
        "reliability": {name: _bins(side) for name, side in sides.items()},
    }


def learning_curve(
    keys: Sequence[Key],
    start: PairParameters,
    *,
    model: str = "evidential",
    schema: Schema | None = None,
    seed: int = 0,
) -> list[dict[str, float]]:
    """Return bits per template of held-out keys after training on 0, 1, 2, 5, … keys.

    Keys are used in the order in which they were written. Intervals are of 95 % over messages.

    Messages are held out whole, in five parts or, if there are fewer, one at a time. The point at
    0 keys is of the parameters that the run was made with; keys of one message give no other.
    """
    points = points_of(_lessons(keys, start, schema), start, model, seed)
    return [_point(one) for one in points]


def reliability(stated: FloatArray, observed: NDArray[np.bool_]) -> list[dict[str, float]]:
    """Return predicted and observed pair marginals in ten bins of equal count."""
    bins = calibration.reliability(stated, observed)
    return [{"predicted": b.stated, "observed": b.observed, "count": b.count} for b in bins]


def _lessons(keys: Sequence[Key], start: PairParameters, schema: Schema | None) -> list[Lesson]:
    return [lesson(_cut(key, schema), start) for key in keys]


def _cut(key: Key, schema: Schema | None) -> Cut:
    """Return a key as a document of its own, as a file of keys is read."""
    return cut(keyed_document(key), schema)


def _open_pairs(
    coreference_set: CoreferenceSet, model: MaximumEntropy, schema: Schema | None
) -> OpenPairs:
    allowed = ~_pair_mask(coreference_set, coreference_set.incompatible)
    columns = template_columns(coreference_set.templates, schema=schema, compatible=allowed)
    left, right = np.nonzero(
        np.triu(allowed & ~_pair_mask(coreference_set, coreference_set.must), 1)
    )
    return OpenPairs(model.codes(columns, left, right), left, right, len(coreference_set))


def _pair_mask(coreference_set: CoreferenceSet, pairs: Iterable[Pair]) -> NDArray[np.bool_]:
    """Return a symmetric mask of the given pairs of a set."""
    place = {name: n for n, name in enumerate(coreference_set.ids)}
    mask = np.zeros((len(coreference_set), len(coreference_set)), dtype=np.bool_)
    for one, other in pairs:
        mask[place[one], place[other]] = mask[place[other], place[one]] = True
    return mask


def _sample(sets: list[CoreferenceSet]) -> list[CoreferenceSet]:
    if len(sets) <= SAMPLE_SIZE:
        return sets
    return [sets[n] for n in np.linspace(0, len(sets) - 1, SAMPLE_SIZE).astype(int).tolist()]


def _point(one: Point) -> dict[str, float]:
    return {"keys": one.keys, "bits": one.bits, "low": one.low, "high": one.high}


def _bins(side: Sequence[Point]) -> list[dict[str, float]]:
    answers: list[KeyAnswer] = [answer for point in side for answer in point.answers]
    if not answers:
        return []
    stated = np.concatenate([one.stated for one in answers])
    return reliability(stated, np.concatenate([one.observed for one in answers]))
