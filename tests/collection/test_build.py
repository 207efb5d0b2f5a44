"""Knowledge bases: from texts to tables, again with further texts, and what is refused."""

import json
import multiprocessing
import os
import signal
import time

import pytest
from typer.testing import CliRunner

import partita
from partita.app.build import build
from partita.cli import app
from partita.collection.documents import EntityRecord, SourceDocument
from partita.collection.files import EXTRACTED
from partita.collection.knowledge import Knowledge
from partita.collection.query import ask
from partita.collection.resolution import Resolution
from partita.errors import InputError

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

TEXTS = {
    "a": "Minister Ada Okafor met Jonas Lindqvist in Kinston on Monday. Okafor said the dam at "
    "Kinston would be closed. She spoke of the Borealis Power Company.",
    "b": "The Borealis Power Company will close the dam at Kinston. Ada Okafor, the minister, met "
    "Jonas Lindqvist there. Lindqvist owns Borealis Power.",
    "c": "Marta Okafor won the marathon in Lisbon. She thanked her coach and her club.",
}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kb") / "KB"
    return build(TEXTS, out=folder, workers=1)


def entity_of(kb, document, name):
    rows = kb.to_pandas("records")
    found = rows[(rows.document == document) & rows.name.str.contains(name)]
    return found.entity.iloc[0]


def test_the_same_person_is_one_entity_and_a_namesake_is_not(base):
    assert entity_of(base, "a", "Ada Okafor") == entity_of(base, "b", "Ada Okafor")
    assert entity_of(base, "a", "Ada Okafor") != entity_of(base, "c", "Marta Okafor")


def test_tables_agree_with_each_other(base):
    records, entities = base.to_pandas("records"), base.to_pandas("entities")
    assert {*records.entity} == {*entities.entity}
    assert entities.records.sum() == len(records)
    assert records.membership.between(0, 1).all()
    mentions = base.to_pandas("mentions")
    for row in mentions.itertuples():
        assert TEXTS[row.document][row.start : row.end] == row.text
    worlds = base.to_pandas("worlds")
    assert len(worlds) == 100 * len(records)
    import pandas

    for name in base.tables:
        stored = pandas.read_parquet(base.folder / f"{name}.parquet")
        assert len(stored) == len(base.to_pandas(name)), name


def test_worlds_have_the_stated_pair_probabilities(base):
    found = base.knowledge.resolution
    draws = found.worlds(1200, seed=7)
    seen = (draws[:, found.left] == draws[:, found.right]).mean(axis=0)
    stated = found.probabilities
    assert (abs(seen - stated) < 5 * (stated * (1 - stated) / 1200) ** 0.5 + 2e-3).all()


def test_the_summary_is_short_and_names_the_largest(base):
    lines = str(base).splitlines()
    assert 5 <= len(lines) <= 40
    assert "3 documents" in lines[0]
    assert "Okafor" in str(base)


def test_a_question_gets_an_interval(base):
    answer = base.query("select count(*) as n from entities", worlds=True)
    assert answer.low[0][0] <= answer.rows[0][0] <= answer.high[0][0]
    assert answer.worlds == 100
    plain = base.query("select count(*) from entities")
    assert plain.rows == [(len(base.knowledge.members),)]
    by_type = base.query("select type, count(*) as n from entities group by type", worlds=True)
    assert any(row[0] == "person" for row in by_type.rows)


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_csv('/etc/passwd')",
        "copy entities to '/tmp/out.csv'",
        "install httpfs",
        "load httpfs",
        "attach '/tmp/x.db'",
        "set enable_external_access = true",
        "create table x as select 1",
        "delete from entities",
        "select 1; select 2",
        "select * from 'https://example.org/x.parquet'",
        "selec",
        "pragma database_list",
    ],
)
def test_a_question_reads_only(base, sql):
    with pytest.raises(InputError):
        base.query(sql)


def test_a_question_has_a_time_limit(base):
    with pytest.raises(InputError, match="took more than"):
        ask(
            base.folder, "select count(*) from range(100000000000) a, range(1000000) b", seconds=0.3
        )


def test_explain_gives_reasons(base):
    rows = base.to_pandas("records")
    left = rows[(rows.document == "a") & (rows.name.str.contains("Ada Okafor"))].record.iloc[0]
    right = rows[(rows.document == "b") & (rows.name.str.contains("Ada Okafor"))].record.iloc[0]
    text = base.explain(left, right)
    assert "probability" in text
    assert "for: " in text
    with pytest.raises(InputError, match="no record nobody"):
        base.explain("nobody", right)


