"""The types of columns, their cleaned values, and the tables that are read."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.people import people
from partita.errors import InputError
from partita.linkage.record_columns import FEW, cell_text, guess_columns, guess_kind, iso
from partita.linkage.record_tables import dated, read_records
from partita.linkage.splink_engine import Patterns, fit_patterns, link_type

COLUMNS = {name: [str(row[name]) for row in people(50)[0]] for name in people(1)[0][0]}


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("fname_c1", ["FRANK", "MARTIN", "UTE"], "given name"),
        ("LastName", ["Meier", "Bauer", "Jung"], "surname"),
        ("x", ["a@b.de", "c.d@e.org", "oops"], "email"),
        ("by", ["1949", "1968", "1930"], "year"),
        ("geboren", ["1949-07-22", "22.07.1949", "19680727"], "date"),
        ("tel", ["0612/443", "443", "+49 612 44"], "phone"),
        ("x", ["(212) 555-0100", "212-555-0101", "212 555 0102"], "phone"),
        ("zip", ["80331", "10115", "20095"], "postcode"),
        ("name", ["Café du Nord", "Zum goldenen Hirsch", "The Old Oak"], "phrase"),
        ("notes", ["a b c d e f g", "h i j k l m n o", "p q r s t u v"], "text"),
        ("soc_sec_id", [str(1234567 + n) for n in range(100)], "identifier"),
        ("price", [f"{n}.{n}" for n in range(100)], "number"),
        ("bm", [str(n % 12) for n in range(100)], "category"),
        ("constant", ["x", "x", None], ""),
        ("empty", [None] * 99 + ["x", "y"], ""),
    ],
)
def test_types_are_guessed_from_headers_and_values(
    name: str, values: list[str | None], kind: str
) -> None:
    assert guess_kind(name, values) == kind


@pytest.mark.parametrize(
    "text",
    ["4 Mar 2015", "March 4, 2015", "Wed, 4 March 2015", "4th of March 2015", "4. März 2015",
     "4 de marzo de 2015", "4 mars 2015", "4-Mar-2015"],
)  # fmt: skip
def test_dates_may_have_names_of_months(text: str) -> None:
    assert iso(text) == "2015-03-04"


def test_missing_values_and_days_that_no_month_has() -> None:
    assert [cell_text(value) for value in (" NA ", "", None, float("nan"), 3.0)] == [None] * 4 + [
        "3"
    ]
    assert iso("1949-02-30") is None


@pytest.mark.parametrize("text", ["Suite 12 2015", "May 2015", "31 Feb 2011", "4 Mar 15"])
def test_other_texts_with_numbers_are_no_dates(text: str) -> None:
    assert iso(text) is None


AMERICAN = ["03/25/1994", "04/05/1994", "11/12/2001"]
BRITISH = ["25/03/1994", "05/04/1994", "12/11/2001"]


@pytest.mark.parametrize(
    ("tables", "expected", "said"),
    [
        ([AMERICAN], [["1994-03-25", "1994-04-05", "2001-11-12"]], ["month first"]),
        ([BRITISH], [BRITISH], []),
        ([AMERICAN, BRITISH], [["1994-03-25", "1994-04-05", "2001-11-12"], BRITISH],
         ["month first"]),
        ([AMERICAN, ["04/05/1994", "05/05/1994"]],  # the other table decides
         [["1994-03-25", "1994-04-05", "2001-11-12"], ["1994-04-05", "1994-05-05"]],
         ["month first"] * 2),
        ([["04/05/1994", "05/04/1994"]], [["04/05/1994", "05/04/1994"]], ["day or month first"]),
        ([["04.05.1994", "05.04.1994"]], [["04.05.1994", "05.04.1994"]], []),
        ([["1994-03-25", "1994-05-04"]], [["1994-03-25", "1994-05-04"]], []),
    ],
)  # fmt: skip
def test_the_order_of_day_and_month_is_that_of_the_column(
    tables: list[list[str]], expected: list[list[str]], said: list[str]
) -> None:
    notes: list[str] = []
    rows = [
        [{"id": f"{k}.{n}", "born": day, "name": f"x{n}"} for n, day in enumerate(table)]
        for k, table in enumerate(tables)
    ]
    found = read_records(rows, note=notes.append)
    assert found.columns["born"] == [day for table in expected for day in table]
    told = [note for note in notes if "dates in born" in note]
    assert [text in note for text, note in zip(said, told, strict=True)] == [True] * len(said)


@given(st.lists(st.dates(date(1700, 1, 1), date(2100, 1, 1)), min_size=1, max_size=30))
def test_dates_of_a_decided_column_are_read_as_they_were_written(days: list[date]) -> None:
    days = [*days, date(1994, 3, 25), date(1994, 3, 26)]
    for style in ("%m/%d/%Y", "%d/%m/%Y", "%m-%d-%Y"):
        texts = [day.strftime(style) for day in days]
        found, _ = dated({"born": texts}, ["a"] * len(days), lambda text: None)
        assert [iso(text or "") for text in found["born"]] == [day.isoformat() for day in days]


def test_the_fit_finds_the_probabilities_that_made_the_patterns() -> None:
    rng = np.random.default_rng(0)
    m, u, pairs, matches = [0.1, 0.2, 0.7], [0.9, 0.09, 0.01], 400_000, 4_000
    same = np.arange(pairs) < matches
    columns = [np.where(same, rng.choice(3, pairs, p=m), rng.choice(3, pairs, p=u)) for _ in "1234"]
    levels = np.stack(columns, axis=1)
    found, count = np.unique(levels, axis=0, return_counts=True)
    patterns = Patterns(found, np.zeros(len(found)), count.astype(float))
    fit = fit_patterns(patterns, [np.array(u)] * 4, 100, float(pairs))
    assert fit.converged
    assert fit.match == pytest.approx(matches / pairs, rel=0.05)
    for fitted in fit.m:
        assert fitted == pytest.approx(m, abs=0.04)


def test_matches_that_are_similar_and_never_equal_are_found() -> None:
    """Titles of two shops: all random pairs differ, and all matches share the rare words."""
    levels = np.array(
        [(title, brand, price) for title in (0, 2) for brand in (0, 1) for price in (0, 1)]
    )
    counts = np.array([38_900.0, 4_300.0, 7_950.0, 876.0, 0.5, 34.0, 1.5, 138.0])
    patterns = Patterns(levels, np.zeros(8), counts)
    u = [np.array([0.996, 1e-6, 0.004, 1e-6]), np.array([0.83, 0.17]), np.array([0.9, 0.1])]
    u = [one / one.sum() for one in u]
    fit = fit_patterns(patterns, u, 470, 52_200.0)
    assert 120 < fit.match * 52_200 < 220
    assert fit.m[0][2] > 0.4


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("id,name\n", "has no rows"),
        ("id,name\n1,Ann\n1,Bob\n", ", line 3: the id is 1, as in line 2"),
        ("id,name\n1,Ann\n,Bob\n", ", line 3: has no id"),
        ("id,name\n1,Ann\n2,Bob,x\n", ", line 3: has 3 values"),
        ("id\n1\n2\n", "no column can be compared"),
        ("name\nAnn\nBob\n", "has no column id of ids; found name"),
    ],
)
def test_bad_tables_are_one_line(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "people.csv"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        read_records([path], "id")
    assert problem in str(raised.value)


def test_ids_and_answers_are_not_compared() -> None:
    notes: list[str] = []
    rows = [
        {"unique_id": "7", "cluster": "a", "name": "Ann B"},
        {"unique_id": "7", "cluster": "b", "name": "Bob C"},
    ]
    table = read_records([rows], note=notes.append)
    assert [column.name for column in table.to_compare] == ["name"]
    assert list(table.ids) == [1, 2]
    assert [note for note in notes if "not compared" in note] == [
        f"column {name} seems to hold clusters or ids that repeat: not compared"
        for name in ("unique_id", "cluster")
    ]


def test_ids_of_two_tables_are_told_apart() -> None:
    one = [{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bob"}]
    table = read_records([one, [{"id": 2, "name": "Cyd"}]])
    assert list(table.ids) == ["table_1-__-1", "table_1-__-2", "table_2-__-2"]
    assert list(table.sources) == ["table_1", "table_1", "table_2"]


@pytest.mark.parametrize(
    ("header", "named"),
    [("Kundennr", True), ("company_id", True), ("Product code", True), ("Name", False)],
)
def test_a_first_column_with_unique_values_may_hold_ids(header: str, named: bool) -> None:
    notes: list[str] = []
    rows = [{header: f"x{n}", "town": town} for n, town in enumerate(["Bonn", "Köln", "Mainz"])]
    table = read_records([rows], note=notes.append)
    assert list(table.ids) == (["x0", "x1", "x2"] if named else [1, 2, 3])
    assert (f"records: records are called by {header}, whose values are unique" in notes) == named
    again = [*rows, {header: "x0", "town": "Ulm"}]
    assert list(read_records([again]).ids) == [1, 2, 3, 4]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_records_may_be_separated_by_other_marks(mark: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    text = 'id|name|town\n1|"Groß; Erika"|Köln\n2|Weiß|Bonn\n'
    path.write_text(text.replace("|", mark), encoding="utf-8")
    table = read_records([path])
    assert list(table.ids) == ["1", "2"]
    assert table.columns == {"name": ["Groß; Erika", "Weiß"], "town": ["Köln", "Bonn"]}


@pytest.mark.parametrize(
    ("sources", "one_to_one", "expected"),
    [
        (1, False, "dedupe_only"),
        (1, True, "dedupe_only"),
        (2, True, "link_only"),
        (2, False, "link_and_dedupe"),
    ],
)
def test_splinks_word_for_one_table_or_several(
    sources: int, one_to_one: bool, expected: str
) -> None:
    assert link_type(sources, one_to_one) == expected


@pytest.mark.parametrize(("count", "kind"), [(FEW, "category"), (FEW + 1, "word")])
def test_few_words_among_many_records_are_a_category(count: int, kind: str) -> None:
    words = ["".join(chr(97 + int(digit)) for digit in f"{n:04}") for n in range(count)]
    [column] = guess_columns({"group": words * 25}, ())
    assert column.kind == kind
