"""Features of mentions, sentences and messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from partita.text.words import shipped_words
from partita_incidents.mentions import Mention, coarse_type
from partita_incidents.stories import Item, Sentence, Story, types_of

_VERB_DISTANCE = 12  # phrases on either side that are searched for a verb
MAX_REPETITIONS = 8  # mentions of the same thing whose surroundings count
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
    kind = coarse_type(mention)
    features = [
        *_own_features(story, mention, kind),
        *_neighbour_features(sentence.items, mention.place, kind),
    ]
    first = first_of_list(sentence.items, mention.place)
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
    for entity_type in types_of(mention.item):
        yield f"sort {entity_type}"
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


def first_of_list(items: Sequence[Item], place: int) -> int:
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


def mention_features(
    story: Story, mentions: Sequence[Mention], words: WordsBySentence
) -> Iterator[list[str]]:
    """Yield the features of each mention: of its own, of its sentence, and of its repetitions."""
    repetitions: dict[str, list[int]] = {}
    keys = [repetition_key(mention) for mention in mentions]
    for n, key in enumerate(keys):
        repetitions.setdefault(key, []).append(n)
    contexts = [list(_context_features(story, mention)) for mention in mentions]
    for n, (mention, key) in enumerate(zip(mentions, keys, strict=True)):
        kind, others = coarse_type(mention), [m for m in repetitions[key] if m != n]
        features = local_features(story, mention)
        features += class_features(story, mention, kind)
        features += [f"bag {word} {kind}" for word in words[mention.sentence]]
        features.append(f"at {min(mention.sentence, 5)} {kind}")
        features.append(f"count {min(len(others), 4)} {kind}")
        features.append(f"again {bool(others) and others[0] < n} {kind}")
        features += dict.fromkeys(name for m in others[:MAX_REPETITIONS] for name in contexts[m])
        yield features


def repetition_key(mention: Mention) -> str:
    """Return what mentions of the same thing have in common: the last name, or the lemma."""
    attributes = mention.item.attributes
    if attributes.get("form") == "name":
        name = str(attributes.get("name") or attributes.get("text", "")).upper()
        return name.rsplit(" ", 1)[-1]
    return mention.lemma.upper()


def _context_features(story: Story, mention: Mention) -> Iterator[str]:
    """Yield features of a mention's surroundings for the other mentions of the same thing."""
    items, place = story.sentences[mention.sentence].items, mention.place
    yield f"other left {item_text(_item_at(items, place - 1))}"
    yield f"other right {item_text(_item_at(items, place + 1))}"
    if (left := _nearest_verb(items, place, -1)) is not None:
        yield f"other before {items[left].attributes.get('lemma')} {_link(items, place)}"
    if (right := _nearest_verb(items, place, 1)) is not None:
        yield f"other behind {_verb_word(items[right])}"
    for role, _, _ in story.clauses.get(items[place].first, ()):
        yield f"other clause {role}"


def class_features(story: Story, mention: Mention, kind: str) -> Iterator[str]:
    """Yield features of the classes of the head and of the verbs around a mention."""
    items = story.sentences[mention.sentence].items
    yield f"cluster {word_cluster(mention.lemma)}"
    for name in noun_classes(mention.lemma):
        yield f"class {name}"
    yield f"head {mention.lemma} {_link(items, mention.place)}"
    first = first_of_list(items, mention.place)
    yield from _verb_class_features(items, mention.place, kind, "")
    if first != mention.place:
        yield from _verb_class_features(items, first, kind, "list ")


def _verb_class_features(items: Sequence[Item], place: int, kind: str, tag: str) -> Iterator[str]:
    left, right = _nearest_verb(items, place, -1), _nearest_verb(items, place, 1)
    link = _link(items, place)
    if left is not None:
        verb = items[left]
        yield f"{tag}left {word_cluster(str(verb.attributes.get('lemma')))} {link} {kind}"
        yield f"{tag}left {_verb_word(verb)} {link} {kind}"
    if right is not None:
        verb, near = items[right], right - place <= 2
        get = verb.attributes.get
        yield f"{tag}right {word_cluster(str(get('lemma')))} {get('voice')} {kind}"
        yield f"{tag}right {_verb_word(verb)} {near} {kind}"
    if left is not None and right is not None:
        yield f"{tag}between {_verb_word(items[left])} {_verb_word(items[right])}"


@lru_cache(maxsize=1 << 14)
def word_cluster(lemma: str) -> str:
    """Return the cluster of the last word of a lemma in the shipped table, "?" if unknown."""
    row = shipped_words().find(lemma.rsplit(" ", 1)[-1]) if lemma else -1
    return str(shipped_words().clusters[row]) if row >= 0 else "?"


@lru_cache(maxsize=1 << 14)
def noun_classes(lemma: str) -> tuple[str, ...]:
    """Return the commonest classes of the last word of a lemma: person, act, location."""
    return shipped_words().noun_classes(lemma.rsplit(" ", 1)[-1])[:2] if lemma else ()


def sentence_features(story: Story, sentence: Sentence, words: WordsBySentence) -> list[str]:
    """Return features of words, verbs, types and clauses, and of the previous sentence."""
    features = [f"word {word}" for word in words[sentence.number]]
    features += _sentence_verb_features(sentence)
    features += dict.fromkeys(
        f"sort {entity_type}"
        for item in sentence.items
        if item.kind == "ng"
        for entity_type in types_of(item)
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
