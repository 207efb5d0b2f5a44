"""The options of the verbs, each declared once: name, type, default and help.

A verb has a frozen dataclass. Its fields are the keywords of the Python function and of Spark, and
the options of the command, which may add options of its own; a request of the service takes
defaults and descriptions from here. `docs/reference.md` has the table of all.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from partita.configurations import LEARNED_MODELS, METHODS, MODELS, PAIR_MODELS
from partita.errors import InputError

if TYPE_CHECKING:
    from partita.core import Budget

F = TypeVar("F", bound=Callable[..., Any])
Check = Callable[[Any], None]
Report = Callable[[str], None]

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?)(?:i?B)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Option:
    """What is declared of an option beside its name, type and default.

    `flag` is its name on the command line where that differs, `type` its type there where Python
    takes more (a data frame for a file), and `shown` the default as the help words it. An option
    without `command` is for Python only, one that is an `argument` has no flag.
    """

    help: str
    metavar: str = "F"
    flag: str = ""
    type: Any = None
    check: Check | None = None
    min: float | None = None
    max: float | None = None
    shown: str | bool = True
    argument: bool = False
    command: bool = True
    envvar: str | None = None


def option(declared: str | Option, default: Any = None, **details: Any) -> Any:
    """Return a field of an options class; `declared` is the help, or an option that verbs share.

    An option without a default, which must be given, has `...` for it.
    """
    if isinstance(declared, str):
        declared = Option(declared, **details)
    return field(default=MISSING if default is ... else default, metadata={"option": declared})


def argument(help: str, metavar: str, default: Any = MISSING, **details: Any) -> Any:  # noqa: A002
    """Return a field for an argument of a command, required unless it has a default."""
    declared = Option(help, metavar, argument=True, **details)
    return field(default=default, metadata={"option": declared})


def optional_argument(help: str, metavar: str, default: Any = None) -> Any:  # noqa: A002
    """Return a field for an argument of a command that may be left out."""
    return option(Option(help, metavar, argument=True, shown=False), default)


def in_python(help: str, default: Any = None) -> Any:  # noqa: A002
    """Return a field for a keyword of the Python function that the command does not have."""
    return field(default=default, metadata={"option": Option(help, command=False)})


@dataclass(frozen=True)
class Options:
    """The base of options classes: values are checked when they are made."""

    def __post_init__(self) -> None:
        for one in declared_fields(type(self)):
            check, value = declaration(one).check, getattr(self, one.name)
            if check is not None and value is not None:
                try:
                    check(value)
                except ValueError as error:
                    raise InputError(f"{one.name}: {error}") from None

    @classmethod
    def of(cls, arguments: Mapping[str, Any], **more: Any) -> Self:
        """Return the options among the arguments of a function, as `locals()` has them."""
        names = [one.name for one in declared_fields(cls)]
        return cls(**{name: arguments[name] for name in names if name in arguments} | more)


def declared_fields(kind: Any) -> tuple[Field[Any], ...]:
    """Return the fields of an options class."""
    return fields(kind)


def declaration(one: Field[Any]) -> Option:
    """Return what is declared of a field."""
    found: Option = one.metadata["option"]
    return found


def described(kind: type[Options]) -> Callable[[F], F]:
    """Append the options to the docstring of a Python function."""

    def describe(function: F) -> F:
        lines = [f"    {one.name}: {declaration(one).help}" for one in declared_fields(kind)]
        function.__doc__ = "\n".join([f"{function.__doc__}".rstrip(), "", "    Options:", *lines])
        return function

    return describe


# --- checks ---


def check_probability(value: float) -> None:
    """Refuse what is no probability; NaN would pass the comparisons of a range."""
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{value} is not a probability from 0 to 1")


def above_zero(value: float) -> None:
    """Refuse what is no probability greater than 0."""
    if value == 0.0:
        raise ValueError("0 would list everything (expected a probability above 0)")
    check_probability(value)


def positive(value: float) -> None:
    """Refuse what is not greater than 0."""
    if not value > 0:
        raise ValueError(f"{value} is not greater than 0")


def number_of_worlds(value: Any) -> None:
    """Refuse what is no positive number of draws; the command gives a file with it."""
    if not isinstance(number := world_count(value), int) or number < 1:
        raise ValueError(f"{number!r} is not a positive number of draws")


def world_count(value: Any) -> Any:
    """Return the number of draws: the command has a file beside it."""
    return value[0] if isinstance(value, tuple) else value


def one_of(names: Sequence[str]) -> Check:
    """Return a check that a value is one of some names."""

    def check(value: str) -> None:
        if value not in names:
            raise ValueError(f"{value!r} is not one of {', '.join(names)}")

    return check


def memory_size(value: str) -> None:
    """Refuse what is no size in bytes."""
    if not size_of(value):
        raise ValueError(f"{value!r} is not a size such as 500M or 2G")


def not_empty(value: str) -> None:
    """Refuse an empty name of a store."""
    if value == "":
        raise ValueError("'' is not a store (expected a file or postgresql://…)")


def size_of(value: str) -> int:
    """Return a size such as 2G in bytes; 0 for what is no size."""
    match = SIZE.fullmatch(value.strip())
    return int(float(match[1]) * UNITS[match[2].upper()]) if match else 0


def memory_limit(value: str | None) -> int:
    """Return a size in bytes; None is the usual limit of this machine."""
    return default_memory() if value is None else size_of(value)


def default_memory() -> int:
    """Return a quarter of the memory of the machine, or 1 GB where that is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    except (AttributeError, OSError, ValueError):
        return 1 << 30