def test_growing_gives_the_same_as_from_scratch_and_ids_persist(tmp_path):
    first = build({k: TEXTS[k] for k in "ab"}, out=tmp_path / "KB", workers=1)
    ada = entity_of(first, "a", "Ada Okafor")
    grown = build({"c": TEXTS["c"]}, out=tmp_path / "KB", workers=1)
    scratch = build(TEXTS, workers=1)
    assert entity_of(grown, "a", "Ada Okafor") == ada
    same = [set(map(frozenset, (kb.to_pandas("records").groupby("entity").record.apply(list))))
            for kb in (grown, scratch)]  # fmt: skip
    assert same[0] == same[1]
    assert grown.knowledge.membership.tolist() == scratch.knowledge.membership.tolist()
    assert {one["change"] for one in grown.changes} <= {"created", "grown", "merged", "split"}
    shrunk = build((), out=tmp_path / "KB", remove=["c"], workers=1)
    assert len(shrunk.knowledge.documents) == 2
    assert entity_of(shrunk, "a", "Ada Okafor") == ada
    with pytest.raises(InputError, match="no such document"):
        build((), out=tmp_path / "KB", remove=["c"], workers=1)


def test_labels_hold_from_now_on(tmp_path):
    kb = build(TEXTS, out=tmp_path / "KB", workers=1)
    rows = kb.to_pandas("records")
    marta = rows[rows.name.str.contains("Marta")].record.iloc[0]
    ada = rows[(rows.document == "a") & rows.name.str.contains("Ada")].record.iloc[0]
    other = rows[(rows.document == "b") & rows.name.str.contains("Ada")].record.iloc[0]
    labels = [{"left": ada, "right": marta, "same": 1}, {"left": ada, "right": other, "same": 0}]
    build((), out=tmp_path / "KB", labels=labels, workers=1)
    kb = build((), out=tmp_path / "KB", workers=1)
    home = dict(zip(kb.to_pandas("records").record, kb.to_pandas("records").entity, strict=True))
    assert home[ada] == home[marta]
    assert home[ada] != home[other]


