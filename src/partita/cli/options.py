"""The options that commands share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def one_of(names: str) -> Any:
    """A check that an option is one of the names."""
    expected = names.split()

    def check(value: str | None) -> str | None:
        if value is not None and value not in expected:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(expected)}")
        return value

    return check


def share(value: float | None) -> float | None:
    """A probability; not-a-number passes comparisons that a range makes, so it is refused here."""
    if value is not None and not 0.0 <= value <= 1.0:
        raise typer.BadParameter(f"{value} is not a probability from 0 to 1")
    return value


def above_zero(value: float | None) -> float | None:
    """A probability that leaves something out."""
    if value == 0.0:
        raise typer.BadParameter("0 would list everything; expected a probability above 0")
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


MODELS = "uniform greedy merging evidential scaled"
METHODS = "auto exact certified sampled"
FORMATS = "csv jsonl parquet"
SOURCES = "messages keys corefud"
STUDIED = f"{SOURCES} muc"
TAUGHT = "greedy merging evidential scaled joint"
CHARACTERISTICS = "paper extended"
FITS = "auto newton lbfgs iis"

Pairs = Annotated[
    str, typer.Argument(help="CSV, JSONL or Parquet with left,right,probability; - reads stdin.")
]
Model = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        callback=one_of(MODELS),
        help=f"One of {MODELS.replace(' ', ', ')}; e.g. --model merging.",
    ),
]
Parameters = Annotated[
    Path | None,
    typer.Option(
        metavar="F", help="Learned parameters of greedy or scaled; without it, shipped ones."
    ),
]
Top = Annotated[
    int | None,
    typer.Option(
        metavar="K", min=1, help="List the K most probable configurations; 10 if nothing is said."
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        metavar="P",
        callback=above_zero,
        help="List all configurations of probability P or more; e.g. --threshold .01",
    ),
]
Missing = Annotated[
    float | None,
    typer.Option(
        metavar="P",
        callback=share,
        help="The probability of pairs that are not listed (without it they are incompatible); "
        "without a set column the whole file is then one set. E.g. --missing .01",
    ),
]
Soft = Annotated[
    bool,
    typer.Option(
        "--soft", help="Take probability 0 as 1e-12 and 1 as 1-1e-12: evidence, not certainty."
    ),
]
Assume = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A=B", help="Condition on what is known; e.g. --assume A=B --assume 'B!=C'."
    ),
]
Templates = Annotated[
    Path | None,
    typer.Option(
        metavar="F", help="CSV or JSONL that lists templates by id in text order, with their text."
    ),
]
Form = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="NAME", callback=one_of(FORMATS), help="csv, jsonl or parquet."
    ),
]
Clusters = Annotated[
    Path | None,
    typer.Option(
        metavar="F.csv",
        help="Write one hard answer, id,cluster,probability: the most probable configuration. "
        "The probability is that of all members being together (of large sets, a lower bound).",
    ),
]
Cautious = Annotated[
    float | None,
    typer.Option(
        metavar="P",
        callback=share,
        help="With --clusters: merge only what is together with probability P or more; e.g. .9",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object per set on standard output.")]
Out = Annotated[
    Path | None, typer.Option(metavar="F", help="Write the JSON objects to a file (JSONL).")
]
Seconds = Annotated[
    float | None,
    typer.Option(metavar="S", callback=positive, help="Time for one set; 30 if nothing is said."),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="M",
        callback=memory_size,
        help="Such as 500M or 2G; a quarter of the machine if unsaid.",
    ),
]
Work = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="A budget in steps instead of seconds: the same on any machine."
    ),
]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        callback=one_of(METHODS),
        help=f"One of {METHODS.replace(' ', ', ')}.",
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with 1 if a sampled answer has not converged.")
]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="For whatever is drawn at random.")]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Processes for many sets; all cores if unsaid."),
]

Corpora = Annotated[
    list[Path],
    typer.Argument(
        metavar="CORPUS...",
        help="Folders of messages with keys, files of keys, files or folders of CoNLL-U.",
    ),
]
Keys = Annotated[
    list[Path],
    typer.Argument(metavar="KEYS...", help="Files of keys, or files or folders of CoNLL-U."),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="NAME",
        callback=one_of(SOURCES),
        help="The format: messages (a folder of them with a file keys.jsonl), keys, or corefud; "
        "without it, what the name and the folder look like.",
    ),
]
Studied = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="NAME",
        callback=one_of(STUDIED),
        help="As for train, or muc: files or folders of the MUC-4 exam's messages and keys.",
    ),
]
Learned = Annotated[Path, typer.Option("--out", metavar="F", help="The file to write.")]
Taught = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="NAME",
        callback=one_of(TAUGHT),
        help=f"One of {TAUGHT.replace(' ', ', ')}; all but joint are learned together.",
    ),
]
Characteristics = Annotated[
    str,
    typer.Option(
        "--characteristics",
        metavar="NAME",
        callback=one_of(CHARACTERISTICS),
        help="What is observed of a pair: paper or extended.",
    ),
]
Select = Annotated[
    bool, typer.Option("--select", help="Select features by gain, and tell which and why.")
]
Fit = Annotated[
    str,
    typer.Option(
        "--fit",
        metavar="NAME",
        callback=one_of(FITS),
        help="How to fit the weights: newton, lbfgs, iis (improved iterative scaling, as in the "
        "paper; slow), or auto, which is newton or, for many features, lbfgs.",
    ),
]
About = Annotated[
    str, typer.Option("--about", metavar="TEXT", help="What the file should say it comes from.")
]
JsonReport = Annotated[bool, typer.Option("--json", help="The report as JSON.")]
Gazetteer = Annotated[
    Path | None,
    typer.Option(
        metavar="F",
        help="Places to add in the domain incidents, a line each: COUNTRY: PLACE (KIND).",
    ),
]
Test = Annotated[
    list[Path] | None,
    typer.Option("--test", metavar="CORPUS", help="What to measure on; may be given often."),
]
Results = Annotated[
    Path, typer.Argument(metavar="RESULTS", help="Results in JSONL; evaluate: or clusters in CSV.")
]
AnswerKeys = Annotated[
    list[Path],
    typer.Argument(metavar="KEYS...", help="Files of keys, or files or folders of CoNLL-U."),
]
PairsFile = Annotated[
    Path | None,
    typer.Option("--parameters", metavar="F", help="What train has written; without it, shipped."),
]
SetName = Annotated[str, typer.Argument(metavar="SET", help="The name of the coreference set.")]
Left = Annotated[str, typer.Argument(metavar="LEFT", help="A template of the set.")]
Right = Annotated[str, typer.Argument(metavar="RIGHT", help="Another one.")]
Chart = Annotated[
    Path | None,
    typer.Option("--chart", metavar="F", help="Draw a waterfall: F.svg, F.html or F.png."),
]
Splits = Annotated[
    int,
    typer.Option(metavar="N", min=0, help="Without --test: divisions at random; 5 if unsaid."),
]
Largest = Annotated[
    int | None,
    typer.Option(metavar="N", min=2, help="Only sets of at most N templates; e.g. --largest 9"),
]
Shipped = Annotated[
    bool, typer.Option("--shipped", help="A row for the joint model that comes with Partita.")
]
Charts = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Draw reliability and bits by size as SVG into a folder."),
]
Domain = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The domain that says which slots may differ; e.g. depots."),
]
