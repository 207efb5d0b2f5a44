"""A run over 500 messages that is killed at twenty random moments ends as one that was not."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from oracles.stored import rows
from partita.corpora.documents import corpus_path, message_files
from partita.store.opening import open_store

MESSAGES, MOMENTS = 500, 20
WORDS = ("north", "south", "east", "west", "inland")
TESTS = Path(__file__).parents[1]


def texts() -> Iterator[str]:
    """The subject and the first sentences of every message of the corpus, in five variants."""
    given = [path.read_text(encoding="utf-8") for path in message_files(corpus_path())]
    for n in range(MESSAGES):
        head, _, body = given[n % len(given)].partition("\n\n")
        sentences = re.split(r"(?<=\.)\s", body.strip())[:2]
        text = f"{head}\n\n{' '.join(sentences)}\n"
        yield re.sub(r"\bnorth\b", WORDS[n // len(given)], text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("killed") / "messages"
    place.mkdir()
    for n, text in enumerate(texts()):
        (place / f"m{n:03}.txt").write_text(text, encoding="utf-8")
    return place


def run(folder: Path, url: str, moments: list[int], seed: int = 0) -> list[str]:
    """What became of the processes that were killed; the last one is not."""
    asked = [str(folder), url, ",".join(map(str, moments)), str(seed)]
    command = [sys.executable, "-m", "store.killed", *asked]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def held(url: str) -> dict[str, list]:
    store = open_store(url, create=False)
    found = rows(store)
    store.close()
    return found


@pytest.fixture(scope="module")
def undisturbed(folder: Path) -> dict[str, list]:
    url = str(folder.parent / "undisturbed.db")
    assert run(folder, url, []) == []
    found = held(url)
    assert len(found["messages"]) == MESSAGES
    assert len(found["sets"]) > 400
    return found


def test_killed_at_twenty_random_moments(folder, undisturbed, url):
    chance = random.Random(1997)
    moments = sorted(chance.choices(range(MESSAGES - 5), k=MOMENTS - 3))
    assert run(folder, url, [0, 0, 0, *moments], seed=6) == ["killed 0"] * MOMENTS
    found = held(url)
    for table, expected in undisturbed.items():
        assert found[table] == expected, table
