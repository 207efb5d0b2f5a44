"""Files are replaced whole, or left as they were."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from partita.errors import InputError
from partita.files.writing import replacing
from partita.tables.writing import write_table


def listing(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def interrupted(path: Path, text: str, by: BaseException) -> None:
    with replacing(path) as stream:
        stream.write(text)
        raise by


def test_text_takes_the_place_at_the_end(tmp_path):
    path = tmp_path / "f"
    path.write_text("old")
    with replacing(path) as stream:
        stream.write("new\n")
        assert path.read_text() == "old"
    assert listing(tmp_path) == {"f": "new\n"}


def test_an_error_leaves_everything_as_it_was(tmp_path):
    path = tmp_path / "f"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError):
        interrupted(path, "half", ZeroDivisionError())
    assert listing(tmp_path) == {"f": "old"}


def test_an_interruption_keeps_what_was_finished(tmp_path):
    path = tmp_path / "f"
    with pytest.raises(KeyboardInterrupt):
        interrupted(path, "one\n", KeyboardInterrupt())
    assert listing(tmp_path) == {"f": "one\n"}


def test_a_place_that_cannot_be_written(tmp_path):
    with (
        pytest.raises(InputError, match="cannot be written: No such file"),
        replacing(tmp_path / "no" / "f"),
    ):
        pass


def test_links_are_followed_and_devices_are_not_replaced(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with replacing(tmp_path / "link") as stream:
        stream.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    with replacing(os.devnull) as stream:
        stream.write("gone")
    assert Path(os.devnull).is_char_device()


def test_errors_inside_keep_their_kind(tmp_path):
    with pytest.raises(BrokenPipeError), replacing(tmp_path / "f"):
        raise BrokenPipeError


def test_columns_are_written_as_rows(tmp_path):
    columns = {"id": ["a", "b"], "records": [["x", "y"], []]}
    for name, written in (
        ("t.csv", "id,records\na,x|y\nb,\n"),
        ("t.jsonl", '{"id": "a", "records": ["x", "y"]}\n{"id": "b", "records": []}\n'),
    ):
        write_table(tmp_path / name, columns)
        assert (tmp_path / name).read_text() == written
        with pytest.raises(ValueError, match="shorter"):
            write_table(tmp_path / name, {"id": ["a", "b"], "records": ["x"]})
        assert (tmp_path / name).read_text() == written
