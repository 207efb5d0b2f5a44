from __future__ import annotations

import os
from pathlib import Path

import pytest

from partita.core import Document
from partita.corpora.documents import read_corefud
from partita.errors import InputError

GUM = Path(os.environ.get("PARTITA_DATA", "../shared/data")) / "gum"
HEADER = "# global.Entity = eid-etype-head-other"


def written(tmp_path: Path, text: str, name: str = "one.conllu") -> Path:
    """A file from lines whose columns are separated by blanks."""
    lines = (line if line.startswith("#") else "\t".join(line.split()) for line in text.split("\n"))
    path = tmp_path / name
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def only(path: Path) -> Document:
    documents = list(read_corefud(path))
    assert len(documents) == 1
    return documents[0]


DEPOT = f"""# newdoc id = GUM_news_depot
{HEADER}
# newpar
# newpar_block = head (1 s)
# sent_id = 1
1 Depots depot NOUN NNS Number=Plur 0 root _ Entity=(e9-object-1)

# newpar_block = p (2 s)
# speaker = Ann
1 The the DET DT _ 3 det _ Entity=(e1-object-3-x
2 old old ADJ JJ _ 3 amod _ _
3 depot depot NOUN NN Number=Sing 6 nsubj _ _
4 of of ADP IN _ 5 case _ _
5 Kinston Kinston PROPN NNP Number=Sing 3 nmod _ Entity=(e2-place-1)e1)
6 harmed harm VERB VBD _ 0 root _ _
7-8 itself'll _ _ _ _ _ _ _ SpaceAfter=No
7 itself itself PRON PRP Gender=Neut|Number=Sing|Person=3|Reflex=Yes 6 obj _ Entity=(e1-object-1)
8 'll will AUX MD _ 6 aux _ _
8.1 it it PRON PRP _ _ _ 6:obj Entity=(e1-object-1)
9 . . PUNCT . _ 6 punct _ _

1 Two two NUM CD NumType=Card 2 nummod _ Entity=(e3-person-2
2 men man NOUN NNS Number=Plur 0 root _ Entity=e3)
3 are be AUX VBP _ 2 cop _ _
"""


def test_templates_have_span_type_head_form_and_region(tmp_path: Path) -> None:
    document = only(written(tmp_path, DEPOT))
    title, depot, place, itself, zero, men = document.templates
    assert (document.name, document.genre) == ("GUM_news_depot", "news")
    assert [t.id for t in document.templates] == ["m1", "m2", "m3", "m4", "m5", "m6"]
    assert (title.region, depot.region, men.region) == ("heading", "text", "text")
    assert (depot.text, depot.head, depot.type) == ("The old depot of Kinston", "depot", "object")
    assert (depot.form, place.form, itself.form, men.form) == (
        "definite",
        "name",
        "pronoun",
        "indefinite",
    )
    assert (title.number, depot.number, men.number) == ("plural", "singular", 2)
    assert depot.context["MODIFIERS"] == ["old"]
    assert depot.context["ROLE"] == "subject"
    assert depot.context["DETERMINER"] == "the"
    assert place.slots["NAME"] == "Kinston"
    assert place.context["PARENT"] == depot.id
    assert itself.context["GENDER"] == "neut"
    assert itself.context["REFLEXIVE"] == "yes"
    assert (zero.start, zero.text) == (zero.end, "")
    assert [t.context["PARAGRAPH"] for t in document.templates] == [0, 1, 1, 1, 1, 1]
    assert [t.sentence for t in document.templates] == [0, 1, 1, 1, 1, 2]
    assert all("NAME" not in t.slots for t in (title, depot, itself, men))


def test_the_key_holds_singletons_and_the_text_holds_every_template(tmp_path: Path) -> None:
    document = only(written(tmp_path, DEPOT))
    assert str(document.key) == "(m1) (m2 m4 m5) (m3) (m6)"
    assert document.text.startswith("Depots\n\nThe old depot of Kinston harmed itself'll. Two men")
    for template in document.templates:
        assert document.text[template.start : template.end] == template.text


def test_nothing_of_the_annotation_that_gives_the_answer_away_is_kept(tmp_path: Path) -> None:
    header = "# global.Entity = GRP-etype-infstat-salience-centering-minspan-link-identity"
    said = "# speaker = ANN\n# addressee = LEE"
    row = "1 it it PRON PRP _ 0 root _ Entity=(7-event-GIVEN-SALIENT-CENTRE-1-LINK-IDENTITY)"
    document = only(written(tmp_path, f"{header}\n{said}\n{row}\n"))
    for given in ("GIVEN", "SALIENT", "CENTRE", "LINK", "IDENTITY", "ANN", "LEE"):
        assert given not in repr(document.templates)


def test_nested_same_entity_and_discontinuous_mentions(tmp_path: Path) -> None:
    text = f"""{HEADER}
1 a a X X _ 0 root _ Entity=(e1-object-1(e1-object-1(e2[1/3]-person-2)
2 b b X X _ 1 dep _ Entity=e1)(e3-x)
3 c c X X _ 1 dep _ Entity=(e2[2/3]-person-2
4 d d X X _ 1 dep _ Entity=e2[2/3])e1)
5 e e X X _ 1 dep _ Entity=(e2[3/3])
"""
    document = only(written(tmp_path, text))
    assert [t.text for t in document.templates] == ["a c d e", "a b c d", "a b", "b"]
    assert str(document.key) == "(m1) (m2 m3) (m4)"
    assert document.templates[0].head == "c"
    assert document.templates[2].context["PARENT"] == "m2"


