"""Keys and responses of the exam: what is read, and what is said of what is odd."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita.errors import InputError
from partita_incidents.exam_files import Malformed, holds_templates, read_exam, read_fill
from partita_incidents.exam_templates import SLOTS, Fill

KEY = """\
;; a comment

0.  MESSAGE: ID                     TST9-MUC4-0001
1.  MESSAGE: TEMPLATE               1 (OPTIONAL)
2.  INCIDENT: DATE                  - 12 MAR 89
3.  INCIDENT: LOCATION              (PERU) / (PERU: LIMA (CITY))
4.  INCIDENT: TYPE                  BOMBING
6.  INCIDENT: INSTRUMENT ID         "BOMB" / "CAR BOMB"
                                    ? "DYNAMITE"
8.  PERP: INCIDENT CATEGORY         -
20. HUM TGT: TYPE                   ? CIVILIAN / LEGAL OR JUDICIAL: "JUDGE" / "THE \\"OLD\\" JUDGE"

0.  MESSAGE: ID                     TST9-MUC4-0002
1.  MESSAGE: TEMPLATE               *
4.  INCIDENT: TYPE                  *
"""


@pytest.fixture
def write(tmp_path: Path):  # type: ignore[no-untyped-def]
    def written(text: str) -> Path:
        path = tmp_path / "key"
        path.write_text(text, encoding="latin-1")
        return path

    return written


def test_a_key(write) -> None:  # type: ignore[no-untyped-def]
    exam = read_exam(write(KEY))
    assert list(exam.messages) == ["TST9-MUC4-0001", "TST9-MUC4-0002"]
    [found] = exam.incidents
    assert (found.number, found.optional, found.line) == ("1", True, 3)
    assert found.of(2) == (Fill(("- 12 MAR 89",), line=5),)
    assert found.of(3) == (Fill(("PERU", "PERU: LIMA (CITY)"), line=6),)
    assert found.of(6) == (
        Fill(("BOMB", "CAR BOMB"), line=8),
        Fill(("DYNAMITE",), optional=True, line=9),
    )
    assert found.of(8) == ()
    assert found.of(20) == (
        Fill(("CIVILIAN", "LEGAL OR JUDICIAL"), ("JUDGE", 'THE "OLD" JUDGE'), True, 11),
    )
    assert exam.problems == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "holds no template"),
        ("1.  MESSAGE: TEMPLATE   1\n", "line 1: slot 1 comes before the first 0. MESSAGE: ID"),
        ("0.  MESSAGE: ID   ONE\n", "line 1: message 'ONE'; expected an id such as"),
        (
            "0.  MESSAGE: ID   TST9-MUC4-0001\n3.  INCIDENT: DATE   -\n",
            "line 2: is 3. INCIDENT: DATE; expected 3. INCIDENT: LOCATION",
        ),
        (
            "0.  MESSAGE: ID   TST9-MUC4-0001\n1.  MESSAGE: TEMPLATE   first\n",
            "line 2: template 'first'; expected a number",
        ),
        (
            "0.  MESSAGE: ID   TST9-MUC4-0001\n77. HUM TGT: AGE   -\n",
            "line 2: is 77. HUM TGT: AGE; expected a slot from 0 to 24",
        ),
        (
            "0.  MESSAGE: ID   T-MUC4-1\n1.  MESSAGE: TEMPLATE  1\n"
            "4.  INCIDENT: TYPE   ARSON\n4.  INCIDENT: TYPE   ARSON\n",
            "line 4: slot INCIDENT: TYPE appears twice",
        ),
        (
            KEY.replace("4.  INCIDENT: TYPE ", "4.  INCIDENT TYPE  "),
            "line 7: '4.  INCIDENT TYPE                   BOMBING'; expected a slot such as",
        ),
        (KEY.replace("4.  INCIDENT: TYPE", "4.INCIDENT: TYPE"), "line 7: '4.INCIDENT: TYPE"),
        (KEY.replace("4.  INC", "      4.  INC"), "line 7: '4.  INCIDENT: TYPE"),
        (
            KEY.replace("1.  MESSAGE: TEMPLATE               1 (OPTIONAL)\n", ""),
            "line 3: a template without slot MESSAGE: TEMPLATE; expected a number, or *",
        ),
    ],
)
def test_a_file_that_is_no_exam(write, text: str, problem: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match="key") as error:
        read_exam(write(text))
    assert problem in str(error.value)


def test_an_odd_fill_is_told_and_kept(write) -> None:  # type: ignore[no-untyped-def]
    odd = KEY.replace('"BOMB" / "CAR BOMB"', 'BOMB"').replace("BOMBING", "MURDER")
    exam = read_exam(write(odd))
    told = [(problem.line, problem.slot) for problem in exam.problems]
    assert told == [(7, "INCIDENT: TYPE"), (8, "INCIDENT: INSTRUMENT ID")]
    assert "expected a closing quote" in str(exam.problems[1])
    assert "one of ARSON" in str(exam.problems[0])
    assert exam.incidents[0].of(4)[0].values == ("MURDER",)
    assert exam.incidents[0].of(6)[0].values == ('BOMB"',)


@pytest.mark.parametrize(
    ("old", "new", "slot", "expected"),
    [
        ("- 12 MAR 89", "- 35 MAR 89", "INCIDENT: DATE", "a date such as 05 JAN 90"),
        ("- 12 MAR 89", "MARCH", "INCIDENT: DATE", "a date such as 05 JAN 90"),
        ("20. HUM TGT: TYPE", '21. HUM TGT: NUMBER   MANY: "A"\n20. HUM TGT: TYPE',
         "HUM TGT: NUMBER", "a number, PLURAL"),
        ("(PERU) /", "(PERU /", "INCIDENT: LOCATION", "closing brackets"),
    ],
)  # fmt: skip
def test_a_value_that_is_none(write, old: str, new: str, slot: str, expected: str) -> None:  # type: ignore[no-untyped-def]
    (problem,) = read_exam(write(KEY.replace(old, new))).problems
    assert problem.slot == slot
    assert f"expected {expected}" in str(problem)


def test_keys_are_told_from_messages(write) -> None:  # type: ignore[no-untyped-def]
    assert holds_templates(write(KEY))
    assert not holds_templates(write("DEV-MUC3-0001 (NOSC)\n\n   LIMA, 1 JAN 90 -- [TEXT] A\n"))


@pytest.mark.parametrize("written", ["-", "*", "", '"-"', "? -"])
def test_nothing_is_no_fill(written: str) -> None:
    assert read_fill(written, SLOTS[9], 1) is None


@pytest.mark.parametrize(
    ("slot", "written"),
    [(9, '"A": "B"'), (20, 'CIVILIAN: "A": "B"'), (3, "PERU: (LIMA"), (20, ': "A"'), (9, '"A')],
)
def test_what_is_no_fill(slot: int, written: str) -> None:
    with pytest.raises(Malformed):
        read_fill(written, SLOTS[slot], 1)
