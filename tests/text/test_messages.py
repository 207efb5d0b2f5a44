from __future__ import annotations

import json
import os
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.core import Message, Region
from partita.errors import InputError, PartitaError
from partita.text.layout import parse_layout
from partita.text.messages import detect_form, read_messages, read_texts

MUC = Path(os.environ.get("PARTITA_DATA", "../shared/data")) / "muc4"
PAPER = """Subj: Kinston Military Rail Depot

A rail depot was found 100 km southwest of the capitol of
Raleigh, consisting of extensive admin and support areas.
"""
ENDS = ["\n", "\r\n", "\r", "\x85", "\u2028", "\x0c", "\x0b"]


def shown(text: str) -> list[tuple[str, str]]:
    return [
        (region.kind, text[region.start : region.end]) for region in parse_layout("m", text).regions
    ]


def cells(text: str) -> list[tuple[str, int, int, int, str, str]]:
    return [
        (r.kind, r.table, r.row, r.column, r.column_name, text[r.start : r.end])
        for r in parse_layout("m", text).regions
        if r.table >= 0
    ]


def grid(text: str) -> list[list[str]]:
    """The cells of the only table, row by row."""
    found: dict[int, dict[int, str]] = {}
    for _, table, row, column, _, cell in cells(text):
        assert table == 0
        found.setdefault(row, {})[column] = cell
    return [[row.get(n, "") for n in range(max(row) + 1)] for _, row in sorted(found.items())]


def messages(*paths: Path, **options: object) -> list[Message]:
    found = list(read_messages(list(paths), **options))  # type: ignore[arg-type]
    assert all(isinstance(one, Message) for one in found), found
    return found  # type: ignore[return-value]


def errors(*paths: Path, **options: object) -> list[str]:
    found = read_messages(list(paths), **options)  # type: ignore[arg-type]
    return [str(one) for one in found if isinstance(one, PartitaError)]


