"""The output of other coreference systems as pair probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from math import exp, prod
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita
from partita.coreference import PairScores, from_clusters, from_fastcoref, from_stanza
from partita.errors import InputError

TEXT = "Ann met Bo. She left him."
ANN, BO, SHE, HIM = (0, 3), (8, 10), (12, 15), (21, 24)


@dataclass
class CorefResult:
    """The attributes and methods of fastcoref's result."""

    text: str
    reverse_char_map: dict[Any, Any]
    coref_logit: Any
    clusters: list[list[tuple[int, int]]]

    def get_clusters(self, as_strings: bool = True) -> list[list[Any]]:
        assert not as_strings
        return self.clusters


def fast_result(logits: list[list[float]]) -> CorefResult:
    spans = [ANN, BO, SHE, HIM][: len(logits)]
    matrix = np.full((len(logits), len(logits) + 1), -1e4)
    matrix[:, -1] = 0.0
    for n, row in enumerate(logits):
        matrix[n, : len(row)] = row
    places = {span: (n, (n, n)) for n, span in enumerate(spans)}
    return CorefResult(TEXT, places, matrix, [[ANN, SHE]])


def probabilities(scores: PairScores) -> dict[tuple[str, str], float]:
    return {(a, b): p for a, b, p in scores.pairs}


rows = st.tuples(*[st.lists(st.floats(-6, 6), min_size=n, max_size=n) for n in range(4)])


@given(rows)
def test_links_of_fastcoref_equal_the_sum_over_all_choices_of_antecedents(
    logits: tuple[list[float], ...],
) -> None:
    shares = []
    for row in logits:
        weights = [*map(exp, row), 1.0]
        shares.append([weight / sum(weights) for weight in weights])
    expected: dict[tuple[str, str], float] = {}
    for choice in product(*(range(len(row) + 1) for row in logits)):
        chance = prod(share[c] for share, c in zip(shares, choice, strict=True))
        cells = list(range(4))
        for n, c in enumerate(choice):
            cells[n] = cells[c] if c < n else n
        for a in range(4):
            for b in range(a + 1, 4):
                name = (f"m{a + 1}", f"m{b + 1}")
                expected[name] = expected.get(name, 0.0) + chance * (cells[a] == cells[b])
    scores = from_fastcoref(fast_result(list(logits)), least=0.0)
    assert scores.spans == (ANN, BO, SHE, HIM)
    for name, p in probabilities(scores).items():
        assert p == pytest.approx(min(max(expected[name], 1e-6), 1 - 1e-6), abs=1e-9)


def test_spans_that_corefer_with_nothing_are_left_out() -> None:
    result = fast_result([[], [-9.0], [4.0, -9.0], [-9.0, -9.0, -9.0]])
    assert from_fastcoref(result).spans == (ANN, SHE)
    assert len(from_fastcoref(result, least=0.0).spans) == 4


def test_clusters_have_the_precision_of_their_system() -> None:
    scores = from_clusters(TEXT, [[SHE, ANN], [[8, 10]]], precision=0.9, missed=0.02)
    assert scores.mentions[2] == {"id": "m3", "start": 12, "end": 15, "text": "She"}
    assert probabilities(scores) == {("m1", "m2"): 0.02, ("m1", "m3"): 0.9, ("m2", "m3"): 0.02}
    answer = partita.solve(scores.pairs)
    shown = {str(one.configuration): one.probability for one in answer.configurations}
    assert next(iter(shown)) == "(m1 m3) (m2)"
    assert shown["(m1 m3) (m2)"] / shown["(m1) (m2) (m3)"] == pytest.approx(0.9 / 0.1)


@dataclass
class Word:
    start_char: int | None
    end_char: int | None
    parent: Any = None


@dataclass
class Mention:
    sentence: int
    start_word: Any
    end_word: Any


@dataclass
class Chain:
    mentions: list[Mention]


@dataclass
class Sentence:
    words: list[Word]


@dataclass
class Document:
    text: str
    sentences: list[Sentence]
    coref: list[Chain] = field(default_factory=list)


def test_chains_of_stanza() -> None:
    token = Word(8, 11)
    first = Sentence([Word(0, 3), Word(4, 7), Word(None, None, token), Word(None, None, token)])
    second = Sentence([Word(12, 15), Word(16, 20), Word(21, 24)])
    chains = [
        Chain([Mention(0, 0, 1), Mention(1, 0, 1), Mention(1, (2, 1), (2, 1))]),
        Chain([Mention(0, 2, 3), Mention(1, 2, 3)]),
    ]
    scores = from_stanza(Document(TEXT, [first, second], chains), precision=0.8, missed=0.01)
    assert [TEXT[a:b] for a, b in scores.spans] == ["Ann", "Bo.", "She", "him"]
    assert probabilities(scores)["m2", "m4"] == 0.8
    assert probabilities(scores)["m1", "m4"] == 0.01


def test_bad_output_is_refused() -> None:
    with pytest.raises(InputError, match=r"the span 20 to 99 is outside of the text \(ends at 25"):
        from_clusters(TEXT, [[(20, 99)]], precision=0.9, missed=0.0)
    with pytest.raises(InputError, match="the span 0 to 3 is in two clusters"):
        from_clusters(TEXT, [[ANN], [ANN, BO]], precision=0.9, missed=0.0)
    with pytest.raises(ValueError, match=r"precision is 1\.5"):
        from_clusters(TEXT, [], precision=1.5, missed=0.0)


def test_evidence_of_a_result_multiplies_the_odds() -> None:
    scores = from_clusters(TEXT, [[ANN, SHE]], precision=0.8, missed=0.1)
    columns = {"set": ["s"], "left": ["m2"], "right": ["m1"], "marginal": [0.6]}
    result: Any = SimpleNamespace(
        mentions=[SimpleNamespace(id="m1"), SimpleNamespace(id="m2")], _columns=columns_of(columns)
    )
    ((_, _, both),) = scores.combined(result).pairs
    assert both == pytest.approx(0.8 * 0.6 / (0.8 * 0.6 + 0.2 * 0.4))
    result.mentions.pop()
    with pytest.raises(InputError, match="the result has other mentions"):
        scores.combined(result)


def columns_of(columns: dict[str, list[Any]]) -> Any:
    return lambda _table: columns
