"""The shipped parameters of the greedy and the scaled model, learned from tables of records.

python -m research.train_solve_parameters FOLDER_OF_TABLES FOLDER_OF_PARAMETERS
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from partita.configurations.odds import ScaledParameters
from partita.configurations.pair_models import GreedyParameters
from partita.core import FloatArray
from partita.errors import InputError
from partita.parameters import VERSION
from partita.training import key_likelihood
from partita.training.key_likelihood import KeyLikelihood, fit_scaled
from partita.training.pair_models import MergedSets
from partita.training.parameter_files import GREEDY_FIELDS
from research.solve_parameters import greedy
from research.solve_parameters.greedy import KeyedSet
from research.solve_parameters.sets import WHOLE, Block, Table, keyed_sets, read_records

FOLDS = 5
DIGITS = 4  # what is beyond them differs between machines, and tells nothing
UNIFORM = ScaledParameters(0.0, 0.0)
MODELS = ("uniform", "greedy", "evidential", "scaled")
PEOPLE = ("fname_c1", "lname_c1", "by", "bm", "bd")


@dataclass(frozen=True, slots=True)
class Learned:
    """Values by name; the data they came from in words and as a hash; what was measured on it."""

    model: str
    values: Mapping[str, float]
    learned_from: str
    sha256: str
    seed: int
    figures: Mapping[str, float]

    def text(self) -> str:
        """As JSON, the same bytes for the same values."""
        written = {
            "version": VERSION,
            "model": self.model,
            "values": dict(self.values),
            "learned_from": {"description": self.learned_from, "sha256": self.sha256},
            "seed": self.seed,
            "figures": dict(self.figures),
        }
        return json.dumps(written, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn both models, print bits per set on held-out folds, and write two JSON files."""
    parser = argparse.ArgumentParser(
        description="Learn the parameters of the greedy and the scaled model."
    )
    parser.add_argument("tables", type=Path, help="folder with the tables of records")
    parser.add_argument("out", type=Path, help="folder to write greedy.json and scaled.json to")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    sets = {table.file: made_sets(given.tables, table, given.seed) for table in tables()}
    together = [one for some in sets.values() for one in some]
    bits = held_out_bits(together, np.random.default_rng(given.seed))
    print(_shown(sets, bits))
    for learned in learn(together, bits, _digest(given.tables), given.seed):
        (given.out / f"{learned.model}.json").write_text(learned.text(), encoding="utf-8")


def tables() -> tuple[Table, ...]:
    """Where the tables keep clusters, what to compare, and what two records share to be compared.

    The large table has narrower blocks, since its wide ones would give a million pairs.
    """
    mail = ("first_name", "surname", "dob", "city", "email")
    narrow = _blocks(
        "lname_c1 fname_c1",
        "lname_c1 by",
        "fname_c1 by",
        "by bm bd",
        "fname_c1 bm bd",
        "lname_c1 bm bd",
    )
    return (
        Table("RLdata500.csv", "ent_id", PEOPLE, _blocks("fname_c1", "lname_c1", "by", "bm bd")),
        Table("RLdata10000.csv", "ent_id", PEOPLE, narrow),
        Table(
            "fake_1000.csv",
            "cluster",
            mail,
            _blocks("email", "dob", "first_name", "surname", "city dob:4", "email:5"),
        ),
        Table(
            "restaurant-nophone-training.csv",
            "unique_id",
            ("name", "address", "city", "cuisine"),
            _blocks("name:3", "address:4", "city cuisine"),
        ),
    )


def made_sets(folder: Path, table: Table, seed: int) -> list[KeyedSet]:
    return keyed_sets(read_records(folder, table), np.random.default_rng(seed))


def held_out_bits(sets: Sequence[KeyedSet], rng: np.random.Generator) -> FloatArray:
    """−log₂ P(key) for every set under every model, learned on the folds it is not in."""
    folds = rng.permutation(len(sets)) % FOLDS
    bits = np.zeros((len(sets), len(MODELS)))
    for fold in range(FOLDS):
        rest = [one for one, home in zip(sets, folds, strict=True) if home != fold]
        shares = GreedyParameters(*(tally.share for tally in greedy.learn_greedy(rest)))
        line = learn_scaled(rest)
        for n in np.flatnonzero(folds == fold).tolist():
            uniform, plain, fitted = (key_bits(sets[n], at) for at in (UNIFORM, EVIDENTIAL, line))
            bits[n] = uniform, greedy.key_bits(sets[n], shares, uniform), plain, fitted
    return bits


