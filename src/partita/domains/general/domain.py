"""The domain `general`: every referring expression of an English text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from partita.antecedents.windows import Windows
from partita.configurations import MODELS
from partita.core import Message, Template
from partita.domains import Domain, content_hash
from partita.domains.general.details import quoted_speakers, with_details
from partita.templates.schema import Schema
from partita.templates.strings import StringsType
from partita.text.analysis import SHIPPED, shipped_analyser
from partita.text.expressions import PlacedSentence, expressions, templates
from partita.text.language import blank_markup, text_notes

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
        shipped = files("partita.parameters").joinpath(SHIPPED).read_bytes()
        return content_hash([*(path.read_bytes() for path in sorted(own)), shipped])

    def extract(self, message: Message) -> Sequence[Template]:
        return general_templates(self.sentences(message), message.text)

    def sentences(self, message: Message) -> Sequence[PlacedSentence]:
        return shipped_analyser().analyse(blank_markup(message))

    def placed_templates(
        self, sentences: Sequence[PlacedSentence], text: str
    ) -> Sequence[Template]:
        return general_templates(sentences, text)

    def notes(self, message: Message, templates: Sequence[Template]) -> Iterable[str]:
        return text_notes(message.text)


def general_templates(
    sentences: Sequence[PlacedSentence], text: str, rule: str = RULE
) -> tuple[Template, ...]:
    """Return the templates of all mentions, with the slots that the words around them fill."""
    found: list[Template] = []
    in_order = [expressions(sentence) for sentence in sentences]
    for some in in_order:
        found += with_details(some, list(templates(some, len(found) + 1, text, 0, rule)))
    said = quoted_speakers(text, in_order, found)
    return tuple(
        replace(one, context={**one.context, "SPEAKER": said[one.id]}) if one.id in said else one
        for one in found
    )


SCHEMA = Schema({name: StringsType() for name in SLOTS})
domain = GeneralDomain()
