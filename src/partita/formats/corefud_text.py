"""The text of a document rebuilt from its tokens, with the span of every word."""

from __future__ import annotations

from collections.abc import Iterator

from partita.formats.corefud_sentences import Sentence, Surface

Span = tuple[int, int]


def laid_out(sentence: Sentence, start: int) -> tuple[str, list[Span]]:
    """The sentence's text and the span of each of its words, counted from `start`.

    Words of a multiword token share its characters where they make it up, else all have its
    whole span; an empty node has an empty span after the word before it.
    """
    pieces: list[str] = []
    spans: list[Span] = [(start, start)] * len(sentence.words)
    here, known = start, 0
    for token in sentence.surface:
        for place in range(known, token.first):
            spans[place] = (here, here)
        spans[token.first : token.last + 1] = _shares(token, sentence, here)
        known = token.last + 1
        gap = " " if token.space else ""
        pieces += (token.form, gap)
        here += len(token.form) + len(gap)
    for place in range(known, len(spans)):
        spans[place] = (here, here)
    return "".join(pieces).rstrip(), spans


def _shares(token: Surface, sentence: Sentence, here: int) -> Iterator[Span]:
    """The span of each word of a token."""
    words = sentence.words[token.first : token.last + 1]
    forms = ["" if word.empty else word.form for word in words]
    made_up = len(words) > 1 and "".join(forms).lower() == token.form.lower()
    for form in forms:
        size = len(form) if made_up else len(token.form)
        yield here, here + size
        here += size if made_up else 0
