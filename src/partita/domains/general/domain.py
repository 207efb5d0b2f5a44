"""The domain `general`: every referring expression of an English text.

Texts that are not plain English prose (another language, HTML, control characters) are noted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from partita.antecedents.sets import Windows
from partita.configurations import MODELS
from partita.core import Message, Template
from partita.domains import Domain, content_hash
from partita.domains.general.details import as_person, speakers, with_details, word_lists
from partita.parameters import shipped_bytes
from partita.templates.schema import Schema
from partita.templates.slots import StringsType
from partita.text.analysis import SHIPPED, shipped_analyser
from partita.text.documents import is_html, without_markup
from partita.text.expressions import PlacedSentence, expressions, templates
from partita.text.layout import parse_layout

RULE = "general"  # where the mentions come from
SLOTS = (
    "NAME", "TITLE", "TYPE", "GENDER", "ROLE", "DESCRIPTION", "NATIONALITY", "LOCATION", "DATE",
    "AMOUNT",
)  # fmt: skip


class GeneralDomain(Domain):
    """Mentions of a trained parser, resolved by the joint model.

    Types and slots exclude no pair: the joint model weighs them.
    """

    default_model = "joint"
    unsupported_models = tuple(name for name in MODELS if name != "joint")
    windows = Windows()

    @property
    def name(self) -> str:
        return "general"

    @property
    def description(self) -> str:
        return (
            "Any English text: people, organizations, places, objects, events, times and other "
            "things, by names, noun phrases and pronouns."
        )

    @property
    def schema(self) -> Schema:
        return SCHEMA

    @property
    def fingerprint(self) -> str:
        """Return the hash of this package and of the shipped models."""
        own = [path for path in Path(__file__).parent.iterdir() if path.suffix in (".py", ".yaml")]
        shipped = shipped_bytes(SHIPPED, "analyser")
        return content_hash([*(path.read_bytes() for path in sorted(own)), shipped])

    def __init__(self, *, force: bool = False) -> None:
        self.force = force

    def forced(self) -> GeneralDomain:
        return GeneralDomain(force=True)

    def extract(self, message: Message) -> Sequence[Template]:
        if not self.force and is_foreign(message.text):
            return ()
        return general_templates(self.sentences(message), message.text)

    def sentences(self, message: Message) -> Sequence[PlacedSentence]:
        return shipped_analyser().analyse(blank_markup(message))

    def placed_templates(
        self, sentences: Sequence[PlacedSentence], text: str
    ) -> Sequence[Template]:
        return general_templates(sentences, text)

    def notes(self, message: Message, templates: Sequence[Template]) -> Iterable[str]:
        return text_notes(message.text, force=self.force)


def general_templates(
    sentences: Sequence[PlacedSentence], text: str, rule: str = RULE
) -> tuple[Template, ...]:
    """Return the templates of all mentions, with the slots that the words around them fill."""
    found: list[Template] = []
    in_order = [expressions(sentence) for sentence in sentences]
    for some in in_order:
        found += with_details(some, list(templates(some, len(found) + 1, text, 0, rule)))
    said = speakers(text, in_order, found)
    speaking = {context.get("SPOKEN_BY") for context in said.values()}
    named = [as_person(one) if one.id in speaking else one for one in found]
    return tuple(
        replace(one, context={**one.context, **said[one.id]}) if one.id in said else one
        for one in named
    )


SCHEMA = Schema({name: StringsType() for name in SLOTS})
domain = GeneralDomain()

SCRIPTS = (
    ("Russian", re.compile(r"[\u0400-\u04ff]")),
    ("Greek", re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")),
    ("Arabic", re.compile(r"[\u0600-\u06ff]")),
    ("Hebrew", re.compile(r"[\u0590-\u05ff]")),
    ("Hindi", re.compile(r"[\u0900-\u097f]")),
    ("Thai", re.compile(r"[\u0e00-\u0e7f]")),
    ("Korean", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("Japanese", re.compile(r"[\u3040-\u30ff]")),
    ("Chinese", re.compile(r"[\u4e00-\u9fff]")),
)
# letters that only another language of the same script has
LETTERS = {"Russian": ("Ukrainian", "іїєґ"), "Arabic": ("Persian", "پچژگ")}
WORD = re.compile(r"[^\W\d_]+")
SAMPLE = 20_000  # characters that are looked at
FEWEST = 6  # words, below which no language is guessed
MIN_FUNCTION_WORDS = 0.12  # share of function words for a guess
TELLING = 3  # different function words that English has not, for a guess
RARE = 0.04  # share of English function words below which a text is not English prose
ENOUGH = 40  # words for that
UNKNOWN = "unknown"


def other_language(text: str) -> str:
    """Return the language of a text that is not in English, `unknown`, or "" if it may be English.

    Decided by letters of other scripts and by the most frequent function words.
    """
    sample = text if len(text) <= SAMPLE else text[: SAMPLE // 2] + text[-SAMPLE // 2 :]
    letters = sum(map(str.isalpha, sample))
    if script := _script(sample, letters):
        return script
    forms = WORD.findall(sample)
    words = [form.lower() for form in forms]
    if len(words) < FEWEST:
        return ""
    counts, languages = Counter(words), word_lists().languages
    shares = {
        name: sum(counts[word] for word in stops) / len(words) for name, stops in languages.items()
    }
    best = max(shares, key=lambda name: shares[name])
    small = set(words if sample.isupper() else filter(str.islower, forms))  # "Los Angeles"
    telling = {
        word for word in languages[best] - languages["English"] if len(word) > 1 and word in small
    }
    clear = shares[best] >= MIN_FUNCTION_WORDS and shares[best] > 1.5 * shares["English"]
    if clear and len(telling) >= TELLING:
        return best
    return UNKNOWN if len(words) >= ENOUGH and shares["English"] < RARE else ""


def _script(sample: str, letters: int) -> str:
    counts = {name: len(pattern.findall(sample)) for name, pattern in SCRIPTS}
    if counts["Japanese"]:
        counts["Japanese"] += counts.pop("Chinese")
    best = max(counts, key=lambda name: counts[name])
    if not letters or counts[best] < letters / 2:
        return ""
    other, marks = LETTERS.get(best, ("", ""))
    return other if sum(sample.count(mark) for mark in marks) > counts[best] / 100 else best


CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f]")


def blank_markup(message: Message) -> Message:
    """Return the message with tags and control characters as spaces: no offset changes."""
    text = CONTROL.sub(" ", message.text)
    if is_html(text):
        text = without_markup(text)
    if text == message.text:
        return message
    plain = parse_layout(message.id, text, message.file, message.offset)
    return replace(plain, fields={**message.fields, **plain.fields})


def is_foreign(text: str) -> bool:
    """Return whether a text is in another language that is known."""
    plain = without_markup(text) if is_html(text) else text
    return other_language(plain) not in ("", UNKNOWN)


def text_notes(text: str, *, force: bool = False) -> Iterator[str]:
    """Yield what a user should know of a text that is not plain English prose."""
    plain = without_markup(text) if (marked := is_html(text)) else text
    if marked:
        yield "the text is HTML: tags, scripts and comments were skipped"
    if controls := len(CONTROL.findall(text)):
        noun = "character was" if controls == 1 else "characters were"
        yield f"{controls:,} control {noun} read as spaces"
    if not any(map(str.isalpha, plain)):
        yield "the text has no words (expected English)"
    elif language := other_language(plain):
        guess = f": probably {language}" if language != UNKNOWN else ""
        unread = not force and language != UNKNOWN
        result = "set aside (--force reads it)" if unread else "the results are not reliable"
        yield f"the text does not seem to be English{guess}; {result}"
