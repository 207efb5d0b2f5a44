"""Train the model of pairs of records across documents, and measure what comes of it.

    python -m research.train_across train DATA MODEL [--cache CACHE]
    python -m research.train_across measure DATA MODEL [--cache CACHE]
    python -m research.train_across names DATA MODEL [--cache CACHE]

DATA has the folders ecb, gap and gum. MODEL is shipped as src/partita/parameters/across.json;
`train` writes it and prints CoNLL scores of folds of topics. A second model gets the first one's
scores of folds that it was not trained on. Calibration is fitted to gold and
to predicted mentions together. `measure` prints the tables of docs/build.md:
ECB+ dev and the texts of GUM that trained nothing.
Needs `pip install scikit-learn`.
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import partita
from partita.collection.comparison import (
    FEATURES,
    HOPELESS,
    SECOND_FEATURES,
    RecordComparison,
    second_features,
)
from partita.collection.documents import SourceDocument, document_of
from partita.collection.resolution import (
    NOISE,
    TREES,
    AcrossModel,
    LikelyPairs,
    Resolution,
    noise_starts,
)
from partita.collection.tree import (
    COEFFICIENTS,
    MEAN_SCORES,
    SURE,
    EntityTree,
    Joined,
    node_inputs,
)
from partita.configurations.forest.model import logistic
from partita.core import BoolArray, FloatArray, IntArray
from partita.corpora.documents import read_placed
from partita.evaluation.scores import scores
from partita.text.expressions import expressions
from research.train_pair_trees import exported

# more of it never makes a pair less probable, or never more
RISING = frozenset((
    "equal_name", "name_shared", "name_share_low", "name_share_high", "acronym", "family_equal",
    "letters", "name_rarest", "head_rarest", "nearby_rarest", "head_shared",
    "word_shared", "word_share_low", "word_share_high",
    "types", "type_equal", "gender_equal", "documents", "co_mentions", "co_mention_share",
    "nearby", "governors", "log_odds", "support", "support_share", "document_pairs",
))  # fmt: skip
FALLING = frozenset((
    "given_differ", "unshared_low", "unshared_high", "gender_differ", "number_differ",
    "figures_differ", "months_differ", "indefinite", "name_modifies",
    "rival_low", "rival_high", "rank_low", "rank_high",
))  # fmt: skip
FOLDS, PROCESSES = 5, 2
JOBS: list[Callable[[int], Any]] = []  # what processes that are started now do
NAMES_READ = Path(__file__).parent / "gap_names.csv"  # pairs of GAP and what a person said
SHARES = {"gap": 0.25, "gum": 0.2}  # of the weight of all pairs; the rest is ECB+
SMALL = (2, 12)  # documents of a small collection
UNSHARED = 60_000  # pairs of GAP without a shared name that are used
SAMPLE = 40_000  # pairs of a set by which heights are fitted
CUTS = (0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)
FREE_GENRES = frozenset(("news", "interview", "academic", "court", "textbook", "vlog", "bio",
                         "voyage", "speech"))  # fmt: skip
PASSAGE = 120  # least words of a passage of GUM
OVERLAP = 0.3  # of a gold mention with a predicted one, of the letters of both
BOOSTING = {
    "max_iter": 150, "learning_rate": 0.06, "max_leaf_nodes": 12, "min_samples_leaf": 40,
    "l2_regularization": 5.0, "max_bins": 64, "random_state": 0, "early_stopping": False,
}  # fmt: skip
SECOND_BOOSTING = {**BOOSTING, "max_iter": 80, "max_leaf_nodes": 8}


GoldSpans = dict[str, dict[tuple[int, int], str]]  # the chain of each gold mention, by document


@dataclass(frozen=True, eq=False)
class Pairs:
    """Candidate pairs of a collection: features, whether they are the same, weights, folds.

    `truth` is the chain of each record, 0 for none. A weight is 0 where nobody knows.
    """

    name: str
    comparison: RecordComparison
    left: IntArray
    right: IntArray
    features: FloatArray
    same: BoolArray
    weight: FloatArray
    fold: IntArray  # of each record
    topic: IntArray  # of each record
    truth: IntArray
    key: list[tuple[int, int]]  # chain and record of each gold mention, -1 for none

    @property
    def pair_fold(self) -> IntArray:
        return self.fold[self.left]

    def outside(self, fold: int) -> BoolArray:
        """Return the pairs that may train for a fold."""
        found: BoolArray = (self.fold[self.left] != fold) & (self.fold[self.right] != fold)
        return found & (self.weight > 0)


# --- documents ---


def ecb_documents(part: Path, gold: bool, cache: Path) -> list[SourceDocument]:
    """Return the documents of a part of ECB+, with gold mentions or with those that are found."""
    spans = gold_mentions(part)
    texts = {path.stem: path.read_text("utf-8") for path in sorted((part / "texts").glob("*.txt"))}
    file = cache / f"{part.name}-{'gold' if gold else 'raw'}.jsonl"
    mentions = {name: [{"start": a, "end": b} for a, b in sorted(spans[name])] for name in texts}
    return list(_extracted(texts, file, mentions if gold else {}))


def gold_mentions(part: Path) -> GoldSpans:
    """Return the chain of each gold mention of an entity, by document and place."""
    found: GoldSpans = defaultdict(dict)
    for line in (part / "mentions.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        if one["kind"] == "entity":
            found[one["document"]][one["start"], one["end"]] = one["chain"]
    return found


def gap_documents(file: Path, cache: Path) -> list[SourceDocument]:
    """Return the snippets of GAP; the publisher is the page."""
    with file.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    texts = {row["ID"]: row["Text"] for row in rows}
    pages = {row["ID"]: row["URL"] for row in rows}
    return list(_extracted(texts, cache / f"gap-{file.stem}.jsonl", {}, pages))


def gum_documents(
    folder: Path, gold: bool, cache: Path, held_out: bool = False
) -> tuple[list[SourceDocument], GoldSpans]:
    """Return passages of GUM, two of each second text, with the chains of their mentions.

    The other texts are held out. A chain is the article of Wikipedia that an entity is linked to,
    or else one of its text.
    """
    texts: dict[str, str] = {}
    spans: GoldSpans = defaultdict(dict)
    free = [one for one in read_placed(folder) if one.name.split("_")[1] in FREE_GENRES]
    for placed in free[held_out::2]:
        file = (folder / f"{placed.name}.conllu").read_text("utf-8")
        linked = dict(re.findall(r"\((\d+)(?:-[^-()|\s]*){6}-([^-()|\s]+)", file))
        starts = [one.spans[0][0] for one in placed.sentences] + [len(placed.text)]
        cuts = [0]
        for start in starts:
            if len(placed.text[cuts[-1] : start].split()) >= PASSAGE:
                cuts.append(start)
        for n in (0, 2):
            if n + 1 >= len(cuts):
                continue
            name, (first, last) = f"{placed.name}-{n}", cuts[n : n + 2]
            texts[name] = placed.text[first:last]
            for sentence in placed.sentences:
                for one in expressions(sentence) if first <= sentence.spans[0][0] < last else ():
                    chain = one.mention.entity
                    chain = linked.get(chain, f"{placed.name} {chain}")
                    spans[name][one.start - first, one.end - first] = chain
    mentions = {name: [{"start": a, "end": b} for a, b in sorted(spans[name])] for name in texts}
    kept = cache / f"gum-{'gold' if gold else 'raw'}-{int(held_out)}.jsonl"
    return list(_extracted(texts, kept, mentions if gold else {})), spans


def _extracted(
    texts: Mapping[str, str],
    file: Path,
    mentions: Mapping[str, Any],
    pages: Mapping[str, str] | None = None,
) -> Iterator[SourceDocument]:
    """Yield what `run` finds in texts; a file keeps it for the next time."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        with part.open("w", encoding="utf-8") as out:
            for name, text in texts.items():
                given = partita.run(text, mentions=mentions.get(name)).to_dict()
                templates = [one for group in given["sets"] for one in group["templates"]]
                kept = {"document": name, "entities": given["entities"],
                        "templates": templates + given["singletons"]}  # fmt: skip
                out.write(json.dumps(kept) + "\n")
        part.replace(file)
    for line in file.read_text("utf-8").splitlines():
        one = json.loads(line)
        name = one["document"]
        if name in texts:
            fields = {"publisher": pages[name]} if pages else {}
            yield document_of(name, texts[name], one["entities"], one["templates"], fields)


