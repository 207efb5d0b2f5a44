"""Section 5 of Kehler (1997) on keyed messages: training, selected features, Table 2."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partita.core import IntArray, Posterior, restricted_growth
from partita.corpora.documents import corpus_path, read_corpora
from partita.domains import schema_of
from partita.errors import InputError
from partita.evaluation.calibration import Interval, bootstrap
from partita.evaluation.rows import TIE, mean, table
from partita.evaluation.splits import Cut, Split, cut_document, paper_splits
from partita.options import PaperOptions
from partita.pairs.characteristics import EXTENDED, PAPER, feature_names
from partita.training.lessons import Lesson, key_posteriors, lesson, set_bits
from partita.training.maxent import Contexts, expected
from partita.training.pair_models import greedy_tallies, train_pairs
from partita.training.parameter_files import PairParameters
from partita.training.selection import Selection

Progress = Callable[[str], None]
PARTS = ("dev", "msg")  # of the corpus of depots: 72 messages, as many as the paper has
TIMES = 1000  # samples of messages for an interval
TRAINING_BITS = {"every pair": 0.80, "merging questions": 0.70}
PAPER_PAIRS = {"every pair": (578, 581, 525), "merging questions": (415, 405, 370)}
PAPER_SIZES = ((60, 110, 12, 22), (57, 102, 15, 30), (47, 88, 25, 44))
PAPER_SHARES = ((0.571, 0.652, 0.344), (0.646, 0.600, 0.345), (0.628, 0.600, 0.280))
PAPER_TABLE: Mapping[str, tuple[str, ...]] = {
    "uniform": ("2.12 (—)", "1.76 (—)", "2.01 (—)"),
    "greedy": ("1.50 (15)", "1.30 (20)", "1.41 (30)"),
    "merging": ("1.32 (15)", "1.13 (20)", "1.27 (27)"),
    "evidential": ("1.10 (17)", "0.89 (21)", "1.00 (35)"),
}
# What the paper says of the weights of the evidential model: +, −, or 0 for "no value".
PAPER_SIGNS: Mapping[str, tuple[str, ...]] = {
    "slot_relation: properly subsumes": ("−",),
    "slot_relation: otherwise consistent": ("−",),
    "values_in_common: yes": ("+",),
    "same_long_name: yes": ("+",),
    "reference_of_t: indefinite": ("−",),
    "antecedent: preferred": ("+",),
    "antecedent: possible": ("0",),
    "antecedent: not listed": ("+",),
    "distance: very close": ("−",),
    "distance: close": ("0", "+"),
    "distance: mid-distance": ("0", "+"),
    "distance: far away": ("−",),
    "distance: very far away": ("−",),
}
# Not among the paper's characteristics: what holds of any pair, and that something is not so.
NOT_IN_PAPER = frozenset(
    ["any_pair: any", "values_in_common: no", "same_long_name: no", "antecedent: not definite"]
)


@dataclass(frozen=True, slots=True)
class PairModelReport:
    """A pair model of one split: its pairs, bits per training pair, and its features.

    `boundary` lists features that always or never come with coreference, whose weights would be
    infinite: they are not selected. `violation` is the largest |p̃(f) − p(f)| of a selected one.
    """

    training: str
    pairs: int
    bits: float
    features: Mapping[str, float]
    boundary: tuple[str, ...]
    violation: float


@dataclass(frozen=True, slots=True)
class KeyedSetResult:
    """One set by one model: the bits of its key, and whether the key is its only best answer."""

    bits: float
    right: bool


Results = Sequence[KeyedSetResult]  # of a document


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One model: bits per set and how many sets are right, over all documents."""

    model: str
    sets: int
    bits_per_set: float
    right: int


def bits_per_set(results: Sequence[Results]) -> float:
    return mean([one.bits for document in results for one in document])


@dataclass(frozen=True, slots=True)
class PaperDifference:
    """Bits per set of one model less those of another, on the same messages, with an interval."""

    model: str
    other: str
    bits: float
    interval: Interval


