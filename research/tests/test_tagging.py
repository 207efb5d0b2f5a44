"""Figures of a tagger, counted by hand."""

from __future__ import annotations

import numpy as np

from partita.text.tagger_models import PADDING, Entry, Tagger
from research.reading_models import measure_tagging
from research.tagger import TaggedSentence

# All weights are nothing: the first tag for all but "b", whose tag is fixed.
TAGGER = Tagger(("X", "Y"), np.zeros(64 + PADDING, dtype=np.int8), {"b": Entry(1, 1)})


def test_words_unknown_words_and_confusions_are_counted() -> None:
    sentences = [
        TaggedSentence(("a", "b", "c"), ("X", "Y", "Y")),
        TaggedSentence(("B", "d"), ("X", "Y")),
    ]
    found = measure_tagging(TAGGER, sentences)
    assert (found.words, found.right, found.accuracy) == (5, 2, 0.4)
    assert (found.unknown, found.unknown_right) == (3, 1)
    assert found.unknown_accuracy == 1 / 3
    assert found.confusions == ((("Y", "X"), 2), (("X", "Y"), 1))


def test_nothing_is_measured_on_nothing() -> None:
    found = measure_tagging(TAGGER, [])
    assert (found.accuracy, found.unknown_accuracy, found.confusions) == (0.0, 0.0, ())
