"""The paper's own table on any corpus: small sets, its three split shapes, many splits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from partita.evaluation.bootstrap import Interval, bootstrap
from partita.evaluation.cuts import Cut
from partita.evaluation.experiment import Effort, run
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


def small_sets(
    documents: Sequence[Cut],
    splits: Iterable[Split],
    more: Sequence[Model] = (),
    *,
    effort: Effort | None = None,
    largest: int = LARGEST,
    progress: Progress | None = None,
) -> dict[str, tuple[Row, ...]]:
    """For each split the rows of all models on sets of at most nine templates."""
    chosen = replace(effort or Effort(), times=0)
    small = [only_small(one, largest) for one in documents]

    def rows(split: Split) -> tuple[Row, ...]:
        train, test = ([small[n] for n in places] for places in (split.train, split.test))
        return run(train, test, more, effort=chosen, progress=progress).rows

    return {split.name: rows(split) for split in splits}


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
    )


def compared(
    rows: dict[str, tuple[Row, ...]], seed: int = 0, times: int = 1000
) -> tuple[Compared, ...]:
    """Each model over all splits."""
    names = [one.model for one in next(iter(rows.values()), ())]
    return tuple(_compared(name, list(rows.values()), seed, times) for name in names)


def _compared(name: str, rows: Sequence[Sequence[Row]], seed: int, times: int) -> Compared:
    mine = [next(one for one in each if one.model == name) for each in rows]
    bits = [one.bits_per_set for one in mine]
    right = [one.right / max(one.sets, 1) for one in mine]
    first, second = (
        bootstrap(values, _mean, np.random.default_rng(seed), times=times)
        for values in (bits, right)
    )
    return Compared(name, _mean(bits), first, _mean(right), second)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def small_markdown(rows: dict[str, tuple[Row, ...]]) -> str:
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
