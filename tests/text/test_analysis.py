"""The shipped analyser: offsets, odd texts, determinism, files."""

from __future__ import annotations

import json
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.core import Message
from partita.errors import InputError
from partita.text.analysis import (
    analyser_bytes,
    lemma_of,
    parse_analyser,
    read_analyser,
    shipped_analyser,
)
from partita.text.expressions import PlacedSentence, expressions, feature
from partita.text.layout import parse_layout
from partita.text.parser_kernels import (
    MORE,
    PLACES,
    RIGHTS,
    States,
    copy_state,
    counts_of,
    load,
    parse,
    score_moves,
    states_of,
    take,
)

TEXT = (
    "Ada Lovelace met Charles Babbage in London in 1833. She wrote to him about his machine, and "
    "they worked on it for years.\n\nThe Royal Society didn't publish her notes."
)


def message(text: str) -> Message:
    return parse_layout("m", text, "m")


def analysed(text: str) -> tuple[PlacedSentence, ...]:
    return shipped_analyser().analyse(message(text))


def found(text: str) -> dict[str, str]:
    return {text[e.start : e.end]: e.mention.type for s in analysed(text) for e in expressions(s)}


def test_an_ordinary_text() -> None:
    mentions = found(TEXT)
    assert mentions["Ada Lovelace"] == mentions["She"] == mentions["Charles Babbage"] == "person"
    assert mentions["London"] == "place"
    assert mentions["1833"] == "time"
    assert {"him", "his", "it", "they", "her", "her notes"} <= set(mentions)


@pytest.mark.parametrize(
    "text",
    [
        "It is -- an all-out war -- she said.",
        "总理说，这将有助于增长。",
        "Jose\u0301 met \u0301 * there.",
    ],
)
def test_no_mention_begins_or_ends_with_a_dash_or_is_a_mark(text: str) -> None:
    for mention in found(text):
        assert mention[0].isalnum()
        assert mention[-1].isalnum() or mention[-1] == "\u0301"


def test_pronouns_have_the_features_that_trees_read() -> None:
    words = {w.form: w for s in analysed(TEXT) for w in s.tree.words}
    assert feature(words["She"], "Gender") == "Fem"
    assert feature(words["they"], "Number") == "Plur"
    assert feature(words["him"], "Person") == "3"
    assert feature(words["years"], "Number") == "Plur"
    assert (words["wrote"].lemma, words["years"].lemma) == ("write", "year")


def check(text: str) -> None:
    """Offsets are those of the words, trees have one root, probabilities are probabilities."""
    source = message(text)
    regions = [(region.start, region.end) for region in source.regions]
    for number, sentence in enumerate(analysed(text)):
        words = sentence.tree.words
        assert sentence.index == number
        assert [text[a:b] for a, b in sentence.spans] == [word.form for word in words]
        assert [word.head for word in words].count(-1) == 1
        start, end = sentence.spans[0][0], sentence.spans[-1][1]
        assert any(a <= start and end <= b for a, b in regions)
        for mention in sentence.mentions:
            assert mention.probability is not None
            assert mention.types is not None
            assert shipped_analyser().threshold <= mention.probability <= 1
            assert sum(mention.types.values()) == pytest.approx(1)
            assert mention.type == max(mention.types, key=mention.types.__getitem__)
            assert mention.head in mention.words
            assert 0 <= mention.words[0] <= mention.words[-1] < len(words)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n ",
        "Paris",
        "?",
        "😀" * 300,
        "a\x00b \x07c\x1b[0m",
        "Ελλάδα και 中国 и Россия.",
        TEXT,
    ],
)
def test_odd_texts(text: str) -> None:
    check(text)


@given(st.text(max_size=80))
@settings(max_examples=60, deadline=None)
def test_any_text_keeps_its_offsets(text: str) -> None:
    check(text)


@given(
    st.lists(st.sampled_from([*TEXT.split(), "“", "(", ")", "—", "😀", "\n\n", "…"]), max_size=30)
)
@settings(max_examples=60, deadline=None)
def test_any_order_of_words_keeps_its_offsets(words: list[str]) -> None:
    check(" ".join(words))


def test_the_same_text_gives_the_same_analysis() -> None:
    assert [s.tree.words for s in analysed(TEXT)] == [s.tree.words for s in analysed(TEXT)]
    assert [s.mentions for s in analysed(TEXT)] == [s.mentions for s in analysed(TEXT)]


def test_upper_case_finds_the_same_people() -> None:
    mentions = found(TEXT.upper())
    assert mentions["ADA LOVELACE"] == mentions["SHE"] == "person"


