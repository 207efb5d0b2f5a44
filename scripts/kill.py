"""Kill runs while they write to a store, finish them, and compare the stores row for row.

Run by `make kill`. A kill counts only if it lands inside the transaction of a message. Processes
are forked from this one, which has loaded everything once, so that they start quickly. PostgreSQL
runs in a cluster of its own if its programs are installed; its server is killed as well. Then come
a clock that jumps (needs a C compiler), a full disk and a folder that an ordinary user cannot write
(both need root). What cannot be tried is said.
"""

from __future__ import annotations

import argparse
import mmap
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from oracles.stored import rows
from partita.corpora.documents import corpus_path, keyed_message_files
from partita.store.store import open_store

WORDS = ("north", "south", "east", "west", "inland")
PATIENCE = 300.0  # seconds for one process
WRITES = 4  # a kill comes in one of so many first writes of a process
EARLY = 0.1  # of the kills come before any write
MOST_WRONG = 10
NOBODY = 65534
Rows = dict[str, list[object]]


# --- messages and stores ---


def write_messages(folder: Path, count: int) -> Path:
    """Write the subject and first sentences of messages of the corpus, in variants."""
    texts = [path.read_text(encoding="utf-8") for path in keyed_message_files(corpus_path())]
    folder.mkdir()
    for n in range(count):
        head, _, body = texts[n % len(texts)].partition("\n\n")
        sentences = re.split(r"(?<=\.)\s", body.strip())[:2]
        text = f"{head}\n\n{' '.join(sentences)}\n"
        variant = re.sub(r"\bnorth\b", WORDS[n // len(texts) % len(WORDS)], text)
        (folder / f"m{n:03}.txt").write_text(variant, encoding="utf-8")
    return folder


def content(url: str) -> Rows:
    """Return everything that a store holds, without times."""
    store = open_store(url, create=False)
    try:
        return rows(store)
    finally:
        store.close()


def arguments(folder: Path, url: str) -> list[str]:
    options = ["--domain", "depots", "--name", "killed", "--workers", "1"]
    return ["run", str(folder), "--store", url, *options]


# --- processes ---


@dataclass(slots=True)
class Child:
    """A process that runs the command; `writes` counts the transactions that it began."""

    pid: int
    shared: mmap.mmap
    said: Path

    @property
    def inside(self) -> bool:
        return self.shared[0] == 1

    @property
    def writes(self) -> int:
        return int.from_bytes(self.shared[1:5], "little")

    def ended(self) -> bool:
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def finish(self) -> tuple[int, str]:
        """Wait for the end; return the exit code and what was said."""
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status), self.said.read_text("utf-8", "replace")


def start(folder: Path, url: str, said: Path, user: int | None = None) -> Child:
    """Start the command in a forked process."""
    shared = mmap.mmap(-1, 8)
    if pid := os.fork():
        return Child(pid, shared, said)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0))
        for stream in (1, 2):
            os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666), stream)
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        _watch_writes(shared)
        from partita.cli import main

        sys.argv = ["partita", *arguments(folder, url)]
        main()
        os._exit(0)
    except SystemExit as ended:
        os._exit(ended.code if isinstance(ended.code, int) else 1)
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(99)


def _watch_writes(shared: mmap.mmap) -> None:
    """Note in shared memory when a transaction of a message begins and ends."""
    from partita.app import recording

    write, count = recording.write_message, 0

    def watched(*given: object, **options: object) -> bool:
        nonlocal count
        count += 1
        shared[1:5] = count.to_bytes(4, "little")
        shared[0] = 1
        try:
            return write(*given, **options)  # type: ignore[arg-type]
        finally:
            shared[0] = 0

    recording.write_message = watched


@dataclass(slots=True)
class Tally:
    """How many kills landed in a transaction or beside one, and what was wrong afterwards."""

    landed: int = 0
    beside: int = 0
    stores: int = 0
    wrong: list[str] = field(default_factory=list)


def _reach_write(child: Child, chance: random.Random, early: bool) -> bool:
    """Wait for one of the first writes of a process, or just a moment; False if it ended before."""
    if early:
        time.sleep(chance.uniform(0.0, 0.3))
        return not child.ended()
    after, end = chance.randint(1, WRITES), time.monotonic() + PATIENCE
    while not (child.inside and child.writes >= after):
        if child.ended() or time.monotonic() > end:
            return False
    time.sleep(chance.choice((0.0, 0.0, 0.0005, 0.001, 0.002, 0.004)))
    return not child.ended()


