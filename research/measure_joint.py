"""Measure the joint model by kind of mention and pair, and on the pronouns of GAP.

    python -m research.measure_joint --gum DATA/gum/dev --gap DATA/gap/validation.tsv

Bits are those of the decisions that lead to the key, with gold mentions; GAP has the mentions that
`partita run` finds. Its log loss is over A, B and neither with the model's own marginals; "with its
share of neither" multiplies the odds of neither by the number that fits the answers best.

    python -m research.measure_joint --train DATA/gum/train --gum DATA/gum/dev

trains a model on all documents of a folder, and measures it and the shipped one on others.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.configurations.joint import codes as code
from partita.configurations.joint.model import (
    JointModel,
    read_joint_model,
    shipped_joint_model,
)
from partita.configurations.joint.posterior import DRAWS, joint_posterior
from partita.core import Document, FloatArray, restricted_growth
from partita.corpora.documents import read_corefud
from partita.evaluation.calibration import bootstrap, pair_reliability_error, undecided
from partita.text.encoder import read_encoder
from partita.training.joint import (
    decision_losses,
    key_decisions,
    train_joint,
    with_uncertain_types,
    without_types,
)
from research.joint_corpora import Question, read_ecb, read_gap, read_gum, read_litbank

LEAST = 0.01  # of a probability in the log loss; pairs below .005 are not listed anywhere
HE_OR_SHE, NOMINAL, NAMED, SAID = "he, she", "nominals", "names", "I, we, you"
BoolArray = NDArray[np.bool_]


def class_of(kind: int) -> str:
    """Return the class of a kind of mention."""
    if kind in (code.HE, code.SHE):
        return HE_OR_SHE
    if kind <= code.YOU:
        return SAID
    if kind <= code.LAST_PRONOUN:
        return "other pronouns"
    return NAMED if code.KINDS[kind].endswith("name") else NOMINAL


def decision_bits(model: JointModel, document: Document) -> tuple[FloatArray, list[int]]:
    """Return −log₂ P of each decision of the key, and the kinds of the mentions."""
    decisions = key_decisions(document, model.lexemes, model.encoder)
    losses = decision_losses(model, decisions)
    return losses / np.log(2.0), decisions.new[:, code.N_KIND].tolist()


def bits_by_class(model: JointModel, documents: Iterable[Document]) -> dict[str, FloatArray]:
    """Return the bits of decisions by class of mention, and all."""
    found: dict[str, list[float]] = {"all": []}
    for document in documents:
        for bits, kind in zip(*decision_bits(model, document), strict=True):
            found["all"].append(bits)
            found.setdefault(class_of(kind), []).append(bits)
    return {name: np.array(bits) for name, bits in found.items()}


class Statements:
    """Pairs stated by the model, by kind of pair."""

    def __init__(self) -> None:
        self.parts: dict[str, list[tuple[FloatArray, BoolArray]]] = {}
        self.chosen: list[float] = []  # of he and she with the nearest earlier mention of the key

    def add(self, model: JointModel, document: Document) -> None:
        posterior = joint_posterior(document.templates, model)
        kinds = np.empty(len(document), np.int64)
        kinds[posterior.order] = posterior.mentions.attributes[:, code.KIND]
        left, right = np.triu_indices(len(document), 1)
        pairs = posterior.pairs().value
        for j in np.flatnonzero(np.isin(kinds, (code.HE, code.SHE))).tolist():
            before = np.flatnonzero(document.labels[:j] == document.labels[j])
            self.chosen += [float(pairs[j, i]) for i in before[-1:]]
        stated = pairs[left, right]
        joined = document.labels[left] == document.labels[right]
        pair_kinds = _pair_kinds(kinds[left], kinds[right])
        for name, chosen in pair_kinds.items():
            self.parts.setdefault(name, []).append((stated[chosen], joined[chosen]))

    def of(self, name: str) -> tuple[FloatArray, BoolArray]:
        stated, joined = zip(*self.parts[name], strict=True)
        return np.concatenate(stated), np.concatenate(joined)


def _pair_kinds(left: NDArray[np.int64], right: NDArray[np.int64]) -> dict[str, BoolArray]:
    name = [np.isin(side, [code.KINDS.index("name"), code.KINDS.index("plural name")])
            for side in (left, right)]  # fmt: skip
    pronoun = [side <= code.LAST_PRONOUN for side in (left, right)]
    noun = [~a & ~b for a, b in zip(name, pronoun, strict=True)]
    he, she, they = ((left == kind, right == kind) for kind in (code.HE, code.SHE, code.THEY))
    one = (he[0] | she[0], he[1] | she[1])
    return {
        "name–name": name[0] & name[1],
        "name–nominal": (name[0] & noun[1]) | (noun[0] & name[1]),
        "nominal–nominal": noun[0] & noun[1],
        "pronoun–pronoun": pronoun[0] & pronoun[1],
        "pronoun–other": pronoun[0] ^ pronoun[1],
        "he ~ she": (he[0] & she[1]) | (she[0] & he[1]),
        "he, she ~ they": (one[0] & they[1]) | (they[0] & one[1]),
    }


def gap_shares(model: JointModel, question: Question) -> FloatArray:
    """Return the model's probabilities that the pronoun is A, B, or neither."""
    pronoun, a, b = question.asked
    pairs = joint_posterior(question.templates, model).pairs().value
    stated = [
        pairs[pronoun, n] if pronoun >= 0 and n >= 0 and n != pronoun else 0.0 for n in (a, b)
    ]
    shares = np.maximum([*stated, 1.0 - sum(stated)], LEAST)
    whole: FloatArray = shares / shares.sum()
    return whole


