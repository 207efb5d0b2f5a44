"""What fails is raised, or reported while the others are done."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import partita
from partita.app.batch import Failures
from partita.app.cluster import answered_or_failed
from partita.app.solve import read_sets
from partita.errors import InputError
from partita.linkage.sets import Sets

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


CONTRADICTORY = [
    ("a", "b", 1.0),
    ("b", "c", 1.0),
    ("a", "c", 0.0),
    ("d", "e", 0.9),
    ("f", "g", 0.2),
]


def test_a_set_of_evidence_that_fails_is_reported() -> None:
    assume = ["a=b", "b=c", "a!=c", "d=e"]
    with pytest.warns(UserWarning, match="1 set failed"):
        found = partita.cluster(CONTRADICTORY, assume=assume, errors="report")
    assert found.clusters == {"d": ["d", "e"], "f": ["f"], "g": ["g"]}
    assert len(found.failures) == 1


@given(failing=st.sets(st.integers(0, 11)))
def test_the_sets_that_fail_are_found_by_halving(failing: set[int]) -> None:
    scores = [(f"a{n}", f"b{n}", 0.6) for n in range(12)]
    sets = read_sets([dict(zip(("left", "right", "probability"), s, strict=True)) for s in scores])

    def answer(some: Sets) -> list[str]:
        if wrong := [name for name in some.ids if name in {f"a{n}" for n in failing}]:
            raise InputError(wrong[0])
        return list(some.ids)

    failures = Failures("report")
    answered: Any = answered_or_failed(sets, answer, failures)  # type: ignore[arg-type]
    assert sorted(str(one.error) for one in failures) == sorted(f"a{n}" for n in failing)
    assert answered == [id_ for n in range(12) if n not in failing for id_ in (f"a{n}", f"b{n}")]


CLAIMS = "object,source,slot,value\nx,A,built,1900\nx,B,built,1900\nx,A,owner,Ann\nx,B,owner,Ann\n"


def test_a_source_that_fails_is_raised_or_reported(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    good.write_text(CLAIMS, encoding="utf-8")
    bad.write_text("object,source,slot,value\nx,C,built\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"bad\.csv, line 2"):
        partita.fuse([good, bad])
    with pytest.warns(UserWarning, match="1 source or slot failed"):
        found = partita.fuse([good, bad], errors="report")
    assert [Path(one.name).name for one in found.failures] == ["bad.csv"]
    assert found.to_dict() == partita.fuse([good]).to_dict()
    with pytest.raises(InputError, match=r"bad\.csv"):
        partita.fuse([bad], errors="report")


def test_a_slot_that_fails_is_raised_or_reported(tmp_path: Path) -> None:
    path = tmp_path / "claims.csv"
    path.write_text(f"{CLAIMS}x,C,built,old\n", encoding="utf-8")
    with pytest.raises(InputError, match="is not a number"):
        partita.fuse(path, kinds={"built": "number"})
    with pytest.warns(UserWarning, match="1 source or slot failed"):
        found = partita.fuse(path, kinds={"built": "number"}, errors="report", without="B")
    (failure,) = found.failures
    assert failure.name == "slot built"
    assert found.most_probable.keys() == {("x", "owner")}
    owners = partita.fuse([("x", "A", "owner", "Ann"), ("x", "B", "owner", "Ann")])
    assert found.most_probable == owners.most_probable


def test_records_of_a_source_that_fails_are_left_out(tmp_path: Path) -> None:
    tables = []
    for name in "ab":
        tables.append(tmp_path / f"{name}.csv")
        rows = "".join(f"{n},Name{n} Smith{n},Town{n}\n" for n in range(8))
        tables[-1].write_text(f"id,person,town\n{rows}", encoding="utf-8")
    bad = tmp_path / "bad.csv"
    bad.write_text('id,person,town\n1,"Ann\n', encoding="utf-8")
    with pytest.warns(UserWarning, match="1 source or slot failed"):
        found = partita.fuse([*tables, bad], errors="report")
    assert found.values == partita.fuse(tables).values