# --- options that verbs share ---

SEED = Option("Random seed", metavar="N", min=0)
TOP = Option("List the K most probable configurations", metavar="K", min=1, shown="10")
THRESHOLD = Option(
    "List all configurations with probability P or more, e.g. .01", metavar="P", check=above_zero
)
ASSUME = Option("Condition on a known fact, A=B or 'A!=B'; repeatable", metavar="A=B")
PARAMETERS = Option(
    "Trained parameters of greedy, scaled or forest", type=Path, shown="shipped parameters"
)
UNLISTED = Option(
    "Probability of pairs that are not listed, e.g. .01. Without a set column the whole file is "
    "then one set",
    metavar="P",
    check=check_probability,
    shown="incompatible",
)
SOFT = Option("Treat probabilities 0 and 1 as strong evidence (1e-12, 1-1e-12)")
BUDGET = Option("Limits of time, memory or work for each set", command=False)
PROGRESS = Option("Function that gets a line of progress", command=False)
ERRORS = Option(
    "What to do if one of several fails: raise its error, or report it and go on", command=False
)
NOTE = Option("Function that gets notes for the user, by default as warnings", command=False)


MEMORY = Option(
    "Memory limit, such as 500M or 2G",
    metavar="M",
    check=memory_size,
    shown="a quarter of the machine",
)
SECONDS = Option("Time limit per set", metavar="S", check=positive, shown="30")
WORK = Option(
    "Limit in steps instead of seconds; gives the same result on any machine", metavar="N", min=1
)
WORKERS = Option("Number of processes", metavar="N", min=1, shown="all cores")
REPORT_JSON = Option("Print the report as JSON")
EXCEL_SAFE = Option("In CSV, put a ' before text that a spreadsheet would run as a formula")


DOMAIN = Option("Name of a domain, or a folder of rules", metavar="D")
GAZETTEER = Option(
    "Further places for domains with a gazetteer, one COUNTRY: PLACE (KIND) per line", type=Path
)
SOURCES = ("messages", "keys", "corefud")
SYSTEMS = ("graphrag", "lightrag", "neo4j")  # whose entities build reads
SLOT_DOMAIN = Option("Domain whose slots decide compatibility, e.g. depots", metavar="NAME")
SOURCE = Option(
    "Input format: messages (a folder with keys.jsonl), keys or corefud",
    flag="--from",
    metavar="NAME",
    check=one_of(SOURCES),
    shown="detected",
)
WRITTEN_PARAMETERS = Option("Parameters written by train", type=Path, shown="shipped parameters")
STORE = Option(
    "Store: a file (SQLite) or postgresql://…",
    metavar="URL",
    check=not_empty,
    shown="$PARTITA_STORE or partita.db",
)


# --- the verbs ---


@dataclass(frozen=True, kw_only=True)
class RunOptions(Options):
    """Options of run."""

    domain: str = option(DOMAIN, "general")
    model: str | None = option(
        f"Model: {', '.join(MODELS)}",
        metavar="NAME",
        check=one_of(MODELS),
        shown="the domain's own",
    )
    parameters: Any = option("Parameters written by train", type=Path, shown="the domain's own")
    gazetteer: Any = option(GAZETTEER)
    mentions: Any = option(
        "Mentions to use in place of those found: JSONL with spans, CoNLL-U or CoNLL-2012",
        type=Path,
    )
    top: int | None = option(TOP)
    threshold: float | None = option(THRESHOLD)
    budget: "Budget | None" = option(BUDGET)
    seed: int = option(SEED, 0)
    encoding: str | None = option(
        "Encoding of the texts", metavar="NAME", shown="UTF-8, or as the BOM says"
    )
    force: bool = option("Read texts that are not in English too", False)
    encoder: Any = option(
        "Folder of an ONNX encoder of sentence-transformers: how similar expressions are", type=Path
    )
    errors: str = option(ERRORS, "raise")