def file(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# the layout of one text


def test_the_papers_message_is_a_subject_line_and_a_paragraph() -> None:
    message = parse_layout("paper", PAPER, "paper.txt")
    assert message.fields == {"subject": "Kinston Military Rail Depot"}
    assert message.regions == (Region("subject", 6, 33, 0), Region("text", 35, len(PAPER) - 1, 1))


@pytest.mark.parametrize("end", ENDS)
def test_any_line_end_gives_the_same_regions(end: str) -> None:
    text = PAPER + "\nName        Qty\nKinston     12\nFairview    3\n\n- one\n- two\n"
    other = text.replace("\n", end)
    left = [(kind, part.split()) for kind, part in shown(text)]
    assert [(kind, part.split()) for kind, part in shown(other)] == left
    assert len(left) == 2 + 6 + 2
    assert parse_layout("m", other).text == other


def test_header_fields_are_kept_and_only_the_subject_is_a_region() -> None:
    text = (
        "INTELLIGENCE REPORT\nDTG: 150430ZMAR96\nFROM: 3rd Fleet\n   and others\nX-Copy: none\n"
        "To: A\nTo: B\n\nSUBJECT: Depots near\n  Kinston\n\nA depot was found.\n"
    )
    message = parse_layout("m", text)
    assert message.fields == {
        "dtg": "150430ZMAR96",
        "from": "3rd Fleet and others",
        "x-copy": "none",
        "to": "A\nB",
        "subject": "Depots near Kinston",
    }
    assert shown(text) == [
        ("heading", "INTELLIGENCE REPORT"),
        ("subject", "Depots near\n  Kinston"),
        ("text", "A depot was found."),
    ]


def test_a_wrapped_subject_goes_on_and_a_paragraph_does_not_join_it() -> None:
    long = "Subj: A long subject line about the ammunition depot in the town of\nFairview\n\nIt is."
    assert shown(long)[0][1].endswith("town of\nFairview")
    assert shown("Subj: Kinston Depot\nA depot was found.") == [
        ("subject", "Kinston Depot"),
        ("text", "A depot was found."),
    ]
    assert shown("SUBJ:\nKinston Depot\n\nText.") == [
        ("subject", "Kinston Depot"),
        ("text", "Text."),
    ]


def test_routing_lines_and_markings_are_layout() -> None:
    text = (
        "R 150430Z MAR 96\nFM JICPAC HONOLULU HI\nTO RUEKJCS/DIA\nINFO RUCQVAB\nBT\n"
        "UNCLAS SECTION 01 OF 02\nSUBJ: (U) KINSTON DEPOT (U)\n1. (U) A DEPOT WAS FOUND NEAR\n"
        "KINSTON.\nA. (U) IT IS LARGE.\nB. (U) IT IS OLD.\n2. (S//NF) ANOTHER.\nBT\n#0001\nNNNN\n"
    )
    message = parse_layout("m", text)
    assert message.fields["from"] == "JICPAC HONOLULU HI"
    assert message.fields["to"] == "RUEKJCS/DIA"
    assert message.fields["classification"] == "UNCLAS SECTION 01 OF 02"
    assert shown(text) == [
        ("subject", "KINSTON DEPOT"),
        ("text", "A DEPOT WAS FOUND NEAR\nKINSTON."),
        ("text", "IT IS LARGE."),
        ("text", "IT IS OLD."),
        ("text", "ANOTHER."),
    ]


def test_slashed_sets_are_fields() -> None:
    text = "MSGID/INTREP/3FLT//\nSUBJ/KINSTON RAIL\nDEPOT//\nA DEPOT WAS FOUND.\n"
    assert parse_layout("m", text).fields == {
        "msgid": "INTREP/3FLT",
        "subject": "KINSTON RAIL DEPOT",
    }
    assert shown(text) == [("subject", "KINSTON RAIL\nDEPOT"), ("text", "A DEPOT WAS FOUND.")]


def test_what_follows_the_last_known_field_is_not_lost() -> None:
    text = "Subj: Depots\nFacility: rail depot\nLocation: Kinston\n\nText."
    assert parse_layout("m", text).fields == {"subject": "Depots"}
    assert [part for _, part in shown(text)] == [
        "Depots", "Facility", "rail depot", "Location", "Kinston", "Text.",
    ]  # fmt: skip


def test_prose_that_looks_a_little_like_a_header_stays_prose() -> None:
    for text in (
        "TO THE EAST OF KINSTON A DEPOT WAS FOUND.",
        "Note that: this holds.",
        "12:30 now.",
    ):
        assert parse_layout("m", text).fields == {}
        assert shown(text) == [("text", text)]


def test_headings() -> None:
    text = (
        "SITUATION\n\nA depot was found.\n\nEnemy Forces\n\nNone here.\n\n"
        "Outlook\n-------\nNone.\n\n## More ##\nText.\n\nREMARKS: Nothing else.\n\nKINSTON AREA\n"
    )
    assert shown(text) == [
        ("heading", "SITUATION"),
        ("text", "A depot was found."),
        ("heading", "Enemy Forces"),
        ("text", "None here."),
        ("heading", "Outlook"),
        ("text", "None."),
        ("heading", "More"),
        ("text", "Text."),
        ("heading", "REMARKS"),
        ("text", "Nothing else."),
        ("text", "KINSTON AREA"),
    ]


def test_lists_with_and_without_signs() -> None:
    text = (
        "The area has:\n- an ammo depot\n- a fuel depot near\n  Fairview\n\u2022 a bridge\n\n"
        "1. rail depot\n2. airfield\n\nRAIL DEPOT\nAMMO DEPOT\nFUEL DEPOT\n"
    )
    assert shown(text) == [
        ("text", "The area has:"),
        ("list", "an ammo depot"),
        ("list", "a fuel depot near\n  Fairview"),
        ("list", "a bridge"),
        ("list", "rail depot"),
        ("list", "airfield"),
        ("list", "RAIL DEPOT"),
        ("list", "AMMO DEPOT"),
        ("list", "FUEL DEPOT"),
    ]


def test_an_initial_or_a_year_at_the_start_of_a_line_is_no_number() -> None:
    text = "A. Smith saw the depot in\n1990. It was then\n- so he said - empty.\n"
    assert shown(text) == [("text", text.strip())]


def test_indented_lines_start_paragraphs() -> None:
    text = "   The first one\nends here.\n   The second one\nends there.\n"
    assert shown(text) == [
        ("text", "The first one\nends here."),
        ("text", "The second one\nends there."),
    ]


# tables


GRID = [["Name", "Type", "Qty"], ["Kinston", "rail depot", "12"], ["Fairview", "ammo", "3"]]


@pytest.mark.parametrize(
    "text",
    [
        "Name      Type        Qty\nKinston   rail depot   12\nFairview  ammo          3\n",
        "Name      Type        Qty\n--------  ----------  ---\nKinston   rail depot   12\n"
        "Fairview  ammo          3\n",
        "NAME\tTYPE\tQTY\nKinston\trail depot\t12\nFairview\tammo\t3\n",
        "Name\t\tType\t\tQty\nKinston\t\trail depot\t12\nFairview\tammo\t\t3\n",
        "| Name | Type | Qty |\n|------|:----:|----:|\n| Kinston | rail depot | 12 |\n"
        "| Fairview | ammo | 3 |\n",
        "+----+----+---+\n| Name | Type | Qty |\n+----+----+---+\n| Kinston | rail depot | 12 |\n"
        "| Fairview | ammo | 3 |\n+----+----+---+\n",
        "Name;Type;Qty\nKinston;rail depot;12\nFairview;ammo;3\n",
        'Name,Type,Qty\nKinston,"rail depot",12\nFairview,ammo,3\n',
        "Depots found:\nName,Type,Qty\nKinston,rail depot,12\nFairview,ammo,3\n",
        "Name      Type        Qty\n\nKinston   rail depot   12\nFairview  ammo          3\n",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_tables_by_alignment_and_by_delimiters(text: str, end: str) -> None:
    found = grid(text.replace("\n", end))
    assert [[cell.lower() for cell in row] for row in found] == [
        [cell.lower() for cell in row] for row in GRID
    ]
    kinds = {(kind, row == 0) for kind, _, row, *_ in cells(text)}
    assert kinds == {("heading", True), ("table", False)}
    named = {name.lower(): column for _, _, _, column, name, _ in cells(text)}
    assert named == {"name": 0, "type": 1, "qty": 2}


def test_empty_cells_keep_their_column() -> None:
    assert grid("unit\tplace\tqty\n1st\tKinston\t4\n\tFairview\t5\n2nd\t\t6\n") == [
        ["unit", "place", "qty"], ["1st", "Kinston", "4"], ["", "Fairview", "5"], ["2nd", "", "6"],
    ]  # fmt: skip
    aligned = (
        "Unit   Place     Qty\n1st    Kinston     4\n       Fairview    5\n2nd                6\n"
    )
    assert grid(aligned) == [
        ["Unit", "Place", "Qty"], ["1st", "Kinston", "4"], ["", "Fairview", "5"], ["2nd", "", "6"],
    ]  # fmt: skip


def test_a_delimiter_inside_quotes_is_part_of_the_cell() -> None:
    assert grid('Name,Place,Qty\n"Smith, J.",Kinston,2\nJones,Fairview,3\n')[1] == [
        "Smith, J.", "Kinston", "2",
    ]  # fmt: skip


def test_a_table_without_names_has_no_heading() -> None:
    text = "Kinston    rail depot\nFairview   ammo depot\n"
    assert {kind for kind, *_ in cells(text)} == {"table"}
    assert grid(text) == [["Kinston", "rail depot"], ["Fairview", "ammo depot"]]


def test_labelled_values_are_one_row() -> None:
    text = "Facility: rail depot\nLocation: Kinston\n   area\nStatus: operational\n"
    assert cells(text) == [
        ("heading", 0, 0, 0, "Facility", "Facility"),
        ("table", 0, 1, 0, "Facility", "rail depot"),
        ("heading", 0, 0, 1, "Location", "Location"),
        ("table", 0, 1, 1, "Location", "Kinston\n   area"),
        ("heading", 0, 0, 2, "Status", "Status"),
        ("table", 0, 1, 2, "Status", "operational"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "THE DEPOT IS OLD.  IT WAS FOUND LAST YEAR.  IT IS\nNOT LARGE.  IT HAS NO FENCE.  NOBODY\n",
        "Depots in Kinston, Fairview, and\nRaleigh were seen, mapped, and\nthen left.\n",
        "The depot is old; it is\nlarge; it is empty.\n",
        "This  text   was justified by a  machine\nand so has   gaps  that mean nothing  at all\n",
    ],
)
def test_prose_is_no_table(text: str) -> None:
    assert shown(text) == [("text", text.strip())]


def test_two_tables_are_numbered() -> None:
    text = "a|b\nc|d\n\nText between.\n\ne|f\ng|h\n"
    assert {table for _, table, *_ in cells(text)} == {0, 1}


def test_only_a_table_only_a_subject_nothing() -> None:
    assert grid("a|b\n1|2") == [["a", "b"], ["1", "2"]]
    assert shown("Subj: Kinston") == [("subject", "Kinston")]
    assert shown("") == shown(" \n\t\n") == shown("Subj:") == []


# arbitrary text

PIECES = st.sampled_from(
    [*ENDS, "\n\n", "\n\n", "  ", "   ", "\t", "|", ";", ",", ": ", ".", "-", "---", "===", "#",
     "# ", "Subj: ", "From: ", "SUBJ/", "//", "TO ", "FM X", "BT", "1. ", "A. ", "(U) ", "- ", '"',
     "(", "]",
     "R 150430Z", "NAME", "Kinston", "a rail depot", "UNCLAS", "REMARKS: ", "DEV-MUC3-0001 (X)\n",
     "BOGOTA, 3 JAN 90 (EFE) -- [TEXT] ", "[", "\ufeff", "\u200b", "\U0001f600", "é", "\0", "\x1b"]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=200),
    st.text(st.characters(), max_size=60),
    st.lists(PIECES, max_size=40).map("".join),
)


@settings(deadline=None, max_examples=600)
@given(TEXTS)
def test_regions_are_ordered_disjoint_and_inside_any_text(text: str) -> None:
    message = parse_layout("m", text)
    assert message.text == text
    at = 0
    for region in message.regions:
        assert at <= region.start < region.end <= len(text)
        assert text[region.start : region.end].strip() == text[region.start : region.end]
        at = region.end
        assert (region.table < 0) == (region.row < 0) == (region.column < 0)
    numbers = [region.paragraph for region in message.regions]
    assert numbers == sorted(numbers)
    tables = [region.table for region in message.regions if region.table >= 0]
    assert tables == sorted(tables)
    assert sorted(set(tables)) == list(range(len(set(tables))))


@settings(deadline=None, max_examples=200)
@given(st.text(st.characters(categories=["L", "N", "Zs"]), max_size=80))
def test_a_text_without_signs_is_whole_in_its_regions(text: str) -> None:
    assert "".join(part for _, part in shown(text)).split() == text.split()


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.binary(max_size=80), max_size=4), st.sampled_from(["text", "jsonl", "muc", None])
)
def test_any_bytes_give_messages_or_our_own_errors(parts: list[bytes], form: str | None) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for n, part in enumerate(parts):
            file(Path(folder), f"{n}.txt", part)
        found = list(read_messages(folder, form=form))  # type: ignore[arg-type]
    assert len(found) >= len(parts) or not parts
    assert all(isinstance(one, Message | PartitaError) for one in found)
    assert all("\n" not in str(one) for one in found if isinstance(one, PartitaError))