def test_results_of_run_are_read(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text("".join(partita.run(text).to_jsonl() for text in [TEXTS["a"]]), "utf-8")
    kb = build(path, workers=1)
    assert len(kb.knowledge.documents) == 1
    assert kb.knowledge.records
    path.write_text('{"version": 1, "message": "x"\n', "utf-8")
    with pytest.raises(InputError, match="line 1"):
        build(path, workers=1)


def test_what_cannot_be_built_is_refused(tmp_path):
    with pytest.raises(InputError, match="no documents"):
        build((), out=tmp_path / "none")
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine", "utf-8")
    with pytest.raises(InputError, match="not empty"):
        build(TEXTS, out=other)
    assert (other / "mine.txt").read_text("utf-8") == "mine"
    with pytest.raises(InputError, match="no knowledge base"):
        ask(other, "select 1")


def test_a_second_build_is_refused(tmp_path):
    from partita.collection.files import writing

    with writing(tmp_path / "KB"), pytest.raises(InputError, match="another process"):
        build(TEXTS, out=tmp_path / "KB", workers=1)


def _endless(folder):
    many = {f"d{n}": f"{TEXTS['a']} Report {n} of the day." for n in range(500)}
    build(many, out=folder, workers=1)


def test_a_build_that_was_killed_goes_on(tmp_path):
    process = multiprocessing.get_context("spawn").Process(target=_endless, args=(tmp_path / "KB",))
    process.start()
    kept = tmp_path / "KB" / EXTRACTED
    while process.is_alive() and not (kept.exists() and kept.read_bytes().count(b"\n") >= 3):
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    before = [json.loads(one)["id"] for one in kept.read_bytes().splitlines(True)
              if one.endswith(b"\n")]  # fmt: skip
    with kept.open("ab") as stream:
        stream.write(b'{"id": "cut o')
    kb = build({"last": TEXTS["b"]}, out=tmp_path / "KB", workers=1)
    assert {*before, "last"} == {one.id for one in kb.knowledge.documents}


def test_names_are_plain_and_two_full_names_are_two_people():
    text = (
        "Foreign minister Lena Hartl met chairwoman Olga Petrenko. Ben Reyes replaced Joao "
        "Figueira as manager. Crown Court Leeds and Norvik Construction did not comment."
    )
    records = build({"one": text}).knowledge.records
    names = {name for one in records for name in one.names}
    assert {"Lena Hartl", "Olga Petrenko", "Ben Reyes", "Joao Figueira"} <= names
    assert not any({"Ben Reyes", "Joao Figueira"} <= {*one.names} for one in records)
    [firm] = [one for one in records if "Norvik Construction" in one.names]
    assert firm.type == "organization"


def test_people_of_a_header_are_entities(tmp_path):
    mail = "From: Karen Halloran <k@example.org>\nTo: all staff\n\nDear all, the plant will close."
    (tmp_path / "mail.txt").write_text(mail)
    records = build(tmp_path).knowledge.records
    assert [one.type for one in records if "Karen Halloran" in one.names] == ["person"]
    assert not any("all staff" in one.names for one in records)


@pytest.mark.parametrize(
    ("text", "relation", "status"),
    [
        ("Halcyon Biotech bought Cardwell Diagnostics.", "buy", "asserted"),
        ("Halcyon Biotech did not buy Cardwell Diagnostics.", "buy", "denied"),
        ("Leaders of Halcyon Biotech don`t own Cardwell Diagnostics.", "own", "denied"),
        ("Halcyon Biotech may buy Cardwell Diagnostics.", "buy", "possible"),
        ("Cardwell Diagnostics was bought by Halcyon Biotech.", "buy", "asserted"),
    ],
)
def test_clauses_are_relations_with_their_status(text, relation, status):
    kb = build({"one": text})
    [row] = kb.to_pandas("relations").to_dict("records")
    called = dict(zip(kb.to_pandas("entities").entity, kb.to_pandas("entities").name, strict=True))
    assert (row["relation"], row["status"]) == (relation, status)
    assert called[row["target"]] == "Cardwell Diagnostics"
    assert "Halcyon" in called[row["source"]]
    assert text[row["start"] : row["end"]].endswith(("Diagnostics", "Biotech"))


def test_exclusive_values_are_fused_and_contradict():
    def document(name: str, gender: str) -> SourceDocument:
        one = EntityRecord(f"{name}:1", name, "person", {"person": 1.0}, ("Sam Okafor",),
                           ("okafor",), ("sam", "okafor"), gender=gender)  # fmt: skip
        return SourceDocument(name, words=("sam", "okafor", "dam", "kinston"), records=(one,))

    documents = [document("a", "female"), document("b", "female"), document("c", "male")]
    labels = {("a:1", "b:1"): True, ("a:1", "c:1"): True}
    kb = Knowledge(documents, Resolution.of(documents, labels=labels), {0: "E1"})
    values = dict(zip(kb.table("values")["value"], kb.table("values")["probability"], strict=True))
    assert values["female"] > 0.5 > values["male"] > 0.0
    assert sum(values.values()) <= 1.0 + 1e-9
    found = kb.table("contradictions")
    assert found["values"] == [["female", "male"]]
    assert found["probabilities"] == [[values["female"], values["male"]]]


def test_a_store_is_read_like_its_texts(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text)
    done = CliRunner().invoke(app, ["run", str(folder), "--store", str(tmp_path / "runs.db")])
    assert done.exit_code == 0
    stored, read = build(tmp_path / "runs.db"), build(folder)
    for table in ("records", "entities", "relations"):
        assert stored.to_pandas(table).equals(read.to_pandas(table))


def test_a_folder_of_mixed_files_has_a_line_for_each_that_is_set_aside(tmp_path):
    folder = tmp_path / "mixed"
    (folder / "deeper").mkdir(parents=True)
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text)
    (folder / "deeper" / "d.txt").write_text("Ada Okafor came to Lisbon.")
    lines = [json.dumps({"id": "j1", "text": TEXTS["c"]}), '{"id": "j2"}', "no JSON"]
    (folder / "lines.jsonl").write_text("\n".join(lines))
    (folder / "nodes.csv").write_text("id,name\n1,Ada Okafor\n")
    (folder / "empty.txt").write_text("")
    (folder / "noise.txt").write_bytes(bytes(range(256)))
    (folder / "paper.pdf").write_bytes(b"%PDF-1.4 cut off")
    (folder / "russian.txt").write_text(
        "Президент сказал, что завод в Москве будет закрыт.", "utf-8"
    )
    (folder / "german.txt").write_text(
        "Die Kanzlerin sprach gestern in Berlin mit dem Vorstand der Bank und sagte, dass die "
        "Regierung den Bau nicht unterstützen wird, weil die Kosten zu hoch sind.", "utf-8",
    )  # fmt: skip
    said = []
    kb = build(folder, out=tmp_path / "KB", note=said.append)
    assert {one.id for one in kb.knowledge.documents} == {"a", "b", "c", "deeper/d", "j1"}
    aside = {
        "lines.jsonl, line 2: has no field 'text'": "(and 1 more)",
        "nodes.csv: is a table": "--entities",
        "empty.txt: is empty": "",
        "noise.txt: is binary": "",
        "paper.pdf: ": "pdf",
        "russian.txt: the text does not seem to be English": "Russian",
        "german.txt: the text does not seem to be English": "German",
    }
    assert len(said) == len(aside)
    for start, part in aside.items():
        [line] = [one for one in said if one.startswith(f"left out: {folder / start}")]
        assert part in line
        assert "\n" not in line
    done = CliRunner().invoke(app, ["build", str(folder), "--out", str(tmp_path / "KB")])
    assert done.exit_code == 0
    with pytest.raises(InputError, match=r"no documents: .*is a table"):
        build(folder / "nodes.csv")
