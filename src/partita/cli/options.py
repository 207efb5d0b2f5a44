"""The options that commands share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from partita.configurations import LEARNED_MODELS, METHODS, PAIR_MODELS

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def one_of(names: Sequence[str]) -> Any:
    """Return a check that an option is one of the names."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in names:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(names)}")
        return value

    return check


def share(value: float | None) -> float | None:
    """Check a probability; NaN would pass the comparisons of a range, so it is refused here."""
    if value is not None and not 0.0 <= value <= 1.0:
        raise typer.BadParameter(f"{value} is not a probability from 0 to 1")
    return value


def above_zero(value: float | None) -> float | None:
    """Check a probability greater than 0."""
    if value == 0.0:
        raise typer.BadParameter("0 would list everything (expected a probability above 0)")
    return share(value)


def positive(value: float | None) -> float | None:
    if value is not None and not value > 0:
        raise typer.BadParameter(f"{value} is not greater than 0")
    return value


def memory_size(value: str | None) -> str | None:
    if value is not None and not size_of(value):
        raise typer.BadParameter(f"{value!r} is not a size such as 500M or 2G")
    return value


def size_of(value: str) -> int:
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?)(?:i?B)?", value.strip(), re.IGNORECASE)
    return int(float(found[1]) * UNITS[found[2].upper()]) if found else 0


def memory_limit(value: str | None) -> int:
    """Return a size in bytes; None is the usual limit of this machine."""
    from partita.app.solve import default_memory

    return default_memory() if value is None else size_of(value)


def not_empty(value: str | None) -> str | None:
    if value == "":
        raise typer.BadParameter("'' is not a store (expected a file or postgresql://…)")
    return value


FORMATS = ("csv", "jsonl", "parquet")
SOURCES = ("messages", "keys", "corefud")
CHARACTERISTICS = ("paper", "extended")
FITS = ("auto", "keys", "calibration", "pairs", "newton", "lbfgs", "iis")

Store = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        callback=not_empty,
        show_default="$PARTITA_STORE or partita.db",
        help="Store: a file (SQLite) or postgresql://…",
    ),
]
Pairs = Annotated[
    str, typer.Argument(help="CSV, JSONL or Parquet with left,right,probability; - reads stdin.")
]
Model = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        callback=one_of(PAIR_MODELS),
        help=f"Model: {', '.join(PAIR_MODELS)}.",
    ),
]
Parameters = Annotated[
    Path | None,
    typer.Option(
        metavar="F",
        show_default="shipped parameters",
        help="Trained parameters of greedy, scaled or forest.",
    ),
]
Top = Annotated[
    int | None,
    typer.Option(
        metavar="K", min=1, show_default="10", help="List the K most probable configurations."
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        metavar="P",
        callback=above_zero,
        help="List all configurations with probability P or more, e.g. .01.",
    ),
]
Missing = Annotated[
    float | None,
    typer.Option(
        metavar="P",
        callback=share,
        show_default="incompatible",
        help="Probability of pairs that are not listed, e.g. .01. Without a set column the "
        "whole file is then one set.",
    ),
]
Soft = Annotated[
    bool,
    typer.Option("--soft", help="Treat probabilities 0 and 1 as strong evidence (1e-12, 1-1e-12)."),
]
Assume = Annotated[
    list[str] | None,
    typer.Option(metavar="A=B", help="Condition on a known fact, A=B or 'A!=B'; repeatable."),
]
Templates = Annotated[
    Path | None,
    typer.Option(metavar="F", help="CSV or JSONL file of templates: id, text, in text order."),
]
Form = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        callback=one_of(FORMATS),
        show_default="detected",
        help="Format of PAIRS: csv, jsonl or parquet.",
    ),
]
Clusters = Annotated[
    Path | None,
    typer.Option(
        metavar="F.csv",
        help="Write the most probable clusters as id,cluster,probability. The probability is "
        "that of all members belonging together (for large sets, a lower bound).",
    ),
]
ExcelSafe = Annotated[
    bool,
    typer.Option(
        "--excel-safe",
        help="In CSV, put a ' before text that a spreadsheet would run as a formula.",
    ),
]
Cautious = Annotated[
    float | None,
    typer.Option(
        metavar="P",
        callback=share,
        help="With --clusters: merge only groups with probability P or more, e.g. .9.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Write one JSON object per set to standard output.")
]
Out = Annotated[
    Path | None, typer.Option(metavar="F", help="Write one JSON object per set to a file (JSONL).")
]
Seconds = Annotated[
    float | None,
    typer.Option(metavar="S", callback=positive, show_default="30", help="Time limit per set."),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="M",
        callback=memory_size,
        show_default="a quarter of the machine",
        help="Memory limit, such as 500M or 2G.",
    ),
]
Work = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Limit in steps instead of seconds; gives the same result on any machine.",
    ),
]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        callback=one_of(METHODS),
        help=f"Method: {', '.join(METHODS)}.",
    ),
]
Prove = Annotated[
    bool,
    typer.Option(
        "--prove",
        help="Prove the most probable configuration of large sets, or bound how much better "
        "another can be; takes up to the budget of the set once more.",
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with code 1 if a sampled answer has not converged.")
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="Random seed.")]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, show_default="all cores", help="Number of processes."),
]