@dataclass(frozen=True, kw_only=True)
class SolveOptions(Options):
    """Options of solve."""

    model: str = option(
        f"Model: {', '.join(PAIR_MODELS)}", "evidential", metavar="NAME", check=one_of(PAIR_MODELS)
    )
    parameters: Any = option(PARAMETERS)
    top: int | None = option(TOP)
    threshold: float | None = option(THRESHOLD)
    missing: float | None = option(UNLISTED)
    soft: bool = option(SOFT, False)
    assume: tuple[str, ...] = option(ASSUME, ())
    method: str = option(
        f"Method: {', '.join(METHODS)}", "auto", metavar="NAME", check=one_of(METHODS)
    )
    prove: bool = option(
        "Prove the most probable configuration of large sets, or bound how much better another "
        "can be; takes up to the budget of the set once more",
        False,
    )
    budget: "Budget | None" = option(BUDGET)
    seed: int = option(SEED, 0)
    progress: Report | None = option(PROGRESS)


@dataclass(frozen=True, kw_only=True)
class ClusteringOptions(Options):
    """Options of the verbs that cluster records."""

    target_precision: float | None = option(
        "Stop merging when expected precision would fall below P, e.g. .99",
        metavar="P",
        check=check_probability,
    )
    cautious: float | None = option(
        Option(
            "Merge only clusters whose mean pair probability is P or more, e.g. .95",
            check=check_probability,
            command=False,
        )
    )
    link_above: float = option(
        "Scores up to P connect no clusters", 1e-4, metavar="P", check=check_probability
    )
    labels: Any = option(
        "Judged pairs (left,right,same) or clusters (id,cluster): they hold exactly and calibrate "
        "the model",
        type=Path,
    )
    assume: tuple[str, ...] = option(ASSUME, ())
    parameters: Any = option(PARAMETERS)
    previous: Any = option("Clusters of an earlier run (its --out), whose ids persist", type=Path)
    worlds: Any = option(
        "Write M draws of all clusters to F (record,world,cluster); in Python the number M",
        metavar="M F",
        type=tuple[int, Path],
        check=number_of_worlds,
    )
    budget: "Budget | None" = option(BUDGET)
    seed: int = option(SEED, 0)
    progress: Report | None = option(PROGRESS)
    note: Report | None = option(NOTE)
    errors: str = option(ERRORS, "raise")


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(ClusteringOptions):
    """Options of cluster."""

    records: Any = option("Table of all records", type=Path)
    unique_id: str | None = option(
        "Id column of the records", metavar="COL", flag="--id", shown="id or unique_id"
    )
    columns: tuple[str | None, str | None, str | None] = in_python(
        "Columns of both ids and of the score", (None, None, None)
    )
    sources: Sequence[str] | None = in_python(
        "Source of each record, where no source has duplicates"
    )


@dataclass(frozen=True, kw_only=True)
class LinkOptions(ClusteringOptions):
    """Options of link."""

    unique_id: str | None = option(
        "Column of unique ids", metavar="COL", shown="id, unique_id, rec_id, …"
    )
    ignore: tuple[str, ...] = option("Column that is not compared; repeatable", (), metavar="COL")
    settings: Any = option("Splink settings or a trained model (JSON)", type=Path)
    one_to_one: bool = option("No file has duplicates of its own records", False)
    reference: Any = option(
        "Table without duplicates with which each record is matched: one of its records, or none",
        type=Path,
    )
    # most pairs of all that are compared score less
    link_above: float = option(
        "Scores up to P connect no clusters", 0.01, metavar="P", check=check_probability
    )


@dataclass(frozen=True, kw_only=True)
class BuildOptions(Options):
    """Options of build."""

    source: Any = in_python("Texts, files, folders, results; or what `system` wrote", ())
    out: Any = option("Folder of the knowledge base; an existing one is extended", type=Path)
    entities: Any = option(
        "Entities of another system (CSV, JSONL, Parquet) with id, name, type, description, "
        "document",
        type=Path,
    )
    relations: Any = option("Relations between these entities: source, target, type", type=Path)
    system: str | None = option(
        f"Read the output of another system: {', '.join(SYSTEMS)}",
        flag="--from",
        metavar="NAME",
        check=one_of(SYSTEMS),
    )
    labels: Any = option(
        "Judged pairs of records (left,right,same); they hold from now on", type=Path
    )
    remove: tuple[str, ...] = option("Document to take out; repeatable", (), metavar="ID")
    refit: bool = option("Recalibrate the scores with all labels", False)
    worlds: int = option("Number of worlds (draws of who is who) to keep", 100, metavar="N", min=1)
    domain: str = option(DOMAIN, "general")
    mentions: Any = option(
        "Mentions to use in place of those found: JSONL with spans, CoNLL-U or CoNLL-2012",
        type=Path,
    )
    workers: int | None = option(WORKERS)
    seed: int = option(SEED, 0)
    progress: Report | None = option(PROGRESS)
    note: Report | None = option(NOTE)