def gap_figures(shares: FloatArray, answers: NDArray[np.int64]) -> dict[str, float]:
    """Return log loss, F1 of the most probable answers, and the log loss with another share."""
    places = np.arange(len(answers))
    fitted = min(_reweighted(shares, answers, x) for x in np.linspace(-3, 3, 61))
    said = shares.argmax(axis=1)
    right = int(((said == answers) & (said < 2)).sum())
    f1 = 2 * right / (int((said < 2).sum()) + int((answers < 2).sum()))
    loss = -np.log(shares[places, answers]).mean()
    return {"log loss": float(loss), "F1": f1, "log loss with its share of neither": fitted}


def _reweighted(shares: FloatArray, answers: NDArray[np.int64], odds: float) -> float:
    changed = shares * np.exp([0.0, 0.0, odds])
    changed /= changed.sum(axis=1, keepdims=True)
    return float(-np.log(changed[np.arange(len(answers)), answers]).mean())


def gap_table(model: JointModel, questions: Sequence[Question]) -> dict[str, float]:
    """Return the figures of a model on texts of GAP."""
    shares = np.array([gap_shares(model, one) for one in questions])
    return gap_figures(shares, np.array([one.answer for one in questions]))


def measured(
    model: JointModel, documents: Sequence[Document], pairs: bool = True
) -> dict[str, float]:
    """Return bits per mention by class, and what is stated by kind of pair."""
    bits = bits_by_class(model, documents)
    found = {f"bits, {name}": float(each.mean()) for name, each in bits.items()}
    if pairs:
        statements = Statements()
        for document in documents:
            statements.add(model, document)
        chosen = np.maximum(statements.chosen, LEAST)
        found["bits, choice of he, she"] = float(-np.log2(chosen).mean())
        for name in sorted(statements.parts):
            stated, joined = statements.of(name)
            if "~" in name:
                found[f"mean, {name} (key {joined.sum()} of {len(joined)})"] = float(stated.mean())
            else:
                found[f"reliability, {name}"] = pair_reliability_error(stated, joined)
    return found


Pairs = tuple[float, int, FloatArray, BoolArray]  # bits, mentions, stated, observed


def _key_bits(model: JointModel, document: Document) -> float:
    key = restricted_growth(document.labels)
    posterior = joint_posterior(document.templates, model, draws=DRAWS)
    return -posterior.log_weight(key) / math.log(2.0)


def _undecided_pairs(model: JointModel, document: Document) -> Pairs:
    """Return bits and mentions of a document, and its pairs stated between .05 and .95."""
    posterior = joint_posterior(document.templates, model, draws=DRAWS)
    bits = _key_bits(model, document)
    above, labels = np.triu_indices(len(document), 1), document.labels
    joined = (labels[:, None] == labels[None, :])[above]
    return bits, len(document), *undecided(posterior.pairs().value[above], joined)


def _pooled_error(pairs: Sequence[Pairs]) -> float:
    stated, observed = zip(*(one[2:] for one in pairs), strict=True)
    return pair_reliability_error(np.concatenate(stated), np.concatenate(observed))


def _interval(rows: Sequence[Any], figure: Callable[[Sequence[Any]], float]) -> str:
    spread = bootstrap(rows, figure, np.random.default_rng(0), times=500)
    return f"{figure(rows):.3f} ({spread.low:.3f}–{spread.high:.3f})"


def _mean_bits(rows: Sequence[tuple[float, int]]) -> float:
    return sum(bits for bits, _ in rows) / sum(mentions for _, mentions in rows)


def test_table(documents: Sequence[Document], tests: Sequence[Document]) -> None:
    """Print the figures of the shipped model, and of one that is trained on the documents."""
    models = (shipped_joint_model(), train_joint(documents))
    rng = np.random.default_rng(1)
    versions = {
        "bits per mention, certain types": tests,
        "no types": [without_types(d) for d in tests],
        "uncertain types, made from true ones and noise":
            [with_uncertain_types(d, rng) for d in tests],
    }  # fmt: skip
    print(f"| {len(tests)} documents | shipped | trained on all {len(documents)} |")
    print("| --- | --- | --- |")
    for name, version in versions.items():
        cells = [_interval([(_key_bits(m, d), len(d)) for d in version], _mean_bits)
                 for m in models]  # fmt: skip
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    cells = [_interval([_undecided_pairs(m, d) for d in tests], _pooled_error) for m in models]
    print(f"| pair reliability error, certain types | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parameters", type=Path)
    parser.add_argument("--encoder", type=str)
    for name in ("gum", "gap", "litbank", "ecb"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--train", type=Path)
    options = parser.parse_args()
    if options.train is not None:
        test_table(list(read_corefud(options.train)), list(read_corefud(options.gum)))
        return
    path = options.parameters
    model = read_joint_model(path) if path else shipped_joint_model()
    if options.encoder:
        model = replace(model, encoder=read_encoder(options.encoder))
    readers = {"gum": read_gum, "litbank": read_litbank, "ecb": read_ecb}
    print("| corpus | figure | value |\n| --- | --- | --- |")
    for name, reader in readers.items():
        if (folder := getattr(options, name)) is not None:
            for figure, value in measured(model, list(reader(folder))).items():
                print(f"| {name} | {figure} | {value:.4f} |", flush=True)
    if options.gap is not None:
        for figure, value in gap_table(model, list(read_gap(options.gap))).items():
            print(f"| gap | {figure} | {value:.4f} |")


if __name__ == "__main__":
    main()
