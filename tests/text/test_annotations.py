"""Mentions and trees that come with a text, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.errors import InputError, PartitaError
from partita.text.annotations import (
    Annotation,
    SpanMention,
    annotated_sentences,
    mention_source,
    place_mentions,
    with_mentions,
)
from partita.text.expressions import Mention, PlacedSentence, Tree, Word, expressions, templates
from partita.text.messages import read_texts
from partita.text.raw_messages import RawMessage

TEXT = "Ann Smith met Bob. She left."
CONLL2012 = """#begin document (nw/wsj/00); part 000
nw/wsj/00 0 0 Ann NNP (TOP(S(NP* - - - - * (0
nw/wsj/00 0 1 Smith NNP *) - - - - * 0)
nw/wsj/00 0 2 met VBD (VP* - - - - * -
nw/wsj/00 0 3 Bob NNP (NP*)) - - - - * (1)
nw/wsj/00 0 4 /. . *)) - - - - * -

nw/wsj/00 0 0 She PRP (TOP(S* - - - - * (0)
nw/wsj/00 0 1 left VBD * - - - - * -
nw/wsj/00 0 2 -LRB- -LRB- *)) - - - - * -

#end document
"""
CONLLU = """# newdoc id = a
# global.Entity = eid-etype-head-other
1	Ann	Ann	PROPN	NNP	Number=Sing	3	nsubj	_	Entity=(e1-person-1
2	Smith	Smith	PROPN	NNP	Number=Sing	1	flat	_	Entity=e1)
3	met	meet	VERB	VBD	_	0	root	_	_
4	Bob	Bob	PROPN	NNP	Number=Sing	3	obj	_	Entity=(e2-person-1)|SpaceAfter=No
5	.	.	PUNCT	.	_	3	punct	_	_