# --- truth ---


def ecb_pairs(part: Path, gold: bool, cache: Path) -> Pairs:
    """Return the candidate pairs of a part of ECB+; its topics are the folds."""
    documents = ecb_documents(part, gold, cache)
    name = f"{part.name} {'gold' if gold else 'raw'}"
    return _keyed_pairs(name, documents, gold_mentions(part),
                        [f"{one.id.split('_')[0]:0>3}" for one in documents])  # fmt: skip


def gum_pairs(folder: Path, gold: bool, cache: Path, held_out: bool = False) -> Pairs:
    """Return the candidate pairs of every second text of GUM; the others measure."""
    documents, spans = gum_documents(folder, gold, cache, held_out)
    name = f"gum {'gold' if gold else 'raw'}"
    return _keyed_pairs(name, documents, spans, [one.id.rsplit("-", 1)[0] for one in documents])


def _keyed_pairs(
    name: str, documents: Sequence[SourceDocument], gold: GoldSpans, topics: Sequence[str]
) -> Pairs:
    comparison = RecordComparison.of(documents)
    truth, key = aligned(documents, gold)
    left, right = comparison.candidates()
    features = comparison.features(left, right)
    number = {topic: n for n, topic in enumerate(sorted(set(topics)))}
    topic = np.array([number[topics[n]] for n in comparison.home.tolist()])
    same = (truth[left] == truth[right]) & (truth[left] > 0)
    weight = ((truth[left] > 0) & (truth[right] > 0)).astype(np.float64)
    equal = (features[:, FEATURES.index("equal_name")] > 0) & (topic[left] != topic[right])
    equal &= features[:, FEATURES.index("time")] == 0
    known = _same_across(comparison, left, right)
    same = np.where(equal & known, True, same)  # chains of ECB+ end with their topic
    weight = np.where(equal & ~known & ~same, 0.0, weight)
    return Pairs(
        name, comparison, left, right, features, same, weight, topic % FOLDS, topic, truth, key
    )


