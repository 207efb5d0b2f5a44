"""The extractor: nothing of a message is lost without a word."""

from __future__ import annotations

import pytest

from partita.core import Message, Region
from partita.errors import InputError
from partita.rules.cascade import Analysis
from partita.rules.domain_files import read_domain
from partita.rules.extractor import Extractor
from partita.text.tagger_models import shipped_tagger

MESSAGE = Message("m", "A depot.", (Region("text", 0, 8),))


def test_a_phase_that_gives_up_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Extractor(read_domain("depots"), shipped_tagger())
    assert [template.text for template in made.templates(MESSAGE)] == ["A depot"]
    monkeypatch.setattr(made.cascade, "run", lambda *_: Analysis([], [], (), ("groups",)))
    with pytest.raises(InputError, match="message m: phase groups exceeds the work limit"):
        made.templates(MESSAGE)
    with pytest.raises(InputError, match="phase groups"):
        list(made.templates_of([MESSAGE]))


def test_a_message_without_tokens_has_no_templates() -> None:
    made = Extractor(read_domain("depots"), shipped_tagger())
    assert made.templates(Message("m", " \n", (Region("text", 0, 2),))) == ()
