"""Any text at all, from bytes to entities: no error but our own, and offsets in the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from partita.app.runner import Runner, Settings, usual_budget
from partita.errors import PartitaError
from partita.pipeline import Stages, resolve
from partita.text.messages import read_messages

WORDS = (
    "a the depot depots bridge tanks 3rd brigade two 12 km of in near Kinston rail ammunition was "
    "found by which and ( ) [ , . ; : - / 35N 078W it they Subj: | = ' \" U.S. \n \n\n \r\n \t"
)
PIECES = st.one_of(st.sampled_from(WORDS.split(" ")), st.text(max_size=6))
TEXTS = st.lists(PIECES, min_size=1, max_size=60).map(" ".join)


@pytest.fixture(scope="module")
def stages() -> Stages:
    return Runner(
        Settings("depots", "evidential", budget=usual_budget("evidential", work=100))
    ).stages


@given(text=TEXTS)
@settings(
    deadline=None,
    max_examples=80,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_text(text, stages, tmp_path):
    file = tmp_path / "message.txt"
    file.write_text(text, encoding="utf-8", newline="")
    check(file, stages)


@given(data=st.binary(max_size=200))
@settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_bytes(data, stages, tmp_path):
    file = tmp_path / "message.txt"
    file.write_bytes(data)
    check(file, stages)


def check(file: Path, stages: Stages) -> None:
    for message in read_messages(file):
        if isinstance(message, PartitaError):
            assert "message.txt" in str(message)
            continue
        end = len(message.text)
        assert all(0 <= one.start <= one.end <= end for one in message.regions)
        found = resolve(message, stages)
        for template in found.templates:
            assert 0 <= template.start < template.end <= end
            said = message.text[template.start : template.end]
            assert template.text == " ".join(said.split())
        for entity in found.entities:
            for values in entity.slots.values():
                assert sum(v.probability for v in values) == pytest.approx(1.0)
