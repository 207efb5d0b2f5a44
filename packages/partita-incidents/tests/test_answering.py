"""From a small exam of our own to models and back to its answers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from partita.errors import InputError
from partita.text.layout import parse_layout
from partita_incidents.domain import domain
from partita_incidents.incident_models import (
    IncidentModels,
    models_text,
    parse_models,
    read_models,
    write_models,
)
from partita_incidents.score import score
from partita_incidents.stories import stories
from partita_incidents.training import train_models
from small_exam import answer_story, examples
from small_exam import experts as learned


@pytest.fixture(scope="module")
def experts() -> IncidentModels:
    return learned()


def test_what_was_learned_is_answered_in_messages_that_were_not_seen() -> None:
    """Every third message is left out: what it combines was seen in others only."""
    seen = [one for n, one in enumerate(examples()) if n % 3]
    unseen = examples()[::3]
    experts = train_models(seen, lambda _: None, "two thirds of an exam of our own")
    given = [incident for story, _ in unseen for incident in answer_story(story, experts)]
    key = [incident for _, some in unseen for incident in some]
    found = score([story.message.id for story, _ in unseen], given, key)
    assert found.all_templates.f() > 0.85
    assert found.slots["inc-date"].recall > 0.9
    assert found.slots["inc-loc"].recall > 0.9


def test_messages_without_incidents_get_none(experts: IncidentModels) -> None:
    quiet = [story for story, key in examples() if not key]
    assert quiet
    assert not any(answer_story(story, experts) for story in quiet)


def test_mixed_case_is_answered_as_upper_case(experts: IncidentModels) -> None:
    """Sentence case with capitals in names: the same incidents and fills."""
    for story, _ in examples()[::3]:
        text = _sentence_case(story.message.text)
        (mixed,) = stories([parse_layout(story.message.id, text)], domain.extractor)
        assert [one.fills for one in answer_story(mixed, experts)] == [
            one.fills for one in answer_story(story, experts)
        ]


def _sentence_case(text: str) -> str:
    """Return the body in lower case but for names and the starts of sentences."""
    header, body = text.split("[TEXT] ")
    lower = re.sub(r"(?:^|\. )[a-z]", lambda match: match[0].upper(), body.lower())
    names = r"\b(lima|medellin|brazil|peru|colombia)\b"
    return f"{header}[TEXT] {re.sub(names, lambda match: match[0].title(), lower)}"


def test_no_country_is_assumed(experts: IncidentModels) -> None:
    text = "DEV-MUC3-0001 (OURS)\n\n   9 JAN 90 -- [TEXT] GUERRILLAS KILLED THE MAYOR YESTERDAY.\n"
    (story,) = stories([parse_layout("DEV-MUC3-0001", text)], domain.extractor)
    assert answer_story(story, experts)
    assert all(not one.of(3) for one in answer_story(story, experts))


def test_the_same_lessons_give_the_same_bytes(experts: IncidentModels) -> None:
    again = train_models(examples(), lambda _: None, "an exam of our own")
    assert models_text(again) == models_text(experts)


def test_models_are_read_back_as_they_were_written(experts: IncidentModels, tmp_path: Path) -> None:
    path = tmp_path / "incidents.json"
    write_models(path, experts)
    read = read_models(path)
    assert models_text(read) == models_text(experts)
    for story, _ in examples()[::5]:
        mine, theirs = answer_story(story, experts), answer_story(story, read)
        assert [one.fills for one in mine] == [one.fills for one in theirs]


def test_models_with_values_of_another_kind_are_refused(experts: IncidentModels) -> None:
    for group, change in (
        ("screeners", {"draft_trees": {"borders": [], "base": 10**400}}),
        ("readers", {"stage": {"outcomes": [], "features": 7}}),
        ("judges", 7),
    ):
        models = json.loads(models_text(experts))
        models[group] = models[group] | change if isinstance(change, dict) else change
        with pytest.raises(InputError, match=r"m\.json: is not a file of incident models"):
            parse_models(json.dumps(models), "m.json")


@pytest.mark.parametrize("text", ["", "[]", '{"version": 9}', '{"version": 1}', "{", "[" * 10**5])
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"other\.json"):
        read_models(path)
