"""The whole cascade, text to templates with tagging, beside spaCy's tokenizer and Matcher.

spaCy gets a blank English pipeline and patterns for noun and verb groups by words and shapes, which
is what it can do without a model: it does not tag, and builds nothing.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from partita.app.batch import gc_paused
from partita.core import Message
from partita.corpora.documents import corpus_path
from partita.rules.domain_files import read_domain
from partita.rules.extractor import Extractor
from partita.text.layout import parse_layout
from partita.text.messages import read_messages
from partita.text.tagger_models import shipped_tagger

MUC = Path(__file__).parents[2] / "shared" / "data" / "muc4" / "dev"
SHARE = 0.3
LONGER = 10
MOST = 12.0
ROUNDS = 3
DETERMINERS = "a an the this that these those its their his her our my no some any each every all"
AUXILIARIES = (
    "is are was were be been being has have had do does did will would can could may might must "
    "shall should"
)
VERBS = (
    "found seen reported built constructed destroyed attacked located observed moved consisting "
    "occupied deployed stored used killed kidnapped bombed said told claimed carried identified"
)


def messages(*paths: Path) -> list[Message]:
    return [one for one in read_messages(list(paths)) if isinstance(one, Message)]


def corpora() -> dict[str, list[Message]]:
    found = {"corpus": messages(*sorted(corpus_path().glob("*.txt"))) * 4}
    if MUC.is_dir():
        found["MUC"] = messages(sorted(MUC.iterdir())[0])
    return found


def seconds(action: Callable[[], object]) -> float:
    """Of this process, the least of some rounds: others on the machine do not count, nor does the
    collector, which would walk everything that this process has loaded."""
    times = []
    for _ in range(ROUNDS):
        with gc_paused():
            start = time.process_time()
            action()
            times.append(time.process_time() - start)
        gc.collect()
    return min(times)


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    made = Extractor(read_domain("depots"), shipped_tagger())
    list(made.templates_of(corpora()["corpus"][:20]))  # compiled and loaded
    return made


def matcher() -> tuple[Any, Any]:
    """A blank pipeline, and noun and verb groups by words and shapes."""
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed (extra bench)")
    from spacy.matcher import Matcher

    nlp = spacy.blank("en")
    nlp.max_length = 10**8
    found = Matcher(nlp.vocab)
    content = {"IS_ALPHA": True, "IS_STOP": False}
    number = {"LIKE_NUM": True, "OP": "*"}
    noun = [{"LOWER": {"IN": DETERMINERS.split()}, "OP": "?"}, number, {**content, "OP": "+"}]
    verb = [
        {"LOWER": {"IN": AUXILIARIES.split()}, "OP": "*"},
        {"LOWER": {"REGEX": "ly$"}, "OP": "?"},
        {"LOWER": {"IN": VERBS.split()}},
    ]
    infinitive = [{"LOWER": "to"}, content]
    found.add("NG", [noun], greedy="LONGEST")
    found.add("VG", [verb, infinitive], greedy="LONGEST")
    return nlp, found


@pytest.mark.parametrize("name", corpora())
def test_beside_spacy(name: str, extractor: Extractor, ratio: Callable[..., None]) -> None:
    nlp, groups = matcher()
    texts = corpora()[name]
    plain = [message.text for message in texts]
    tokens = sum(map(len, nlp.pipe(plain)))
    theirs = seconds(lambda: [groups(doc) for doc in nlp.pipe(plain)])
    ours = seconds(lambda: list(extractor.templates_of(texts)))
    ratio(f"text to templates, {name} (time)", ours / theirs, "spaCy blank + Matcher", 1 / SHARE)
    print(f"\n{name}: {tokens:,} tokens; {tokens / ours:,.0f} and {tokens / theirs:,.0f} a second")
    assert theirs / ours >= SHARE


def test_ten_times_the_length(extractor: Extractor, ratio: Callable[..., None]) -> None:
    """One message, and one ten times as long."""
    text = "\n\n".join(message.text for message in corpora()["corpus"][:40])
    short, long = (
        parse_layout("short", text, "", 0),
        parse_layout("long", "\n\n".join([text] * LONGER), "", 0),
    )
    value = seconds(lambda: extractor.templates(long)) / seconds(lambda: extractor.templates(short))
    ratio(f"a message of {LONGER} × the length", value, "the message", MOST)
    assert value <= MOST