@settings(deadline=None, max_examples=100)
@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-7", "gb18030"]),
)
def test_every_encoding_gives_the_text_back(text: str, encoding: str) -> None:
    import tempfile

    if not text.strip() or text.startswith("\ufeff"):
        return
    marks = ("\u00ff\u00fe", "\ufffe", "\u0000", "%PDF", "PK\x03\x04", "\x1f\x8b", "\x7fELF")
    data = text.encode(encoding)
    if encoding == "gb18030" or data.startswith(tuple(mark.encode() for mark in marks)):
        data = b" " + data
        text = " " + text
    with tempfile.TemporaryDirectory() as folder:
        path = file(Path(folder), "m.txt", data)
        found = list(read_texts(path, form="text", encoding=encoding))
    assert [getattr(one, "text", str(one)) for one in found] == [text]


# files


def test_a_folder_is_read_in_order_and_ids_are_paths(tmp_path: Path) -> None:
    file(tmp_path, "b.txt", "Two.")
    file(tmp_path, "a/x.txt", "One.")
    file(tmp_path, ".hidden", "No.")
    file(tmp_path, ".git/config", "No.")
    found = messages(tmp_path)
    assert [(message.id, message.text) for message in found] == [("a/x", "One."), ("b", "Two.")]
    assert found[0].file == str(tmp_path / "a" / "x.txt")