def aligned(
    documents: Sequence[SourceDocument], gold: GoldSpans
) -> tuple[IntArray, list[tuple[int, int]]]:
    """Return the chain of each record, by most of its mentions, and the record of each mention."""
    numbers: dict[str, int] = {}
    truth: list[int] = []
    key: list[tuple[int, int]] = []
    for document in documents:
        first = len(truth)
        places = {(m.start, m.end): first + n for n, one in reversed([*enumerate(document.records)])
                  for m in one.mentions}  # fmt: skip
        heads = [(m.end - m.start, m.head_start, first + n)
                 for n, one in enumerate(document.records)
                 for m in one.mentions]  # fmt: skip
        votes: dict[int, Counter[int]] = defaultdict(Counter)
        for span, chain in sorted(gold[document.id].items()):
            number = numbers.setdefault(chain, len(numbers) + 1)
            record = places.get(span, _with_head(span, heads, places))
            key.append((number, record))
            votes[record][number] += 1
        truth += [votes[first + n].most_common(1)[0][0] if votes[first + n] else 0
                  for n in range(len(document.records))]  # fmt: skip
    return np.array(truth), key


def _with_head(
    span: tuple[int, int],
    heads: Sequence[tuple[int, int, int]],
    places: Mapping[tuple[int, int], int],
) -> int:
    """Return the shortest mention whose head is in a gold mention, or else one that overlaps."""
    inside = [(length, record) for length, head, record in heads if span[0] <= head < span[1]]
    return min(inside)[1] if inside else _overlapping(span, places)