def test_fields_stand_in_the_order_of_the_header(tmp_path: Path) -> None:
    text = """# global.Entity = entity-GRP-infstat-MIN
1 New New PROPN NNP _ 0 root _ Entity=(place-4-new-1
2 York York PROPN NNP _ 1 flat _ Entity=place-4)
"""
    template = only(written(tmp_path, text)).templates[0]
    assert (template.type, template.slots["NAME"]) == ("place", "New York")


def test_several_documents_in_a_file_and_files_in_a_folder(tmp_path: Path) -> None:
    row = "1 x x NOUN NN _ 0 root _ Entity=(e1-object-1)"
    written(tmp_path, f"# newdoc id = a\n{HEADER}\n{row}\n\n# newdoc id = b\n{row}\n", "2.conllu")
    written(tmp_path, "1 x x NOUN NN _ 0 root _ _", "1.conllu")
    documents = list(read_corefud(tmp_path))
    assert [(d.name, len(d)) for d in documents] == [("1", 0), ("a", 1), ("b", 1)]
    assert len(documents[0].key) == 0


def test_apposition_copula_and_conjunct(tmp_path: Path) -> None:
    text = f"""{HEADER}
1 Obama Obama PROPN NNP Number=Sing 6 nsubj _ Entity=(e1-person-1)
2 , , PUNCT , _ 4 punct _ _
3 the the DET DT _ 4 det _ Entity=(e1-person-2
4 boss boss NOUN NN Number=Sing 1 appos _ Entity=e1)
5 is be AUX VBZ _ 6 cop _ _
6 friend friend NOUN NN Number=Sing 0 root _ Entity=(e4-person-1(e1-person-1)
7 and and CCONJ CC _ 8 cc _ _
8 foe foe NOUN NN Number=Sing 6 conj _ Entity=e4)
"""
    _, boss, both, friend = only(written(tmp_path, text)).templates
    assert boss.context["APPOSITION_OF"] == "m1"
    assert friend.context["COPULA_OF"] == both.context["COPULA_OF"] == "m1"
    assert (both.number, friend.number) == ("plural", "singular")


ROW = "1 x x NOUN NN _ 0 root _ "


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (f"{HEADER}\n{ROW}Entity=(e1-object\n", 2, "never closed"),
        (f"{HEADER}\n{ROW}Entity=e1)\n", 2, "closes what is not open"),
        (f"{HEADER}\n{ROW}Entity=(e1-object)x\n", 2, "not a run of brackets"),
        (f"{HEADER}\n{ROW}Entity=(e1[1/2]-object)\n", 2, "1 of its 2 parts"),
        (f"{HEADER}\n{ROW}Entity=(e1[2/2]-object)\n", 2, "follows no part 1"),
        (f"{HEADER}\n\n{ROW}_\n2 y y X X _ 1 dep _\n", 4, "9 columns"),
        (f"{ROW}Entity=(e1-object)\n", 1, "global.Entity"),
        (f"# global.Entity = eid-mood\n{ROW}_\n", 1, "unknown field 'mood'"),
        (f"# global.Entity = etype-head\n{ROW}_\n", 1, "without the entity's id"),
        (f"{ROW}_\n3 y y X X _ 1 dep _ _\n", 2, "id '3'"),
        (f"{ROW}_\n2-1 y _ _ _ _ _ _ _ _\n", 2, "id '2-1'"),
        (f"{ROW}_\n2-3 y _ _ _ _ _ _ _ _\n2 y y X X _ 1 dep _ _\n", 3, "words up to 3"),
        (f"{ROW}_\n2 y y X X _ 7 dep _ _\n", 2, "no such word"),
    ],
)
def test_what_is_malformed_is_named_with_file_and_line(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(InputError, match=r"one\.conllu") as caught:
        list(read_corefud(path))
    assert caught.value.line == line
    assert said in str(caught.value)


def test_a_missing_file_an_empty_folder_and_other_bytes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.conllu: cannot be read"):
        list(read_corefud(tmp_path / "none.conllu"))
    with pytest.raises(InputError, match="holds no file"):
        list(read_corefud(tmp_path))
    (tmp_path / "latin.conllu").write_bytes(b"# caf\xe9\n")
    with pytest.raises(InputError, match="line 1: is not UTF-8"):
        list(read_corefud(tmp_path))


@pytest.mark.corpus
@pytest.mark.skipif(not GUM.is_dir(), reason=f"{GUM} is missing")
def test_all_of_gum_dev() -> None:
    documents = list(read_corefud(GUM / "dev"))
    assert len(documents) == 30
    assert sum(map(len, documents)) == 7897
    for document in documents:
        starts = [t.start for t in document.templates]
        assert starts == sorted(starts)
        for template in document.templates:
            assert document.text[template.start : template.end] == template.text
