"""A long random run over the reader and the cascade: no error but our own, offsets in the text.

Run by `make fuzz`, or: python benchmarks/fuzz.py --seconds 600 --seed 7
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from partita.app.runner import Runner, Settings, usual_budget
from partita.corpora.documents import corpus_path
from partita.errors import PartitaError
from partita.pipeline import resolve
from partita.records import Message
from partita.text.messages import read_messages

VOCABULARY = (
    "a an the this that its their depot depots base airfield bridge bunker tank tanks T-72 brigade "
    "3rd 1st two 12 several 100 km southwest of in at near east Kinston Raleigh Fairview capitol "
    "rail ammunition fuel supply military storage training area areas was were found built seen by "
    "which under construction and or but ( ) [ ] , . ; : - -- / 1997 JAN 05 0930Z 35N 078W % $ it "
    "they he depot's DEPOT'S Subj: FROM: TO: SUBJECT: DTG: | + = ... ' \" ?! e.g. U.S. No."
)
WORDS = VOCABULARY.split()
PLANES = (0x20, 0xA0, 0x300, 0x600, 0xE00, 0x2000, 0x2500, 0x4E00, 0xD7A0, 0xFE00, 0x10000, 0x1F600,
          0x20000, 0x30000, 0xE0000, 0xF0000, 0x10FF00)  # fmt: skip
SPACES = (" ", " ", " ", "  ", "\n", "\r\n", "\r", "\t", "\n\n", "\u2028", "\x0b", "\x85", "")
FEW = 24  # templates: more make this a test of patience
BRACKETS = "()[]{}<>\"'|"

Maker = Callable[[np.random.Generator, Sequence[str]], str]


def words(rng: np.random.Generator, corpus: Sequence[str]) -> str:
    """Words of the domain in any order, with any white space."""
    chosen = rng.integers(len(WORDS), size=rng.integers(1, 300))
    return "".join(WORDS[n] + SPACES[rng.integers(len(SPACES))] for n in chosen)


def planes(rng: np.random.Generator, corpus: Sequence[str]) -> str:
    """Characters of every plane; no half of a surrogate pair, which no text can hold."""
    starts = np.array(PLANES)[rng.integers(len(PLANES), size=rng.integers(1, 400))]
    codes = starts + rng.integers(0, 256, size=len(starts))
    return "".join(chr(int(c)) for c in codes if not 0xD800 <= c < 0xE000 and c < 0x110000)


def controls(rng: np.random.Generator, corpus: Sequence[str]) -> str:
    """Every control character but NUL, which a text does not have."""
    return "".join(chr(int(c)) for c in rng.integers(1, 160, size=rng.integers(1, 400)))


def brackets(rng: np.random.Generator, corpus: Sequence[str]) -> str:
    """Brackets without end, and repetitions that tempt a matcher to look back."""
    piece = "".join(BRACKETS[n] for n in rng.integers(len(BRACKETS), size=rng.integers(1, 5)))
    word = WORDS[rng.integers(len(WORDS))]
    return f"{piece}{word} " * int(rng.integers(1, 1500))


def mutated(rng: np.random.Generator, corpus: Sequence[str]) -> str:
    """A message of the corpus with pieces cut, doubled, moved, upper-cased or replaced."""
    text = corpus[rng.integers(len(corpus))]
    for _ in range(rng.integers(1, 8)):
        first, last = sorted(rng.integers(0, len(text) + 1, size=2).tolist())
        piece = text[first:last]
        change = ("", piece * 2, piece.upper(), piece[::-1], planes(rng, corpus)[:9], "\n" + piece)
        text = text[:first] + change[rng.integers(len(change))] + text[last:]
    return text


def table(rng: np.random.Generator, corpus: Sequence[str]) -> str:
    """Columns by alignment or by delimiters, some rows too short or too long."""
    delimiter = ("|", "\t", "    ", ",", ";")[rng.integers(5)]
    size = int(rng.integers(1, 7))
    rows = [
        delimiter.join(WORDS[n] for n in rng.integers(len(WORDS), size=size + rng.integers(-1, 2)))
        for _ in range(rng.integers(1, 30))
    ]
    return "\n".join(rows)


def long_line(rng: np.random.Generator, corpus: Sequence[str]) -> str:
    """One line without an end."""
    piece = (words, planes, mutated)[rng.integers(3)](rng, corpus).replace("\n", " ")
    return piece * int(rng.integers(1, 60))


MAKERS: tuple[Maker, ...] = (words, planes, controls, brackets, mutated, mutated, table, long_line)


def check(message: Message) -> int:
    """Extract, and where that gives no more than a few templates, resolve; how many they are."""
    end = len(message.text)
    for region in message.regions:
        assert 0 <= region.start <= region.end <= end, f"region {region} beyond {end}"
    stages = Runner(SETTINGS).stages
    templates = stages.extract(message)
    for template in templates:
        assert 0 <= template.start < template.end <= end, f"template {template} beyond {end}"
        assert template.text == " ".join(message.text[template.start : template.end].split())
    if len(templates) <= FEW:
        for entity in resolve(message, stages).entities:
            for values in entity.slots.values():
                assert abs(sum(v.probability for v in values) - 1.0) < 1e-9
    return len(templates)


SETTINGS = Settings(budget=usual_budget("evidential", work=300))


def one(rng: np.random.Generator, corpus: Sequence[str], file: Path) -> tuple[int, int]:
    """A text of any kind, sometimes as broken bytes: how many templates, how many refusals."""
    data = MAKERS[rng.integers(len(MAKERS))](rng, corpus).encode("utf-8", "replace")
    if rng.random() < 0.1 and data:
        data = data[: rng.integers(len(data))] + bytes(rng.integers(0, 256, 3).tolist())
    file.write_bytes(data)
    templates = refused = 0
    for message in read_messages(file):
        if isinstance(message, PartitaError):
            refused += 1
            continue
        try:
            templates += check(message)
        except PartitaError:
            refused += 1
    return templates, refused


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    corpus = [path.read_text(encoding="utf-8") for path in sorted(corpus_path().glob("*.txt"))]
    end = time.monotonic() + given.seconds
    texts = templates = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "message.txt"
        while time.monotonic() < end:
            rng = np.random.default_rng([given.seed, texts])
            try:
                found, no = one(rng, corpus, file)
            except Exception:
                kept = Path(tempfile.gettempdir()) / f"partita-fuzz-{given.seed}-{texts}.txt"
                kept.write_bytes(file.read_bytes())
                traceback.print_exc()
                print(f"text {texts} of seed {given.seed} failed; it is in {kept}", file=sys.stderr)
                return 1
            texts, templates, refused = texts + 1, templates + found, refused + no
    print(f"{texts:,} texts, {templates:,} templates, {refused:,} refused; seed {given.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
