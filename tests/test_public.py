"""The public API: its names, its answers, its inputs and its errors; a reference up to date."""

from __future__ import annotations

import csv
import json
import pydoc
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import partita
from partita.cli import app

DOCS = Path(__file__).parent.parent / "docs"
NAMES = [
    "Belief",
    "Budget",
    "Clusters",
    "Configuration",
    "Contradiction",
    "CoreferenceSet",
    "Distribution",
    "Domain",
    "Entity",
    "Evaluation",
    "Explanation",
    "InputError",
    "Key",
    "KnowledgeBase",
    "LinkedRecords",
    "Message",
    "PairProbabilities",
    "PartitaError",
    "ResolvedMessage",
    "Template",
    "TooLarge",
    "TrainedModel",
    "Unavailable",
    "build",
    "cluster",
    "evaluate",
    "explain",
    "fuse",
    "link",
    "run",
    "solve",
    "train",
]
TEXT = (
    "A rail depot was found 100 km southwest of Raleigh, similar to the ammunition depot in "
    "Fairview. Some areas immediately east of the depot are under construction."
)
SCORES = [(1, 2, 0.8), (2, 3, 0.9), (1, 3, 0.001), (7, 8, 0.97)]
CLAIMS = [
    ("Kinston depot", "archive", "Kinston"),
    ("Kinston depot", "press", "Kinston"),
    ("Kinston depot", "forum", "Fairview"),
    ("Fairview depot", "archive", "Fairview"),
    ("Fairview depot", "press", "Fairview"),
    ("Fairview depot", "forum", "Raleigh"),
]


@pytest.fixture(scope="module")
def doc() -> partita.ResolvedMessage:
    return partita.run(TEXT, domain="depots")


@pytest.fixture(scope="module")
def key(doc: partita.ResolvedMessage) -> partita.Key:
    correct = partita.Configuration([["T1", "T3"], ["T2"]])
    return partita.Key("message", doc.mentions, correct, "Ann", "2001-02-03T04:05:06")