def _overlapping(span: tuple[int, int], places: Mapping[tuple[int, int], int]) -> int:
    share, record = max(
        (((min(span[1], end) - max(span[0], start)) / (max(span[1], end) - min(span[0], start)), -n)
         for (start, end), n in places.items()), default=(0.0, 1))  # fmt: skip
    return -record if share >= OVERLAP else -1


def _same_across(comparison: RecordComparison, left: IntArray, right: IntArray) -> BoolArray:
    """Return whether equal names in unrelated texts name the same: full names, and places."""
    records = comparison.records
    full = np.array([any(len(name.split()) > 1 for name in one.names) for one in records])
    place = np.array([one.type == "place" for one in records])
    lengths = comparison.full_names.shared(left, right)[0] > 0
    found: BoolArray = lengths & ((full[left] & full[right]) | (place[left] & place[right]))
    return found


def gap_pairs(documents: Sequence[SourceDocument]) -> Pairs:
    """Return pairs of GAP: equal full names are the same, other shared names are not."""
    comparison = RecordComparison.of(documents)
    left, right = comparison.candidates()
    page = [documents[n].publisher for n in comparison.home.tolist()]
    features = comparison.features(left, right)
    shared = features[:, FEATURES.index("name_shared")] > 0
    rng = np.random.default_rng(0)
    chosen = shared | (rng.random(len(left)) < UNSHARED / max(len(left), 1))
    other = np.array(
        [page[a] != page[b] for a, b in zip(left.tolist(), right.tolist(), strict=True)]
    )
    same = _same_across(comparison, left, right)
    weight = (chosen & other).astype(np.float64)
    fold = np.array([n % FOLDS for n in comparison.home.tolist()])
    truth = np.zeros(len(comparison.records), dtype=np.int64)
    return Pairs("gap", comparison, left, right, features, same, weight, fold, fold, truth, [])


# --- models ---


def fitted(
    rows: Sequence[FloatArray],
    same: Sequence[BoolArray],
    weight: Sequence[FloatArray],
    settings: Any,
) -> Any:
    """Fit boosted trees to the pairs of several collections."""
    os.environ["OMP_NUM_THREADS"] = "1"  # sums of several threads differ in their last bits
    from sklearn.ensemble import HistGradientBoostingClassifier

    given = np.concatenate(rows), np.concatenate(same)
    names = (*FEATURES, *SECOND_FEATURES)[: rows[0].shape[1]]
    signs = [(name in RISING) - (name in FALLING) for name in names]
    model = HistGradientBoostingClassifier(**settings, monotonic_cst=signs)
    return model.fit(*given, np.concatenate(weight))


def weighted(sets: Sequence[Pairs]) -> list[FloatArray]:
    """Return weights by which each corpus has its share."""
    corpora = [one.name.split()[0] for one in sets]
    totals: dict[str, float] = defaultdict(float)
    for corpus, one in zip(corpora, sets, strict=True):
        totals[corpus] += float(one.weight.sum())
    whole = totals["train"] / (1.0 - sum(SHARES.values()))
    return [one.weight * (SHARES[corpus] * whole / totals[corpus] if corpus in SHARES else 1.0)
            for corpus, one in zip(corpora, sets, strict=True)]  # fmt: skip


def out_of_fold(
    sets: Sequence[Pairs], inputs: Sequence[FloatArray], settings: Any
) -> list[FloatArray]:
    """Return the log-odds of pairs by models of the other folds."""
    found = [np.zeros(len(one.left)) for one in sets]
    weights = weighted(sets)

    def odds(fold: int) -> list[FloatArray]:
        kept = [one.outside(fold) for one in sets]
        model = fitted(
            [x[k] for x, k in zip(inputs, kept, strict=True)],
            [one.same[k] for one, k in zip(sets, kept, strict=True)],
            [w[k] for w, k in zip(weights, kept, strict=True)],
            settings,
        )
        inside = [x[one.pair_fold == fold] for x, one in zip(inputs, sets, strict=True)]
        return [model.decision_function(x) if len(x) else np.zeros(0) for x in inside]

    for fold, values in enumerate(in_processes(odds)):
        for n, one in enumerate(sets):
            found[n][one.pair_fold == fold] = values[n]
    return found


