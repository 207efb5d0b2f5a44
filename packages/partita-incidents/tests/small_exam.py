"""A small exam of our own: messages in upper case and the keys that answer them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

from partita.text.layout import parse_layout
from partita_incidents.answers import answer_reading
from partita_incidents.domain import domain
from partita_incidents.exam_files import format_templates
from partita_incidents.exam_templates import Fill, Incident
from partita_incidents.incident_models import IncidentModels
from partita_incidents.merging import Merge
from partita_incidents.readings import read_story
from partita_incidents.stories import Story, stories
from partita_incidents.training import train_models

VICTIMS = (("MAYOR", "MAYOR"), ("PEASANTS", "THREE PEASANTS"), ("PRIEST", "PRIEST"))
ACTORS = ("GUERRILLAS", "TERRORISTS", "ARMED MEN")
TARGETS = ("BANK", "BRIDGE", "EMBASSY")
PLACES = ("LIMA", "MEDELLIN")


def _attack(n: int, victim: str, words: str, actor: str, place: str) -> tuple[str, Incident]:
    text = (
        f"{place}, 9 JAN 90 -- [TEXT] {actor} KILLED THE {words} IN {place} YESTERDAY, "
        f"THE POLICE SAID. THE PRESIDENT WILL VISIT BRAZIL NEXT WEEK TO DISCUSS COFFEE PRICES."
    )
    land = "PERU" if place == "LIMA" else "COLOMBIA"
    fills = {
        2: "08 JAN 90",
        3: f"{land}: {place} (CITY)",
        4: "ATTACK",
        5: "ACCOMPLISHED",
        8: "TERRORIST ACT",
        9: actor,
        19: victim,
    }
    tagged = {20: "CIVILIAN", 21: "1", 23: "DEATH"}
    return text, _incident(n, fills, tagged, victim)


def _bombing(n: int, target: str, actor: str, place: str) -> tuple[str, Incident]:
    text = (
        f"{place}, 9 JAN 90 -- [TEXT] A BOMB EXPLODED AT THE {target} IN {place} TODAY. "
        f"THE {target} WAS DESTROYED BY THE EXPLOSION. {actor} PLANTED THE BOMB."
    )
    land = "PERU" if place == "LIMA" else "COLOMBIA"
    fills = {
        2: "09 JAN 90",
        3: f"{land}: {place} (CITY)",
        4: "BOMBING",
        5: "ACCOMPLISHED",
        6: "BOMB",
        8: "TERRORIST ACT",
        9: actor,
        12: target,
    }
    return text, _incident(n, fills, {13: "OTHER", 14: "1", 16: "DESTROYED"}, target)


def _both(n: int, target: str, actor: str, place: str) -> tuple[str, tuple[Incident, ...]]:
    """Two incidents in one message."""
    first, bombing = _bombing(n, target, actor, place)
    then, attack = _attack(n, "MAYOR", "MAYOR", "ARMED MEN", "MEDELLIN")
    more = then[then.index("[TEXT]") + 7 :].replace("ARMED MEN", "MEANWHILE, ARMED MEN")
    return f"{first} {more}", (bombing, replace(attack, number="2"))


def _incident(n: int, fills: dict[int, str], tagged: dict[int, str], tag: str) -> Incident:
    plain = {slot: (Fill((value,)),) for slot, value in fills.items()}
    said = {slot: (Fill((value,), (tag,)),) for slot, value in tagged.items()}
    return Incident(f"DEV-MUC3-{n:04d}", "1", plain | said)


def _messages() -> Iterator[tuple[str, tuple[Incident, ...]]]:
    n = 1
    for (victim, words), actor, place in product(VICTIMS, ACTORS, PLACES):
        text, incident = _attack(n, victim, words, actor, place)
        yield text, (incident,)
        n += 1
    for target, actor, place in product(TARGETS, ACTORS, PLACES):
        text, incident = _bombing(n, target, actor, place)
        yield text, (incident,)
        n += 1
    for target, actor, place in product(TARGETS, ACTORS, PLACES):
        yield _both(n, target, actor, place)
        n += 1
    for thing, place in product(("COFFEE", "TRADE", "THE CENSUS", "SOCCER"), PLACES):
        yield f"{place}, 9 JAN 90 -- [TEXT] THE MINISTER SPOKE ABOUT {thing} TODAY.", ()
        n += 1


@cache
def examples() -> tuple[tuple[Story, tuple[Incident, ...]], ...]:
    """Stories with their keys."""
    given = list(_messages())
    header = [f"DEV-MUC3-{n:04d} (OURS)\n\n   {text}\n" for n, (text, _) in enumerate(given, 1)]
    messages = [parse_layout(f"DEV-MUC3-{n:04d}", text) for n, text in enumerate(header, 1)]
    found = stories(messages, domain.extractor)
    return tuple((story, key) for story, (_, key) in zip(found, given, strict=True))


@cache
def experts() -> IncidentModels:
    """Models that have learned from the whole exam."""
    return train_models(examples(), lambda _: None, "an exam of our own")


def written(folder: Path, chosen: slice = slice(None)) -> Path:
    """A folder with the messages of the exam and their keys, as files."""
    folder.mkdir()
    some = examples()[chosen]
    texts = "\n".join(story.message.text for story, _ in some)
    (folder / "messages").write_text(texts, encoding="utf-8")
    key = format_templates((story.message.id, incidents) for story, incidents in some)
    (folder / "key").write_text("".join(key), encoding="utf-8")
    return folder


def answer_story(
    story: Story, models: IncidentModels, merge: Merge | None = None
) -> list[Incident]:
    """Return the incidents of a story."""
    return answer_reading(read_story(story, models.reading), models, merge)
