"""The network that judges mentions: its sums, its probabilities, what it sees of pronouns."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.text.analysis import shipped_analyser
from partita.text.mention_network import (
    BEFORE,
    Inputs,
    MentionNetwork,
    Parsed,
    hypernyms_of,
    inputs_for,
    logs_of,
    softmax,
)
from partita.text.mentions import COORDINATION, Found
from partita.text.words import shipped_words

WORDS = ("Anna", "and", "Ben", "bought", "the", "dogs", ".", "They", "love", "it", "in", "London")


def read(words: list[str]) -> tuple[Found, Parsed, MentionNetwork]:
    """What the linear models find in a sentence."""
    analyser = shipped_analyser()
    trees = analyser.trees(words, [len(words)])
    assert analyser.network is not None
    parsed = Parsed(trees.texts, trees.tags, trees.relations)
    return analyser.candidates(trees), parsed, analyser.network


def slow_scores(network: MentionNetwork, inputs: Inputs, example: int) -> list[float]:
    """The definition of the scores, one number after another."""
    rows = [*inputs.rows[example], *inputs.more[inputs.owners == example]]
    numbers = inputs.numbers[example].astype(float)
    logs = logs_of(inputs.numbers[example : example + 1], len(network.skip))[0]
    units = []
    for unit, bias in enumerate(network.bias.tolist()):
        total = sum(int(network.table[row, unit]) for row in rows) * float(network.steps[unit])
        total += bias + float(numbers @ network.dense[:, unit])
        units.append(max(total, total / 10))
    return [
        float(np.array(units) @ network.out[:-1, each] + network.out[-1, each])
        + float(logs @ network.skip[:, each])
        for each in range(network.out.shape[1])
    ]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12))
def test_scores_are_as_defined_and_probabilities_sum_to_1(words: list[str]) -> None:
    found, text, network = read(words)
    judged = network.judged(found, text)
    assert np.array_equal(judged.places, found.places)
    assert np.allclose(judged.chances.sum(axis=1), 1)
    own = np.flatnonzero(found.places[:, 3] != COORDINATION)
    if len(own):
        inputs = network.inputs(found.at(own), text)
        scores = network.scores(inputs)
        assert scores.shape == (len(own), len(network.skip.T))
        assert inputs.numbers.shape[1] == inputs_for(scores.shape[1])
        for example in range(len(own)):
            assert np.allclose(scores[example], slow_scores(network, inputs, example), atol=1e-3)
        by_network, before, after = softmax(scores), found.chances[own], judged.chances[own]
        odds = [(1 - each[:, 0]) / each[:, 0] for each in (by_network, before, after)]
        assert np.allclose(odds[0] * odds[1], odds[2] ** 2, rtol=1e-6)
        types = [each[:, 1:] / (1 - each[:, :1]) for each in (by_network, after)]
        assert np.allclose(types[0], types[1], atol=1e-6)


def test_a_coordination_has_the_types_of_its_first_conjunct() -> None:
    found, text, network = read(["Anna", "and", "Ben", "bought", "the", "dogs", "."])
    both = np.flatnonzero(found.places[:, 3] == COORDINATION)
    assert len(both)
    judged = network.judged(found, text).chances
    for n in both:
        assert found.places[n, 0] == found.places[n - 1, 0]
        assert judged[n, 0] == found.chances[n, 0]
        assert np.allclose(
            judged[n, 1:] / (1 - judged[n, 0]), judged[n - 1, 1:] / (1 - judged[n - 1, 0])
        )


def test_a_pronoun_sees_the_types_of_the_nouns_before_it() -> None:
    found, text, network = read(["The", "ship", "left", ".", "It", "sank", "."])
    own = found.at(np.flatnonzero(found.places[:, 3] != COORDINATION))
    heads = [text.texts[head] for head in own.places[:, 0]]
    classes = own.chances.shape[1]
    numbers = network.inputs(own, text).numbers
    first = 3 * classes  # after the logarithms, the same words with their number, and the mean
    before = numbers[:, first : first + 3 * BEFORE * (classes - 1)]
    before = before.reshape(len(own.places), 3, BEFORE, classes - 1)
    ship, it = heads.index("ship"), heads.index("It")
    assert np.allclose(before[it, 0, 0], own.chances[ship, 1:], atol=1e-6)  # singular
    assert not before[it, 1].any()  # plural
    assert np.allclose(before[it, 2, 0], own.chances[ship, 1:], atol=1e-6)  # subject
    assert not before[ship].any()


def test_the_same_word_elsewhere_is_seen() -> None:
    found, text, network = read(["The", "dog", "saw", "a", "cat", "and", "a", "dog", "."])
    own = found.at(np.flatnonzero(found.places[:, 3] != COORDINATION))
    heads = [text.texts[head] for head in own.places[:, 0]]
    classes = own.chances.shape[1]
    same = network.inputs(own, text).numbers[:, classes : 2 * classes + 1]
    first, second = (n for n, head in enumerate(heads) if head == "dog")
    assert np.allclose(same[first, :-1], own.chances[second], atol=1e-6)
    assert same[first, -1] > 0
    assert not same[heads.index("cat")].any()


def test_hypernyms_of_a_plural_are_those_of_the_noun() -> None:
    table = shipped_words()
    sense = table.senses[table.find("dog"), 0]
    assert sense in hypernyms_of("dog")
    assert set(table.ancestors(int(sense))) <= set(hypernyms_of("dog"))
    assert hypernyms_of("zzzzx") == []