def learn(
    sets: Sequence[KeyedSet], bits: FloatArray, sha256: str, seed: int
) -> tuple[Learned, Learned]:
    """Both models' parameters from all sets, with what was measured."""
    names = ", ".join(table.file.removesuffix(".csv") for table in tables())
    words = f"coreference sets of 2 to 12 records of the tables {names}; pair probabilities by "
    words += "logistic regression on other clusters, those up to .01 taken for incompatible"
    shares, line = greedy.learn_greedy(sets), learn_scaled(sets)
    figures = _figures(bits)
    one = dict(zip(GREEDY_FIELDS, (tally.share for tally in shares), strict=True))
    other = {"scale": line.scale, "bias": line.bias}
    return (
        Learned("greedy", _rounded(one), words, sha256, seed, figures | _counts(shares)),
        Learned("scaled", _rounded(other), words, sha256, seed, figures),
    )


def _blocks(*written: str) -> tuple[Block, ...]:
    """Fields, each with the number of its leading characters that count, as in "city dob:4"."""
    return tuple(
        tuple((name, int(length or WHOLE)) for name, _, length in map(_split, block.split()))
        for block in written
    )


def _split(field: str) -> tuple[str, str, str]:
    return field.partition(":")


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for table in tables():
        digest.update((folder / table.file).read_bytes())
    return digest.hexdigest()


def _figures(bits: FloatArray) -> dict[str, float]:
    """Mean bits per set on held-out folds, over the sets whose key is possible."""
    possible = bits[np.isfinite(bits).all(axis=1)]
    means = {
        f"held_out_bits_{name}": mean
        for name, mean in zip(MODELS, possible.mean(axis=0), strict=True)
    }
    gains = possible[:, 2] - possible[:, 3]
    error = gains.std() / np.sqrt(len(gains))
    counted = {"sets": len(bits), "impossible_keys": len(bits) - len(possible)}
    measured = _rounded(means | {"gain_of_scaled": gains.mean(), "standard_error_of_gain": error})
    return counted | measured


def _counts(shares: Sequence[MergedSets]) -> dict[str, float]:
    counted: dict[str, float] = {}
    for size, tally in zip(("2", "3", "more"), shares, strict=True):
        counted |= {f"sets_of_{size}": tally.sets, f"right_of_{size}": tally.right}
    return counted


def _rounded(values: dict[str, float]) -> dict[str, float]:
    return {name: round(float(value), DIGITS) for name, value in values.items()}


def _shown(sets: dict[str, list[KeyedSet]], bits: FloatArray) -> str:
    """Mean bits per set by table and by size, for people."""
    names = np.array([name for name, some in sets.items() for _ in some])
    sizes = np.array([len(one.pairs.set) for some in sets.values() for one in some])
    rows = {name: names == name for name in sets}
    rows |= {"2": sizes == 2, "3": sizes == 3, "4 to 12": sizes > 3, "all": sizes > 0}
    lines = [f"{'bits per set, held out':34}{'sets':>6}" + "".join(f"{m:>12}" for m in MODELS)]
    for name, chosen in rows.items():
        possible = bits[chosen & np.isfinite(bits).all(axis=1)]
        means = "".join(f"{mean:12.4f}" for mean in possible.mean(axis=0))
        lines.append(f"{name:34}{len(possible):6}{means}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()


EVIDENTIAL = ScaledParameters(1.0, 0.0)
DEVIATION = 0.5  # of the prior: with ten or forty keys, a wider one cost bits on held-out sets


def learn_scaled(sets: Iterable[KeyedSet], deviation: float = DEVIATION) -> ScaledParameters:
    """The parameters under which the keys are most probable; impossible keys teach nothing."""
    possible = [found for one in sets if (found := open_set(one)) is not None]
    if not any(len(odds) for _, odds in possible):
        raise InputError("no keyed set leaves anything to decide; expected sets to learn from")
    likelihood = KeyLikelihood(tuple(one for one, _ in possible))
    odds = np.concatenate([odds for _, odds in possible])
    return fit_scaled(likelihood, odds, EVIDENTIAL, 1 / deviation**2)


def key_bits(one: KeyedSet, parameters: ScaledParameters) -> float:
    """−log₂ P(key) in the scaled model; infinite where the key is impossible a priori."""
    found = open_set(one)
    if found is None:
        return math.inf
    return bits(KeyLikelihood((found[0],)), found[1], parameters)


def open_set(one: KeyedSet) -> tuple[key_likelihood.KeyedSet, FloatArray] | None:
    """A set with its key and the log-odds of its open pairs; None where the key is impossible.

    Probabilities of 0 are incompatible pairs; none is 1.
    """
    p, labels = one.pairs.matrix, one.key.labels(one.pairs.set.ids)
    left, right = np.nonzero(np.triu(p > 0, 1))
    if ((p == 0) & (labels[:, None] == labels)).any():
        return None
    odds = np.log(p[left, right]) - np.log1p(-p[left, right])
    return key_likelihood.KeyedSet(len(p), left, right, labels[None, :], np.ones(1)), odds


def bits(likelihood: KeyLikelihood, odds: FloatArray, parameters: ScaledParameters) -> float:
    """Bits of all keys together."""
    nats, _ = likelihood(parameters.scale * odds + parameters.bias)
    return max(0.0, -nats / math.log(2))
