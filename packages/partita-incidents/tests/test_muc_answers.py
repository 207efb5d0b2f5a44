"""What is written as answers is read back by the exam's own reader."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from partita_incidents.exam_files import Exam, format_templates, read_exam
from partita_incidents.exam_templates import SLOTS, Fill, Incident

STRINGS = st.from_regex(r"[A-Z]{1,8}( [A-Z0-9]{1,8}){0,3}", fullmatch=True)


def fills() -> st.SearchStrategy[dict[int, tuple[Fill, ...]]]:
    def of(number: int) -> st.SearchStrategy[tuple[Fill, ...]]:
        slot = SLOTS[number]
        values = st.sampled_from(sorted(slot.choices)) if slot.choices else STRINGS
        tags = st.tuples(STRINGS) if slot.tagged else st.just(())
        return st.lists(st.builds(Fill, st.tuples(values), tags), max_size=3).map(tuple)

    return st.fixed_dictionaries(
        {number: of(number) for number in (4, 6, 7, 9, 12, 13, 18, 19, 20)}
    )


@given(st.lists(fills(), max_size=3))
@settings(deadline=None, max_examples=40)
def test_round_trip(templates: list[dict[int, tuple[Fill, ...]]]) -> None:
    given_ = [Incident("DEV-MUC3-0001", str(n), kept) for n, kept in enumerate(templates, 1)]
    text = "".join(format_templates([("DEV-MUC3-0001", given_), ("DEV-MUC3-0002", [])]))
    exam = _read(text)
    assert list(exam.messages) == ["DEV-MUC3-0001", "DEV-MUC3-0002"]
    assert not exam.problems
    assert len(exam.incidents) == len(given_)
    for read, wrote in zip(exam.incidents, given_, strict=True):
        for number, some in wrote.fills.items():
            assert [(f.values, f.tags) for f in read.of(number)] == [
                (f.values, f.tags) for f in some
            ]


def _read(text: str) -> Exam:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "answers.txt"
        path.write_text(text, encoding="utf-8")
        return read_exam(path)


def test_quotes_inside_a_string_do_not_break_the_line() -> None:
    incident = Incident("DEV-MUC3-0001", "1", {9: (Fill(('THE "EXTRADITABLES"',)),)})
    text = "".join(format_templates([("DEV-MUC3-0001", [incident])]))
    assert '9.  PERP: INDIVIDUAL ID             "THE EXTRADITABLES"\n' in text


def test_a_message_without_incidents_says_so() -> None:
    text = "".join(format_templates([("TST1-MUC3-0001", [])]))
    lines = text.strip().splitlines()
    assert len(lines) == len(SLOTS)
    assert lines[0] == "0.  MESSAGE: ID                     TST1-MUC3-0001"
    assert all(line.endswith("*") for line in lines[1:])


def test_an_empty_fill_that_refers_to_a_string() -> None:
    head = "0.  MESSAGE: ID        TST3-MUC4-0001\n1.  MESSAGE: TEMPLATE  1\n"
    exam = _read(head + '12. PHYS TGT: ID       "EMBASSY"\n13. PHYS TGT: TYPE     -: "X"\n')
    [incident] = exam.incidents
    assert [fill.values for fill in incident.of(12)] == [("EMBASSY",)]
    assert not incident.of(13)