@pytest.mark.parametrize(
    ("form", "xpos", "lemma"),
    [("Cities", "NNS", "city"), ("boxes", "NNS", "box"), ("Smiths", "NNPS", "Smiths"),
     ("stopped", "VBD", "stop"), ("making", "VBG", "mak"), ("glass", "NN", "glass")],
)  # fmt: skip
def test_lemmas_by_rule(form: str, xpos: str, lemma: str) -> None:
    assert lemma_of(form, xpos, "PROPN" if xpos == "NNPS" else "X", {}) == lemma
    assert lemma_of(form, xpos, "X", {f"{form.lower()} {xpos}": "other"}) == "other"


@cache
def shipped_arrays() -> dict[str, Any]:
    with np.load(BytesIO(analyser_bytes(shipped_analyser()))) as file:
        return {name: file[name] for name in file.files}


def changed(said: dict[str, Any] | None = None, **arrays: Any) -> bytes:
    kept = dict(shipped_arrays())
    text = json.loads(kept["about"].tobytes()) | (said or {})
    kept["about"] = np.frombuffer(json.dumps(text).encode(), dtype=np.uint8)
    stream = BytesIO()
    np.savez(stream, **(kept | arrays))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("said", "arrays", "problem"),
    [
        ({"version": 9}, {}, "is not an analyser of version 3"),
        ({"model": "tagger"}, {}, "is not an analyser of version 3"),
        ({"features": {}}, {}, "is not an analyser of this version"),
        ({"labels": []}, {}, "labels"),
        ({}, {"scales": np.zeros(1)}, "do not fit"),
        ({}, {"moves_weights": np.zeros(70, dtype=np.int8)}, "power of two"),
        ({}, {"moves_used": np.zeros(70, dtype=np.uint8)}, "features in use"),
        ({}, {"groups": np.zeros((4, 3), dtype=np.uint8)}, "groups"),
        ({}, {"groups": np.zeros(3)}, "is not an analyser of version 3"),
        ({"words": ["a"]}, {}, "network_table has the shape"),
        ({}, {"network_steps": np.zeros(3, dtype=np.float32)}, "network_steps has the shape"),
    ],
)
def test_a_wrong_file_is_refused(said: dict[str, Any], arrays: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_analyser(changed(said, **arrays), "a.npz")


def test_what_is_not_an_analyser_is_refused(tmp_path: Any) -> None:
    with pytest.raises(InputError, match="is not an analyser"):
        parse_analyser(b"text", "a.npz")
    with pytest.raises(InputError, match="cannot be read"):
        read_analyser(tmp_path / "missing.npz")


def test_there_and_back() -> None:
    data = analyser_bytes(shipped_analyser())
    assert analyser_bytes(parse_analyser(data, "a.npz")) == data


def sentence_states(words: list[str]) -> tuple[States, Any, Any]:
    """Return the first state of a sentence, its counts, and the arguments of its models."""
    analyser = shipped_analyser()
    parser, ends = analyser.parser, np.array([len(words)])
    numbers, rows = analyser.forms.of(words)
    tags = analyser.tagger.tag_rows(numbers, rows, ends)
    seen = np.zeros((len(words) + 3, RIGHTS + 1 + rows.shape[1] - MORE), dtype=np.uint32)
    load(numbers, rows, tags, parser.coarse, 0, len(words), seen)
    return states_of(seen, len(words)), counts_of(tags, parser.kinds), parser


def every_score(states: States, counts: Any, parser: Any, steps: int) -> list[float]:
    """Return log P of every complete sequence of transitions."""
    if not steps:
        return [float(states.score[0])]
    room = (np.zeros(PLACES, dtype=np.int64), np.empty(1000, dtype=np.uint32))
    scores, logs = np.empty(64, dtype=np.int32), np.full(3, -np.inf)
    score_moves(states, 0, counts, parser.moves, parser.scales[0], *room, scores, logs)
    found = []
    for move in np.flatnonzero(np.isfinite(logs)).tolist():
        after = states_of(states.seen[0], len(states.above[0]) - 2)
        copy_state(states, 0, after, 0)
        after.score[0] = logs[move]
        labels, scale = len(parser.labels), parser.scales[1]
        take(after, 0, move, counts, parser.names, labels, scale, *room, scores)
        found += every_score(after, counts, parser, steps - 1)
    return found


@pytest.mark.parametrize("text", ["Go home .", "She left him", "Old dogs and cats sleep"])
def test_the_beam_finds_the_best_tree_of_short_sentences(text: str) -> None:
    words = text.split()
    start, counts, parser = sentence_states(words)
    best = parse(
        start.seen[0], counts, parser.moves, parser.names, len(parser.labels), parser.scales
    )
    scores = every_score(start, counts, parser, 2 * len(words))
    assert len(scores) > 1
    assert best.score[0] == pytest.approx(max(scores))
    heads = best.above[0, 1 : len(words) + 1]
    assert sorted(heads.tolist()).count(len(words) + 1) == 1  # one root
