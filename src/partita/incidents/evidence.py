"""What the first models look at: mentions with their sentences, sentences, and whole messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from partita.incidents.features import observed, sentence_words
from partita.incidents.mentions import Mention, coarse
from partita.incidents.stories import Sentence, Story, sorts_of

Bags = Sequence[Sequence[str]]


def bags(story: Story) -> list[list[str]]:
    """The telling words of every sentence."""
    return [sentence_words(sentence) for sentence in story.sentences]


def of_mention(story: Story, mention: Mention, words: Bags) -> list[str]:
    kind = coarse(mention)
    found = observed(story, mention)
    found += [f"bag {word} {kind}" for word in words[mention.sentence]]
    found.append(f"at {min(mention.sentence, 5)} {kind}")
    return found


def of_sentence(story: Story, sentence: Sentence, words: Bags) -> list[str]:
    """Its words, its verbs with their voice, sorts, clauses, and the sentence before."""
    found = [f"word {word}" for word in words[sentence.number]]
    found += _verbs(sentence)
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


def _verbs(sentence: Sentence) -> Iterator[str]:
    for item in sentence.items:
        known = item.known
        if item.kind == "vg":
            yield f"verb {known.get('lemma')} {known.get('voice')} {known.get('tag')}"
            if known.get("negated") or known.get("modal"):
                yield f"verb {known.get('lemma')} {known.get('negated')} {known.get('modal')}"
        elif item.kind == "when":
            yield "when"


def of_message(story: Story, words: Bags) -> list[str]:
    """All words, those of the first sentences once more, and what the header says."""
    found = {f"word {word}": None for bag in words for word in bag}
    found |= {f"early {word}": None for bag in words[:3] for word in bag}
    fields = story.message.fields
    found |= {
        f"{name} {fields[name]}": None for name in ("place", "source", "kind") if name in fields
    }
    found[f"length {min(len(words) // 5, 6)}"] = None
    return list(found)
