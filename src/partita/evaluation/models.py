"""What can be measured: models that learn from documents and answer with posteriors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from partita.evaluation.cuts import Cut
from partita.records import Configuration, Document, IntArray, Posterior


class Fitted(Protocol):
    """A model that has learned."""

    @property
    def whole(self) -> bool:
        """Whether it answers for all templates of a document at once, and excludes nothing."""

    def posterior(self, cut: Cut, members: IntArray) -> Posterior:
        """The distribution over the configurations of some templates of a document."""


class Model(Protocol):
    """A model that learns from documents with keys."""

    @property
    def name(self) -> str: ...

    def fit(self, cuts: Sequence[Cut]) -> Fitted: ...


class DocumentPosterior(Protocol):
    """Something learned that answers for documents: the joint model's shape."""

    def posterior(self, document: Document) -> Posterior: ...


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """A model of documents as one that can be measured; a set is a document of its members."""

    learned: DocumentPosterior
    whole: bool = True

    def posterior(self, cut: Cut, members: IntArray) -> Posterior:
        return self.learned.posterior(part(cut.document, members))


@dataclass(frozen=True, slots=True, eq=False)
class OfDocuments:
    """A model that learns from whole documents, or one that has learned and ignores them."""

    name: str
    learn: Callable[[Sequence[Document]], DocumentPosterior]

    def fit(self, cuts: Sequence[Cut]) -> Fitted:
        return Whole(self.learn([cut.document for cut in cuts]))


def part(document: Document, members: IntArray) -> Document:
    """The document as if it held these templates only."""
    if len(members) == len(document):
        return document
    templates = tuple(document.templates[n] for n in members.tolist())
    kept = {template.id for template in templates}
    key = Configuration([m for m in cell if m in kept] for cell in document.key)
    return replace(document, templates=templates, key=key)
