"""Trees and mentions of a spaCy Doc; nothing here imports spaCy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from partita.text.annotations import Annotation, SpanMention
from partita.text.expressions import PlacedSentence, Span, Tree, Word

TYPES = {
    "PERSON": "person", "PER": "person", "NORP": "person", "ORG": "organization",
    "GPE": "place", "LOC": "place", "FAC": "place", "EVENT": "event", "DATE": "time",
    "TIME": "time", "PRODUCT": "object", "WORK_OF_ART": "object", "LAW": "abstract",
    "LANGUAGE": "abstract", "MONEY": "abstract", "QUANTITY": "abstract",
}  # fmt: skip
NUMBERS = {"CARDINAL", "ORDINAL", "PERCENT"}  # entities that refer to nothing on their own
RELATIVE = {"WDT", "WP", "WP$", "EX"}
# the labels of spaCy's English pipelines, and those of Universal Dependencies
LABELS = {
    "ROOT": "root", "dobj": "obj", "dative": "iobj", "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass", "auxpass": "aux:pass", "poss": "nmod:poss", "relcl": "acl:relcl",
    "npadvmod": "obl:npmod", "neg": "advmod", "prt": "compound:prt", "predet": "det:predet",
    "preconj": "cc:preconj", "quantmod": "advmod", "oprd": "xcomp", "acomp": "xcomp",
    "attr": "xcomp", "intj": "discourse", "meta": "dep", "prep": "obl", "agent": "obl",
    "pobj": "obl", "pcomp": "advcl",
}  # fmt: skip
ADPOSITIONS = ("prep", "agent", "dative")
PREDICATES = ("attr", "acomp")
VERBAL = ("VERB", "AUX", "ADJ", "ADV")


def is_doc(source: Any) -> bool:
    """Return whether an object is a Doc of spaCy."""
    kind = type(source)
    return kind.__name__ == "Doc" and kind.__module__.startswith("spacy.tokens")


def doc_annotation(doc: Any) -> Annotation | None:
    """Return the trees of a Doc and its noun chunks, entities and pronouns as mentions.

    A Doc without dependency parse and parts of speech gives None: its text is to be analysed. The
    labels of spaCy's English pipelines are converted to Universal Dependencies.
    """
    if not (doc.has_annotation("DEP") and doc.has_annotation("POS")):
        return None
    rows = [[token for token in sent if not token.is_space] for sent in doc.sents]
    sentences = tuple(_sentence(row, n) for n, row in enumerate(filter(None, rows)))
    return Annotation(sentences, tuple(_mentions(doc)))


def _sentence(tokens: Sequence[Any], index: int) -> PlacedSentence:
    heads, relations = _tree(tokens)
    words = [
        Word(
            token.text,
            token.lemma_ or token.text.lower(),
            token.pos_ or "X",
            str(token.morph) or "_",
            heads[n],
            relations[n],
            xpos=token.tag_,
        )
        for n, token in enumerate(tokens)
    ]
    spans = [_span_of(token) for token in tokens]
    return PlacedSentence(Tree(words), (), spans, index, 0, "text")


def _span_of(token: Any) -> Span:
    return token.idx, token.idx + len(token.text)


def _tree(tokens: Sequence[Any]) -> tuple[list[int], list[str]]:
    """Return heads among the tokens, -1 above the root, and relations in Universal Dependencies."""
    places = {token.i: n for n, token in enumerate(tokens)}
    heads = [_head(token, places) for token in tokens]
    relations = [token.dep_ or "dep" for token in tokens]
    tags = [token.pos_ for token in tokens]
    if not set(relations) & (LABELS.keys() - {"ROOT"}):
        return heads, [LABELS.get(label, label) for label in relations]
    _raise_objects(heads, relations, tags)
    _raise_predicates(heads, relations, [token.lemma_.lower() for token in tokens])
    _join_conjuncts(heads, relations)
    return heads, [LABELS.get(label, label) for label in relations]


def _head(token: Any, places: dict[int, int]) -> int:
    """Return the position of the head; white space in between is passed over."""
    head = token.head
    while head.is_space and head.head.i != head.i:
        head = head.head
    return places.get(head.i, -1) if head.i != token.i else -1


def _raise_objects(heads: list[int], relations: list[str], tags: Sequence[str]) -> None:
    """Make prepositions case markers of their objects, which depend on what they depended on."""
    for place, label in enumerate(relations):
        above = heads[place]
        if label not in ("pobj", "pcomp") or above < 0 or relations[above] not in ADPOSITIONS:
            continue
        outer = heads[above]
        verbal = outer >= 0 and tags[outer] in VERBAL
        if label == "pobj":
            relations[place] = "obl" if verbal else "nmod"
        else:
            relations[place] = "advcl" if verbal else "acl"
        heads[place], heads[above] = outer, place
        relations[above] = "case" if label == "pobj" else "mark"


def _raise_predicates(heads: list[int], relations: list[str], lemmas: Sequence[str]) -> None:
    """Make what follows a form of "be" the head of its clause."""
    for place, label in enumerate(relations):
        verb = heads[place]
        if label not in PREDICATES or verb < 0 or lemmas[verb] not in ("be", "'s", "is", "was"):
            continue
        heads[place], relations[place] = heads[verb], relations[verb]
        for other, head in enumerate(heads):
            if head == verb and other != place:
                heads[other] = place
        heads[verb], relations[verb] = place, "cop"


def _join_conjuncts(heads: list[int], relations: list[str]) -> None:
    """Let conjuncts depend on the first one, and conjunctions on the conjunct after them."""
    before = list(heads)
    for place, label in enumerate(relations):
        if label == "cc":
            behind = (
                n for n in range(place + 1, len(heads))
                if relations[n] == "conj" and before[n] == before[place]
            )  # fmt: skip
            heads[place] = next(behind, before[place])
        elif label == "conj":
            while heads[place] >= 0 and relations[heads[place]] == "conj":
                heads[place] = before[heads[place]]


def _mentions(doc: Any) -> Iterator[SpanMention]:
    """Yield the mentions in text order, one for each head, of which none cross."""
    types = {one.root.i: TYPES.get(one.label_, "") for one in doc.ents}
    by_head: dict[int, tuple[int, int]] = {}
    for start, end, root in _candidates(doc):
        known = by_head.get(root)
        if known is None or end - start > known[1] - known[0]:
            by_head[root] = (start, end)
    kept: list[tuple[int, int]] = []
    ordered = sorted(by_head.items(), key=lambda one: (one[1][0], -one[1][1]))
    for root, (start, end) in ordered:
        if (start, end) in kept or any(a < start < b < end for a, b in kept):
            continue
        kept.append((start, end))
        span = (doc[start].idx, _span_of(doc[end - 1])[1])
        yield SpanMention((span,), types.get(root, ""), _span_of(doc[root]))


def _candidates(doc: Any) -> Iterator[tuple[int, int, int]]:
    """Yield the first token, the one behind the last, and the head of possible mentions."""
    for chunk in _noun_chunks(doc):
        if chunk.root.tag_ not in RELATIVE:
            yield chunk.start, chunk.end, chunk.root.i
    for entity in doc.ents:
        start, end = _trimmed(doc, entity.start, entity.end)
        if entity.label_ not in NUMBERS and start < end:
            yield start, end, entity.root.i
    for token in doc:
        if token.pos_ == "PRON" and token.tag_ not in RELATIVE and _refers(token):
            yield token.i, token.i + 1, token.i
        elif token.dep_ in ("poss", "nmod:poss") and token.pos_ in ("NOUN", "PROPN"):
            yield token.left_edge.i, token.i + 1, token.i


def _refers(token: Any) -> bool:
    return token.dep_ != "expl" and not {"Rel", "Int"} & set(token.morph.get("PronType"))


def _noun_chunks(doc: Any) -> Iterable[Any]:
    try:
        return list(doc.noun_chunks)
    except NotImplementedError:  # a language without noun chunks
        return ()


def _trimmed(doc: Any, start: int, end: int) -> tuple[int, int]:
    """Return an entity without a possessive marker or white space at its end."""
    while end > start and (doc[end - 1].tag_ == "POS" or doc[end - 1].is_space):
        end -= 1
    return start, end
