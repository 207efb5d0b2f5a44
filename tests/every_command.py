"""Run every command on small inputs: `python every_command.py FOLDER`.

What each command prints goes into FOLDER/printed, and what it writes into FOLDER itself.
"""

from __future__ import annotations

import csv
import json
import os
import random
import re
import shutil
import sys
from pathlib import Path

from typer.testing import CliRunner

import partita
from partita.cli import app
from research.reading_models import learn_tagger
from research.tagger import TaggerSettings
from small_exam import written

SECONDS = re.compile(r'"seconds": [^,}]+')  # what training took
CORPUS = Path(partita.__file__).parent / "domains" / "depots" / "corpus"


def main() -> None:
    folder = Path(sys.argv[1])
    (folder / "printed").mkdir(parents=True)
    os.chdir(folder)
    write_inputs()
    for number, line in enumerate(COMMANDS.strip().splitlines()):
        result = CliRunner().invoke(app, line.split())
        if result.exit_code:
            raise SystemExit(f"{line}\n{result.output}{result.exception!r}")
        name = "-".join(line.split()[:2]).replace("/", "-")
        Path(f"printed/{number:02d}-{name}").write_text(SECONDS.sub("", result.output))
    for number in (1, 2):  # the command would train a large one
        settings = TaggerSettings(bits=12, passes=2, runs=1)
        learn_tagger(
            [Path("tagged.conllu")], Path(f"tagger-{number}.npz"), number, settings=settings
        )
    Path("store.db").unlink()  # it holds the time


COMMANDS = """
run messages --json --workers 1 --model joint
run messages --json --workers 1 --domain depots --model merging --threshold .01
run messages --workers 1 --domain depots --out results.jsonl
run messages --workers 1 --domain depots --store store.db --name monday
run more --workers 1 --domain depots --out more.jsonl
run exam/messages --json --workers 1 --domain incidents
run exam/messages --workers 1 --domain incidents --to muc --out answers.txt
export monday --store store.db --out entities.csv
export monday --store store.db --table pairs --out pairs-of-run.csv
export monday --store store.db --table templates --out templates.csv
explain results.jsonl dev-001.1 T1 T2
evaluate results.jsonl messages/keys.jsonl --json
solve few.csv --json --method certified --work 1000000
solve many.csv --json --method sampled --work 20000
solve many.csv --work 300000
fuse claims.csv --json
fuse claims.csv --json --kind people --discount-copies --without s2
fuse claims.csv --json --kind several
fuse places.csv --json --hierarchy hierarchy.csv
fuse results.jsonl more.jsonl records.csv --json --domain depots
train messages --out pairs.json --json
train messages --model joint --out joint.json --json
paper --json
train-muc exam --out incidents.json
"""


def write_inputs() -> None:
    """Messages with keys, an exam, pairs, claims, records and tagged sentences."""
    for name, count in (("messages", 8), ("more", 12)):
        Path(name).mkdir()
        for path in sorted(CORPUS.glob("*.txt"))[count - 8 : count]:
            shutil.copy(path, name)
        keys = (CORPUS / "keys.jsonl").read_text().splitlines()
        some = [one for one in keys if Path(name, json.loads(one)["message"] + ".txt").exists()]
        Path(name, "keys.jsonl").write_text("\n".join(some) + "\n")
    written(Path("exam"), slice(None, None, 7))
    rng = random.Random(0)
    near = [(i, j) for i in range(40) for j in range(i + 1, min(40, i + 14))]
    _table(
        "few.csv",
        "left,right,probability",
        [(f"t{i}", f"t{j}", rng.random()) for i, j in near[:45]],
    )
    _table(
        "many.csv", "left,right,probability", [(f"t{i}", f"t{j}", rng.random()) for i, j in near]
    )
    people = (
        "John Smith",
        "Mary A. Jones",
        "J. Smith",
        "Jones, Mary; Smith",
        "Ann Lee; John Smith",
    )
    said = [(f"o{o}", f"s{s}", rng.choice(people)) for o in range(12) for s in range(5)]
    _table("claims.csv", "object,source,value", said)
    places = ("Kinston", "Tarboro", "Lenoir", "Edgecombe", "North Carolina", "USA")
    above = zip(
        places, ("Lenoir", "Edgecombe", "North Carolina", "North Carolina", "USA", ""), strict=True
    )
    _table("hierarchy.csv", "name,parent", [pair for pair in above if pair[1]])
    said = [(f"o{o}", f"s{s}", rng.choice(places)) for o in range(12) for s in range(5)]
    _table("places.csv", "object,source,value", said)
    rows = [
        (f"r{n}", "DEPOT", rng.choice(places[:2]).upper(), rng.choice(["FUEL", "RAIL"]))
        for n in range(9)
    ]
    _table("records.csv", "id,facility,location,type", rows)
    words = [
        ("depot", "NN"),
        ("burned", "VBD"),
        ("at", "IN"),
        ("the", "DT"),
        ("Kinston", "NNP"),
        ("two", "CD"),
    ]
    sentences = []
    for _ in range(60):
        some = [rng.choice(words) for _ in range(7)]
        lines = [
            f"{n}\t{word}\t_\t_\t{tag}\t_\t0\t_\t_\t_" for n, (word, tag) in enumerate(some, 1)
        ]
        sentences.append("\n".join(lines) + "\n\n")
    Path("tagged.conllu").write_text("# newdoc id = GUM_news_fire\n" + "".join(sentences))


def _table(name: str, columns: str, rows: list[tuple[object, ...]]) -> None:
    with Path(name).open("w", newline="") as file:
        csv.writer(file).writerows([columns.split(","), *rows])


if __name__ == "__main__":
    main()
