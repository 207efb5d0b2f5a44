"""The tagger against plain Python, on any text, and on corpora."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import accumulate, chain
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.tagging import plain_tags
from partita.text import tagger_kernels as tagging_kernels
from partita.text import tagger_models as tagging_words
from partita.text.tagger_models import (
    COLUMN,
    FEATURES,
    PADDING,
    Entry,
    Tagger,
    capitals,
    feature_templates,
    letter_shape,
    shipped_tagger,
)
from research.reading_models import measure_tagging
from research.tagger import read_tagged, upper_case

T = TypeVar("T")
DATA = Path(os.environ.get("PARTITA_DATA", "../shared/data"))
KNOWN = ("the", "depot", "is", "near", "kinston", "000", "t", "-", "i", "ß")
WORDS = st.one_of(
    st.sampled_from(
        [w for word in KNOWN for w in (word, word.upper(), word.title())]
        + ["McKinley", "T-62", "III", "x" * 100, "ǅ", "Ⅷ", "İ", "", " ", "\ud800", "123"]
    ),
    st.text(max_size=8),
)
SENTENCES = st.lists(st.lists(WORDS, max_size=8), max_size=4)


def random_tagger(seed: int = 0, tags: int = 7, bits: int = 12) -> Tagger:
    rng = np.random.default_rng(seed)
    table = rng.integers(-127, 128, (1 << bits) + PADDING).astype(np.int8)
    fixed = [2 if n == 0 else tagging_words.NO_TAG for n in range(len(KNOWN))]
    lexicon = {word: Entry(n % 4, fixed[n]) for n, word in enumerate(KNOWN)}
    return Tagger(tuple(f"T{n}" for n in range(tags)), table, lexicon)


TAGGER = random_tagger()


def joined(lists: Iterable[list[T]]) -> list[T]:
    return list(chain.from_iterable(lists))


def ends(sentences: list[list[str]]) -> list[int]:
    return list(accumulate(map(len, sentences)))


@settings(deadline=None, max_examples=150)
@given(SENTENCES)
def test_the_compiled_loop_scores_as_plain_python_does(sentences: list[list[str]]) -> None:
    found = TAGGER.tag(joined(sentences), ends(sentences))
    assert found.tolist() == joined(plain_tags(TAGGER, sentence) for sentence in sentences)


@settings(deadline=None, max_examples=60)
@given(SENTENCES)
def test_alone_or_together_is_the_same(sentences: list[list[str]]) -> None:
    alone = [TAGGER.tag(sentence, [len(sentence)]).tolist() for sentence in sentences]
    assert TAGGER.tag(joined(sentences), ends(sentences)).tolist() == joined(alone)


@settings(deadline=None, max_examples=60)
@given(SENTENCES)
def test_what_was_tagged_before_does_not_matter(sentences: list[list[str]]) -> None:
    words = joined(sentences)
    fresh = random_tagger().tag(words, ends(sentences))
    assert fresh.dtype == np.uint8
    assert fresh.tolist() == TAGGER.tag(words, ends(sentences)).tolist()
    assert (fresh < len(TAGGER.tags)).all()


def test_nothing_has_no_tags() -> None:
    assert TAGGER.tag([], []).tolist() == []
    assert TAGGER.tag([], [0, 0]).tolist() == []


@pytest.mark.parametrize("wrong", [[], [1], [3], [2, 1, 2], [-1, 2]])
def test_ends_must_rise_to_the_number_of_words(wrong: list[int]) -> None:
    with pytest.raises(ValueError, match="rise to the number of words, 2"):
        TAGGER.tag(["a", "b"], wrong)


def test_words_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagging_words, "MOST", 10)
    tagger = random_tagger()
    for start in range(0, 60, 6):
        words = [f"w{n}" for n in range(start, start + 6)]
        assert tagger.tag(words, [6]).tolist() == TAGGER.tag(words, [6]).tolist()
    assert len(tagger.forms) <= 16


def test_rows_grow() -> None:
    words = [f"word{chr(97 + n % 26)}{n}" for n in range(3 * tagging_words.FEW)]
    tagger = random_tagger()
    assert tagger.tag(words[:5], [5]).tolist() == tagger.tag(words, [5, len(words)])[:5].tolist()
    assert len(tagger.forms) == len(words)


def test_a_tagger_has_a_table_of_the_right_size_and_not_too_many_tags() -> None:
    with pytest.raises(ValueError, match="power of two"):
        Tagger(("A",), np.zeros(100, dtype=np.int8), {})
    with pytest.raises(ValueError, match="1 to 64 tags"):
        Tagger(tuple(map(str, range(65))), np.zeros(64 + PADDING, dtype=np.int8), {})


def test_kernels_and_columns_agree_on_their_numbers() -> None:
    for name in ("word", "form", "shape", "flat", "context", "fixed"):
        assert getattr(tagging_kernels, name.upper()) == COLUMN[name]
    for name in ("LOWER", "CAPITALISED", "UPPER", "MIXED", "NO_TAG"):
        assert getattr(tagging_kernels, name) == getattr(tagging_words, name)
    assert tagging_kernels.WIDTH == PADDING
    assert len(feature_templates().places) == len(set(FEATURES))


def test_features_must_be_columns_with_offsets() -> None:
    with pytest.raises(ValueError, match=r"word\+9"):
        feature_templates(("word+9",))


@pytest.mark.parametrize(
    ("word", "way", "drawn"),
    [
        ("Tu-154s", tagging_words.CAPITALISED, "Xx-ddx"),
        ("KINSTON", tagging_words.UPPER, "XX"),
        ("T", tagging_words.NEITHER, "X"),
        ("T-62", tagging_words.NEITHER, "X-dd"),
        ("12,000", tagging_words.NEITHER, "dd,dd"),
        ("iPhone", tagging_words.MIXED, "xXxx"),
        ("depots", tagging_words.LOWER, "xx"),
    ],
)
def test_capitals_and_shape(word: str, way: int, drawn: str) -> None:
    assert (capitals(word), letter_shape(word)) == (way, drawn)


TELEGRAPHIC = [
    ("2 TANKS WERE OBSERVED NEAR THE BRIDGE .", "CD NNS VBD VBN IN DT NN ."),
    ("THE DEPOT AT KINSTON WAS DESTROYED", "DT NN IN NNP VBD VBN"),
    ("The depot is located 5 km north of Fairview .", "DT NN VBZ VBN CD NNS RB IN NNP ."),
    ("2 T-62 TANKS OBSERVED NR THE BRIDGE", "CD NNP NNS VBN IN DT NN"),
    ("5 BMP - 2 ARE AT BRENTON", "CD NNP HYPH CD VBP IN NNP"),
    ("TRUCKS ARE LEAVING THE STORAGE AREA", "NNS VBP VBG DT NN NN"),
]


@pytest.mark.parametrize(("text", "tags"), TELEGRAPHIC)
def test_the_shipped_tagger_reads_messages(text: str, tags: str) -> None:
    words = text.split()
    assert shipped_tagger().names(words, [len(words)]) == tags.split()


@pytest.mark.corpus
@pytest.mark.skipif(not DATA.is_dir(), reason="the corpora of ../shared/data are not here")
def test_the_shipped_tagger_on_corpora() -> None:
    tagger = shipped_tagger()
    ewt = list(read_tagged(DATA / "ewt" / "dev.conllu"))
    assert measure_tagging(tagger, ewt).accuracy >= 0.935
    assert measure_tagging(tagger, [upper_case(each) for each in ewt]).accuracy >= 0.92
    assert measure_tagging(tagger, list(read_tagged(DATA / "gum" / "dev"))).accuracy >= 0.945
