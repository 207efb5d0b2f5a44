"""Compare what two versions of Partita answer: `collect` runs the commands, `compare` the answers.

    python scripts/compare_results.py collect OLD/.venv/bin/partita before
    python scripts/compare_results.py collect NEW/.venv/bin/partita after
    python scripts/compare_results.py compare before after

Both versions read the same inputs, made here with a fixed seed or taken from ../shared/data. Before
they are compared, JSON fields that the older version left out at their default are filled in, and
hashes of rules and parameters, durations and reasons (texts for people) are dropped.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "src" / "partita" / "domains" / "depots" / "corpus"
DATA = ROOT.parent / "shared" / "data"
MODELS = ("uniform", "greedy", "merging", "evidential", "scaled")
DROPPED = {"rules", "parameters", "partita", "seconds", "duration", "reason"}
TEMPLATE = {"start": 0, "end": 0, "sentence": 0, "region": "text"}
TEMPLATE |= dict.fromkeys(("text", "sort", "head", "form", "rule"), "")
TEMPLATE |= {"slots": {}, "antecedents": [], "context": {}}
SET = {"must": [], "excluded": 0.0, "gap": 0.0}
ENTITY = {"name": "", "descriptions": []}
RECORDS = {
    "fake_1000": ["fake_1000.csv"],
    "RLdata500": ["RLdata500.csv"],
    "restaurants": ["restaurant-nophone-training.csv"],
    "restaurants-two": ["restaurants-two/rest1.csv", "restaurants-two/rest2.csv"],
}
TRUTHS = {"ent_id", "cluster", "unique_id"}  # columns that name the true cluster
MESSAGES = 2  # files of a hundred MUC messages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(required=True)
    collecting = commands.add_parser("collect", help="run all commands of one version")
    collecting.add_argument("partita", type=Path, help="the command of that version")
    collecting.add_argument("out", type=Path, help="the folder for its answers")
    collecting.add_argument("--only", default="", help="only answers whose name has this prefix")
    collecting.set_defaults(call=lambda a: collect(a.partita.absolute(), a.out, a.only))
    comparing = commands.add_parser("compare", help="compare two folders of answers")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--tolerance", type=float, default=0.0, help="of numbers, relative")
    comparing.set_defaults(call=lambda a: compare(a.before, a.after, a.tolerance))
    arguments = parser.parse_args()
    raise SystemExit(arguments.call(arguments))


def collect(partita: Path, out: Path, only: str = "") -> int:
    """Run every command and keep its standard output and the file that it writes."""
    out.mkdir(parents=True, exist_ok=True)
    write_inputs(out / "inputs")
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    for name, arguments in commands(out):
        if not name.startswith(only):
            continue
        (out / name).unlink(missing_ok=True)
        done = subprocess.run(
            [str(partita), *map(str, arguments)],
            capture_output=True, text=True, env=environment, cwd=ROOT,
        )  # fmt: skip
        if not (out / name).exists():
            (out / name).write_text(done.stdout, encoding="utf-8")
        print(f"{name}: exit code {done.returncode}", flush=True)
        if done.returncode:
            print(done.stderr, file=sys.stderr)
    return 0


def commands(out: Path) -> Iterator[tuple[str, list[Any]]]:
    """The names of all answers and the arguments that make them."""
    muc = sorted((DATA / "muc4" / "dev").iterdir())[:MESSAGES]
    muc = [path for path in muc if path.name.startswith("dev-muc3")]
    for model in (*MODELS, "joint"):
        name = f"run-corpus-{model}.jsonl"
        yield name, ["run", CORPUS, "--domain", "depots", "--model", model, "--out", out / name]
    for domain in ("depots", "incidents"):
        name = f"run-muc-{domain}.jsonl"
        yield name, ["run", *muc, "--domain", domain, "--out", out / name]
        name = f"run-corpus-in-{domain}.jsonl"
        yield name, ["run", CORPUS, "--domain", domain, "--out", out / name]
    name = "run-muc-incidents.txt"
    yield name, ["run", *muc, "--domain", "incidents", "--to", "muc", "--out", out / name]
    texts = sorted((out / "inputs" / "gum").glob("*.txt"))
    for name in ("run-gum.jsonl", "run-gum.conllu"):
        ending = [] if name.endswith("jsonl") else ["--to", "corefud"]
        yield name, ["run", *texts, *ending, "--out", out / name]
    yield from solve_commands(out)
    yield from record_commands(out)
    yield from fuse_commands(out)
    yield from training_commands(out)


def solve_commands(out: Path) -> Iterator[tuple[str, list[Any]]]:
    inputs = out / "inputs"
    for kind in ("small", "large"):
        for model in MODELS:
            yield (
                f"solve-{kind}-{model}.jsonl",
                ["solve", inputs / f"{kind}.csv", "--model", model, "--json", "--work", 200_000],
            )


def record_commands(out: Path) -> Iterator[tuple[str, list[Any]]]:
    tables = ("pairs", "alternatives", "review")
    for kind in ("small", "large", "sparse"):
        options = [part for t in tables for part in (f"--{t}", out / f"cluster-{kind}-{t}.csv")]
        name = f"cluster-{kind}.csv"
        yield name, ["cluster", out / "inputs" / f"{kind}.csv", *options, "--out", out / name]
    for name, files in RECORDS.items():
        inputs = [out / "inputs" / file.replace("/", "-") for file in files]
        for verb in ("link", "fuse") if len(files) > 1 else ("link",):
            file = f"{verb}-{name}.csv" if verb == "link" else f"{verb}-{name}.json"
            more = ["--out", out / file] if verb == "link" else ["--json"]
            yield file, [verb, *inputs, *more]


def fuse_commands(out: Path) -> Iterator[tuple[str, list[Any]]]:
    claims = DATA / "claims"
    places = claims / "birthplaces"
    yield (
        "fuse-birthplaces.json",
        ["fuse", places / "claims.csv", "--hierarchy", places / "hierarchy.csv",
         "--truth", places / "groundtruths.csv", "--json"],
    )  # fmt: skip
    crowd = claims / "crowd-product"
    for name, more in (("free", []), ("one-to-one", ["--one-to-one", "_"])):
        yield (
            f"fuse-crowd-{name}.json",
            ["fuse", crowd / "answer.csv", "--truth", crowd / "truth.csv", *more, "--json"],
        )
    yield (
        "fuse-reports.json",
        ["fuse", out / "run-corpus-evidential.jsonl", out / "inputs" / "table.csv",
         "--domain", "depots", "--json"],
    )  # fmt: skip


def training_commands(out: Path) -> Iterator[tuple[str, list[Any]]]:
    keys = CORPUS / "keys.jsonl"
    yield "paper.json", ["paper", "--json"]
    name = "train-depots.json"
    yield name, ["train", keys, "--domain", "depots", "--out", out / name]
    name = "train-scaled.json"
    yield name, ["train", keys, "--domain", "depots", "--model", "scaled", "--out", out / name]


def write_inputs(folder: Path) -> None:
    """Pairs of many small sets and of some larger ones, and a table of records."""
    folder.mkdir(exist_ok=True)
    rng = random.Random(1997)
    write_csv(folder / "small.csv", ("left", "right", "probability"), pairs(rng, 300, 2, 9, 1.0))
    write_csv(folder / "large.csv", ("left", "right", "probability"), pairs(rng, 6, 20, 45, 0.3))
    rows = [
        (f"r{n}", rng.choice(("DEPOT", "BRIDGE")), rng.choice(("KINSTON", "RALEIGH", "FAIRVIEW")))
        for n in range(40)
    ]
    write_csv(folder / "table.csv", ("id", "FACILITY", "LOCATION"), rows)
    write_csv(folder / "sparse.csv", ("left", "right", "probability"), pairs(rng, 900, 2, 60, 0.04))
    for file in (file for files in RECORDS.values() for file in files):
        copy_records(DATA / "records" / file, folder / file.replace("/", "-"))
    (folder / "gum").mkdir(exist_ok=True)
    for path in sorted((DATA / "gum" / "dev").glob("*.conllu")):
        write_text(path, folder / "gum" / f"{path.stem}.txt")


def copy_records(path: Path, out: Path) -> None:
    """A table of records without the columns of its truth (an id of its own is kept)."""
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        header, *rows = csv.reader(file)
    own = {"unique_id"} if path.parent.name == "restaurants-two" or "cluster" in header else set()
    kept = [n for n, name in enumerate(header) if name not in TRUTHS - own]
    write_csv(out, tuple(header[n] for n in kept), ([row[n] for n in kept] for row in rows))


def write_text(path: Path, out: Path) -> None:
    """The raw text of a CoNLL-U document, a paragraph per line."""
    paragraphs: list[list[str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# newpar") or not paragraphs:
            paragraphs.append([])
        if line.startswith("# text = "):
            paragraphs[-1].append(line.removeprefix("# text = "))
    text = "\n\n".join(" ".join(one) for one in paragraphs if one)
    out.write_text(text + "\n", encoding="utf-8")


def pairs(
    rng: random.Random, sets: int, least: int, most: int, density: float
) -> Iterator[tuple[str, str, float]]:
    for number in range(sets):
        names = [f"s{number}t{k}" for k in range(rng.randint(least, most))]
        for j, right in enumerate(names):
            for i, left in enumerate(names[:j]):
                if i == j - 1 or rng.random() < density:
                    impossible = i < j - 1 and rng.random() < 0.1
                    yield left, right, 0 if impossible else round(rng.uniform(0.05, 0.95), 3)


def write_csv(path: Path, header: tuple[str, ...], rows: Any) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def compare(before: Path, after: Path, tolerance: float = 0.0) -> int:
    """Say of every answer whether it is the same; the exit code is the number that are not."""
    different = 0
    for path in sorted(path for path in before.iterdir() if path.is_file()):
        other = after / path.name
        problem = "missing" if not other.exists() else difference(path, other, tolerance)
        different += bool(problem)
        print(f"{path.name}: {problem or 'the same'}")
    return different


def difference(before: Path, after: Path, tolerance: float) -> str:
    """The first place where two answers differ, or nothing."""
    if before.suffix not in (".json", ".jsonl"):
        same = before.read_bytes() == after.read_bytes()
        return "" if same else "the bytes differ"
    left, right = values(before), values(after)
    if len(left) != len(right):
        return f"{len(left)} and {len(right)} lines"
    for number, (one, two) in enumerate(zip(left, right, strict=True), 1):
        if place := first_difference(normal(one), normal(two), tolerance):
            return f"line {number}: {place}"
    return ""


def values(path: Path) -> list[Any]:
    text = path.read_text(encoding="utf-8").replace(str(path.parent.absolute()), "")
    if path.suffix == ".json":
        return [json.loads(text)] if text else []
    return [json.loads(line) for line in text.splitlines()]


def normal(value: Any) -> Any:
    """The value with its defaults and without hashes and durations."""
    if isinstance(value, list):
        return [normal(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {name: normal(item) for name, item in value.items() if not dropped(name, item)}
    if "configurations" in value:
        kept = SET | kept | {"templates": [TEMPLATE | one for one in kept["templates"]]}
    if "singletons" in value:
        kept["singletons"] = [TEMPLATE | one for one in kept["singletons"]]
    if "anchor" in value and "sort" in value:
        kept = ENTITY | kept
    return {name: item for name, item in kept.items() if item is not None}


def dropped(name: str, value: Any) -> bool:
    return name in DROPPED and not isinstance(value, dict | list)


def first_difference(one: Any, two: Any, tolerance: float, place: str = "") -> str:
    if isinstance(one, dict) and isinstance(two, dict):
        for name in sorted(one.keys() | two.keys()):
            if name not in one or name not in two:
                return f"{place}.{name} is in one only"
            if found := first_difference(one[name], two[name], tolerance, f"{place}.{name}"):
                return found
        return ""
    if isinstance(one, list) and isinstance(two, list):
        if len(one) != len(two):
            return f"{place} has {len(one)} and {len(two)} items"
        for n, (left, right) in enumerate(zip(one, two, strict=True)):
            if found := first_difference(left, right, tolerance, f"{place}[{n}]"):
                return found
        return ""
    if one == two or close(one, two, tolerance):
        return ""
    return f"{place}: {one!r} and {two!r}"


def close(one: Any, two: Any, tolerance: float) -> bool:
    numbers = all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in (one, two)
    )
    return numbers and abs(one - two) <= tolerance * max(abs(one), abs(two))


if __name__ == "__main__":
    main()
