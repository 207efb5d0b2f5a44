"""Noun groups and verb groups derived from dependency trees, and the score of groups found.

A group is a span of words; F is over spans that are equal. Trees are in Universal Dependencies.

A noun group runs from determiner to head:
- heads are NOUN, PROPN and PRON, and DET that is no determiner ("all of them"); not possessive
  pronouns, which are determiners of their group;
- to its left, the subtrees of its det, amod, compound, nummod, nmod:desc and flat dependents, and
  possessive pronouns; what stands between the first of them and the head belongs to the group;
- a possessive clitic belongs to no group, and a group begins behind the last one before its
  head: [the division] 's [old depot];
- to its right, flat and compound dependents, as in names: [Matthew William Goode];
- numerals beside a month belong to its group, whichever is the head: [3 April 1978];
- punctuation and coordinators do not begin a group. A head inside the group of another (a
  compound noun) has none of its own, and of two that overlap, as branches of the tree cross,
  the first is taken.

A verb group runs from the first auxiliary to the verb: the head is a VERB or AUX outside of noun
groups; to its left the unbroken run of auxiliaries, "to" and adverbs of the same head, without
adverbs before the first auxiliary; to its right a particle that follows at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from partita.evaluation.scores import ScoreTally

Span = tuple[int, int]

NOMINAL = ("NOUN", "PROPN", "PRON")
INSIDE = ("det", "amod", "compound", "nummod", "flat")
MONTH = re.compile(
    r"january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?",
    re.IGNORECASE,
)


class Node(Protocol):
    """A word of a tree; `head` is a position among the words, −1 above the root."""

    @property
    def form(self) -> str: ...
    @property
    def upos(self) -> str: ...
    @property
    def head(self) -> int: ...
    @property
    def relation(self) -> str: ...


def score(wanted: Iterable[Span], found: Iterable[Span]) -> ScoreTally:
    """Groups found against those wanted, by equal spans."""
    wanted, found = set(wanted), set(found)
    right = len(wanted & found)
    return ScoreTally(right, len(wanted), right, len(found))


def noun_groups(words: Sequence[Node]) -> list[Span]:
    """The noun groups of a sentence, in order, as (first, after the last)."""
    firsts, lasts = _edges(words)
    spans: list[tuple[int, Span]] = []
    for place in range(len(words)):
        if _heads(words, place):
            spans.append((place, _group(words, place, firsts, lasts)))
    kept = [span for head, span in spans if not _covered(head, span, spans)]
    return _apart(_with_dates(words, kept))


def _apart(spans: Iterable[Span]) -> list[Span]:
    """Where branches of a tree cross, the group that begins first."""
    apart: list[Span] = []
    for span in sorted(set(spans)):
        if not apart or span[0] >= apart[-1][1]:
            apart.append(span)
    return apart


def _heads(words: Sequence[Node], place: int) -> bool:
    word = words[place]
    kind = word.relation.partition(":")[0]
    if word.upos == "DET":
        return kind not in ("det", "reparandum", "advmod", "fixed")
    return word.upos in NOMINAL and not _possessive(words, place)


def _possessive(words: Sequence[Node], place: int) -> bool:
    """A pronoun like "his", which has no clitic."""
    word = words[place]
    clitic = any(w.head == place and w.relation == "case" for w in words[place + 1 : place + 2])
    return word.relation == "nmod:poss" and word.upos in ("PRON", "DET") and not clitic


def _edges(words: Sequence[Node]) -> tuple[list[int], list[int]]:
    """The first and the last word of each word's subtree, leaving out what cannot begin one."""
    firsts, lasts = list(range(len(words))), list(range(len(words)))
    for place, word in enumerate(words):
        left = word.upos not in ("PUNCT", "CCONJ", "ADP", "INTJ")
        above = word.head
        for _ in words:  # a tree is no deeper than it has words
            if above < 0:
                break
            if left:
                firsts[above] = min(firsts[above], place)
            lasts[above] = max(lasts[above], place)
            above = words[above].head
    return firsts, lasts


