"""A tagger as a file: there and back, and refused where it is not as it should be."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from partita.errors import InputError
from partita.text.tagger_models import (
    NO_TAG,
    PADDING,
    Entry,
    Tagger,
    parse_tagger,
    read_tagger,
    shipped_tagger,
    tagger_bytes,
    write_tagger,
)

LEXICON = {"the": Entry(1, 0), "dépôt": Entry(2, NO_TAG), "\ud800": Entry(0, NO_TAG)}


def some_tagger() -> Tagger:
    table = np.random.default_rng(1).integers(-9, 9, 1024 + PADDING).astype(np.int8)
    return Tagger(("DT", "NN"), table, LEXICON, "a test", "0" * 64, 7, {"ewt": 0.9})


def changed(said: dict[str, Any] | None = None, **arrays: Any) -> bytes:
    with np.load(BytesIO(tagger_bytes(some_tagger()))) as found:
        given = {name: found[name] for name in found.files}
    text = json.loads(given["about"].tobytes()) | (said or {})
    given["about"] = np.frombuffer(json.dumps(text).encode(), dtype=np.uint8)
    stream = BytesIO()
    np.savez_compressed(stream, **(given | arrays))
    return stream.getvalue()


def test_there_and_back(tmp_path: Path) -> None:
    write_tagger(tmp_path / "t.npz", some_tagger())
    found = read_tagger(tmp_path / "t.npz")
    assert tagger_bytes(found) == tagger_bytes(some_tagger())
    assert found.lexicon == LEXICON
    assert (found.learned_from, found.seed, found.figures) == ("a test", 7, {"ewt": 0.9})
    assert list(tmp_path.iterdir()) == [tmp_path / "t.npz"]


@pytest.mark.parametrize(
    ("about", "says"),
    [
        ({"version": 99}, "is not a tagger of version 1"),
        ({"model": "joint"}, "is not a tagger of version 1"),
        ({"features": ["word"]}, "other features"),
        ({"tags": 3}, "is not a tagger of this version"),
        ({"tags": []}, "none of the tags"),
        ({"words": ["the"]}, "is not a tagger of this version"),
        ({"learned_from": {}}, "is not a tagger of this version"),
    ],
)
def test_what_is_said_of_it_must_be_right(about: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        parse_tagger(changed(about), "t.npz")
    assert caught.value.file == "t.npz"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (b"", "is not a tagger"),
        (b"no npz", "is not a tagger"),
        (tagger_bytes(some_tagger())[:-200], "is not a tagger"),
        (changed(table=np.array([{}], dtype=object)), "is not a tagger"),
        (changed(table=np.zeros(4)), "is not a tagger"),
        (changed(table=np.zeros(99, dtype=np.int8)), "power of two"),
        (changed(fixed=np.array([0, 2, 255], dtype=np.uint8)), "none of the tags"),
        (changed(about=np.frombuffer(b"\xff", dtype=np.uint8)), "is not a tagger"),
        (changed(about=np.frombuffer(b"{", dtype=np.uint8)), "is not a tagger"),
    ],
)
def test_a_broken_file_is_refused(given: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_tagger(given, "t.npz")


def test_damaged_bytes_are_refused() -> None:
    whole = tagger_bytes(some_tagger())
    for place in range(len(whole)):
        broken = whole[:place] + bytes([whole[place] ^ 0x5A]) + whole[place + 1 :]
        try:
            found = parse_tagger(broken, "t.npz")
        except InputError:
            continue
        assert tagger_bytes(found) == whole  # what was damaged does not matter


def test_an_array_alone_is_refused() -> None:
    stream = BytesIO()
    np.save(stream, np.zeros(3))
    with pytest.raises(InputError, match="is not a tagger"):
        parse_tagger(stream.getvalue(), "t.npz")


def test_places_that_cannot_be_read_or_written_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.npz: cannot be read"):
        read_tagger(tmp_path / "none.npz")
    with pytest.raises(InputError, match="cannot be written"):
        write_tagger(tmp_path / "no" / "t.npz", some_tagger())


def test_the_shipped_tagger_says_where_it_comes_from() -> None:
    tagger = shipped_tagger()
    assert tagger is shipped_tagger()
    assert "ewt/train.conllu" in tagger.learned_from
    assert {"NN", "NNP", "VBD", "CD"} <= set(tagger.tags)
    assert len(tagger_bytes(tagger)) <= 8_000_000
