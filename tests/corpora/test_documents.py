"""Documents with keys from folders of messages, files of keys and CoNLL-U."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita.corpora.documents import corpus_path, read_corpora
from partita.domains import schema_of
from partita.errors import InputError


def test_a_folder_of_messages_with_keys_and_its_file_of_keys_hold_the_same() -> None:
    folder = corpus_path()
    whole = list(read_corpora([folder]))
    keys = {document.name: document for document in read_corpora([folder / "keys.jsonl"])}
    assert len(whole) == len(keys) == len(list(read_corpora([folder], "messages")))
    for document in whole:
        assert document.text
        assert document.key == keys[document.name].key
        assert document.templates == keys[document.name].templates


def test_a_corpus_in_the_folder_of_a_domain_is_of_that_domain(tmp_path: Path) -> None:
    named = schema_of("depots")
    assert named is not None
    for corpus in (corpus_path(), corpus_path() / "keys.jsonl"):
        found = schema_of(None, [corpus])
        assert found is not None
        assert list(found.slots) == list(named.slots)
    assert schema_of(None, [tmp_path]) is None
    assert schema_of(None) is None


def test_a_folder_without_keys_is_taken_for_conllu(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A depot.", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds no file \*\.conllu"):
        list(read_corpora([tmp_path]))
    with pytest.raises(InputError, match=r"keys\.jsonl"):
        list(read_corpora([tmp_path], "messages"))
