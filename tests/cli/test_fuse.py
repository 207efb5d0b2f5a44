"""The command fuse, from files to answers; the public claim sets where they are at hand."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from partita.app.fuse import fuse_claims
from partita.cli import app
from partita.options import FuseOptions

CLAIMS = Path(os.environ.get("PARTITA_DATA", "../shared/data")) / "claims"
CITIES = """object,source,value
x,ann,Rome
x,bob,Rome
x,cy,Oslo
y,ann,Oslo
y,bob,Oslo
y,bob,Oslo
y,cy,Bonn
z,cy,Bonn
"""


def run(*arguments: object):
    return CliRunner().invoke(app, ["fuse", *(str(a) for a in arguments)])


@pytest.fixture
def cities(tmp_path: Path) -> Path:
    path = tmp_path / "cities.csv"
    path.write_text(CITIES)
    return path


def test_json_has_values_sources_and_where_each_claim_stands(cities):
    result = run(cities, "--json")
    assert result.exit_code == 0, result.stderr
    assert "1 repeated claims count once" in result.stderr
    found = json.loads(result.stdout)
    x = found["objects"][0]
    best = x["slots"]["value"]["values"][0]
    assert (x["object"], best["value"], best["sources"]) == ("x", "Rome", ["ann", "bob"])
    total = sum(v["probability"] for v in x["slots"]["value"]["values"])
    assert total + x["slots"]["value"]["unknown"] == pytest.approx(1)
    assert x["said"][2] == {
        "source": "cy", "slot": "value", "value": "Oslo", "file": str(cities), "line": 4,
    }  # fmt: skip
    trusted = {one["source"]: one for one in found["sources"]}
    assert trusted["ann"]["reliability"] > trusted["cy"]["reliability"]
    assert trusted["ann"]["low"] < trusted["ann"]["reliability"] < trusted["ann"]["high"]


def test_the_report_fits_80_columns(cities):
    result = run(cities, "--without", "ann")
    assert result.exit_code == 0, result.stderr
    assert "without ann, 2 values change" in result.stdout
    assert all(len(line) <= 80 for line in result.stdout.splitlines())
    assert "unknown" in result.stdout


def test_truths_give_accuracy_and_calibration(cities, tmp_path):
    truth = tmp_path / "truth.csv"
    truth.write_text("object,value\nx,rome\ny,Oslo\nz,Lima\nw,Lima\n")
    found = json.loads(run(cities, "--truth", truth, "--json").stdout)
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["truths"] == 3
    assert found["silent"] == 1
    assert found["vote"]["accuracy"] == pytest.approx(2 / 3)
    assert found["best_source"] == {"source": "ann", "accuracy": pytest.approx(2 / 3)}
    assert 0 <= found["calibration"]["error"] <= 1
    assert sum(b["count"] for b in found["calibration"]["bins"]) == 5 + 3


def test_several_files_are_several_sources(tmp_path):
    for name, city in (("ann", "Rome"), ("bob", "Rome"), ("cy", "Oslo")):
        (tmp_path / f"{name}.csv").write_text(f"object,city,year\nx,{city},1996\n")
    found = fuse_claims(sorted(tmp_path.glob("*.csv")))
    best = {slot.name: slot.best()["x"][0] for slot in found.fused.slots}
    assert best == {"city": "Rome", "year": "1996"}
    assert {one.source for one in found.fused.slots[0].trust} == {"ann", "bob", "cy"}


def test_a_hierarchy_among_the_sources_is_known_by_its_columns(cities, tmp_path):
    places = tmp_path / "places.csv"
    places.write_text("name,parent\nRome,Italy\nOslo,Norway\nBonn,Germany\n")
    found = fuse_claims([cities, places])
    assert found.fused.slots[0].parsed.order.inner == 3
    assert list(found.fused.claims.files) == [str(cities)]
    result = run(places)
    assert result.exit_code == 1
    assert "is a hierarchy; expected claims beside it" in result.stderr


def test_a_file_with_a_header_alone_has_no_claims(tmp_path):
    path = tmp_path / "none.csv"
    path.write_text("object,source,value\n")
    result = run(path)
    assert result.exit_code == 1
    assert "none.csv: has no claims" in result.stderr


def test_json_tells_why_a_source_is_trusted(cities, tmp_path):
    [ann, *_] = json.loads(run(cities, "--json").stdout)["sources"]
    assert sum(ann["rates"].values()) == pytest.approx(1)
    judged = tmp_path / "judged.csv"
    judged.write_text("left,right,source,same\na,1,ann,yes\nb,1,ann,no\n")
    [ann] = json.loads(run(judged, "--kind", "closed", "--json").stdout)["sources"]
    assert {t: set(row) for t, row in ann["rates"].items()} == {
        "no": {"no", "yes"}, "yes": {"no", "yes"}}  # fmt: skip


BAD = [
    (("--kind", "town=open"), "unknown slot 'town'; there are value"),
    (("--kind", "vague"), "unknown kind 'vague'"),
    (("--kind", "number"), "line 2: ann on value of x: 'Rome' is not a number"),
    (("--without", "dee"), "no source named 'dee'"),
    (("--one-to-one", "_"), "one to one needs judgements"),
    (("--truth", "nothing.csv"), "cannot be read"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_what_is_wrong_is_one_line_and_exit_code_1(cities, options, message):
    result = run(cities, *options)
    assert result.exit_code == 1
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("--reliability", "source,reliability\nann,1\ncy,1\n", "cy (says Oslo of x)"),
        ("--reliability", "source,reliability\ndee,.5\n", "reliability of unknown source dee"),
        ("--reliability", "source,reliability\nann,-1\n", "line 2: reliability of ann -1"),
        ("--objects", "object\nx\ny\n", "line 9: refers to an unknown object z"),
        ("--known", "object,slot,value\nx,town,Rome\n", "refers to slot 'town'"),
        ("--known", "object,value\nx,Rome\nx,Oslo\n", "line 3: x is Oslo here, Rome before"),
    ],
)
def test_bad_side_files(cities, tmp_path, name, text, message):
    side = tmp_path / "side.csv"
    side.write_text(text)
    result = run(cities, name, side)
    assert result.exit_code == 1
    assert message in result.stderr


def test_the_same_input_gives_the_same_bytes(cities):
    assert run(cities, "--json").stdout == run(cities, "--json").stdout


needs_claims = pytest.mark.skipif(not CLAIMS.is_dir(), reason=f"{CLAIMS} is not there")


@pytest.mark.corpus
@needs_claims
def test_crowd_product_unsupervised():
    folder = CLAIMS / "crowd-product"
    paths = [folder / "answer.csv"]
    [plain] = fuse_claims(paths, FuseOptions(truth=folder / "truth.csv")).measured
    [paired] = fuse_claims(paths, FuseOptions(truth=folder / "truth.csv", one_to_one="_")).measured
    assert plain.vote == pytest.approx(0.8966, abs=1e-4)
    assert plain.vote_f_same == pytest.approx(0.5905, abs=1e-4)
    assert plain.accuracy >= 0.93974  # Dawid and Skene as in crowd-kit
    assert plain.f_same is not None
    assert plain.f_same >= 0.7208
    assert paired.accuracy > plain.accuracy
    assert paired.f_same is not None
    assert paired.f_same > plain.f_same
    assert max(plain.calibration.error, paired.calibration.error) <= 0.05


@pytest.mark.corpus
@needs_claims
def test_birthplaces_unsupervised():
    folder = CLAIMS / "birthplaces"
    asked = FuseOptions(truth=folder / "groundtruths.csv", hierarchy=folder / "hierarchy.csv")
    [found] = fuse_claims([folder / "claims.csv"], asked).measured
    assert found.truths == 6005
    assert found.accuracy > max(0.763, found.vote, found.best)
    assert found.calibration.error <= 0.05


@pytest.mark.corpus
@needs_claims
def test_book_unsupervised():
    folder = CLAIMS / "book"
    asked = FuseOptions(
        truth=folder / "book_golden.txt",
        columns=("source", "object", "-", "authors"),
        kinds={"": "people"},
    )
    [found] = fuse_claims([folder / "book.txt"], asked).measured
    assert found.truths == 100
    assert found.accuracy > found.vote + 0.05