def test_twice_the_same_id_names_both_files_and_loses_nothing_else(tmp_path: Path) -> None:
    one, two = file(tmp_path, "a/m.txt", "One."), file(tmp_path, "b/m.txt", "Two.")
    three = file(tmp_path, "n.txt", "Three.")
    found = list(read_messages([one, two, three]))
    assert [getattr(item, "text", None) for item in found] == ["One.", None, "Three."]
    assert str(found[1]) == f"{two}: duplicate id 'm'; first used in {one}"


def test_json_lines_with_errors_by_line(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": "a", "text": PAPER, "place": "Raleigh", "n": 3}),
        "",
        "{not json",
        '{"id": "b"}',
        '{"id": 7, "text": "Seven."}\r',
        '{"text": "No id."}',
        '{"text": " "}',
        '{"id": [1], "text": "x"}',
        '{"id": "a", "text": "again"}',
        '{"text": "\\ud800"}',
        "[" * 100_000,
    ]
    path = file(tmp_path, "m.jsonl", "\n".join(lines))
    found = list(read_messages(path))
    good = [one for one in found if isinstance(one, Message)]
    assert [one.id for one in good] == ["a", "7", "m-6"]
    assert good[0].fields == {
        "place": "Raleigh", "n": "3", "subject": "Kinston Military Rail Depot",
    }  # fmt: skip
    bad = [one for one in found if isinstance(one, InputError)]
    assert [one.line for one in bad] == [3, 4, 7, 8, 9, 10, 11]
    assert "is not JSON" in str(bad[0])
    assert "has no field 'text'" in str(bad[1])
    assert f"first used in {path}, line 1" in str(bad[4])


