"""What fails is raised, or reported while the others are done."""

from __future__ import annotations

from pathlib import Path

import pytest

import partita
from partita.errors import InputError

TEXT = "Anna met Tom. She smiled."


def test_a_message_that_fails_is_raised() -> None:
    with pytest.raises(InputError, match="the text is empty"):
        partita.run([TEXT, " "])
    assert partita.run([TEXT, TEXT]).failures == ()
    with pytest.raises(InputError, match=r"errors is 'ignore' \(expected raise or report\)"):
        partita.run([TEXT], errors="ignore")


def test_a_message_that_fails_is_reported() -> None:
    with pytest.warns(UserWarning, match=r"1 message failed; see failures. The first: message-2: "):
        found = partita.run([TEXT, " ", TEXT], errors="report")
    assert [one.message.id for one in found] == ["message-1", "message-3"]
    (failure,) = found.failures
    assert failure.name == "message-2"
    assert isinstance(failure.error, InputError)


def test_files_that_cannot_be_read_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "b.txt").write_bytes(b"\0\0")
    (tmp_path / "c.txt").write_text(TEXT, encoding="utf-8")
    with pytest.raises(InputError, match=r"b\.txt"):
        partita.run(tmp_path)
    with pytest.warns(UserWarning, match="1 message failed"):
        found = partita.run(tmp_path, errors="report")
    assert isinstance(found, list)
    assert [one.message.id for one in found] == ["a", "c"]
    assert "b.txt" in str(found.failures[0].error)
    with pytest.warns(UserWarning, match="1 message failed"):
        alone = partita.run(tmp_path / "b.txt", errors="report")
    assert alone == []


def test_mentions_that_do_not_fit_are_reported() -> None:
    mentions = [
        {"document": f"message-{n}", "start": 0, "end": end} for n, end in ((1, 4), (2, 99))
    ]
    with pytest.warns(UserWarning, match="1 message failed"):
        found = partita.run([TEXT, TEXT], mentions=mentions, errors="report")
    assert [one.message.id for one in found] == ["message-1"]


SCORES = [("a", "b", 0.9), ("b", "a", 0.2), ("d", "e", 0.99)]


def test_a_set_that_fails_is_raised_or_reported() -> None:
    with pytest.raises(InputError, match=r"0.2, and 0.9 in row 1"):
        partita.cluster(SCORES)
    with pytest.warns(UserWarning, match="1 set failed"):
        found = partita.cluster(SCORES, errors="report")
    assert [one.record for one in found] == ["d", "e"]
    (failure,) = found.failures
    assert isinstance(failure.error, InputError)