@dataclass(frozen=True, kw_only=True)
class FuseOptions(Options):
    """Options of fuse."""

    truth: Any = option("True values (object,value) to evaluate against", type=Path)
    known: Any = option("True values of some objects to learn from", type=Path)
    reliability: Any = option(
        "Fixed reliabilities (source,reliability); the others are estimated",
        type=Path,
    )
    hierarchy: Any = option("Hierarchy of values (name,parent or id,name,parentID)", type=Path)
    states: Any = option(
        "Values that exclude each other and change in time (slot,value, and optionally group and "
        "absorbing): the current value is estimated from dated claims (column stated)",
        type=Path,
    )
    most_detailed: bool = option(
        "With a hierarchy, put the most detailed value first that contains the truth with a "
        "probability of at least 1/2",
        False,
    )
    objects: Any = option("List of valid objects; any other object is an error", type=Path)
    columns: Sequence[str] = option(
        "Column names for files without a header; - skips a column. E.g. source,object,-,authors",
        (),
        metavar="A,B,...",
        type=str,
    )
    kinds: Any = option(
        "Kind of a slot: closed, open, number, date, several, people or state. Kind of a file: "
        "reports, records, claims or judgements. Repeatable",
        flag="--kind",
        metavar="[NAME=]KIND",
        type=list[str],
        shown="detected",
    )
    tolerance: float = option(
        "Treat numbers within this relative difference, and dates within this number of days, as "
        "equal",
        0.0,
        metavar="X",
        min=0.0,
    )
    one_to_one: str | None = option(
        "Objects are pairs LEFT SEP RIGHT, and each side has at most one match; e.g. _",
        metavar="SEP",
    )
    discount_copies: bool = option("Give less weight to claims that appear to be copied", False)
    without: str | None = option("Show what changes without source S", metavar="S")
    latest: tuple[str, ...] = option(
        "Slot that changes: the last statement of a source (by the column stated, or by the order "
        "of lines) supersedes its earlier ones. Repeatable",
        (),
        metavar="SLOT",
    )
    domain: str = option(
        "Domain of the slots; records of the same thing are then linked first", "", metavar="D"
    )
    top: int | None = in_python("Configurations to list for each set of linked records")
    errors: str = option(ERRORS, "raise")


@dataclass(frozen=True, kw_only=True)
class TrainOptions(Options):
    """Options of train."""

    model: str = option(
        f"Model: {', '.join(LEARNED_MODELS)}. All but joint are trained together; the one that is "
        "named measures the keys",
        "evidential",
        metavar="NAME",
        check=one_of(LEARNED_MODELS),
    )
    start: Any = option(
        "Parameters that training starts from, as written by train",
        type=Path,
        shown="parameters of the domain, or the shipped ones",
    )
    domain: str | None = option(SLOT_DOMAIN)
    source: str | None = option(SOURCE)
    about: str = option("Description of the training data, stored in the file", "", metavar="TEXT")
    seed: int = option(SEED, 0)
    progress: Report | None = option(PROGRESS)


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(Options):
    """Options of evaluate."""

    parameters: Any = option(WRITTEN_PARAMETERS)
    seed: int = option(SEED, 0)
    progress: Report | None = option(PROGRESS)


@dataclass(frozen=True, kw_only=True)
class ExplainOptions(Options):
    """Options of explain."""

    set_name: str | None = option(
        Option("Name of the coreference set", metavar="SET", argument=True)
    )
    parameters: Any = option(WRITTEN_PARAMETERS)
    domain: str | None = option(SLOT_DOMAIN)


@dataclass(frozen=True, kw_only=True)
class PaperOptions(Options):
    """Options of paper: which keys and characteristics, and how features are fitted."""

    keys: Path | None = option(
        "Keys, or a folder of messages with keys", metavar="F", shown="bundled messages"
    )
    characteristics: str = option(
        "Characteristics of pairs: paper or extended",
        "paper",
        metavar="NAME",
        check=one_of(("paper", "extended")),
    )
    prior: bool = option("Fit under a Gaussian prior, so that no weight diverges", False)
    domain: str | None = option(SLOT_DOMAIN)
    seed: int = option(SEED, 0)
