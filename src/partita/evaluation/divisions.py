"""Divisions of one corpus: the paper's own table, many splits compared, small sets alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from partita.evaluation.bootstrap import Interval, bootstrap
from partita.evaluation.cuts import Cut
from partita.evaluation.experiment import Effort, Experiment, run
from partita.evaluation.markdown import table
from partita.evaluation.models import Model, part
from partita.evaluation.rows import Row
from partita.evaluation.splits import Split

Progress = Callable[[str], None]
LARGEST = 9  # templates in a set: all of it is exact, and quick


@dataclass(frozen=True, slots=True)
class Compared:
    """One model over many splits: bits per set and share right, with intervals over splits."""

    model: str
    bits_per_set: float
    bits_interval: Interval
    right: float
    right_interval: Interval
    bits_per_mention: float
    mention_interval: Interval


def divided(
    documents: Sequence[Cut],
    splits: Iterable[Split],
    more: Sequence[Model] = (),
    *,
    effort: Effort | None = None,
    progress: Progress | None = None,
) -> dict[str, Experiment]:
    """For each split what all models come to."""
    found = {}
    for split in splits:
        train, test = ([documents[n] for n in places] for places in (split.train, split.test))
        told = None if progress is None else _within(split.name, progress)
        found[split.name] = run(train, test, more, effort=effort, progress=told)
    return found


def _within(name: str, progress: Progress) -> Progress:
    return lambda told: progress(f"{name}: {told}")


def only_small(one: Cut, largest: int = LARGEST) -> Cut:
    """The document as if it held nothing but its small sets."""
    kept = [members for members in one.sets if len(members) <= largest]
    members = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *kept]))
    document = part(one.document, members)
    return Cut(
        document,
        one.compatible[np.ix_(members, members)],
        document.labels,
        tuple(np.searchsorted(members, each) for each in kept),
        crosses=False,
        schema=one.schema,
    )


def compared(
    rows: Mapping[str, tuple[Row, ...]], seed: int = 0, times: int = 1000
) -> tuple[Compared, ...]:
    """Each model over all splits; the same splits are drawn for every model."""
    names = [one.model for one in next(iter(rows.values()), ())]
    return tuple(_compared(name, list(rows.values()), seed, times) for name in names)


def _compared(name: str, rows: Sequence[Sequence[Row]], seed: int, times: int) -> Compared:
    mine = [next(one for one in each if one.model == name) for each in rows]
    figures = (
        [one.bits_per_set for one in mine],
        [one.right / max(one.sets, 1) for one in mine],
        [one.bits_per_mention for one in mine],
    )
    first, second, third = (
        bootstrap(values, _mean, np.random.default_rng(seed), times=times) for values in figures
    )
    bits, right, mention = map(_mean, figures)
    return Compared(name, bits, first, right, second, mention, third)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def paper_markdown(rows: Mapping[str, tuple[Row, ...]]) -> str:
    """The paper's Table 2: a line for each model, bits per set and number right for each split."""
    names = [one.model for one in next(iter(rows.values()), ())]
    lines = [
        [
            name,
            *(
                f"{r.bits_per_set:.2f} ({r.right})"
                for e in rows.values()
                for r in e
                if r.model == name
            ),
        ]
        for name in names
    ]
    counts = ["sets", *(str(each[0].sets) for each in rows.values())]
    return table(["model", *rows], [counts, *lines])


def compared_markdown(found: Sequence[Compared]) -> str:
    """Means over splits with intervals of 95 %."""
    lines = [
        [
            one.model,
            _spread(one.bits_per_mention, one.mention_interval),
            _spread(one.bits_per_set, one.bits_interval),
            _spread(one.right, one.right_interval),
        ]
        for one in found
    ]
    return table(["model", "bits per mention", "bits per set", "share right"], lines)


def _spread(value: float, interval: Interval) -> str:
    return f"{value:.3f} ({interval.low:.3f}–{interval.high:.3f})"
