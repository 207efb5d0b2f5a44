"""Pronouns that may refer to a template: one of the same number stands a few sentences before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from partita.extraction.templates_drafts import Draft
from partita.extraction.templates_words import number_of

WINDOW = 3  # sentences, as the reference module looks back


def referring(drafts: Sequence[Draft], sentences: Sequence[int]) -> list[Draft]:
    """The drafts, in text order, without the pronouns that have nothing to refer to.

    A pronoun says nothing of what it refers to but its number, so it is compatible with every
    template: one that cannot refer to any would only tie sets together.
    """
    return [
        one
        for n, one in enumerate(drafts)
        if not one.pronoun or any(_agree(one, drafts[m]) for m in _before(n, sentences))
    ]


def _before(n: int, sentences: Sequence[int]) -> Iterator[int]:
    """Places back to the first that is too many sentences away."""
    for m in range(n - 1, -1, -1):
        if sentences[n] - sentences[m] > WINDOW:
            return
        yield m


def _agree(pronoun: Draft, other: Draft) -> bool:
    return not other.pronoun and _plural(pronoun) == _plural(other)


def _plural(draft: Draft) -> bool:
    return number_of(draft.phrase) not in ("singular", None)