def kill_one(child: Child, tally: Tally, chance: random.Random, server: Server | None) -> bool:
    """Kill a process, or the server that it writes to; return False if it had ended before."""
    early = server is None and chance.random() < EARLY
    if not _reach_write(child, chance, early):
        return False
    os.kill(child.pid, signal.SIGSTOP)  # so that where it is does not change any more
    landed = child.inside
    if server is None:
        os.kill(child.pid, signal.SIGKILL)
        child.finish()
    else:
        server.kill()
        os.kill(child.pid, signal.SIGCONT)
        code, said = child.finish()
        server.start()
        if landed and (code != 1 or "Traceback" in said):
            tally.wrong.append(f"the server was killed; exit {code}: {said.strip()[-300:]}")
    tally.landed += landed
    tally.beside += not landed
    return True


def campaign(
    kills: int,
    folder: Path,
    expected: Rows,
    urls: Iterator[str],
    seed: int,
    server: Server | None = None,
) -> Tally:
    """Kill until so many kills have landed, and compare every store that was finished.

    With a server, it is killed and not the process.
    """
    tally, chance = Tally(), random.Random(seed)
    said = folder.parent / f"said-{seed}.txt"
    while tally.landed < kills and len(tally.wrong) < MOST_WRONG:
        url = next(urls)
        while tally.landed < kills:
            child = start(folder, url, said)
            if not kill_one(child, tally, chance, server):
                child.finish()
                break
        said.unlink()
        code, last = start(folder, url, said).finish()
        tally.stores += 1
        if code:
            tally.wrong.append(f"{url}: the last run ended with {code}: {last.strip()[-300:]}")
        elif (found := content(url)) != expected:
            tables = [name for name in expected if found.get(name) != expected[name]]
            tally.wrong.append(f"{url}: differs in {', '.join(tables)}")
    return tally


# --- PostgreSQL ---


class Server:
    """A PostgreSQL cluster in a folder, on loopback."""

    def __init__(self, folder: Path, binaries: Path) -> None:
        self.folder, self.binaries = folder, binaries
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        if self.user:
            shutil.chown(folder, "postgres")
        self._call("initdb", "--username", "partita", "--auth", "trust")
        self.start()

    def _call(self, program: str, *options: str) -> None:
        command = [*self.user, self.binaries / program, "--pgdata", self.folder / "data", *options]
        path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        subprocess.run(
            command,
            check=True,
            capture_output=True,
            cwd=self.folder,
            env=os.environ | {"PATH": path},
        )

    def start(self) -> None:
        where = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1"
        command = [*self.user, self.binaries / "pg_ctl", "--pgdata", self.folder / "data", "--wait"]
        path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
        subprocess.run(
            [*command, "--log", self.folder / "data" / "log", "--options", where, "start"],
            check=True, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=os.environ | {"PATH": path},
        )  # fmt: skip

    def kill(self) -> None:
        """End all processes of the server at once, as a crash would; it recovers at its start."""
        self._call("pg_ctl", "--mode", "immediate", "stop")

    def urls(self, prefix: str) -> Iterator[str]:
        """Yield new schemas."""
        import psycopg

        url = f"postgresql://partita@127.0.0.1:{self.port}/postgres"
        for number in count(1):
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(f"CREATE SCHEMA {prefix}{number}")
            yield f"{url}?options=-csearch_path%3D{prefix}{number}"


@contextmanager
def postgres() -> Iterator[Server | None]:
    """Run a server in a folder that is gone afterwards; None if it is not installed."""
    binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not binaries:
        yield None
        return
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    server = Server(folder, binaries[-1].parent)
    try:
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


# --- clock, disk, rights ---

CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <sys/time.h>
static long jump(void) { return (rand() % 3 - 1) * (long)(rand() % 100000000); }
int clock_gettime(clockid_t id, struct timespec *t) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int r = real(id, t);
  if (id == CLOCK_REALTIME) t->tv_sec += jump();
  return r;
}
int gettimeofday(struct timeval *t, void *zone) {
  struct timespec now; clock_gettime(CLOCK_REALTIME, &now);
  t->tv_sec = now.tv_sec; t->tv_usec = now.tv_nsec / 1000; return 0;
}
time_t time(time_t *t) {
  struct timespec now; clock_gettime(CLOCK_REALTIME, &now);
  if (t) *t = now.tv_sec;
  return now.tv_sec;
}
"""


def jumping_clock(folder: Path, expected: Rows, place: Path) -> str:
    """Run the command while the clock of its process jumps by years with every look at it."""
    if shutil.which("cc") is None:
        return "left out: no C compiler"
    (place / "clock.c").write_text(CLOCK)
    library = place / "clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, place / "clock.c", "-ldl"], check=True)
    url = str(place / "clock.db")
    command = [sys.executable, "-m", "partita", *arguments(folder, url)]
    environment = os.environ | {"LD_PRELOAD": str(library)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"FAILED with {done.returncode}: {done.stderr.strip()[-300:]}"
    return "equal" if content(url) == expected else "FAILED: the store differs"


def full_disk(folder: Path, expected: Rows, place: Path) -> str:
    """Run the command on a disk that fills up, enlarge it, and run it again."""
    if os.getuid():
        return "left out: only root can mount a small disk"
    disk = place / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        return "left out: no disk can be mounted"
    try:
        url, said = str(disk / "store.db"), place / "disk.txt"
        code, line = start(folder, url, said).finish()
        if code != 1 or "disk is full" not in line or "Traceback" in line:
            return f"FAILED with {code}: {line.strip()[-300:]}"
        subprocess.run(["mount", "-o", "remount,size=200m", str(disk)], check=True)
        code, line = start(folder, url, said).finish()
        return "equal" if code == 0 and content(url) == expected else f"FAILED: {line[-300:]}"
    finally:
        subprocess.run(["umount", str(disk)], check=False)


def read_only_folder(folder: Path, place: Path) -> str:
    """Run the command as an ordinary user in a folder that this user cannot write."""
    closed = place / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    user = NOBODY if os.getuid() == 0 else None
    said = place / "closed.txt"
    code, line = start(folder, str(closed / "store.db"), said, user).finish()
    lines = line.strip().splitlines()
    if code != 1 or "Traceback" in line or "cannot be made" not in line:
        return f"FAILED with {code}: {line.strip()[-300:]}"
    return "refused in one line" if not list(closed.iterdir()) and len(lines) <= 2 else "FAILED"


# --- the whole ---

SHARES = {"process, SQLite": 0.5, "process, PostgreSQL": 0.4, "server of PostgreSQL": 0.1}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--kills", type=int, default=500, help="that land while a message is written"
    )
    parser.add_argument("--messages", type=int, default=60, help="of each run")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as made, postgres() as server:
        place = Path(made)
        place.chmod(0o755)
        folder = write_messages(place / "messages", chosen.messages)
        return _all(chosen.kills, chosen.seed, folder, place, server)


def _all(kills: int, seed: int, folder: Path, place: Path, server: Server | None) -> int:
    expected = undisturbed(folder, place)
    print("| killed | kills in a transaction | beside one | stores | differences |")
    print("| --- | --- | --- | --- | --- |")
    wrong: list[str] = []
    for number, (name, share) in enumerate(SHARES.items()):
        if number and server is None:
            print(f"| {name} | left out: PostgreSQL is not installed | | | |")
            continue
        files = (str(place / f"killed-{n}.db") for n in count(1))
        urls = server.urls(f"k{number}_") if number and server else files
        killed = server if number == 2 else None
        landing = max(1, round(kills * share))
        tally = campaign(landing, folder, expected, urls, seed + number, killed)
        cells = f"{tally.landed:,} | {tally.beside:,} | {tally.stores:,} | {len(tally.wrong)}"
        print(f"| {name} | {cells} |", flush=True)
        wrong += tally.wrong
    others = {
        "a clock that jumps by years": jumping_clock(folder, expected, place),
        "a full disk, enlarged afterwards": full_disk(folder, expected, place),
        "a read-only folder, ordinary user": read_only_folder(folder, place),
    }
    for name, outcome in others.items():
        print(f"{name}: {outcome}", flush=True)
    print(*wrong, sep="\n", file=sys.stderr)
    return int(bool(wrong) or any("FAILED" in outcome for outcome in others.values()))


def undisturbed(folder: Path, place: Path) -> Rows:
    """Run the command in this process, which loads everything, and return what it stores."""
    from partita.cli import app

    url = str(place / "undisturbed.db")
    sys.stdout.flush()
    with Path(os.devnull).open("w") as nowhere:
        before = os.dup(1), os.dup(2)
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        try:
            app(arguments(folder, url), standalone_mode=False)
        finally:
            os.dup2(before[0], 1)
            os.dup2(before[1], 2)
    return content(url)


if __name__ == "__main__":
    sys.exit(main())
