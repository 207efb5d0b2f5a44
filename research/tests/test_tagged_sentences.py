"""Tagged sentences from CoNLL-U: syntactic words, genres, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita.errors import InputError
from partita.text.tagger_models import shipped_tagger
from research.tagger import read_tagged

TEXT = """# newdoc id = GUM_news_depot
# text = Don't go.
1-2 Don't _ _ _ _ _ _ _ _
1 Do do AUX VBP _ 3 aux _ _
2 n't not PART RB _ 3 advmod _ _
3 go go VERB VB _ 0 root _ SpaceAfter=No
3.1 away _ _ RB _ _ _ _ _
4 . . PUNCT . _ 3 punct _ _

# a comment alone

# newdoc id = GUM_fiction_moon
1 Moon moon NOUN NN _ 0 root _ _

1 Light light NOUN NN _ 0 root _ _
"""


def written(tmp_path: Path, text: str = TEXT) -> Path:
    lines = (line if line.startswith("#") else "\t".join(line.split()) for line in text.split("\n"))
    path = tmp_path / "one.conllu"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_words_are_the_syntactic_words(tmp_path: Path) -> None:
    first, *others = read_tagged(written(tmp_path))
    assert first.words == ("Do", "n't", "go", ".")
    assert first.tags == ("VBP", "RB", "VB", ".")
    assert [each.words for each in others] == [("Moon",), ("Light",)]


def test_a_folder_is_all_its_files(tmp_path: Path) -> None:
    written(tmp_path)
    assert len(list(read_tagged(tmp_path))) == 3


def test_our_own_sentences_have_tags_that_the_tagger_knows() -> None:
    found = list(read_tagged(Path(__file__).parents[1] / "telegraphic.conllu"))
    assert len(found) == 60
    assert {tag for each in found for tag in each.tags} <= set(shipped_tagger().tags)


def test_of_gum_only_the_genres_asked_for(tmp_path: Path) -> None:
    assert [each.words[0] for each in read_tagged(written(tmp_path), ("news",))] == ["Do"]
    other = written(tmp_path, TEXT.replace("GUM_", "weblog_"))
    assert len(list(read_tagged(other, ("news",)))) == 3


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("go go VERB VB", "go go VERB _", r"line 6: the word 'go' has no tag in column 5"),
        ("4 . .", "4 .", "line 8: has 9 columns"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        list(read_tagged(written(tmp_path, TEXT.replace(old, new))))


def test_files_that_are_not_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.conllu").write_bytes(b"1\t\xff\n")
    with pytest.raises(InputError, match="line 1: is not UTF-8"):
        list(read_tagged(tmp_path / "bad.conllu"))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_tagged(tmp_path / "none.conllu"))