Corpora = Annotated[
    list[Path],
    typer.Argument(
        metavar="CORPUS...",
        help="Folders of messages with keys, key files, or CoNLL-U files or folders.",
    ),
]
Keys = Annotated[
    list[Path],
    typer.Argument(metavar="KEYS...", help="Key files, or CoNLL-U files or folders."),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="NAME",
        callback=one_of(SOURCES),
        show_default="detected",
        help="Input format: messages (a folder with keys.jsonl), keys or corefud.",
    ),
]
Studied = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="NAME",
        show_default="detected",
        help="Input format: messages, keys, corefud, or one that a package adds.",
    ),
]
Learned = Annotated[Path, typer.Option("--out", metavar="F", help="Output file.")]
Taught = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="NAME",
        callback=one_of(LEARNED_MODELS),
        help=f"Model: {', '.join(LEARNED_MODELS)}. All but joint are trained together; "
        "the one that is named measures the keys.",
    ),
]
Characteristics = Annotated[
    str | None,
    typer.Option(
        "--characteristics",
        metavar="NAME",
        callback=one_of(CHARACTERISTICS),
        show_default="those of the start, or extended",
        help="Characteristics of a pair: paper or extended; with fitting by pairs.",
    ),
]
Select = Annotated[
    bool, typer.Option("--select", help="Select features by gain, and report the selection.")
]
Fit = Annotated[
    str,
    typer.Option(
        "--fit",
        metavar="NAME",
        callback=one_of(FITS),
        help="Fitting method: keys (likelihood of whole keys, with a prior around existing "
        "parameters); calibration (only a temperature for each model); pairs (pair by pair from "
        "scratch, as in the paper), also by newton, lbfgs or iis (improved iterative scaling; "
        "slow); auto (pairs with --select or --characteristics, otherwise keys).",
    ),
]
Start = Annotated[
    Path | None,
    typer.Option(
        "--start",
        metavar="F",
        show_default="parameters of the domain, or the shipped ones",
        help="Parameters that --fit keys or calibration starts from, as written by train.",
    ),
]
About = Annotated[
    str,
    typer.Option(
        "--about", metavar="TEXT", help="Description of the training data, stored in the file."
    ),
]
JsonReport = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]
Gazetteer = Annotated[
    Path | None,
    typer.Option(
        metavar="F",
        help="Further places for domains with a gazetteer, one COUNTRY: PLACE (KIND) per line.",
    ),
]
Test = Annotated[
    list[Path] | None,
    typer.Option("--test", metavar="CORPUS", help="Corpus to evaluate on; repeatable."),
]
Results = Annotated[
    Path,
    typer.Argument(metavar="RESULTS", help="Results (JSONL); evaluate also takes clusters (CSV)."),
]
AnswerKeys = Annotated[
    list[Path],
    typer.Argument(metavar="KEYS...", help="Key files, or CoNLL-U files or folders."),
]
PairsFile = Annotated[
    Path | None,
    typer.Option(
        "--parameters",
        metavar="F",
        show_default="shipped parameters",
        help="Parameters written by train.",
    ),
]
SetName = Annotated[str, typer.Argument(metavar="SET", help="Name of the coreference set.")]
Left = Annotated[str, typer.Argument(metavar="LEFT", help="Id of a template in the set.")]
Right = Annotated[str, typer.Argument(metavar="RIGHT", help="Id of another template.")]
Chart = Annotated[
    Path | None,
    typer.Option("--chart", metavar="F", help="Save a waterfall chart: F.svg, F.html or F.png."),
]
Splits = Annotated[
    int,
    typer.Option(metavar="N", min=0, help="Without --test: number of random splits."),
]
Largest = Annotated[
    int | None,
    typer.Option(metavar="N", min=2, help="Use only sets of at most N templates."),
]
Shipped = Annotated[bool, typer.Option("--shipped", help="Add a row for the shipped models.")]
Charts = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Save charts of reliability and bits by size to a folder (SVG)."
    ),
]
Domain = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Domain whose slots decide compatibility, e.g. depots."),
]
