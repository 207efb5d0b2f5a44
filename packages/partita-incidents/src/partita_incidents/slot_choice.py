"""Choose the date and the place of an incident.

A linear model observes the words around each candidate; trees observe its odds beside those of the
others, and expect the points that the exam gives for the candidate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from partita.core import FloatArray
from partita_incidents.cases import MessageContext
from partita_incidents.exam_templates import days
from partita_incidents.features import item_text
from partita_incidents.models import BoostedTrees, Classifier, log_odds
from partita_incidents.places import Place, format_place
from partita_incidents.readings import Draft
from partita_incidents.stories import Item

MAX_CHAIN_GAP = 5  # words between two places of one chain


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible fill, its features, and numbers that the trees observe."""

    fill: str
    features: tuple[str, ...]
    numbers: tuple[float, ...]


def best_fill(
    candidates: Sequence[Candidate], words: Classifier, trees: BoostedTrees
) -> tuple[str, float]:
    """Return the fill with the most expected points, the first of equal ones, and these."""
    if not candidates:
        return "", 0.0
    points = trees.probabilities(candidate_numbers(candidates, words))
    highest = int(points.argmax())
    return candidates[highest].fill, float(points[highest])


def candidate_numbers(candidates: Sequence[Candidate], words: Classifier) -> FloatArray:
    """Return a row for each candidate: its odds by the linear model, its rivals, its numbers."""
    odds = [log_odds(words.probability("yes", candidate.features)) for candidate in candidates]
    fills = Counter(candidate.fill for candidate in candidates)
    rows = []
    for n, (candidate, own) in enumerate(zip(candidates, odds, strict=True)):
        within = sum(fill != candidate.fill and fill.startswith(candidate.fill) for fill in fills)
        rivals = (max(odds), float(sum(other > own for other in odds)), len(fills))
        rows.append((own, *rivals, n, fills[candidate.fill], within, *candidate.numbers))
    return np.array(rows, dtype=np.float64)


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
            numbers = _day_numbers(context, draft, phrase.fill, n)
            candidates.append(Candidate(phrase.fill, features, numbers))
    if context.default_day:
        kinds = dict.fromkeys(phrase.kind for n in draft.sentences for phrase in context.days[n])
        default = ("default", f"default told {min(mentioned, 3)}", *(f"default {k}" for k in kinds))
        numbers = _day_numbers(context, draft, context.default_day, draft.sentences[0])
        candidates.append(Candidate(context.default_day, default, numbers))
    return candidates


def _day_numbers(
    context: MessageContext, draft: Draft, fill: str, sentence: int
) -> tuple[float, ...]:
    """Return the age of a day, whether it is a range, and where it stands."""
    when, anchor = days(fill), context.anchor
    age = (anchor - when.last).days if when is not None and anchor is not None else -1
    return (
        float(min(age, 100)),
        float(when is not None and when.single),
        float(fill == context.default_day),
        float(min(abs(sentence - own) for own in draft.sentences)),
        float(draft.sentences[0]),
        float(sum(len(context.days[n]) for n in draft.sentences)),
    )


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
            candidates.append(
                _place_candidate(context, draft, chain, near, len(candidates), mentioned)
            )
    told = f"told {min(mentioned, 2)}"
    if context.country:
        country = Place(0, 0, 0, context.country, context.country)
        features = ("country", f"country {told}", f"land {context.country}")
        candidates.append(
            Candidate(context.country, features, _numbers(context, draft, (country,)))
        )
        candidates += _dateline_candidates(context, draft, country, told)
    return candidates


def _numbers(context: MessageContext, draft: Draft, chain: Sequence[Place]) -> tuple[float, ...]:
    """Return how often the message and the draft name a place and its country."""
    land, lowest = chain[0].country, chain[-1]
    own = [place for n in draft.sentences for place in context.places[n]]
    total = max(sum(context.countries.values()), 1)
    return (
        float(len(chain)),
        float(lowest.level),
        context.countries[land] / total,
        float(land == context.country),
        float(sum(place.name == lowest.name for found in context.places for place in found)),
        float(sum(place.name == lowest.name for place in own)),
        float(sum(place.country == land for place in own)),
        float(len(own)),
        float(draft.sentences[0]),
        float(len(draft.sentences)),
    )


def _place_candidate(
    context: MessageContext,
    draft: Draft,
    chain: tuple[Place, ...],
    near: str,
    order: int,
    mentioned: int,
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
        f"land {chain[0].country}",
    )
    return Candidate(format_place(chain), features, _numbers(context, draft, chain))


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
    context: MessageContext, draft: Draft, country: Place, told: str
) -> Iterator[Candidate]:
    """Yield the city from which the message was sent."""
    name = context.story.message.fields.get("place", "").upper().split(" (")[0]
    if name and name not in ("CLANDESTINE", "NO CITY", "UNKNOWN"):
        city = replace(country, name=name, kind="CITY")
        features = ("dateline", f"dateline {told}", f"land {country.country}")
        yield Candidate(format_place((city,)), features, _numbers(context, draft, (city,)))
