"""Choose the next set to label in a stored run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.evaluation import calibration
from partita.evaluation.learning_curves import PRECISION, Answered, Lesson, Point, adapted, lesson
from partita.evaluation.learning_curves import learning_curve as points_of
from partita.evaluation.splits import Cut, cut
from partita.pairs.columns import template_columns
from partita.pairs.models import MaximumEntropy
from partita.records import CoreferenceSet, Document, FloatArray, Pair
from partita.records.keys import Key
from partita.templates.schema import Schema
from partita.training.label_choice import OpenPairs, choose, key_information
from partita.training.pair_parameters import PairParameters

MOST = 200  # sets that are compared: an even sample of a long run is as good, and there at once


def next_sets(
    sets: Sequence[CoreferenceSet],
    parameters: PairParameters,
    keyed: Collection[str] = (),
    *,
    schema: Schema | None = None,
    limit: int = 10,
) -> list[tuple[str, float]]:
    """Names of sets that are not keyed, the one to key next first, each with its gain: the bits
    that keys of all sets are expected to cost less once it has one; of a set of more than ten
    templates for each ten of them, which are as much as a person places at one go.

    `sets` are all sets of a run, `keyed` the names of those that have a key, `parameters` the
    latest there are. Sets that leave nothing to decide are not named. The merger's questions
    decide whatever the model: docs/keys.md has the study.
    """
    model = parameters.questions
    known = [one for one in sets if one.name in keyed]
    rest = _sample([one for one in sets if one.name not in keyed])
    pairs = [_open_pairs(one, model, schema) for one in (*known, *rest)]
    sizes = [len(one.values) for one in model.characteristics]
    told = key_information(pairs, model.weights, sizes)
    gains = choose(told, range(len(known)), PRECISION, limit)
    return [(rest[place - len(known)].name, gain) for place, gain in gains]


def taught(
    keys: Sequence[Key],
    start: PairParameters,
    *,
    schema: Schema | None = None,
    learned_from: str = "",
) -> PairParameters:
    """The parameters that keys give, around those that are there: one key is enough, what no
    key shows keeps its weight, and no keys leave everything as it is."""
    return adapted(start, _lessons(keys, start, schema), learned_from)


def curve(
    keys: Sequence[Key],
    start: PairParameters,
    *,
    model: str = "evidential",
    schema: Schema | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """The learning curve of a run and the reliability of its pair marginals:
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
    """Bits per template of keys that were held out, after 0, 1, 2, 5, … keys in the order in
    which they were written, with an interval of 95 % over messages.

    Messages are held out whole, in five parts or, if there are fewer, one at a time. The point at
    0 keys is of the parameters that the run was made with; keys of one message give no other.
    """
    found = points_of(_lessons(keys, start, schema), start, model, seed)
    return [_point(one) for one in found]


def reliability(stated: FloatArray, observed: NDArray[np.bool_]) -> list[dict[str, float]]:
    """Pair marginals in ten bins of equal count: what was predicted and what the keys say."""
    found = calibration.reliability(stated, observed)
    return [{"predicted": b.stated, "observed": b.observed, "count": b.count} for b in found]


def _lessons(keys: Sequence[Key], start: PairParameters, schema: Schema | None) -> list[Lesson]:
    return [lesson(_cut(key, schema), start) for key in keys]


def _cut(key: Key, schema: Schema | None) -> Cut:
    """A key as a document of its own, as a file of keys is read."""
    templates = tuple(sorted(key.templates, key=lambda template: template.start))
    return cut(Document(key.message, "", templates, key.configuration), schema)


def _open_pairs(given: CoreferenceSet, model: MaximumEntropy, schema: Schema | None) -> OpenPairs:
    allowed = ~_known(given, given.incompatible)
    known = template_columns(given.templates, schema=schema, compatible=allowed)
    left, right = np.nonzero(np.triu(allowed & ~_known(given, given.must), 1))
    return OpenPairs(model.codes(known, left, right), left, right, len(given))


def _known(given: CoreferenceSet, pairs: Iterable[Pair]) -> NDArray[np.bool_]:
    """A table of the pairs of a set of which something is known."""
    place = {name: n for n, name in enumerate(given.ids)}
    found = np.zeros((len(given), len(given)), dtype=np.bool_)
    for one, other in pairs:
        found[place[one], place[other]] = found[place[other], place[one]] = True
    return found


def _sample(sets: list[CoreferenceSet]) -> list[CoreferenceSet]:
    if len(sets) <= MOST:
        return sets
    return [sets[n] for n in np.linspace(0, len(sets) - 1, MOST).astype(int).tolist()]


def _point(one: Point) -> dict[str, float]:
    return {"keys": one.keys, "bits": one.bits, "low": one.low, "high": one.high}


def _bins(side: Sequence[Point]) -> list[dict[str, float]]:
    answers: list[Answered] = [answer for point in side for answer in point.answers]
    if not answers:
        return []
    stated = np.concatenate([one.stated for one in answers])
    return reliability(stated, np.concatenate([one.observed for one in answers]))
