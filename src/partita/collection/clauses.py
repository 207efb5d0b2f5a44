"""Relations between the entities of a text: who did what to whom, by clause.

A clause has a verb with a subject and an object ("bought"), or one with a preposition ("met with");
of a passive with an agent, the agent is the source. What a cue denies, holds possible or only
reports is marked so. Kinds are shipped that a person found right in more than .85 of a sample
(research/relations.csv): ends, verb and status.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from partita.collection.documents import EntityRecord, Relation
from partita.text.assertions import PAST, scopes, strongest
from partita.text.tagger_models import shipped_tagger
from partita.text.tokens import BACKTICK, scan

BE = frozenset(("is", "are", "was", "were", "be", "been", "being", "am", "'s", "'re", "get", "got"))
HAVE = frozenset(("have", "has", "had", "having", "'ve", "'d"))
AUXILIARIES = BE | HAVE | {"do", "does", "did", "not", "n't", "also"}
# Verbs whose object is not what is done to: recipients, and things that are said to be something.
LIGHT = frozenset((
    "be", "call", "consider", "declare", "deem", "do", "dub", "find", "get", "give", "hand", "have",
    "keep", "let", "make", "name", "offer", "order", "put", "say", "see", "show", "take", "view",
))  # fmt: skip
GOES_ON = ("NN", "CD", "HY", "VBG", "PO")  # tags of a word behind what was cut off from a name
LONGEST = 12  # tokens between the two ends, beyond which clauses are misread
ENDS = frozenset(".!?")
SHIPPED = frozenset(("object", "agent"))  # right in .90 and .97 of 107 and 29; oblique in .85 of 71


def relations_in(
    document: str,
    text: str,
    records: Sequence[EntityRecord],
    templates: Sequence[Mapping[str, Any]],
    kinds: frozenset[str] = SHIPPED,
) -> Iterator[Relation]:
    """Yield the relations of a text between records, of these kinds of clauses."""
    home = {(one.start, one.end): record for record in records for one in record.mentions}
    by_verb: dict[tuple[int, int], dict[str, list[Mapping[str, Any]]]]
    by_verb = defaultdict(lambda: defaultdict(list))
    for one in templates:
        verb = one["context"].get("SYNTAX", (-1, -1))[1]
        if verb >= 0 and (one["start"], one["end"]) in home:
            by_verb[one["sentence"], verb][one["context"].get("ROLE") or ""].append(one)
    clauses = [one for one in by_verb.values()
               if one["subject"] and (one["object"] or one["oblique"])]  # fmt: skip
    if not clauses:
        return
    tokens = _Tokens(text)
    for clause in clauses:
        for subject, other in product(clause["subject"], [*clause["object"], *clause["oblique"]]):
            ends = [home[one["start"], one["end"]] for one in (subject, other)]
            is_time = "time" in (one.type for one in ends)
            if is_time or ends[0] is ends[1] or not any(one.names for one in ends):
                continue
            found = tokens.clause(subject, other)
            if found is None or found[0] not in kinds:
                continue
            kind, label, status = found
            source, target = ends if kind != "agent" else ends[::-1]
            place = min(subject["start"], other["start"]), max(subject["end"], other["end"])
            yield Relation(f"{document}:{place[0]}-{place[1]}", source.id, target.id, label,
                           document, 1.0, status, *place)  # fmt: skip


class _Tokens:
    """The tokens of a text, in which clauses are read; sentences are tagged when they are."""

    def __init__(self, text: str) -> None:
        self.words, self.starts, _ = scan(BACKTICK.sub("'", text), 0, len(text))

    def clause(
        self, subject: Mapping[str, Any], other: Mapping[str, Any]
    ) -> tuple[str, str, str] | None:
        """Return the kind, the label and the status of the clause of two mentions."""
        if "pronoun" in (subject["form"], other["form"]):
            return None
        head, governor = subject["context"]["SYNTAX"][:2]
        first = bisect_left(self.starts, subject["context"]["HEAD_SPAN"][0]) - head
        verb, begin = first + governor, bisect_left(self.starts, other["start"])
        near = [n for n in (verb, begin) if 0 <= n < len(self.words)]
        behind = bisect_left(self.starts, subject["end"])
        if first < 0 or len(near) < 2 or not behind <= verb < begin <= behind + LONGEST:
            return None
        last = next((n for n in range(begin, len(self.words)) if self.words[n] in ENDS),
                    len(self.words))  # fmt: skip
        words = [one.lower() for one in self.words[first:last]]
        tags = shipped_tagger().names(self.words[first:last], [last - first])
        verb, begin, behind = verb - first, begin - first, behind - first
        start = bisect_left(self.starts, subject["start"]) - first
        end = bisect_left(self.starts, other["end"]) - first
        before, between = range(behind, verb), range(verb + 1, begin)
        is_whole = not (start and tags[start - 1][:2] == "NN")
        is_whole &= not (end < len(tags) and tags[end].startswith(GOES_ON))
        is_near = all(words[n] in AUXILIARIES or tags[n] in ("MD", "RB") for n in before)
        is_near &= all(tags[n] in ("RB", "RP", "IN", "TO") for n in between)
        lemma = subject["context"]["GOVERNOR"]
        is_headline = not self.words[first + verb].islower()
        if tags[verb][:2] != "VB" or not is_whole or not is_near or is_headline or lemma in LIGHT:
            return None
        said = {words[n] for n in before}
        passive = tags[verb] == "VBN" and (not BE.isdisjoint(said) or HAVE.isdisjoint(said))
        if not between or tags[begin - 1] == "RB":
            kind, label = "object", lemma
        elif passive and words[begin - 1] == "by":
            kind, label = "agent", lemma
        else:
            kind = "oblique"
            more = (words[n] for n in between if tags[n] != "RB")
            label = " ".join((words[verb] if passive else lemma, *more))
        if kind == "object" and (passive or other["context"]["ROLE"] != "object"):
            return None
        scope = strongest(
            one for one in scopes(words, tags)
            if one.first <= verb < one.last and PAST.isdisjoint(words[slice(*one.cue)])
        )  # fmt: skip
        return kind, label, "asserted" if scope is None else scope.status
