"""What `partita build` costs by the number of documents: CPU time and memory, as a table.

    python benchmarks/build_growth.py DATA [--sizes 100 1000 10000] [--kept FOLDER]

DATA has the folders gap, ecb and muc4 (see docs/build.md). Documents are passages of at most 80
words, in an order that mixes the corpora. Each size is a build of its own in one process; with
`--kept` the folder stays, and a further call times what was extracted before as read.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

WORDS = 80
MESSAGE = re.compile(r"^(?:DEV|TST\d)-MUC\d-\d+ .*$", re.MULTILINE)
STAGES = """
import json, resource, sys, time
from partita.app import build as app
stages = []
def report(text):
    stage = "extract" if text.endswith("read") else text.split()[0]
    if not stages or stages[-1][0] != stage:
        stages.append([stage, time.process_time(), 0])
    stages[-1][2] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
start = time.process_time()
kb = app.build_base(app.BuildOptions(source=sys.argv[1], out=sys.argv[2], workers=1,
                                     progress=report))
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
end = time.process_time()
given = kb.to_dict()
print(json.dumps({"cpu": end, "memory": memory, "stages": stages, **given}))
"""


def passages(data: Path) -> Iterator[tuple[str, str]]:
    """Yield the ids and texts of short documents."""
    for name in ("development", "validation"):
        with (data / "gap" / f"{name}.tsv").open(encoding="utf-8") as lines:
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                yield from cut(row["ID"], row["Text"])
    for path in sorted((data / "ecb").glob("*/texts/*.txt")):
        yield from cut(path.stem, path.read_text("utf-8"))
    for path in sorted((data / "muc4" / "dev").iterdir()):
        if not path.name.startswith("key"):
            for n, text in enumerate(MESSAGE.split(path.read_text("latin-1"))[1:]):
                yield from cut(f"{path.name}-{n}", text)


def cut(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the passages of a text: whole sentences, as many as fit."""
    kept: list[str] = []
    size, number = 0, 0
    for sentence in re.split(r"(?<=[.!?])\s+", text.strip()):
        words = len(sentence.split())
        if kept and size + words > WORDS:
            yield f"{name}-{number}", " ".join(kept)
            kept, size, number = [], 0, number + 1
        kept.append(sentence)
        size += words
    if kept:
        yield f"{name}-{number}", " ".join(kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("data", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--kept", type=Path, help="a folder for the knowledge base")
    given = parser.parse_args()
    mixed = sorted(passages(given.data), key=lambda one: blake2b(one[0].encode()).digest())
    print("| documents | records | pairs | CPU s | per document | of it extraction | memory |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for size in given.sizes:
        with TemporaryDirectory() as folder:
            texts = Path(folder) / "texts.jsonl"
            texts.write_text("".join(json.dumps({"id": name, "text": text}) + "\n"
                                     for name, text in mixed[:size]), "utf-8")  # fmt: skip
            print(row(texts, given.kept or Path(folder) / "KB"), flush=True)


def row(texts: Path, out: Path) -> str:
    """Return a row of the table, of a build in a process of its own."""
    started = time.time()
    command = [sys.executable, "-c", STAGES, str(texts), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    if done.returncode:
        return done.stderr
    found = json.loads(done.stdout)
    starts = {name: cpu for name, cpu, _ in found["stages"]}
    print(found["stages"], f"{time.time() - started:.0f} s", file=sys.stderr)
    return (
        f"| {found['documents']:,} | {found['records']:,} | {found['compared_pairs']:,} "
        f"| {found['cpu']:.0f} | {found['cpu'] / found['documents']:.3f} "
        f"| {starts.get('comparing', 0) / found['documents']:.3f} | {found['memory']:,} MB |"
    )


if __name__ == "__main__":
    main()
