"""Messages with keys: documents as they were written, and mistakes named with file and line."""

from __future__ import annotations

import pytest

from partita.cli.demo import MESSAGE
from partita.core import Configuration, Template
from partita.core.templates import Key
from partita.corpora.documents import corpus_path, read_keyed_messages
from partita.corpora.keys import write_keys
from partita.errors import InputError

TEXTS = {
    "A": "Kinston Military Rail Depot",
    "B": "A rail depot",
    "C": "the ammunition depot in\nFairview",
    "D": "the depot",
}


def template(name, **changes):
    start = MESSAGE.index(TEXTS[name])
    given = {"text": TEXTS[name], "start": start, "end": start + len(TEXTS[name])}
    return Template(name, **(given | changes))


def key(message="kinston", **changed):
    templates = tuple(changed.get(name, template(name)) for name in "DCBA")
    return Key(message, templates, Configuration(["ABD", "C"]), "ann", "1997-08-01")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kinston.txt").write_bytes(MESSAGE.encode())
    return tmp_path


def refused(folder, *keys):
    write_keys(folder / "keys.jsonl", keys)
    with pytest.raises(InputError) as caught:
        list(read_keyed_messages(folder))
    return caught.value


def test_a_message_with_its_key_is_a_document_in_text_order(folder):
    write_keys(folder / "keys.jsonl", [key()])
    (document,) = read_keyed_messages(folder)
    assert (document.name, document.genre, document.text) == ("kinston", "", MESSAGE)
    assert document.ids == ("A", "B", "C", "D")
    assert document.key == Configuration(["ABD", "C"])


def test_documents_come_in_the_order_of_their_names(folder):
    (folder / "aden.txt").write_bytes(MESSAGE.encode())
    write_keys(folder / "keys.jsonl", [key(), key("aden")])
    assert [document.name for document in read_keyed_messages(folder)] == ["aden", "kinston"]


def test_line_ends_stay_as_they_are(folder):
    text = MESSAGE.replace("\n", "\r\n")
    (folder / "kinston.txt").write_bytes(text.encode())
    start = text.index("A rail depot")
    one = Template("B", "A rail depot", start, start + 12)
    write_keys(
        folder / "keys.jsonl", [Key("kinston", (one,), Configuration(["B"]), "ann", "1997-08-01")]
    )
    assert [document.text for document in read_keyed_messages(folder)] == [text]


def test_messages_without_a_key_are_left_out(folder):
    (folder / "later.txt").write_text("The depot is gone.\n")
    write_keys(folder / "keys.jsonl", [key()])
    assert [document.name for document in read_keyed_messages(folder)] == ["kinston"]


def test_a_key_of_an_unknown_message_is_refused(folder):
    error = refused(folder, key(), key("aden"))
    assert (error.file, error.line) == (str(folder / "keys.jsonl"), 2)
    assert "no aden.txt" in error.problem


def test_a_second_key_of_a_message_is_refused(folder):
    error = refused(folder, key(), key())
    assert error.line == 2
    assert "already, line 1" in error.problem


@pytest.mark.parametrize(
    "changes",
    [{"end": len(MESSAGE) + 1}, {"start": 9, "end": 9}, {"start": len(MESSAGE), "end": 9999}],
)
def test_offsets_outside_the_text_are_refused(folder, changes):
    error = refused(folder, key(B=template("B", **changes)))
    assert error.line == 1
    assert f"ends at {len(MESSAGE)}" in error.problem


def test_a_text_that_differs_from_its_span_is_refused(folder):
    error = refused(folder, key(D=template("D", text="the depots")))
    assert "'the depots'" in error.problem
    assert "stands 'the depot'" in error.problem


def test_files_that_cannot_be_read_are_named(folder):
    with pytest.raises(InputError, match=r"keys\.jsonl: cannot be read"):
        list(read_keyed_messages(folder))
    (folder / "kinston.txt").write_bytes(b"Subj: depot\n\xff\xfe\n")
    error = refused(folder, key())
    assert (error.file, error.line) == (str(folder / "kinston.txt"), 2)
    (folder / "kinston.txt").unlink()
    assert "holds no message" in refused(folder, key()).problem


def test_the_shipped_corpus_is_there():
    assert (corpus_path() / "keys.jsonl").is_file()