def command(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == 0, done.stderr
    return done.stdout


def write(path: Path, header: str, rows: list[tuple[Any, ...]]) -> Path:
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([header.split(","), *rows])
    return path


def test_the_public_names() -> None:
    assert partita.__all__ == NAMES
    assert set(NAMES) <= set(dir(partita))
    assert all(pydoc.getdoc(getattr(partita, name)) for name in NAMES)
    with pytest.raises(AttributeError, match="no attribute 'solv'"):
        partita.solv  # noqa: B018


def test_importing_partita_imports_no_more_than_it_needs() -> None:
    program = "import sys, partita; print(*(set(sys.modules) & {'scipy', 'numba', 'pandas'}))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_the_help_names_every_verb() -> None:
    text = pydoc.plain(pydoc.render_doc(partita))
    for name in NAMES:
        assert name in text
    start = text.partition("PACKAGE CONTENTS")[0]
    assert max(map(len, start.splitlines())) <= 80


def test_the_reference_is_what_make_docs_makes() -> None:
    sys.path.insert(0, str(DOCS))
    try:
        from make import reference
    finally:
        sys.path.remove(str(DOCS))
    assert (DOCS / "reference.md").read_text(encoding="utf-8") == reference()


def test_run_answers_as_its_command(tmp_path: Path) -> None:
    path = tmp_path / "kinston.txt"
    path.write_text(TEXT, encoding="utf-8")
    document = partita.run(path, domain="depots")
    assert isinstance(document, partita.ResolvedMessage)
    assert document.to_jsonl() == command("run", path, "--domain", "depots", "--json")
    assert [one["id"] for one in document.to_dict()["entities"]] == ["E1", "E2"]
    document, other = partita.run([path, TEXT], domain="depots")
    assert (document.message.id, other.message.id) == ("kinston", "message-2")
    assert [one.message.id for one in partita.run(tmp_path, domain="depots")] == ["kinston"]  # type: ignore[union-attr]
    assert partita.run(document.message, domain="depots").to_jsonl() == document.to_jsonl()


def test_a_text_that_names_a_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kinston.txt").write_text(TEXT, encoding="utf-8")
    with pytest.raises(partita.InputError, match=r"pass pathlib.Path\('kinston.txt'\) to read it"):
        partita.run("kinston.txt")
    with pytest.raises(partita.InputError, match="the text is empty"):
        partita.run(" ")


def test_a_message_as_tables(doc: partita.ResolvedMessage) -> None:
    entities = doc.to_pandas()
    assert entities["TYPE"].tolist() == ["RAIL", "AMMUNITION"]
    assert entities["mentions"].tolist() == [["T1", "T3"], ["T2"]]
    values = doc.to_pandas("values")
    assert values.groupby(["entity", "slot"])["probability"].sum().round(9).eq(1).all()
    mentions = doc.to_pandas("mentions")
    assert [TEXT[a:b] for a, b in zip(mentions["start"], mentions["end"], strict=True)] == list(
        mentions["text"]
    )
    assert mentions["entity"].tolist() == ["E1", "E2", "E1"]
    assert doc.to_arrow("pairs").column("set").to_pylist() == ["message.1"] * 3
    assert doc.to_arrow("configurations").num_rows == len(doc.distributions[0].configurations)
    assert "AMMUNITION" in doc._repr_html_()
    assert "RAIL" in str(doc)
    with pytest.raises(partita.InputError, match="no table named 'x'"):
        doc.to_pandas("x")


def test_public_figures_are_floats(doc: partita.ResolvedMessage) -> None:
    for one in doc.distributions:
        figures = (one.entropy_bits, one.log_normaliser, one.log2_count, one.marginal("T1", "T3"))
        assert [type(figure) for figure in figures] == [float] * 4
        assert one.entropy_bits_interval is None
        assert type(one.log_probability(one.most_probable)) is float
    for entity in doc.entities:
        assert type(entity.probability) is float
        assert all(type(v.probability) is float for values in entity.slots.values() for v in values)


@pytest.mark.parametrize(
    "pairs",
    [
        SCORES[:3],
        iter(SCORES[:3]),
        {(left, right): p for left, right, p in SCORES[:3]},
        [dict(zip(("left", "right", "probability"), row, strict=True)) for row in SCORES[:3]],
        pd.DataFrame(SCORES[:3], columns=["left", "right", "probability"]),
        pl.DataFrame(SCORES[:3], schema=["left", "right", "probability"], orient="row"),
        pa.table({"unique_id_l": [1, 2, 1], "unique_id_r": [2, 3, 3],
                  "match_probability": [0.8, 0.9, 0.001]}),
    ],
    ids=["tuples", "iterator", "mapping", "dicts", "pandas", "polars", "arrow"],
)  # fmt: skip
def test_integer_ids_come_back(pairs: Any) -> None:
    found = partita.solve(pairs)
    assert found.most_probable.cells == ((1,), (2, 3))
    assert found.set.ids == (1, 2, 3)
    assert found.marginal(1, 2) == pytest.approx(0.2875, abs=5e-5)
    assert found.cell([2, 3]) == pytest.approx(0.641, abs=5e-4)
    assert found.to_pandas("pairs")["left"].tolist() == [1, 1, 2]
    assert found.to_dict()["configurations"][0]["cells"] == [[1], [2, 3]]
    assert "(1) (2 3)" in str(found)
    assert "<th>3</th>" in found._repr_html_()
    assert partita.explain(found, 1, 2).marginal == pytest.approx(found.marginal(1, 2))


def test_solve_answers_as_its_command(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", "left,right,probability", SCORES[:3])
    written = json.loads(command("solve", path, "--json"))
    found = partita.solve(path).to_dict()
    for name in ("templates", "pairs", "configurations", "remainder", "entropy_bits", "conflict"):
        assert found[name] == written[name]
    assert found.keys() == written.keys()


def test_mixed_ids_are_texts() -> None:
    assert partita.solve([("1", 2, 0.5)]).set.ids == ("1", "2")


def test_cluster_answers_as_its_command(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", "left,right,probability", SCORES)
    out = tmp_path / "clusters.csv"
    command("cluster", path, "--out", out)
    with out.open() as stream:
        rows = [(*row[:2], float(row[2]), float(row[3])) for row in list(csv.reader(stream))[1:]]
    found = partita.cluster(SCORES)
    assert [(str(r.record), str(r.cluster), r.membership, r.exact) for r in found] == rows


@pytest.mark.parametrize(
    "records",
    [
        [9, 8, 7, 3, 2, 1],
        [{"id": n, "name": "x"} for n in (9, 8, 7, 3, 2, 1)],
        pd.DataFrame({"unique_id": [9, 8, 7, 3, 2, 1]}),
        pl.DataFrame({"record": [9, 8, 7, 3, 2, 1]}),
    ],
    ids=["ids", "dicts", "pandas", "polars"],
)
def test_every_record_is_in_the_result(records: Any) -> None:
    scores = [(1, 2, 0.8), (2, 3, 0.9), (1, 3, 0.4), (7, 8, 0.97)]
    found = partita.cluster(scores, records=records)
    assert [one.record for one in found] == [9, 8, 7, 3, 2, 1]
    assert found.clusters == {9: [9], 8: [8, 7], 3: [3, 2, 1]}
    frame = found.to_pandas()
    assert frame["record"].tolist() == [9, 8, 7, 3, 2, 1]
    assert found.to_arrow().num_rows == len(found) == 6
    assert found.to_dict()["clusters"][0] == {
        "record": 9, "cluster": 9, "membership": 1.0, "exact": 1.0
    }  # fmt: skip
    assert "<td>9</td>" in found._repr_html_()


def test_sets_of_a_column_keep_their_names() -> None:
    frame = pd.DataFrame([("A", "B", 0.9, "x"), ("A", "B", 0.2, "y")])
    frame.columns = ["left", "right", "probability", "set"]
    table = partita.cluster(frame).to_pandas()
    assert table["cluster"].tolist() == ["x:A", "x:A", "y:A", "y:B"]
    assert table["set"].tolist() == ["x", "x", "y", "y"]


@pytest.mark.parametrize(
    "claims",
    [
        CLAIMS,
        [dict(zip(("object", "source", "value"), row, strict=True)) for row in CLAIMS],
        [(*row[:2], "value", row[2]) for row in CLAIMS],
        pd.DataFrame(CLAIMS, columns=["object", "source", "value"]),
        [pl.DataFrame(CLAIMS, schema=["object", "source", "value"], orient="row")],
    ],
    ids=["triples", "dicts", "quadruples", "pandas", "polars"],
)
def test_fuse_answers_as_its_command(claims: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "claims.csv", "object,source,value", CLAIMS)
    written = json.loads(command("fuse", path, "--json"))
    belief = partita.fuse(claims)
    for one in (belief, partita.fuse(path)):
        assert one.to_dict()["sources"] == written["sources"]
        assert [o["slots"] for o in one.to_dict()["objects"]] == [
            o["slots"] for o in written["objects"]
        ]
    best = belief.most_probable["Kinston depot", "value"]
    assert (best.value, best.sources) == ("Kinston", ("archive", "press"))
    assert belief.to_pandas().groupby("object")["probability"].sum().round(9).eq(1).all()
    assert belief.to_arrow("sources").column("source").to_pylist() == ["archive", "forum", "press"]
    assert "Kinston" in belief._repr_html_()
    assert "partita-" not in json.dumps(belief.to_dict())


def test_fuse_with_tables_beside_the_claims() -> None:
    truth = {"Kinston depot": "Kinston", "Fairview depot": "Fairview"}
    belief = partita.fuse(CLAIMS, truth=truth, reliability={"archive": 0.9}, without="press")
    assert belief.to_dict()["accuracy"] == 1.0
    assert {one.source: one.reliability for one in belief.sources}["archive"] == 0.9
    sources = {"archive": [{"object": "x", "city": "Rome"}], "press": [("x", "press", "Rome")]}
    assert {one.source for one in partita.fuse(sources).sources} == {"archive", "press"}


def test_the_calibration_of_several_slots_is_at_the_top() -> None:
    rows = [{"object": o, "source": s, "city": v, "size": n} for (o, s, v), n in
            zip(CLAIMS, [1, 1, 2, 3, 3, 3], strict=True)]  # fmt: skip
    truth = [{"object": "Kinston depot", "city": "Kinston", "size": 1}]
    found = partita.fuse(rows, truth=truth, kinds={"": "open"}).to_dict()
    assert found["measured"].keys() == {"city", "size"}
    slots = [one["calibration"] for one in found["measured"].values()]
    counts = [sum(b["count"] for b in one["bins"]) for one in (found["calibration"], *slots)]
    assert counts[0] == counts[1] + counts[2]
    pooled = sum(n * one["brier"] for n, one in zip(counts[1:], slots, strict=True)) / counts[0]
    assert found["calibration"]["brier"] == pytest.approx(pooled)


def test_train_answers_as_its_command(key: partita.Key, tmp_path: Path) -> None:
    from partita.corpora.documents import corpus_path
    from partita.corpora.keys import read_keys

    path, out = corpus_path() / "keys.jsonl", tmp_path / "command.json"
    command("train", path, "--out", out)
    model = partita.train(path)
    model.save(tmp_path / "model.json")
    assert (tmp_path / "model.json").read_bytes() == out.read_bytes()
    assert model.to_pandas()["value"].dtype == float
    assert model.to_dict()["model"] == model.models
    assert "Learned greedy" in str(model)
    few = partita.train(read_keys(path)[:20], domain="depots")
    assert few.figures["documents"] == 20
    by_model, by_file = (
        partita.run(TEXT, domain="depots", parameters=few),
        partita.run(TEXT, domain="depots"),
    )
    assert by_model.distributions[0].marginal("T1", "T3") != pytest.approx(
        by_file.distributions[0].marginal("T1", "T3"), abs=1e-9
    )


def test_evaluate_answers_as_its_command(
    doc: partita.ResolvedMessage, key: partita.Key, tmp_path: Path
) -> None:
    from partita.corpora.keys import write_keys

    (tmp_path / "r.jsonl").write_text(doc.to_jsonl(), encoding="utf-8")
    write_keys(tmp_path / "k.jsonl", [key])
    written = json.loads(command("evaluate", tmp_path / "r.jsonl", tmp_path / "k.jsonl", "--json"))
    for results, keys in ((doc, key), ([doc], [key]), (tmp_path / "r.jsonl", tmp_path / "k.jsonl")):
        evaluation = partita.evaluate(results, keys)
        assert json.loads(json.dumps(evaluation.to_dict())) == written
    assert evaluation.figures["b_cubed"] == 1.0
    assert evaluation.intervals["conll"][0] <= evaluation.figures["conll"]
    frame = evaluation.to_pandas().set_index("figure")
    assert frame.loc["lea", "value"] == evaluation.figures["lea"]
    assert evaluation.to_arrow("sizes").num_rows == 1
    assert "B³" in str(evaluation)
    assert "b_cubed" in evaluation._repr_html_()


def test_clusters_and_distributions_are_evaluated(key: partita.Key) -> None:
    pairs = [("T1", "T2", 0.1), ("T1", "T3", 0.9), ("T2", "T3", 0.2)]
    assert partita.evaluate(partita.solve(pairs), key).figures["bits_per_set"] > 0
    clustered = partita.evaluate(partita.cluster(pairs), key)
    assert clustered.figures["b_cubed"] == 1.0
    assert clustered.figures["bits_per_set"] is None


def test_explain_answers_as_its_command(doc: partita.ResolvedMessage, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(doc.to_jsonl(), encoding="utf-8")
    written = json.loads(command("explain", path, "message.1", "T1", "T3", "--json"))
    for why in (doc.explain("T1", "T3"), partita.explain(path, "T1", "T3")):
        assert json.loads(json.dumps(why.to_dict())) == written
    assert why.to_pandas()["weight"].sum() == pytest.approx(why.pair.log_odds)
    assert why.to_arrow("influences").column("templates").to_pylist() == [["T2"]]
    assert "the pair alone" in str(why)
    assert "weight" in why._repr_html_()
    with pytest.raises(partita.InputError, match="no set holds both T1 and T9"):
        doc.explain("T1", "T9")


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: partita.run(5), r"source must be a text .*, not int"),
        (lambda: partita.run([5]), r"source must be a text .*, not int"),
        (lambda: partita.solve(5), r"pairs must be a file, a data frame, .*, not int"),
        (lambda: partita.cluster(None), r"scores must be a file, .*, not NoneType"),
        (lambda: partita.cluster(SCORES, records=5), r"records must be a file, .*, not int"),
        (lambda: partita.fuse(5), r"claims must be a file, a data frame, .*, not int"),
        (lambda: partita.fuse(CLAIMS, truth=5), r"truth must be a file, .*, not int"),
        (lambda: partita.train([5]), r"keys must be keys or files, not int"),
        (lambda: partita.evaluate(5, "k.jsonl"), r"results must be what run, .*, not int"),
        (lambda: partita.evaluate([5], "k.jsonl"), r"results must be what run .*, not int"),
        (lambda: partita.explain(5, "A", "B"), r"results must be what run .*, not int"),
        (lambda: partita.solve(SCORES, "scaled", parameters=5), r"parameters must be .*, not int"),
    ],
)
def test_a_wrong_type_is_told_with_what_is_expected(call: Any, expected: str) -> None:
    with pytest.raises(TypeError, match=expected):
        call()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: partita.solve([("A", "B")]), r"pairs, row 1: .* is not a row \(expected left"),
        (lambda: partita.solve({"A": 0.5}), r"\('A', 0.5\) is not a row \(expected left"),
        (lambda: partita.solve([("A", "B", 2)]), "pairs, row 1: .* outside 0 to 1"),
        (lambda: partita.solve(SCORES).marginal(1, 9), "has no template 9"),
        (lambda: partita.cluster(SCORES, records=[1, 2]), "which records does not list"),
        (lambda: partita.cluster(SCORES, records=[1, 1]), "row 2: lists record 1 again"),
        (lambda: partita.cluster(SCORES, records=[{"x": 1}]), "has no column id"),
        (lambda: partita.fuse([]), r"no sources \(expected at least one"),
        (lambda: partita.fuse([("x", "s")]), "claims, row 1: .* is not a row"),
        (lambda: partita.fuse([{"object": "x", "source": "s", "value": "v", "confidence": 3}]),
         "claims, row 1: confidence 3"),
    ],
)  # fmt: skip
def test_bad_values_are_input_errors(call: Any, expected: str) -> None:
    with pytest.raises(partita.InputError, match=expected):
        call()


@pytest.mark.parametrize(("method", "module"), [("to_pandas", "pandas"), ("to_arrow", "pyarrow")])
def test_a_missing_package_is_named(
    method: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = partita.solve(SCORES[:3])
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(partita.Unavailable, match=rf"needs {module}; install partita\[frames\]"):
        getattr(found, method)()
