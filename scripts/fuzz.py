"""Fuzz every reader of files and every body of the service, with inputs that keep their structure.

Valid files are changed in their own terms: cells of a table, nodes of a JSON document, lines and
words of a text. Gentle changes keep a file plausible, rough ones do not; the share of rough ones is
held so that at least half of the inputs are accepted. Inputs with an outcome that was not seen
before are changed further. Nothing but the errors of Partita may come out, in bounded time and
memory. Run by `make fuzz`; every target runs in a forked process.
"""

from __future__ import annotations

import argparse
import csv
import gc
import io
import json
import multiprocessing
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

INPUTS = 200_000
SLOWEST = 20.0  # seconds of CPU for one input
PART = 10_000  # inputs that are logged together
MOST_MEMORY = 1 << 10  # megabytes
KEPT = 400  # inputs with a new outcome that are changed further
LARGEST = 1 << 16  # bytes of an input; what grows beyond is cut
MEMORY_DISK = Path("/dev/shm")  # where it exists: files on a disk would be most of the time

STRINGS = (
    "", " ", "0", "-1", "1e999", "nan", "\u00e9", "\u202e", "a" * 300, "\ud7ff", "\U0001f600", '"',
    "'", ",", ";", "\t", "\\", "{", "[]", "null", "true", "=", "#", "T1", "<b>", "%s", "..", "/",
    "1_0", "1997-02-30", "\u0660", "\x7f", "\u2028", "A;A", "\x00",
)  # fmt: skip
PLANES = (
    0x20, 0xA0, 0x300, 0x600, 0xE00, 0x2000, 0x2500, 0x4E00, 0xFE00, 0x10000, 0x1F600, 0xE0000,
    0x10FF00,
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 0.5, 1.5, -0.0, 1e308, 1e-320, 2**63, -(2**70), 10**400, [], {},
    [[]], [None], {"a": 1}, *STRINGS[:12],
)  # fmt: skip


class Hang(BaseException):
    """An input took too long. Not an Exception, so that no reader catches it."""


@dataclass(frozen=True, slots=True)
class Target:
    """Something that reads: the form of its files, valid ones, and the call.

    `own` are the errors that refuse an input.
    """

    name: str
    form: str  # json, jsonl, csv or lines
    seeds: Sequence[str]
    read: Callable[[Path], object]
    file: str = "input"
    own: Callable[[Exception], bool] = lambda error: False


@dataclass(slots=True)
class Outcome:
    """What became of the inputs of a target."""

    inputs: int = 0
    accepted: int = 0
    refusals: dict[str, int] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    slowest: float = 0.0
    memory: int = 0  # megabytes
    seconds: float = 0.0  # of CPU


# --- changes ---


def change(
    data: bytes, form: str, gentle: bool, pool: Sequence[bytes], rng: random.Random
) -> bytes:
    """Return the input with one to three changes."""
    if not gentle and rng.random() < 0.3:
        return _change_bytes(data, pool, rng)[:LARGEST]
    try:
        text = data.decode()
        for _ in range(1 if gentle else rng.choice((1, 1, 2, 3))):
            text = CHANGES[form](text, gentle, pool, rng)
        return text.encode("utf-8", "surrogatepass")[:LARGEST]
    except (
        ValueError,
        IndexError,
        csv.Error,
        RecursionError,
    ):  # rough changes may leave no structure
        return _change_bytes(data, pool, rng)[:LARGEST]


def _change_bytes(data: bytes, pool: Sequence[bytes], rng: random.Random) -> bytes:
    first, last = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
    piece = data[first:last]
    match rng.randrange(9):
        case 0:
            return data[:first] + rng.randbytes(rng.randint(1, 4)) + data[first:]
        case 1:
            return data[:first] + data[last:]
        case 2:
            return data[:first] + piece * 2 + data[last:]
        case 3:
            other = rng.choice(pool)
            return data[:first] + other[rng.randint(0, len(other)) :]
        case 4:
            return rng.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\n", b" ")) + data
        case 5:
            return data.replace(b"\n", rng.choice((b"\r", b"\r\n", b"\n\n", b"")))
        case 6:
            return data[:first] + rng.choice((b"[", b"{", b"(", b'"')) * 2000 + data[first:]
        case 7:
            return data.decode("utf-8", "replace").encode(
                rng.choice(("utf-16", "latin-1")), "replace"
            )
        case _:
            return data[:first]