def in_processes(job: Callable[[int], Any]) -> list[Any]:
    """Return what a job gives for each fold, of processes that share the memory of this one."""
    JOBS.append(job)
    with multiprocessing.get_context("fork").Pool(PROCESSES) as pool:
        return pool.map(_latest_job, range(FOLDS), chunksize=1)


def _latest_job(fold: int) -> Any:
    return JOBS[-1](fold)


def second_inputs(one: Pairs, first: FloatArray) -> FloatArray:
    """Return the features of the second model."""
    more = second_features(one.comparison.home, one.left, one.right, first)
    return np.column_stack([one.features, more])


def calibrated(sets: Sequence[Pairs], trees: Sequence[Sequence[Joined]]) -> FloatArray:
    """Fit the heights of nodes so that the mean over trees states pairs best.

    Each set weighs the same.
    """
    given = tuple(_meetings(one, made) for one, made in zip(sets, trees, strict=True))
    start = np.eye(len(COEFFICIENTS))[COEFFICIENTS.index("score")]
    found: FloatArray = minimize(_loss, start, given, "L-BFGS-B", jac=True).x
    return found


def _meetings(one: Pairs, trees: Sequence[Joined]) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Return the inputs of the nodes where pairs meet in each tree, if they do, and the truth."""
    known = np.flatnonzero(one.weight > 0)
    some = np.random.default_rng(0).choice(known, min(SAMPLE, len(known)), replace=False)
    ends = one.left[some], one.right[some]
    nodes = [EntityTree(made, np.zeros(len(made.first))).lowest_common(*ends) for made in trees]
    inputs = [node_inputs(made)[place] for made, place in zip(trees, nodes, strict=True)]
    return np.stack(inputs), np.stack(nodes) >= 0, one.same[some]


def _loss(
    weights: FloatArray, *given: tuple[FloatArray, BoolArray, BoolArray]
) -> tuple[float, FloatArray]:
    """Return the sum of the mean losses of sets, in nats, and its gradient."""
    total, gradient = 0.0, np.zeros(len(weights))
    for inputs, met, same in given:
        each = logistic(inputs @ weights) * met
        p = np.clip(each.mean(axis=0), SURE, 1.0 - SURE)
        total -= float(np.mean(np.log(np.where(same, p, 1.0 - p))))
        slope = np.where(same, -1.0 / p, 1.0 / (1.0 - p)) / (len(p) * len(each))
        gradient += np.einsum("kn,kni->i", each * (1.0 - each) * slope, inputs)
    return total, gradient


def labels_of_mentions(
    key: Sequence[tuple[int, int]], labels: IntArray
) -> tuple[IntArray, IntArray]:
    """Return chains and entities of gold mentions; a mention that was not found is alone."""
    chains = np.array([chain for chain, _ in key])
    missed = int(labels.max(initial=0)) + 1
    found = [
        int(labels[record]) if record >= 0 else missed + n for n, (_, record) in enumerate(key)
    ]
    return chains, np.array(found)


# --- training ---


def train(data: Path, out: Path, cache: Path) -> None:
    """Train both models and the calibration, and write them with the figures of folds."""
    snippets = gap_documents(data / "gap" / "development.tsv", cache)[::2]  # the others measure
    sets = [
        *(ecb_pairs(data / "ecb" / "train", gold, cache) for gold in (True, False)),
        *(gum_pairs(data / "gum" / "train", gold, cache) for gold in (True, False)),
        gap_pairs(snippets),
    ]
    apart = [one.comparison.corrections(one.left, one.right, one.features) for one in sets]
    first = out_of_fold(sets, [one.features for one in sets], BOOSTING)
    first = [odds + more for odds, more in zip(first, apart, strict=True)]
    every, first, apart = with_small(sets, first, apart)
    inputs = [second_inputs(*both) for both in zip(every, first, strict=True)]
    second = out_of_fold(every, inputs, SECOND_BOOSTING)
    second = [odds + more for odds, more in zip(second, apart, strict=True)]
    model = {
        "trained_on": "ECB+ train; every second snippet of GAP development and text of GUM train",
        "noise": NOISE,
        **_calibration(every, second),
        "first": _exported(sets, [one.features for one in sets], BOOSTING, FEATURES),
        "second": _exported(every, inputs, SECOND_BOOSTING, (*FEATURES, *SECOND_FEATURES)),
    }
    out.write_text(json.dumps(model) + "\n", encoding="utf-8")


def with_small(
    sets: Sequence[Pairs], *arrays: Sequence[FloatArray]
) -> tuple[list[Pairs], list[FloatArray], list[FloatArray]]:
    """Return collections, and those of ECB+ again as many small ones of related documents.

    Rivals and support of a pair depend on how many documents there are.
    """
    rng = np.random.default_rng(0)
    found, more = list(sets), [list(one) for one in arrays]
    for n, one in enumerate(sets):
        if not one.name.startswith("train"):
            continue
        count = len(one.comparison.documents)
        topic = np.zeros(count, dtype=np.int64)
        topic[one.comparison.home] = one.topic
        order = np.lexsort((rng.random(count), topic))
        group = np.empty(count, dtype=np.int64)
        sizes = rng.integers(SMALL[0], SMALL[1] + 1, count)
        group[order] = np.repeat(np.arange(count), sizes)[:count]
        home = group[one.comparison.home]
        kept = home[one.left] == home[one.right]
        found.append(replace(
            one, name=f"{one.name} small", left=one.left[kept], right=one.right[kept],
            features=one.features[kept], same=one.same[kept], weight=one.weight[kept],
        ))  # fmt: skip
        for place, values in enumerate(arrays):
            more[place].append(values[n][kept])
    return found, more[0], more[1]


def _exported(
    sets: Sequence[Pairs], inputs: Sequence[FloatArray], settings: Any, names: Sequence[str]
) -> dict[str, Any]:
    kept = [one.weight > 0 for one in sets]
    model = fitted(
        [x[k] for x, k in zip(inputs, kept, strict=True)],
        [one.same[k] for one, k in zip(sets, kept, strict=True)],
        [w[k] for w, k in zip(weighted(sets), kept, strict=True)],
        settings,
    )
    return {**exported(model), "features": list(names)}


def _calibration(sets: Sequence[Pairs], second: Sequence[FloatArray]) -> dict[str, Any]:
    """Fit what comes after pairs, from scores of folds: gold and predicted mentions.

    Heights are fitted to all sets, the rest to the large ones with chains.
    """
    joined = [[*_joined(one, odds)] for one, odds in zip(sets, second, strict=True)]
    weights = calibrated(sets, [made[1:] for made in joined])
    heights = dict(zip(COEFFICIENTS, weights.tolist(), strict=True))
    large = [n for n, one in enumerate(sets) if one.key and not one.name.endswith("small")]
    means = [EntityTree.of(joined[n][0], MEAN_SCORES) for n in large]
    by_cut = {cut: [conll(sets[n], tree.cut(cut)) for n, tree in zip(large, means, strict=True)]
              for cut in CUTS}  # fmt: skip
    sets, joined = sets[:2], joined[:2]
    answer = max(by_cut, key=lambda cut: sum(by_cut[cut]))
    counts = [
        count
        for one, made in zip(sets, joined, strict=True)
        for count in _counts(one, [EntityTree.of(tree, heights) for tree in made[1:]])
    ]
    shares = np.array([[np.log(true / n), np.log(expected / n)] for n, true, expected in counts])
    power = float(shares[:, 0] @ shares[:, 1] / (shares[:, 1] @ shares[:, 1]))
    spread = float(np.std(shares[:, 0] - power * shares[:, 1]))
    documents = np.mean(
        [len(one.comparison.documents) / len({*one.topic.tolist()}) for one in sets]
    )
    print({f"{cut:.2f}": [round(100 * x, 1) for x in found] for cut, found in by_cut.items()})
    return {"heights": heights, "answer": answer, "count_power": power, "count_spread": spread,
            "count_documents": float(documents)}  # fmt: skip


def _joined(one: Pairs, odds: FloatArray) -> Iterator[Joined]:
    """Yield the joins without noise, then those of each tree with noise."""
    ends = one.left, one.right
    starts = noise_starts([record.id for record in one.comparison.records], *ends)
    pairs = LikelyPairs(*ends, odds, one.comparison.conflicts(*ends))
    for tree in range(-1, TREES):
        yield pairs.joined(len(one.truth), starts, tree)


def _counts(one: Pairs, trees: Sequence[EntityTree]) -> Iterator[tuple[int, int, float]]:
    """Yield for each topic its known records, its entities, and how many are expected."""
    for topic in sorted({*one.topic.tolist()}):
        known = (one.topic == topic) & (one.truth > 0)
        merges = np.mean([expected_merges(tree, known) for tree in trees])
        yield int(known.sum()), len({*one.truth[known].tolist()}), float(known.sum() - merges)


def expected_merges(tree: EntityTree, known: BoolArray) -> float:
    """Return the expected number of merges among some of the records."""
    some = [*known.tolist()]
    total = 0.0
    ends = zip(tree.joined.first.tolist(), tree.joined.second.tolist(), strict=True)
    for (a, b), p in zip(ends, tree.probability.tolist(), strict=True):
        total += p if some[a] and some[b] else 0.0
        some.append(some[a] or some[b])
    return total


def conll(one: Pairs, labels: IntArray) -> float:
    """Return the mean of MUC, B³ and CEAFe over the gold mentions, singletons included."""
    return scores(*labels_of_mentions(one.key, labels)).conll


# --- measuring ---


def measure(data: Path, model: Path, cache: Path) -> None:
    """Print the tables of ECB+ dev and GUM: partitions, pairs, merges that are sure, entities."""
    across = AcrossModel.from_dict(json.loads(model.read_text("utf-8")))
    ecb, gum = data / "ecb" / "dev", data / "gum" / "train"
    for corpus in ("GUM", "ECB+ dev"):
        measured = []
        for gold in (True, False):
            if corpus == "GUM":
                one = gum_pairs(gum, gold, cache, held_out=True)
                documents = gum_documents(gum, gold, cache, held_out=True)[0]
            else:
                one, documents = ecb_pairs(ecb, gold, cache), ecb_documents(ecb, gold, cache)
            measured.append(figures(one, Resolution.of(documents, across)))
        _print_table(corpus, measured)


def _print_table(corpus: str, measured: Sequence[Mapping[str, Any]]) -> None:
    print(f"| {corpus} | gold mentions | from raw text |\n| --- | --- | --- |")
    for name in measured[0]:
        print(f"| {name} | {' | '.join(_shown(one[name]) for one in measured)} |")


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_shown(one) for one in value)
    return (
        f"{value:,}" if isinstance(value, int) else f"{value:.3f}" if value < 1 else f"{value:.1f}"
    )


def measure_names(data: Path, model: Path, cache: Path) -> None:
    """Print how equal names in unrelated texts are stated, of pairs that were read by hand.

    They are of every second snippet, which the model was not trained on.
    """
    across = AcrossModel.from_dict(json.loads(model.read_text("utf-8")))
    documents = gap_documents(data / "gap" / "development.tsv", cache)[1::2]
    found = Resolution.of(documents, across)
    place = {(one.document, m.start): n for n, one in enumerate(found.comparison.records)
             for m in one.mentions}  # fmt: skip
    stated: dict[str, list[float]] = defaultdict(list)
    with NAMES_READ.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            ends = [place.get((row[side], int(row[f"{side}_start"]))) for side in ("left", "right")]
            if None not in ends:
                a, b = (np.array([end]) for end in ends)
                kind = f"{row['kind']} names of {'one' if row['same'] == '1' else 'two'}"
                stated[kind].append(float(found.pair_probabilities(a, b)[0]))
    for kind, given in sorted(stated.items()):
        p = np.array(given)
        print(f"{kind}: {len(p)}, mean {p.mean():.3f}, at least .5: {np.mean(p >= 0.5):.3f}")


def figures(one: Pairs, found: Resolution) -> dict[str, Any]:
    """Return what is measured of a collection whose truth is known."""
    count, numbers = len(one.truth), dict[str, int]()
    heads = [record.heads[0] if record.heads else f" {n}"
             for n, record in enumerate(one.comparison.records)]  # fmt: skip
    codes = [ends.left * count + ends.right for ends in (one, found)]
    kept = np.searchsorted(codes[0], codes[1])
    first, raw = np.full((2, len(one.left)), logistic(np.array(HOPELESS)))
    first[kept], raw[kept] = logistic(found.first), logistic(found.log_odds)
    likely = raw >= 0.5
    graph = coo_array((raw[likely], (one.left[likely], one.right[likely])), (count, count))
    known = (one.truth[one.left] > 0) & (one.truth[one.right] > 0)
    same = one.truth[one.left] == one.truth[one.right]
    stated = found.pair_probabilities(one.left, one.right)
    named = np.array([bool(record.names) for record in one.comparison.records])
    across = one.comparison.home[one.left] != one.comparison.home[one.right]
    sure = known & (stated >= 0.9) & named[one.left] & named[one.right] & across
    some = one.truth > 0
    expected = some.sum() - np.mean([expected_merges(tree, some) for tree in found.trees])
    estimate = found.entity_count(int(some.sum()), float(expected))
    partitions = {
        "nothing across": np.arange(count),
        "equal heads": np.array([numbers.setdefault(head, len(numbers)) for head in heads]),
        "components": connected_components(graph, directed=False)[1],
        "by calibrated heights": EntityTree.of(found.plain.joined, found.model.heights).cut(0.4),
        "answer": found.answer,
        "perfect": np.where(some, one.truth + count, np.arange(count)),
    }
    return {
        "records": count,
        **{f"CoNLL: {name}": 100 * conll(one, labels) for name, labels in partitions.items()},
        "bits per pair, stated": bits(stated[known], same[known]),
        "bits per pair, first scores": bits(first[known], same[known]),
        "bits per pair, second scores": bits(raw[known], same[known]),
        "reliability error": reliability(stated[known], same[known]),
        "named merges stated ≥ .9: number, stated, right": [
            int(sure.sum()),
            float(stated[sure].mean()),
            float(same[sure].mean()),
        ],
        "entities: true, estimated, 90 % interval": [len({*one.truth[some].tolist()}), *estimate],
    }


def bits(p: FloatArray, same: BoolArray) -> float:
    """Return the mean number of bits of pairs."""
    clipped = np.clip(p, 1e-6, 1.0 - 1e-6)
    return float(-np.mean(np.log2(np.where(same, clipped, 1.0 - clipped))))


def reliability(p: FloatArray, same: BoolArray) -> float:
    """Return the expected calibration error in ten bins of equal width."""
    place = np.minimum((p * 10).astype(int), 9)
    sums = np.bincount(place, p - same, 10)
    return float(np.abs(sums).sum() / len(p))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = {"train": train, "measure": measure, "names": measure_names}
    parser.add_argument("command", choices=commands)
    parser.add_argument("data", type=Path, help="folder with ecb, gap and gum")
    parser.add_argument("model", type=Path, help="the model, across.json")
    parser.add_argument("--cache", type=Path, default=Path("across-cache"), help="kept extractions")
    given = parser.parse_args()
    commands[given.command](given.data, given.model, given.cache)


if __name__ == "__main__":
    main()
