"""Choose the date and the place of an incident."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from partita.domains.incidents.cases import MessageContext
from partita.domains.incidents.features import item_text
from partita.domains.incidents.models import Classifier
from partita.domains.incidents.places import Place, format_place
from partita.domains.incidents.readings import Draft
from partita.domains.incidents.stories import Item

MAX_CHAIN_GAP = 5  # words between two places of one chain


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible fill and its features."""

    fill: str
    features: tuple[str, ...]


def best_fill(candidates: list[Candidate], model: Classifier) -> tuple[str, float]:
    """Return the most probable fill, the first of equal ones, and its probability."""
    chances = [model.probability("yes", candidate.features) for candidate in candidates]
    if not chances:
        return "", 0.0
    highest = max(chances)
    return candidates[chances.index(highest)].fill, highest


def day_candidates(context: MessageContext, draft: Draft) -> list[Candidate]:
    """Return the days of the draft's sentences and of those nearby, and the dateline's."""
    candidates: list[Candidate] = []
    mentioned = sum(len(context.days[n]) for n in draft.sentences)
    for n, near in _nearby_sentences(context, draft):
        for place, phrase in enumerate(context.days[n]):
            items = context.story.sentences[n].items
            before = item_text(items[phrase.place - 1]) if phrase.place else "."
            verb = _verb(items, phrase.place)
            features = (
                "day",
                f"kind {phrase.kind}",
                f"near {near}",
                f"kind {phrase.kind} near {near}",
                f"order {min(len(candidates), 3)} {near}",
                f"within {min(place, 2)}",
                f"after {before}",
                f"verb {verb}",
                f"verb {verb} {phrase.kind}",
                f"preposition {items[phrase.place].attributes.get('preposition')}",
                f"first sentence {n == 0} {phrase.kind}",
                f"told {min(mentioned, 3)} {phrase.kind}",
            )
            candidates.append(Candidate(phrase.fill, features))
    if context.default_day:
        kinds = dict.fromkeys(phrase.kind for n in draft.sentences for phrase in context.days[n])
        default = ("default", f"default told {min(mentioned, 3)}", *(f"default {k}" for k in kinds))
        candidates.append(Candidate(context.default_day, default))
    return candidates


def _verb(items: Sequence[Item], place: int) -> str:
    """Return the nearest verb, preferring the one before: "said **today**"."""
    for offset in (1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6):
        index = place - offset
        if 0 <= index < len(items) and items[index].kind == "vg":
            return f"{items[index].attributes.get('lemma')} {'before' if offset > 0 else 'behind'}"
    return ""


def _nearby_sentences(context: MessageContext, draft: Draft) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a draft, those just before them, and the first three."""
    own = draft.sentences
    for place, n in enumerate(own):
        yield n, f"own {min(place, 2)}"
    beside = [n - 1 for n in own if n and n - 1 not in own]
    for n in beside:
        yield n, "before"
    for n in range(min(3, len(context.days))):
        if n not in own and n not in beside:
            yield n, "early"


def place_candidates(context: MessageContext, draft: Draft) -> list[Candidate]:
    """Return chains of places in the draft's sentences, single places, and countries."""
    candidates: list[Candidate] = []
    mentioned = sum(bool(place.kind) for n in draft.sentences for place in context.places[n])
    for n, near in _nearby_sentences(context, draft):
        for chain in _chains(context, n):
            candidates.append(_place_candidate(context, chain, near, len(candidates), mentioned))
    mentioned_feature = f"told {min(mentioned, 2)}"
    if not context.country:
        return candidates
    country = Place(0, 0, 0, context.country, context.country)
    candidates.append(Candidate(context.country, ("country", f"country {mentioned_feature}")))
    return [*candidates, *_dateline_candidates(context, country, mentioned_feature)]


def _place_candidate(
    context: MessageContext, chain: tuple[Place, ...], near: str, order: int, mentioned: int
) -> Candidate:
    first, last = min(chain, key=lambda each: each.first), chain[-1]
    before = context.story.words[first.first - 1] if first.first else "."
    features = (
        f"chain {len(chain)} {near}",
        f"near {near}",
        f"order {min(order, 4)}",
        f"kinds {' '.join(place.kind for place in chain)}",
        f"kind {last.kind} {last.listed}",
        f"before {before}",
        f"before {before} {near}",
        f"home {chain[0].country == context.country}",
        f"country only {last.kind == ''} told {min(mentioned, 2)}",
        f"same as dateline {last.name == context.story.message.fields.get('place', '').upper()}",
    )
    return Candidate(format_place(chain), features)


def _chains(context: MessageContext, n: int) -> Iterator[tuple[Place, ...]]:
    """Yield places that stand close together, from largest to smallest, then each alone."""
    run: list[Place] = []
    in_sentence = list(context.places[n])
    for place in [*in_sentence, None]:
        if place is not None and (not run or _joins(run, place)):
            run.append(place)
            continue
        if chain := _chain(run):
            yield chain
        run = [place] if place is not None else []
    for place in in_sentence:
        yield (place,)


def _joins(run: list[Place], place: Place) -> bool:
    return place.country == run[0].country and place.first - run[-1].last <= MAX_CHAIN_GAP


def _chain(run: list[Place]) -> tuple[Place, ...]:
    """Return one place of each level, or nothing if there is only one."""
    levels = {place.level: place for place in sorted(run, key=lambda p: p.level) if place.kind}
    chain = tuple(levels[level] for level in sorted(levels))
    return chain if len(chain) > 1 else ()


def _dateline_candidates(
    context: MessageContext, country: Place, mentioned_feature: str
) -> Iterator[Candidate]:
    """Yield the city from which the message was sent."""
    name = context.story.message.fields.get("place", "").upper().split(" (")[0]
    if name and name not in ("CLANDESTINE", "NO CITY", "UNKNOWN"):
        city = replace(country, name=name, kind="CITY")
        yield Candidate(format_place((city,)), ("dateline", f"dateline {mentioned_feature}"))
