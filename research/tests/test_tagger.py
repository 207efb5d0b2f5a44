"""Learning a tagger: a toy language, the same bytes, the lexicon, and copies without capitals."""

from __future__ import annotations

import numpy as np
import pytest

from partita.errors import InputError
from partita.text.tagger_models import NO_TAG, Tagger, tagger_bytes
from research.reading_models import measure_tagging
from research.tagger import (
    TaggedSentence,
    TaggerSettings,
    count_tags,
    hash_sentences,
    lexicon_of,
    lower_case,
    train_tagger,
    upper_case,
    with_recased_copies,
)

SMALL = TaggerSettings(bits=14, passes=4, runs=2)
ENDINGS = {"NN": "ion", "VB": "ate", "JJ": "ous"}


def toy(count: int, seed: int, stems: str = "bdfgklmnprst") -> list[TaggedSentence]:
    """Endings give the tag; "run" is a noun after "the", a verb after "to"; names have capitals."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        stem = "".join(rng.choice(list(stems), 2)) + "e"
        kind = str(rng.choice(list(ENDINGS)))
        noun = bool(rng.random() < 0.5)
        words = (*(("the", "run") if noun else ("to", "run")), stem + ENDINGS[kind], stem.title())
        tags = (*(("DT", "NN") if noun else ("TO", "VB")), kind, "NNP")
        found.append(TaggedSentence(words, tags))
    return found


@pytest.fixture(scope="module")
def taught() -> Tagger:
    return train_tagger(toy(400, seed=1), 5, SMALL, learned_from="a toy")


def test_it_learns_a_toy_language_with_words_it_has_never_met(taught: Tagger) -> None:
    strange = toy(100, seed=2, stems="vwzhj")
    assert measure_tagging(taught, strange).accuracy == 1.0
    assert measure_tagging(taught, strange).unknown >= 200


def test_it_tags_without_capitals(taught: Tagger) -> None:
    for recase in (upper_case, lower_case):
        strange = [recase(each) for each in toy(100, seed=2)]
        assert measure_tagging(taught, strange).accuracy > 0.98


def test_the_same_seed_gives_the_same_bytes(taught: Tagger) -> None:
    again = train_tagger(toy(400, seed=1), 5, SMALL, learned_from="a toy")
    other = train_tagger(toy(400, seed=1), 6, SMALL, learned_from="a toy")
    assert tagger_bytes(again) == tagger_bytes(taught)
    assert tagger_bytes(other) != tagger_bytes(taught)


def test_what_it_was_learned_from_is_told(taught: Tagger) -> None:
    assert (taught.learned_from, taught.seed) == ("a toy", 5)
    assert taught.sha256 == hash_sentences(toy(400, seed=1)) != hash_sentences(toy(400, seed=2))


def test_progress_is_told_for_every_pass() -> None:
    told: list[str] = []
    train_tagger(toy(20, seed=1), 0, SMALL, progress=told.append)
    assert len(told) == 8
    assert told[-1].startswith("run 2 of 2, pass 4 of 4: ")


def test_nothing_to_learn_from_is_refused() -> None:
    with pytest.raises(InputError, match="no tagged words"):
        train_tagger([], 0)
    many = [TaggedSentence(tuple(map(str, range(65))), tuple(map(str, range(65))))]
    with pytest.raises(InputError, match="65 different tags"):
        train_tagger(many, 0)


def test_the_lexicon_lists_frequent_words_with_the_class_of_their_tags() -> None:
    sentences = [TaggedSentence(("The", "run", "5"), ("DT", "NN", "CD"))] * 20
    sentences += [TaggedSentence(("the", "run", "once", "77"), ("DT", "VB", "RB", "NN"))]
    sentences += [TaggedSentence(("twice", "Twice"), ("RB", "RB"))]
    tags = ("CD", "DT", "NN", "RB", "VB")
    found = lexicon_of(count_tags(sentences), tags)
    assert list(found) == ["0", "run", "the", "twice"]
    assert [found[word].fixed for word in found] == [0, NO_TAG, 1, NO_TAG]
    assert found["twice"].number == 0
    assert len({found[word].number for word in ("0", "run", "the")} - {0}) == 3


def test_shares_of_the_sentences_are_copied_in_upper_and_lower_case() -> None:
    sentences = [TaggedSentence((f"Word{n}",), ("NN",)) for n in range(1000)]
    found = with_recased_copies(sentences, 0.5, 0.2, np.random.default_rng(1))
    assert found[:1000] == sentences
    copies = [each.words[0] for each in found[1000:]]
    assert 440 < sum(word.isupper() for word in copies) < 560
    assert 150 < sum(word.islower() for word in copies) < 250
