"""Features of mentions, sentences and messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from partita.domains.incidents.mentions import Mention, coarse_sort
from partita.domains.incidents.stories import Item, Sentence, Story, sorts_of

_VERB_DISTANCE = 12  # phrases on either side that are searched for a verb
_JOINING = frozenset({",", "and", "or", "along with", "as well as"})


def item_text(item: Item | None) -> str:
    """Return one word for a neighbouring phrase."""
    if item is None:
        return "."
    if item.kind == "word":
        return str(item.attributes["word"])
    if item.kind == "vg":
        return f"<{item.attributes.get('lemma')}"
    if item.kind == "ng":
        return f"[{item.attributes.get('lemma')}"
    return item.kind


def local_features(story: Story, mention: Mention) -> list[str]:
    """Return the features of a mention in its sentence."""
    sentence = story.sentences[mention.sentence]
    kind = coarse_sort(mention)
    features = [
        *_own_features(story, mention, kind),
        *_neighbour_features(sentence.items, mention.place, kind),
    ]
    first = _first_of_list(sentence.items, mention.place)
    if first != mention.place:
        features += [
            f"list {feature}" for feature in _neighbour_features(sentence.items, first, kind)
        ]
    features += _clause_features(story, sentence.items[mention.place], sentence.items[first])
    if mention.inner:
        features += [f"inside {item_text(sentence.items[mention.place])}", f"inside {kind}"]
    return features


def _own_features(story: Story, mention: Mention, kind: str) -> Iterator[str]:
    attributes = mention.item.attributes
    yield f"head {mention.lemma}"
    yield f"last {mention.lemma.rsplit(' ', 1)[-1]}"
    yield f"kind {kind}"
    for sort in sorts_of(mention.item):
        yield f"sort {sort}"
    for modifier in attributes.get("mods", ()):
        yield f"mod {modifier}"
    yield f"form {attributes.get('form')} {kind}"
    yield f"det {attributes.get('det')} {kind}"
    yield f"number {_number(attributes.get('number'))} {kind}"
    if attributes.get("title"):
        yield f"title {str(attributes['title']).lower()}"
    if mention.end > mention.item.last:
        yield f"of {story.words[mention.end]} {kind}"


def _number(number: object) -> str:
    text = str(number)
    return text if text in ("None", "1", "PLURAL") else "many"


def _neighbour_features(items: Sequence[Item], place: int, kind: str) -> Iterator[str]:
    """Yield features of the two phrases on either side and of the nearest verbs."""
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
    """Yield features of the nearest verb on either side: its distance and the preposition."""
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
    get = item.attributes.get
    return f"{get('lemma')} {get('voice')}{' not' if get('negated') else ''}"


def _link(items: Sequence[Item], place: int) -> str:
    """Return the preposition before a phrase, or the kind of the phrase before it."""
    before = _item_at(items, place - 1)
    if before is None:
        return "."
    return str(before.attributes["word"]) if before.kind == "word" else before.kind


def _first_of_list(items: Sequence[Item], place: int) -> int:
    """Return the index at which the list or apposition of a phrase begins."""
    at = place
    while at >= 2 and _joining(items[at - 1]) and items[at - 2].kind == "ng" and place - at < 12:
        at -= 2
        if at >= 1 and _joining(items[at - 1]) and items[at].kind != "ng":
            at -= 1
    return at


def _joining(item: Item) -> bool:
    return item.kind == "word" and item.attributes["word"] in _JOINING


def _clause_features(story: Story, item: Item, first: Item) -> Iterator[str]:
    for role, incident, rule in story.clauses.get(item.first, ()):
        yield f"clause {role}"
        yield f"clause {role} {incident}"
        yield f"clause {rule}"
    if first.first != item.first:
        for role, incident, _ in story.clauses.get(first.first, ()):
            yield f"list clause {role}"
            yield f"list clause {role} {incident}"


def sentence_words(sentence: Sentence) -> list[str]:
    """Return the content words of a sentence: nouns and verbs by their lemmas."""
    words = []
    for item in sentence.items:
        attributes = item.attributes
        if item.kind in ("ng", "vg") and attributes.get("form") != "pronoun":
            words.append(str(attributes.get("lemma")))
            words += [str(modifier) for modifier in attributes.get("mods", ())]
        elif item.kind == "word" and str(attributes.get("tag", ""))[:1] in "JRV":
            words.append(str(attributes["word"]))
    return list(dict.fromkeys(words))


WordsBySentence = Sequence[Sequence[str]]


def words_by_sentence(story: Story) -> list[list[str]]:
    """Return the content words of every sentence."""
    return [sentence_words(sentence) for sentence in story.sentences]


def mention_features(story: Story, mention: Mention, words: WordsBySentence) -> list[str]:
    """Return the features of a mention with the words and the position of its sentence."""
    kind = coarse_sort(mention)
    features = local_features(story, mention)
    features += [f"bag {word} {kind}" for word in words[mention.sentence]]
    features.append(f"at {min(mention.sentence, 5)} {kind}")
    return features


def sentence_features(story: Story, sentence: Sentence, words: WordsBySentence) -> list[str]:
    """Return features of words, verbs, sorts and clauses, and of the previous sentence."""
    features = [f"word {word}" for word in words[sentence.number]]
    features += _sentence_verb_features(sentence)
    features += dict.fromkeys(
        f"sort {sort}" for item in sentence.items if item.kind == "ng" for sort in sorts_of(item)
    )
    for item in sentence.items:
        for role, incident, _ in story.clauses.get(item.first, ()):
            features += [f"clause {role} {incident}", f"clause {incident}"]
    if sentence.number:
        features += [f"before {word}" for word in words[sentence.number - 1]]
    features += [f"at {min(sentence.number, 6)}", "any"]
    return features


def _sentence_verb_features(sentence: Sentence) -> Iterator[str]:
    for item in sentence.items:
        get = item.attributes.get
        if item.kind == "vg":
            yield f"verb {get('lemma')} {get('voice')} {get('tag')}"
            if get("negated") or get("modal"):
                yield f"verb {get('lemma')} {get('negated')} {get('modal')}"
        elif item.kind == "when":
            yield "when"


def message_features(story: Story, words: WordsBySentence) -> list[str]:
    """Return features of all words, of the first sentences, and of the header."""
    features = {f"word {word}": None for sentence in words for word in sentence}
    features |= {f"early {word}": None for sentence in words[:3] for word in sentence}
    fields = story.message.fields
    features |= {
        f"{name} {fields[name]}": None for name in ("place", "source", "kind") if name in fields
    }
    features[f"length {min(len(words) // 5, 6)}"] = None
    return list(features)