def _group(words: Sequence[Node], head: int, firsts: Sequence[int], lasts: Sequence[int]) -> Span:
    start, end = head, head + 1
    for place, word in enumerate(words):
        if word.head != head:
            continue
        if place < head and _begins(words, place):
            start = min(start, firsts[place])
        elif place >= end and _named(word) and _joined(words, end, place):
            end = max(end, lasts[place] + 1)
    clitics = [n for n in range(start, head) if _clitic(words, n)]
    return (clitics[-1] + 1 if clitics else start), end


def _begins(words: Sequence[Node], place: int) -> bool:
    relation = words[place].relation
    inside = relation.partition(":")[0] in INSIDE or relation == "nmod:desc"
    return inside or _possessive(words, place)


def _named(word: Node) -> bool:
    return word.relation.partition(":")[0] in ("flat", "compound") and word.upos != "ADP"


def _joined(words: Sequence[Node], end: int, place: int) -> bool:
    """Nothing stands between but what belongs to the same name, or a hyphen."""
    return all(words[n].upos == "PUNCT" or words[n].head >= end - 1 for n in range(end, place))


def _clitic(words: Sequence[Node], place: int) -> bool:
    word = words[place]
    return word.upos == "PART" and word.relation == "case" and word.head < place


def _covered(head: int, span: Span, spans: Iterable[tuple[int, Span]]) -> bool:
    """Whether another group holds this head; of two equal ones the first stays."""
    for other, (first, end) in spans:
        same = (first, end) == span
        if other != head and first <= head < end and (not same or other < head):
            return True
    return False


def _with_dates(words: Sequence[Node], spans: Iterable[Span]) -> list[Span]:
    """Groups of a month with the numerals beside it that the tree joins to it."""
    grown = []
    for start, end in spans:
        if MONTH.fullmatch(words[end - 1].form) or MONTH.fullmatch(words[start].form):
            start, end = _dated(words, start, end)
        grown.append((start, end))
    return [
        span
        for span in grown
        if not any(o != span and o[0] <= span[0] and span[1] <= o[1] for o in grown)
    ]


def _dated(words: Sequence[Node], start: int, end: int) -> Span:
    if start and words[start - 1].upos in ("NUM", "ADJ") and _tied(words, start - 1, start, end):
        start -= 1
    while end < len(words):
        comma = words[end].form == ","
        place = end + comma
        if place >= len(words) or words[place].upos not in ("NUM", "ADJ"):
            break
        if not words[place].form[:1].isdigit() or not _tied(words, place, start, end):
            break
        end = place + 1
    return start, end


def _tied(words: Sequence[Node], place: int, start: int, end: int) -> bool:
    """The numeral depends on the group, or the group on the numeral."""
    inside = range(start, end)
    return words[place].head in inside or any(words[n].head == place for n in inside)


def verb_groups(words: Sequence[Node]) -> list[Span]:
    """The verb groups of a sentence, in order, as (first, after the last)."""
    nominal = {n for start, end in noun_groups(words) for n in range(start, end)}
    groups: list[Span] = []
    taken: set[int] = set()
    for place in reversed(range(len(words))):
        if words[place].upos in ("VERB", "AUX") and not {place} & (nominal | taken):
            group = _run(words, place)
            taken.update(range(*group))
            groups.append(group)
    return groups[::-1]


def _run(words: Sequence[Node], place: int) -> Span:
    """The verb, the auxiliaries and adverbs before it, the particle behind it."""
    word = words[place]
    head = place if word.upos == "VERB" else word.head
    start = first = place
    while start and words[start - 1].head == head and _carries(words[start - 1]):
        start -= 1
        if words[start].upos != "ADV":
            first = start
    end = place + 1
    if end < len(words) and words[end].relation == "compound:prt" and words[end].head == place:
        end += 1
    return first, end


def _carries(word: Node) -> bool:
    relation = word.relation.partition(":")[0]
    if word.upos == "PART":
        return relation in ("mark", "advmod")
    return (word.upos == "AUX" and relation in ("aux", "cop")) or (
        word.upos == "ADV" and relation == "advmod"
    )
