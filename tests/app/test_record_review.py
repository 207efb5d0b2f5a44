"""What is reviewed of clusters: the most uncertain, and where given clusters differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from partita.app.cluster import review_records
from partita.errors import InputError

SCORES = "left,right,probability\na,b,0.9\nb,c,0.6\na,c,0.4\nd,e,0.99\nf,g,0.97\n"


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text(SCORES)
    return path


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "clusters.csv"
    path.write_text(text)
    return path


def records(one: dict[str, list[dict[str, str]]]) -> list[str]:
    return [row["record"] for row in one["records"]]


def test_the_most_uncertain_set_comes_first_and_labels_hold(scores: Path) -> None:
    first, *_ = review_records(scores, None, [], 50)["sets"]
    assert records(first) == ["a", "b", "c"]
    assert len(first["pairs"]) == 3
    assert not first["differs"]
    labelled = review_records(scores, None, [("b", "c", 0), ("a", "c", 0)], 50)
    assert [records(one) for one in labelled["sets"] if "b" in records(one)] == [["a", "b"]]


def test_given_clusters_that_differ_come_first(scores: Path, tmp_path: Path) -> None:
    given = written(tmp_path, "record,cluster\na,1\nb,1\nc,1\nd,2\ne,3\nf,4\ng,4\n")
    answer = review_records(scores, given, [], 50)
    first = answer["sets"][0]
    assert records(first) == ["d", "e"]
    assert first["differs"]
    assert [row["given"] for row in first["records"]] == ["2", "3"]
    assert answer["summary"]["differing_sets"] == 1
    assert [one["differs"] for one in answer["sets"][1:]] == [False, False]


def test_a_given_cluster_across_sets_is_reviewed_as_one(scores: Path, tmp_path: Path) -> None:
    given = written(tmp_path, "record,cluster\nd,x\ne,x\nf,x\ng,x\nz,y\n")
    first = review_records(scores, given, [], 50)["sets"][0]
    assert records(first) == ["d", "e", "f", "g"]
    assert first["differs"]


def test_clusters_alone_are_sorted_by_how_probably_they_are_right(tmp_path: Path) -> None:
    rows = "a,1,.9,.8\nb,1,.9,.8\nc,2,.6,.5\nd,2,.6,.5\ne,3,1,1\n"
    answer = review_records(
        None, written(tmp_path, f"record,cluster,membership,exact\n{rows}"), [], 50
    )
    assert [records(one) for one in answer["sets"]] == [["c", "d"], ["a", "b"]]
    assert answer["sets"][0]["records"][0]["exact"] == 0.5
    assert answer["summary"] == {"records": 5, "clusters": 3}
    bare = review_records(None, written(tmp_path, "record,cluster\na,1\nb,1\n"), [], 50)
    assert "exact" not in bare["sets"][0]["records"][0]


def test_nothing_to_review(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected at least one"):
        review_records(None, None, [], 50)
    with pytest.raises(InputError, match="no columns record and cluster"):
        review_records(None, written(tmp_path, "who,where\na,b\n"), [], 50)