def _change_json(text: str, gentle: bool, pool: Sequence[bytes], rng: random.Random) -> str:
    document = [json.loads(text)]
    places = _places(document)
    holder, key = rng.choice(places)
    if gentle:
        _gentle_node(holder, key, places, rng)
    else:
        _rough_node(holder, key, places, rng)
    return json.dumps(document[0], ensure_ascii=rng.random() < 0.5)


def _places(node: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) below a node, each level after the one above."""
    nodes, places = [node], []
    for each in nodes:
        keys = each if isinstance(each, dict) else range(len(each))
        places += [(each, key) for key in keys]
        values = each.values() if isinstance(each, dict) else each
        nodes += [value for value in values if isinstance(value, dict | list)]
    return places


def _gentle_node(
    holder: Any, key: Any, places: Sequence[tuple[Any, Any]], rng: random.Random
) -> None:
    """Change a node into something of its kind."""
    value = holder[key]
    if isinstance(value, list) and value:
        match rng.randrange(3):
            case 0:
                rng.shuffle(value)
            case 1:
                value.append(rng.choice(value))
            case _:
                value.pop(rng.randrange(len(value)))
    elif isinstance(value, float):
        holder[key] = rng.choice((rng.random(), value, 0.0, 1.0, round(value, 1)))
    elif isinstance(value, int) and not isinstance(value, bool):
        holder[key] = max(0, value + rng.randint(-1, 2))
    elif isinstance(value, str):
        like = [
            h[k] for h, k in places if isinstance(h[k], str) and (k == key or isinstance(k, int))
        ]
        fresh = f"{value}{rng.randint(2, 9)}"
        holder[key] = fresh if rng.random() < 0.5 else rng.choice((*like, value.upper()))


def _rough_node(
    holder: Any, key: Any, places: Sequence[tuple[Any, Any]], rng: random.Random
) -> None:
    """Change a node into anything, remove it or move it."""
    match rng.randrange(5):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[rng.choice((_odd(rng), f"{key}s"))] = holder.pop(key)
        case 2:
            other, name = rng.choice(places)
            holder[key] = other[name] if other[name] is not holder else []
            json.dumps(holder)  # a node that holds itself is a ValueError
        case 3:
            holder[key] = [holder[key]] if rng.random() < 0.5 else {"a": holder[key]}
        case _:
            holder[key] = rng.choice((*VALUES, _odd(rng)))


def _odd(rng: random.Random) -> str:
    """Return a string that tempts a reader, or characters of any plane."""
    if rng.random() < 0.7:
        return rng.choice(STRINGS)
    return "".join(chr(rng.choice(PLANES) + rng.randrange(256)) for _ in range(rng.randint(1, 8)))


def _change_jsonl(text: str, gentle: bool, pool: Sequence[bytes], rng: random.Random) -> str:
    lines = text.rstrip("\n").split("\n")
    if len(lines) > 1 and rng.random() < 0.2:
        return _move_line(lines, rng)
    n = rng.randrange(len(lines))
    lines[n] = _change_json(lines[n], gentle, pool, rng)
    return "\n".join(lines) + "\n"


def _change_csv(text: str, gentle: bool, pool: Sequence[bytes], rng: random.Random) -> str:
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    if len(rows) > 2 and rng.random() < 0.2:
        return _table(rows[:1] + _moved(rows[1:], rng))
    row = rng.choice(rows[1:] or rows) if gentle else rng.choice(rows)
    n = rng.randrange(len(row))
    if gentle:
        column = [other[n] for other in rows[1:] if len(other) > n]
        row[n] = rng.choice((*column, _near(row[n], rng)))
    elif (kind := rng.randrange(4)) == 0:
        del row[n]
    elif kind == 1:
        row.insert(n, _odd(rng))
    else:
        row[n] = _odd(rng)
    return _table(rows, rng.choice(",,,,;\t|") if not gentle else ",")


def _table(rows: Sequence[Sequence[str]], mark: str = ",") -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=mark, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def _near(cell: str, rng: random.Random) -> str:
    """Return a cell of the same kind."""
    if re.fullmatch(r"0?\.\d+|[01](\.\d+)?", cell):
        return f"{rng.random():.{rng.randint(1, 6)}f}"
    if cell.isdigit():
        return str(rng.randint(0, 2 * int(cell) + 1))
    return f"{cell}{rng.choice((' ', 'x', '-2', '.'))}"


def _change_lines(text: str, gentle: bool, pool: Sequence[bytes], rng: random.Random) -> str:
    lines = text.rstrip("\n").split("\n")
    if rng.random() < (0.1 if gentle else 0.4):
        return _move_line(lines, rng)
    rows = [re.split(r"(\s+)", line) for line in lines]
    parts = rng.choice(rows)
    n = rng.randrange(0, len(parts), 2) if gentle else rng.randrange(len(parts))
    alike = [row[n] for row in rows if len(row) == len(parts)]  # the same column of a table
    parts[n] = rng.choice(alike) if gentle else _odd(rng)
    return "\n".join(map("".join, rows)) + "\n"


def _move_line(lines: list[str], rng: random.Random) -> str:
    return "\n".join(_moved(lines, rng)) + "\n"


def _moved(rows: list[Any], rng: random.Random) -> list[Any]:
    """Return rows of which one is dropped, doubled or moved."""
    first, second = rng.randrange(len(rows)), rng.randrange(len(rows))
    kept = rows[:first] + rows[first + 1 :]
    match rng.randrange(3):
        case 0:
            return kept or rows
        case 1:
            return [*rows[:second], rows[first], *rows[second:]]
        case _:
            return [*kept[:second], rows[first], *kept[second:]]


CHANGES: dict[str, Callable[[str, bool, Sequence[bytes], random.Random], str]] = {
    "json": _change_json,
    "jsonl": _change_jsonl,
    "csv": _change_csv,
    "lines": _change_lines,
}


# --- the campaign ---


def fuzz(target: Target, inputs: int, seed: int | str, seconds: float = float("inf")) -> Outcome:
    """Read so many changed inputs, or as many as the time allows."""
    from partita.errors import PartitaError

    rng = random.Random(f"{seed}/{target.name}")
    pool = [text.encode() for text in target.seeds]
    outcome, kept, end = Outcome(), len(pool) + KEPT, time.monotonic() + seconds
    disk = MEMORY_DISK if MEMORY_DISK.is_dir() else None
    with tempfile.TemporaryDirectory(dir=disk) as folder, _limited():
        path = Path(folder) / target.file
        for seed_file in pool:  # compiles and loads what is needed, and must be accepted
            path.write_bytes(seed_file)
            target.read(path)
        gc.freeze()  # what is loaded by now need not be searched for garbage again and again
        while outcome.inputs < inputs and time.monotonic() < end:
            gentle = outcome.accepted < 0.55 * outcome.inputs
            data = _input(target, gentle, pool, rng)
            path.write_bytes(data)
            new = _read(target, path, outcome, PartitaError)
            if new and len(pool) < kept:
                pool.append(data)
    return outcome


def _input(target: Target, gentle: bool, pool: list[bytes], rng: random.Random) -> bytes:
    """Return a changed input; a gentle change starts from a valid file."""
    start = rng.choice(pool[: len(target.seeds)] if gentle else pool)
    return change(start, target.form, gentle, pool, rng)


def _read(target: Target, path: Path, outcome: Outcome, refusal: type[Exception]) -> bool:
    """Read one input and note what became of it; return whether the outcome is new."""
    began, new = time.process_time(), False
    outcome.inputs += 1
    signal.setitimer(signal.ITIMER_PROF, SLOWEST)
    try:
        target.read(path)
        outcome.accepted += 1
    except Exception as error:
        if isinstance(error, refusal) or target.own(error):
            said = re.sub(
                r"[\d.]+|'[^']*'|\"[^\"]*\"", "#", str(error).replace(str(path.parent), "")
            )[:80]
            new = said not in outcome.refusals
            outcome.refusals[said] = outcome.refusals.get(said, 0) + 1
            if "\n" in str(error) and isinstance(error, refusal):
                _keep(target, path, outcome, f"error of several lines: {error}")
        else:
            _keep(target, path, outcome, traceback.format_exc())
    except Hang:
        _keep(
            target,
            path,
            outcome,
            f"took more than {SLOWEST:g} CPU seconds\n{traceback.format_exc()}",
        )
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    outcome.slowest = max(outcome.slowest, time.process_time() - began)
    return new


def _keep(target: Target, path: Path, outcome: Outcome, said: str) -> None:
    """Keep the first input of every failure."""
    place = "\n".join(re.findall(r'File ".*', said)[-2:]) or said
    if place not in outcome.failures:
        name = f"partita-fuzz-{target.name.replace(' ', '-')}-{len(outcome.failures)}"
        kept = Path(tempfile.gettempdir()) / f"{name}{path.suffix}"
        kept.write_bytes(path.read_bytes())
        outcome.failures[place] = f"{said}\nthe input is in {kept}"


@contextmanager
def _limited() -> Iterator[None]:
    """Turn the alarm of the CPU time into an exception, and warnings into errors."""

    def ring(_signal: int, _frame: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, ring)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        signal.signal(signal.SIGPROF, before)


def campaign(
    target: Target, inputs: int, seed: int, seconds: float, log: Path | None
) -> Iterator[Outcome]:
    """Yield the outcomes of the parts of a campaign, from the log where it has them.

    Every part has its own random numbers, and is logged when it ends: a campaign that was cut short
    is continued by the same command.
    """
    logged = _logged(log, target.name, seed)
    end = time.monotonic() + seconds
    for number in range(-(-inputs // PART)):
        size = min(PART, inputs - number * PART)
        if number in logged and logged[number].inputs == size:
            yield logged[number]
        elif time.monotonic() < end:
            began = time.process_time()
            outcome = fuzz(target, size, f"{seed}/{number}", end - time.monotonic())
            outcome.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            outcome.seconds = time.process_time() - began
            if log and outcome.inputs == size:
                line = {"target": target.name, "seed": seed, "part": number, **asdict(outcome)}
                with log.open("a") as stream:
                    stream.write("\n" + json.dumps({**line, "end": True}))
            yield outcome


def _logged(log: Path | None, name: str, seed: int) -> dict[int, Outcome]:
    """Return the logged parts of a target; lines that were cut off are left out."""
    lines = log.read_text().split("\n") if log and log.exists() else []
    parts: dict[int, Outcome] = {}
    for line in (json.loads(text) for text in lines if text.endswith('"end": true}')):
        of, number = (line.pop("target"), line.pop("seed")), line.pop("part")
        if line.pop("end") and of == (name, seed):
            parts[number] = Outcome(**line)
    return parts


def _run(target: Target, inputs: int, seed: int, seconds: float, log: Path | None) -> int:
    """Fuzz one target in this process and print its line of the table."""
    parts = list(campaign(target, inputs, seed, seconds, log))
    read, accepted = sum(part.inputs for part in parts), sum(part.accepted for part in parts)
    failures = {place: said for part in parts for place, said in part.failures.items()}
    memory = max((part.memory for part in parts), default=0)
    cells = [
        f"{read:,}",
        f"{accepted:,}",
        f"{len({said for part in parts for said in part.refusals}):,}",
        f"{max((part.slowest for part in parts), default=0.0):.2f}",
        f"{memory:,}",
        f"{sum(part.seconds for part in parts):,.0f}",
        str(len(failures)),
    ]
    print(f"| {target.name} | {' | '.join(cells)} |", flush=True)
    for said in failures.values():
        print(said, file=sys.stderr, flush=True)
    return int(bool(failures) or memory > MOST_MEMORY or accepted * 2 < read)


def main() -> int:
    from fuzz_targets import targets

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=INPUTS, help="for each target")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=sorted(targets()), help="targets, in order")
    parser.add_argument("--log", type=Path, help="file of finished parts (JSONL), to be continued")
    chosen = parser.parse_args()
    columns = "target|inputs|accepted|kinds of refusals|slowest (s)|memory (MB)|CPU (s)|failures"
    print(f"| {columns.replace('|', ' | ')} |\n|{' --- |' * 8}", flush=True)
    return max(
        _forked(_run, targets()[name], chosen.inputs, chosen.seed, chosen.seconds, chosen.log)
        for name in chosen.only or targets()
    )


def _forked(call: Callable[..., int], *arguments: Any) -> int:
    """Return what a call in a forked process returns, or what ended the process."""
    sys.stdout.flush()
    process = multiprocessing.get_context("fork").Process(target=lambda: sys.exit(call(*arguments)))
    process.start()
    process.join()
    return abs(process.exitcode or 0)


if __name__ == "__main__":
    sys.exit(main())