1	She	she	PRON	PRP	Gender=Fem|Number=Sing	2	nsubj	_	Entity=(e1-person-1)
2	left	leave	VERB	VBD	_	0	root	_	SpaceAfter=No
3	.	.	PUNCT	.	_	2	punct	_	_
"""


def written(tmp_path: Path, text: str, name: str = "mentions.jsonl") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def attached(path: Path | list[Any], *texts: tuple[str, str]) -> list[RawMessage | PartitaError]:
    raw = (RawMessage(name, text, f"{name}.txt") for name, text in texts or [("a", TEXT)])
    return list(with_mentions(iter(raw), mention_source(path)))


def mentions_of(message: object) -> list[str]:
    assert isinstance(message, RawMessage), message
    assert message.annotation is not None
    assert message.annotation.mentions is not None
    return [message.text[one.start : one.end] for one in message.annotation.mentions]


def test_spans_of_json_lines_by_document(tmp_path: Path) -> None:
    rows = [
        {"document": "b", "start": 0, "end": 3},
        {"document": "a", "start": 19, "end": 22, "type": "person", "id": "y"},
        {"document": "a", "start": 0, "end": 9, "head": [4, 9], "text": "Ann Smith", "id": "x"},
    ]
    path = written(tmp_path, "\n".join(map(json.dumps, rows)))
    first, second = attached(path, ("a", TEXT), ("b", "Bob ran."))
    assert mentions_of(first) == ["Ann Smith", "She"]
    assert mentions_of(second) == ["Bob"]
    assert isinstance(first, RawMessage)
    assert first.annotation is not None
    assert first.annotation.mentions == (
        SpanMention(((0, 9),), "", (4, 9), "x", 3),
        SpanMention(((19, 22),), "person", None, "y", 2),
    )


def test_one_text_needs_no_document(tmp_path: Path) -> None:
    path = written(tmp_path, '{"start": 0, "end": 3}\n\n{"start": 14, "end": 17}\n')
    assert mentions_of(attached(path)[0]) == ["Ann", "Bob"]
    assert mentions_of(attached([{"start": 4, "end": 9}])[0]) == ["Smith"]
    one, other = attached(path, ("a", TEXT), ("b", TEXT))
    assert str(one) == str(other)
    assert "line 1: the mention has no field 'document'" in str(one)


BAD = {
    '{"start": 19, "end": 99}': "line 1: the span 19 to 99 is outside of the text, which",
    '{"start": 5, "end": 5}': "line 1: the span 5 to 5 is empty",
    '{"start": -1, "end": 5}': "line 1: the span is [-1, 5] (expected two character offsets",
    '{"start": 1.0, "end": 5}': "line 1: the span is [1.0, 5] (expected two character offsets",
    '{"start": 0}': "line 1: the mention has no fields 'start' and 'end'",
    '{"start": 0, "end": 3, "label": "x"}': "line 1: the mention has a field 'label'; expected",
    "[1, 2]": "line 1: is not a JSON object but list",
    "not JSON": "line 1: is not JSON",
    '{"start": 0, "end": 3}\n[1, 2]': "line 2: is not a JSON object but list",
    '{"start": 0, "end": 3}\n{"start"': "line 2: is not JSON",
    '{"start": 3, "end": 4}': "line 1: at 3 to 4 is only white space",
    '{"start": 0, "end": 3, "text": "Bob"}': "line 1: the text is 'Bob', but at 0 stands 'Ann'",
    '{"start": 0, "end": 3, "head": [4, 9]}': "line 1: the head 4 to 9 lies outside of the mention",
    '{"start": 0, "end": 9}\n{"start": 4, "end": 13}': "line 2: crosses the mention of line 1",
    '{"start": 0, "end": 9}\n{"start": 0, "end": 9}': "line 2: has the same span as line 1",
    '{"start": 0, "end": 3, "id": "x"}\n{"start": 4, "end": 9}': "line 2: has no id",
    '{"start": 0, "end": 3, "id": "x"}\n{"start": 4, "end": 9, "id": "x"}': (
        "line 2: the id 'x' is that of line 1"
    ),
    '{"spans": [[4, 9], [0, 3]]}': "line 1: the spans overlap or are not in text order",
    '{"spans": []}': "line 1: spans is not a list of [start, end]",
    '{"document": "b", "start": 0, "end": 3}': "line 1: no text has the id 'b'",
    '{"document": ["b"], "start": 0, "end": 3}': (
        "line 1: document is ['b'] (expected a text or a number)"
    ),
}


@pytest.mark.parametrize("text", BAD)
def test_what_does_not_fit_is_refused_with_its_line(text: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    try:
        problems = [str(one) for one in attached(path) if isinstance(one, PartitaError)]
    except InputError as error:
        problems = [str(error)]
    assert len(problems) == 1
    assert problems[0].startswith(str(path))
    assert BAD[text] in problems[0]


def test_nested_and_discontinuous_mentions_are_allowed() -> None:
    rows = [{"start": 0, "end": 9}, {"start": 0, "end": 3}, {"spans": [[4, 9], [14, 17]]}]
    (message,) = attached(rows)
    assert mentions_of(message) == ["Ann Smith", "Ann", "Smith met Bob"]


def test_conll_2012_has_mentions_and_no_entities(tmp_path: Path) -> None:
    (message,) = read_texts(written(tmp_path, CONLL2012, "x.v4_gold_conll"))
    assert isinstance(message, RawMessage)
    assert (message.id, message.text) == ("nw/wsj/00_0", "Ann Smith met Bob .\nShe left (")
    assert mentions_of(message) == ["Ann Smith", "Bob", "She"]
    assert message.annotation is not None
    assert message.annotation.sentences is None
    assert not any(one.id for one in message.annotation.mentions or ())


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("* 0)", "* 7)", "line 3: bracket 7) closes what is not open"),
        ("* 0)", "* -", "line 2: bracket (0 is never closed in its sentence"),
        ("* (1)", "* x", "line 5: 'x' is not a coreference bracket"),
        ("#end document", "", "line 1: document nw/wsj/00_0 has no #end document"),
        ("nw/wsj/00 0 2 met VBD (VP* - - - - * -", "met -", "line 4: has 2 columns"),
    ],
)
def test_broken_conll_2012_is_refused(old: str, new: str, problem: str, tmp_path: Path) -> None:
    (error,) = read_texts(written(tmp_path, CONLL2012.replace(old, new, 1), "x.conll"))
    assert isinstance(error, InputError)
    assert problem in str(error)


def test_conllu_is_read_with_its_trees_and_mentions(tmp_path: Path) -> None:
    (message,) = read_texts(written(tmp_path, CONLLU, "x.conllu"))
    assert isinstance(message, RawMessage)
    assert (message.id, message.text) == ("a", TEXT)
    annotation = message.annotation
    assert annotation is not None
    assert annotation.complete
    assert annotation.sentences is not None
    assert [len(one.mentions) for one in annotation.sentences] == [2, 1]
    bare = re.sub(r"Entity=[^|\t\n]*", "_", CONLLU).replace("# global.Entity", "# old.Entity")
    (without,) = read_texts(written(tmp_path, bare, "y.conllu"))
    assert isinstance(without, RawMessage)
    assert without.annotation is not None
    assert not without.annotation.complete
    assert without.annotation.fingerprint != annotation.fingerprint


def test_annotated_words_are_found_again_in_a_text(tmp_path: Path) -> None:
    path = written(tmp_path, CONLLU, "other-name.conllu")
    text = "  Ann\tSmith met\n Bob.\r\n\r\nShe left.\n"
    (message,) = attached(path, ("x", text))
    assert isinstance(message, RawMessage)
    annotation = message.annotation
    assert annotation is not None
    spans = [span for one in annotation.sentences or () for span in one.spans]
    assert [text[a:b] for a, b in spans] == ["Ann", "Smith", "met", "Bob", ".", "She", "left", "."]
    gold = written(tmp_path, CONLL2012, "x.gold_conll")
    (message,) = attached(gold, ("x", "Ann Smith met Bob.\n\nShe left("))
    assert mentions_of(message) == ["Ann Smith", "Bob", "She"]


@pytest.mark.parametrize(
    ("texts", "problem"),
    [
        ([("a", "Ann Smith met Rob. She left.")], "has 'Bob. She lef' where text a has 'Rob. She"),
        ([("a", "Ann Smith met Bob.")], "has 'She left.' where text a has ''"),
        ([("a", TEXT), ("b", TEXT)], "has no document with the id 'b'"),
        ([("b", TEXT), ("c", TEXT)], "line 3: no text has the id 'a'"),
    ],
)
def test_a_document_that_is_not_the_text_is_refused(
    texts: list[tuple[str, str]], problem: str, tmp_path: Path
) -> None:
    answers = attached(written(tmp_path, CONLLU, "a.conllu"), *texts)
    assert any(problem in str(one) for one in answers if isinstance(one, InputError))


def sentence(text: str, start: int, mentions: tuple[Mention, ...] = ()) -> PlacedSentence:
    """A sentence whose words all depend on its last word."""
    spans = [(m.start() + start, m.end() + start) for m in re.finditer(r"\w+|[^\w\s]", text)]
    words = [
        Word(
            text[a - start : b - start],
            "",
            "NOUN",
            "_",
            -1 if n == len(spans) - 1 else len(spans) - 1,
            "x",
        )
        for n, (a, b) in enumerate(spans)
    ]
    return PlacedSentence(Tree(words), mentions, spans, 0, 0, "text")


def test_given_mentions_replace_those_found_and_inherit_their_types() -> None:
    found = Mention("", "person", spans=[(1, 1)], head=1, types={"person": 0.9, "place": 0.1})
    text = "Ann Smith-Jones left"
    parsed = [sentence(text, 0, (found,))]
    given_mentions = (
        SpanMention(((0, 9),), head=(4, 9), id="s"),
        SpanMention(((11, 13),), "place"),
    )
    annotation = Annotation(mentions=given_mentions)
    (placed,) = annotated_sentences(annotation, text, lambda: parsed, lambda s: s)
    one, two = expressions(placed)
    assert (one.start, one.end, one.head, one.mention.type) == (0, 9, 1, "person")
    assert one.mention.types == {"person": 0.9, "place": 0.1}
    assert (two.mention.type, two.mention.types) == ("place", None)
    made = list(templates([one, two], 1, text, 0, "given"))
    assert [(t.id, t.text) for t in made] == [("s", "Ann Smith"), ("m2", "on")]


def test_trees_with_mentions_are_used_as_they_are() -> None:
    own = sentence("Ann left", 0, (Mention("e", "person", spans=[(0, 0)]),))

    def fail(*_: object) -> tuple[PlacedSentence, ...]:
        raise AssertionError

    whole = Annotation((own,), complete=True)
    assert annotated_sentences(whole, "Ann left", fail, fail) == (own,)
    bare = Annotation((own,))
    assert annotated_sentences(bare, "Ann left", fail, lambda s: [*s, *s]) == [own, own]


@st.composite
def spans(draw: st.DrawFn) -> tuple[str, list[SpanMention]]:
    text = draw(st.text(alphabet="ab. \n", min_size=1, max_size=40))
    letters = [n for n, char in enumerate(text) if not char.isspace()]
    if not letters:
        return text, []
    edge = st.sampled_from(letters)
    pairs = draw(st.lists(st.tuples(edge, edge), max_size=6, unique=True))
    return text, [SpanMention(((min(a, b), max(a, b) + 1),)) for a, b in pairs]


@given(spans(), st.booleans())
def test_every_given_mention_becomes_a_template_with_its_text(
    case: tuple[str, list[SpanMention]], parsed: bool
) -> None:
    """Whatever the parser's sentences are: some, or none."""
    text, mentions = case
    rows = [
        sentence(match[0], match.start())
        for match in re.finditer(r"[^.\n]*[^\s.]\.?", text)
        if parsed
    ]
    placed = place_mentions(rows, mentions, text)
    made = [t for one in placed for t in templates(expressions(one), 1, text, 0, "given")]
    assert sorted((t.start, t.end) for t in made) == sorted((m.start, m.end) for m in mentions)
    assert all(t.text == text[t.start : t.end] for t in made)