@dataclass(frozen=True, slots=True, eq=False)
class PaperSplit:
    """One of the three divisions: its sizes, pair models, shares of greedy, rows of Table 2."""

    name: str
    train: tuple[int, int]
    test: tuple[int, int]
    models: tuple[PairModelReport, ...]
    greedy: tuple[float, float, float]
    rows: tuple[PaperRow, ...]
    differences: tuple[PaperDifference, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PaperExperiment:
    """The whole of section 5."""

    corpus: str
    characteristics: str
    prior: bool
    splits: tuple[PaperSplit, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        return {
            "corpus": self.corpus,
            "characteristics": self.characteristics,
            "prior": self.prior,
            "splits": [
                {
                    "name": one.name,
                    "train": dict(zip(("messages", "sets"), one.train, strict=True)),
                    "test": dict(zip(("messages", "sets"), one.test, strict=True)),
                    "pair_models": [asdict(model) for model in one.models],
                    "greedy": dict(zip(("p2", "p3", "p_more"), one.greedy, strict=True)),
                    "table": {
                        row.model: {
                            "bits_per_set": row.bits_per_set,
                            "right": None if row.model == "uniform" else row.right,
                        }
                        for row in one.rows
                    },
                    "differences": [asdict(each) for each in one.differences],
                }
                for one in self.splits
            ],
            "paper": {"table": PAPER_TABLE, "training_bits": TRAINING_BITS},
        }

    def json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False) + "\n"

    def __str__(self) -> str:
        prior = "with a Gaussian prior" if self.prior else "without a prior"
        parts = [
            f"Section 5 of Kehler (1997) on {self.corpus}.\nCharacteristics: "
            f"{self.characteristics}; features are selected by approximate gain {prior}.",
            _sizes(self.splits),
            _pairs(self.splits),
            _features(self.splits, self.characteristics),
            _shares(self.splits),
            f"Table 2, bits per set (number right)\n\n{_table_2(self.splits)}",
            _differences(self.splits),
            "\n".join(_words(self.splits)),
        ]
        return "\n\n".join(parts) + "\n"


def paper_experiment(options: PaperOptions, progress: Progress | None = None) -> PaperExperiment:
    """Run the experiment on the bundled messages, or on the keys of the options."""
    corpus = [options.keys] if options.keys is not None else [corpus_path()]
    schema = schema_of(options.domain, corpus)
    cuts = [
        cut_document(document, schema)
        for document in read_corpora(corpus, None)
        if options.keys is not None or document.name.startswith(PARTS)
    ]
    keyed = [cut for cut in cuts if cut.sets]
    if len(keyed) < LEAST:
        raise InputError(
            f"{len(keyed)} messages have a coreference set; three splits need {LEAST} or more",
            file=str(corpus[0]),
        )
    about = f"{len(keyed)} messages of {Path(corpus[0]).name}"
    if options.keys is None:
        about = f"the {len(keyed)} bundled messages of depots"
    splits = paper_splits(len(keyed), np.random.default_rng(options.seed))
    found = tuple(_split(keyed, one, options, progress or (lambda _: None)) for one in splits)
    return PaperExperiment(about, options.characteristics, options.prior, found)


LEAST = 12  # messages


def _split(
    cuts: Sequence[Cut], split: Split, options: PaperOptions, progress: Progress
) -> PaperSplit:
    train, test = ([cuts[n] for n in places] for places in (split.train, split.test))
    extended = options.characteristics == "extended"
    chosen = EXTENDED if extended else PAPER
    skipped = frozenset() if extended else NOT_IN_PAPER
    progress(f"{split.name}: learning from {len(train)} documents")
    learned, selected = train_pairs(train, chosen, float(options.prior), skipped=skipped)
    results: dict[str, list[Results]] = {model: [] for model in PAPER_TABLE}
    for number, cut in enumerate(test, 1):
        progress(f"{split.name}: document {number} of {len(test)}")
        observed = lesson(cut, learned)
        for model, measured in results.items():
            measured.append(_measured(observed, learned, model, options.seed))
    first, second, third = (one.right / max(one.sets, 1) for one in greedy_tallies(train))
    return PaperSplit(
        split.name,
        (len(train), sum(len(cut.sets) for cut in train)),
        (len(test), sum(len(cut.sets) for cut in test)),
        tuple(_model_report(name, *selected[name], chosen) for name in TRAINING_BITS),
        (first, second, third),
        tuple(_row(model, measured) for model, measured in results.items()),
        tuple(
            _difference(results, "evidential", other, options.seed)
            for other in ("merging", "greedy", "uniform")
        ),
    )


def _measured(key: Lesson, learned: PairParameters, model: str, seed: int) -> list[KeyedSetResult]:
    """Return what each set of a document costs under a model; the limits are the same anywhere."""
    work = 10_000_000 if model == "merging" else 2_000
    return [
        KeyedSetResult(
            set_bits(key.cut, members, posterior, learned.excluded),
            _is_right(key.cut.labels[members], posterior),
        )
        for members, posterior in key_posteriors(key, learned, model, seed, work)
    ]


def _is_right(labels: IntArray, posterior: Posterior) -> bool:
    """Return whether the key is the most probable configuration; a tie is not right."""
    best, total = posterior.best(2), posterior.log_normaliser.value
    stated = np.exp(np.minimum(best.log_weights - total, 0.0))
    first = bool((best.labels[0] == restricted_growth(labels.tolist())).all())
    return first and (len(stated) < 2 or bool(stated[1] < stated[0] - TIE))


def _row(model: str, results: Sequence[Results]) -> PaperRow:
    right = sum(one.right for document in results for one in document)
    return PaperRow(model, sum(map(len, results)), bits_per_set(results), right)


def _model_report(
    training: str, sample: Contexts, selection: Selection, chosen: Sequence[Any]
) -> PairModelReport:
    names, active = feature_names(chosen), list(selection.active)
    scores = sample.scores(selection.weights)
    seen, yes = sample.totals(sample.count), sample.totals(sample.yes)
    missed = np.abs(sample.totals(expected(sample, scores)) - yes) / sample.pairs
    boundary = [n for n in range(len(names)) if seen[n] > 0 and yes[n] in (0.0, seen[n])]
    return PairModelReport(
        training,
        round(sample.pairs),
        selection.bits[-1] if selection.bits else 1.0,
        {names[n]: float(selection.weights[n]) for n in active},
        tuple(f"{names[n]} ({'always' if yes[n] else 'never'})" for n in boundary),
        float(missed[active].max(initial=0.0)),
    )


def _difference(
    measures: Mapping[str, Sequence[Results]], model: str, other: str, seed: int
) -> PaperDifference:
    both = list(zip(measures[model], measures[other], strict=True))

    def figure(sample: Sequence[tuple[Results, Results]]) -> float:
        return bits_per_set([one for one, _ in sample]) - bits_per_set([one for _, one in sample])

    rng = np.random.default_rng(seed)
    return PaperDifference(model, other, figure(both), bootstrap(both, figure, rng, times=TIMES))


def _sizes(splits: Sequence[PaperSplit]) -> str:
    head = ("split", "messages to learn from", "sets", "messages to test on", "sets", "the paper's")
    lines = [
        [one.name, *map(str, (*one.train, *one.test)), ", ".join(map(str, sizes))]
        for one, sizes in zip(splits, PAPER_SIZES, strict=True)
    ]
    return table(head, lines)


def _pairs(splits: Sequence[PaperSplit]) -> str:
    head = ("pair model", *(f"{one.name}: pairs, bits" for one in splits), "the paper's")
    lines = []
    for n, name in enumerate(TRAINING_BITS):
        ours = [f"{one.models[n].pairs}, {one.models[n].bits:.3f}" for one in splits]
        theirs = f"{', '.join(map(str, PAPER_PAIRS[name]))}; about {TRAINING_BITS[name]:.2f}"
        lines.append([name, *ours, theirs])
    worst = max(model.violation for one in splits for model in one.models)
    return (
        f"Pairs learned from, and bits per training pair\n\n{table(head, lines)}\n\n"
        f"Largest violated constraint of a selected feature: {worst:.1e}"
    )


def _features(splits: Sequence[PaperSplit], characteristics: str) -> str:
    """Return λ of every selected feature, those that the paper speaks of first."""
    models = [model for one in splits for model in one.models]
    known = [name for name in PAPER_SIGNS if characteristics == "paper"]
    names = dict.fromkeys([*known, *(name for model in models for name in model.features)])
    head = (
        "feature",
        *(f"{one.name}, {kind}" for one in splits for kind in ("pairs", "merging")),
        "paper",
    )
    lines = [
        [
            name,
            *(f"{m.features[name]:+.2f}" if name in m.features else "" for m in models),
            " or ".join(PAPER_SIGNS.get(name, ())),
        ]
        for name in names
    ]
    boundary = dict.fromkeys(name for model in models for name in model.boundary)
    apart = f"Not selected, since λ would be infinite: {', '.join(boundary) or 'none'}"
    return f"λ of the selected features\n\n{table(head, lines)}\n\n{apart}"


def _shares(splits: Sequence[PaperSplit]) -> str:
    head = ("greedy is right", *(one.name for one in splits), "the paper's")
    lines = [
        [
            name,
            *(f"{one.greedy[n]:.3f}" for one in splits),
            ", ".join(f"{p[n]:.3f}" for p in PAPER_SHARES),
        ]
        for n, name in enumerate(("p₂", "p₃", "p>₃"))
    ]
    return table(head, lines)


def _table_2(splits: Sequence[PaperSplit]) -> str:
    names = [one.name for one in splits]
    head = ("model", *names, *(f"paper: {name}" for name in names))
    sizes = [str(one.test[1]) for one in splits], [str(sizes[-1]) for sizes in PAPER_SIZES]
    lines = [["sets", *sizes[0], *sizes[1]]]
    for n, model in enumerate(PAPER_TABLE):
        rows = [one.rows[n] for one in splits]
        right = ["—" if model == "uniform" else str(row.right) for row in rows]
        ours = (f"{row.bits_per_set:.2f} ({r})" for row, r in zip(rows, right, strict=True))
        lines.append([model, *ours, *PAPER_TABLE[model]])
    return table(head, lines)


def _differences(splits: Sequence[PaperSplit]) -> str:
    head = ("evidential less", *(one.name for one in splits))
    lines = [
        [
            splits[0].differences[n].other,
            *(
                f"{d.bits:+.2f} ({d.interval.low:+.2f} to {d.interval.high:+.2f})"
                for d in (one.differences[n] for one in splits)
            ),
        ]
        for n in range(len(splits[0].differences))
    ]
    return f"Differences in bits per set, paired, 95 % over messages\n\n{table(head, lines)}"


def _words(splits: Sequence[PaperSplit]) -> list[str]:
    """Say where the paper's findings hold here, and where not."""
    bits = {one.name: {row.model: row.bits_per_set for row in one.rows} for one in splits}
    claims = (
        ("Evidential needs fewer bits than merging", ("evidential", "merging")),
        ("Merging needs fewer bits than greedy", ("merging", "greedy")),
        ("Greedy needs fewer bits than uniform", ("greedy", "uniform")),
    )
    lines = [
        _claim(words, {name: found[first] < found[second] for name, found in bits.items()})
        for words, (first, second) in claims
    ]
    lower = {one.name: one.models[1].bits < one.models[0].bits for one in splits}
    lines.append(_claim("The questions of merging are easier to learn than all pairs", lower))
    agree, differ = list[str](), list[str]()
    for name, signs in PAPER_SIGNS.items():
        ours = {_sign(one.models[0], name) for one in splits}
        (agree if ours <= {*signs} else differ).append(name)
    lines.append(f"Signs that agree with the paper in all splits: {', '.join(agree) or 'none'}")
    return [*lines, f"Signs that do not: {', '.join(differ) or 'none'}"]


def _claim(words: str, holds: Mapping[str, bool]) -> str:
    yes, no = ([name for name, so in holds.items() if so is wanted] for wanted in (True, False))
    if not no:
        return f"{words}: so on all three tests, as in the paper."
    if not yes:
        return f"{words}: not so here; so in the paper."
    return f"{words}: so on {', '.join(yes)}, as in the paper; not on {', '.join(no)}."


def _sign(model: PairModelReport, name: str) -> str:
    """Return the sign of a feature's weight; that of a boundary feature is infinite."""
    weight = model.features.get(name, 0.0)
    if f"{name} (always)" in model.boundary or weight > 0:
        return "+"
    return "−" if f"{name} (never)" in model.boundary or weight < 0 else "0"
