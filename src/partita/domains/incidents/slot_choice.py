"""Choose the date and the place of an incident."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from partita.domains.incidents.cases import MessageContext
from partita.domains.incidents.drafts import Draft
from partita.domains.incidents.features import item_text
from partita.domains.incidents.models import Classifier
from partita.domains.incidents.places import Place, format_place
from partita.domains.incidents.stories import Item

MAX_CHAIN_GAP = 5  # words between two places of one chain, at most


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fill and the features that speak for or against it."""

    fill: str
    features: tuple[str, ...]


def best_fill(found: list[Candidate], model: Classifier) -> str:
    """The likeliest; of equal ones the first."""
    return max(found, key=lambda one: model.chance("yes", one.features)).fill if found else ""


def day_candidates(case: MessageContext, draft: Draft) -> list[Candidate]:
    """The days that are told of in a draft's sentences or beside them, and the dateline's."""
    found: list[Candidate] = []
    told = sum(len(case.days[n]) for n in draft.sentences)
    for n, near in _nearby_sentences(case, draft):
        for place, when in enumerate(case.days[n]):
            items = case.story.sentences[n].items
            before = item_text(items[when.place - 1]) if when.place else "."
            verb = _verb(items, when.place)
            features = (
                "day",
                f"kind {when.kind}",
                f"near {near}",
                f"kind {when.kind} near {near}",
                f"order {min(len(found), 3)} {near}",
                f"within {min(place, 2)}",
                f"after {before}",
                f"verb {verb}",
                f"verb {verb} {when.kind}",
                f"preposition {items[when.place].known.get('preposition')}",
                f"first sentence {n == 0} {when.kind}",
                f"told {min(told, 3)} {when.kind}",
            )
            found.append(Candidate(when.fill, features))
    if case.default_day:
        kinds = dict.fromkeys(when.kind for n in draft.sentences for when in case.days[n])
        default = ("default", f"default told {min(told, 3)}", *(f"default {k}" for k in kinds))
        found.append(Candidate(case.default_day, default))
    return found


def _verb(items: Sequence[Item], place: int) -> str:
    """The nearest verb, the one before it first: "said **today**"."""
    for near in (1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6):
        at = place - near
        if 0 <= at < len(items) and items[at].kind == "vg":
            return f"{items[at].known.get('lemma')} {'before' if near > 0 else 'behind'}"
    return ""


def _nearby_sentences(case: MessageContext, draft: Draft) -> Iterator[tuple[int, str]]:
    """The sentences of a draft, those just before them, the rest up to the first three."""
    own = draft.sentences
    for place, n in enumerate(own):
        yield n, f"own {min(place, 2)}"
    beside = [n - 1 for n in own if n and n - 1 not in own]
    for n in beside:
        yield n, "before"
    for n in range(min(3, len(case.days))):
        if n not in own and n not in beside:
            yield n, "early"


def place_candidates(case: MessageContext, draft: Draft) -> list[Candidate]:
    """Chains of places in a draft's sentences, single ones, and countries alone."""
    found: list[Candidate] = []
    told = sum(bool(place.kind) for n in draft.sentences for place in case.places[n])
    for n, near in _nearby_sentences(case, draft):
        for chain in _chains(case, n):
            found.append(_place_candidate(case, chain, near, len(found), told))
    dateline = f"told {min(told, 2)}"
    land = Place(0, 0, 0, case.country, case.country)
    found.append(Candidate(case.country, ("country", f"country {dateline}")))
    return [*found, *_dateline_candidates(case, land, dateline)]


def _place_candidate(
    case: MessageContext, chain: tuple[Place, ...], near: str, order: int, told: int
) -> Candidate:
    first, last = min(chain, key=lambda p: p.first), chain[-1]
    before = case.story.words[first.first - 1] if first.first else "."
    features = (
        f"chain {len(chain)} {near}",
        f"near {near}",
        f"order {min(order, 4)}",
        f"kinds {' '.join(place.kind for place in chain)}",
        f"kind {last.kind} {last.listed}",
        f"before {before}",
        f"before {before} {near}",
        f"home {chain[0].country == case.country}",
        f"country only {last.kind == ''} told {min(told, 2)}",
        f"same as dateline {last.name == case.story.message.fields.get('place', '').upper()}",
    )
    return Candidate(format_place(chain), features)


def _chains(case: MessageContext, n: int) -> Iterator[tuple[Place, ...]]:
    """Places that stand close together, from the highest to the lowest, then each by itself."""
    run: list[Place] = []
    found = list(case.places[n])
    for place in [*found, None]:
        if place is not None and (not run or _joins(run, place)):
            run.append(place)
            continue
        if chain := _chain(run):
            yield chain
        run = [place] if place is not None else []
    for place in found:
        yield (place,)


def _joins(run: list[Place], place: Place) -> bool:
    return place.country == run[0].country and place.first - run[-1].last <= MAX_CHAIN_GAP


def _chain(run: list[Place]) -> tuple[Place, ...]:
    """One place of each level; none if there is but one."""
    levels = {place.level: place for place in sorted(run, key=lambda p: p.level) if place.kind}
    chain = tuple(levels[level] for level in sorted(levels))
    return chain if len(chain) > 1 else ()


def _dateline_candidates(case: MessageContext, land: Place, told: str) -> Iterator[Candidate]:
    """The city from which the message was sent."""
    name = case.story.message.fields.get("place", "").upper().split(" (")[0]
    if name and name not in ("CLANDESTINE", "NO CITY", "UNKNOWN"):
        city = replace(land, name=name, kind="CITY")
        yield Candidate(format_place((city,)), ("dateline", f"dateline {told}"))