def test_json_lines_know_their_line_ends_and_wide_encodings(tmp_path: Path) -> None:
    lines = '{"id": "a", "text": "One."}', '{"id": "b", "text": "Two."}'
    for n, data in enumerate(
        ["\r".join(lines).encode(), "\r\n".join(lines).encode(), "\n".join(lines).encode("utf-16")]
    ):
        assert [m.id for m in messages(file(tmp_path, f"{n}.jsonl", data))] == ["a", "b"]


def test_another_field_may_hold_the_text(tmp_path: Path) -> None:
    path = file(tmp_path, "m.jsonl", '{"body": "One."}')
    assert [message.text for message in messages(path, name="body")] == ["One."]


TWO_MUC = """\
DEV-MUC3-0001 (NOSC)

   SAN SALVADOR, 3 JAN 90 (EFE) -- [REPORT] [ARMED FORCES PRESS COMMITTEE,
COPREFA] [TEXT] THE ARCE BATTALION HAS REPORTED
A CLASH.

   IT ENDED.

DEV-MUC3-0002 (NOSC)

   NO CITY (PERU), NO DATE -- [TEXT] A BOMB WENT OFF.
DEV-MUC3-0003 (NOSC)

"""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_muc_file_holds_many_messages(tmp_path: Path, end: str) -> None:
    text = TWO_MUC.replace("\n", end)
    path = file(tmp_path, "dev", text)
    found = list(read_messages(path))
    one, two, empty = found
    assert isinstance(one, Message)
    assert isinstance(two, Message)
    assert (one.id, two.id) == ("DEV-MUC3-0001", "DEV-MUC3-0002")
    assert text[two.offset :].startswith(two.text)
    assert one.fields == {
        "site": "NOSC",
        "dateline": "SAN SALVADOR, 3 JAN 90 (EFE)",
        "place": "SAN SALVADOR",
        "date": "3 JAN 90",
        "source": "EFE",
        "extent": "TEXT",
        "kind": "REPORT",
        "by": "ARMED FORCES PRESS COMMITTEE, COPREFA",
    }
    assert [(r.kind, one.text[r.start : r.end]) for r in one.regions] == [
        ("text", f"THE ARCE BATTALION HAS REPORTED{end}A CLASH."),
        ("text", "IT ENDED."),
    ]
    assert two.fields["place"] == "NO CITY (PERU)"
    assert str(empty) == f"{path}, line 12: DEV-MUC3-0003 is empty"


def test_muc_keys_in_a_folder_are_no_messages(tmp_path: Path) -> None:
    file(tmp_path, "key-dev", ";;; a note\n0.  MESSAGE: ID    DEV-MUC3-0001\n")
    file(tmp_path, "dev", "DEV-MUC3-0001\n\nTEXT.\n")
    assert [message.id for message in messages(tmp_path)] == ["DEV-MUC3-0001"]


