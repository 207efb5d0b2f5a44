"""Ordinary text to entities by `run`, beside spaCy's small English pipeline.

spaCy's pipeline has the architecture of its small English model (tokens, tags, trees, names) with
fresh weights, because the trained one is not on the package index: the work for a word is the same.
It finds neither mentions nor who is who.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import partita
from bench_cascade import seconds
from partita.corpora.documents import read_placed

GUM = Path(__file__).parents[2] / "shared" / "data" / "gum" / "train"
TEXTS = Path(__file__).parents[1] / "docs" / "texts"
LONG = 5_000  # words
BOOK = 100_000
MEMORY = 2 << 30
WANTED = 3_000  # words per second
MOST = 40.0
ARTICLE = 500
LIMIT = 20.0  # CPU seconds for a long text
BOOK_RUN = """
import resource, sys, partita
result = partita.run(sys.stdin.read())
print(len(result.resolved.templates), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
EMPTY_RUN = "import partita.cli"


def news() -> list[str]:
    """The news of GUM where it is at hand, else the documentation's texts."""
    paths = sorted(GUM.glob("*news*.conllu"))
    if not paths:
        return [path.read_text(encoding="utf-8") for path in sorted(TEXTS.glob("*.txt"))]
    return [one.text for path in paths for one in read_placed(path)]


def words(texts: list[str]) -> int:
    return sum(len(text.split()) for text in texts)


def book(length: int) -> str:
    """All texts of the corpus, as often as it takes, cut to a length in words."""
    paths = sorted(GUM.glob("*.conllu"))
    texts = [one.text for path in paths for one in read_placed(path)] if paths else news()
    whole = "\n\n".join(texts * (1 + length // words(texts)))
    kept, count = [], 0
    for paragraph in whole.split("\n\n"):
        kept.append(paragraph)
        count += len(paragraph.split())
        if count >= length:
            break
    return "\n\n".join(kept)


def small_pipeline(texts: list[str]) -> Any:
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed (extra bench)")
    from spacy.cli.init_config import init_config
    from spacy.training import Example

    config = init_config(lang="en", pipeline=["tagger", "parser", "ner"], optimize="efficiency")
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    doc = nlp.make_doc(texts[0])
    annotation = {
        "tags": [token.shape_[:3] for token in doc],
        "heads": [max(0, token.i - 1) for token in doc],
        "deps": ["ROOT" if not token.i else f"d{len(token) % 40}" for token in doc],
        "entities": ["U-ORG" if token.is_title else "O" for token in doc],
    }
    nlp.initialize(lambda: [Example.from_dict(doc, annotation)])
    return nlp


def test_words_per_second(ratio: Callable[..., None]) -> None:
    texts = news()
    nlp = small_pipeline(texts)
    list(nlp.pipe(texts[:2]))
    partita.run(texts[0])
    theirs = seconds(lambda: list(nlp.pipe(texts)))
    ours = seconds(lambda: [partita.run(text) for text in texts])
    rates = [f"{words(texts) / one:,.0f}" for one in (ours, theirs)]
    print(f"\n{words(texts):,} words of news: {rates[0]} and {rates[1]} words a CPU second")
    ratio("text to entities (time)", ours / theirs, "spaCy's small pipeline", MOST)
    ratio("text to entities (time)", ours * WANTED / words(texts), f"{WANTED} words a second")
    assert ours / theirs <= MOST


def test_a_long_text(ratio: Callable[..., None]) -> None:
    """The time for a word of a long text, beside that of a short one."""
    long = book(LONG)
    short = long[: len(long) // 5].rpartition("\n\n")[0]
    times = [seconds(lambda text=text: partita.run(text)) for text in (short, long)]
    value = times[1] / times[0] * words([short]) / words([long])
    print(f"\n{words([long]):,} words: {times[1]:.1f} CPU seconds")
    ratio("a word of a text of 5,000 words (time)", value, "of 1,000 words", 2.5)
    ratio("a text of 5,000 words (time)", times[1] / LIMIT, f"{LIMIT:g} CPU seconds", 1.0)


def child_seconds(arguments: list[str], given: str = "") -> tuple[float, str]:
    """Return the CPU seconds of another process, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *arguments], input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, done.stdout


def test_one_article(ratio: Callable[..., None], tmp_path: Path) -> None:
    """The whole command for one article: Python, imports, models, kernels, the text, the report."""
    article = tmp_path / "article.txt"
    article.write_text(book(ARTICLE), encoding="utf-8")
    command = ["-m", "partita", "run", str(article)]
    child_seconds(command)  # compiles the kernels
    used = min(child_seconds(command)[0] for _ in range(3))
    imports = min(child_seconds(["-c", EMPTY_RUN])[0] for _ in range(3))
    print(f"\n`partita run` on {words([book(ARTICLE)]):,} words: {used:.2f} CPU seconds")
    ratio("`partita run` on one article (time)", used / imports, "`import partita.cli`")


def test_a_book(ratio: Callable[..., None]) -> None:
    """The memory and the time for 100,000 words."""
    used, said = child_seconds(["-c", BOOK_RUN], book(BOOK))
    found, memory = map(int, said.split())
    print(f"\n{found:,} mentions, {used:.0f} CPU seconds, {memory / 2**20:.2f} GB")
    ratio("memory of a book of 100,000 words", memory * 1024 / MEMORY, "2 GB", 1.0)
    assert memory * 1024 <= MEMORY
