"""Words of the lexicon in all their forms, and what they mean."""

from __future__ import annotations

import pytest

from partita.rules.domain import LexiconEntry
from partita.rules.phrases import RuleLexicon, WordForms, combine_meanings


@pytest.fixture(scope="module")
def forms() -> WordForms:
    return WordForms()


@pytest.mark.parametrize(
    ("noun", "plural"),
    [
        ("depot", "depots"),
        ("battery", "batteries"),
        ("convoy", "convoys"),
        ("bus", "buses"),
        ("supply dump", "supply dumps"),
        ("infantryman", "infantrymen"),
        ("aircraft", "aircraft"),
        ("bunker complex", "bunker complexes"),
    ],
)
def test_plurals(forms: WordForms, noun: str, plural: str) -> None:
    assert forms.plural(noun) == plural
    assert forms.lemma(plural.split()[-1], "NNS") == noun.split()[-1]


@pytest.mark.parametrize(
    ("verb", "made"),
    [
        ("build", ["builds", "building", "built"]),
        ("plan", ["plans", "planning", "planned"]),
        ("store", ["stores", "storing", "stored"]),
        ("carry", ["carries", "carrying", "carried"]),
        ("destroy", ["destroys", "destroying", "destroyed"]),
        ("see", ["sees", "seeing", "saw", "seen"]),
        ("die", ["dies", "dying", "died"]),
        ("set up", ["sets up", "setting up", "set up"]),
    ],
)
def test_forms_of_verbs(forms: WordForms, verb: str, made: list[str]) -> None:
    assert {form for form, _ in forms.conjugated(verb)} == {verb, *made}


@pytest.mark.parametrize(
    ("word", "tag", "lemma"),
    [
        ("located", "VBN", "locate"),
        ("stationed", "VBN", "station"),
        ("observed", "VBD", "observe"),
        ("hoped", "VBD", "hope"),
        ("planned", "VBD", "plan"),
        ("damaged", "VBN", "damage"),
        ("is", "VBZ", "be"),
        ("carries", "VBZ", "carry"),
        ("bases", "NNS", "base"),
        ("glass", "NN", "glass"),
        ("built", "NN", "built"),
    ],
)
def test_lemmas(forms: WordForms, word: str, tag: str, lemma: str) -> None:
    assert forms.lemma(word, tag) == lemma


def test_verbs_that_are_known_are_found_back() -> None:
    forms = WordForms()
    assert forms.lemma("zorred", "VBD") != "zorr"
    forms.know(["zorr"])
    assert forms.lemma("zorred", "VBD") == "zorr"


def lexicon(*entries: LexiconEntry) -> RuleLexicon:
    return RuleLexicon.of(entries, ())


def test_tags_decide_what_a_word_means() -> None:
    made = lexicon(
        LexiconEntry({"guard": ""}, ("NN",), ("UNIT",)),
        LexiconEntry({"guard": ""}, ("VB",), ("ACT",)),
        LexiconEntry({"guard": ""}, (), ("ANY",)),
    )
    assert combine_meanings(made.meanings("guards", "NNPS"))[0] == ("UNIT",)
    assert combine_meanings(made.meanings("guard", "NN"))[0] == ("UNIT", "ANY")
    assert combine_meanings(made.meanings("guarded", "VBN"))[0] == ("ACT",)
    assert made.meanings("guarded", "JJ") == []


def test_what_a_word_stands_for() -> None:
    made = lexicon(
        LexiconEntry({"rail": "", "railway": "rail"}, ("NN",), (), {"TYPE": "$word", "N": 1})
    )
    assert combine_meanings(made.meanings("railway", "NN"))[1] == {"TYPE": "RAIL", "N": 1}
    assert combine_meanings(made.meanings("rails", "NNS"))[1] == {"TYPE": "RAIL", "N": 1}


def test_of_several_meanings_the_first_fills_a_slot() -> None:
    made = lexicon(
        LexiconEntry({"tank": ""}, ("NN",), ("A",), {"TYPE": "ARMOR"}),
        LexiconEntry({"tank": ""}, ("NN",), ("B",), {"TYPE": "FUEL", "USE": "STORAGE"}),
    )
    assert combine_meanings(made.meanings("tank", "NN")) == (
        ("A", "B"),
        {"TYPE": "ARMOR", "USE": "STORAGE"},
    )


def test_multiwords_are_cut_as_messages_are() -> None:
    made = lexicon(
        LexiconEntry({"surface-to-air missile": ""}, ("NN",)), LexiconEntry({"t-72": ""}, ("NN",))
    )
    rests = {longer.rest for longer in made.longer["surface"]["-"]}
    assert rests == {("-", "to", "-", "air", noun) for noun in ("missile", "missiles")}
    assert "t-72" in made.words


def test_forms_that_are_listed_take_the_place_of_those_that_are_made() -> None:
    made = lexicon(LexiconEntry({"corps": "", "man": ""}, ("NN",), (), {}, {"corps": ("corps",)}))
    assert "corpses" not in made.words
    assert {"corps", "man", "men"} <= made.words.keys()


@pytest.mark.parametrize("verbs", [("gun", "gunned"), ("gunned", "gun")])
def test_of_two_verbs_with_one_form_the_longer_is_meant(verbs: tuple[str, ...]) -> None:
    assert RuleLexicon.of((), verbs).forms.lemma("gunned", "VBN") == "gunned"