def test_the_form_is_sniffed_and_can_be_given(tmp_path: Path) -> None:
    assert detect_form(b'\n{"text": "x"}', "utf-8") == "jsonl"
    assert detect_form(b"\n DEV-MUC3-0001 (NOSC)\n", "utf-8") == "muc"
    assert detect_form("{x}".encode("utf-16"), "utf-8") == "text"
    path = file(tmp_path, "m.txt", '{"text": "x"}')
    assert [message.text for message in messages(path, form="text")] == ['{"text": "x"}']
    assert errors(path, form="muc") == [
        f"{path}: has no line such as DEV-MUC3-0001 (NOSC) (expected MUC messages)"
    ]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is empty (expected a message)"),
        (b" \r\n\t", "is empty (expected a message)"),
        (b"a depot\0", "is binary: character 7 is NUL (expected plain text)"),
        ("depot".encode("utf-16-le"), "; try --encoding utf-16-le"),
        (b"\x89PNG\r\n\x1a\n\0\0", "is a picture (expected plain text)"),
        (b"PAR1\x15\x04", "is a table (expected plain text)"),
        ("Caf\xe9".encode("latin-1") + b" x", "byte 3 is not utf-8"),
        ("Café".encode()[:-1], "ends within a character at byte 3"),
        (b"\xef\xbb\xbfCaf\xe9 x", "byte 6 is not utf-8"),
        (b"\xff\xfea", "ends within a character at byte 2"),
        (b"x" * 101, "is larger than 9.537e-05 MB, the limit for one message"),
    ],
)
def test_what_cannot_be_read_is_one_clear_line(tmp_path: Path, data: bytes, problem: str) -> None:
    bad, good = file(tmp_path, "a.txt", data), file(tmp_path, "b.txt", "Good.")
    found = list(read_messages([bad, good], limit=100))
    assert isinstance(found[0], InputError)
    assert str(found[0]).startswith(f"{bad}: ")
    assert problem in str(found[0])
    assert isinstance(found[1], Message)


def test_what_is_not_there_and_what_is_no_encoding(tmp_path: Path) -> None:
    missing, empty = tmp_path / "missing.txt", tmp_path / "empty"
    empty.mkdir()
    assert errors(missing, empty) == [
        f"{missing}: cannot be read: No such file or directory",
        f"{empty}: is a folder without files (expected messages)",
    ]
    for name in ("martian", "hex"):
        with pytest.raises(InputError, match="is not a text encoding known to Python"):
            list(read_messages(tmp_path, encoding=name))


def test_a_long_json_line_is_refused_and_the_next_is_read(tmp_path: Path) -> None:
    text = f'{{"text": "{"x" * 3_000_000}"}}\n{{"text": "short"}}'
    found = list(read_messages(file(tmp_path, "m.jsonl", text), limit=1 << 20))
    assert str(found[0]).endswith("line 1: is larger than 1 MB, the limit for one message")
    assert isinstance(found[1], Message)
    assert found[1].id == "m-2"


def test_an_encoding_is_given_and_a_mark_wins(tmp_path: Path) -> None:
    file(tmp_path, "a.txt", "Café".encode("latin-1"))
    file(tmp_path, "b.txt", "Café".encode("utf-16"))
    file(tmp_path, "c.txt", "Café".encode("utf-8-sig"))
    assert {message.text for message in messages(tmp_path, encoding="latin-1")} == {"Café"}


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(PAPER.encode())))
    found = list(read_messages("-"))
    assert [(m.id, m.text) for m in found if isinstance(m, Message)] == [("standard-input", PAPER)]
    assert not sys.stdin.closed


def test_ten_megabytes_of_one_line() -> None:
    text = "a rail depot, (" * 700_000
    assert shown(text) == [("text", text.strip())]


@pytest.mark.corpus
def test_all_development_messages_of_muc_are_read() -> None:
    if not MUC.is_dir():
        pytest.skip(f"needs {MUC}")
    found = messages(*sorted((MUC / "dev").glob("dev-muc3-*")))
    assert len(found) == len({message.id for message in found}) == 1300
    assert all(message.regions for message in found)
    assert sum("date" in message.fields for message in found) >= 1290
    assert not [message.id for message in found if any(r.table >= 0 for r in message.regions)]
