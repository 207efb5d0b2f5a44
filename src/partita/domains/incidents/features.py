"""Features of mentions, sentences and messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from partita.domains.incidents.mentions import Mention, coarse_sort
from partita.domains.incidents.stories import Item, Sentence, Story, sorts_of

_VERB_DISTANCE = 12  # phrases to either side in which a verb is looked for
_JOINING = frozenset({",", "and", "or", "along with", "as well as"})


def item_text(item: Item | None) -> str:
    """A neighbour in one word."""
    if item is None:
        return "."
    if item.kind == "word":
        return str(item.known["word"])
    if item.kind == "vg":
        return f"<{item.known.get('lemma')}"
    if item.kind == "ng":
        return f"[{item.known.get('lemma')}"
    return item.kind


def local_features(story: Story, mention: Mention) -> list[str]:
    """The features of a mention in its sentence."""
    sentence = story.sentences[mention.sentence]
    kind = coarse_sort(mention)
    found = [
        *_own_features(story, mention, kind),
        *_neighbour_features(sentence.items, mention.place, kind),
    ]
    first = _first_of_list(sentence.items, mention.place)
    if first != mention.place:
        found += [f"list {one}" for one in _neighbour_features(sentence.items, first, kind)]
    found += _clause_features(story, sentence.items[mention.place], sentence.items[first])
    if mention.inner:
        found += [f"inside {item_text(sentence.items[mention.place])}", f"inside {kind}"]
    return found


def _own_features(story: Story, mention: Mention, kind: str) -> Iterator[str]:
    known = mention.item.known
    yield f"head {mention.lemma}"
    yield f"last {mention.lemma.rsplit(' ', 1)[-1]}"
    yield f"kind {kind}"
    for sort in sorts_of(mention.item):
        yield f"sort {sort}"
    for modifier in known.get("mods", ()):
        yield f"mod {modifier}"
    yield f"form {known.get('form')} {kind}"
    yield f"det {known.get('det')} {kind}"
    yield f"number {_number(known.get('number'))} {kind}"
    if known.get("title"):
        yield f"title {str(known['title']).lower()}"
    if mention.end > mention.item.last:
        yield f"of {story.words[mention.end]} {kind}"


def _number(number: object) -> str:
    text = str(number)
    return text if text in ("None", "1", "PLURAL") else "many"


def _neighbour_features(items: Sequence[Item], place: int, kind: str) -> Iterator[str]:
    """The two phrases on either side, and the nearest verbs."""
    before, after = _item_at(items, place - 1), _item_at(items, place + 1)
    left, right = item_text(before), item_text(after)
    yield f"left {left}"
    yield f"right {right}"
    yield f"left {left} {kind}"
    yield f"right {right} {kind}"
    yield f"left2 {item_text(_item_at(items, place - 2))} {left}"
    yield f"right2 {right} {item_text(_item_at(items, place + 2))}"
    yield from _verb_features(items, place, kind)


def _item_at(items: Sequence[Item], place: int) -> Item | None:
    return items[place] if 0 <= place < len(items) else None


def _verb_features(items: Sequence[Item], place: int, kind: str) -> Iterator[str]:
    """The nearest verb to either side, with the preposition and whether something is between."""
    if (left := _nearest_verb(items, place, -1)) is not None:
        link = _link(items, place)
        near = "near" if place - left <= 2 else "far"
        verb = _verb_word(items[left])
        yield f"verb before {verb} {link}"
        yield f"verb before {verb} {near} {kind}"
        yield f"verb before {link} {near} {kind}"
    if (right := _nearest_verb(items, place, 1)) is not None:
        near = "near" if right - place <= 2 else "far"
        verb = _verb_word(items[right])
        yield f"verb behind {verb} {near}"
        yield f"verb behind {verb} {kind}"


def _nearest_verb(items: Sequence[Item], place: int, step: int) -> int | None:
    for n in range(1, _VERB_DISTANCE):
        at = place + step * n
        if not 0 <= at < len(items):
            return None
        if items[at].kind == "vg":
            return at
    return None


def _verb_word(item: Item) -> str:
    known = item.known
    return f"{known.get('lemma')} {known.get('voice')}{' not' if known.get('negated') else ''}"


def _link(items: Sequence[Item], place: int) -> str:
    """The preposition before a phrase, or what else stands there."""
    before = _item_at(items, place - 1)
    if before is None:
        return "."
    return str(before.known["word"]) if before.kind == "word" else before.kind


def _first_of_list(items: Sequence[Item], place: int) -> int:
    """Where a list or an apposition begins in which the phrase stands."""
    at = place
    while at >= 2 and _joining(items[at - 1]) and items[at - 2].kind == "ng" and place - at < 12:
        at -= 2
        if at >= 1 and _joining(items[at - 1]) and items[at].kind != "ng":
            at -= 1
    return at


def _joining(item: Item) -> bool:
    return item.kind == "word" and item.known["word"] in _JOINING


def _clause_features(story: Story, item: Item, first: Item) -> Iterator[str]:
    for role, incident, rule in story.said.get(item.first, ()):
        yield f"clause {role}"
        yield f"clause {role} {incident}"
        yield f"clause {rule}"
    if first.first != item.first:
        for role, incident, _ in story.said.get(first.first, ()):
            yield f"list clause {role}"
            yield f"list clause {role} {incident}"


def sentence_words(sentence: Sentence) -> list[str]:
    """The words of a sentence that tell what it is about: nouns and verbs by their lemmas."""
    found = []
    for item in sentence.items:
        known = item.known
        if item.kind in ("ng", "vg") and known.get("form") != "pronoun":
            found.append(str(known.get("lemma")))
            found += [str(one) for one in known.get("mods", ())]
        elif item.kind == "word" and str(known.get("tag", ""))[:1] in "JRV":
            found.append(str(known["word"]))
    return list(dict.fromkeys(found))


WordsBySentence = Sequence[Sequence[str]]


def words_by_sentence(story: Story) -> list[list[str]]:
    """The telling words of every sentence."""
    return [sentence_words(sentence) for sentence in story.sentences]


def mention_features(story: Story, mention: Mention, words: WordsBySentence) -> list[str]:
    kind = coarse_sort(mention)
    found = local_features(story, mention)
    found += [f"bag {word} {kind}" for word in words[mention.sentence]]
    found.append(f"at {min(mention.sentence, 5)} {kind}")
    return found


def sentence_features(story: Story, sentence: Sentence, words: WordsBySentence) -> list[str]:
    """Its words, its verbs with their voice, sorts, clauses, and the sentence before."""
    found = [f"word {word}" for word in words[sentence.number]]
    found += _sentence_verb_features(sentence)
    found += dict.fromkeys(
        f"sort {sort}" for item in sentence.items if item.kind == "ng" for sort in sorts_of(item)
    )
    for item in sentence.items:
        for role, incident, _ in story.said.get(item.first, ()):
            found += [f"clause {role} {incident}", f"clause {incident}"]
    if sentence.number:
        found += [f"before {word}" for word in words[sentence.number - 1]]
    found += [f"at {min(sentence.number, 6)}", "any"]
    return found


def _sentence_verb_features(sentence: Sentence) -> Iterator[str]:
    for item in sentence.items:
        known = item.known
        if item.kind == "vg":
            yield f"verb {known.get('lemma')} {known.get('voice')} {known.get('tag')}"
            if known.get("negated") or known.get("modal"):
                yield f"verb {known.get('lemma')} {known.get('negated')} {known.get('modal')}"
        elif item.kind == "when":
            yield "when"


def message_features(story: Story, words: WordsBySentence) -> list[str]:
    """All words, those of the first sentences once more, and what the header says."""
    found = {f"word {word}": None for bag in words for word in bag}
    found |= {f"early {word}": None for bag in words[:3] for word in bag}
    fields = story.message.fields
    found |= {
        f"{name} {fields[name]}": None for name in ("place", "source", "kind") if name in fields
    }
    found[f"length {min(len(words) // 5, 6)}"] = None
    return list(found)
