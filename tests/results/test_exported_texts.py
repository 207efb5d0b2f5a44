"""CoNLL-U of resolved messages, read again by another reader."""

from __future__ import annotations

import os
from pathlib import Path

import conllu
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.core import Entity, Figure, Message, Template
from partita.corpora.documents import read_corefud, read_placed
from partita.results.exports import (
    corefud_text,
)
from partita.text.analysis import shipped_analyser
from partita.text.conllu import PlacedDocument, placed_documents
from partita.text.expressions import Span, expressions
from partita.text.layout import parse_layout

GUM = Path(os.environ.get("PARTITA_DATA", "../shared/data")) / "gum"
Spans = tuple[Span, ...]
Clusters = list[list[Spans]]


def template(name: str, spans: Spans, text: str, entity_type: str = "person") -> Template:
    context = {"SPANS": [list(span) for span in spans]} if len(spans) > 1 else {}
    words = " ".join(text[a:b] for a, b in spans)
    return Template(name, words, spans[0][0], spans[-1][1], type=entity_type, context=context)


def made(text: str, clusters: Clusters) -> tuple[Message, list[Template], list[Entity]]:
    """A message with templates m1, m2, … of the clusters, in text order."""
    numbered = sorted((spans, n) for n, cluster in enumerate(clusters) for spans in cluster)
    templates = [template(f"m{k}", spans, text) for k, (spans, _) in enumerate(numbered, 1)]
    homes: dict[int, list[str]] = {}
    for one, (_, n) in zip(templates, numbered, strict=True):
        homes.setdefault(n, []).append(one.id)
    entities = [
        Entity(f"E{k}", "person", tuple(ids), ids[0], Figure.exact(0.75), {}, name="Ann")
        for k, ids in enumerate(homes.values(), 1)
    ]
    return parse_layout("a text", text), templates, entities


def read_again(written: str) -> PlacedDocument:
    (document,) = placed_documents(enumerate(written.split("\n"), 1), "written", "written")
    return document


def clusters_of(document: PlacedDocument) -> set[frozenset[Spans]]:
    cells: dict[str, set[Spans]] = {}
    for sentence in document.sentences:
        for one in expressions(sentence):
            spans = sentence.spans
            parts = tuple((spans[a][0], spans[b][1]) for a, b in one.mention.spans)
            cells.setdefault(one.mention.entity, set()).add(parts)
    return {frozenset(cell) for cell in cells.values()}


@st.composite
def annotated(draw: st.DrawFn) -> tuple[str, Clusters]:
    """A text with mentions that nest, cross, cut words or cover sentences, in clusters."""
    words = st.sampled_from(["Ann", "saw", "the", "dog's", "bone", "(it)", ".", "Ünal", "x|y=z"])
    spaces = st.sampled_from(
        [" ", " ", " ", "", "  ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u2028"]
    )
    text = "".join(draw(st.lists(st.tuples(words, spaces).map("".join), min_size=1, max_size=14)))
    letters = [n for n, char in enumerate(text) if not char.isspace()]
    edges = st.sampled_from(letters)
    clusters: Clusters = [[], [], []]
    seen: set[Spans] = set()
    for n, a, b in draw(st.lists(st.tuples(st.integers(0, 2), edges, edges), max_size=8)):
        span: Spans = ((min(a, b), max(a, b) + 1),)
        if span in seen or any(cross(span[0], one[0]) for one in clusters[n]):
            continue
        seen.add(span)
        clusters[n].append(span)
    return text, [cluster for cluster in clusters if cluster]


def cross(one: Span, other: Span) -> bool:
    first, second = sorted((one, other))
    return first[0] < second[0] < first[1] < second[1]


@given(annotated())
def test_conllu_keeps_the_text_the_mentions_and_the_clusters(case: tuple[str, Clusters]) -> None:
    text, clusters = case
    message, templates, entities = made(text, clusters)
    sentences = shipped_analyser().analyse(message)
    document = read_again(corefud_text(message, templates, entities, sentences))
    assert document.text == text
    assert clusters_of(document) == {frozenset(cluster) for cluster in clusters}


@given(annotated())
def test_conllu_is_valid_for_another_reader(case: tuple[str, Clusters]) -> None:
    message, templates, entities = made(*case)
    analysed = shipped_analyser().analyse(message)
    written = corefud_text(message, templates, entities, analysed)
    sentences = conllu.parse(written)
    assert len(sentences) == written.count("# sent_id")
    for sentence in sentences:
        numbers = {word["id"] for word in sentence}
        assert [word["head"] for word in sentence].count(0) == 1
        assert all(word["head"] in {0} | numbers - {word["id"]} for word in sentence)
        joined = "".join(
            word["form"] + ("" if (word["misc"] or {}).get("SpaceAfter") == "No" else " ")
            for word in sentence
        )
        assert joined.strip() == sentence.metadata["text"]


def test_discontinuous_mentions_and_mentions_of_one_entity_that_cross() -> None:
    text = "Ann and old Bob Smith left."
    clusters: Clusters = [[((0, 3), (16, 21))], [((8, 15),), ((12, 21),)]]
    written = corefud_text(*made(text, clusters), ())
    assert "(e1[1/2]-person-1-probability:0.7500)" in written
    assert "(e1[2/2]-person-1-probability:0.7500)" in written
    document = read_again(written)
    assert clusters_of(document) == {frozenset(cluster) for cluster in clusters}


def test_the_first_mention_has_the_probability_and_a_cut_word_is_split() -> None:
    text = "Acmeside Ann left. She ran."
    message, templates, entities = made(text, [[((0, 4),)], [((9, 12),), ((19, 22),)]])
    lines = corefud_text(message, templates, entities, ()).split("\n")
    assert lines[:3] == [
        "# newdoc id = a text", "# global.Entity = GRP-etype-head-other", "# newpar",
    ]  # fmt: skip
    rows = [line.split("\t") for line in lines if "\t" in line]
    assert [(row[1], row[6], row[7], row[9]) for row in rows[:3]] == [
        ("Acme", "0", "root", "Entity=(e1-person-1-probability:0.7500)|SpaceAfter=No"),
        ("side", "1", "goeswith", "_"),
        ("Ann", "1", "dep", "Entity=(e2-person-1-probability:0.7500)"),
    ]
    assert rows[4][9] == "Entity=(e2-person-1)"


@pytest.mark.corpus
@pytest.mark.skipif(not GUM.is_dir(), reason=f"{GUM} is missing")
def test_a_treebank_comes_back_with_its_trees() -> None:
    for document in read_corefud(GUM / "dev" / "GUM_news_iodine.conllu"):
        (placed,) = read_placed(GUM / "dev" / "GUM_news_iodine.conllu")
        homes = {one.id: one for one in document.templates}
        entities = [
            Entity(f"E{n}", homes[cell[0]].type, cell, cell[0], Figure.exact(1.0), {})
            for n, cell in enumerate(document.key.cells)
        ]
        message = parse_layout(document.name, document.text)
        again = read_again(corefud_text(message, document.templates, entities, placed.sentences))
        assert (again.name, again.text) == (document.name, document.text)
        assert clusters_of(again) == clusters_of(placed)
        for new, old in zip(again.sentences, placed.sentences, strict=True):
            assert [w[:6] for w in new.tree.words] == [w[:6] for w in old.tree.words]
